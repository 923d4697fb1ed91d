#include "control/node_space.h"

#include <Eigen/OrderingMethods>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tendril {

/// A = D_g G D_q, the rows kept, measured by the size of the model, in the order in which A A^T is factorised: what all nodes share.
struct NodeSpace::Layout {
  Layout(const DirectorSystem& system, const std::vector<int>& rows);
  void findPattern(const SparseMatrix& G, const std::vector<int>& number);

  struct Entry {
    int value;    ///< of G
    double scale; ///< D_g D_q
  };
  VectorX unit;               ///< D_q^-1
  std::vector<int> order;     ///< rows of A as constraints of the system
  VectorX orderUnit;          ///< D_g of these
  SparseMatrix A;             ///< the pattern
  std::vector<Entry> entries; ///< of A, in the order of its storage
  SparseMatrix AAt;           ///< the pattern of its upper triangle
  std::vector<int> products;  ///< places in AAt of the products of entries of a column, column after column
};

NodeSpace::Layout::Layout(const DirectorSystem& system, const std::vector<int>& rows)
    : unit(VectorX::Ones(system.size())), order(rows.size()), orderUnit(VectorX::Ones(Eigen::Index(rows.size()))) {
  const Model& model = system.model();
  for (const Block& block : model.blocks())
    if (block.kind == Block::Kind::Pose) unit.segment<3>(block.q).setConstant(model.characteristicLength());
  const SparseMatrix G = system.gradient();
  std::vector<int> number(std::size_t(system.constraints()), -1);
  for (std::size_t k = 0; k < rows.size(); ++k) number[std::size_t(rows[k])] = int(k);
  findPattern(G, number);
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  const SparseMatrix full = A * SparseMatrix(A.transpose());
  Eigen::AMDOrdering<int>()(full, permutation);
  for (std::size_t k = 0; k < order.size(); ++k) {
    order[k] = rows[std::size_t(permutation.indices()[Eigen::Index(k)])];
    number[std::size_t(order[k])] = int(k);
    const int row = order[k] - system.internalConstraints();
    if (row >= 0 && model.constraintQuantities()[row] == RowQuantity::Length) orderUnit[Eigen::Index(k)] = 1 / model.characteristicLength();
  }
  findPattern(G, number);
  // Places in a column are sorted, in G by constraint, in A and A A^T by place.
  const auto placeIn = [](const SparseMatrix& K, int row, int column) {
    const int* const begin = K.innerIndexPtr() + K.outerIndexPtr()[column];
    const int* const end = K.innerIndexPtr() + K.outerIndexPtr()[column + 1];
    return int(std::lower_bound(begin, end, row) - K.innerIndexPtr());
  };
  for (int j = 0; j < A.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(A, j); it; ++it)
      entries.push_back({placeIn(G, order[std::size_t(it.row())], j), orderUnit[it.row()] * unit[j]});
  AAt = SparseMatrix(A * SparseMatrix(A.transpose())).triangularView<Eigen::Upper>();
  AAt.makeCompressed();
  for (int j = 0; j < A.outerSize(); ++j)
    for (int b = A.outerIndexPtr()[j]; b < A.outerIndexPtr()[j + 1]; ++b)
      for (int a = A.outerIndexPtr()[j]; a <= b; ++a) products.push_back(placeIn(AAt, A.innerIndexPtr()[a], A.innerIndexPtr()[b]));
}

void NodeSpace::Layout::findPattern(const SparseMatrix& G, const std::vector<int>& number) {
  std::vector<Eigen::Triplet<double>> places;
  for (int j = 0; j < G.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(G, j); it; ++it)
      if (number[std::size_t(it.row())] >= 0) places.emplace_back(number[std::size_t(it.row())], j, 1);
  A.resize(Eigen::Index(order.size()), G.cols());
  A.setFromTriplets(places.begin(), places.end());
}

