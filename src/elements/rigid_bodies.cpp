#include "tendril/elements/rigid_bodies.h"

#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/director_system.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace tendril {

using std::numbers::pi;

// ---- mass properties -------------------------------------------------------------------------------------------------------------------

namespace {

/// A body with e3 as axis of revolution.
MassProperties axisymmetric(double mass, double across, double along) {
  return {mass, Vector3::Zero(), Vector3(across, across, along).asDiagonal()};
}

/// sum of the squares that inertia measures: J_0 = J + m (c.c I - c c^T).
Matrix3 steiner(double mass, const Vector3& c) { return mass * (c.squaredNorm() * Matrix3::Identity() - c * c.transpose()); }

Vector6 gravityAcceleration(const Matrix3& R, const Vector3& g) {
  Vector6 a = Vector6::Zero();
  a.head<3>() = R.transpose() * g;
  return a;
}

/// d( M (R^T g, 0) ) / dpi.
Matrix6 gravityTangent(const Matrix6& M, const Vector6& acceleration) {
  Matrix6 D = Matrix6::Zero();
  D.rightCols<3>() = M.leftCols<3>() * so3::hat(acceleration.head<3>());
  return D;
}

}

MassProperties MassProperties::sphere(double density, double r) { return ellipsoid(density, Vector3::Constant(r)); }

MassProperties MassProperties::box(double density, const Vector3& e) {
  const double m = density * e.prod();
  const Vector3 s = e.cwiseAbs2() * (m / 12);
  return {m, Vector3::Zero(), Vector3(s[1] + s[2], s[2] + s[0], s[0] + s[1]).asDiagonal()};
}

MassProperties MassProperties::cylinder(double density, double r, double length) { return tube(density, 0, r, length); }

MassProperties MassProperties::tube(double density, double inner, double outer, double length) {
  const double squares = inner * inner + outer * outer;
  const double m = density * pi * (outer * outer - inner * inner) * length;
  return axisymmetric(m, m * (squares / 4 + length * length / 12), m * squares / 2);
}

MassProperties MassProperties::capsule(double density, double r, double length) {
  const MassProperties middle = cylinder(density, r, length);
  const double m = density * (2. / 3) * pi * r * r * r, centroid = 3 * r / 8;
  // A half sphere has 2/5 m r^2 about every axis through the centre of its base.
  MassProperties cap = axisymmetric(m, m * (0.4 * r * r - centroid * centroid), 0.4 * m * r * r);
  cap.centre = Vector3(0, 0, length / 2 + centroid);
  const MassProperties otherCap = cap.placed({so3::exp(Vector3(pi, 0, 0)), Vector3::Zero()});
  MassProperties body = middle + cap + otherCap;
  body.centre.setZero();
  return body;
}

MassProperties MassProperties::cone(double density, double r, double h) {
  const double m = density * pi * r * r * h / 3;
  return axisymmetric(m, m * (0.15 * r * r + 0.0375 * h * h), 0.3 * m * r * r);
}

MassProperties MassProperties::ellipsoid(double density, const Vector3& a) {
  const double m = density * (4. / 3) * pi * a.prod();
  const Vector3 s = a.cwiseAbs2() * (m / 5);
  return {m, Vector3::Zero(), Vector3(s[1] + s[2], s[2] + s[0], s[0] + s[1]).asDiagonal()};
}

MassProperties MassProperties::placed(const Pose& pose) const { return {mass, pose * centre, pose.R * inertia * pose.R.transpose()}; }

MassProperties MassProperties::operator+(const MassProperties& other) const {
  const double sum = mass + other.mass;
  if (sum == 0) return *this;
  const Vector3 c = (mass * centre + other.mass * other.centre) / sum;
  return {sum, c, inertia + other.inertia + steiner(mass, centre - c) + steiner(other.mass, other.centre - c)};
}

Matrix3 MassProperties::inertiaAboutOrigin() const { return inertia + steiner(mass, centre); }

Matrix6 MassProperties::spatial() const {
  const Matrix3 S = mass * so3::hat(centre);
  Matrix6 M;
  M.topLeftCorner<3, 3>() = mass * Matrix3::Identity();
  M.topRightCorner<3, 3>() = -S;
  M.bottomLeftCorner<3, 3>() = S;
  M.bottomRightCorner<3, 3>() = inertiaAboutOrigin();
  return M;
}

