#include "tendril/elements/beams.h"

#include "frame_strains.h"
#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <array>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

struct GaussPoint {
  se3::InterpolationSeries series;
  double weight;
};

/// Two-point Gauss quadrature on [0, 1].
const std::array<GaussPoint, 2>& gaussPoints() {
  static const double offset = 0.5 / std::sqrt(3.0);
  static const std::array<GaussPoint, 2> points{GaussPoint{se3::InterpolationSeries(0.5 - offset), 0.5},
                                                GaussPoint{se3::InterpolationSeries(0.5 + offset), 0.5}};
  return points;
}

/// Nodes of an element may turn against each other by this much at most [rad^2]; the logarithm ends at pi.
constexpr double largestAngleSquared = 2.967 * 2.967;

/// What the helicoidal segment between two poses has in common for strains and for all points along it.
struct Helix {
  explicit Helix(const Pose& poseA, const Pose& poseB)
      : A(poseA), d(se3::log(A.relative(poseB))), powers(d), inverseFunction(so3::tangentInverseFunction(powers.angleSquared())) {}

  /// d' = P v_e = T^-1(d) v_B - T^-1(-d) v_A.
  Vector6 rate(const Vector6& vA, const Vector6& vB) const { return powers.apply(inverseFunction, vB - vA) - se3::adProduct(vA, d); }

  const Pose A;
  const Vector6 d;
  const se3::AdPowers powers;
  const so3::SkewFunction inverseFunction;
};

/// What tangents need besides.
struct SegmentGeometry : Helix {
  explicit SegmentGeometry(const Pose& poseA, const Pose& poseB)
      : Helix(poseA, poseB), inverse(powers.evaluate(inverseFunction)), inverseOfMinus(inverse - se3::ad(d)) {}

  /// d(P v_e)/dd at fixed velocities.
  Matrix6 rateDerivative(const Vector6& vA, const Vector6& vB) const { return powers.derivative(inverseFunction, vB - vA) - se3::ad(vA); }

  const Matrix6 inverse;        ///< T^-1(d)
  const Matrix6 inverseOfMinus; ///< T^-1(-d)
};

/// The four 6x6 blocks of an element matrix.
struct ElementMatrix {
  Matrix6 aa = Matrix6::Zero(), ab = Matrix6::Zero(), ba = Matrix6::Zero(), bb = Matrix6::Zero();

  /// += Q^T N with N = [nA, nB] given by columns, Q = [I - T*, T*].
  void addInterpolated(const Matrix6& star, const Matrix6& nA, const Matrix6& nB) {
    const Matrix6 onB_A = star.transpose().lazyProduct(nA), onB_B = star.transpose().lazyProduct(nB);
    aa += nA - onB_A, ab += nB - onB_B, ba += onB_A, bb += onB_B;
  }
  /// += [rowsA; rowsB] P.
  void addThroughStrain(const Matrix6& rowsA, const Matrix6& rowsB, const SegmentGeometry& g) {
    aa -= rowsA.lazyProduct(g.inverseOfMinus), ab += rowsA.lazyProduct(g.inverse);
    ba -= rowsB.lazyProduct(g.inverseOfMinus), bb += rowsB.lazyProduct(g.inverse);
  }
};

/// Gravity in the section frame at xi, and the derivative of the wrench M (R^T g, 0) by the section's rotation as a 6x6 matrix.
Matrix6 weightDerivative(const Matrix6& M, const Vector3& localGravity) {
  Matrix6 J = Matrix6::Zero();
  J.rightCols<3>() = M.leftCols<3>() * so3::hat(localGravity);
  return J;
}

Vector3 localGravity(const Vector3& gravityInA, const Vector6& d, double xi) { return so3::exp(-xi * d.tail<3>()) * gravityInA; }

/// An integrator moves the inertia of the whole element by itself.
template <class Element> bool isCarried(const Element& e, const Assembly& assembly) {
  return assembly.isCarried(e.a) && assembly.isCarried(e.b);
}

int firstSuppressedStrain(BeamModel model) { return model == BeamModel::KirchhoffLove ? 1 : 0; }
int suppressedStrains(BeamModel model) { return model == BeamModel::SimoReissner ? 0 : model == BeamModel::KirchhoffLove ? 2 : 3; }

}

// ---- building --------------------------------------------------------------------------------------------------------------------------

