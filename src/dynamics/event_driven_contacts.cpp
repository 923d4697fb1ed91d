#include "dynamics/event_driven_contacts.h"

#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/solvers/lcp.h"

#include <Eigen/LU>
#include <Eigen/QR>
#include <fmt/format.h>

#include <algorithm>

namespace tendril {

namespace {

using Eigen::Vector2d;

/// Contacts are looked for within this of touching, relative to the smallest shape: stages of the integrator lie a little off.
constexpr double lookAround = 0.02;
/// Fraction of the smallest shape that surfaces move for differences of their geometry: the error of order four is at round-off.
constexpr double differenceStep = 1e-3;
/// Forces and accelerations below this, relative to the largest, count as zero.
constexpr double negligible = 1e-9;
/// Cosine of the angle within which two normals belong to one contact.
constexpr double sameNormal = 0.99;

}

Vector2d ClosedContact::tangential(const Vector3& components) const {
  const int n = tangents();
  return {n > 0 ? components[1] : 0.0, n > 1 ? components[2] : 0.0};
}

Vector2d ClosedContact::slip(double noise) const {
  const Vector2d before = tangential(block.contact.frame.transpose() * direction), now = tangential(velocity);
  if (isYoung || now.norm() <= noise) return before.norm() > 0 ? Vector2d(before.normalized()) : before;
  return now.dot(before) < 0 ? Vector2d(-now.normalized()) : Vector2d(now.normalized());
}

double ClosedContact::coneMargin() const { return friction() * normalForce() - tangential(block.contact.frame.transpose() * force).norm(); }

ClosedContacts::ClosedContacts(const Model& model, ContactDetection& detection, ImpulseResponse& response)
    : model_(model), detection_(detection), response_(response), lambda_(VectorX::Zero(model.nc())) {}

const ClosedContact* ClosedContacts::find(const Contact& contact) const {
  if (const ClosedContact* c = find(contact.key)) return c;
  for (const ClosedContact& c : list_) {
    const Contact& own = c.block.contact;
    const bool isNear = (own.point.position - contact.point.position).norm() < lookAround * detection_.smallestSize();
    if (own.first == contact.first && own.second == contact.second && own.point.feature == contact.point.feature && isNear) return &c;
  }
  return nullptr;
}

const ClosedContact* ClosedContacts::find(std::uint64_t key) const {
  for (const ClosedContact& c : list_) {
    if (c.block.contact.key == key) return &c;
  }
  return nullptr;
}

// ---- kinematics ------------------------------------------------------------------------------------------------------------------------

void ClosedContacts::add(const Contact& contact, const State& state) {
  ClosedContact c;
  c.block.contact = contact;
  c.block.chooseLaw();
  const ContactModel::Part &first = detection_.model().parts()[std::size_t(contact.first)],
                           &second = detection_.model().parts()[std::size_t(contact.second)];
  const Pose a = first.marker->frame(state), b = second.marker->frame(state);
  double nearest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < int(first.shapes.size()); ++i) {
    for (int j = 0; j < int(second.shapes.size()); ++j) {
      points_.clear();
      findContacts(first.shapes[std::size_t(i)], a, second.shapes[std::size_t(j)], b, lookAround * detection_.smallestSize(), points_);
      for (const ContactPoint& point : points_) {
        const double distance = (point.position - contact.point.position).norm() + std::abs(point.gap - contact.point.gap);
        if (point.feature == contact.point.feature && distance < nearest) nearest = distance, c.firstShape = i, c.secondShape = j;
      }
    }
  }
  list_.push_back(c);
}

bool ClosedContacts::locate(const ClosedContact& c, const Pose& first, const Pose& second, ContactPoint& point) {
  const Contact& contact = c.block.contact;
  points_.clear();
  findContacts(detection_.model().parts()[std::size_t(contact.first)].shapes[std::size_t(c.firstShape)], first,
               detection_.model().parts()[std::size_t(contact.second)].shapes[std::size_t(c.secondShape)], second,
               lookAround * detection_.smallestSize(), points_);
  const ContactPoint* nearest = nullptr;
  double distance = lookAround * detection_.smallestSize();
  for (const ContactPoint& found : points_) {
    if (found.feature == contact.point.feature) {
      point = found;
      return true;
    }
    // Where several features meet, as at the end of an edge on a face, the geometry may name another one: the place decides.
    const double away = (found.position - contact.point.position).norm();
    if (away < distance && found.normal.dot(contact.point.normal) > sameNormal && !isTaken(c, found.feature)) {
      nearest = &found, distance = away;
    }
  }
  if (nearest) point = *nearest;
  return nearest != nullptr;
}

