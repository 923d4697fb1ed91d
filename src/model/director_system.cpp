#include "tendril/model/director_system.h"

#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace tendril {

namespace {

/// Directors of the six internal constraints, in their order.
constexpr std::array<std::array<int, 2>, 6> internalPairs{{{1, 1}, {2, 2}, {3, 3}, {1, 2}, {2, 3}, {3, 1}}};

/// dy = (w B^T x I) dq: y of a frame against q of a block that it sits on.
Matrix12 frameMap(const DirectorFrame& frame, int k) {
  Matrix12 map = Matrix12::Zero();
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column)
      map.block<3, 3>(3 * row, 3 * column).diagonal().setConstant(frame.weights[k] * frame.offset(column, row));
  }
  return map;
}

/// A vector of a dot product in terms of the eight columns of both frames.
struct Combination {
  std::array<int, 2> columns{};
  int count = 1; ///< the second column counts with minus
};
Combination combination(int index) { return index == originsApart ? Combination{{4, 0}, 2} : Combination{{index, 0}, 1}; }

Vector3 vectorOf(const DirectorFrames& Y, int index) {
  if (index == originsApart) return Y[1].col(0) - Y[0].col(0);
  return Y[index / 4].col(index % 4);
}

double coefficient(const DotProduct& product, double u) {
  return product.cosine == 0 && product.sine == 0 ? product.c : product.c + product.cosine * std::cos(u) + product.sine * std::sin(u);
}

/// d(coefficient)/du.
double slopeOf(const DotProduct& product, double u) { return product.sine * std::cos(u) - product.cosine * std::sin(u); }

/// Y' at fixed q.
Matrix34 driftOf(const DirectorFrame& frame, double t) { return frame.count > 0 ? Matrix34::Zero() : frame.rate({}, t); }

/// Whether ground turns by 90 degrees or more on its way.
bool turnsFar(const DirectorFrame& ground, const VectorX& q, double t0, double t1) {
  constexpr int looks = 8;
  const Matrix3 from = ground.at(q, t0).rightCols<3>();
  for (int i = 1; i <= looks; ++i) {
    const Matrix3 to = ground.at(q, t0 + (t1 - t0) * i / looks).rightCols<3>();
    if (from.cwiseProduct(to).sum() <= 1) return true; // tr R = 1 + 2 cos
  }
  return false;
}

Jet motionOf(const DirectorRow& row, double t) { return row.motion.function ? row.motion(t) : Jet{}; }

int findValue(const SparseMatrix& A, int row, int column) {
  const int* begin = A.innerIndexPtr() + A.outerIndexPtr()[column];
  const int* end = A.innerIndexPtr() + A.outerIndexPtr()[column + 1];
  return int(std::lower_bound(begin, end, row) - A.innerIndexPtr());
}

/// What a map of [x d1 d2 d3] to the columns of a frame does to each component.
Eigen::Map<const Matrix4, 0, Eigen::Stride<36, 3>> columnsOf(const Matrix12& toFrame) {
  return Eigen::Map<const Matrix4, 0, Eigen::Stride<36, 3>>(toFrame.data());
}

/// K += H, times the identity of the three components.
void addColumns(SparseMatrix& K, const Pattern::Slot& slot, const Matrix4& H) {
  for (int column = 0; column < 4; ++column)
    for (int component = 0; component < 3; ++component) {
      double* const values = K.valuePtr() + slot.offset + (3 * column + component) * slot.stride + component;
      for (int row = 0; row < 4; ++row) values[3 * row] += H(row, column);
    }
}

template <class Derived> void addBlock(SparseMatrix& K, const Pattern::Slot& slot, const Eigen::MatrixBase<Derived>& block) {
  Eigen::Map<MatrixX, 0, Eigen::OuterStride<>>(K.valuePtr() + slot.offset, block.rows(), block.cols(), Eigen::OuterStride<>(slot.stride)) +=
      block;
}

}

Matrix4 pseudoInertia(const Matrix6& M) {
  const Matrix3 J = M.bottomRightCorner<3, 3>();
  const Vector3 firstMoment(M(5, 1), M(3, 2), M(4, 0));
  Matrix4 S;
  S(0, 0) = M(0, 0);
  S.col(0).tail<3>() = firstMoment;
  S.row(0).tail<3>() = firstMoment.transpose();
  S.bottomRightCorner<3, 3>() = 0.5 * J.trace() * Matrix3::Identity() - J;
  return S;
}

