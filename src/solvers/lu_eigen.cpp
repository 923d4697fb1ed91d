#include <stdexcept>

#include <Eigen/SparseLU>

#include "solvers/lu_backend.h"
#include "tendril/solvers/rank.h"

namespace tendril {
namespace {

/// Supernodal LU of the equilibrated matrix B = R^-1 A C^-1, whose rows and columns have largest entries near 1 (Ruiz 2001). Columns
/// come in the order of COLAMD, or rows and columns in the one given.
class EigenLu final : public LuBackend {
 public:
  explicit EigenLu(const SparseLuOptions& options) : options_(options) { lu_.setPivotThreshold(options.pivotTolerance); }

  const char* name() const override { return "Eigen SparseLU"; }

  void analyse(const Matrix& A, const std::vector<int>& order) override {
    rowOrder_.setIdentity(A.rows());
    if (order.empty()) {
      Eigen::COLAMDOrdering<int>()(A, columnOrder_);
    } else {
      for (std::size_t k = 0; k < order.size(); ++k) rowOrder_.indices()[order[k]] = int(k);
      columnOrder_ = rowOrder_;
    }
    lu_.isSymmetric(!order.empty());
    scaled_ = A;
    permute();
    lu_.analyzePattern(permuted_);
    rows_.resize(A.rows());
    columns_.resize(A.rows());
    work_.resize(A.rows());
    sign_.resize(A.rows());
  }

  bool factorise(const Matrix& A, SingularityReport& report) override {
    const bool zeroLine = !equilibrate(A);
    if (!zeroLine) {
      ++pivoted;
      permute();
      lu_.factorize(permuted_);
    }
    if (zeroLine || lu_.info() != Eigen::Success || inverseCondition() <= options_.singularTolerance) {
      report = {true, -1, 0, -1, 0};
      return false;
    }
    report = {false, -1, int(A.cols()), -1, 1};
    return true;
  }

  void solve(double* x, int columns, int stride) override {
    Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>> X(x, rows_.size(), columns, Eigen::OuterStride<>(stride));
    for (int j = 0; j < columns; ++j) {
      work_ = rowOrder_ * X.col(j).cwiseQuotient(rows_);
      X.col(j) = (columnOrder_.transpose() * lu_.solve(work_)).cwiseQuotient(columns_);
    }
  }

  void solveTransposed(double* x) override {
    Eigen::Map<Eigen::VectorXd> X(x, rows_.size());
    work_ = columnOrder_ * X.cwiseQuotient(columns_);
    X = (rowOrder_.transpose() * lu_.transpose().solve(work_)).cwiseQuotient(rows_);
  }

  /// Eigen does not say which column failed, so the rank analysis of the columns does.
  void diagnose(SingularityReport& report) override {
    const RankReport rank = findDependentRows(Matrix(scaled_.transpose()), 1e-13);
    report = {true, -1, rank.rank, -1, rank.largestDropped};
    if (!rank.dependentRows.empty()) report.column = rank.dependentRows.front();
  }

 private:
  /// Alternates between rows and columns, halving the spread of scales each time; false if a row or column is zero.
  bool equilibrate(const Matrix& A) {
    constexpr int sweeps = 8;
    scaled_ = A;
    rows_.setOnes();
    columns_.setOnes();
    for (int sweep = 0; sweep < sweeps; ++sweep) {
      Eigen::VectorXd& rowMax = work_;
      Eigen::VectorXd& columnMax = sign_;
      rowMax.setZero();
      columnMax.setZero();
      for (int j = 0; j < A.cols(); ++j)
        for (Matrix::InnerIterator it(scaled_, j); it; ++it) {
          rowMax[it.row()] = std::max(rowMax[it.row()], std::abs(it.value()));
          columnMax[j] = std::max(columnMax[j], std::abs(it.value()));
        }
      if (!(rowMax.minCoeff() > 0 && columnMax.minCoeff() > 0)) return false;
      rows_.array() *= rowMax.array().sqrt();
      columns_.array() *= columnMax.array().sqrt();
      for (int j = 0; j < A.cols(); ++j)
        for (Matrix::InnerIterator it(scaled_, j); it; ++it) it.valueRef() /= std::sqrt(rowMax[it.row()] * columnMax[j]);
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

  void permute() { permuted_ = rowOrder_ * scaled_ * columnOrder_.transpose(); }

  SparseLuOptions options_;
  Eigen::SparseLU<Matrix, Eigen::NaturalOrdering<int>> lu_;
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> rowOrder_, columnOrder_; ///< places in permuted_
  Matrix scaled_, permuted_;
  Eigen::VectorXd rows_, columns_, work_, sign_;
};

}

std::unique_ptr<LuBackend> makeEigenLu(const SparseLuOptions& options) { return std::make_unique<EigenLu>(options); }

}
