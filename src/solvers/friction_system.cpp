#include "friction_system.h"

#include "friction_cone.h"
#include "friction_scale.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Lever = Eigen::Matrix<double, Eigen::Dynamic, 6, Eigen::RowMajor, FrictionLaw::maxSize, 6>;

/// L with L L^T = A, A positive semidefinite: columns of vanishing pivots are zero.
Matrix6 semidefiniteFactor(const Matrix6& A) {
  Matrix6 L = Matrix6::Zero();
  for (int j = 0; j < 6; ++j) {
    const double pivot = A(j, j) - L.row(j).head(j).squaredNorm();
    if (pivot <= 1e-14 * A(j, j)) continue;
    L(j, j) = std::sqrt(pivot);
    for (int i = j + 1; i < 6; ++i) L(i, j) = (A(i, j) - L.row(i).head(j).dot(L.row(j).head(j))) / L(j, j);
  }
  return L;
}

}

void FrictionSystem::pack(const FrictionProblem& problem, const std::vector<int>& contacts) {
  const int n = int(contacts.size());
  laws.resize(n);
  originalLaws_.resize(n);
  first.resize(n + 1);
  globalFirst.resize(n);
  globalContact = contacts;
  mass.resize(n);
  diagonalOffset.resize(n);
  first[0] = 0;
  for (int i = 0; i < n; ++i) {
    originalLaws_[i] = problem.laws[contacts[i]];
    globalFirst[i] = problem.firstRow[contacts[i]];
    first[i + 1] = first[i] + originalLaws_[i].size;
  }
  q.resize(rows());
  scale.resize(rows());
  std::size_t end = 0;
  double diagonalEntries[FrictionLaw::maxSize];
  for (int i = 0; i < n; ++i) {
    diagonalOf(problem, contacts[i], diagonalEntries);
    mass[i] = scalesOf(originalLaws_[i], diagonalEntries, &scale[first[i]]);
    laws[i] = scaledLaw(originalLaws_[i], &scale[first[i]]);
    for (int k = 0; k < laws[i].size; ++k) q[first[i] + k] = scale[first[i] + k] * problem.q[globalFirst[i] + k];
    diagonalOffset[i] = end;
    end += std::size_t(laws[i].size) * laws[i].size;
  }
  D.resize(end);
  bodyCount = 0;
  problem.hasBodies() ? packBodies(problem, contacts) : packBlocks(problem, contacts);
}

void FrictionSystem::packPart(const FrictionSystem& whole, const std::vector<int>& contacts, const Eigen::VectorXd& r,
                              const Eigen::VectorXd& u) {
  const int n = int(contacts.size());
  laws.resize(n);
  originalLaws_.resize(n);
  first.assign(std::size_t(n) + 1, 0);
  globalFirst.resize(n);
  globalContact = contacts;
  mass.resize(n);
  diagonalOffset.resize(n);
  touched.resize(n);
  H.clear();
  D.clear();
  localIndex_.assign(std::size_t(whole.bodyCount) + 1, -1);
  bodyCount = 0;
  for (int i = 0; i < n; ++i) {
    const int c = contacts[i];
    laws[i] = whole.laws[c];
    originalLaws_[i] = whole.originalLaws_[c];
    globalFirst[i] = whole.first[c];
    first[i + 1] = first[i] + laws[i].size;
    mass[i] = whole.mass[c];
    H.insert(H.end(), whole.H.begin() + std::ptrdiff_t(12) * whole.first[c], whole.H.begin() + std::ptrdiff_t(12) * whole.first[c + 1]);
    diagonalOffset[i] = D.size();
    const auto block = whole.D.begin() + std::ptrdiff_t(whole.diagonalOffset[c]);
    D.insert(D.end(), block, block + std::ptrdiff_t(laws[i].size) * laws[i].size);
    for (const int body : whole.touched[c])
      if (body != whole.bodyCount && localIndex_[body] < 0) localIndex_[body] = bodyCount++;
  }
  bodyCount = std::max(bodyCount, 1);
  q.setZero(rows());
  scale.resize(rows());
  partImpulses_.resize(rows());
  for (int i = 0; i < n; ++i) {
    for (int side = 0; side < 2; ++side) {
      const int body = localIndex_[whole.touched[contacts[i]][side]];
      touched[i][side] = body < 0 ? bodyCount : body;
    }
    scale.segment(first[i], laws[i].size) = whole.scale.segment(globalFirst[i], laws[i].size);
    partImpulses_.segment(first[i], laws[i].size) = r.segment(globalFirst[i], laws[i].size);
  }
  motion(partImpulses_, partMotion_);
  velocitiesOf(partMotion_, partImpulses_);
  for (int i = 0; i < n; ++i)
    q.segment(first[i], laws[i].size) = u.segment(globalFirst[i], laws[i].size) - partImpulses_.segment(first[i], laws[i].size);
}