// ---- building --------------------------------------------------------------------------------------------------------------------------

DirectorSystem::DirectorSystem(const Model& model) : model_(model), internalRow_(model.blocks().size(), -1), rows_(model.nc()) {
  for (std::size_t b = 0; b < model.blocks().size(); ++b) {
    pattern_.addUnknowns(model.blocks()[b].nq);
    if (model.blocks()[b].kind != Block::Kind::Pose) continue;
    internalRow_[b] = internal_;
    internal_ += 6;
  }
  for (const auto& term : model.terms()) term->embed(*this);
  for (int row = 0; row < model.nc(); ++row) {
    if (!rows_[row].products.empty()) continue;
    throw InputError(model.constraintName(row) + " has no form in director coordinates; run the scene in pose coordinates");
  }
  layOut();
  layOutGradient();
}

void DirectorSystem::addMass(int blockA, int blockB, const Matrix4& pseudoInertia) { masses_.push_back({blockA, blockB, pseudoInertia}); }

void DirectorSystem::addMass(const DirectorFrame& frame, const Matrix4& pseudoInertia) {
  const Matrix4 product = frame.offset * pseudoInertia * frame.offset.transpose();
  const Matrix4 seen = 0.5 * (product + product.transpose()); // symmetric to the last digit
  for (int k = 0; k < frame.count; ++k) {
    for (int l = k; l < frame.count; ++l) addMass(frame.blocks[k], frame.blocks[l], frame.weights[k] * frame.weights[l] * seen);
  }
}

DirectorSystem::Site DirectorSystem::makeSite(const std::array<DirectorFrame, 2>& frames) {
  Site site;
  for (int f = 0; f < 2; ++f) {
    for (int k = 0; k < frames[f].count; ++k) {
      const int i = site.count++;
      site.blocks[i] = frames[f].blocks[k], site.q[i] = frames[f].q[k], site.frame[i] = f;
      site.toFrame[i] = frameMap(frames[f], k);
    }
  }
  for (int k = 0; k < site.count; ++k) {
    for (int l = 0; l < site.count; ++l) site.couplings[4 * k + l] = pattern_.couple(site.blocks[k], site.blocks[l]);
  }
  return site;
}

/// Couplings, the mass matrix and the weight.
void DirectorSystem::layOut() {
  const auto sitesOf = [this](const auto& kinds, auto& sites) {
    for (const auto& kind : kinds) {
      sites.emplace_back();
      for (int member = 0; member < kind->size(); ++member) sites.back().push_back(makeSite(kind->frames(member)));
    }
  };
  for (std::size_t b = 0; b < model_.blocks().size(); ++b) diagonal_.push_back(pattern_.couple(int(b), int(b)));
  std::vector<std::array<int, 2>> massCouplings;
  for (const MassEntry& mass : masses_) massCouplings.push_back({pattern_.couple(mass.a, mass.b), pattern_.couple(mass.b, mass.a)});
  sitesOf(potentials_, potentialSites_);
  sitesOf(forces_, forceSites_);
  for (const DirectorRow& row : rows_) rowSites_.push_back(makeSite(row.frames));
  pattern_.freeze();

  mass_ = pattern_.matrix();
  for (std::size_t i = 0; i < masses_.size(); ++i) {
    const MassEntry& mass = masses_[i];
    Matrix12 M = Matrix12::Zero();
    for (int row = 0; row < 4; ++row) {
      for (int column = 0; column < 4; ++column) M.block<3, 3>(3 * row, 3 * column).diagonal().setConstant(mass.inertia(row, column));
    }
    addBlock(mass_, pattern_.slot(massCouplings[i][0]), M);
    if (mass.a != mass.b) addBlock(mass_, pattern_.slot(massCouplings[i][1]), M.transpose().eval());
  }
  VectorX g = VectorX::Zero(size());
  for (const Block& block : model_.blocks()) {
    if (block.kind == Block::Kind::Pose) g.segment<3>(block.q) = model_.gravity().g;
  }
  weight_ = mass_ * g;
}

