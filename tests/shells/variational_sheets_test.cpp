#include "tendril/dynamics/lie_group_variational.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/lie/so3.h"
#include "tendril/shells/sheet_motion.h"
#include "tendril/shells/shell_patches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

// The variational integrator of pose coordinates on sheets, whose mass matrix depends on their shape.

namespace tendril {
namespace {

ShellOptions sheet() {
  ShellOptions o;
  o.properties.domain = {-0.2, 0.8, -0.3, 0.4};
  o.properties.areaDensity = 1.3, o.properties.rigidity = 2.1;
  o.natural = Vector2(1.5, 0.5), o.initial = Vector2(1.2, 0.6), o.rates = Vector2(0.3, -0.2);
  o.frame = {so3::exp(Vector3(0.3, 0.6, -0.2)), Vector3(0.2, -0.1, 0.4)};
  return o;
}

State advanced(const Model& model, double duration, double step) {
  LieGroupVariational motion(model, {.duration = duration, .step = step});
  motion.start();
  while (!motion.finished()) motion.advance();
  return motion.state();
}

TEST(FullVariationalSheets, FollowTheReferenceTrajectoryToSecondOrder) { // D-09
  ModelBuilder builder;
  builder.setGravity({{0, 0, -1}, TimeFunction::constant()});
  ShellOptions options;
  options.properties.domain = {0, 1, 0, 0.5};
  options.natural = Vector2(1, 0.3), options.initial = Vector2(0.6, 0.5);
  const ShellPart shell = addShell(builder, "patch", options);
  builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("ground", {}), builder.bodyMarker("corner", shell.frame));
  const auto model = builder.build();
  const auto error = [&](double h) {
    return (advanced(*model, 0.5, h).q.segment<2>(model->blocks()[std::size_t(shell.coordinates)].q) - Vector2(.9219537272, .3671528196))
        .norm();
  };
  const double coarse = error(1e-2), fine = error(5e-3);
  EXPECT_LT(fine, 1e-3);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1);
}

/// Against the explicit method of order 4, flying through wind, with damping, a body at its corner.
TEST(VariationalSheets, MeetForcesOfEveryKindToSecondOrder) {
  ModelBuilder builder;
  builder.setGravity({{1, 2, -9.81}, TimeFunction::constant()});
  ShellOptions options = sheet();
  options.properties.dampingTime = 0.02;
  options.air = {.density = 0.7, .wind = {9, -8, 5}};
  options.twist << 0.3, 0.2, 1.0, 0.5, -0.8, 0.6;
  const ShellPart shell = addShell(builder, "leaf", options);
  const auto model = builder.build();
  SheetMotion reference(*model, {.duration = 0.1, .step = 1e-3, .shells = {shell}, .held = {}});
  reference.start();
  while (!reference.finished()) reference.advance();
  const auto error = [&](double h) {
    const State a = advanced(*model, 0.1, h), &b = reference.state();
    return std::pair((a.q - b.q).norm(), (a.v - b.v).norm());
  };
  const auto [q1, v1] = error(5e-3);
  const auto [q2, v2] = error(2.5e-3);
  EXPECT_LT(q2, 1e-3);
  EXPECT_NEAR(std::log2(q1 / q2), 2, 0.15);
  EXPECT_NEAR(std::log2(v1 / v2), 2, 0.15);
}

TEST(FullVariationalSheets, KeepMomentaExactlyAndEnergyWithoutDrift) {
  const auto fly = [](double h, double duration) {
    ModelBuilder builder;
    ShellOptions options = sheet();
    options.twist << 0.3, 0.2, 1.0, 0.5, -0.8, 0.6;
    addShell(builder, "leaf", options);
    const auto model = builder.build();
    LieGroupVariational motion(*model, {.duration = duration, .step = h});
    motion.start();
    const Momentum first = motion.momentum();
    const double energy = model->energy(motion.state()).total();
    double drift = 0, early = 0, late = 0;
    while (!motion.finished()) {
      motion.advance();
      const Momentum now = motion.momentum();
      drift = std::max(drift, (now.linear - first.linear).norm() + (now.angular - first.angular).norm());
      double& error = motion.state().t < duration / 2 ? early : late;
      error = std::max(error, std::abs(model->energy(motion.state()).total() - energy));
    }
    EXPECT_LT(drift, 1e-10);
    EXPECT_LT(late, 1.3 * early);
    return std::max(early, late);
  };
  EXPECT_NEAR(std::log2(fly(8e-3, 4) / fly(4e-3, 4)), 2, 0.3);
}

/// A body on a sheet: mass matrices of both kinds, joined.
TEST(FullVariationalSheets, CarryBodies) {
  ModelBuilder builder;
  const ShellPart shell = addShell(builder, "leaf", sheet());
  const Marker& tip = builder.bodyMarker("tip", attachToShell(builder, shell, {0.7, 0.3}, "tip of leaf"));
  const int body = addRigidBody(builder, "drop", {0.5, {0, 0.1, 0}, Vector3(0.02, 0.03, 0.025).asDiagonal()}, tip.frame(builder.state()));
  builder.term<Joints>().add(JointKind::Spherical, "hook", tip, builder.bodyMarker("drop", body));
  const auto model = builder.build();
  const auto drift = [&](double h) {
    LieGroupVariational motion(*model, {.duration = 1, .step = h});
    motion.start();
    const double energy = model->energy(motion.state()).total();
    double worst = 0;
    while (!motion.finished()) {
      motion.advance();
      worst = std::max(worst, std::abs(model->energy(motion.state()).total() - energy));
    }
    return worst;
  };
  EXPECT_NEAR(std::log2(drift(1e-2) / drift(5e-3)), 2, 0.3);
}

TEST(VariationalSheets, GoOnFromWhereTheyWereSaved) {
  ModelBuilder builder;
  addShell(builder, "leaf", sheet());
  const auto model = builder.build();
  LieGroupVariational first(*model, {.duration = 0.1, .step = 5e-3}), second(*model, {.duration = 0.1, .step = 5e-3});
  first.start();
  for (int i = 0; i < 7; ++i) first.advance();
  second.restore(first.save());
  while (!first.finished()) first.advance();
  while (!second.finished()) second.advance();
  EXPECT_EQ(first.state().q, second.state().q);
  EXPECT_EQ(first.state().v, second.state().v);
}

}
}