int Beams::addSection(const SectionProperties& properties) {
  SectionData data;
  data.properties = properties;
  for (BeamModel model : {BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff}) {
    Matrix6& K = data.elastic[int(model)] = properties.stiffness;
    for (int i = 0; i < suppressedStrains(model); ++i) {
      K.row(firstSuppressedStrain(model) + i).setZero();
      K.col(firstSuppressedStrain(model) + i).setZero();
    }
    data.stiffest[int(model)] = {K.topLeftCorner<3, 3>().cwiseAbs().maxCoeff(), K.bottomRightCorner<3, 3>().cwiseAbs().maxCoeff()};
  }
  sections_.push_back(data);
  return int(sections_.size()) - 1;
}

int Beams::addElement(const std::string& name, int blockA, int blockB, double length, const Vector6& d0, int section, BeamModel model) {
  if (!(length > 0) || !std::isfinite(length)) throw InputError(name + ": an element's length must be positive and finite");
  if (d0.tail<3>().squaredNorm() > largestAngleSquared) {
    throw InputError(name + ": the reference shape turns by more than 170 degrees within one element; use more elements");
  }
  if (names_.empty() || names_.back() != name) names_.push_back(name);
  Element e{};
  e.a = blockA, e.b = blockB;
  e.section = section, e.model = model, e.length = length, e.d0 = d0;
  e.name = int(names_.size()) - 1;
  e.constraint = -1;
  e.firstSuppressed = firstSuppressedStrain(model), e.suppressed = suppressedStrains(model);
  elements_.push_back(e);
  return int(elements_.size()) - 1;
}

void Beams::declare(Layout& layout) {
  gravity_ = &layout.gravity();
  int name = -1, number = 0;
  for (Element& e : elements_) {
    const Block &A = layout.block(e.a), &B = layout.block(e.b);
    e.qa = A.q, e.qb = B.q, e.va = A.v, e.vb = B.v;
    e.aa = layout.couple(e.a, e.a), e.ab = layout.couple(e.a, e.b), e.ba = layout.couple(e.b, e.a), e.bb = layout.couple(e.b, e.b);
    e.memory = layout.reserve(6);
    number = e.name == name ? number + 1 : 0;
    name = e.name;
    if (e.suppressed == 0) continue;
    e.constraint = layout.addConstraint(names_[e.name] + ", element " + std::to_string(number),
                                        std::vector<RowQuantity>(e.suppressed, RowQuantity::Length));
    e.row = layout.constraintRow(e.constraint);
    e.ca = layout.couple(e.constraint, e.a), e.ac = layout.couple(e.a, e.constraint);
    e.cb = layout.couple(e.constraint, e.b), e.bc = layout.couple(e.b, e.constraint);
  }
}

// ---- evaluation ------------------------------------------------------------------------------------------------------------------------

struct Beams::Kinematics : SegmentGeometry {
  Kinematics(const Element& e, const State& s)
      : SegmentGeometry(loadPose(s.q.data() + e.qa), loadPose(s.q.data() + e.qb)), vA(s.v.segment<6>(e.va)), vB(s.v.segment<6>(e.vb)) {}
  const Vector6 vA, vB;
};

/// K eps + tau K eps' - D^T lambda, given eps + tau eps' times the length.
Vector6 Beams::resultant(const Element& e, const Vector6& stretch, const State& state) const {
  Vector6 n = elastic(e) * (stretch / e.length);
  if (e.suppressed > 0) n.segment(e.firstSuppressed, e.suppressed) -= state.lambda.segment(e.row, e.suppressed);
  return n;
}

void Beams::predict(const State& state, const VectorX& delta, double factor, Assembly& assembly) const {
  for (const Element& e : elements_) {
    const Kinematics k(e, state);
    const Vector6 stretch = k.d - e.d0, change = k.rate(delta.segment<6>(e.va), delta.segment<6>(e.vb));
    Eigen::Map<Vector6> n(assembly.memory(e.memory));
    if (!assembly.predicted) n = elastic(e) * (stretch / e.length);
    n += factor * (elastic(e) * ((stretch + change) / e.length) - n);
  }
}

/// The resultant that the geometric stiffness is built from: the true one, or its prediction with the multipliers as they are.
Vector6 Beams::geometricResultant(const Element& e, const Vector6& resultant, const State& state, Assembly& assembly) const {
  if (!assembly.predicted) return resultant;
  Vector6 n = Eigen::Map<const Vector6>(assembly.memory(e.memory));
  if (e.suppressed > 0) n.segment(e.firstSuppressed, e.suppressed) -= state.lambda.segment(e.row, e.suppressed);
  return n;
}

