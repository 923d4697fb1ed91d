#include "control/node_space.h"

#include <Eigen/OrderingMethods>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

NodeSpace::NodeSpace(const DirectorSystem& system, std::vector<int> rows, const VectorX& q, double t)
    : system_(system), rows_(std::move(rows)), t_(t), unit_(VectorX::Ones(system.size())), q_(q), G_(system.gradient()),
      g_(VectorX::Zero(system.constraints())), kept_(VectorX::Zero(Eigen::Index(rows_.size()))), trial_(q), correction_(kept_) {
  for (const Block& block : system.model().blocks())
    if (block.kind == Block::Kind::Pose) unit_.segment<3>(block.q).setConstant(system.model().characteristicLength());
  layOut();
  decompose();
  const Eigen::Index n = system.size(), m = kept_.size();
  P_.setZero(n, n - m);
  P_.bottomRows(n - m).setIdentity();
  P_.applyOnTheLeft(Eigen::HouseholderQR<MatrixX>(MatrixX(A_.transpose())).householderQ());
}

/// The order of the rows of A, its pattern and that of A A^T.
void NodeSpace::layOut() {
  const Model& model = system_.model();
  const auto m = Eigen::Index(rows_.size());
  std::vector<int> number(std::size_t(system_.constraints()), -1);
  for (std::size_t k = 0; k < rows_.size(); ++k) number[std::size_t(rows_[k])] = int(k);
  const auto makePattern = [&] {
    std::vector<Eigen::Triplet<double>> places;
    for (int j = 0; j < G_.outerSize(); ++j)
      for (SparseMatrix::InnerIterator it(G_, j); it; ++it)
        if (number[std::size_t(it.row())] >= 0) places.emplace_back(number[std::size_t(it.row())], j, 1);
    A_.resize(m, system_.size());
    A_.setFromTriplets(places.begin(), places.end());
  };
  makePattern();
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  const SparseMatrix full = A_ * SparseMatrix(A_.transpose());
  Eigen::AMDOrdering<int>()(full, permutation);
  order_.resize(rows_.size());
  for (Eigen::Index k = 0; k < m; ++k) order_[std::size_t(k)] = rows_[std::size_t(permutation.indices()[k])];
  orderUnit_.setOnes(m);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    number[std::size_t(order_[k])] = int(k);
    const int row = order_[k] - system_.internalConstraints();
    if (row >= 0 && model.constraintQuantities()[row] == RowQuantity::Length)
      orderUnit_[Eigen::Index(k)] = 1 / model.characteristicLength();
  }
  makePattern();
  // Within a column G is sorted by constraint, A by place.
  for (int j = 0; j < A_.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(A_, j); it; ++it) {
      const int* const begin = G_.innerIndexPtr() + G_.outerIndexPtr()[j];
      const int* const end = G_.innerIndexPtr() + G_.outerIndexPtr()[j + 1];
      const int* const found = std::lower_bound(begin, end, order_[std::size_t(it.row())]);
      entries_.push_back({int(found - G_.innerIndexPtr()), orderUnit_[it.row()] * unit_[j]});
    }
  AAt_ = SparseMatrix(A_ * SparseMatrix(A_.transpose())).triangularView<Eigen::Upper>();
  AAt_.makeCompressed();
  for (int j = 0; j < A_.outerSize(); ++j)
    for (int b = A_.outerIndexPtr()[j]; b < A_.outerIndexPtr()[j + 1]; ++b)
      for (int a = A_.outerIndexPtr()[j]; a <= b; ++a) {
        const int column = A_.innerIndexPtr()[b];
        const int* const begin = AAt_.innerIndexPtr() + AAt_.outerIndexPtr()[column];
        const int* const end = AAt_.innerIndexPtr() + AAt_.outerIndexPtr()[column + 1];
        products_.push_back(int(std::lower_bound(begin, end, A_.innerIndexPtr()[a]) - AAt_.innerIndexPtr()));
      }
  factor_->analyzePattern(AAt_);
  A0_ = change_ = A_;
  trial_.setZero();
  system_.constraintGradient(trial_, t_, G_);
  keep(G_, A0_);
}

void NodeSpace::keep(const SparseMatrix& G, SparseMatrix& A) const {
  for (std::size_t i = 0; i < entries_.size(); ++i) A.valuePtr()[i] = entries_[i].scale * G.valuePtr()[entries_[i].value];
}

/// g of the rows kept.
void NodeSpace::constrain(const VectorX& q) {
  system_.constraint(q, t_, g_);
  for (std::size_t k = 0; k < order_.size(); ++k) kept_[Eigen::Index(k)] = orderUnit_[Eigen::Index(k)] * g_[order_[k]];
}

/// A A^T at q_, factorised.
void NodeSpace::decompose() {
  constrain(q_);
  closure_ = kept_.size() > 0 ? kept_.lpNorm<Eigen::Infinity>() : 0;
  system_.constraintGradient(q_, t_, G_);
  keep(G_, A_);
  std::fill_n(AAt_.valuePtr(), AAt_.nonZeros(), 0.0);
  std::size_t product = 0;
  for (int j = 0; j < A_.outerSize(); ++j)
    for (int b = A_.outerIndexPtr()[j]; b < A_.outerIndexPtr()[j + 1]; ++b)
      for (int a = A_.outerIndexPtr()[j]; a <= b; ++a) AAt_.valuePtr()[products_[product++]] += A_.valuePtr()[a] * A_.valuePtr()[b];
  if (kept_.size() > 0) factor_->factorize(AAt_);
}

template <class Matrix> void NodeSpace::solve(Matrix& x) {
  if (kept_.size() == 0) return;
  factor_->matrixL().solveInPlace(x);
  x.array().colwise() /= factor_->vectorD().array();
  factor_->matrixU().solveInPlace(x);
}

void NodeSpace::set(const VectorX& q, const Eigen::Ref<const MatrixX>& basis) {
  P_ = basis;
  if (q == q_) return;
  q_ = q;
  decompose();
}

bool NodeSpace::retract(const Eigen::Ref<const VectorX>& delta) {
  const Eigen::Index m = kept_.size();
  // Newton's method with the matrix at the base: A A^T kappa = -g.
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
    correction_ = kept_;
    solve(correction_);
    normal_.noalias() = A_.transpose() * correction_;
    trial_ -= unit_.cwiseProduct(normal_);
  }
  if (!isReached) return false;
  q_ = trial_;
  decompose();
  // The basis: projected, twice against rounding, then the orthonormal matrix nearest to it (Newton and Schulz; its singular values are
  // cosines).
  for (int i = 0; i < 2; ++i) {
    second_.noalias() = A_ * P_;
    solve(second_);
    across_.noalias() = A_.transpose() * second_;
    P_ -= across_;
  }
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
  correction_.noalias() = A_ * w;
  solve(correction_);
  lambda.setZero(system_.constraints());
  for (std::size_t k = 0; k < order_.size(); ++k) lambda[order_[k]] = orderUnit_[Eigen::Index(k)] * correction_[Eigen::Index(k)];
}

/// G is affine in q: its change along a is G(a) - G(0).
void NodeSpace::bend(const VectorX& a, MatrixX& E) {
  trial_ = unit_.cwiseProduct(a);
  system_.constraintGradient(trial_, t_, G_);
  keep(G_, change_);
  for (Eigen::Index i = 0; i < change_.nonZeros(); ++i) change_.valuePtr()[i] -= A0_.valuePtr()[i];
  second_.noalias() = change_ * P_;
  solve(second_);
  E.noalias() = A_.transpose() * second_;
}

}