/// Whether another closed contact of the same shapes goes by this feature.
bool ClosedContacts::isTaken(const ClosedContact& c, std::uint32_t feature) const {
  return std::any_of(list_.begin(), list_.end(), [&](const ClosedContact& other) {
    const Contact &a = other.block.contact, &b = c.block.contact;
    return &other != &c && a.first == b.first && a.second == b.second && other.firstShape == c.firstShape &&
           other.secondShape == c.secondShape && a.point.feature == feature;
  });
}

bool ClosedContacts::update(const State& state) {
  for (std::size_t i = 0; i < list_.size(); ++i) {
    if (updateOne(list_[i], state)) continue;
    lost_ = int(i);
    return false;
  }
  return true;
}

/// u = U1 - U2, U = R (v + w x arm) of each side, differentiated in time. The place of contact moves over both surfaces; how, is taken from
/// the geometry itself by differences along the motion at constant twists.
bool ClosedContacts::updateOne(ClosedContact& c, const State& state) {
  Contact& contact = c.block.contact;
  std::array<Pose, 2> frame;
  std::array<Vector6, 2> twist, drift;
  double speed = 0;
  for (std::size_t side = 0; side < 2; ++side) {
    const int p = side == 0 ? contact.first : contact.second;
    detection_.model().parts()[std::size_t(p)].marker->kinematics(state, kinematics_, true);
    frame[side] = kinematics_.frame, twist[side] = kinematics_.twist, drift[side] = kinematics_.accelerationBias;
    speed = std::max(speed, twist[side].head<3>().norm() + detection_.smallestSize() * twist[side].tail<3>().norm());
  }
  if (!locate(c, frame[0], frame[1], contact.point)) return false;
  contact.frame = contactFrame(contact.point.normal, contact.point.planeNormal);
  detection_.rows(contact, state, c.block.rows);
  Vector3 placeRate = Vector3::Zero(), normalRate = Vector3::Zero();
  if (speed > 0) {
    const double step = differenceStep * detection_.smallestSize() / speed;
    for (const auto& [k, weight] : {std::pair{-2, 1.0}, std::pair{-1, -8.0}, std::pair{1, 8.0}, std::pair{2, -1.0}}) {
      ContactPoint point;
      if (!locate(c, frame[0] * se3::exp(k * step * twist[0]), frame[1] * se3::exp(k * step * twist[1]), point)) return false;
      placeRate += weight / (12 * step) * (point.position - contact.point.position);
      normalRate += weight / (12 * step) * (point.normal - contact.point.normal);
    }
  }
  Vector3 bias = Vector3::Zero(), velocity = Vector3::Zero();
  for (std::size_t side = 0; side < 2; ++side) {
    const Matrix3& R = frame[side].R;
    const Vector3 arm = R.transpose() * (contact.point.position - frame[side].x), w = twist[side].tail<3>();
    const Vector3 v = twist[side].head<3>() + w.cross(arm), armRate = R.transpose() * placeRate - v;
    const Vector3 rate = w.cross(v) + drift[side].head<3>() + drift[side].tail<3>().cross(arm) + w.cross(armRate);
    bias += (side == 0 ? 1 : -1) * (R * rate);
    velocity += (side == 0 ? 1 : -1) * (R * v);
  }
  c.velocity = contact.frame.transpose() * velocity;
  c.bias = contact.frame.transpose() * bias;
  c.bias[0] += normalRate.dot(velocity);
  return true;
}

// ---- accelerations and forces ----------------------------------------------------------------------------------------------------------

