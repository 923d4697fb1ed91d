#include "tendril/elements/super_helix.h"

#include "helix_screw.h"
#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <Eigen/Cholesky>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace tendril {

namespace {

/// Two-point Gauss quadrature on [0, 1], each with half of the weight.
const std::array<double, 2>& gaussPoints() {
  static const double offset = 0.5 / std::sqrt(3.0);
  static const std::array<double, 2> points{0.5 - offset, 0.5 + offset};
  return points;
}

Vector6 helixTwist(double length, const Vector3& u) {
  Vector6 x;
  x << length, 0, 0, length * u;
  return x;
}

Vector6 spatialGravity(const Vector3& g) {
  Vector6 result;
  result << g, Vector3::Zero();
  return result;
}

/// Ad(H) of three twists, without the matrix.
Screws carried(const Pose& H, const Screws& local) {
  Screws S;
  S.bottomRows<3>().noalias() = H.R * local.bottomRows<3>();
  S.topRows<3>().noalias() = H.R * local.topRows<3>() + so3::hat(H.x) * S.bottomRows<3>();
  return S;
}

/// Where a place along the rod is, and how it moves: spatial twist and its rate.
struct Station {
  Pose H;
  Vector6 V = Vector6::Zero(), rate = Vector6::Zero();
};

/// Spatial screws of the strain of an element for a place beyond, and their two rates.
struct Beyond {
  Screws A, A1, A2;

  /// Of what lies at the arclength s from the station at the begin of the element.
  Beyond(const Station& at, double s, const Vector3& u, const Vector3& rate, const Vector3& acceleration) {
    const Moving<Screws> S = helixScrews(s, u, rate, acceleration);
    const Matrix6 adV = se3::ad(at.V);
    const Screws B1 = carried(at.H, S.rate);
    A = carried(at.H, S.value);
    A1 = adV.lazyProduct(A) + B1;
    A2 = se3::ad(at.rate).lazyProduct(A) + adV.lazyProduct(A1 + B1) + carried(at.H, S.acceleration);
  }

  Station moved(const Station& at, double s, const Vector3& u, const Vector3& rate, const Vector3& acceleration) const {
    return {at.H * se3::exp(helixTwist(s, u)), at.V + A * rate, at.rate + A * acceleration + A1 * rate};
  }
};

/// What a slice, or all slices beyond a place, do to those before: inertia, Coriolis matrix, wrench, and the rate of the latter in time.
struct Carried {
  Matrix6 M = Matrix6::Zero(), D = Matrix6::Zero();
  Vector6 F = Vector6::Zero(), Frate = Vector6::Zero();

  Carried& operator+=(const Carried& other) {
    M += other.M, D += other.D, F += other.F, Frate += other.Frate;
    return *this;
  }
};

Matrix6 spatialInertia(const Matrix6& M, const Pose& H) {
  const Matrix6 toLocal = se3::AdInverse(H);
  return toLocal.transpose() * M * toLocal;
}

Carried carriedBy(const Matrix6& inertia, const Station& at, const Vector6& g, const Vector6& gRate, bool motion) {
  Carried c;
  c.M = spatialInertia(inertia, at.H);
  c.F = -c.M * g;
  c.Frate = -c.M * gRate;
  if (!motion) return c;
  const Vector6 momentum = c.M * at.V;
  const Matrix6 adV = se3::ad(at.V);
  c.F += c.M * at.rate - adV.transpose() * momentum;
  c.D = -c.M * adV - se3::coad(momentum) - adV.transpose() * c.M;
  return c;
}

}

// ---- building --------------------------------------------------------------------------------------------------------------------------

