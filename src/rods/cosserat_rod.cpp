#include "tendril/rods/cosserat_rod.h"

#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace tendril {

using so3::anticommutator;
using so3::hat;

namespace {

Vector3 valueAt(const std::function<Vector3(double)>& function, double s, const Vector3& otherwise) {
  return function ? function(s) : otherwise;
}

void check(const CosseratProperties& p, int vertices) {
  if (vertices < 2) throw InputError(fmt::format("rod: it needs two vertices at least, not {}", vertices));
  if (!(p.length > 0) || !std::isfinite(p.length)) throw InputError("rod: its length must be positive");
  if (!(p.bending.minCoeff() > 0) || !p.bending.allFinite()) throw InputError("rod: stiffnesses in bending and torsion must be positive");
  if (!(p.shearing.minCoeff() > 0) || !p.shearing.allFinite()) throw InputError("rod: stiffnesses in shear and extension must be positive");
  if (!p.weight.allFinite()) throw InputError("rod: its weight is not finite");
}

}

// ---- strains of a segment --------------------------------------------------------------------------------------------------------------

/// v = (1/h) sum_j a_j R_j^T dr, dr = r_{i+1} - r_i, f = C2 (v - v0), n_j = R_j f.
struct CosseratRod::StretchState {
  StretchState(const CosseratRod& rod, int edge)
      : s(rod.stretches_[std::size_t(edge)]),
        dr(rod.position(edge + 1) - rod.position(edge)), R{rod.firstFrame(s), rod.frames_[std::size_t(s.frames[1])]} {
    mean = s.weights[0] * R[0] + s.weights[1] * R[1];
    v = mean.transpose() * dr / s.length;
    f = rod.properties_.shearing.cwiseProduct(v - s.natural);
  }

  double energy() const { return s.length / 2 * f.dot(v - s.natural); }
  Vector3 force() const { return mean * f; }
  Vector3 moment(int j) const { return s.weights[std::size_t(j)] * (R[std::size_t(j)] * f).cross(dr); } ///< dW/dw_j

  Eigen::Matrix<double, 12, 1> gradient() const {
    Eigen::Matrix<double, 12, 1> g;
    g << -force(), force(), moment(0), moment(1);
    return g;
  }

  Eigen::Matrix<double, 12, 12> hessian(const Vector3& C2) const {
    Eigen::Matrix<double, 3, 12> dv;
    dv << -mean.transpose(), mean.transpose(), s.weights[0] * R[0].transpose() * hat(dr), s.weights[1] * R[1].transpose() * hat(dr);
    dv /= s.length;
    Eigen::Matrix<double, 12, 12> K = s.length * dv.transpose() * C2.asDiagonal() * dv;
    for (int j = 0; j < 2; ++j) {
      const double a = s.weights[std::size_t(j)];
      const Vector3 n = R[std::size_t(j)] * f;
      const Matrix3 S = a * hat(n);
      const int w = 6 + 3 * j;
      K.block<3, 3>(w, w) += a / 2 * anticommutator(n, dr);
      K.block<3, 3>(0, w) += S, K.block<3, 3>(w, 0) -= S;
      K.block<3, 3>(3, w) -= S, K.block<3, 3>(w, 3) += S;
    }
    return K;
  }

  const Stretch& s;
  Vector3 dr;
  std::array<Matrix3, 2> R;
  Matrix3 mean;
  Vector3 v, f;
};

/// c = cay^-1((R_a turn)^T R_b) = h u, b = R_b T^T C1 (u - u0).
struct CosseratRod::BendState {
  BendState(const CosseratRod& rod, int k)
      : segment(rod.bends_[std::size_t(k)]), R(rod.frame(k + 1)), c(so3::cayleyInverse((rod.frame(k) * segment.turn).transpose() * R)) {
    difference = c / segment.length - segment.natural;
    moment = rod.properties_.bending.cwiseProduct(difference);
    T = so3::cayleyTangentInverse(c);
  }

  double energy() const { return segment.length / 2 * moment.dot(difference); }
  Vector3 couple() const { return R * (T.transpose() * moment); } ///< dW/dw_b = -dW/dw_a