/// W of all rows.
void ClosedContacts::gather() {
  blocks_.clear();
  for (const ClosedContact& c : list_) blocks_.push_back(c.block);
  response_.gather(blocks_, problem_);
  const int n = problem_.rows();
  const FrictionBodies& bodies = problem_.bodies;
  W_.setZero(n, n);
  for (int i = 0; i < int(blocks_.size()); ++i) {
    for (int j = 0; j < int(blocks_.size()); ++j) {
      for (int k = 0; k < 2; ++k) {
        const int body = bodies.touched[std::size_t(i)][std::size_t(k)];
        if (body < 0) continue;
        for (int l = 0; l < 2; ++l) {
          if (bodies.touched[std::size_t(j)][std::size_t(l)] != body) continue;
          const auto rows = [&](int c, int side) {
            return bodies.H.block(problem_.firstRow[std::size_t(c)], 6 * side, blocks_[std::size_t(c)].law.size, 6);
          };
          W_.block(problem_.firstRow[std::size_t(i)], problem_.firstRow[std::size_t(j)], blocks_[std::size_t(i)].law.size,
                   blocks_[std::size_t(j)].law.size) += rows(i, k) * bodies.inverseInertia[std::size_t(body)] * rows(j, l).transpose();
        }
      }
    }
  }
}

int ClosedContacts::unknowns() const {
  int n = 0;
  for (const ClosedContact& c : list_) n += c.mode == ClosedContact::Mode::Stick ? c.block.law.size : 1;
  return n;
}

/// Columns of F: forces on the rows per unknown; rows of E: which accelerations vanish.
void ClosedContacts::setModeColumns() {
  const int n = unknowns();
  F_.setZero(problem_.rows(), n);
  E_.setZero(n, problem_.rows());
  int at = 0;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    const ClosedContact& c = list_[i];
    const int row = problem_.firstRow[i];
    if (c.mode == ClosedContact::Mode::Stick) {
      for (int k = 0; k < c.block.law.size; ++k) F_(row + k, at + k) = E_(at + k, row + k) = 1;
      at += c.block.law.size;
      continue;
    }
    F_(row, at) = E_(at, row) = 1;
    F_.block(row + 1, at, c.tangents(), 1) = -c.friction() * c.slip(noise).head(c.tangents());
    ++at;
  }
}

bool ClosedContacts::solve(VectorX& a) {
  std::vector<int> young;
  for (int i = 0; i < int(list_.size()); ++i) {
    const ClosedContact& c = list_[std::size_t(i)];
    if (c.isYoung && c.mode == ClosedContact::Mode::Slip && c.tangents() == 2) young.push_back(i);
  }
  return young.empty() ? solveModes(a) : solveYoung(young, a);
}

/// Turns the directions of young slip until the accelerations have them, too: Newton's method with differences in the angles.
bool ClosedContacts::solveYoung(const std::vector<int>& young, VectorX& a) {
  const Eigen::Index n = Eigen::Index(young.size());
  const VectorX without = a;
  const auto contact = [&](Eigen::Index k) -> ClosedContact& { return list_[std::size_t(young[std::size_t(k)])]; };
  const auto turn = [&](Eigen::Index k, double angle) {
    ClosedContact& c = contact(k);
    const Vector2d d = Eigen::Rotation2Dd(angle) * c.slip(noise);
    c.direction = c.block.contact.frame * Vector3(0, d[0], d[1]);
  };
  const auto misfit = [&](VectorX& across) {
    a = without;
    if (!solveModes(a)) return false;
    across.resize(n);
    for (Eigen::Index k = 0; k < n; ++k) {
      const Vector2d d = contact(k).slip(noise), rate = contact(k).tangential(contact(k).acceleration);
      across[k] = d[0] * rate[1] - d[1] * rate[0];
    }
    return true;
  };
  constexpr double difference = 1e-6;
  VectorX across, moved;
  MatrixX J(n, n);
  for (int iteration = 0; iteration < 30; ++iteration) {
    if (!misfit(across)) return false;
    if (across.lpNorm<Eigen::Infinity>() <= 1e-14 * free_.lpNorm<Eigen::Infinity>()) return true;
    for (Eigen::Index k = 0; k < n; ++k) {
      turn(k, difference);
      if (!misfit(moved)) return false;
      turn(k, -difference);
      J.col(k) = (moved - across) / difference;
    }
    const VectorX angles = J.fullPivLu().solve(-across);
    if (!angles.allFinite()) return false;
    for (Eigen::Index k = 0; k < n; ++k) turn(k, std::clamp(angles[k], -0.5, 0.5));
    if (angles.lpNorm<Eigen::Infinity>() <= 1e-13) break;
  }
  return misfit(across);
}

