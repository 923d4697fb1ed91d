#include "tendril/elements/springs.h"

#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

template <class Springs> int findNamed(const Springs& springs, const std::string& name) {
  const auto found = std::find_if(springs.begin(), springs.end(), [&](const auto& spring) { return spring.name == name; });
  return found == springs.end() ? -1 : int(found - springs.begin());
}

/// Checks that all springs share: a name of its own, and markers that can move against one another.
MarkerPair checkedPair(const std::string& what, bool isNew, const Marker& first, const Marker& second) {
  MarkerPair pair(&first, second);
  if (!isNew) throw InputError("two of a kind are called " + what + "; give each a name of its own");
  if (!pair.canMove())
    throw InputError(what + " between " + pair.names() + ": both markers are on the ground or on one body, it can never move");
  return pair;
}

void checkParameters(const std::string& what, const SpringParameters& p) {
  const auto good = [](double x) { return std::isfinite(x) && x >= 0; };
  if (!good(p.stiffness)) throw InputError(what + ": the stiffness must not be negative; it is restoring when positive");
  if (!good(p.damping)) throw InputError(what + ": the damping must not be negative; it dissipates when positive");
  if (p.rest && !std::isfinite(*p.rest)) throw InputError(what + ": the free length or rest angle must be finite");
}

void checkMatrix(const std::string& what, const Matrix6& A) {
  const double size = A.cwiseAbs().maxCoeff();
  constexpr double roundoff = 1e-9;
  if (!A.allFinite() || (A - A.transpose()).cwiseAbs().maxCoeff() > roundoff * size)
    throw InputError(what + " must be finite and symmetric");
  if (Eigen::SelfAdjointEigenSolver<Matrix6>(A, Eigen::EigenvaluesOnly).eigenvalues()[0] < -roundoff * size) {
    throw InputError(what + " must not have a negative eigenvalue; check the signs of its coupling terms");
  }
}

/// Work of the ground that moves a spring's end, less what the damper dissipates; w = elastic + viscous.
double power(const RelativeMotion& m, const Vector6& w, const Vector6& viscous) { return w.dot(m.drift) - viscous.dot(m.twist); }

/// Largest distance of the two origins from the inertial origin: round-off of positions is proportional to it.
double reach(const RelativeMotion& m) { return std::max(m.first.frame.x.norm(), m.second.frame.x.norm()); }

}

// ---- linear springs --------------------------------------------------------------------------------------------------------------------

int LinearSprings::add(const std::string& name, const Marker& first, const Marker& second, const SpringParameters& p) {
  const std::string what = "spring '" + name + "'";
  checkParameters(what, p);
  if (p.rest && *p.rest < 0) throw InputError(what + ": the free length must not be negative");
  const MarkerPair pair = checkedPair(what, find(name) < 0, first, second);
  springs_.push_back({name, pair, p.stiffness, p.damping, p.rest});
  return size() - 1;
}

int LinearSprings::find(const std::string& name) const { return findNamed(springs_, name); }

void LinearSprings::declare(Layout& layout) {
  for (Spring& spring : springs_) {
    const double distance = spring.pair.frame(layout.initialState()).x.norm();
    spring.freeLength = spring.rest.value_or(distance);
    if (spring.freeLength > 0 && distance <= 1e-12 * layout.characteristicLength()) {
      throw InputError("spring '" + spring.name + "': its ends " + spring.pair.names() +
                       " coincide, so its force has no direction; move them apart, or give it the free length 0");
    }
    spring.pair.declare(layout);
  }
}

PairWrench LinearSprings::wrench(const Spring& spring, const RelativeMotion& m, double damping, bool& isDefined) {
  PairWrench wrench;
  const Vector3 y = m.frame.R.transpose() * m.frame.x, u = m.twist.head<3>();
  isDefined = true;
  if (spring.freeLength == 0) {
    wrench.w.head<3>() = spring.stiffness * y + damping * u;
    wrench.stiffness.topLeftCorner<3, 3>() = spring.stiffness * Matrix3::Identity();
    wrench.stiffness.topRightCorner<3, 3>() = so3::hat(spring.stiffness * y);
    wrench.damping.topLeftCorner<3, 3>() = damping * Matrix3::Identity();
    return wrench;
  }
  const double rho = y.norm();
  isDefined = rho > 1e-12 * spring.freeLength;
  if (!isDefined) return wrench;

  const Vector3 n = y / rho;
  const double tension = spring.stiffness * (rho - spring.freeLength) + damping * n.dot(u);
  Matrix36 turning; // dn/dpi12
  turning << (Matrix3::Identity() - n * n.transpose()) / rho, so3::hat(n);
  wrench.w.head<3>() = tension * n;
  wrench.stiffness.topRows<3>() = tension * turning + n * (damping * u.transpose() * turning);
  wrench.stiffness.topLeftCorner<3, 3>() += spring.stiffness * n * n.transpose();
  wrench.damping.topLeftCorner<3, 3>() = damping * n * n.transpose();
  return wrench;
}

