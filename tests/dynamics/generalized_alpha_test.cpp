#include "tendril/dynamics/generalized_alpha.h"

#include "heavy_top_mechanism.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace tendril::test {
namespace {

/// A pendulum of a rod and a bob on a hinge that is not aligned with any axis, with a spring: all of q, v and lambda are busy.
Mechanism pendulum() {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const Matrix3 tilt = so3::exp(Vector3(0.3, -0.2, 0.5));
  const MassProperties mass{1.3, Vector3(0.4, 0.1, -0.05), Vector3(0.02, 0.15, 0.14).asDiagonal()};
  const auto rod = b.body("rod", mass, {tilt, Vector3(0.1, 0.2, 0.3)});
  b.joint(JointKind::Revolute, "hinge", b.ground({tilt, Vector3(0.1, 0.2, 0.3)}), rod.at());
  return b.build();
}

State run(const Mechanism& m, const GeneralizedAlphaOptions& options) {
  GeneralizedAlpha integrator(*m.model, options);
  integrator.start();
  while (!integrator.finished()) integrator.advance();
  return integrator.state();
}

Vector3 position(const State& s, int block = 0) { return s.q.segment<3>(12 * block); }

TEST(GeneralizedAlpha, HeavyTopConvergesToTheIndependentSolution) {
  const Mechanism m = heavyTop();
  const Vector3 reference = oracles::heavyTop(0.2).position;
  std::array<double, 3> errors;
  for (int i = 0; i < 3; ++i) {
    errors[i] = (position(run(m, {.duration = 0.2, .step = 4e-4 / (1 << i), .rhoInfinity = 0.9})) - reference).norm();
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.1);
  EXPECT_LT(errors[2], 1e-3);
}

TEST(GeneralizedAlpha, SecondOrderInPositionsVelocitiesAndMultipliers) {
  const Mechanism m = pendulum();
  for (double rho : {0.0, 0.6, 0.9}) {
    SCOPED_TRACE(rho);
    std::array<State, 4> ends;
    for (int i = 0; i < 4; ++i)
      ends[i] = run(m, {.duration = 1, .step = 0.005 / (1 << i), .rhoInfinity = rho, .tolerances = {1e-11, 1e-13}});
    const auto order = [&](auto part) {
      return std::log2((part(ends[1]) - part(ends[2])).norm() / (part(ends[2]) - part(ends[3])).norm());
    };
    EXPECT_NEAR(order([](const State& s) -> VectorX { return s.q; }), 2, 0.1);
    EXPECT_NEAR(order([](const State& s) -> VectorX { return s.v; }), 2, 0.1);
    EXPECT_NEAR(order([](const State& s) -> VectorX { return s.lambda; }), 2, 0.1);
  }
}

TEST(GeneralizedAlpha, EnergyOfAnUndampedPendulumStaysBounded) {
  const Mechanism m = pendulum();
  GeneralizedAlpha integrator(*m.model, {.duration = 10, .step = 1e-3, .rhoInfinity = 0.99});
  integrator.start();
  const double initial = m.model->energy(integrator.state()).total();
  const double scale = 1.3 * 9.81 * 0.4;
  double worst = 0;
  while (!integrator.finished()) {
    integrator.advance();
    worst = std::max(worst, std::abs(m.model->energy(integrator.state()).total() - initial));
  }
  EXPECT_LT(worst, 1e-5 * scale);
}

// Linear momentum is kept to solver tolerance. Angular momentum is a quadratic invariant in the inertial frame, which the method keeps to
// second order of the step.
TEST(GeneralizedAlpha, FreeBeamKeepsItsMomenta) {
  for (BeamModel model : {BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff}) {
    SCOPED_TRACE(int(model));
    const auto section = SectionProperties::of(Section::circle(0.02), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1000});
    MechanismBuilder b;
    b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), section,
           {.elements = 8, .model = model, .velocity = {1, 2, 3}, .angularVelocity = {0, 3, 1}});
    const Mechanism m = b.build();
    std::array<double, 2> drift;
    for (int i = 0; i < 2; ++i) {
      GeneralizedAlpha integrator(*m.model, {.duration = 0.2, .step = 1e-3 / (1 << i), .rhoInfinity = 0.9, .tolerances = {1e-11, 1e-12}});
      integrator.start();
      const Momentum before = m.model->momentum(integrator.state());
      while (!integrator.finished()) integrator.advance();
      const Momentum after = m.model->momentum(integrator.state());
      EXPECT_LT((after.linear - before.linear).norm(), 1e-6 * before.linear.norm());
      drift[i] = (after.angular - before.angular).norm() / before.angular.norm();
    }
    EXPECT_LT(drift[0], 1e-5);
    EXPECT_NEAR(std::log2(drift[0] / drift[1]), 2, 0.2);
  }
}