bool ClosedContacts::solveModes(VectorX& a) {
  isHyperstatic_ = false;
  forceScale = 0;
  if (list_.empty()) return true;
  gather();
  setModeColumns();
  const Eigen::Index rows = problem_.rows();
  free_.resize(rows);
  VectorX r(rows);
  for (std::size_t i = 0; i < list_.size(); ++i) {
    ClosedContact& c = list_[i];
    const Vector6 relative = c.block.velocity(model_, a, false);
    const Vector3 held = c.block.contact.frame.transpose() * c.force;
    free_.segment(problem_.firstRow[i], c.block.law.size) = (relative.head<3>() + c.bias).head(c.block.law.size);
    r.segment(problem_.firstRow[i], c.block.law.size) = held.head(c.block.law.size);
  }
  forceScale = (free_.cwiseAbs().array() / W_.diagonal().array().max(1e-300)).maxCoeff();
  // Rows and unknowns without units.
  const VectorX weight = E_ * W_.diagonal().cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
  VectorX x = E_ * r; // of sliding contacts the normal force, of others all
  const MatrixX system = weight.asDiagonal() * (E_ * W_ * F_) * weight.asDiagonal();
  Eigen::CompleteOrthogonalDecomposition<MatrixX> factors;
  factors.setThreshold(1e-10);
  factors.compute(system);
  isHyperstatic_ = factors.rank() < system.rows();
  const VectorX b = weight.asDiagonal() * (E_ * free_);
  const VectorX start = weight.cwiseInverse().asDiagonal() * x, residual = b + system * start;
  const VectorX scaled = start - factors.solve(residual);
  if (!scaled.allFinite() || (b + system * scaled).norm() > 1e-7 * (b.norm() + residual.norm())) return false;
  x = weight.asDiagonal() * scaled;
  r = F_ * x;
  response_.apply(blocks_, problem_, r, a, lambda_);
  for (std::size_t i = 0; i < list_.size(); ++i) {
    ClosedContact& c = list_[i];
    Vector3 components = Vector3::Zero();
    components.head(c.block.law.size) = r.segment(problem_.firstRow[i], c.block.law.size);
    c.force = c.block.contact.frame * components;
    c.acceleration = c.block.velocity(model_, a, false).head<3>() + c.bias;
  }
  return true;
}

/// Whether all principal minors are positive: then the complementarity problem has exactly one solution whatever the load.
bool ClosedContacts::isUnique(const MatrixX& M) const {
  const int n = int(M.rows());
  if (n > 10) return true; // too many to try
  for (int set = 1; set < 1 << n; ++set) {
    std::vector<int> rows;
    for (int i = 0; i < n; ++i) {
      if (set >> i & 1) rows.push_back(i);
    }
    const MatrixX part = M(rows, rows);
    double size = 1;
    for (Eigen::Index i = 0; i < part.rows(); ++i) size *= part.row(i).norm();
    if (part.determinant() < -1e-10 * size) return false;
  }
  return true;
}

bool ClosedContacts::decideSliding(const std::vector<int>& sliding, VectorX& r) {
  const Eigen::Index n = Eigen::Index(sliding.size());
  MatrixX columns(problem_.rows(), n), M(n, n);
  VectorX q(n);
  columns.setZero();
  for (Eigen::Index k = 0; k < n; ++k) {
    const ClosedContact& c = list_[std::size_t(sliding[std::size_t(k)])];
    const int row = problem_.firstRow[std::size_t(sliding[std::size_t(k)])];
    r.segment(row, c.block.law.size).setZero();
    columns(row, k) = 1;
    columns.block(row + 1, k, c.tangents(), 1) = -c.friction() * c.slip(noise).head(c.tangents());
  }
  const VectorX rest = free_ + W_ * r;
  for (Eigen::Index k = 0; k < n; ++k) {
    const int row = problem_.firstRow[std::size_t(sliding[std::size_t(k)])];
    q[k] = rest[row];
    M.row(k) = W_.row(row) * columns;
  }
  const bool unique = isUnique(M);
  const Contact& first = list_[std::size_t(sliding.front())].block.contact;
  if (!unique)
    note = fmt::format("sliding at the contact of {} allows several accelerations or none (Painleve): ", detection_.names(first));
  const LcpResult result = solveLcp(M, q);
  if (result.status != PivotStatus::Solved) {
    withoutRest = sliding;
    note += "there is none, the contact jams";
    return false;
  }
  if (!unique) note += "one was taken";
  r += columns * result.z;
  return true;
}