void Beams::evaluate(const State& state, Assembly& assembly) const {
  const Vector3 gravity = gravity_->factor(state.t).value * gravity_->g;
  if (assembly.request().tangent) {
    for (const Element& e : elements_) evaluate(e, state, gravity, assembly);
  } else {
    for (const Element& e : elements_) addResidual(e, state, gravity, assembly);
  }
  if (!assembly.request().timeRate) return;

  const Vector3 gravityRate = gravity_->factor(state.t).rate * gravity_->g;
  if (gravityRate.isZero(0)) return;
  for (const Element& e : elements_) {
    const Kinematics k(e, state);
    const Vector3 gravityInA = k.A.R.transpose() * gravityRate;
    for (const GaussPoint& p : gaussPoints()) {
      const Vector6 F =
          -p.weight * e.length * sections_[e.section].properties.mass.leftCols<3>() * localGravity(gravityInA, k.d, p.series.xi());
      const Vector6 onB = k.powers.evaluate(p.series.at(k.powers.angleSquared())).transpose() * F;
      assembly.addForceRate(e.a, F - onB);
      assembly.addForceRate(e.b, onB);
    }
  }
}

/// The residual alone, without any 6x6 matrix of the segment.
void Beams::addResidual(const Element& e, const State& state, const Vector3& gravity, Assembly& assembly) const {
  const bool motion = assembly.request().motion;
  const SectionProperties& section = sections_[e.section].properties;
  const Matrix6& M = section.mass;
  const Helix k(loadPose(state.q.data() + e.qa), loadPose(state.q.data() + e.qb));
  noteLimits(e, state, k.A, k.powers.angleSquared(), assembly);

  const Vector6 vA = state.v.segment<6>(e.va), vB = state.v.segment<6>(e.vb), dRate = motion ? k.rate(vA, vB) : Vector6::Zero();
  Vector6 stretch = k.d - e.d0;
  if (e.suppressed > 0) assembly.addConstraint(e.constraint, stretch.segment(e.firstSuppressed, e.suppressed));
  if (motion && section.dampingTime > 0) stretch += section.dampingTime * dRate;
  const Vector6 n = resultant(e, stretch, state);
  Vector6 onB = k.powers.applyTransposed(k.inverseFunction, n), onA = se3::adTransposed(k.d, n) - onB;

  const bool heavy = !gravity.isZero(0), moves = motion && !isCarried(e, assembly);
  if (moves || heavy) {
    const Vector3 gravityInA = k.A.R.transpose() * gravity;
    const Vector6 aA = state.a.segment<6>(e.va), aDifference = state.a.segment<6>(e.vb) - aA, x = vB - vA;
    for (const GaussPoint& p : gaussPoints()) {
      const so3::SkewFunction star = p.series.at(k.powers.angleSquared());
      Vector6 excess = Vector6::Zero(), F = Vector6::Zero(); // acceleration in excess of free fall
      if (moves) {
        const Vector6 v = vA + k.powers.apply(star, x);
        excess = aA + k.powers.apply(star, aDifference) + k.powers.applyDirectional(star, dRate, x);
        F = -se3::adTransposed(v, M * v);
      }
      if (heavy) excess.head<3>() -= localGravity(gravityInA, k.d, p.series.xi());
      F = (p.weight * e.length) * (F + M * excess);
      const Vector6 starF = k.powers.applyTransposed(star, F);
      onA += F - starF;
      onB += starF;
    }
  }
  assembly.addForce(e.a, onA);
  assembly.addForce(e.b, onB);
}

/// Refuses a segment that turns too far, and notes what round-off of the stored poses makes of the resultants and of the inertia forces.
void Beams::noteLimits(const Element& e, const State& state, const Pose& A, double angleSquared, Assembly& assembly) const {
  if (angleSquared > largestAngleSquared) assembly.refuse(e.a);
  const double roundoff = std::numeric_limits<double>::epsilon() * (1 + (A.x.norm() + e.length) / e.length);
  const SectionData& section = sections_[e.section];
  assembly.noteRoundoff(section.stiffest[int(e.model)][0] * roundoff, section.stiffest[int(e.model)][1] * roundoff / e.length);
  if (assembly.request().motion) {
    assembly.noteInertiaRoundoff(section.properties.mass, e.length, state.v.segment<6>(e.va), state.a.segment<6>(e.va));
  }
}

