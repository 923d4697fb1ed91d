#include "tendril/dynamics/lie_group_variational.h"

#include "heavy_top_mechanism.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tendril::test {
namespace {

/// Two rods with an eccentric centre of mass each, hinged to the ground and to one another, with a spring and a damper between them.
Mechanism doublePendulum(double damping) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const Matrix3 tilt = so3::exp(Vector3(0.3, -0.2, 0.5));
  const MassProperties mass{1.3, Vector3(0.4, 0.1, -0.05), Vector3(0.02, 0.15, 0.14).asDiagonal()};
  const Pose first{tilt, Vector3(0.1, 0.2, 0.3)}, second = first * Pose{so3::exp(Vector3(0, 0.4, 0)), Vector3(0.8, 0, 0)};
  const auto upper = b.body("upper", mass, first), lower = b.body("lower", mass, second);
  b.joint(JointKind::Revolute, "hinge", b.ground(first), upper.at());
  b.joint(JointKind::Spherical, "link", upper.at({Matrix3::Identity(), Vector3(0.8, 0, 0)}), lower.at());
  b.model().term<LinearSprings>().add("spring", b.ground({Matrix3::Identity(), Vector3(1, 1, 0)}), lower.at(),
                                      {.stiffness = 40, .damping = damping, .rest = 0.3});
  return b.build();
}

template <class Integrator, class Options> State run(const Mechanism& m, const Options& options) {
  Integrator integrator(*m.model, options);
  integrator.start();
  while (!integrator.finished()) integrator.advance();
  return integrator.state();
}

Vector3 position(const State& s) { return s.q.segment<3>(0); }

TEST(LieGroupVariational, HeavyTopConvergesToTheIndependentSolution) {
  const Mechanism m = heavyTop();
  const Vector3 reference = oracles::heavyTop(0.2).position;
  std::array<double, 3> errors;
  for (int i = 0; i < 3; ++i) {
    const LieGroupVariationalOptions options{.duration = 0.2, .step = 4e-4 / (1 << i)};
    errors[i] = (position(run<LieGroupVariational>(m, options)) - reference).norm();
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.1);
  EXPECT_LT(errors[2], 1e-3);
}

TEST(LieGroupVariational, SecondOrderInPositionsVelocitiesAndMultipliers) {
  for (double damping : {0.0, 2.0}) {
    SCOPED_TRACE(damping);
    const Mechanism m = doublePendulum(damping);
    std::array<State, 4> ends;
    for (int i = 0; i < 4; ++i) ends[i] = run<LieGroupVariational>(m, LieGroupVariationalOptions{.duration = 1, .step = 0.005 / (1 << i)});
    const auto order = [&](auto part) {
      return std::log2((part(ends[1]) - part(ends[2])).norm() / (part(ends[2]) - part(ends[3])).norm());
    };
    EXPECT_NEAR(order([](const State& s) -> VectorX { return s.q; }), 2, 0.1);
    EXPECT_NEAR(order([](const State& s) -> VectorX { return s.v; }), 2, 0.1);
    EXPECT_NEAR(order([](const State& s) -> VectorX { return s.lambda; }), 2, 0.1);
  }
}

TEST(LieGroupVariational, ComesToTheMotionOfGeneralizedAlpha) {
  const Mechanism m = doublePendulum(1.0);
  std::array<double, 2> apart, velocity, force;
  for (int i = 0; i < 2; ++i) {
    const double h = 4e-3 / (1 << i);
    const State a = run<LieGroupVariational>(m, LieGroupVariationalOptions{.duration = 1, .step = h});
    const State b = run<GeneralizedAlpha>(m, GeneralizedAlphaOptions{.duration = 1, .step = h, .rhoInfinity = 0.9});
    apart[i] = (a.q - b.q).norm(), velocity[i] = (a.v - b.v).norm(), force[i] = (a.lambda - b.lambda).norm() / b.lambda.norm();
  }
  EXPECT_LT(apart[1], 5e-3);
  EXPECT_NEAR(std::log2(apart[0] / apart[1]), 2, 0.2);
  EXPECT_NEAR(std::log2(velocity[0] / velocity[1]), 2, 0.2);
  EXPECT_NEAR(std::log2(force[0] / force[1]), 2, 0.2);
  EXPECT_LT(force[1], 1e-2);
}