void FrictionSystem::packBlocks(const FrictionProblem& problem, const std::vector<int>& contacts) {
  const int n = int(contacts.size());
  localIndex_.assign(problem.contacts(), -1);
  for (int i = 0; i < n; ++i) localIndex_[contacts[i]] = i;
  start.assign(1, 0);
  column.clear();
  offset.clear();
  values.clear();
  diagonal.resize(n);
  for (int i = 0; i < n; ++i) {
    const int size = laws[i].size;
    for (int b = problem.W.start[contacts[i]]; b < problem.W.start[contacts[i] + 1]; ++b) {
      const BlockMatrix::Block& block = problem.W.blocks[b];
      const int j = localIndex_[block.column];
      if (j < 0) continue; // a block of zeros: islands are made of the others
      if (j == i) diagonal[i] = int(column.size());
      column.push_back(j);
      offset.push_back(values.size());
      const double* source = problem.W.values.data() + block.offset;
      for (int l = 0; l < laws[j].size; ++l)
        for (int k = 0; k < size; ++k) values.push_back(scale[first[i] + k] * *source++ * scale[first[j] + l]);
    }
    start.push_back(int(column.size()));
    std::copy_n(values.data() + offset[diagonal[i]], size * size, D.data() + diagonalOffset[i]);
  }
}

void FrictionSystem::packBodies(const FrictionProblem& problem, const std::vector<int>& contacts) {
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 12, Eigen::RowMajor>;
  const FrictionBodies& bodies = problem.bodies;
  const int n = int(contacts.size());
  localIndex_.assign(bodies.inverseInertia.size(), -1);
  touched.resize(n);
  H.assign(std::size_t(rows()) * 12, 0.0);
  factors_.clear();
  for (int i = 0; i < n; ++i)
    for (int side = 0; side < 2; ++side) {
      const int body = bodies.touched[contacts[i]][side];
      if (body < 0 || localIndex_[body] >= 0) continue;
      localIndex_[body] = bodyCount++;
      const Matrix6 L = semidefiniteFactor(bodies.inverseInertia[body]);
      factors_.insert(factors_.end(), L.data(), L.data() + 36);
    }
  bodyCount = std::max(bodyCount, 1); // contacts between things that do not move at all
  factors_.resize(std::size_t(bodyCount) * 36, 0.0);
  for (int i = 0; i < n; ++i) {
    const int size = laws[i].size;
    Eigen::Map<Rows> rowsOfH(H.data() + std::size_t(first[i]) * 12, size, 12);
    for (int side = 0; side < 2; ++side) {
      const int body = bodies.touched[contacts[i]][side];
      touched[i][side] = body < 0 ? bodyCount : localIndex_[body];
      if (body >= 0)
        rowsOfH.middleCols<6>(6 * side) =
            scale.segment(first[i], size).asDiagonal() *
            bodies.H.block(globalFirst[i], 6 * side, size, 6)
                .lazyProduct(Eigen::Map<const Matrix6>(factors_.data() + std::size_t(localIndex_[body]) * 36));
    }
    Eigen::Map<Eigen::MatrixXd> block(D.data() + diagonalOffset[i], size, size);
    block = rowsOfH.lazyProduct(rowsOfH.transpose());
    if (touched[i][0] == touched[i][1] && touched[i][0] < bodyCount) { // one body on both sides
      const Lever sum = rowsOfH.leftCols<6>() + rowsOfH.rightCols<6>();
      rowsOfH.leftCols<6>() = sum;
      rowsOfH.rightCols<6>().setZero();
      touched[i][1] = bodyCount;
      block = sum.lazyProduct(sum.transpose());
    }
  }
}