void LinearSprings::evaluate(const State& state, Assembly& assembly) const {
  RelativeMotion m;
  for (const Spring& spring : springs_) {
    const double damping = assembly.request().motion ? spring.damping : 0;
    spring.pair.kinematics(state, m, damping > 0);
    bool isDefined;
    const PairWrench w = wrench(spring, m, damping, isDefined);
    if (!isDefined) assembly.refuse(spring.pair.block(0));
    spring.pair.addWrench(state, m, w, assembly);
    assembly.noteRoundoff(spring.stiffness * epsilon * reach(m), 0);
  }
}

void LinearSprings::addEnergy(const State& state, Energy& energy) const {
  RelativeMotion m;
  for (const Spring& spring : springs_) {
    spring.pair.kinematics(state, m);
    const double stretch = m.frame.x.norm() - spring.freeLength;
    bool isDefined;
    const Vector6 w = wrench(spring, m, spring.damping, isDefined).w, viscous = w - wrench(spring, m, 0, isDefined).w;
    energy.elastic += 0.5 * spring.stiffness * stretch * stretch;
    energy.power += power(m, w, viscous);
  }
}

double LinearSprings::tension(const State& state, int number) const {
  const Spring& spring = springs_[number];
  RelativeMotion m;
  spring.pair.kinematics(state, m);
  const double rho = m.frame.x.norm();
  const double speed = rho > 0 ? (m.frame.R.transpose() * m.frame.x).dot(m.twist.head<3>()) / rho : 0;
  return spring.stiffness * (rho - spring.freeLength) + spring.damping * speed;
}

double LinearSprings::length(const State& state, int number) const { return springs_[number].pair.frame(state).x.norm(); }

// ---- torsional springs -----------------------------------------------------------------------------------------------------------------

int TorsionSprings::add(const std::string& name, const Marker& first, const Marker& second, const SpringParameters& p) {
  const std::string what = "torsional spring '" + name + "'";
  checkParameters(what, p);
  const MarkerPair pair = checkedPair(what, find(name) < 0, first, second);
  springs_.push_back({name, pair, p.stiffness, p.damping, p.rest});
  return size() - 1;
}

int TorsionSprings::find(const std::string& name) const { return findNamed(springs_, name); }

void TorsionSprings::declare(Layout& layout) {
  for (Spring& spring : springs_) {
    const AxisAngle angle(spring.pair.frame(layout.initialState()).R, spring.rest.value_or(0));
    if (!angle.isDefined) {
      throw InputError("torsional spring '" + spring.name + "': the third axes of " + spring.pair.names() +
                       " are opposite, so the angle between them is undefined; turn one marker over");
    }
    spring.restAngle = spring.rest.value_or(angle.value);
    spring.pair.declare(layout);
  }
}

void TorsionSprings::evaluate(const State& state, Assembly& assembly) const {
  RelativeMotion m;
  for (const Spring& spring : springs_) {
    const double damping = assembly.request().motion ? spring.damping : 0;
    spring.pair.kinematics(state, m, damping > 0);
    const AxisAngle angle(m.frame.R, spring.restAngle);
    if (!angle.isDefined) assembly.refuse(spring.pair.block(0));
    const Vector3 n = angle.gradient, omega = m.twist.tail<3>();
    const double moment = spring.stiffness * (angle.value - spring.restAngle) + damping * n.dot(omega);
    PairWrench w;
    w.w.tail<3>() = moment * n;
    w.stiffness.bottomRightCorner<3, 3>() =
        spring.stiffness * n * n.transpose() + moment * angle.hessian + n * (damping * omega.transpose() * angle.hessian);
    w.damping.bottomRightCorner<3, 3>() = damping * n * n.transpose();
    spring.pair.addWrench(state, m, w, assembly);
    assembly.noteRoundoff(0, spring.stiffness * epsilon);
  }
}