void MassProperties::validate(const std::string& name, bool allowPoint) const {
  if (!(std::isfinite(mass) && mass > 0))
    throw InputError(name + ": the mass must be positive and finite; check the density and the dimensions");
  if (!centre.allFinite() || !inertia.allFinite()) throw InputError(name + ": the centre of mass and the inertia must be finite");
  constexpr double roundoff = 1e-9; // inertia is often typed with few digits
  const double size = inertia.cwiseAbs().maxCoeff();
  if ((inertia - inertia.transpose()).cwiseAbs().maxCoeff() > roundoff * size) {
    throw InputError(name + ": the inertia must be symmetric; give each product of inertia once, with the sign of -integral(x y dm)");
  }
  const Vector3 J = Eigen::SelfAdjointEigenSolver<Matrix3>(inertia, Eigen::EigenvaluesOnly).eigenvalues();
  if (allowPoint ? J[0] < -roundoff * size : !(J[0] > roundoff * size)) {
    throw InputError(name + ": the inertia must be positive definite about the centre of mass; if it was given about another point, "
                            "subtract mass times distance squared");
  }
  if (J[2] > (J[0] + J[1]) * (1 + roundoff)) {
    throw InputError(name + ": no distribution of mass has this inertia: a principal moment exceeds the sum of the other two; check the "
                            "units and the point that the inertia refers to");
  }
}

// ---- rigid bodies ----------------------------------------------------------------------------------------------------------------------

int RigidBodies::add(const std::string& name, int block, const MassProperties& properties) {
  properties.validate("body '" + name + "'");
  if (find(name) >= 0) throw InputError("two bodies are named '" + name + "'; give each a name of its own");
  bodies_.push_back({name, block, properties, properties.spatial()});
  return size() - 1;
}

int RigidBodies::find(const std::string& name) const {
  const auto found = std::find_if(bodies_.begin(), bodies_.end(), [&](const Body& body) { return body.name == name; });
  return found == bodies_.end() ? -1 : int(found - bodies_.begin());
}

void RigidBodies::declare(Layout& layout) {
  gravity_ = &layout.gravity();
  for (Body& body : bodies_) {
    body.q = layout.block(body.block).q;
    body.v = layout.block(body.block).v;
    body.coupling = layout.couple(body.block, body.block);
  }
}

void RigidBodies::evaluate(const State& state, Assembly& assembly) const {
  const Request& request = assembly.request();
  const Jet factor = gravity_->factor(state.t);
  for (const Body& body : bodies_) {
    const Matrix3 R = loadPose(state.q.data() + body.q).R;
    const Vector6 g = gravityAcceleration(R, gravity_->g);
    Vector6 excess = -factor.value * g, r = Vector6::Zero(); // acceleration in excess of free fall
    if (request.motion) {
      const Vector6 v = state.v.segment<6>(body.v), momentum = body.M * v;
      const bool isCarried = assembly.isCarried(body.block);
      excess += state.a.segment<6>(body.v);
      if (!isCarried) r = -se3::adTransposed(v, momentum);
      assembly.noteForce(r);
      assembly.noteInertiaRoundoff(body.M, 1, v, state.a.segment<6>(body.v));
      if (request.tangent) {
        Matrix6 D = request.inertia * body.M;
        if (!isCarried) D -= request.damping * (se3::ad(v).transpose() * body.M + se3::coad(momentum));
        assembly.addRate(body.coupling, body.block, D);
      }
    }
    r.noalias() += body.M * excess;
    assembly.addForce(body.block, r);
    if (request.tangent) assembly.addStiffness(body.coupling, -gravityTangent(body.M, factor.value * g));
    if (request.timeRate) assembly.addForceRate(body.block, -body.M * (factor.rate * g));
  }
}

void RigidBodies::embed(DirectorSystem& system) const {
  for (const Body& body : bodies_) system.addMass(body.block, body.block, pseudoInertia(body.M));
}

void RigidBodies::addEnergy(const State& state, Energy& energy) const {
  const Jet factor = gravity_->factor(state.t);
  for (const Body& body : bodies_) {
    const Vector6 v = state.v.segment<6>(body.v);
    const double height = -body.properties.mass * gravity_->g.dot(loadPose(state.q.data() + body.q) * body.properties.centre);
    energy.kinetic += 0.5 * v.dot(body.M * v);
    energy.gravitational += factor.value * height;
    energy.power += factor.rate * height; // whoever changes the field does this work
  }
}

void RigidBodies::addMomentum(const State& state, Momentum& momentum) const {
  for (const Body& body : bodies_) {
    const Pose H = loadPose(state.q.data() + body.q);
    const Vector6 p = body.M * state.v.segment<6>(body.v);
    const Vector3 linear = H.R * p.head<3>();
    momentum.linear += linear;
    momentum.angular += H.R * p.tail<3>() + H.x.cross(linear);
  }
}