TEST(GeneralizedAlpha, ErrorControlReachesTheEndWithinItsTolerance) {
  const Mechanism m = pendulum();
  const State fine = run(m, {.duration = 2, .step = 1e-4, .rhoInfinity = 0.9});
  double coarseError = 0;
  for (double tolerance : {1e-5, 1e-7}) {
    const State end = run(m, {.duration = 2, .step = 1e-2, .rhoInfinity = 0.9, .errorTolerance = tolerance});
    EXPECT_DOUBLE_EQ(end.t, 2);
    const double error = (end.q - fine.q).norm();
    if (tolerance == 1e-5)
      coarseError = error;
    else
      EXPECT_LT(error, 0.2 * coarseError);
  }
  EXPECT_LT(coarseError, 1e-2);
}

/// A beam at rest whose end moves at v from the start, with dampers that act 10^4 times faster than a step: nothing moves faster than the
/// end, and after a few steps all of it stretches evenly.
TEST(GeneralizedAlpha, AJumpOfVelocityAgainstStiffDampersIsNoShock) {
  const double v = 0.01;
  const auto section =
      SectionProperties::of(Section::circle(1e-3), {.youngsModulus = 5e9, .poissonRatio = 0.3, .density = 1100, .dampingTime = 1e-3});
  MechanismBuilder b;
  const auto beam = b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 12});
  b.clamp("root", beam.start());
  Matrix3 alongX; // third axis
  alongX << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  const Matrix3 inSection = beam.end().frame(b.model().state()).R.transpose() * alongX;
  b.joint(JointKind::DrivenTranslation, "drive", b.ground({alongX, Vector3(1, 0, 0)}), beam.end({inSection, Vector3::Zero()}),
          {.motion = {"pull", [=](double t) {
                        return Jet{v * t, v, 0};
                      }}});
  const Mechanism m = b.build();
  for (double rho : {0.0, 0.6, 0.9}) {
    SCOPED_TRACE(rho);
    GeneralizedAlpha integrator(*m.model, {.duration = 0.02, .step = 1e-3, .rhoInfinity = rho});
    integrator.start();
    double fastest = 0;
    while (!integrator.finished()) {
      integrator.advance();
      for (int node = 0; node <= 12; ++node) {
        const int at = m.model->blocks()[std::size_t(m.beams[0].nodes[std::size_t(node)])].v;
        fastest = std::max(fastest, integrator.state().v.segment<3>(at).norm());
      }
    }
    EXPECT_LT(fastest, 1.5 * v);
  }
}

TEST(GeneralizedAlpha, InconsistentStartIsProjectedAndTold) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const auto rod = b.body("rod", {1, Vector3::Zero(), Vector3(0.01, 0.1, 0.1).asDiagonal()}, {Matrix3::Identity(), {0.5, 0, 0}},
                          {0.3, 0, 1}, {0, 0, 0.5});
  b.joint(JointKind::Revolute, "hinge", b.ground({so3::exp(Vector3(std::numbers::pi / 2, 0, 0)), {0, 0, 0}}),
          rod.at({so3::exp(Vector3(std::numbers::pi / 2, 0, 0)), {-0.5, 0, 0}}));
  const Mechanism m = b.build();
  GeneralizedAlpha integrator(*m.model, {.duration = 0.1, .step = 1e-2});
  integrator.start();
  ASSERT_EQ(integrator.messages().size(), 1u);
  EXPECT_NE(integrator.messages()[0].find("initial velocities"), std::string::npos);
  // Rotation about y alone is left: (0, w, 0) and the velocity (0, 0, -w/2).
  const VectorX& v = integrator.state().v;
  EXPECT_NEAR(v[0], 0, 1e-12);
  EXPECT_NEAR(v[5], 0, 1e-12);
  EXPECT_NEAR(v[2], -0.5 * v[4], 1e-12);
}

}
}
