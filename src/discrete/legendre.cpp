#include "tendril/discrete/legendre.h"

#include "tendril/model/error.h"

#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double shift = 1e-10;
constexpr int mostRefinements = 20;

double largest(const VectorX& x) { return x.size() > 0 ? x.lpNorm<Eigen::Infinity>() : 0; }

SparseMatrix scaledIdentity(Eigen::Index n, double factor) {
  SparseMatrix I(n, n);
  I.setIdentity();
  return factor * I;
}

}

NodalMomenta::NodalMomenta(const DirectorSystem& system)
    : system_(system), unit_(VectorX::Ones(system.size())), G_(system.gradient()), N_(system.internalNullSpace()),
      lu_({.ordering = SparseLuOptions::Ordering::Columns}) {
  for (const Block& block : system.model().blocks())
    if (block.kind == Block::Kind::Pose) unit_.segment<3>(block.q).setConstant(system.model().characteristicLength());
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

void NodalMomenta::solveMass(const VectorX& p, VectorX& qdot) const {
  qdot.setZero(system_.size());
  const int n = int(massive_.size());
  if (n == 0) return;
  VectorX y(n);
  for (int i = 0; i < n; ++i) y[i] = p[massive_[i]];
  y = (mass_.permutationP() * y).eval();
  const SparseMatrix L = mass_.matrixL().nestedExpression();
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
  y = (mass_.permutationPinv() * y).eval();
  for (int i = 0; i < n; ++i) qdot[massive_[i]] = y[i];
}

/// Lengths of the rows; 1 for rows of zeros.
VectorX NodalMomenta::rowLengths(const SparseMatrix& G) const {
  VectorX squares = VectorX::Zero(G.rows());
  for (int j = 0; j < G.outerSize(); ++j)
    for (SparseMatrix::InnerIterator it(G, j); it; ++it) squares[it.row()] += it.value() * it.value();
  return (squares.array() > 0).select(squares.cwiseSqrt(), 1);
}

void NodalMomenta::multipliers(const VectorX& q, double t, const VectorX& left, const VectorX& right, double h, VectorX& lambda) {
  system_.constraintGradient(q, t, G_);
  SparseMatrix G = G_ * unit_.asDiagonal();
  const VectorX scale = rowLengths(G).cwiseInverse();
  G = scale.asDiagonal() * G;
  const SparseMatrix Gt = G.transpose();
  Eigen::SimplicialLDLT<SparseMatrix> normal;
  normal.compute(SparseMatrix(G * Gt + scaledIdentity(G.rows(), shift)));
  const VectorX force = unit_.cwiseProduct(right - left) / h;
  lambda.setZero(G.rows());
  // Iterated Tikhonov regularisation from zero: it stays in the range of G, hence ends at least norm. Rounding of the first solution is
  // magnified outside that range, and taken away by lambda - shift (G G^T + shift)^-1 lambda; later corrections are small.
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < mostRefinements; ++i) {
    const VectorX residual = G * (force - Gt * lambda);
    if (!(largest(residual) < before / 2)) break;
    before = largest(residual);
    lambda += normal.solve(residual);
    if (i == 0) lambda -= shift * normal.solve(lambda);
  }
  lambda.array() *= scale.array();
}

void NodalMomenta::project(const VectorX& q, double t, const VectorX& p, VectorX& projected, VectorX& v) {
  // Least action principle in the twists: [A B^T; B 0] [v; mu] = [N^T p; 0] with A = N^T M N and the constraints B = G N of the model,
  // scaled to A and S.
  const int nv = system_.model().nv(), nc = system_.model().nc();
  system_.constraintGradient(q, t, G_);
  system_.internalNullSpace(q, N_);
  const SparseMatrix Nt = N_.transpose(), A = Nt * system_.mass() * N_;
  SparseMatrix B = SparseMatrix(SparseMatrix(G_.transpose()).rightCols(nc)).transpose() * N_;
  const VectorX unit = A.diagonal().cwiseSqrt().unaryExpr([](double a) { return a > 0 ? 1 / a : 1; });
  const SparseMatrix As = unit.asDiagonal() * A * unit.asDiagonal();
  B = B * unit.asDiagonal();
  B = rowLengths(B).cwiseInverse().asDiagonal() * B;
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < nv; ++j) {
    for (SparseMatrix::InnerIterator it(As, j); it; ++it) entries.emplace_back(it.row(), j, it.value());
    for (SparseMatrix::InnerIterator it(B, j); it; ++it) {
      entries.emplace_back(nv + it.row(), j, it.value());
      entries.emplace_back(j, nv + it.row(), it.value());
    }
  }
  SparseMatrix saddle(nv + nc, nv + nc);
  saddle.setFromTriplets(entries.begin(), entries.end());
  for (int i = 0; i < nc; ++i) entries.emplace_back(nv + i, nv + i, -shift);
  SparseMatrix shifted(nv + nc, nv + nc);
  shifted.setFromTriplets(entries.begin(), entries.end());
  lu_.analyse(shifted);
  if (!lu_.factorise(shifted)) {
    const int column = lu_.singular().column;
    throw NumericalFailure("the momenta cannot be projected on the constraints: " +
                           (column >= 0 && column < nv ? system_.model().nameOfVelocity(column) : std::string("something")) +
                           " has no inertia and is held by no constraint");
  }
  v.resize(nv);
  system_.pullBack(q, p, v);
  VectorX right = VectorX::Zero(nv + nc), x = right;
  right.head(nv) = unit.cwiseProduct(v);
  double before = std::numeric_limits<double>::infinity();
  for (int i = 0; i < mostRefinements; ++i) {
    VectorX residual = right - saddle * x;
    if (!(largest(residual) < before / 2)) break;
    before = largest(residual);
    lu_.solve(residual);
    x += residual;
  }
  v = unit.cwiseProduct(x.head(nv));
  VectorX qdot(system_.size());
  system_.rates(q, v, qdot);
  projected.noalias() = system_.mass() * qdot;
}

double NodalMomenta::hamiltonian(const VectorX& q, double t, const VectorX& p) {
  VectorX qdot;
  solveMass(p, qdot);
  return 0.5 * p.dot(qdot) + system_.potential(q, t);
}

void NodalMomenta::hiddenConstraint(const VectorX& q, double t, const VectorX& p, VectorX& h) {
  VectorX qdot;
  solveMass(p, qdot);
  system_.constraintGradient(q, t, G_);
  h.noalias() = G_ * qdot;
}

}