  Vector6 gradient() const {
    Vector6 g;
    g << -couple(), couple();
    return g;
  }

  Matrix6 hessian(const Vector3& C1) const {
    const Vector3 b = T.transpose() * moment;
    const Matrix3 cb = c * b.transpose();
    const Matrix3 H = R * (T.transpose() * C1.asDiagonal() * T / segment.length + 0.25 * (cb + cb.transpose())) * R.transpose();
    const Matrix3 S = 0.5 * hat(R * b);
    Matrix6 K;
    K << H, -H + S, -H - S, H;
    return K;
  }

  const Bend& segment;
  const Matrix3& R;
  Vector3 c, difference, moment;
  Matrix3 T;
};

// ---- construction ----------------------------------------------------------------------------------------------------------------------

CosseratRod::CosseratRod(CosseratProperties properties, int vertices, CosseratModel model)
    : properties_(std::move(properties)), model_(model) {
  check(properties_, vertices);
  const bool isEdge = model == CosseratModel::Edge;
  const std::size_t N = std::size_t(vertices);
  positions_.resize(N), loads_.resize(N);
  axes_.fill(Vector3::UnitZ());
  frames_.resize(isEdge ? N + 1 : N);
  const double h = step();
  const std::array<double, 2> weights = isEdge ? std::array{1.0, 0.0} : std::array{0.5, 0.5};
  for (int i = 0; i < edges(); ++i) {
    const int first = isEdge ? i + 1 : i;
    stretches_.push_back({.length = h,
                          .natural = valueAt(properties_.naturalStretch, (i + 0.5) * h, Vector3::UnitZ()),
                          .frames = {first, first + 1},
                          .weights = weights});
  }
  const int count = frames() - 1;
  for (int k = 0; k < count; ++k) {
    const bool isHalf = isEdge && (k == 0 || k == count - 1);
    const double s = isEdge ? k * h : (k + 0.5) * h;
    bends_.push_back({.length = isHalf ? h / 2 : h, .natural = valueAt(properties_.naturalCurvature, s, Vector3::Zero())});
  }
  for (int k = 0; k < vertices; ++k) loads_[std::size_t(k)] = (k == 0 || k == vertices - 1 ? h / 2 : h) * properties_.weight;
  for (const Stretch& s : stretches_)
    if (!s.natural.allFinite()) throw InputError("rod: its natural stretch is not finite; look at its formula");
  for (const Bend& b : bends_)
    if (!b.natural.allFinite()) throw InputError("rod: its natural curvature is not finite; look at its formula");
  number();
  placeUnstrained({});
}

/// Numbers what is not held, along the rod: edge-based the position of the vertex before its edge's frame.
void CosseratRod::number() {
  unknowns_.clear(), couplings_.clear(), pattern_.clear();
  positionUnknown_.assign(positions_.size(), -1), frameUnknown_.assign(frames_.size(), -1);
  const int shift = frames() - vertices();
  const auto holdOf = [&](int index, int last) { return index == 0 ? holds_[0] : index == last ? holds_[1] : RodHold::Free; };
  const auto add = [&](Unknown unknown) {
    unknown.offset = size();
    unknowns_.push_back(unknown);
    return int(unknowns_.size()) - 1;
  };
  for (int stage = 0; stage < frames(); ++stage) {
    const int vertex = stage - shift;
    if (vertex >= 0 && holdOf(vertex, vertices() - 1) == RodHold::Free)
      positionUnknown_[std::size_t(vertex)] = add({.isPosition = true, .index = vertex, .stage = stage});
    const RodHold hold = holdOf(stage, frames() - 1);
    if (hold == RodHold::Clamped) continue;
    Unknown frame{.isPosition = false, .index = stage, .stage = stage};
    if (hold == RodHold::Hinged) frame.size = 1, frame.axis = axes_[stage == 0 ? 0 : 1];
    frameUnknown_[std::size_t(stage)] = add(frame);
  }
  for (std::size_t k = 0; k < bends_.size(); ++k) {
    bends_[k].places.unknown = {frameUnknown_[k], frameUnknown_[k + 1]};
    couple(bends_[k].places);
    if (k == stretches_.size()) break;
    Stretch& s = stretches_[k];
    const auto frameOf = [&](std::size_t j) { return s.weights[j] > 0 ? frameUnknown_[std::size_t(s.frames[j])] : -1; };
    s.places.unknown = {positionUnknown_[k], positionUnknown_[k + 1], frameOf(0), frameOf(1)};
    couple(s.places);
  }
}