int SuperHelices::add(SuperHelix rod) {
  const std::size_t n = rod.strains.size();
  if (n == 0 || rod.lengths.size() != n || rod.natural.size() != n)
    throw InputError(rod.name + ": it needs one element at least, and a length and natural strains for each");
  for (std::size_t i = 0; i < n; ++i) {
    if (!(rod.lengths[i] > 0 && std::isfinite(rod.lengths[i])))
      throw InputError(rod.name + ": an element's length must be positive and finite");
    if (!rod.natural[i].allFinite()) throw InputError(rod.name + ": its natural strains are not finite; look at their formula");
  }
  const Matrix3 K = rod.section.stiffness.bottomRightCorner<3, 3>();
  if (!K.allFinite() || Eigen::LLT<Matrix3>(K).info() != Eigen::Success)
    throw InputError(rod.name + ": its stiffness against torsion and bending must be positive definite");
  if (!rod.section.mass.allFinite() || !(rod.section.dampingTime >= 0 && std::isfinite(rod.section.dampingTime)))
    throw InputError(rod.name + ": its mass must be finite, and its damping time not negative");
  rods_.push_back(std::move(rod));
  return size() - 1;
}

/// The columns of all coordinates, first the six of the begin, and the stations at the begins of the elements, in the memory of an
/// assembly.
struct SuperHelices::Columns {
  using Wide = Eigen::Map<Eigen::Matrix<double, 6, Eigen::Dynamic>>;
  Columns(double* memory, int elements)
      : n(6 + 3 * elements), A(memory, 6, n), coriolis(memory + 6 * n, 6, n), rate(memory + 12 * n, 6, n), weight(memory + 18 * n, 6, n),
        stiffness(memory + 24 * n, n, n), motion(memory + 24 * n + n * n, n, n), stations(memory + 24 * n + 2 * n * n, 24, elements) {}
  static int size(int elements) {
    const int n = 6 + 3 * elements;
    return 24 * n + 2 * n * n + 24 * elements;
  }

  void store(int element, const Station& at) {
    storePose(at.H, stations.col(element).data());
    stations.col(element).segment<6>(12) = at.V, stations.col(element).tail<6>() = at.rate;
  }
  Station station(int element) const {
    const double* column = stations.col(element).data();
    return {loadPose(column), Eigen::Map<const Vector6>(column + 12), Eigen::Map<const Vector6>(column + 18)};
  }

  int n;
  Wide A;        ///< screws of a place beyond
  Wide coriolis; ///< d(V')/dv less ad(A) V
  Wide rate;     ///< dV/dq less ad(A) V
  Wide weight;   ///< d(V')/dq less what turns with the screw, ad(A) g included
  Eigen::Map<MatrixX> stiffness, motion;
  Eigen::Map<Eigen::Matrix<double, 24, Eigen::Dynamic>> stations;
};

void SuperHelices::declare(Layout& layout) {
  gravity_ = &layout.gravity();
  for (const SuperHelix& rod : rods_) {
    Place place;
    place.beginQ = layout.block(rod.begin).q, place.beginV = layout.block(rod.begin).v;
    std::vector<int> blocks{rod.begin};
    for (const int b : rod.strains) {
      blocks.push_back(b);
      place.q.push_back(layout.block(b).q), place.v.push_back(layout.block(b).v);
    }
    for (const int row : blocks)
      for (const int column : blocks) place.couplings.push_back(layout.couple(row, column));
    place.memory = layout.reserve(Columns::size(int(rod.strains.size())));
    places_.push_back(std::move(place));
  }
}

// ---- evaluation ------------------------------------------------------------------------------------------------------------------------

/// Sums over the two slices of an element and all that lies beyond it.
struct SuperHelices::Wrenches {
  Screws byStrain = Screws::Zero(), byMotion = Screws::Zero();
  Screws inertia = Screws::Zero(), coriolis = Screws::Zero();
  Matrix3 ownStiffness = Matrix3::Zero(), ownMotion = Matrix3::Zero();
  Vector3 force = Vector3::Zero(), forceRate = Vector3::Zero();

