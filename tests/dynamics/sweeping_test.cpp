#include "tendril/dynamics/sweeping.h"

#include "contact_closed_forms.h"
#include "dynamics/contact_rig.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tendril::test {
namespace {

GroundMotion along(int axis, double speed, double acceleration = 0) {
  GroundMotion motion;
  motion.translation[std::size_t(axis)] = {"push", [=](double t) {
                                             return Jet{speed * t + 0.5 * acceleration * t * t, speed + acceleration * t, acceleration};
                                           }};
  return motion;
}

void run(Sweeping& analysis) {
  analysis.start();
  while (!analysis.finished()) analysis.advance();
}

// Phi = {x >= c t}: the body waits until the wall comes, and goes with it.
TEST(Sweeping, WallTakesABodyAlong) {
  const double r = 0.05;
  ContactRig rig({0, 0, 0});
  rig.part("wall", rig.builder.movingGround({frameWithNormal({1, 0, 0}), Vector3::Zero()}, along(0, 1)),
           ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  rig.sphere("ball", 2, r, {0.3 + r, 0, 0});
  rig.law({.friction = 0.5});
  Sweeping analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.07});
  analysis.start();
  while (!analysis.finished()) {
    const double x = ContactRig::position(analysis.state()).x();
    const StepReport& step = analysis.advance();
    const double now = ContactRig::position(analysis.state()).x();
    EXPECT_NEAR(now, std::max(0.3, step.t) + r, 1e-12);
    EXPECT_NEAR(ContactRig::velocity(analysis.state()).x(), (now - x) / step.h, 1e-12);
    EXPECT_LE(analysis.contacts()->penetration, 1e-12);
  }
  EXPECT_DOUBLE_EQ(analysis.state().t, 1);
}

/// Error at t = 1 of a small body in a moving round room, whose centre follows a tractrix.
double tractrixError(Shape::Kind kind, double h) {
  const oracles::Tractrix exact;
  const double r = 0.01;
  ContactRig rig({0, 0, 0});
  Shape room = ContactRig::shape(kind, {1 + r, 0, 0});
  room.hollow = true;
  rig.part("room", rig.builder.movingGround({}, along(0, 1)), room);
  const Vector3 start(std::cos(2), std::sin(2), 0);
  if (kind == Shape::Kind::Disc)
    rig.disc("point", 1, r, start);
  else
    rig.sphere("point", 1, r, start);
  rig.law({});
  Sweeping analysis(rig.build(), rig.contacts, {.duration = 1, .step = h});
  run(analysis);
  return (ContactRig::position(analysis.state()).head<2>() - exact.position(1)).norm();
}

TEST(Sweeping, RoundRoomDrawsATractrix) {
  for (const Shape::Kind kind : {Shape::Kind::Sphere, Shape::Kind::Disc}) {
    const double e1 = tractrixError(kind, 0.1), e2 = tractrixError(kind, 0.01), e3 = tractrixError(kind, 0.001);
    EXPECT_NEAR(e1, 1.51e-2, 0.01e-2); // of the catching-up algorithm itself
    EXPECT_NEAR(e2, 1.58e-3, 0.01e-3);
    EXPECT_NEAR(e3, 1.59e-4, 0.01e-4);
    EXPECT_NEAR(std::log10(e1 / e2), 1, 0.05);
    EXPECT_NEAR(std::log10(e2 / e3), 1, 0.05);
  }
}

// The metric is that of the masses: a rod pushed off its centre turns about the point that the push leaves at rest.
TEST(Sweeping, PushedRodMovesByTheMetricOfItsMasses) {
  const double d = 1e-4, arm = 0.4, mass = 3, inertia = 0.5, r = 0.01;
  ContactRig rig({0, 0, 0});
  rig.part("finger", rig.builder.movingGround({Matrix3::Identity(), {arm, -r - 0.05, 0}}, along(1, d)),
           ContactRig::shape(Shape::Kind::Disc, {r, 0, 0}));
  rig.add("rod", ContactRig::flat(mass, inertia), ContactRig::rectangle(0.5, 0.05), {});
  rig.law({});
  Sweeping analysis(rig.build(), rig.contacts, {.duration = 1, .step = 1});
  run(analysis);
  const double w = 1 / mass + arm * arm / inertia, impulse = d / w;
  EXPECT_NEAR(ContactRig::position(analysis.state()).y(), impulse / mass, 1e-3 * d);
  EXPECT_NEAR(so3::log(ContactRig::rotation(analysis.state()))[2], impulse * arm / inertia, 1e-3 * d);
}