/// Patterns of G and N, and where the entries of a constraint lie.
void DirectorSystem::layOutGradient() {
  std::vector<Eigen::Triplet<double>> entries, velocities;
  for (std::size_t b = 0; b < model_.blocks().size(); ++b) {
    const Block& block = model_.blocks()[b];
    if (block.kind != Block::Kind::Pose) {
      for (int i = 0; i < block.nv; ++i) velocities.emplace_back(block.q + i, block.v + i, 0);
      continue;
    }
    for (int i = 0; i < 6; ++i) {
      for (int d : internalPairs[i]) {
        for (int c = 0; c < 3; ++c) entries.emplace_back(internalRow_[b] + i, block.q + 3 * d + c, 0);
      }
    }
    for (int column = 0; column < 6; ++column) {
      for (int row = column < 3 ? 0 : 3; row < (column < 3 ? 3 : 12); ++row) velocities.emplace_back(block.q + row, block.v + column, 0);
    }
  }
  for (std::size_t row = 0; row < rowSites_.size(); ++row) {
    const Site& site = rowSites_[row];
    for (int k = 0; k < site.count; ++k) {
      for (int c = 0; c < 12; ++c) entries.emplace_back(internal_ + int(row), site.q[k] + c, 0);
    }
  }
  gradient_.resize(constraints(), size());
  gradient_.setFromTriplets(entries.begin(), entries.end());
  nullSpace_.resize(size(), model_.nv());
  nullSpace_.setFromTriplets(velocities.begin(), velocities.end());

  rowPlaces_.resize(rowSites_.size());
  for (std::size_t row = 0; row < rowSites_.size(); ++row) {
    const Site& site = rowSites_[row];
    for (int k = 0; k < site.count; ++k) {
      for (int c = 0; c < 12; ++c) rowPlaces_[row][12 * k + c] = findValue(gradient_, internal_ + int(row), site.q[k] + c);
    }
  }
  for (std::size_t b = 0; b < model_.blocks().size(); ++b) {
    if (internalRow_[b] < 0) continue;
    std::array<int, 36>& places = internalPlaces_.emplace_back();
    for (int i = 0; i < 6; ++i) {
      for (int side = 0; side < 2; ++side) {
        const int d = internalPairs[i][side];
        for (int c = 0; c < 3; ++c)
          places[6 * i + 3 * side + c] = findValue(gradient_, internalRow_[b] + i, model_.blocks()[b].q + 3 * d + c);
      }
    }
  }
}

// ---- sums over members -----------------------------------------------------------------------------------------------------------------

DirectorFrames DirectorSystem::framesAt(const std::array<DirectorFrame, 2>& frames, const VectorX& q, double t) {
  return {frames[0].at(q, t), frames[1].at(q, t)};
}

void DirectorSystem::addGradient(const Site& site, const Vector24& gradient, double scale, VectorX& result) const {
  for (int k = 0; k < site.count; ++k)
    result.segment<12>(site.q[k]).noalias() += scale * (site.toFrame[k].transpose() * gradient.segment<12>(12 * site.frame[k]));
}

void DirectorSystem::addHessian(const Site& site, const Matrix24& hessian, double scale, SparseMatrix& K) const {
  for (int l = 0; l < site.count; ++l) {
    for (int k = 0; k < site.count; ++k) {
      const Matrix12 right = hessian.block<12, 12>(12 * site.frame[k], 12 * site.frame[l]).lazyProduct(site.toFrame[l]);
      addBlock(K, pattern_.slot(site.couplings[4 * k + l]), scale * site.toFrame[k].transpose().lazyProduct(right));
    }
  }
}

void DirectorSystem::addMassMatrix(double scale, SparseMatrix& K) const {
  K.coeffs() += scale * mass_.coeffs(); // of the same pattern
}

double DirectorSystem::potential(const VectorX& q, double t) const {
  double V = -model_.gravity().factor(t).value * q.dot(weight_);
  for (const auto& kind : potentials_) {
    for (int i = 0; i < kind->size(); ++i) V += kind->evaluate(i, framesAt(kind->frames(i), q, t), t, nullptr, nullptr);
  }
  return V;
}