  /// s is the arclength of the place within the element that begins at H.
  void add(const Beyond& b, const Carried& c, const Pose& H, double s, const Vector3& u, const Matrix6& adg, const Request& request) {
    force += b.A.transpose() * c.F;
    forceRate += b.A.transpose() * c.Frate;
    if (!request.tangent) return;
    const Screws MA = c.M * b.A, DA = c.D * b.A;
    const Screws strain = c.M * (b.A2 + adg * b.A) + c.D * b.A1 - se3::coad(c.F) * b.A;
    const Screws motion = request.inertia * MA + request.damping * (2 * c.M * b.A1 + DA);
    byStrain += strain, byMotion += motion;
    inertia += MA, coriolis += c.D.transpose() * b.A;
    // d(S^T f)/du at fixed f, S = s T(-s (e1, u)) [0; I]
    const Vector6 f = se3::Ad(H).transpose() * c.F;
    const Matrix6 change = se3::tangentTransposeDerivative(-helixTwist(s, u), f);
    ownStiffness += b.A.transpose() * strain - s * s * change.bottomRightCorner<3, 3>();
    ownMotion += b.A.transpose() * motion;
  }

  /// Rows and columns of the element whose strains are the coordinates from `own` on, against all before.
  void fill(int own, const Request& request, Columns& c) const {
    c.stiffness.block(own, 0, 3, own) = inertia.transpose().lazyProduct(c.weight.leftCols(own));
    c.stiffness.block(own, 0, 3, own) += coriolis.transpose().lazyProduct(c.rate.leftCols(own));
    c.stiffness.block(0, own, own, 3) = c.A.leftCols(own).transpose().lazyProduct(byStrain);
    c.stiffness.block<3, 3>(own, own) = ownStiffness;
    const Screws damped = request.inertia * inertia + request.damping * coriolis;
    c.motion.block(own, 0, 3, own) = damped.transpose().lazyProduct(c.A.leftCols(own));
    c.motion.block(own, 0, 3, own) += (request.damping * inertia).transpose().lazyProduct(c.coriolis.leftCols(own));
    c.motion.block(0, own, own, 3) = c.A.leftCols(own).transpose().lazyProduct(byMotion);
    c.motion.block<3, 3>(own, own) = ownMotion;
  }
};

void SuperHelices::evaluate(const State& state, Assembly& assembly) const {
  for (std::size_t i = 0; i < rods_.size(); ++i) {
    addElastic(rods_[i], places_[i], state, assembly);
    evaluate(rods_[i], places_[i], state, assembly);
  }
}

void SuperHelices::addElastic(const SuperHelix& rod, const Place& place, const State& state, Assembly& assembly) const {
  const Request& request = assembly.request();
  const Matrix3 K = rod.section.stiffness.bottomRightCorner<3, 3>();
  const double damping = request.motion ? rod.section.dampingTime : 0, stiffest = K.diagonal().maxCoeff();
  const std::size_t n = rod.strains.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double h = rod.lengths[i];
    const Vector3 u = state.q.segment<3>(place.q[i]), rate = state.v.segment<3>(place.v[i]);
    const Vector3 moment = K * (u - rod.natural[i] + damping * rate);
    assembly.addForce(rod.strains[i], Vector3(h * moment));
    Vector6 resultant; // for the scale of forces alone
    resultant << Vector3::Zero(), moment;
    assembly.noteForce(resultant);
    const double roundoff = std::numeric_limits<double>::epsilon() * stiffest * (u.norm() + rod.natural[i].norm());
    assembly.noteRoundoff(roundoff / h, roundoff);
    if (!request.tangent) continue;
    const int own = place.couplings[(i + 1) * (n + 1) + i + 1];
    assembly.addStiffness(own, Matrix3(h * K));
    using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 3, 3>; // columns of a block of any kind
    if (damping > 0) assembly.addRate(own, rod.strains[i], Small(request.damping * damping * h * K));
  }
}