void Beams::evaluate(const Element& e, const State& state, const Vector3& gravity, Assembly& assembly) const {
  const Request& request = assembly.request();
  const SectionProperties& section = sections_[e.section].properties;
  const Matrix6 &M = section.mass, &K = elastic(e);
  const Kinematics k(e, state);
  noteLimits(e, state, k.A, k.powers.angleSquared(), assembly);
  const double dampingTime = request.motion ? section.dampingTime : 0;
  Vector6 stretch = k.d - e.d0;
  if (dampingTime > 0) stretch += dampingTime * k.rate(k.vA, k.vB);
  const Vector6 n = resultant(e, stretch, state);
  Vector6 onA = -k.inverseOfMinus.transpose() * n, onB = k.inverse.transpose() * n;

  const bool tangent = request.tangent;
  ElementMatrix stiffness, rate;
  Matrix6 rowsA, rowsB; // dr/dd of the two nodes
  if (tangent) {
    Matrix6 E = K / e.length;
    if (dampingTime > 0) {
      const Matrix6 KD = (dampingTime / e.length) * K;
      E += KD * k.rateDerivative(k.vA, k.vB);
      const Matrix6 weighted = request.damping * KD;
      rate.addThroughStrain(-k.inverseOfMinus.transpose() * weighted, k.inverse.transpose() * weighted, k);
    }
    const Vector6 predicted = geometricResultant(e, n, state, assembly);
    const Matrix6 geometric = k.powers.transposeDerivative(k.inverseFunction, predicted);
    rowsA = -k.inverseOfMinus.transpose().lazyProduct(E) - geometric + se3::coad(predicted);
    rowsB = k.inverse.transpose().lazyProduct(E) + geometric;
  }

  const bool heavy = !gravity.isZero(0), moves = request.motion && !isCarried(e, assembly);
  if (moves || heavy) {
    const Vector3 gravityInA = k.A.R.transpose() * gravity;
    const Vector6 x = k.vB - k.vA, dRate = moves ? k.rate(k.vA, k.vB) : Vector6::Zero();
    for (const GaussPoint& p : gaussPoints()) {
      const double w = p.weight * e.length;
      const so3::SkewFunction function = p.series.at(k.powers.angleSquared());
      const Matrix6 star = k.powers.evaluate(function);
      const Vector3 g = localGravity(gravityInA, k.d, p.series.xi());
      Vector6 F = -M.leftCols<3>() * g, v = Vector6::Zero();
      Matrix6 Z = Matrix6::Zero(); // d(T* x)/dd
      if (moves) {
        const auto aA = state.a.segment<6>(e.va), aB = state.a.segment<6>(e.vb);
        Z = k.powers.derivative(function, x);
        v = k.vA + star * x;
        const Vector6 a = aA + star * (aB - aA) + Z * dRate;
        F += M * a - se3::ad(v).transpose() * (M * v);
      }
      const Vector6 starF = w * (star.transpose() * F);
      onA += w * F - starF;
      onB += starF;
      if (!tangent) continue;

      const Matrix6 hessian = w * k.powers.transposeDerivative(function, F);
      rowsA -= hessian;
      rowsB += hessian;
      if (heavy) {
        const Matrix6 J = -w * weightDerivative(M, g), Jstar = J.lazyProduct(star);
        stiffness.addInterpolated(star, J - Jstar, Jstar);
      }
      if (moves && (request.inertia != 0 || request.damping != 0)) {
        const Matrix6 X = (w * request.inertia) * M - (w * request.damping) * (se3::ad(v).transpose() * M + se3::coad(M * v));
        const Matrix6 XstarY = X.lazyProduct(star) + (w * request.damping) * M.lazyProduct(k.powers.directional(function, dRate));
        const Matrix6 MZ = (w * request.damping) * M.lazyProduct(Z);
        rate.addInterpolated(star, X - XstarY - MZ.lazyProduct(k.inverseOfMinus), XstarY + MZ.lazyProduct(k.inverse));
      }
    }
  }

  assembly.addForce(e.a, onA);
  assembly.addForce(e.b, onB);
  if (e.suppressed > 0) {
    assembly.addConstraint(e.constraint, (k.d - e.d0).segment(e.firstSuppressed, e.suppressed).eval());
    if (tangent) {
      assembly.addGradient(e.ca, e.ac, -k.inverseOfMinus.middleRows(e.firstSuppressed, e.suppressed));
      assembly.addGradient(e.cb, e.bc, k.inverse.middleRows(e.firstSuppressed, e.suppressed));
    }
  }
  if (!tangent) return;

  stiffness.addThroughStrain(rowsA, rowsB, k);
  assembly.addStiffness(e.aa, stiffness.aa);
  assembly.addStiffness(e.ab, stiffness.ab);
  assembly.addStiffness(e.ba, stiffness.ba);
  assembly.addStiffness(e.bb, stiffness.bb);
  if (request.motion) {
    assembly.addRate(e.aa, e.a, rate.aa);
    assembly.addRate(e.ab, e.b, rate.ab);
    assembly.addRate(e.ba, e.a, rate.ba);
    assembly.addRate(e.bb, e.b, rate.bb);
  }
}