TEST(Sweeping, RowOfBallsIsPushedTogether) {
  const double r = 0.1;
  ContactRig rig({0, 0, 0});
  rig.part("wall", rig.builder.movingGround({frameWithNormal({1, 0, 0}), Vector3::Zero()}, along(0, 1)),
           ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  for (int i = 0; i < 4; ++i) rig.sphere("ball " + std::to_string(i), 1 + 3 * i, r, {0.2 + 0.3 * i, 0, 0});
  rig.law({});
  Sweeping analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.05});
  run(analysis);
  double front = 1;
  for (int i = 0; i < 4; ++i) {
    const double x = std::max(front + r, 0.2 + 0.3 * i);
    EXPECT_NEAR(ContactRig::position(analysis.state(), i).x(), x, 1e-11);
    front = x + r;
  }
}

TEST(Sweeping, JointsHoldWhileAWallPushes) {
  // A crank on a hinge, pushed by a wall at its tip: x_tip = cos(phi) - follows the wall.
  const double r = 0.05;
  ContactRig rig({0, 0, 0});
  rig.part("wall", rig.builder.movingGround({frameWithNormal({-1, 0, 0}), {0.6 + r, 0, 0}}, along(0, -0.5)),
           ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  const Vector3 tip(0.6, 0.8, 0);
  const auto bob = rig.sphere("bob", 1, r, tip);
  rig.builder.joint(JointKind::Revolute, "hinge", rig.builder.ground(), bob.at({Matrix3::Identity(), -tip}));
  rig.law({});
  Sweeping analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.1});
  run(analysis);
  const Vector3 x = ContactRig::position(analysis.state());
  EXPECT_NEAR(x.x(), 0.1, 1e-12);
  EXPECT_NEAR(x.norm(), 1, 1e-12);
}

TEST(Sweeping, CaughtBodyAndOverlapAtTheStartAreRefused) {
  const auto build = [](ContactRig& rig, double gap) {
    rig.part("left", rig.builder.movingGround({frameWithNormal({1, 0, 0}), Vector3::Zero()}, along(0, 1)),
             ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
    rig.wall("right", {-1, 0, 0}, {0.4, 0, 0});
    rig.sphere("ball", 1, 0.1, {0.1 + gap, 0, 0});
    rig.law({});
  };
  ContactRig caught({0, 0, 0});
  build(caught, 0.1);
  Sweeping analysis(caught.build(), caught.contacts, {.duration = 1, .step = 0.1});
  EXPECT_THROW(run(analysis), NumericalFailure);
  EXPECT_NEAR(analysis.state().t, 0.3, 0.11);
  ContactRig overlap({0, 0, 0});
  build(overlap, -0.01);
  const Model& model = overlap.build();
  Sweeping refused(model, overlap.contacts, {});
  EXPECT_THROW(refused.start(), InputError);
  Sweeping projected(model, overlap.contacts, {.projectInitial = true});
  projected.start();
  EXPECT_NEAR(ContactRig::position(projected.state()).x(), 0.1, 1e-12);
}

TEST(Sweeping, ResumedRunIsTheSameBitByBit) {
  const auto build = [](ContactRig& rig) {
    Shape room = ContactRig::shape(Shape::Kind::Sphere, {1, 0, 0});
    room.hollow = true;
    rig.part("room", rig.builder.movingGround({}, along(0, 1, 0.3)), room);
    rig.sphere("ball", 1, 0.1, {-0.5, 0.6, 0.3});
    rig.law({});
  };
  ContactRig a({0, 0, 0}), b({0, 0, 0});
  build(a), build(b);
  Sweeping whole(a.build(), a.contacts, {.duration = 1, .step = 0.01}), resumed(b.build(), b.contacts, {.duration = 1, .step = 0.01});
  whole.start();
  for (int i = 0; i < 40; ++i) whole.advance();
  resumed.restore(whole.save());
  while (!whole.finished()) whole.advance(), resumed.advance();
  EXPECT_TRUE(resumed.finished());
  EXPECT_EQ(whole.state().q, resumed.state().q);
}

}
}
