#include <stdexcept>

#include <Eigen/SparseLU>

#include "solvers/lu_backend.h"
#include "tendril/solvers/rank.h"

namespace tendril {
namespace {

/// Supernodal LU of the equilibrated matrix B = R^-1 A C^-1, whose rows and columns have largest entry 1.
class EigenLu final : public LuBackend {
 public:
  explicit EigenLu(const SparseLuOptions& options) : options_(options) { lu_.setPivotThreshold(options.pivotTolerance); }

  const char* name() const override { return "Eigen SparseLU"; }

  void analyse(const Matrix& A) override {
    lu_.analyzePattern(A);
    rows_.resize(A.rows());
    columns_.resize(A.rows());
    work_.resize(A.rows());
    sign_.resize(A.rows());
  }

  bool factorise(const Matrix& A, SingularityReport& report) override {
    const bool zeroLine = !equilibrate(A);
    if (!zeroLine) {
      ++pivoted;
      lu_.factorize(scaled_);
    }
    if (zeroLine || lu_.info() != Eigen::Success || inverseCondition() <= options_.singularTolerance) {
      report = diagnose();
      return false;
    }
    report = {false, -1, int(A.cols()), -1, 1};
    return true;
  }

  void solve(double* x, int columns, int stride) override {
    Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> X(x, rows_.size(), columns, Eigen::OuterStride<>(stride));
    for (int j = 0; j < columns; ++j) {
      work_ = X.col(j).cwiseQuotient(rows_);
      X.col(j) = lu_.solve(work_).cwiseQuotient(columns_);
    }
  }

  void solveTransposed(double* x) override {
    Eigen::Map<Eigen::VectorXd> X(x, rows_.size());
    work_ = X.cwiseQuotient(columns_);
    X = lu_.transpose().solve(work_).cwiseQuotient(rows_);
  }

 private:
  /// False if a row or column is zero.
  bool equilibrate(const Matrix& A) {
    scaled_ = A;
    rows_.setZero();
    columns_.setZero();
    for (int j = 0; j < A.cols(); ++j)
      for (Matrix::InnerIterator it(A, j); it; ++it) rows_[it.row()] = std::max(rows_[it.row()], std::abs(it.value()));
    rows_ = (rows_.array() > 0).select(rows_, 1);
    for (int j = 0; j < A.cols(); ++j) {
      for (Matrix::InnerIterator it(A, j); it; ++it) columns_[j] = std::max(columns_[j], std::abs(it.value()) / rows_[it.row()]);
      if (columns_[j] == 0) return false;
      for (Matrix::InnerIterator it(scaled_, j); it; ++it) it.valueRef() /= rows_[it.row()] * columns_[j];
    }
    return true;
  }

  double inverseCondition() {
    const double inverse = estimateInverseNorm(
        work_, sign_, [&](Eigen::VectorXd& x) { x = lu_.solve(x).eval(); },
        [&](Eigen::VectorXd& x) { x = lu_.transpose().solve(x).eval(); });
    const double norm = (Eigen::RowVectorXd::Ones(scaled_.rows()) * scaled_.cwiseAbs()).maxCoeff();
    return std::isfinite(inverse) ? 1 / (norm * inverse) : 0;
  }

  /// Eigen does not say which column failed, so the rank analysis of the columns does.
  SingularityReport diagnose() const {
    const RankReport rank = findDependentRows(Matrix(scaled_.transpose()), 1e-13);
    SingularityReport report{true, -1, rank.rank, -1, rank.largestDropped};
    if (!rank.dependentRows.empty()) report.column = rank.dependentRows.front();
    return report;
  }

  SparseLuOptions options_;
  Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>> lu_;
  Matrix scaled_;
  Eigen::VectorXd rows_, columns_, work_, sign_;
};

}

std::unique_ptr<LuBackend> makeEigenLu(const SparseLuOptions& options) { return std::make_unique<EigenLu>(options); }

}
