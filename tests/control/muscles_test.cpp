#include "control/muscles.h"

#include "control/arms.h"
#include "tendril/control/controlled_path.h"
#include "tendril/elements/mechanism.h"
#include "tendril/model/error.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tendril {
namespace {

/// Two rods; one muscle from the ground to the second, one between both.
struct Arm {
  Mechanism mechanism;
  std::vector<Actuator> muscles;
};

Arm arm() {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const auto first = b.body("first", slenderRod(), {Matrix3::Identity(), {0.5, 0, 0}}),
             second = b.body("second", slenderRod(), {Matrix3::Identity(), {1.5, 0, 0}});
  b.joint(JointKind::Revolute, "base", b.ground(), first.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  b.joint(JointKind::Spherical, "elbow", first.at({Matrix3::Identity(), {0.5, 0, 0}}), second.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  const Marker &wall = b.ground({Matrix3::Identity(), {0, 1, 0.3}}), &tip = second.at({Matrix3::Identity(), {0.4, 0.1, 0}}),
               &middle = first.at({Matrix3::Identity(), {0, 0.1, 0}});
  Arm arm{.mechanism = b.build(), .muscles = {}};
  arm.muscles = {{"far", {}, {}, {{&wall, &tip, 30, 1.8, 4}}}, {"near", {}, {}, {{&middle, &tip, 50, 1.2, 6}}}};
  return arm;
}

TEST(Muscles, PullAsTheCurvesSay) {
  const ActuatorMuscle muscle{.from = nullptr, .to = nullptr, .strength = 100, .length = 0.2, .speed = 10};
  const auto pull = [&](double length, double rate, double a) { return pullOf(muscle, length, rate, a).force; };
  EXPECT_NEAR(pull(0.2, 0, 1), 100, 1.5);   // isometric, at the best length
  EXPECT_NEAR(pull(0.2, -2, 1), 0, 2.5);    // shortening at the fastest
  EXPECT_NEAR(pull(0.2, 2, 1), 180, 2);     // stretched as fast
  EXPECT_NEAR(pull(0.2, -0.6, 1), 37, 8);   // Hill's hyperbola with a/F0 = 1/4 at 0.3 of the fastest: (1 - 0.3)/(1 + 4 0.3) = 0.32
  EXPECT_NEAR(pull(0.2, 0, 0), 0.7, 0.1);   // passive: exp(-5)
  EXPECT_NEAR(pull(0.32, 0, 0), 100, 1e-9); // at a strain of 0.6
  EXPECT_NEAR(pull(0.2 * (1 + std::sqrt(0.45)), 0, 1) - pull(0.2 * (1 + std::sqrt(0.45)), 0, 0), 100 / std::exp(1), 0.2);
  EXPECT_GT(pull(0.2, -3, 0.5), -10); // no muscle pushes, or hardly
}

TEST(Muscles, DerivativesOfThePullAreExact) {
  const ActuatorMuscle muscle{.from = nullptr, .to = nullptr, .strength = 100, .length = 0.2, .speed = 10};
  for (const double l : {0.15, 0.2, 0.29})
    for (const double v : {-1.7, 0.0, 0.9}) {
      constexpr double a = 0.6, e = 1e-5;
      const MusclePull F = pullOf(muscle, l, v, a);
      const MusclePull up = pullOf(muscle, l + e, v, a), down = pullOf(muscle, l - e, v, a);
      const MusclePull faster = pullOf(muscle, l, v + e, a), slower = pullOf(muscle, l, v - e, a);
      const auto expect = [&](double value, double above, double below) {
        EXPECT_NEAR(value, (above - below) / (2 * e), 1e-4 * (1 + std::abs(value))) << l << " " << v;
      };
      expect(F.byLength, up.force, down.force), expect(F.byRate, faster.force, slower.force);
      expect(F.lengthLength, up.byLength, down.byLength), expect(F.lengthRate, faster.byLength, slower.byLength);
      expect(F.rateRate, faster.byRate, slower.byRate), expect(F.lengthControl, up.byControl, down.byControl);
      expect(F.rateControl, faster.byControl, slower.byControl);
      EXPECT_NEAR(F.byControl, pullOf(muscle, l, v, 1).force - pullOf(muscle, l, v, 0).force, 1e-9);
    }
}

/// Both ends are pulled towards each other: the ground takes the other half, and between bodies no momentum map changes.
TEST(Muscles, ActOnBothEndsAlike) {
  const Arm a = arm();
  const DirectorSystem system(*a.mechanism.model);
  const Muscles muscles(system, a.muscles);
  const VectorX q = a.mechanism.model->initialState().q, rate = randomVector(system.size(), 3, 0.5);
  const auto momentumOf = [&](const VectorX& controls) {
    VectorX f = VectorX::Zero(system.size());
    muscles.addForce(q, 0, rate, controls, 1, f);
    return system.momentum(q, f);
  };
  const Momentum rest = momentumOf(VectorX::Zero(2)), near = momentumOf(VectorX::Unit(2, 1)), far = momentumOf(VectorX::Unit(2, 0));
  EXPECT_LT((near.linear - rest.linear).norm() + (near.angular - rest.angular).norm(), 1e-12);
  const Vector3 from(0, 1, 0.3), to(1.9, 0.1, 0);
  const Vector3 pull = far.linear - rest.linear;
  EXPECT_GT(pull.dot(from - to), 0);
  EXPECT_LT(pull.cross(from - to).norm(), 1e-12 * pull.norm());
  EXPECT_LT((far.angular - rest.angular - to.cross(pull)).norm(), 1e-12 * pull.norm());
}

TEST(Muscles, PathsHaveExactDerivatives) {
  const Arm a = arm();
  const DirectorSystem system(*a.mechanism.model);
  ControlProblem problem{.intervals = 3, .duration = 0.6, .actuators = a.muscles};
  problem.actuators.push_back(motorsOf(*a.mechanism.model, "base")[0]);
  problem.effort.assign(3, 0.7);
  problem.beginMomentum = randomVector(system.size(), 2, 0.1), problem.endMomentum = VectorX::Zero(system.size());
  for (const Quadrature quadrature : {Quadrature::Midpoint, Quadrature::Trapezoidal})
    for (const bool isOpen : {false, true}) {
      problem.quadrature = quadrature;
      if (isOpen) problem.endMomentum.reset();
      ControlledPath path(system, problem, std::vector<VectorX>(4, a.mechanism.model->initialState().q));
      requireConsistent(path);
      for (unsigned seed : {1u, 2u, 3u}) path.retract(randomVector(path.structure().variables(), seed, 0.15));
      const DerivativeCheck check = checkDerivatives(path);
      EXPECT_LT(check.gradient.value, 1e-9) << check.describe();
      EXPECT_LT(check.equalityJacobian.value, 1e-9) << check.describe();
      EXPECT_LT(check.hessian.value, 1e-7) << check.describe();
    }
}

TEST(Muscles, WhatMakesNoMuscleIsRefused) {
  const Arm a = arm();
  const DirectorSystem system(*a.mechanism.model);
  std::vector<Actuator> weak = a.muscles;
  weak[0].muscles[0].strength = 0;
  EXPECT_THROW(Muscles(system, weak), InputError);
  ControlProblem problem{.intervals = 3, .duration = 0.6, .durationBounds = {{0.1, 2}}, .actuators = a.muscles};
  EXPECT_THROW(ControlledPath(system, problem, std::vector<VectorX>(4, a.mechanism.model->initialState().q)), InputError);
}

}
}