/// Momentum maps, from the momenta in the frames of the blocks: sum R p and sum x x R p + R pi.
TEST(LieGroupVariational, FreeBeamAndBodyKeepTheirMomenta) {
  const auto section = SectionProperties::of(Section::circle(0.02), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1000});
  MechanismBuilder b;
  const auto rod =
      b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 6, .velocity = {1, 2, 3}, .angularVelocity = {0, 3, 1}});
  const Vector3 start(1, 2, 3), spin(0, 3, 1), place(1, 0, 0);
  const MassProperties mass{0.4, Vector3(0.1, 0, 0.05), Vector3(0.01, 0.02, 0.025).asDiagonal()};
  const auto body = b.body("bob", mass, {Matrix3::Identity(), place}, start + spin.cross(place), spin);
  b.joint(JointKind::Revolute, "hinge", rod.end(), body.at());
  const Mechanism m = b.build();
  LieGroupVariational integrator(*m.model, {.duration = 0.2, .step = 1e-3});
  integrator.start();
  integrator.advance();
  const Momentum before = integrator.momentum();
  while (!integrator.finished()) integrator.advance();
  const Momentum after = integrator.momentum();
  EXPECT_LT((after.linear - before.linear).norm(), 1e-12 * before.linear.norm());
  EXPECT_LT((after.angular - before.angular).norm(), 1e-12 * before.angular.norm());
}

TEST(LieGroupVariational, EnergyHasNoDrift) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const Pose start{so3::exp(Vector3(0.3, -0.2, 0.5)), Vector3(0.1, 0.2, 0.3)};
  const auto rod = b.body("rod", {1.3, Vector3(0.4, 0.1, -0.05), Vector3(0.02, 0.15, 0.14).asDiagonal()}, start);
  b.joint(JointKind::Revolute, "hinge", b.ground(start), rod.at());
  const Mechanism m = b.build(); // its motion is periodic
  double first = 0;
  for (int i = 0; i < 2; ++i) {
    LieGroupVariational integrator(*m.model, {.duration = 10, .step = 4e-3 / (1 << i)});
    integrator.start();
    const double initial = m.model->energy(integrator.state()).total();
    double early = 0, late = 0;
    while (!integrator.finished()) {
      integrator.advance();
      const double error = std::abs(m.model->energy(integrator.state()).total() - initial);
      double& worst = integrator.progress() < 0.5 ? early : late;
      worst = std::max(worst, error);
    }
    EXPECT_LT(late, 1.02 * early);
    if (i == 0) first = early;
    if (i == 1) {
      EXPECT_NEAR(std::log2(first / early), 2, 0.3);
    }
  }
}

TEST(LieGroupVariational, GoesOnFromASnapshotToTheBit) {
  const Mechanism m = doublePendulum(0.5);
  const LieGroupVariationalOptions options{.duration = 0.2, .step = 1e-3};
  LieGroupVariational whole(*m.model, options), resumed(*m.model, options);
  whole.start();
  for (int i = 0; i < 50; ++i) whole.advance();
  resumed.restore(whole.save());
  while (!whole.finished()) whole.advance();
  while (!resumed.finished()) resumed.advance();
  EXPECT_EQ(whole.state().q, resumed.state().q);
  EXPECT_EQ(whole.state().v, resumed.state().v);
  EXPECT_EQ(whole.state().lambda, resumed.state().lambda);
}

TEST(LieGroupVariational, RefusesWhatIsNoDuration) {
  const Mechanism m = heavyTop();
  EXPECT_THROW(LieGroupVariational(*m.model, {.duration = 0}), InputError);
  EXPECT_THROW(LieGroupVariational(*m.model, {.duration = 1, .step = -1}), InputError);
}

}
}