int addRigidBody(ModelBuilder& builder, const std::string& name, const MassProperties& properties, const Pose& pose,
                 const Vector6& velocity) {
  const int block = builder.addPose("body '" + name + "'", -1, pose, velocity);
  builder.term<RigidBodies>().add(name, block, properties);
  return block;
}

// ---- point masses ----------------------------------------------------------------------------------------------------------------------

int PointMasses::add(const std::string& name, const Marker& marker, double mass, const Matrix3& inertia) {
  const MassProperties properties{mass, Vector3::Zero(), inertia};
  properties.validate("point mass '" + name + "'", true);
  MarkerPair pair(nullptr, marker);
  if (!pair.canMove())
    throw InputError("point mass '" + name + "': its marker " + pair.names() + " is on the ground; put it on a body or beam");
  masses_.push_back({pair, mass, properties.spatial()});
  return size() - 1;
}

void PointMasses::declare(Layout& layout) {
  gravity_ = &layout.gravity();
  for (Mass& mass : masses_) mass.pair.declare(layout);
}

void PointMasses::evaluate(const State& state, Assembly& assembly) const {
  const Request& request = assembly.request();
  const Jet factor = gravity_->factor(state.t);
  RelativeMotion m;
  for (const Mass& mass : masses_) {
    mass.pair.kinematics(state, m, request.motion);
    const Vector6 g = gravityAcceleration(m.frame.R, gravity_->g);
    PairWrench wrench;
    wrench.w = -mass.M * (factor.value * g);
    wrench.stiffness = -gravityTangent(mass.M, factor.value * g);
    wrench.rate = -mass.M * (factor.rate * g);
    bool isCarried = true;
    for (int k = 0; k < mass.pair.count(); ++k) isCarried &= assembly.isCarried(mass.pair.block(k));
    if (request.motion && isCarried) {
      for (int k = 0; k < mass.pair.count(); ++k) wrench.w += mass.M * (m.J[k] * state.a.segment<6>(mass.pair.velocity(k)));
    } else if (request.motion) {
      const Vector6 momentum = mass.M * m.twist;
      const Matrix6 adT = se3::ad(m.twist).transpose();
      wrench.w += mass.M * mass.pair.acceleration(state, m) - adT * momentum;
      wrench.damping = -adT * mass.M - se3::coad(momentum);
    }
    mass.pair.addWrench(state, m, wrench, assembly);
    if (request.motion && request.tangent) addInertia(mass, m, isCarried, assembly);
  }
}

void PointMasses::addInertia(const Mass& mass, const RelativeMotion& m, bool isCarried, Assembly& assembly) const {
  const Request& request = assembly.request();
  for (int l = 0; l < mass.pair.count(); ++l) {
    // w' = J a + D_v(J) v, so that dw'/dv = D_v(J) + d(J v)/dq.
    Matrix6 D = request.inertia * m.J[l];
    if (!isCarried) D += request.damping * (m.second.Jdot.middleCols<6>(6 * l) + m.twistGradient[l]);
    D = (mass.M * D).eval();
    for (int k = 0; k < mass.pair.count(); ++k) {
      assembly.addRate(mass.pair.coupling(k, l), mass.pair.block(l), (m.J[k].transpose() * D).eval());
    }
  }
}

void PointMasses::embed(DirectorSystem& system) const {
  for (const Mass& mass : masses_) system.addMass(mass.pair.second().directors(), pseudoInertia(mass.M));
}

void PointMasses::addEnergy(const State& state, Energy& energy) const {
  const Jet factor = gravity_->factor(state.t);
  RelativeMotion m;
  for (const Mass& mass : masses_) {
    mass.pair.kinematics(state, m);
    const double height = -mass.mass * gravity_->g.dot(m.frame.x);
    energy.kinetic += 0.5 * m.twist.dot(mass.M * m.twist);
    energy.gravitational += factor.value * height;
    energy.power += factor.rate * height;
  }
}

void PointMasses::addMomentum(const State& state, Momentum& momentum) const {
  RelativeMotion m;
  for (const Mass& mass : masses_) {
    mass.pair.kinematics(state, m);
    const Vector6 p = mass.M * m.twist;
    const Vector3 linear = m.frame.R * p.head<3>();
    momentum.linear += linear;
    momentum.angular += m.frame.R * p.tail<3>() + m.frame.x.cross(linear);
  }
}

}
