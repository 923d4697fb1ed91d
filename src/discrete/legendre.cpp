#include "tendril/discrete/legendre.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double compliance = 1e-10;
constexpr int mostRefinements = 20;

double largest(const VectorX& x) { return x.size() > 0 ? x.lpNorm<Eigen::Infinity>() : 0; }

/// A <- diag(rows) A diag(columns).
void scale(SparseMatrix& A, const VectorX& rows, const VectorX& columns) {
  for (int j = 0; j < A.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(A, j); it; ++it) it.valueRef() *= rows[it.row()] * columns[j];
}

/// A <- A diag(columns), then rows of length one; what these were multiplied by, 1 for rows of zeros.
void normaliseRows(SparseMatrix& A, const VectorX& columns, VectorX& factors) {
  factors.setZero(A.rows());
  for (int j = 0; j < A.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(A, j); it; ++it) factors[it.row()] += it.value() * it.value() * columns[j] * columns[j];
  for (double& factor : factors) factor = factor > 0 ? 1 / std::sqrt(factor) : 1;
  scale(A, factors, columns);
}

SparseMatrix negativeIdentity(int n) {
  SparseMatrix I(n, n);
  I.setIdentity();
  return -I;
}

}

NodalMomenta::NodalMomenta(const DirectorSystem& system)
    : system_(system), unit_(VectorX::Ones(system.size())), negativeMass_(system.matrix()), G_(system.gradient()),
      identity_(negativeIdentity(system.size())), twists_(system), A_(twists_.matrix()), B_(twists_.rows()),
      leastSquares_{SaddleMatrix(identity_, G_, VectorX::Ones(system.size() + system.constraints()), compliance), {}, {}, {}, {}, {}},
      leastAction_{SaddleMatrix(A_, B_, VectorX::Ones(system.model().nv() + system.model().nc()), compliance), {}, {}, {}, {}, {}} {
  for (const Block& block : system.model().blocks())
    if (block.kind == Block::Kind::Pose) unit_.segment<3>(block.q).setConstant(system.model().characteristicLength());
  system.addMassMatrix(-1, negativeMass_);
  findMassFactors();
}

/// L D L^T of the mass matrix of the coordinates that have mass. A pivot at the level of rounding belongs to a direction without inertia,
/// as across a plate.
void NodalMomenta::findMassFactors() {
  const SparseMatrix& M = system_.mass();
  const VectorX diagonal = M.diagonal();
  massNumber_.assign(std::size_t(system_.size()), -1);
  for (int i = 0; i < system_.size(); ++i)
    if (diagonal[i] > 0) {
      massNumber_[i] = int(massive_.size());
      massive_.push_back(i);
    }
  const int n = int(massive_.size());
  if (n == 0) return;
  constexpr double rounding = 1e-13;
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < M.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(M, j); it; ++it)
      if (massNumber_[it.row()] >= 0 && massNumber_[j] >= 0)
        entries.emplace_back(massNumber_[it.row()], massNumber_[j], it.value() * (it.row() == j ? 1 + rounding / 100 : 1));
  SparseMatrix regular(n, n);
  regular.setFromTriplets(entries.begin(), entries.end());
  mass_.compute(regular);
  inverseOfPivots_ = VectorX::Zero(n);
  const VectorX pivots = mass_.vectorD();
  for (int i = 0; i < n; ++i) {
    const int k = mass_.permutationPinv().indices()[i]; // pivot i is that of coordinate k
    if (pivots[i] > rounding * diagonal[massive_[k]]) inverseOfPivots_[i] = 1 / pivots[i];
  }
}

void NodalMomenta::solveMass(const VectorX& p, VectorX& qdot) {
  qdot.setZero(system_.size());
  const int n = int(massive_.size());
  if (n == 0) return;
  const auto& places = mass_.permutationP().indices();
  VectorX& y = pivoted_;
  y.resize(n);
  for (int i = 0; i < n; ++i) y[places[i]] = p[massive_[i]];
  const SparseMatrix& L = mass_.matrixL().nestedExpression();
  // Substitution that passes over pivots without inertia, whose columns of L mean nothing.
  for (int j = 0; j < n; ++j) {
    if (inverseOfPivots_[j] == 0) y[j] = 0;
    for (SparseMatrix::InnerIterator it(L, j); it; ++it)
      if (it.row() > j) y[it.row()] -= it.value() * y[j];
  }
  y.array() *= inverseOfPivots_.array();
  for (int j = n - 1; j >= 0; --j) {
    if (inverseOfPivots_[j] == 0) continue;
    for (SparseMatrix::InnerIterator it(L, j); it; ++it)
      if (it.row() > j) y[j] -= it.value() * y[it.row()];
  }
  for (int i = 0; i < n; ++i) qdot[massive_[i]] = y[places[i]];
}

