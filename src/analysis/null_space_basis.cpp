#include "analysis/null_space_basis.h"

#include <algorithm>

#include <Eigen/QR>

namespace tendril {

namespace {

constexpr double agreement = 1e-8; ///< of rows that depend on each other

}

struct RowSpace::Factor {
  Eigen::CompleteOrthogonalDecomposition<MatrixX> decomposition;
};

RowSpace::RowSpace(const MatrixX& J, const VectorX& unit, double tolerance)
    : unit_(unit.size() ? unit : VectorX(VectorX::Ones(J.cols()))), factor_(std::make_unique<Factor>()) {
  scaled_ = J * unit_.asDiagonal();
  length_ = scaled_.rowwise().norm();
  for (Eigen::Index i = 0; i < length_.size(); ++i) {
    if (length_[i] > 0) scaled_.row(i) /= length_[i];
  }
  nullSpace = unit_.asDiagonal();
  if (scaled_.rows() == 0 || scaled_.cols() == 0) return;
  Eigen::ColPivHouseholderQR<MatrixX> transposed;
  transposed.setThreshold(tolerance);
  transposed.compute(scaled_.transpose());
  rank = int(transposed.rank());
  const VectorX pivots = transposed.matrixQR().diagonal().cwiseAbs();
  const double largest = transposed.maxPivot();
  if (rank > 0) smallestKept = pivots[rank - 1] / largest;
  if (rank < pivots.size() && largest > 0) largestDropped = pivots[rank] / largest;
  const Eigen::Index n = scaled_.cols();
  MatrixX basis = MatrixX::Identity(n, n);
  basis.applyOnTheLeft(transposed.householderQ());
  nullSpace = unit_.asDiagonal() * basis.rightCols(n - rank);
  factor_->decomposition.setThreshold(tolerance);
  factor_->decomposition.compute(scaled_);
}

RowSpace::~RowSpace() = default;

VectorX RowSpace::solve(const VectorX& b) const {
  if (scaled_.rows() == 0) return VectorX::Zero(scaled_.cols());
  return unit_.cwiseProduct(VectorX(factor_->decomposition.solve(scaledRight(b))));
}

bool RowSpace::isSolved(const VectorX& x, const VectorX& b) const {
  if (scaled_.rows() == 0) return true;
  const VectorX right = scaledRight(b);
  const double size = std::max(right.cwiseAbs().maxCoeff(), x.cwiseQuotient(unit_).norm());
  return (scaled_ * x.cwiseQuotient(unit_) - right).cwiseAbs().maxCoeff() <= agreement * size;
}

VectorX RowSpace::scaledRight(const VectorX& b) const {
  VectorX right = b;
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    if (length_[i] > 0) right[i] /= length_[i];
  }
  return right;
}

}