/// Strains of an element and their rates.
struct SuperHelices::Strains {
  Strains(const Place& place, const State& state, std::size_t element, bool motion) : u(state.q.segment<3>(place.q[element])) {
    if (!motion) return;
    rate = state.v.segment<3>(place.v[element]), acceleration = state.a.segment<3>(place.v[element]);
  }
  Beyond beyond(const Station& at, double s) const { return {at, s, u, rate, acceleration}; }
  Station moved(const Beyond& b, const Station& at, double s) const { return b.moved(at, s, u, rate, acceleration); }

  Vector3 u, rate = Vector3::Zero(), acceleration = Vector3::Zero();
};

/// Outwards: stations and screws. The begin moves by increments in its own frame, which carry all velocities along.
void SuperHelices::reckon(const SuperHelix& rod, const Place& place, const State& state, const Vector6& g, bool motion, Columns& columns) {
  const Matrix6 adg = -se3::ad(g); // ad(A) g = -ad(g) A
  Station at{loadPose(state.q.data() + place.beginQ)};
  const Matrix6 ofBegin = se3::Ad(at.H);
  columns.A.leftCols<6>() = ofBegin;
  columns.coriolis.leftCols<6>().setZero(), columns.rate.leftCols<6>().setZero();
  columns.weight.leftCols<6>() = adg * ofBegin;
  if (motion) {
    const Vector6 v = state.v.segment<6>(place.beginV);
    at.V = ofBegin * v, at.rate = ofBegin * state.a.segment<6>(place.beginV);
    columns.coriolis.leftCols<6>() = ofBegin * se3::ad(v);
  }
  for (std::size_t i = 0; i < rod.strains.size(); ++i) {
    columns.store(int(i), at);
    const Strains strains(place, state, i, motion);
    const Beyond b = strains.beyond(at, rod.lengths[i]);
    const int first = 6 + 3 * int(i);
    columns.A.middleCols<3>(first) = b.A;
    columns.coriolis.middleCols<3>(first) = 2 * b.A1;
    columns.rate.middleCols<3>(first) = b.A1;
    columns.weight.middleCols<3>(first) = b.A2 + adg * b.A;
    at = strains.moved(b, at, rod.lengths[i]);
  }
}

/// Inwards: the wrenches of what lies beyond, on the screws.
void SuperHelices::evaluate(const SuperHelix& rod, const Place& place, const State& state, Assembly& assembly) const {
  const Request& request = assembly.request();
  const int elements = int(rod.strains.size());
  Columns columns(assembly.memory(place.memory), elements);
  const Jet factor = gravity_->factor(state.t);
  const Vector6 g = spatialGravity(factor.value * gravity_->g), gRate = spatialGravity(factor.rate * gravity_->g);
  const Matrix6 adg = -se3::ad(g);
  reckon(rod, place, state, g, request.motion, columns);

  Carried beyond;
  for (int i = elements - 1; i >= 0; --i) {
    const Station at = columns.station(i);
    const double h = rod.lengths[std::size_t(i)];
    const Strains strains(place, state, std::size_t(i), request.motion);
    Wrenches sum;
    sum.add(strains.beyond(at, h), beyond, at.H, h, strains.u, adg, request);
    for (const double xi : gaussPoints()) {
      const Beyond b = strains.beyond(at, xi * h);
      const Carried slice = carriedBy(h / 2 * rod.section.mass, strains.moved(b, at, xi * h), g, gRate, request.motion);
      sum.add(b, slice, at.H, xi * h, strains.u, adg, request);
      beyond += slice;
    }
    assembly.addForce(rod.strains[std::size_t(i)], sum.force);
    if (request.timeRate) assembly.addForceRate(rod.strains[std::size_t(i)], sum.forceRate);
    assembly.noteForce(se3::Ad(at.H).transpose() * beyond.F);
    if (request.tangent) sum.fill(6 + 3 * i, request, columns);
  }
  const Matrix6 ofBegin = columns.A.leftCols<6>();
  assembly.addForce(rod.begin, Vector6(ofBegin.transpose() * beyond.F));
  if (request.timeRate) assembly.addForceRate(rod.begin, Vector6(ofBegin.transpose() * beyond.Frate));
  if (request.motion)
    assembly.noteInertiaRoundoff(rod.section.mass, rod.lengths[0], state.v.segment<6>(place.beginV), state.a.segment<6>(place.beginV));
  if (!request.tangent) return;
  columns.stiffness.topLeftCorner<6, 6>() = ofBegin.transpose() * beyond.M * columns.weight.leftCols<6>();
  columns.motion.topLeftCorner<6, 6>() =
      ofBegin.transpose() *
      (beyond.M * (request.inertia * ofBegin + request.damping * columns.coriolis.leftCols<6>()) + request.damping * beyond.D * ofBegin);
  addMatrix(rod, place, columns, assembly);
}

