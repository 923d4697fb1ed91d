#include "tendril/control/controlled_path.h"

#include "tendril/discrete/null_space.h"
#include "tendril/elements/mechanism.h"
#include "tendril/elements/motors.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>
#include <numbers>
#include <random>

namespace tendril {
namespace {

VectorX randomVector(Eigen::Index size, unsigned seed, double scale = 1) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorX::NullaryExpr(size, [&](Eigen::Index) { return uniform(random); });
}

/// Two rods of 1 m and 1 kg in the plane of e1 and e2, on hinges about e3.
Mechanism twoLink(double gravity = 9.81) {
  MechanismBuilder b;
  b.gravity({0, -gravity, 0});
  const MassProperties rod{1, Vector3::Zero(), Vector3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal()};
  const Matrix3 down = so3::exp(Vector3(0, 0, -std::numbers::pi / 2));
  const auto first = b.body("first", rod, {down, {0, -0.5, 0}});
  const auto second = b.body("second", rod, {down, {0, -1.5, 0}});
  b.joint(JointKind::Revolute, "base", b.ground({down, {0, 0, 0}}), first.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  b.joint(JointKind::Revolute, "elbow", first.at({Matrix3::Identity(), {0.5, 0, 0}}), second.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  return b.build();
}

Mechanism fourBar() {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const MassProperties rod{1, Vector3::Zero(), Vector3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal()};
  const Matrix3 upright = so3::exp(Vector3(0, 0, std::numbers::pi / 2));
  const auto left = b.body("left", rod, {upright, {0, 0.5, 0}});
  const auto right = b.body("right", rod, {upright, {1, 0.5, 0}});
  const auto coupler = b.body("coupler", rod, {Matrix3::Identity(), {0.5, 1, 0}});
  const Pose foot{Matrix3::Identity(), {-0.5, 0, 0}}, head{Matrix3::Identity(), {0.5, 0, 0}};
  b.joint(JointKind::Revolute, "left foot", b.ground({upright, {0, 0, 0}}), left.at(foot));
  b.joint(JointKind::Revolute, "right foot", b.ground({upright, {1, 0, 0}}), right.at(foot));
  b.joint(JointKind::Revolute, "left head", left.at(head), coupler.at(foot), {.reference = JointReference::Pose});
  b.joint(JointKind::Revolute, "right head", right.at(head), coupler.at(head), {.reference = JointReference::Pose});
  return b.build();
}

/// A free body with a second one on a ball joint and a third on a slider.
Mechanism freeBodies() {
  MechanismBuilder b;
  const MassProperties box = MassProperties::box(500, {0.2, 0.3, 0.4});
  const auto base = b.body("base", box, {so3::exp(Vector3(0.3, -0.2, 0.5)), {0, 0, 0}});
  const auto arm = b.body("arm", box, {so3::exp(Vector3(-0.4, 0.2, 0.1)), {0.5, 0.1, 0.2}});
  const auto slide = b.body("slide", box, {so3::exp(Vector3(0.3, -0.2, 0.5)), {-0.4, 0.2, 0.1}});
  b.joint(JointKind::Spherical, "ball", base.at({Matrix3::Identity(), {0.2, 0, 0}}), arm.at(), {.reference = JointReference::Pose});
  b.joint(JointKind::Prismatic, "slider", base.at(), slide.at(), {.reference = JointReference::Pose});
  return b.build();
}

/// A beam of one element on a hub that turns.
Mechanism flexibleArm() {
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(0.03), {.youngsModulus = 1e6, .poissonRatio = 0.3, .density = 1000});
  const auto hub = b.body("hub", MassProperties::box(500, {0.2, 0.3, 0.4}), {});
  const auto beam = b.beam("arm", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 1});
  b.joint(JointKind::Revolute, "hinge", b.ground(), hub.at());
  b.joint(JointKind::Fixed, "root", hub.at(), beam.start(), {.reference = JointReference::Pose});
  return b.build();
}

std::vector<Actuator> motors(const Mechanism& m, const std::vector<std::string>& joints) {
  std::vector<Actuator> all;
  for (const std::string& joint : joints)
    for (Actuator& motor : motorsOf(*m.model, joint)) all.push_back(std::move(motor));
  return all;
}

/// A path that wanders from the initial configuration, with random controls.
void wander(ControlledPath& path, unsigned seed) {
  VectorX step = VectorX::Zero(path.structure().variables());
  for (int i = 0; i < 3; ++i) {
    step = randomVector(step.size(), seed + unsigned(i), 0.15);
    path.retract(step);
  }
}

void expectExactDerivatives(const Mechanism& m, ControlProblem problem, unsigned seed, bool isFree = false, int N = 3) {
  const DirectorSystem system(*m.model);
  const VectorX q = m.model->initialState().q;
  const int n = system.size();
  problem.intervals = N;
  problem.duration = 0.6;
  if (isFree) problem.durationBounds = {0.1, 2}, problem.durationWeight = 0.3;
  problem.beginMomentum = randomVector(n, seed + 1, 0.1);
  problem.endMomentum = VectorX::Zero(n);
  problem.effort.assign(problem.actuators.size(), 0.7);
  problem.lower.assign(problem.actuators.size(), -5), problem.upper.assign(problem.actuators.size(), 6);
  problem.conditions.push_back({cosineOfTurn("turn", 0, n), 0, N - 1, 0.3, 1.5});
  const Marker& end = *m.model->markers().back();
  problem.conditions.push_back({markerCoordinate("height", end, {0.2, 1, -0.4}, 0.1), 1, 2, -3, 3});
  PathRow distance{.name = "distance", .products = {{0, 0, 1}, {1, 2, 0.5}}, .linear = {{4, 0.3}}, .constant = 0.2};
  problem.conditions.push_back({distance, N - 1, N - 1, 0.1, 0.1});
  problem.objectives.push_back({distance, N, 1.7});
  for (Quadrature quadrature : {Quadrature::Midpoint, Quadrature::Trapezoidal}) {
    problem.quadrature = quadrature;
    ControlledPath path(system, problem, std::vector<VectorX>(std::size_t(N) + 1, q));
    requireConsistent(path);
    wander(path, seed);
    EXPECT_LT(path.closure(), 1e-12);
    const DerivativeCheck check = checkDerivatives(path);
    EXPECT_LT(check.gradient.value, 1e-9) << check.describe();
    EXPECT_LT(check.equalityJacobian.value, 1e-9) << check.describe();
    EXPECT_LT(check.inequalityJacobian.value, 1e-9) << check.describe();
    EXPECT_LT(check.hessian.value, 1e-7) << check.describe();
  }
}

TEST(ControlledPath, TreesHaveExactDerivatives) {
  const Mechanism m = twoLink();
  expectExactDerivatives(m, {.actuators = motors(m, {"base", "elbow"})}, 1);
}

TEST(ControlledPath, FreeDurationHasExactDerivatives) {
  const Mechanism m = twoLink();
  expectExactDerivatives(m, {.actuators = motors(m, {"base", "elbow"})}, 2, true);
}

TEST(ControlledPath, LoopsHaveExactDerivatives) {
  const Mechanism m = fourBar();
  expectExactDerivatives(m, {.actuators = motors(m, {"left foot"})}, 3);
}

TEST(ControlledPath, FreeBodiesHaveExactDerivatives) {
  const Mechanism m = freeBodies();
  expectExactDerivatives(m, {.actuators = motors(m, {"ball", "slider"})}, 4);
}

TEST(ControlledPath, BeamsHaveExactDerivatives) {
  const Mechanism m = flexibleArm();
  expectExactDerivatives(m, {.actuators = motors(m, {"hinge"})}, 5, true, 2);
}

}
}