namespace {

/// Orthonormal columns across those of B (n x m): the last ones of the product of Householder's reflections that make B triangular. A
/// reflection whose side rounding alone would choose goes to the negative one, so that the basis is the same in other units.
MatrixX complement(MatrixX B) {
  constexpr double rounding = 1e-8;
  const Eigen::Index n = B.rows(), m = B.cols();
  const auto reflect = [&](Eigen::Index k, auto&& block) { // block -= 2 v v^T / v^T v block, v below the diagonal of B
    const auto v = B.col(k).tail(n - k);
    const VectorX along = block.transpose() * v * (2 / v.squaredNorm());
    block.noalias() -= v * along.transpose();
  };
  for (Eigen::Index k = 0; k < m; ++k) {
    const double size = B.col(k).tail(n - k).norm();
    B(k, k) += B(k, k) < -rounding * size ? -size : size;
    reflect(k, B.bottomRightCorner(n - k, m - k - 1));
  }
  MatrixX P = MatrixX::Zero(n, n - m);
  P.bottomRows(n - m).setIdentity();
  for (Eigen::Index k = m - 1; k >= 0; --k) reflect(k, P.bottomRows(n - k));
  return P;
}

}

NodeSpace::NodeSpace(const DirectorSystem& system, const std::vector<int>& rows, const VectorX& q, double t)
    : NodeSpace(system, std::make_shared<const Layout>(system, rows), q, t) {}
NodeSpace::NodeSpace(const NodeSpace& like, const VectorX& q, double t) : NodeSpace(like.system_, like.layout_, q, t) {}

NodeSpace::NodeSpace(const DirectorSystem& system, std::shared_ptr<const Layout> layout, const VectorX& q, double t)
    : system_(system), layout_(std::move(layout)), t_(t), q_(q), G_(system.gradient()), g_(VectorX::Zero(system.constraints())),
      kept_(VectorX::Zero(layout_->A.rows())), trial_(VectorX::Zero(q.size())), correction_(kept_), A_(layout_->A), A0_(A_), change_(A_),
      AAt_(layout_->AAt), factor_(std::make_unique<Factor>()) {
  system_.constraintGradient(trial_, t_, G_);
  keep(G_, A0_);
  factor_->analyzePattern(AAt_);
  decompose();
  P_ = complement(MatrixX(A_.transpose()));
}

const VectorX& NodeSpace::unit() const { return layout_->unit; }

void NodeSpace::keep(const SparseMatrix& G, SparseMatrix& A) const {
  const auto& entries = layout_->entries;
  for (std::size_t i = 0; i < entries.size(); ++i) A.valuePtr()[i] = entries[i].scale * G.valuePtr()[entries[i].value];
}

/// g of the rows kept.
void NodeSpace::constrain(const VectorX& q) {
  system_.constraint(q, t_, g_);
  for (Eigen::Index k = 0; k < kept_.size(); ++k) kept_[k] = layout_->orderUnit[k] * g_[layout_->order[std::size_t(k)]];
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
      for (int a = A_.outerIndexPtr()[j]; a <= b; ++a) AAt_.valuePtr()[layout_->products[product++]] += A_.valuePtr()[a] * A_.valuePtr()[b];
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

/// The basis: projected, twice against rounding, then the orthonormal matrix nearest to it (Newton and Schulz; its singular values are
/// cosines).
void NodeSpace::makeTangent() {
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
}

bool NodeSpace::retract(const Eigen::Ref<const VectorX>& delta) {
  const Eigen::Index m = kept_.size();
  // Newton's method with the matrix at the base: A A^T kappa = -g.
  constexpr double closed = 1e-15, acceptable = 1e-12;
  constexpr int mostCorrections = 60;
  trial_.noalias() = P_ * delta;
  trial_ = q_ + unit().cwiseProduct(trial_);
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
    trial_ -= unit().cwiseProduct(normal_);
  }
  if (!isReached) return false;
  q_ = trial_;
  decompose();
  makeTangent();
  return true;
}

void NodeSpace::multipliers(const VectorX& w, VectorX& lambda) {
  correction_.noalias() = A_ * w;
  solve(correction_);
  lambda.setZero(system_.constraints());
  for (Eigen::Index k = 0; k < kept_.size(); ++k) lambda[layout_->order[std::size_t(k)]] = layout_->orderUnit[k] * correction_[k];
}

/// G is affine in q: its change along a is G(a) - G(0).
void NodeSpace::bend(const VectorX& a, MatrixX& E) {
  trial_ = unit().cwiseProduct(a);
  system_.constraintGradient(trial_, t_, G_);
  keep(G_, change_);
  for (Eigen::Index i = 0; i < change_.nonZeros(); ++i) change_.valuePtr()[i] -= A0_.valuePtr()[i];
  second_.noalias() = change_ * P_;
  solve(second_);
  E.noalias() = A_.transpose() * second_;
}

}
