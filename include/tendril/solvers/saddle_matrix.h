#pragma once
#include "tendril/solvers/sparse_lu.h"

#include <vector>

namespace tendril {

/// Equations with the forces of constraints kept,
///
///     [ -K     s H0^T ] [ x     ]   [  r   ]
///     [ s H1   -e s   ] [ y / s ] = [ -s g ],
///
/// H0 and H1 with one pattern: in a step, the constraints at the begin and at the end of the interval. Rows and unknowns are measured in
/// `unit`. The compliance e (relative) acts on increments; with share() on the multipliers as a whole, so that redundant rows share what
/// they carry.
class SaddleMatrix {
 public:
  using Sparse = SparseLu::Matrix;

  SaddleMatrix(const Sparse& K, const Sparse& H, Eigen::VectorXd unit, double compliance = 1e-12);

  int size() const { return int(A_.rows()); }
  const Eigen::VectorXd& unit() const { return unit_; }
  bool factorise(const Sparse& K, const Sparse& H0, const Sparse& H1, double s);
  /// Adds to (r, -g) what makes the compliance act on y0 + y.
  void share(const Eigen::VectorXd& y0, Eigen::VectorXd& rhs) const;
  /// (r, -g) on entry, (x, y) on return.
  void solve(Eigen::VectorXd& rhs) const;
  /// The same with the transpose: (a, b) on entry, on return (x, y) with -K^T x + H1^T y = a, H0 x = b.
  void solveTransposed(Eigen::VectorXd& rhs) const;
  const SingularityReport& singular() const { return lu_.singular(); }
  void forget() { lu_.analyse(A_); }

 private:
  int place(int row, int column) const;
  void scale(Eigen::VectorXd& rhs) const;

  Eigen::Index n_, m_;
  Eigen::VectorXd unit_;
  double compliance_, s_ = 1;
  Sparse A_;
  SparseLu lu_;
  std::vector<int> stiffness_, rows_, columns_, diagonal_; ///< places among the values of A_, in the order of those of K and H
};

}
