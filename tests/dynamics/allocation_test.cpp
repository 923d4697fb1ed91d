#include "support/allocation_counter.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/elements/mechanism.h"

#include <gtest/gtest.h>

namespace tendril::test {
namespace {

/// Calls of malloc in steps that follow the first ones, in which workspaces find their sizes and the factorisation its pivots.
long allocationsInSteps(const Mechanism& m, int steps) {
  GeneralizedAlpha integrator(*m.model, {.duration = 1, .step = 1e-3, .tolerances = {1e-6, 1e-6}});
  integrator.start();
  for (int i = 0; i < 20; ++i) integrator.advance();
  const long before = allocationCount;
  int factorisations = 0;
  for (int i = 0; i < steps; ++i) factorisations += integrator.advance().factorisations;
  const long count = allocationCount - before;
  EXPECT_GT(before, 0);         // the counter counts
  EXPECT_GT(factorisations, 0); // otherwise the test says nothing of refactorisations
  return count;
}

TEST(Allocation, StepsOfAFallingCableTakeNoMemory) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const auto section = SectionProperties::of(Section::circle(0.005), {.youngsModulus = 1e7, .poissonRatio = 0, .density = 1000});
  const auto beam = b.beam("cable", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 20});
  b.joint(JointKind::Spherical, "pin", b.ground(), beam.start());
  EXPECT_EQ(allocationsInSteps(b.build(), 200), 0);
}

/// A four-bar of 1 m and 1 kg rods; its out-of-plane rows are redundant.
TEST(Allocation, StepsOfAFourBarTakeNoMemory) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const MassProperties rod{1, Vector3::Zero(), Vector3(1e-4, 1.0 / 12, 1.0 / 12).asDiagonal()};
  Matrix3 upright;
  upright << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  const Pose left{Matrix3::Identity(), {-0.5, 0, 0}}, right{Matrix3::Identity(), {0.5, 0, 0}};
  const auto first = b.body("first", rod, {upright, {0, 0.5, 0}}, {0.5, 0, 0}, {0, 0, -1});
  const auto second = b.body("second", rod, {upright, {1, 0.5, 0}}, {0.5, 0, 0}, {0, 0, -1});
  const auto coupler = b.body("coupler", rod, {Matrix3::Identity(), {0.5, 1, 0}}, {1, 0, 0});
  b.joint(JointKind::Revolute, "foot 1", b.ground(), first.at(left));
  b.joint(JointKind::Revolute, "foot 2", b.ground({Matrix3::Identity(), {1, 0, 0}}), second.at(left));
  b.joint(JointKind::Revolute, "left", first.at(right), coupler.at(left));
  b.joint(JointKind::Revolute, "right", second.at(right), coupler.at(right));
  EXPECT_EQ(allocationsInSteps(b.build(), 200), 0);
}

/// A stack of boxes, with its geometry, its friction problem and the projection of positions.
TEST(Allocation, StepsOfAStackInContactTakeNoMemory) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  ContactModel contacts;
  Shape cube, ground;
  cube.kind = Shape::Kind::Box, cube.size = Vector3::Constant(0.2);
  ground.kind = Shape::Kind::HalfSpace;
  for (int i = 0; i < 4; ++i) {
    const std::string name = "box" + std::to_string(i);
    const auto body = b.body(name, MassProperties::box(1000, cube.size), {Matrix3::Identity(), {0.01 * i, 0, 0.1 + 0.2 * i}});
    contacts.addPart({name, "", &body.at(), {CollisionShape(cube, name)}});
  }
  contacts.addPart({"floor", "", &b.ground(), {CollisionShape(ground, "floor")}});
  contacts.addLaw({"all", "all", ContactLaw{.friction = 0.4}});
  const Mechanism m = b.build();
  Moreau integrator(*m.model, contacts, {.duration = 1, .step = 1e-3});
  integrator.start();
  for (int i = 0; i < 20; ++i) integrator.advance();
  const long before = allocationCount;
  for (int i = 0; i < 50; ++i) integrator.advance();
  EXPECT_EQ(integrator.contacts()->contacts.size(), 16U);
  EXPECT_EQ(allocationCount - before, 0);
}

}
}