void SuperHelices::addMatrix(const SuperHelix& rod, const Place& place, const Columns& columns, Assembly& assembly) {
  const int count = int(rod.strains.size()) + 1;
  const auto block = [&rod](int k) { return k == 0 ? rod.begin : rod.strains[std::size_t(k) - 1]; };
  const auto first = [](int k) { return k == 0 ? 0 : 3 + 3 * k; };
  const auto size = [](int k) { return k == 0 ? 6 : 3; };
  for (int row = 0; row < count; ++row) {
    for (int column = 0; column < count; ++column) {
      const int coupling = place.couplings[std::size_t(row) * std::size_t(count) + std::size_t(column)];
      assembly.addStiffness(coupling, columns.stiffness.block(first(row), first(column), size(row), size(column)));
      if (assembly.request().motion)
        assembly.addRate(coupling, block(column), columns.motion.block(first(row), first(column), size(row), size(column)));
    }
  }
}

// ---- integrals of the motion -----------------------------------------------------------------------------------------------------------

/// Calls visit(station, inertia of the slice in its frame) at all Gauss points.
template <class Visit> void SuperHelices::visitSlices(const SuperHelix& rod, const Place& place, const State& state, const Visit& visit) {
  Station at{loadPose(state.q.data() + place.beginQ)};
  at.V = se3::Ad(at.H) * state.v.segment<6>(place.beginV);
  for (std::size_t i = 0; i < rod.strains.size(); ++i) {
    const Strains strains(place, state, i, true);
    const double h = rod.lengths[i];
    for (const double xi : gaussPoints()) visit(strains.moved(strains.beyond(at, xi * h), at, xi * h), Matrix6(h / 2 * rod.section.mass));
    at = strains.moved(strains.beyond(at, h), at, h);
  }
}

void SuperHelices::addEnergy(const State& state, Energy& energy) const {
  const Jet factor = gravity_->factor(state.t);
  for (std::size_t r = 0; r < rods_.size(); ++r) {
    const SuperHelix& rod = rods_[r];
    const Matrix3 K = rod.section.stiffness.bottomRightCorner<3, 3>();
    for (std::size_t i = 0; i < rod.strains.size(); ++i) {
      const Vector3 change = state.q.segment<3>(places_[r].q[i]) - rod.natural[i], rate = state.v.segment<3>(places_[r].v[i]);
      energy.elastic += 0.5 * rod.lengths[i] * change.dot(K * change);
      energy.power -= rod.section.dampingTime * rod.lengths[i] * rate.dot(K * rate);
    }
    visitSlices(rod, places_[r], state, [&](const Station& at, const Matrix6& M) {
      const Vector6 v = se3::AdInverse(at.H) * at.V;
      energy.kinetic += 0.5 * v.dot(M * v);
      const Vector3 staticMoment = -so3::vee(M.topRightCorner<3, 3>());
      const double height = -gravity_->g.dot(M(0, 0) * at.H.x + at.H.R * staticMoment);
      energy.gravitational += factor.value * height;
      energy.power += factor.rate * height;
    });
  }
}