void FrictionSystem::scatter(const Eigen::VectorXd& global, Eigen::VectorXd& r) const {
  r.resize(rows());
  for (int i = 0; i < contacts(); ++i)
    for (int k = 0; k < laws[i].size; ++k) r[first[i] + k] = global[globalFirst[i] + k] / scale[first[i] + k];
}

void FrictionSystem::gather(const Eigen::VectorXd& r, Eigen::VectorXd& global) const {
  for (int i = 0; i < contacts(); ++i)
    for (int k = 0; k < laws[i].size; ++k) global[globalFirst[i] + k] = r[first[i] + k] * scale[first[i] + k];
}

void FrictionSystem::motion(const Eigen::VectorXd& r, Eigen::VectorXd& w) const {
  w.setZero(6 * (bodyCount + 1));
  const double* row = H.data();
  for (int i = 0; i < contacts(); ++i) {
    double push[12] = {}; // summed up first: both bodies are visited once
    for (int k = first[i]; k < first[i + 1]; ++k, row += 12)
      for (int l = 0; l < 12; ++l) push[l] += row[l] * r[k];
    double *a = w.data() + 6 * touched[i][0], *b = w.data() + 6 * touched[i][1];
    for (int l = 0; l < 6; ++l) a[l] += push[l];
    for (int l = 0; l < 6; ++l) b[l] += push[6 + l];
  }
}

void FrictionSystem::velocitiesOf(const Eigen::VectorXd& w, Eigen::VectorXd& u) const {
  u.resize(rows());
  const double* row = H.data();
  for (int i = 0; i < contacts(); ++i) {
    const double *a = w.data() + 6 * touched[i][0], *b = w.data() + 6 * touched[i][1];
    for (int k = first[i]; k < first[i + 1]; ++k, row += 12) {
      double sum = 0;
      for (int l = 0; l < 6; ++l) sum += row[l] * a[l] + row[6 + l] * b[l];
      u[k] = q[k] + sum;
    }
  }
}

void FrictionSystem::velocities(const Eigen::VectorXd& r, Eigen::VectorXd& w, Eigen::VectorXd& u) const {
  if (hasBodies()) {
    motion(r, w);
    velocitiesOf(w, u);
  } else {
    apply(r, u);
    u += q;
  }
}

void FrictionSystem::apply(const Eigen::VectorXd& x, Eigen::VectorXd& out) const {
  if (hasBodies()) {
    Eigen::VectorXd w;
    motion(x, w);
    velocitiesOf(w, out);
    out -= q;
    return;
  }
  out.resize(rows());
  for (int i = 0; i < contacts(); ++i) {
    double sum[FrictionLaw::maxSize] = {};
    const int size = laws[i].size;
    for (int b = start[i]; b < start[i + 1]; ++b) {
      const double* block = values.data() + offset[b];
      const int j = column[b];
      for (int l = first[j]; l < first[j + 1]; ++l)
        for (int k = 0; k < size; ++k) sum[k] += *block++ * x[l];
    }
    std::copy_n(sum, size, &out[first[i]]);
  }
}

FrictionSystem::Squares FrictionSystem::residualOf(int contact, const Eigen::VectorXd& r, const Eigen::VectorXd& u) const {
  double x[FrictionLaw::maxSize], v[FrictionLaw::maxSize];
  const int row = first[contact];
  for (int k = 0; k < laws[contact].size; ++k) {
    x[k] = r[row + k] * scale[row + k];
    v[k] = u[row + k] / scale[row + k];
  }
  return {squaredNaturalMap(originalLaws_[contact], x, v), squaredNaturalMap(laws[contact], &r[row], &u[row]) / mass[contact]};
}

FrictionSystem::Squares FrictionSystem::residual(const Eigen::VectorXd& r, const Eigen::VectorXd& u) const {
  Squares sum;
  for (int i = 0; i < contacts(); ++i) {
    const Squares squares = residualOf(i, r, u);
    sum.published += squares.published;
    sum.scaled += squares.scaled;
  }
  return sum;
}

}
