#pragma once
#include "tendril/dynamics/variational.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"

#include <cmath>
#include <optional>

namespace tendril::test {

inline MassProperties sphereOf(double mass, double radius) {
  return {mass, Vector3::Zero(), Vector3::Constant(0.4 * mass * radius * radius).asDiagonal()};
}

/// A sphere of 1 kg, 1 m from the origin on e1, held there by its distance.
inline Mechanism pendulum(const Vector3& gravity, const Vector3& velocity) {
  MechanismBuilder b;
  b.gravity(gravity);
  const auto bob = b.body("bob", sphereOf(1, 0.1), {Matrix3::Identity(), {1, 0, 0}}, velocity);
  b.joint(JointKind::Distance, "string", b.ground(), bob.at());
  return b.build();
}

/// 10 kg and 5 kg on strings of 1 m and 1.5 m.
inline Mechanism doubleSphericalPendulum() {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const auto first = b.body("first", sphereOf(10, 0.1), {Matrix3::Identity(), {1, 0, 0}}, {0, 1, 0});
  const auto second = b.body("second", sphereOf(5, 0.1), {Matrix3::Identity(), {2.5, 0, 0}}, {0, 1, 1});
  b.joint(JointKind::Distance, "upper", b.ground(), first.at());
  b.joint(JointKind::Distance, "lower", first.at(), second.at());
  return b.build();
}

/// A rod of 1 m and 1 kg about e3 through the origin, its mass centre in the direction of the angle from e1; gravity along -e2.
inline Mechanism rodPendulum(double angle, double speed, double gravity = 9.81) {
  MechanismBuilder b;
  b.gravity({0, -gravity, 0});
  const Matrix3 R = so3::exp(Vector3(0, 0, angle));
  const MassProperties rod{1, Vector3::Zero(), Vector3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal()};
  const Vector3 centre = R * Vector3(0.5, 0, 0), spin(0, 0, speed);
  const auto body = b.body("rod", rod, {R, centre}, spin.cross(centre), spin);
  b.joint(JointKind::Revolute, "hinge", b.ground({R, {0, 0, 0}}), body.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  return b.build();
}

/// Links of 1 m and 1 kg that hang on one another, alternately by revolute and spherical joints; free: the first joint is missing.
inline Mechanism chain(int links, bool isFree = false, double gravity = 9.81) {
  MechanismBuilder b;
  b.gravity({0, 0, -gravity});
  const MassProperties rod{1, Vector3::Zero(), Vector3(0.01, 0.09, 0.08).asDiagonal()};
  const Matrix3 about = so3::exp(Vector3(0.3, 0, 0)), tilt = so3::exp(Vector3(0.2, 0.1, 0.1));
  Pose tip{tilt, Vector3::Zero()};
  std::optional<MechanismBuilder::BodyHandle> before;
  for (int i = 0; i < links; ++i) {
    const Pose pose = tip * Pose{Matrix3::Identity(), Vector3(0.5, 0, 0)};
    const Vector3 spin = isFree ? Vector3(0.4, -0.3, 0.5) : Vector3::Zero();
    const auto link = b.body("link " + std::to_string(i), rod, pose, spin.cross(pose.x), spin);
    const JointKind kind = i % 2 ? JointKind::Spherical : JointKind::Revolute;
    const Marker& here = link.at({about, {-0.5, 0, 0}});
    const std::string name = "joint " + std::to_string(i);
    if (before)
      b.joint(kind, name, before->at({about, {0.5, 0, 0}}), here);
    else if (!isFree)
      b.joint(kind, name, b.ground(tip * Pose{about, Vector3::Zero()}), here);
    before = link;
    tip = tip * Pose{Matrix3::Identity(), Vector3(1, 0, 0)};
  }
  return b.build();
}

/// A double pendulum in the plane of e1 and e3 with unequal rods, stretched along e1, released at an angle from its rest.
inline Mechanism doublePendulum(double angle = 1.5707963267948966) {
  MechanismBuilder b;
  b.gravity({9.81 * std::cos(angle), 0, -9.81 * std::sin(angle)});
  const Matrix3 about = so3::exp(Vector3(-1.5707963267948966, 0, 0)); // e3 of the joints along e2
  const auto upper = b.body("upper", {1, Vector3::Zero(), Vector3(1e-3, 0.08, 0.08).asDiagonal()}, {Matrix3::Identity(), {0.5, 0, 0}});
  const auto lower = b.body("lower", {0.6, Vector3::Zero(), Vector3(1e-3, 0.03, 0.03).asDiagonal()}, {Matrix3::Identity(), {1.35, 0, 0}});
  b.joint(JointKind::Revolute, "hinge", b.ground({about, {0, 0, 0}}), upper.at({about, {-0.5, 0, 0}}));
  b.joint(JointKind::Revolute, "elbow", upper.at({about, {0.5, 0, 0}}), lower.at({about, {-0.35, 0, 0}}));
  return b.build();
}

/// A closed loop of four 1 m rods, 1 kg each but the ground; three of its rows say nothing new.
inline Mechanism fourBar(double speed) {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const MassProperties rod{1, Vector3::Zero(), Vector3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal()};
  const Matrix3 upright = so3::exp(Vector3(0, 0, 1.2));
  const Vector3 along = upright.col(0), rate(0, 0, speed), swing = rate.cross(along);
  const Pose left{Matrix3::Identity(), {-0.5, 0, 0}}, right{Matrix3::Identity(), {0.5, 0, 0}};
  const auto first = b.body("first", rod, {upright, 0.5 * along}, 0.5 * swing, rate);
  const auto second = b.body("second", rod, {upright, Vector3(1, 0, 0) + 0.5 * along}, 0.5 * swing, rate);
  const auto coupler = b.body("coupler", rod, {Matrix3::Identity(), along + Vector3(0.5, 0, 0)}, swing);
  const auto joint = [&](const char* name, const Marker& one, const Marker& other) {
    b.joint(JointKind::Revolute, name, one, other, {.reference = JointReference::Orientation});
  };
  joint("foot 1", b.ground(), first.at(left));
  joint("left", first.at(right), coupler.at(left));
  joint("right", coupler.at(right), second.at(right));
  joint("foot 2", b.ground({Matrix3::Identity(), {1, 0, 0}}), second.at(left));
  return b.build();
}

/// Two bodies without ground, joined by a spring and a hinge, or by the spring alone.
inline Mechanism springPair(bool isHinged, double damping = 0, const Vector3& drift = {0.3, 0.2, -0.4}) {
  MechanismBuilder b;
  const Vector3 spin(0.5, -0.8, 1.1);
  const MassProperties mass{1.3, Vector3(0.05, 0.02, -0.03), Vector3(0.05, 0.11, 0.14).asDiagonal()};
  const Vector3 place(1, 0.2, 0);
  const auto first = b.body("first", mass, {so3::exp(Vector3(0.1, 0.2, 0.3)), Vector3::Zero()}, drift, spin);
  const auto second = b.body("second", mass, {so3::exp(Vector3(0.1, 0.2, 0.3)), place}, drift + spin.cross(place), spin);
  const Matrix3 back = so3::exp(Vector3(-0.1, -0.2, -0.3));
  const Vector3 offset = back * (0.5 * place);
  if (isHinged) b.joint(JointKind::Spherical, "hinge", first.at({Matrix3::Identity(), offset}), second.at({Matrix3::Identity(), -offset}));
  b.model().term<LinearSprings>().add("spring", first.at({Matrix3::Identity(), {0, 0.4, 0}}),
                                      second.at({Matrix3::Identity(), {0, 0.5, 0.1}}), {.stiffness = 30, .damping = damping, .rest = 0.6});
  return b.build();
}

}