bool ClosedContacts::decideResting(const std::vector<int>& resting, VectorX& r) {
  resting_.laws.clear();
  for (const int i : resting) resting_.laws.push_back(list_[std::size_t(i)].block.law);
  resting_.layOut();
  resting_.q.setZero(resting_.rows());
  VectorX own = VectorX::Zero(resting_.rows()), others = r;
  for (const int i : resting) others.segment(problem_.firstRow[std::size_t(i)], list_[std::size_t(i)].block.law.size).setZero();
  const VectorX rest = free_ + W_ * others;
  BlockMatrix& W = resting_.W;
  W.start.assign(1, 0);
  W.blocks.clear();
  W.values.clear();
  for (std::size_t k = 0; k < resting.size(); ++k) {
    const int row = problem_.firstRow[std::size_t(resting[k])], size = resting_.laws[k].size;
    resting_.q.segment(resting_.firstRow[k], size) = rest.segment(row, size);
    own.segment(resting_.firstRow[k], size) = r.segment(row, size);
    for (std::size_t l = 0; l < resting.size(); ++l) {
      const MatrixX block = W_.block(row, problem_.firstRow[std::size_t(resting[l])], size, resting_.laws[l].size);
      W.blocks.push_back({int(l), W.values.size()});
      W.values.insert(W.values.end(), block.data(), block.data() + block.size());
    }
    W.start.push_back(int(W.blocks.size()));
  }
  FrictionOptions options;
  options.tolerance = 1e-12;
  options.measure = FrictionOptions::Measure::Scaled;
  const FrictionReport& report = solver_.solve(resting_, options, own);
  frictionResidual = report.residual.scaled;
  if (!report.ambiguous.empty()) {
    const Contact& contact = list_[std::size_t(resting[std::size_t(report.ambiguous.front())])].block.contact;
    note = fmt::format("friction allows several accelerations or none (Painleve) at the contact of {}: one was taken",
                       detection_.names(contact));
  }
  if (report.residual.scaled > 1e-8) return false;
  for (std::size_t k = 0; k < resting.size(); ++k) {
    r.segment(problem_.firstRow[std::size_t(resting[k])], resting_.laws[k].size) = own.segment(resting_.firstRow[k], resting_.laws[k].size);
  }
  return true;
}

ClosedContacts::Outcome ClosedContacts::chooseModes(const VectorX& a) {
  note.clear();
  withoutRest.clear();
  frictionResidual = 0;
  if (list_.empty()) return Outcome::Solved;
  gather();
  std::vector<int> sliding, resting;
  free_.resize(problem_.rows());
  VectorX r = VectorX::Zero(problem_.rows()), before;
  for (int i = 0; i < int(list_.size()); ++i) {
    const ClosedContact& c = list_[std::size_t(i)];
    const bool rests = c.mode == ClosedContact::Mode::Stick && c.tangents() > 0;
    (rests ? resting : sliding).push_back(i);
    const Vector3 relative = c.block.velocity(model_, a, false).head<3>() + c.bias;
    free_.segment(problem_.firstRow[std::size_t(i)], c.block.law.size) = relative.head(c.block.law.size);
    const Vector3 held = c.block.contact.frame.transpose() * c.force;
    if (rests) r.segment(problem_.firstRow[std::size_t(i)], c.block.law.size) = held.head(c.block.law.size);
  }
  for (int round = 0; round < 500; ++round) { // block Gauss-Seidel between what slides and what rests
    before = r;
    if (!sliding.empty() && !decideSliding(sliding, r)) return Outcome::NoSolution;
    if (!resting.empty() && !decideResting(resting, r)) return Outcome::NoSolution;
    if (sliding.empty() || resting.empty() || (r - before).norm() <= 1e-13 * r.norm()) {
      takeModes(r);
      takeLeastForces(a);
      return Outcome::Solved;
    }
  }
  return Outcome::NoSolution;
}