void Beams::addConstraintBias(const State& state, VectorX& b) const {
  // g = D (d - d0): g' = D P v, hence g'' = D P a + D (dP/dd [d']) v.
  for (const Element& e : elements_) {
    if (e.suppressed == 0) continue;
    const Kinematics k(e, state);
    const Vector6 bias = k.rateDerivative(k.vA, k.vB) * k.rate(k.vA, k.vB);
    b.segment(e.row, e.suppressed) += bias.segment(e.firstSuppressed, e.suppressed);
  }
}

// ---- integrals of the motion -----------------------------------------------------------------------------------------------------------

void Beams::addEnergy(const State& state, Energy& energy) const {
  const Jet factor = gravity_->factor(state.t);
  for (const Element& e : elements_) {
    const Kinematics k(e, state);
    const SectionProperties& section = sections_[e.section].properties;
    const Matrix6& M = section.mass;
    const Vector6 stretch = k.d - e.d0, rate = k.rate(k.vA, k.vB);
    energy.elastic += 0.5 / e.length * stretch.dot(elastic(e) * stretch);
    energy.power -= section.dampingTime / e.length * rate.dot(elastic(e) * rate);
    const Vector3 staticMoment = -so3::vee(M.topRightCorner<3, 3>());
    for (const GaussPoint& p : gaussPoints()) {
      const double w = p.weight * e.length;
      const Matrix6 star = k.powers.evaluate(p.series.at(k.powers.angleSquared()));
      const Vector6 v = k.vA + star * (k.vB - k.vA);
      energy.kinetic += 0.5 * w * v.dot(M * v);
      const Pose H = k.A * se3::exp(p.series.xi() * k.d);
      const double height = gravity_->g.dot(M(0, 0) * H.x + H.R * staticMoment);
      energy.gravitational -= w * factor.value * height;
      energy.power -= w * factor.rate * height;
    }
  }
}

void Beams::addMomentum(const State& state, Momentum& momentum) const {
  for (const Element& e : elements_) {
    const Kinematics k(e, state);
    for (const GaussPoint& p : gaussPoints()) {
      const Matrix6 star = k.powers.evaluate(p.series.at(k.powers.angleSquared()));
      const Vector6 local = p.weight * e.length * (sections_[e.section].properties.mass * (k.vA + star * (k.vB - k.vA)));
      const Pose H = k.A * se3::exp(p.series.xi() * k.d);
      const Vector3 linear = H.R * local.head<3>();
      momentum.linear += linear;
      momentum.angular += H.x.cross(linear) + H.R * local.tail<3>();
    }
  }
}

// ---- measures --------------------------------------------------------------------------------------------------------------------------

Vector6 Beams::relativeVector(const State& state, int element) const { return Kinematics(elements_[element], state).d; }

Vector6 Beams::strain(const State& state, int element, BeamInterpolation interpolation) const {
  const Element& e = elements_[element];
  return stretch(e, state, interpolation, nullptr) / e.length;
}

Vector6 Beams::sectionForce(const State& state, int element, BeamInterpolation interpolation) const {
  const Element& e = elements_[element];
  Vector6 rate;
  const Vector6 elastic = stretch(e, state, interpolation, &rate);
  return resultant(e, elastic + sections_[e.section].properties.dampingTime * rate, state);
}

Vector6 Beams::stretch(const Element& e, const State& state, BeamInterpolation interpolation, Vector6* rate) const {
  const Kinematics k(e, state);
  if (interpolation == BeamInterpolation::Helicoidal) {
    if (rate) *rate = k.rate(k.vA, k.vB);
    return k.d - e.d0;
  }
  const Pose relative = se3::exp(k.d);
  if (rate) *rate = frameStrainRates(relative, k.vA, k.vB);
  return frameStrains(relative) - frameStrains(se3::exp(e.d0));
}

