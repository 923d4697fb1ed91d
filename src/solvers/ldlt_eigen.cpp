#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseLU>
#include <fmt/format.h>

#include "solvers/ldlt_backend.h"

namespace tendril {
namespace {

/// B = S A S with rows of largest entry near 1, by the first of three that can: unpivoted LDL^T, eigenvalues, LU.
class EigenLdlt final : public LdltBackend {
 public:
  const char* name() const override { return "Eigen LDLT"; }
  void analyse(const Matrix& lower) override { ldlt_.analyzePattern(lower); }

  void factorise(const Matrix& lower, double zeroTolerance) override {
    zeroTolerance_ = zeroTolerance;
    equilibrate(lower);
    inertia_.reset();
    method_ = Method::Ldlt;
    ldlt_.factorize(scaled_);
    if (ldlt_.info() == Eigen::Success && pivotsTrusted()) return countPivots();
    if (scaled_.rows() <= largestDense) return decompose();
    method_ = Method::Lu;
    lu_.compute(Matrix(scaled_.selfadjointView<Eigen::Lower>()));
    luSingular_ = lu_.info() != Eigen::Success;
  }

  bool singular() const override { return method_ == Method::Lu ? luSingular_ : inertia_->zero > 0; }
  std::optional<Inertia> inertia() const override { return inertia_; }

  void solve(double* x) override {
    Eigen::Map<Eigen::VectorXd> X(x, scale_.size());
    X.array() *= scale_.array();
    if (method_ == Method::Ldlt) X = ldlt_.solve(X).eval();
    if (method_ == Method::Lu) X = lu_.solve(X).eval();
    if (method_ == Method::Eigenvalues) {
      const Eigen::VectorXd part = eigen_.eigenvectors().transpose() * X;
      X = eigen_.eigenvectors() * (isZero_.array() > 0).select(0, part.array() / eigen_.eigenvalues().array()).matrix();
    }
    X.array() *= scale_.array();
  }

  Eigen::MatrixXd nullVectors() override {
    if (!inertia_)
      throw std::runtime_error(
          fmt::format("SparseLdlt: null vectors of order {} need MUMPS; build with TENDRIL_WITH_MUMPS", scale_.size()));
    Eigen::MatrixXd basis(scale_.size(), inertia_->zero);
    for (int k = 0, column = 0; column < basis.cols(); ++k)
      if (isZero_[k] > 0) basis.col(column++) = scale_.cwiseProduct(eigen_.eigenvectors().col(k));
    return basis;
  }

 private:
  enum class Method { Ldlt, Eigenvalues, Lu };
  static constexpr int largestDense = 800;

  void equilibrate(const Matrix& lower) {
    constexpr int sweeps = 5;
    scaled_ = lower;
    scale_ = Eigen::VectorXd::Ones(lower.rows());
    Eigen::VectorXd largest(lower.rows());
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      largest.setZero();
      for (int j = 0; j < lower.cols(); ++j)
        for (Matrix::InnerIterator it(scaled_, j); it; ++it)
          for (auto i : {it.row(), it.col()}) largest[i] = std::max(largest[i], std::abs(it.value()));
      largest = (largest.array() > 0).select(largest, 1).cwiseSqrt();
      scale_ = scale_.cwiseQuotient(largest);
      for (int j = 0; j < lower.cols(); ++j)
        for (Matrix::InnerIterator it(scaled_, j); it; ++it) it.valueRef() /= largest[it.row()] * largest[it.col()];
    }
  }

  /// Each pivot must stand far above the rounding of the terms whose difference it is: |d_k| against sum_j L_kj^2 |d_j|.
  bool pivotsTrusted() const {
    constexpr double margin = 1e4 * std::numeric_limits<double>::epsilon();
    const Eigen::VectorXd d = ldlt_.vectorD();
    const Matrix L = ldlt_.matrixL();
    Eigen::VectorXd terms = d.cwiseAbs();
    for (int j = 0; j < L.cols(); ++j)
      for (Matrix::InnerIterator it(L, j); it; ++it)
        if (it.row() != j) terms[it.row()] += it.value() * it.value() * std::abs(d[j]);
    const double tolerance = std::max(margin, zeroTolerance_);
    return ((d.array().abs() > tolerance * terms.array()) && terms.array().isFinite()).all();
  }

  void countPivots() {
    const Eigen::VectorXd d = ldlt_.vectorD();
    const int negative = int((d.array() < 0).count());
    inertia_ = Inertia{int(d.size()) - negative, negative, 0};
  }

  void decompose() {
    method_ = Method::Eigenvalues;
    eigen_.compute(Eigen::MatrixXd(scaled_)); // reads the lower triangle
    const Eigen::VectorXd& values = eigen_.eigenvalues();
    const double rounding = 4 * double(values.size()) * std::numeric_limits<double>::epsilon();
    const double zero = std::max(rounding, zeroTolerance_) * values.cwiseAbs().maxCoeff();
    isZero_ = (values.array().abs() <= zero).cast<int>();
    inertia_ = Inertia{int((values.array() > zero).count()), int((values.array() < -zero).count()), isZero_.sum()};
  }

  double zeroTolerance_ = 0;
  Method method_ = Method::Ldlt;
  Matrix scaled_;
  Eigen::VectorXd scale_;
  std::optional<Inertia> inertia_;
  Eigen::SimplicialLDLT<Matrix, Eigen::Lower> ldlt_;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen_;
  Eigen::VectorXi isZero_;
  Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>> lu_;
  bool luSingular_ = false;
};

}

std::unique_ptr<LdltBackend> makeEigenLdlt() { return std::make_unique<EigenLdlt>(); }

}