/// Segments are coupled along the rod: what two share is among the last ones.
template <int n> void CosseratRod::couple(Places<n>& places) {
  constexpr std::ptrdiff_t reach = 40; // couplings of three segments of each kind
  for (std::size_t i = 0, p = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j, ++p) {
      places.coupling[p] = -1;
      const int row = std::max(places.unknown[i], places.unknown[j]), column = std::min(places.unknown[i], places.unknown[j]);
      if (column < 0) continue;
      const auto from = couplings_.end() - std::min(std::ptrdiff_t(couplings_.size()), reach);
      const auto known = std::find_if(from, couplings_.end(), [&](const Coupling& c) { return c.row == row && c.column == column; });
      places.coupling[p] = int(known - couplings_.begin());
      if (known != couplings_.end()) continue;
      couplings_.push_back({row, column, int(pattern_.size())});
      const Unknown &r = unknowns_[std::size_t(row)], &c = unknowns_[std::size_t(column)];
      for (int y = c.offset; y < c.end(); ++y)
        for (int x = row == column ? y : r.offset; x < r.end(); ++x) pattern_.push_back({x, y});
    }
  }
}

void CosseratRod::hold(RodEnd end, RodHold hold, const Vector3& axis) {
  if (!(axis.norm() > 0)) throw InputError("rod: the axis of a hinge is zero");
  const std::size_t at = end == RodEnd::Begin ? 0 : 1;
  holds_[at] = hold, axes_[at] = axis.normalized();
  number();
}

void CosseratRod::addCorner(int vertex, const Matrix3& turn, RodCorner treatment) {
  if (vertex < 1 || vertex > vertices() - 2)
    throw InputError(fmt::format("rod: a corner lies at an inner vertex, 1 to {}, not {}", vertices() - 2, vertex));
  if (!((turn.transpose() * turn - Matrix3::Identity()).norm() < 1e-9) || turn.determinant() < 0)
    throw InputError("rod: the turn of a corner is no rotation");
  Bend& bend = bends_[std::size_t(vertex)]; // vertex-based the segment that begins there
  if (treatment == RodCorner::ReferenceRotation) {
    bend.turn = turn;
    if (model_ == CosseratModel::Vertex) stretches_[std::size_t(vertex)].turn = turn;
    return;
  }
  if (model_ == CosseratModel::Vertex)
    throw InputError("rod: a vertex of the vertex-based model has no curvature; take the corner as a reference rotation");
  bend.natural += so3::cayleyInverse(turn) / bend.length;
}

void CosseratRod::addForce(int vertex, const Vector3& force) {
  if (vertex < 0 || vertex >= vertices())
    throw InputError(fmt::format("rod: a force acts at a vertex, 0 to {}, not {}", vertices() - 1, vertex));
  if (!force.allFinite()) throw InputError("rod: a force is not finite");
  loads_[std::size_t(vertex)] += force;
}

// ---- configuration ---------------------------------------------------------------------------------------------------------------------

void CosseratRod::placeUnstrained(const Pose& begin) {
  frames_[0] = begin.R;
  for (std::size_t k = 0; k < bends_.size(); ++k)
    frames_[k + 1] = so3::orthonormalised(frames_[k] * bends_[k].turn * so3::cayley(bends_[k].length * bends_[k].natural));
  positions_[0] = begin.x;
  for (int i = 0; i < edges(); ++i) { // M^T dr = h v0
    const Stretch& s = stretches_[std::size_t(i)];
    const Matrix3 M = s.weights[0] * firstFrame(s) + s.weights[1] * frame(s.frames[1]);
    positions_[std::size_t(i) + 1] = position(i) + s.length * M.transpose().inverse() * s.natural;
  }
}