void SuperHelices::addMomentum(const State& state, Momentum& momentum) const {
  for (std::size_t r = 0; r < rods_.size(); ++r) {
    visitSlices(rods_[r], places_[r], state, [&](const Station& at, const Matrix6& M) {
      const Vector6 spatial = spatialInertia(M, at.H) * at.V;
      momentum.linear += spatial.head<3>(), momentum.angular += spatial.tail<3>();
    });
  }
}

void SuperHelices::embed(DirectorSystem&) const {
  if (rods_.empty()) return;
  throw InputError(rods_.front().name + ": a rod of strains has no form in director coordinates; take an analysis in pose coordinates, "
                                        "such as generalized-alpha or moreau, or make it one of the `beams`");
}

// ---- measures --------------------------------------------------------------------------------------------------------------------------

Vector3 SuperHelices::strain(const State& state, int rod, int element) const {
  const std::size_t r = std::size_t(rod), e = std::size_t(element);
  return state.q.segment<3>(places_[r].q[e]) - rods_[r].natural[e];
}

Vector3 SuperHelices::sectionMoment(const State& state, int rod, int element) const {
  const std::size_t r = std::size_t(rod), e = std::size_t(element);
  const SectionProperties& section = rods_[r].section;
  const Vector3 rate = state.v.segment<3>(places_[r].v[e]);
  return section.stiffness.bottomRightCorner<3, 3>() * (strain(state, rod, element) + section.dampingTime * rate);
}

Vector6 SuperHelices::relativeVector(const State& state, int rod, int element) const {
  const std::size_t r = std::size_t(rod), e = std::size_t(element);
  return helixTwist(rods_[r].lengths[e], state.q.segment<3>(places_[r].q[e]));
}

// ---- frames along a rod ----------------------------------------------------------------------------------------------------------------

HelixFrame::HelixFrame(const ModelBuilder& builder, int node, int strains, double arclength, const Pose& offset)
    : FrameField(builder, {node, strains}), arclength_(arclength), offset_(offset), toFrame_(se3::AdInverse(offset)) {}

Vector6 HelixFrame::twist(const State& state) const { return helixTwist(arclength_, state.q.segment<3>(q(1))); }

void HelixFrame::kinematics(const State& state, FieldKinematics& k) const {
  const Vector6 y = twist(state), begin = state.v.segment<6>(v(0));
  const Vector3 rate = arclength_ * state.v.segment<3>(v(1));
  const Pose step = se3::exp(y);
  const Matrix6 toSection = se3::AdInverse(step), tangent = se3::tangent(y);
  k.frame = loadPose(state.q.data() + q(0)) * step * offset_;
  k.J.resize(6, 9);
  k.J.leftCols<6>() = toFrame_ * toSection;
  k.J.rightCols<3>() = toFrame_ * (arclength_ * tangent.rightCols<3>());
  Vector6 yRate;
  yRate << Vector3::Zero(), rate;
  const Vector6 carried = toSection * begin, own = tangent * yRate;
  k.twist = toFrame_ * (carried + own);
  k.accelerationBias = toFrame_ * (se3::adProduct(carried, own) + se3::tangentDirectional(y, yRate) * yRate);
}

void HelixFrame::addHessian(const State& state, const Vector6& wrench, FieldHessian& H) const {
  const Vector6 y = twist(state), atSection = toFrame_.transpose() * wrench;
  const Screws tangent = arclength_ * se3::tangent(y).rightCols<3>();
  H.topRightCorner<6, 3>() -= se3::AdInverse(se3::exp(y)).transpose() * (se3::coad(atSection) * tangent);
  H.bottomRightCorner<3, 3>() += arclength_ * arclength_ * se3::tangentTransposeDerivative(y, atSection).bottomRightCorner<3, 3>();
}

}
