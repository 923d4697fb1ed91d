#pragma once
#include <algorithm>

#include "tendril/solvers/sparse_lu.h"

namespace tendril {

/// A factorisation behind SparseLu. It is given matrices that are square, compressed, of the analysed pattern and finite, and is not empty.
class LuBackend {
 public:
  using Matrix = SparseLu::Matrix;
  virtual ~LuBackend() = default;
  virtual const char* name() const = 0;
  /// Eliminates rows and columns in the order given, as far as pivots are found on the diagonal; without one in an order of its own choice.
  virtual void analyse(const Matrix& A, const std::vector<int>& order) = 0;
  /// Fills the report and counts the kind of factorisation; false if singular.
  virtual bool factorise(const Matrix& A, SingularityReport& report) = 0;
  /// Completes the report on the matrix that was found to be singular, whatever it costs.
  virtual void diagnose(SingularityReport&) {}
  virtual void solve(double* x, int columns, int stride) = 0;
  virtual void solveTransposed(double* x) = 0;

  int pivoted = 0;
  int kept = 0;
};

std::unique_ptr<LuBackend> makeEigenLu(const SparseLuOptions& options);
/// Null if KLU was not compiled in.
std::unique_ptr<LuBackend> makeKlu(const SparseLuOptions& options);

/// Hager's and Higham's lower bound of the 1-norm of the inverse, from solves with a matrix and with its transpose; x, sign: work of the
/// matrix' order.
template <class Solve, class SolveTransposed>
double estimateInverseNorm(Eigen::VectorXd& x, Eigen::VectorXd& sign, Solve solve, SolveTransposed solveTransposed) {
  const Eigen::Index n = x.size();
  x.setConstant(1.0 / double(n));
  solve(x);
  double estimate = x.lpNorm<1>();
  for (Eigen::Index previous = -1, pass = 0; pass < 5 && n > 1; ++pass) {
    for (Eigen::Index i = 0; i < n; ++i) sign[i] = x[i] < 0 ? -1 : 1;
    solveTransposed(sign);
    Eigen::Index steepest = 0;
    const double slope = sign.cwiseAbs().maxCoeff(&steepest);
    if (slope <= (previous < 0 ? sign.mean() : sign[previous])) break;
    previous = steepest;
    x.setUnit(steepest);
    solve(x);
    const double next = x.lpNorm<1>();
    if (!(next > estimate)) break;
    estimate = next;
  }
  // Higham's alternating vector catches cancellation that fools the ascent.
  for (Eigen::Index i = 0; i < n; ++i) x[i] = (i % 2 ? -1.0 : 1.0) * (1.0 + (n > 1 ? double(i) / double(n - 1) : 0.0));
  solve(x);
  return std::max(estimate, 2 * x.lpNorm<1>() / (3.0 * double(n)));
}

}