void CosseratRod::placeBetween(const Pose& begin, const Pose& end) {
  const double L = properties_.length;
  const auto place = [&](double t) -> Vector3 { // cubic Hermite polynomials
    const double a = 1 - t;
    return a * a * (1 + 2 * t) * begin.x + t * t * (3 - 2 * t) * end.x + L * t * a * (a * begin.R.col(2) - t * end.R.col(2));
  };
  const auto slope = [&](double t) -> Vector3 {
    const double a = 1 - t;
    return 6 * t * a * (end.x - begin.x) + L * (a * (1 - 3 * t) * begin.R.col(2) + t * (3 * t - 2) * end.R.col(2));
  };
  for (int i = 0; i < vertices(); ++i) positions_[std::size_t(i)] = place(double(i) / edges());
  const auto fraction = [&](int k) {
    const double vertex = model_ == CosseratModel::Vertex ? k : k - 0.5;
    return std::clamp(vertex / edges(), 0.0, 1.0);
  };
  frames_[0] = begin.R;
  for (int k = 1; k < frames(); ++k) { // the shortest rotation from tangent to tangent
    const Vector3 tangent = slope(fraction(k)).normalized();
    const Matrix3 turn = so3::shortestRotation(frame(k - 1).col(2), tangent);
    frames_[std::size_t(k)] = so3::orthonormalised(turn * frame(k - 1));
  }
  const Vector3 left = so3::log(frames_.back().transpose() * end.R);
  for (int k = 1; k < frames(); ++k) frames_[std::size_t(k)] = frame(k) * so3::exp(fraction(k) * left[2] * Vector3::UnitZ());
  positions_.back() = end.x, frames_.back() = end.R;
}

void CosseratRod::moveEnd(const std::optional<Vector3>& position, const std::optional<Matrix3>& orientation) {
  if (position) positions_.back() = *position;
  if (orientation) frames_.back() = *orientation;
}

Matrix3 CosseratRod::frameAt(int vertex) const {
  if (model_ == CosseratModel::Vertex || vertex == 0) return frame(vertex);
  if (vertex == vertices() - 1) return frames_.back();
  const Matrix3& R = frame(vertex);
  return R * so3::exp(0.5 * so3::log(R.transpose() * frame(vertex + 1)));
}

void CosseratRod::getPoint(Eigen::Ref<VectorX> numbers) const {
  Eigen::Index at = 0;
  for (const Vector3& r : positions_) numbers.segment<3>(at) = r, at += 3;
  for (const Matrix3& R : frames_) Eigen::Map<Matrix3>{numbers.data() + at} = R, at += 9;
}

void CosseratRod::setPoint(const Eigen::Ref<const VectorX>& numbers) {
  Eigen::Index at = 0;
  for (Vector3& r : positions_) r = numbers.segment<3>(at), at += 3;
  for (Matrix3& R : frames_) R = Eigen::Map<const Matrix3>(numbers.data() + at), at += 9;
}

void CosseratRod::move(const Eigen::Ref<const VectorX>& increment) {
  for (const Unknown& u : unknowns_) {
    const std::size_t index = std::size_t(u.index);
    if (u.isPosition) {
      positions_[index] += increment.segment<3>(u.offset);
    } else {
      const Vector3 w = u.size == 1 ? Vector3(increment[u.offset] * u.axis) : Vector3(increment.segment<3>(u.offset));
      frames_[index] = so3::orthonormalised(so3::exp(w) * frames_[index]);
    }
  }
}

// ---- energy and its derivatives --------------------------------------------------------------------------------------------------------

double CosseratRod::elasticEnergy() const {
  double sum = 0;
  for (int i = 0; i < edges(); ++i) sum += StretchState(*this, i).energy();
  for (int k = 0; k < bends(); ++k) sum += BendState(*this, k).energy();
  return sum;
}