void TorsionSprings::addEnergy(const State& state, Energy& energy) const {
  RelativeMotion m;
  for (const Spring& spring : springs_) {
    spring.pair.kinematics(state, m);
    const AxisAngle angle(m.frame.R, spring.restAngle);
    const double twist = angle.value - spring.restAngle;
    Vector6 n = Vector6::Zero();
    n.tail<3>() = angle.gradient;
    const Vector6 viscous = spring.damping * n.dot(m.twist) * n;
    energy.elastic += 0.5 * spring.stiffness * twist * twist;
    energy.power += power(m, spring.stiffness * twist * n + viscous, viscous);
  }
}

double TorsionSprings::moment(const State& state, int number) const {
  const Spring& spring = springs_[number];
  RelativeMotion m;
  spring.pair.kinematics(state, m);
  const AxisAngle angle(m.frame.R, spring.restAngle);
  return spring.stiffness * (angle.value - spring.restAngle) + spring.damping * angle.gradient.dot(m.twist.tail<3>());
}

double TorsionSprings::angle(const State& state, int number) const {
  const Spring& spring = springs_[number];
  return AxisAngle(spring.pair.frame(state).R, spring.restAngle).value;
}

// ---- bushings --------------------------------------------------------------------------------------------------------------------------

int Bushings::add(const std::string& name, const Marker& first, const Marker& second, const Matrix6& stiffness, const Matrix6& damping,
                  Rest rest) {
  const std::string what = "bushing '" + name + "'";
  checkMatrix(what + ": the stiffness matrix", stiffness);
  checkMatrix(what + ": the damping matrix", damping);
  const MarkerPair pair = checkedPair(what, find(name) < 0, first, second);
  bushings_.push_back({name, pair, stiffness, damping, rest, {}});
  return size() - 1;
}

int Bushings::find(const std::string& name) const { return findNamed(bushings_, name); }

Vector6 Bushings::deformation(const State& state, int number) const {
  const Bushing& bushing = bushings_[number];
  return se3::log(bushing.reference * bushing.pair.frame(state));
}

void Bushings::declare(Layout& layout) {
  for (Bushing& bushing : bushings_) {
    if (bushing.rest == Rest::Initial) bushing.reference = bushing.pair.frame(layout.initialState()).inverse();
    bushing.pair.declare(layout);
  }
}

void Bushings::evaluate(const State& state, Assembly& assembly) const {
  RelativeMotion m;
  for (const Bushing& bushing : bushings_) {
    const bool damped = assembly.request().motion && !bushing.damping.isZero(0);
    bushing.pair.kinematics(state, m, damped);
    const Vector6 e = se3::log(bushing.reference * m.frame), force = bushing.stiffness * e;
    const Matrix6 inverse = se3::tangentInverse(e);
    PairWrench w;
    w.w = inverse.transpose() * force;
    w.stiffness = (inverse.transpose() * bushing.stiffness + se3::tangentInverseTransposeDerivative(e, force)) * inverse;
    if (damped) {
      w.w += bushing.damping * m.twist;
      w.damping = bushing.damping;
    }
    bushing.pair.addWrench(state, m, w, assembly);
    const double forceStiffness = bushing.stiffness.topLeftCorner<3, 3>().norm(),
                 momentStiffness = bushing.stiffness.bottomRightCorner<3, 3>().norm();
    const double coupling = bushing.stiffness.topRightCorner<3, 3>().norm();
    assembly.noteRoundoff(epsilon * (forceStiffness * reach(m) + coupling), epsilon * (coupling * reach(m) + momentStiffness));
  }
}

void Bushings::addEnergy(const State& state, Energy& energy) const {
  RelativeMotion m;
  for (const Bushing& bushing : bushings_) {
    bushing.pair.kinematics(state, m);
    const Vector6 e = se3::log(bushing.reference * m.frame), force = bushing.stiffness * e, viscous = bushing.damping * m.twist;
    energy.elastic += 0.5 * e.dot(force);
    energy.power += power(m, se3::tangentInverse(e).transpose() * force + viscous, viscous);
  }
}

}