void DirectorSystem::addPotentialGradient(const VectorX& q, double t, double scale, VectorX& gradient) const {
  gradient -= (scale * model_.gravity().factor(t).value) * weight_;
  Vector24 g;
  for (std::size_t kind = 0; kind < potentials_.size(); ++kind) {
    const DirectorPotential& potential = *potentials_[kind];
    for (int i = 0; i < potential.size(); ++i) {
      potential.evaluate(i, framesAt(potential.frames(i), q, t), t, &g, nullptr);
      addGradient(potentialSites_[kind][i], g, scale, gradient);
    }
  }
}

void DirectorSystem::addPotentialHessian(const VectorX& q, double t, double scale, SparseMatrix& K) const {
  Vector24 g;
  Matrix24 H;
  for (std::size_t kind = 0; kind < potentials_.size(); ++kind) {
    const DirectorPotential& potential = *potentials_[kind];
    for (int i = 0; i < potential.size(); ++i) {
      potential.evaluate(i, framesAt(potential.frames(i), q, t), t, &g, &H);
      addHessian(potentialSites_[kind][i], H, scale, K);
    }
  }
}

void DirectorSystem::addForces(const VectorX& q, const VectorX& qdot, double t, double scale, VectorX& force, SparseMatrix* stiffness,
                               SparseMatrix* damping) const {
  Vector24 f;
  Matrix24 K, D;
  for (std::size_t kind = 0; kind < forces_.size(); ++kind) {
    const DirectorForce& law = *forces_[kind];
    for (int i = 0; i < law.size(); ++i) {
      const auto& frames = law.frames(i);
      const DirectorFrames rates{frames[0].rate(qdot, t), frames[1].rate(qdot, t)};
      law.evaluate(i, framesAt(frames, q, t), rates, t, f, stiffness ? &K : nullptr, damping ? &D : nullptr);
      const Site& site = forceSites_[kind][i];
      addGradient(site, f, scale, force);
      if (stiffness) addHessian(site, K, scale, *stiffness);
      if (damping) addHessian(site, D, scale, *damping);
    }
  }
}

// ---- constraints -----------------------------------------------------------------------------------------------------------------------

void DirectorSystem::constraint(const VectorX& q, double t, VectorX& g) const {
  g.resize(constraints());
  for (std::size_t b = 0; b < internalRow_.size(); ++b) {
    if (internalRow_[b] < 0) continue;
    const Eigen::Map<const Matrix34> Q(q.data() + model_.blocks()[b].q);
    for (int i = 0; i < 6; ++i) {
      const double product = Q.col(internalPairs[i][0]).dot(Q.col(internalPairs[i][1]));
      g[internalRow_[b] + i] = i < 3 ? (product - 1) / 2 : product;
    }
  }
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const DirectorRow& row = rows_[k];
    const DirectorFrames Y = framesAt(row.frames, q, t);
    const double u = motionOf(row, t).value;
    double value = row.constant - (row.isDisplaced ? u : 0);
    for (const DotProduct& p : row.products) value += coefficient(p, u) * vectorOf(Y, p.a).dot(vectorOf(Y, p.b));
    g[internal_ + Eigen::Index(k)] = value;
  }
}

int DirectorSystem::lostDrive(const VectorX& q, double t0, double t) const {
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const DirectorRow& row = rows_[k];
    if (row.products.front().a == originsApart || row.products.front().b == originsApart) continue; // of places
    for (const DirectorFrame& frame : row.frames) {
      if (frame.count == 0 && turnsFar(frame, q, t0, t)) return int(k);
    }
    if (!row.motion.function) continue;
    const double u = row.motion(t).value;
    const DirectorFrames Y = framesAt(row.frames, q, t);
    double slope = 0;
    for (const DotProduct& p : row.products) slope += slopeOf(p, u) * vectorOf(Y, p.a).dot(vectorOf(Y, p.b));
    if (slope > 0 || std::abs(u - row.motion(t0).value) >= std::numbers::pi) return int(k);
  }
  return -1;
}

