#include "tendril/model/attached_frames.h"

#include "support/hinge_chain.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/dynamics/initial_conditions.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/elements/loads.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/statics/load_stepping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

namespace tendril::test {
namespace {

constexpr double length = 0.8, gravity = 9.81, mass = 1.7;

/// A bob on an arm whose angle is a coordinate: all inertia sits on a frame that follows it.
///
///     theta'' = -(g/L) cos(theta) - k theta / (m L^2),     theta from the horizontal.
struct Pendulum {
  explicit Pendulum(double angle, double speed = 0, double inertia = 0, double stiffness = 0) {
    builder.setGravity({{0, -gravity, 0}, TimeFunction::constant()});
    const int angles = builder.addVector("hinge", VectorX::Constant(1, angle), VectorX::Constant(1, speed));
    if (inertia > 0 || stiffness > 0) builder.term<CoordinateSprings>().add(angles, inertia, stiffness);
    frame = attachFrame(
        builder, "arm", -1,
        std::make_unique<HingeChain>(builder, -1, angles, std::vector{screw(0, 0, 0, 0, 0, 1)}, Pose{Matrix3::Identity(), {length, 0, 0}}));
    tip = &builder.bodyMarker("tip", frame);
    builder.term<PointMasses>().add("bob", *tip, mass);
  }
  void build() { model = builder.build(); }

  ModelBuilder builder;
  int frame = -1;
  const Marker* tip = nullptr;
  std::unique_ptr<const Model> model;
};

/// The angle at the time T by Runge and Kutta's method in very small steps.
double angleAfter(double T, double theta, double inertia) {
  const double torque = mass * gravity * length / (mass * length * length + inertia);
  const auto a = [torque](double angle) { return -torque * std::cos(angle); };
  const int n = 20000;
  const double h = T / n;
  double v = 0;
  for (int i = 0; i < n; ++i) {
    const double k1 = v, l1 = a(theta), k2 = v + h / 2 * l1, l2 = a(theta + h / 2 * k1);
    const double k3 = v + h / 2 * l2, l3 = a(theta + h / 2 * k2), k4 = v + h * l3, l4 = a(theta + h * k3);
    theta += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
  }
  return theta;
}

}

TEST(AttachedFramesInMotion, AccelerateWhatTheyFollowThoughTheyHaveNoInertia) {
  Pendulum p(0.3, 0.7);
  p.build();
  KktSystem kkt(*p.model, {}, Redundancy::Share);
  State state = p.model->initialState();
  EXPECT_TRUE(makeConsistent(kkt, state).empty());
  EXPECT_NEAR(state.a[0], -gravity / length * std::cos(0.3), 1e-11);
  // The tie turns the arm with the force that the bob lacks: m (x'' - g), here along d1 the tension of the arm.
  EXPECT_NEAR(state.lambda[0], mass * (length * 0.49 - gravity * std::sin(0.3)), 1e-10);
  EXPECT_NEAR(state.lambda[1], 0, 1e-10);
}

TEST(AttachedFramesInMotion, SwingWithGeneralizedAlphaInSecondOrder) {
  const double T = 1.2, inertia = 0.3, exact = angleAfter(T, -0.3, inertia);
  double error[2];
  for (int i = 0; i < 2; ++i) {
    Pendulum p(-0.3, 0, inertia);
    p.build();
    GeneralizedAlpha analysis(*p.model, {.duration = T, .step = 0.01 / (i + 1), .rhoInfinity = 0.8});
    analysis.start();
    while (!analysis.finished()) analysis.advance();
    error[i] = std::abs(analysis.state().q[0] - exact);
    const Pose H = p.tip->frame(analysis.state());
    EXPECT_NEAR(std::atan2(H.x[1], H.x[0]), std::remainder(analysis.state().q[0], 2 * M_PI), 1e-9);
  }
  EXPECT_LT(error[0], 2e-3);
  EXPECT_NEAR(error[0] / error[1], 4, 0.5);
}

TEST(AttachedFramesInMotion, FindTheEquilibriumOfASpring) {
  const double k = 30;
  Pendulum p(0, 0, 0, k);
  p.builder.setGravity({{0, -gravity, 0}, TimeFunction::proportional()});
  p.build();
  LoadStepping analysis(*p.model, {.steps = 4});
  analysis.start();
  while (!analysis.finished()) analysis.advance();
  const double theta = analysis.state().q[0];
  EXPECT_LT(theta, -0.3);
  EXPECT_NEAR(k * theta, -mass * gravity * length * std::cos(theta), 1e-7 * k);
}

/// The bob falls onto the floor: with e = 1 it comes back to where it started, with e = 0 it stays on the floor.
class AttachedFramesOnAFloor : public ::testing::TestWithParam<double> {};

TEST_P(AttachedFramesOnAFloor, Bounce) {
  const double e = GetParam(), radius = 0.05, start = 0.6;
  Pendulum p(start, 0, 0.01);
  const Marker& floor = p.builder.groundMarker("floor", {so3::exp(Vector3(-M_PI / 2, 0, 0)), {0, -radius, 0}});
  p.build();
  Shape ball, plane;
  ball.kind = Shape::Kind::Sphere, ball.size = Vector3(radius, 0, 0);
  plane.kind = Shape::Kind::HalfSpace;
  ContactModel contacts;
  contacts.addPart({"floor", "", &floor, {CollisionShape(plane, "floor")}});
  contacts.addPart({"bob", "", p.tip, {CollisionShape(ball, "bob")}});
  contacts.addLaw({"floor", "bob", ContactLaw{.restitution = e}});
  const double h = 1e-4;
  Moreau analysis(*p.model, contacts, {.duration = 0.7, .step = h});
  analysis.start();
  const double energy = p.model->energy(analysis.state()).total();
  double lowest = 1, fastest = 0, highestAfter = -1;
  bool isBack = false;
  while (!analysis.finished()) {
    analysis.advance();
    const State& state = analysis.state();
    lowest = std::min(lowest, state.q[0]);
    fastest = std::max(fastest, -state.v[0]);
    if (state.v[0] > 0.1) isBack = true;
    if (isBack) highestAfter = std::max(highestAfter, state.q[0]);
  }
  EXPECT_GT(lowest * length, -2 * h * fastest * length); // no deeper than one step of the fall
  EXPECT_GT(fastest, 3);
  if (e == 1) {
    EXPECT_NEAR(highestAfter, start, 2e-3);
    EXPECT_NEAR(p.model->energy(analysis.state()).total(), energy, 1e-3 * mass * gravity * length);
  } else {
    EXPECT_FALSE(isBack);
    EXPECT_NEAR(analysis.state().v[0], 0, 1e-9);
    EXPECT_NEAR(analysis.state().q[0], 0, 2 * h * fastest);
  }
}

INSTANTIATE_TEST_SUITE_P(Restitution, AttachedFramesOnAFloor, ::testing::Values(0.0, 1.0));

}
