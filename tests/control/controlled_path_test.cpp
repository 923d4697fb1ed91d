#include "tendril/control/controlled_path.h"

#include "control/arms.h"
#include "tendril/discrete/null_space.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>
#include <numbers>
#include <random>

namespace tendril {
namespace {

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

/// A path that wanders from the initial configuration, with random controls.
void wander(ControlledPath& path, unsigned seed) {
  VectorX step = VectorX::Zero(path.structure().variables());
  for (int i = 0; i < 3; ++i) {
    step = randomVector(step.size(), seed + unsigned(i), 0.15);
    path.retract(step);
  }
}

void expectExactDerivatives(const Mechanism& m, ControlProblem problem, unsigned seed, bool isFree = false, int N = 3,
                            bool isOpen = false) {
  const DirectorSystem system(*m.model);
  const VectorX start = m.model->initialState().q;
  const int n = system.size();
  problem.intervals = N;
  problem.duration = 0.6;
  if (isFree) problem.durationBounds = {0.1, 2}, problem.durationWeight = 0.3;
  if (!isOpen) problem.beginMomentum = randomVector(n, seed + 1, 0.1), problem.endMomentum = VectorX::Zero(n);
  problem.effort.assign(problem.actuators.size(), 0.7);
  problem.lower.assign(problem.actuators.size(), -5), problem.upper.assign(problem.actuators.size(), 6);
  problem.conditions.push_back({cosineOfTurn("turn", 0), 0, N - 1, 0.3, 1.5});
  const Marker& end = *m.model->markers().back();
  problem.conditions.push_back({markerCoordinate("height", end, {0.2, 1, -0.4}, 0.1), 1, 2, -3, 3});
  const auto q = [](int i) { return PathPlace{PathPart::Node, i}; };
  PathRow distance{.name = "distance", .products = {{q(0), q(0), 1}, {q(1), q(2), 0.5}}, .linear = {{q(4), 0.3}}, .constant = 0.2};
  problem.conditions.push_back({distance, N - 1, N - 1, 0.1, 0.1});
  problem.objectives.push_back({distance, N, 1.7});
  for (Quadrature quadrature : {Quadrature::Midpoint, Quadrature::Trapezoidal}) {
    problem.quadrature = quadrature;
    ControlledPath path(system, problem, std::vector<VectorX>(std::size_t(N) + 1, start));
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

TEST(ControlledPath, CablesHaveExactDerivatives) {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const MassProperties rod{1, Vector3::Zero(), Vector3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal()};
  const auto first = b.body("first", rod, {Matrix3::Identity(), {0.5, 0, 0}}),
             second = b.body("second", rod, {Matrix3::Identity(), {1.5, 0, 0}});
  b.joint(JointKind::Revolute, "base", b.ground(), first.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  b.joint(JointKind::Spherical, "elbow", first.at({Matrix3::Identity(), {0.5, 0, 0}}), second.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  const Marker &wall = b.ground({Matrix3::Identity(), {0, 1, 0.3}}), &tip = second.at({Matrix3::Identity(), {0.5, 0.1, 0}}),
               &middle = first.at({Matrix3::Identity(), {0, 0.1, 0}});
  const Mechanism m = b.build();
  const std::vector<Actuator> cables{{"far", {}, {{&wall, &tip}}}, {"near", {}, {{&tip, &middle}}}};
  expectExactDerivatives(m, {.actuators = cables}, 7);
  // A unit of tension per length pulls both ends along the line between them, with its length.
  const DirectorSystem system(*m.model);
  const Actuation actuation(system, cables);
  const VectorX q = m.model->initialState().q;
  MatrixX Bt;
  actuation.columns(q, 0, Bt);
  const Momentum pull = system.momentum(q, Bt.col(0));
  const Vector3 from(0, 1, 0.3), to(2, 0.1, 0);
  EXPECT_LT((pull.linear - (from - to)).norm(), 1e-14);
  EXPECT_LT((pull.angular - to.cross(from - to)).norm(), 1e-14);
  const Momentum inner = system.momentum(q, Bt.col(1));
  EXPECT_LT(inner.linear.norm() + inner.angular.norm(), 1e-14) << "a cable between bodies changes no momentum map";
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

/// Rows of all that a path has, contacts that land, stay and leave, velocities, a cost by the way, an effort that is a norm.
TEST(ControlledPath, GaitsHaveExactDerivatives) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const MassProperties rod{1, Vector3::Zero(), Vector3(1.0 / 12, 1.0 / 12, 1e-3).asDiagonal()};
  const auto left = b.body("left", rod, {so3::exp(Vector3(0.2, 0, 0)), {0, 0, 0.5}});
  const auto right = b.body("right", rod, {so3::exp(Vector3(-0.2, 0.1, 0)), {0.1, 0.1, 0.5}});
  b.joint(JointKind::Spherical, "hip", left.at({Matrix3::Identity(), {0, 0, 0.5}}), right.at({Matrix3::Identity(), {0, 0, 0.5}}),
          {.reference = JointReference::Pose});
  const Marker &footL = left.at({Matrix3::Identity(), {0, 0, -0.5}}), &footR = right.at({Matrix3::Identity(), {0, 0.05, -0.5}});
  const Mechanism m = b.build();
  const int n = DirectorSystem(*m.model).size();
  for (const bool isFree : {false, true}) {
    ControlProblem problem{.actuators = motors(m, {"hip"})};
    problem.effortNorm = 0.3;
    problem.contacts = {{.name = "left", .marker = &footL, .first = 0, .last = 2, .height = 0, .friction = 0.7, .standsAtBegin = false},
                        {.name = "right",
                         .marker = &footR,
                         .normal = {0, 0.6, 0.8},
                         .directions = {{1, 0, 0}, {0, 0.6, 0.8}},
                         .first = 2,
                         .last = 4,
                         .height = 0.1}};
    PathRow step = markerCoordinate("step", footL, {0.3, 1, 0.2}, -5);
    for (const auto& [place, factor] : markerCoordinate("", footR, {0.3, 1, 0.2}).linear)
      step.add({PathPart::Node, place.index, true}, -0.4 * factor);
    step.products.push_back({{PathPart::Node, 3}, {PathPart::Node, 5, true}, 0.2});
    problem.perUnit = PathCondition{step, 1, 1, 0, 0, 2};
    problem.velocityNodes = {1};
    PathRow mixed{.name = "mixed", .products = {}, .linear = {}};
    mixed.products = {{{PathPart::Velocity, 4}, {PathPart::Node, 5}, 0.4},
                      {{PathPart::Node, 4, true}, {PathPart::Velocity, 7}, -0.3},
                      {{PathPart::Velocity, 2}, {PathPart::Velocity, 2}, 0.6},
                      {{PathPart::Control, 1}, {PathPart::Impulse, 2}, 0.2},
                      {{PathPart::Control, 0}, {PathPart::Node, 8}, 0.5}};
    problem.conditions.push_back({mixed, 1, 1, 0.1, 0.1});
    PathRow periodic{.name = "periodic", .products = {}, .linear = {}};
    periodic.add({PathPart::Node, 3}, 1), periodic.add({PathPart::Node, 16, true}, -0.7);
    periodic.add({PathPart::Velocity, 3}, 0.4), periodic.add({PathPart::Velocity, 9, true}, 1.3);
    periodic.add({PathPart::Control, 0}, 0.5), periodic.add({PathPart::Control, 2, true}, -0.2);
    problem.conditions.push_back({periodic, 0, 0, 0, 0, 4});
    problem.objectives.push_back({markerVelocity("speed", footR, {0.2, 1, 0}), 2, 0.8});
    PathRow energy{.name = "energy", .products = {}, .linear = {}};
    for (int i = 0; i < n; ++i) energy.products.push_back({{PathPart::Velocity, i}, {PathPart::Velocity, i}, 0.1 + 0.01 * i});
    problem.objectives.push_back({energy, 4, 0.3});
    expectExactDerivatives(m, problem, 6, isFree, 4, true);
  }
}

TEST(ControlledPath, BeamsHaveExactDerivatives) {
  const Mechanism m = flexibleArm();
  expectExactDerivatives(m, {.actuators = motors(m, {"hinge"})}, 5, true, 2);
}

}
}