double CosseratRod::loadEnergy() const {
  double sum = 0;
  for (int k = 0; k < vertices(); ++k) sum -= loadFactor * load(k).dot(position(k));
  return sum;
}

void CosseratRod::addForceOn(int unknown, const Vector3& f, Eigen::Ref<VectorX>& g) const {
  if (unknown < 0) return;
  const Unknown& u = unknowns_[std::size_t(unknown)];
  if (u.size == 1)
    g[u.offset] += u.axis.dot(f);
  else
    g.segment<3>(u.offset) += f;
}

void CosseratRod::addLoads(double factor, Eigen::Ref<VectorX> g) const {
  for (int k = 0; k < vertices(); ++k) addForceOn(positionUnknown_[std::size_t(k)], -factor * load(k), g);
}

template <int n> void CosseratRod::scatter(const Places<n>& places, const Eigen::Matrix<double, 3 * n, 1>& f, Eigen::Ref<VectorX> g) const {
  for (int i = 0; i < n; ++i) addForceOn(places.unknown[std::size_t(i)], f.template segment<3>(3 * i), g);
}

template <int n>
void CosseratRod::scatter(const Places<n>& places, const Eigen::Matrix<double, 3 * n, 3 * n>& K, Eigen::Ref<VectorX> values) const {
  for (int i = 0, p = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j, ++p) {
      if (places.coupling[std::size_t(p)] < 0) continue;
      const Coupling& c = couplings_[std::size_t(places.coupling[std::size_t(p)])];
      const Unknown &row = unknowns_[std::size_t(c.row)], &column = unknowns_[std::size_t(c.column)];
      const bool isLower = places.unknown[std::size_t(i)] == c.row;
      Matrix3 block = isLower ? K.template block<3, 3>(3 * i, 3 * j) : K.template block<3, 3>(3 * j, 3 * i);
      if (row.size == 1) block.row(0) = row.axis.transpose() * block;
      if (column.size == 1) block.col(0) = block * column.axis;
      int entry = c.entry;
      for (int y = 0; y < column.size; ++y)
        for (int x = c.row == c.column ? y : 0; x < row.size; ++x) values[entry++] += block(x, y);
    }
  }
}

void CosseratRod::gradient(Eigen::Ref<VectorX> g) const {
  g.setZero();
  for (int i = 0; i < edges(); ++i) scatter<4>(stretches_[std::size_t(i)].places, StretchState(*this, i).gradient(), g);
  for (int k = 0; k < bends(); ++k) scatter<2>(bends_[std::size_t(k)].places, BendState(*this, k).gradient(), g);
  addLoads(loadFactor, g);
}

void CosseratRod::loadGradient(Eigen::Ref<VectorX> g) const {
  g.setZero();
  addLoads(1, g);
}

void CosseratRod::hessian(Eigen::Ref<VectorX> values) const {
  values.setZero();
  for (int i = 0; i < edges(); ++i)
    scatter<4>(stretches_[std::size_t(i)].places, StretchState(*this, i).hessian(properties_.shearing), values);
  for (int k = 0; k < bends(); ++k) scatter<2>(bends_[std::size_t(k)].places, BendState(*this, k).hessian(properties_.bending), values);
}

// ---- measures --------------------------------------------------------------------------------------------------------------------------

Vector3 CosseratRod::force(int edge) const { return StretchState(*this, edge).force(); }

Vector3 CosseratRod::angularMap(int edge) const {
  const StretchState s(*this, edge);
  const BendState b(*this, s.s.frames[0]);
  return b.couple() - s.moment(0) + position(edge).cross(s.force());
}

double CosseratRod::isotropyMap(int edge) const {
  const StretchState s(*this, edge);
  return (BendState(*this, s.s.frames[0]).couple() - s.moment(0)).dot(s.R[0].col(2));
}

Vector3 CosseratRod::stretch(int edge) const { return StretchState(*this, edge).v; }
Vector3 CosseratRod::curvature(int k) const { return BendState(*this, k).c / bends_[std::size_t(k)].length; }
Vector3 CosseratRod::materialMoment(int k) const { return BendState(*this, k).moment; }

}