// ---- distributed loads -----------------------------------------------------------------------------------------------------------------

void DistributedLoads::add(std::span<const std::array<int, 2>> segments, std::span<const double> lengths, const Vector6& load,
                           bool follower, const TimeFunction& factor) {
  for (std::size_t i = 0; i < segments.size(); ++i) {
    Segment s{};
    s.a = segments[i][0], s.b = segments[i][1], s.load = int(loads_.size()), s.length = lengths[i];
    segments_.push_back(s);
  }
  loads_.push_back({load, follower, factor});
}

void DistributedLoads::declare(Layout& layout) {
  for (Segment& s : segments_) {
    s.qa = layout.block(s.a).q, s.qb = layout.block(s.b).q, s.va = layout.block(s.a).v, s.vb = layout.block(s.b).v;
    s.aa = layout.couple(s.a, s.a), s.ab = layout.couple(s.a, s.b), s.ba = layout.couple(s.b, s.a), s.bb = layout.couple(s.b, s.b);
  }
}

namespace {

/// A load fixed in the inertial frame, resolved in the section at xi.
Vector6 inSection(const Vector6& load, const SegmentGeometry& g, double xi) {
  const Matrix3 Rt = (g.A.R * so3::exp(xi * g.d.tail<3>())).transpose();
  Vector6 local;
  local << Rt * load.head<3>(), Rt * load.tail<3>();
  return local;
}

}

void DistributedLoads::evaluate(const State& state, Assembly& assembly) const {
  for (const Segment& s : segments_) {
    const Load& load = loads_[s.load];
    const Jet factor = load.factor(state.t);
    const SegmentGeometry g(loadPose(state.q.data() + s.qa), loadPose(state.q.data() + s.qb));
    ElementMatrix stiffness;
    Matrix6 rows = Matrix6::Zero();
    for (const GaussPoint& p : gaussPoints()) {
      const double w = p.weight * s.length;
      const so3::SkewFunction function = p.series.at(g.powers.angleSquared());
      const Matrix6 star = g.powers.evaluate(function);
      const Vector6 local = load.follower ? load.perLength : inSection(load.perLength, g, p.series.xi());
      const Vector6 F = -w * factor.value * local, onB = star.transpose() * F;
      assembly.addForce(s.a, F - onB);
      assembly.addForce(s.b, onB);
      if (assembly.request().timeRate) {
        const Vector6 rate = -w * factor.rate * local, rateOnB = star.transpose() * rate;
        assembly.addForceRate(s.a, rate - rateOnB);
        assembly.addForceRate(s.b, rateOnB);
      }
      if (!assembly.request().tangent) continue;
      rows += g.powers.transposeDerivative(function, F);
      if (!load.follower) {
        Matrix6 J = Matrix6::Zero();
        J.topRightCorner<3, 3>() = so3::hat(F.head<3>());
        J.bottomRightCorner<3, 3>() = so3::hat(F.tail<3>());
        const Matrix6 Jstar = J * star;
        stiffness.addInterpolated(star, J - Jstar, Jstar);
      }
    }
    if (!assembly.request().tangent) continue;
    stiffness.addThroughStrain(-rows, rows, g);
    assembly.addStiffness(s.aa, stiffness.aa);
    assembly.addStiffness(s.ab, stiffness.ab);
    assembly.addStiffness(s.ba, stiffness.ba);
    assembly.addStiffness(s.bb, stiffness.bb);
  }
}

void DistributedLoads::addEnergy(const State& state, Energy& energy) const {
  for (const Segment& s : segments_) {
    const Load& load = loads_[s.load];
    const double factor = load.factor(state.t).value;
    const SegmentGeometry g(loadPose(state.q.data() + s.qa), loadPose(state.q.data() + s.qb));
    const Vector6 vA = state.v.segment<6>(s.va), vB = state.v.segment<6>(s.vb);
    for (const GaussPoint& p : gaussPoints()) {
      const Vector6 v = vA + g.powers.evaluate(p.series.at(g.powers.angleSquared())) * (vB - vA);
      const Vector6 local = load.follower ? load.perLength : inSection(load.perLength, g, p.series.xi());
      energy.power += p.weight * s.length * factor * local.dot(v);
    }
  }
}

}