void ClosedContacts::takeModes(const VectorX& r) {
  const VectorX a = free_ + W_ * r;
  accelerationScale = free_.lpNorm<Eigen::Infinity>();
  const double force = negligible * r.lpNorm<Eigen::Infinity>(), acceleration = negligible * accelerationScale;
  std::vector<ClosedContact> kept;
  for (std::size_t i = 0; i < list_.size(); ++i) {
    ClosedContact c = list_[i];
    Vector3 components = Vector3::Zero(), rate = Vector3::Zero();
    components.head(c.block.law.size) = r.segment(problem_.firstRow[i], c.block.law.size);
    rate.head(c.block.law.size) = a.segment(problem_.firstRow[i], c.block.law.size);
    if (components[0] <= force && rate[0] > acceleration) continue;
    const Vector2d slipRate = c.tangential(rate);
    if (c.tangents() == 0) {
      c.mode = ClosedContact::Mode::Slip;
    } else if (c.mode == ClosedContact::Mode::Stick && slipRate.norm() > acceleration) {
      c.mode = ClosedContact::Mode::Slip;
      c.isYoung = c.tangents() == 2;
      const Vector2d d = slipRate.normalized();
      c.direction = c.block.contact.frame * Vector3(0, d[0], d[1]);
    }
    c.force = c.block.contact.frame * components;
    c.acceleration = rate;
    kept.push_back(c);
  }
  list_.swap(kept);
}

/// Of all forces that hold hyperstatic contacts those of least norm are taken, if the laws admit them: what a solver finds may lie
/// anywhere, at the bound of friction without need.
void ClosedContacts::takeLeastForces(VectorX a) {
  const std::vector<ClosedContact> found = list_;
  for (ClosedContact& c : list_) c.force.setZero();
  bool isAdmitted = solve(a) && isHyperstatic_;
  for (const ClosedContact& c : list_) {
    isAdmitted = isAdmitted && c.normalForce() >= 0 && (c.mode == ClosedContact::Mode::Slip || c.coneMargin() >= 0);
  }
  if (!isAdmitted) list_ = found;
}

// ---- projections -----------------------------------------------------------------------------------------------------------------------

void ClosedContacts::closeGaps(State& state, RigidFlight& flight) {
  for (int iteration = 0; iteration < 4 && !list_.empty(); ++iteration) {
    if (!update(state)) return;
    gather();
    const Eigen::Index n = Eigen::Index(list_.size());
    MatrixX N = MatrixX::Zero(n, problem_.rows());
    VectorX gap(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      N(i, problem_.firstRow[std::size_t(i)]) = 1;
      gap[i] = list_[std::size_t(i)].block.contact.point.gap;
    }
    if (gap.lpNorm<Eigen::Infinity>() <= 1e-16 * detection_.smallestSize()) return;
    Eigen::CompleteOrthogonalDecomposition<MatrixX> factors;
    factors.setThreshold(1e-10);
    factors.compute(N * W_ * N.transpose());
    VectorX displacement = VectorX::Zero(model_.nv());
    response_.apply(blocks_, problem_, N.transpose() * factors.solve(-gap), displacement, lambda_);
    flight.displace(state.q, state.v, displacement);
  }
}

void ClosedContacts::holdVelocities(State& state) {
  for (int iteration = 0; iteration < 2 && !list_.empty(); ++iteration) {
    if (!update(state)) return;
    gather();
    setModeColumns();
    VectorX u(problem_.rows());
    for (std::size_t i = 0; i < list_.size(); ++i) {
      u.segment(problem_.firstRow[i], list_[i].block.law.size) = list_[i].velocity.head(list_[i].block.law.size);
    }
    Eigen::CompleteOrthogonalDecomposition<MatrixX> factors;
    factors.setThreshold(1e-10);
    factors.compute(E_ * W_ * E_.transpose());
    response_.apply(blocks_, problem_, E_.transpose() * factors.solve(-E_ * u), state.v, lambda_);
  }
}

}
