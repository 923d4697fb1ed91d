#pragma once
#include "tendril/control/optimal_control.h"
#include "tendril/elements/mechanism.h"
#include "tendril/elements/motors.h"
#include "tendril/lie/so3.h"

#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// Mechanisms for the tests of optimal control.
namespace tendril {

inline VectorX one(double value) { return VectorX::Constant(1, value); }

inline VectorX randomVector(Eigen::Index size, unsigned seed, double scale = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorX::NullaryExpr(size, [&](Eigen::Index) { return uniform(random); });
}

/// A rod of 1 m and 1 kg along e1.
inline MassProperties slenderRod() { return {1, Vector3::Zero(), Vector3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal()}; }

/// Two rods in the plane of e1 and e2, hanging, on hinges about e3.
inline Mechanism twoLink(double gravity = 9.81) {
  MechanismBuilder b;
  b.gravity({0, -gravity, 0});
  const Matrix3 down = so3::exp(Vector3(0, 0, -std::numbers::pi / 2));
  const auto first = b.body("first", slenderRod(), {down, {0, -0.5, 0}});
  const auto second = b.body("second", slenderRod(), {down, {0, -1.5, 0}});
  const Pose begin{Matrix3::Identity(), {-0.5, 0, 0}}, end{Matrix3::Identity(), {0.5, 0, 0}};
  b.joint(JointKind::Revolute, "base", b.ground({down, {0, 0, 0}}), first.at(begin));
  b.joint(JointKind::Revolute, "elbow", first.at(end), second.at(begin));
  return b.build();
}

/// The same with any number of them and of joints: "joint0", "joint1", ...
inline Mechanism hangingRods(int count) {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const Matrix3 down = so3::exp(Vector3(0, 0, -std::numbers::pi / 2));
  const Pose begin{Matrix3::Identity(), {-0.5, 0, 0}}, end{Matrix3::Identity(), {0.5, 0, 0}};
  for (int k = 0; k < count; ++k) b.body("rod" + std::to_string(k), slenderRod(), {down, {0, -0.5 - k, 0}});
  b.joint(JointKind::Revolute, "joint0", b.ground({down, {0, 0, 0}}), b.body("rod0").at(begin));
  for (int k = 1; k < count; ++k)
    b.joint(JointKind::Revolute, "joint" + std::to_string(k), b.body("rod" + std::to_string(k - 1)).at(end),
            b.body("rod" + std::to_string(k)).at(begin));
  return b.build();
}

/// A square of three rods on the ground.
inline Mechanism fourBar() {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const Matrix3 upright = so3::exp(Vector3(0, 0, std::numbers::pi / 2));
  const auto left = b.body("left", slenderRod(), {upright, {0, 0.5, 0}});
  const auto right = b.body("right", slenderRod(), {upright, {1, 0.5, 0}});
  const auto coupler = b.body("coupler", slenderRod(), {Matrix3::Identity(), {0.5, 1, 0}});
  const Pose foot{Matrix3::Identity(), {-0.5, 0, 0}}, head{Matrix3::Identity(), {0.5, 0, 0}};
  b.joint(JointKind::Revolute, "left foot", b.ground({upright, {0, 0, 0}}), left.at(foot));
  b.joint(JointKind::Revolute, "right foot", b.ground({upright, {1, 0, 0}}), right.at(foot));
  b.joint(JointKind::Revolute, "left head", left.at(head), coupler.at(foot), {.reference = JointReference::Pose});
  b.joint(JointKind::Revolute, "right head", right.at(head), coupler.at(head), {.reference = JointReference::Pose});
  return b.build();
}

inline std::vector<Actuator> motors(const Mechanism& m, const std::vector<std::string>& joints) {
  std::vector<Actuator> all;
  for (const std::string& joint : joints)
    for (Actuator& motor : motorsOf(*m.model, joint)) all.push_back(std::move(motor));
  return all;
}

/// From rest to other angles of joints, at least effort.
inline OptimalControlOptions swing(const Mechanism& m, const std::vector<std::string>& joints, const JointMotions& end, int intervals,
                                   double duration = 1) {
  OptimalControlOptions o;
  o.intervals = intervals, o.duration = duration;
  o.actuators = motors(m, joints);
  o.effort.assign(o.actuators.size(), 1);
  o.end.configuration = end;
  o.solver.tolerance = 1e-12;
  return o;
}

}
