#include "control/node_space.h"

#include <cmath>
#include <limits>

namespace tendril {

NodeSpace::NodeSpace(const DirectorSystem& system, std::vector<int> rows, const VectorX& q, double t)
    : system_(system), rows_(std::move(rows)), t_(t), unit_(VectorX::Ones(system.size())),
      rowUnit_(VectorX::Ones(Eigen::Index(rows_.size()))), q_(q), G_(system.gradient()), g_(VectorX::Zero(system.constraints())),
      kept_(VectorX::Zero(Eigen::Index(rows_.size()))), trial_(q), correction_(kept_), full_(VectorX::Zero(system.constraints())),
      number_(std::size_t(system.constraints()), -1) {
  const Model& model = system.model();
  const double L = model.characteristicLength();
  for (const Block& block : model.blocks())
    if (block.kind == Block::Kind::Pose) unit_.segment<3>(block.q).setConstant(L);
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    number_[std::size_t(rows_[k])] = int(k);
    const int row = rows_[k] - system.internalConstraints();
    if (row >= 0 && model.constraintQuantities()[row] == RowQuantity::Length) rowUnit_[Eigen::Index(k)] = 1 / L;
  }
  decompose();
  const Eigen::Index n = system.size(), m = kept_.size();
  P_.setZero(n, n - m);
  P_.bottomRows(n - m).setIdentity();
  P_.applyOnTheLeft(qr_.householderQ());
}

/// g of the rows kept.
void NodeSpace::constrain(const VectorX& q) {
  system_.constraint(q, t_, g_);
  for (std::size_t k = 0; k < rows_.size(); ++k) kept_[Eigen::Index(k)] = rowUnit_[Eigen::Index(k)] * g_[rows_[k]];
}

/// G^T = Q1 R at q_.
void NodeSpace::decompose() {
  constrain(q_);
  closure_ = kept_.size() > 0 ? kept_.lpNorm<Eigen::Infinity>() : 0;
  system_.constraintGradient(q_, t_, G_);
  Gt_.setZero(system_.size(), kept_.size());
  for (int j = 0; j < G_.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(G_, j); it; ++it) {
      const int k = number_[std::size_t(it.row())];
      if (k >= 0) Gt_(j, k) = unit_[j] * it.value() * rowUnit_[k];
    }
  qr_.compute(Gt_);
  Q1_.setIdentity(system_.size(), kept_.size());
  Q1_.applyOnTheLeft(qr_.householderQ());
}

void NodeSpace::set(const VectorX& q, const Eigen::Ref<const MatrixX>& basis) {
  q_ = q;
  P_ = basis;
  decompose();
}

bool NodeSpace::retract(const Eigen::Ref<const VectorX>& delta) {
  const Eigen::Index m = kept_.size();
  // Newton's method with the matrix at the base: R^T kappa = -g.
  constexpr double closed = 1e-15, acceptable = 1e-12;
  constexpr int mostCorrections = 60;
  trial_.noalias() = P_ * delta;
  trial_ = q_ + unit_.cwiseProduct(trial_);
  double before = std::numeric_limits<double>::infinity();
  bool isReached = m == 0;
  for (int i = 0; i < mostCorrections && m > 0; ++i) {
    constrain(trial_);
    const double size = kept_.lpNorm<Eigen::Infinity>();
    if (!std::isfinite(size) || size > 1e3) break;
    if (size <= closed || (size >= before / 2 && size <= acceptable)) {
      isReached = true;
      break;
    }
    before = size;
    correction_ = -kept_;
    qr_.matrixQR().topLeftCorner(m, m).triangularView<Eigen::Upper>().transpose().solveInPlace(correction_);
    trial_ += unit_.cwiseProduct(Q1_ * correction_);
  }
  if (!isReached) return false;
  q_ = trial_;
  decompose();
  // The basis: projected, then the orthonormal matrix nearest to it (Newton and Schulz; its singular values are cosines).
  projected_.noalias() = Q1_.transpose() * P_;
  P_.noalias() -= Q1_ * projected_;
  constexpr double rounding = 1e-15;
  constexpr int mostIterations = 60;
  for (int i = 0; i < mostIterations; ++i) {
    gram_.noalias() = P_.transpose() * P_;
    gram_.diagonal().array() -= 1;
    const double defect = gram_.size() > 0 ? gram_.cwiseAbs().maxCoeff() : 0;
    turned_.noalias() = P_ * gram_;
    P_ -= 0.5 * turned_;
    if (!(defect > rounding * double(dimension()))) break;
  }
  return true;
}

void NodeSpace::multipliers(const VectorX& w, VectorX& lambda) {
  const Eigen::Index m = kept_.size();
  correction_.noalias() = Q1_.transpose() * w;
  qr_.matrixQR().topLeftCorner(m, m).triangularView<Eigen::Upper>().solveInPlace(correction_);
  lambda.setZero(system_.constraints());
  for (Eigen::Index k = 0; k < m; ++k) lambda[rows_[std::size_t(k)]] = rowUnit_[k] * correction_[k];
}

/// G is affine in q: its change along a is G(a) - G(0).
void NodeSpace::bend(const VectorX& a, MatrixX& E) {
  const Eigen::Index m = kept_.size();
  second_.setZero(m, P_.cols());
  const auto add = [&](double sign) {
    for (int j = 0; j < G_.outerSize(); ++j)
      for (SparseMatrix::InnerIterator it(G_, j); it; ++it) {
        const int k = number_[std::size_t(it.row())];
        if (k >= 0) second_.row(k) += (sign * rowUnit_[k] * it.value() * unit_[j]) * P_.row(j);
      }
  };
  trial_ = unit_.cwiseProduct(a);
  system_.constraintGradient(trial_, t_, G_);
  add(1);
  trial_.setZero();
  system_.constraintGradient(trial_, t_, G_);
  add(-1);
  qr_.matrixQR().topLeftCorner(m, m).triangularView<Eigen::Upper>().transpose().solveInPlace(second_);
  E.noalias() = Q1_ * second_;
}

}