/// Refinement from zero, an iterated Tikhonov regularisation: y stays in the range of B, hence ends at least norm. Rounding of the first
/// solution is magnified outside that range, and taken away by the part of y that the compliance moves; later corrections are small.
void NodalMomenta::Saddle::solve(const SparseMatrix& K, const SparseMatrix& B) {
  const Eigen::Index n = K.rows(), m = B.rows();
  solution.setZero(n + m);
  residual.resize(n + m);
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < mostRefinements; ++i) {
    residual.head(n) = force;
    residual.head(n).noalias() += K * solution.head(n);
    residual.head(n).noalias() -= B.transpose() * solution.tail(m);
    residual.tail(m) = rows;
    residual.tail(m).noalias() -= B * solution.head(n);
    const double size = largest(residual);
    if (!(size < before / 2)) break;
    before = size;
    factors.solve(residual);
    solution += residual;
    if (i > 0) continue;
    residual.head(n).setZero();
    residual.tail(m) = compliance * solution.tail(m);
    factors.solve(residual);
    solution.tail(m) += residual.tail(m);
  }
}

void NodalMomenta::multipliers(const VectorX& q, double t, const VectorX& left, const VectorX& right, double h, VectorX& lambda) {
  // Least squares: [I G^T; G 0] [rest; lambda] = [force; 0].
  system_.constraintGradient(q, t, G_);
  normaliseRows(G_, unit_, leastSquares_.rowScale);
  leastSquares_.force = unit_.cwiseProduct(right - left) / h;
  leastSquares_.rows.setZero(G_.rows());
  leastSquares_.factors.factorise(identity_, G_, G_, 1);
  leastSquares_.solve(identity_, G_);
  lambda = leastSquares_.solution.tail(G_.rows()).cwiseProduct(leastSquares_.rowScale);
}

void NodalMomenta::project(const VectorX& q, double t, const VectorX& p, VectorX& projected, VectorX& v) {
  // Least action principle in the twists: [A B^T; B 0] [v; mu] = [N^T p; 0] with A = N^T M N and the constraints B = G N of the model,
  // scaled to A.
  const int nv = system_.model().nv();
  system_.constraintGradient(q, t, G_);
  twists_.project(negativeMass_, q, q);
  twists_.projectRows(G_, q, B_);
  columnScale_.resize(nv);
  for (int i = 0; i < nv; ++i) {
    const double mass = -twists_.matrix().coeff(i, i);
    columnScale_[i] = mass > 0 ? 1 / std::sqrt(mass) : 1;
  }
  std::copy_n(twists_.matrix().valuePtr(), A_.nonZeros(), A_.valuePtr());
  scale(A_, columnScale_, columnScale_);
  normaliseRows(B_, columnScale_, leastAction_.rowScale);
  if (!leastAction_.factors.factorise(A_, B_, B_, 1)) {
    const int column = leastAction_.factors.singular().column;
    throw NumericalFailure("the momenta cannot be projected on the constraints: " +
                           (column >= 0 && column < nv ? system_.model().nameOfVelocity(column) : std::string("something")) +
                           " has no inertia and is held by no constraint");
  }
  leastAction_.force.resize(nv);
  system_.pullBack(q, p, leastAction_.force);
  leastAction_.force.array() *= columnScale_.array();
  constraintRate_.resize(system_.constraints());
  system_.constraintRate(q, t, constraintRate_);
  leastAction_.rows = -leastAction_.rowScale.cwiseProduct(constraintRate_.tail(B_.rows()));
  leastAction_.solve(A_, B_);
  v = columnScale_.cwiseProduct(leastAction_.solution.head(nv));
  rate_.resize(system_.size());
  system_.rates(q, v, rate_);
  projected.noalias() = system_.mass() * rate_;
}

double NodalMomenta::hamiltonian(const VectorX& q, double t, const VectorX& p) {
  solveMass(p, rate_);
  return 0.5 * p.dot(rate_) + system_.potential(q, t);
}

void NodalMomenta::hiddenConstraint(const VectorX& q, double t, const VectorX& p, VectorX& h) {
  solveMass(p, rate_);
  system_.constraintGradient(q, t, G_);
  h.noalias() = G_ * rate_;
}

}