void DirectorSystem::constraintRate(const VectorX& q, double t, VectorX& rate) const {
  rate.setZero(constraints());
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const DirectorRow& row = rows_[k];
    const bool stands = !row.motion.function && row.frames[0].count > 0 && row.frames[1].count > 0;
    if (stands) continue;
    const DirectorFrames Y = framesAt(row.frames, q, t);
    const DirectorFrames moved{driftOf(row.frames[0], t), driftOf(row.frames[1], t)};
    const Jet u = motionOf(row, t);
    double value = row.isDisplaced ? -u.rate : 0;
    for (const DotProduct& p : row.products) {
      const Vector3 a = vectorOf(Y, p.a), b = vectorOf(Y, p.b);
      value += coefficient(p, u.value) * (vectorOf(moved, p.a).dot(b) + a.dot(vectorOf(moved, p.b)));
      value += slopeOf(p, u.value) * u.rate * a.dot(b);
    }
    rate[internal_ + Eigen::Index(k)] = value;
  }
}

void DirectorSystem::constraintGradient(const VectorX& q, double t, SparseMatrix& G) const {
  std::fill_n(G.valuePtr(), G.nonZeros(), 0.0);
  std::size_t pose = 0;
  for (std::size_t b = 0; b < internalRow_.size(); ++b) {
    if (internalRow_[b] < 0) continue;
    const Eigen::Map<const Matrix34> Q(q.data() + model_.blocks()[b].q);
    const std::array<int, 36>& places = internalPlaces_[pose++];
    for (int i = 0; i < 6; ++i) {
      const double factor = i < 3 ? 0.5 : 1; // both sides of d.d lie in one place
      for (int side = 0; side < 2; ++side) {
        for (int c = 0; c < 3; ++c) G.valuePtr()[places[6 * i + 3 * side + c]] += factor * Q(c, internalPairs[i][1 - side]);
      }
    }
  }
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const DirectorRow& row = rows_[k];
    const DirectorFrames Y = framesAt(row.frames, q, t);
    const double u = motionOf(row, t).value;
    Vector24 gradient = Vector24::Zero();
    for (const DotProduct& p : row.products) {
      const double c = coefficient(p, u);
      for (const auto& [of, other] : {std::pair{p.a, p.b}, std::pair{p.b, p.a}}) {
        const Combination vector = combination(of);
        for (int i = 0; i < vector.count; ++i) gradient.segment<3>(3 * vector.columns[i]) += (i == 0 ? c : -c) * vectorOf(Y, other);
      }
    }
    const Site& site = rowSites_[k];
    for (int i = 0; i < site.count; ++i) {
      const Vector12 onBlock = site.toFrame[i].transpose() * gradient.segment<12>(12 * site.frame[i]);
      for (int c = 0; c < 12; ++c) G.valuePtr()[rowPlaces_[k][12 * i + c]] += onBlock[c];
    }
  }
}

/// Dot products treat the three components alike: all matrices are 4 x 4 times the identity.
void DirectorSystem::addConstraintHessian(const VectorX& lambda, double t, double scale, SparseMatrix& K) const {
  for (std::size_t b = 0; b < internalRow_.size(); ++b) {
    if (internalRow_[b] < 0) continue;
    Matrix4 H = Matrix4::Zero();
    for (int i = 0; i < 6; ++i) {
      const auto [a, d] = internalPairs[i];
      const double value = scale * lambda[internalRow_[b] + i];
      H(a, d) += value;
      if (a != d) H(d, a) += value;
    }
    addColumns(K, pattern_.slot(diagonal_[b]), H);
  }
  Eigen::Matrix<double, 8, 8> H;
  for (std::size_t k = 0; k < rows_.size(); ++k) {
    const DirectorRow& row = rows_[k];
    const double u = motionOf(row, t).value, weight = scale * lambda[internal_ + Eigen::Index(k)];
    H.setZero();
    for (const DotProduct& p : row.products) {
      const double c = coefficient(p, u);
      const Combination a = combination(p.a), b = combination(p.b);
      for (int i = 0; i < a.count; ++i) {
        for (int j = 0; j < b.count; ++j) {
          const double value = i == j ? c : -c;
          H(a.columns[i], b.columns[j]) += value;
          H(b.columns[j], a.columns[i]) += value;
        }
      }
    }
    const Site& site = rowSites_[k];
    for (int l = 0; l < site.count; ++l) {
      for (int i = 0; i < site.count; ++i) {
        const Matrix4 right = H.block<4, 4>(4 * site.frame[i], 4 * site.frame[l]).lazyProduct(columnsOf(site.toFrame[l]));
        addColumns(K, pattern_.slot(site.couplings[4 * i + l]), weight * columnsOf(site.toFrame[i]).transpose().lazyProduct(right));
      }
    }
  }
}

// ---- velocities and momenta ------------------------------------------------------------------------------------------------------------

void DirectorSystem::rates(const VectorX& q, const VectorX& v, VectorX& qdot) const {
  qdot.resize(size());
  for (const Block& block : model_.blocks()) {
    if (block.kind != Block::Kind::Pose) {
      qdot.segment(block.q, block.nq) = v.segment(block.v, block.nv);
      continue;
    }
    const Eigen::Map<const Matrix3> R(q.data() + block.q + 3);
    qdot.segment<3>(block.q).noalias() = R * v.segment<3>(block.v);
    Eigen::Map<Matrix3>(qdot.data() + block.q + 3).noalias() = R * so3::hat(v.segment<3>(block.v + 3));
  }
}

void DirectorSystem::pullBack(const VectorX& q, const VectorX& p, VectorX& reduced) const {
  reduced.resize(model_.nv());
  for (const Block& block : model_.blocks()) {
    if (block.kind != Block::Kind::Pose) {
      reduced.segment(block.v, block.nv) = p.segment(block.q, block.nq);
      continue;
    }
    const Eigen::Map<const Matrix3> R(q.data() + block.q + 3), P(p.data() + block.q + 3);
    reduced.segment<3>(block.v).noalias() = R.transpose() * p.segment<3>(block.q);
    // d_I' = R (w x e_I), so that its power with p_I is w . (e_I x R^T p_I).
    const Matrix3 A = R.transpose() * P;
    reduced.segment<3>(block.v + 3) << A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1);
  }
}

void DirectorSystem::internalNullSpace(const VectorX& q, SparseMatrix& N) const {
  for (const Block& block : model_.blocks()) {
    if (block.kind != Block::Kind::Pose) {
      for (int i = 0; i < block.nv; ++i) N.valuePtr()[N.outerIndexPtr()[block.v + i]] = 1;
      continue;
    }
    const Eigen::Map<const Matrix3> R(q.data() + block.q + 3);
    for (int c = 0; c < 3; ++c) {
      Eigen::Map<Vector3>(N.valuePtr() + N.outerIndexPtr()[block.v + c]) = R.col(c);
      Eigen::Map<Matrix3>(N.valuePtr() + N.outerIndexPtr()[block.v + 3 + c]).noalias() = R * so3::hat(Vector3::Unit(c));
    }
  }
}

Momentum DirectorSystem::momentum(const VectorX& q, const VectorX& p) const {
  Momentum sum;
  for (const Block& block : model_.blocks()) {
    if (block.kind != Block::Kind::Pose) continue;
    const Eigen::Map<const Matrix34> Q(q.data() + block.q), P(p.data() + block.q);
    sum.linear += P.col(0);
    for (int i = 0; i < 4; ++i) sum.angular += Q.col(i).cross(P.col(i));
  }
  return sum;
}

std::string DirectorSystem::nameOfCoordinate(int i) const {
  const auto& blocks = model_.blocks();
  const auto after = std::find_if(blocks.begin(), blocks.end(), [i](const Block& block) { return i < block.q + block.nq; });
  const std::string owner = model_.nameOfBlock(int(after - blocks.begin()));
  const int place = i - after->q;
  if (after->kind != Block::Kind::Pose) return "coordinate " + std::to_string(place + 1) + " of " + owner;
  const std::string axis(1, "xyz"[place % 3]);
  return place < 3 ? "position " + axis + " of " + owner : "director d" + std::to_string(place / 3) + ", " + axis + ", of " + owner;
}

std::string DirectorSystem::nameOfConstraint(int row) const {
  if (row >= internal_) return model_.nameOfConstraint(row - internal_);
  const auto block = std::find_if(internalRow_.begin(), internalRow_.end(), [row](int first) { return first >= 0 && row < first + 6; });
  return "orthonormal directors of " + model_.nameOfBlock(int(block - internalRow_.begin()));
}

}
