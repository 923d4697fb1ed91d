#include "tendril/dynamics/variational.h"

#include "heavy_top.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/model/error.h"
#include "variational_scenes.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tendril::test {
namespace {

constexpr std::array eliminations{Elimination::Multipliers, Elimination::NullSpace, Elimination::Reduced};

Vector3 place(const State& s, int block) { return s.q.segment<3>(12 * block); }

/// Visits every node, the first included.
template <class Visit> void follow(VariationalIntegrator& path, Visit visit) {
  path.start();
  visit();
  while (!path.finished()) {
    path.advance();
    visit();
  }
}

State endOf(const Mechanism& m, const VariationalOptions& options) {
  VariationalIntegrator path(*m.model, options);
  follow(path, [] {});
  return path.state();
}

struct Range {
  double low = 1e300, high = -1e300;
  void add(double x) { low = std::min(low, x), high = std::max(high, x); }
};

// ---- the mathematical pendulum: Leyendecker 2011, 3.3
// ------------------------------------------------------------------------------------

TEST(Variational, PendulumWithoutWeightIsTheClosedForm) {
  const double h = 0.1, lambda = 2 * (1 - std::sqrt(1 - h * h)) / (h * h);
  const Mechanism m = pendulum(Vector3::Zero(), {0, 1, 0});
  for (Elimination elimination : eliminations) {
    SCOPED_TRACE(int(elimination));
    VariationalIntegrator path(*m.model, {.duration = 10, .step = h, .elimination = elimination});
    double angle = 0;
    follow(path, [&] {
      const State& s = path.state();
      const DiscreteNode& node = path.node();
      const Vector3 x = place(s, 0);
      EXPECT_NEAR(x[0], std::cos(angle), 1e-12);
      EXPECT_NEAR(x[1], std::sin(angle), 1e-12);
      EXPECT_NEAR(node.multipliers.tail<1>()[0], lambda, 1e-10);
      EXPECT_NEAR(s.lambda[0], -lambda, 1e-10);
      EXPECT_NEAR(node.hamiltonian, 0.5, 1e-12);
      EXPECT_NEAR(node.momentumHamiltonian, 0.5, 1e-12);
      EXPECT_NEAR(node.intervalEnergy, (1 - std::sqrt(1 - h * h)) / (h * h), 1e-12);
      EXPECT_LT(node.closure, 1e-13);
      EXPECT_LT(node.hiddenConstraint, 1e-13);
      EXPECT_LT(std::abs(x.dot(s.v.head<3>())), 1e-12); // p is tangent at the node
      angle += std::asin(h);
    });
  }
}

/// The increment is tangent halfway also where steps are long.
TEST(Variational, LongStepsOfThePendulumStayOnTheCircle) {
  const double h = 0.8;
  const Mechanism m = pendulum(Vector3::Zero(), {0, 1, 0});
  VariationalIntegrator path(*m.model, {.duration = 8, .step = h});
  Vector3 before = Vector3::Zero();
  follow(path, [&] {
    const Vector3 x = place(path.state(), 0);
    if (!before.isZero()) {
      EXPECT_LT(std::abs((x - before).dot(x + before)) / 2, 1e-13);
      EXPECT_NEAR((x - before).norm(), 2 * std::sin(std::asin(h) / 2), 1e-12);
    }
    before = x;
  });
}

struct FallingPendulum {
  Range intervalEnergy, full, projected, lambda;
  double hidden = 0, hiddenProjected = 0, velocityLevel = 0;
};

FallingPendulum fallingPendulum(double h, Elimination elimination) {
  FallingPendulum r;
  const Mechanism m = pendulum({0, -9.81, 0}, Vector3::Zero());
  VariationalIntegrator path(*m.model, {.duration = 10, .step = h, .elimination = elimination});
  Vector3 before = Vector3::Zero();
  follow(path, [&] {
    const DiscreteNode& node = path.node();
    const Vector3 x = place(path.state(), 0);
    if (!path.finished()) r.intervalEnergy.add(node.intervalEnergy);
    r.full.add(node.momentumHamiltonian), r.projected.add(node.hamiltonian), r.lambda.add(node.multipliers.tail<1>()[0]);
    r.hidden = std::max(r.hidden, node.hiddenConstraint);
    const Vector3 velocity = loadPose(path.state().q.data()).R * path.state().v.head<3>();
    r.hiddenProjected = std::max(r.hiddenProjected, std::abs(x.dot(velocity)));
    if (!before.isZero()) r.velocityLevel = std::max(r.velocityLevel, std::abs((x - before).dot(x + before)) / (2 * h));
    before = x;
  });
  return r;
}

TEST(Variational, FallingPendulumHasTheEnergiesOfTheTable) {
  for (Elimination elimination : eliminations) {
    SCOPED_TRACE(int(elimination));
    // To 1e-4, or to the digits that are printed.
    const auto near = [](double value, double expected, double lastDigit = 0) {
      EXPECT_NEAR(value, expected, std::max(1e-4 * std::abs(expected), 0.5 * lastDigit));
    };
    const FallingPendulum a = fallingPendulum(0.1, elimination);
    near(a.intervalEnergy.low, -0.12027), near(a.intervalEnergy.high, 0.65495);
    near(a.full.low, -0.36520), near(a.full.high, 5.905e-4, 1e-7);
    near(a.projected.low, -0.36535), near(a.projected.high, 2.166e-5, 1e-8);
    near(a.hidden, 0.14163);
    near(a.lambda.low, 0.24074), near(a.lambda.high, 29.60115);
    EXPECT_LT(a.hiddenProjected, 1e-12);
    EXPECT_LT(a.velocityLevel, 1e-12);
    const FallingPendulum b = fallingPendulum(0.05, elimination);
    near(b.intervalEnergy.low, -0.03007, 1e-5), near(b.intervalEnergy.high, 0.15335);
    near(b.full.low, -0.09060, 1e-5), near(b.full.high, 9.25e-6, 1e-8);
    near(b.projected.low, -0.09060, 1e-5), near(b.projected.high, 3.77e-7, 1e-9);
    near(b.hidden, 0.03410, 1e-5);
  }
}

// ---- the double spherical pendulum: Leyendecker 2011, table 4.1
// ------------------------------------------------------------------------------

struct SphericalRun {
  double speed = 0, momentumError = 0;
  Range intervalEnergy, projected;
  std::vector<Vector6> places, velocities; ///< of the first, and of the second relative to it, at t = 0.1 k
};

SphericalRun sphericalRun(double h, Elimination elimination = Elimination::Reduced) {
  SphericalRun r;
  const Mechanism m = doubleSphericalPendulum();
  VariationalIntegrator path(*m.model, {.duration = 10, .step = h, .elimination = elimination});
  const long every = std::lround(0.1 / h);
  long n = 0;
  Vector6 before;
  follow(path, [&] {
    const State& s = path.state();
    Vector6 u, rate;
    u << place(s, 0), place(s, 1) - place(s, 0);
    const Matrix3 R0 = loadPose(s.q.data()).R, R1 = loadPose(s.q.data() + 12).R;
    rate << R0 * s.v.segment<3>(0), R1 * s.v.segment<3>(6) - R0 * s.v.segment<3>(0);
    if (n > 0) r.speed = std::max(r.speed, (u - before).norm() / h);
    before = u;
    if (n++ % every != 0) return;
    r.momentumError = std::max(r.momentumError, std::abs(path.node().momentum.angular[2] - 22.5));
    r.intervalEnergy.add(path.node().intervalEnergy - 10), r.projected.add(path.node().hamiltonian - 10);
    r.places.push_back(u), r.velocities.push_back(rate);
  });
  return r;
}

TEST(Variational, DoubleSphericalPendulumHasTheDigitsOfTheTable) {
  for (Elimination elimination : eliminations) {
    SCOPED_TRACE(int(elimination));
    const SphericalRun coarse = sphericalRun(1e-1, elimination), fine = sphericalRun(1e-2, elimination);
    EXPECT_NEAR(coarse.speed, 14.437579674951671, 1e-10);
    EXPECT_NEAR(fine.speed, 11.992045771547241, 1e-10);
    EXPECT_LT(coarse.momentumError, 1e-9);
    EXPECT_LT(fine.momentumError, 1e-9);
  }
}

TEST(FullVariational, DoubleSphericalPendulumHasTheDigitsOfTheTableInSmallSteps) {
  const SphericalRun run = sphericalRun(1e-3);
  EXPECT_NEAR(run.speed, 11.979460050283279, 1e-9);
  EXPECT_LT(run.momentumError, 1e-9);
  EXPECT_NEAR(sphericalRun(1e-4).speed, 11.979355188823591, 1e-8);
}

TEST(FullVariational, DoubleSphericalPendulumConvergesAsInTheFigure) {
  // The limit h -> 0, from two runs whose errors are as 4 to 1. The table was made with h = 1e-5, whose own error is below its digits.
  const SphericalRun coarse = sphericalRun(4e-4), fine = sphericalRun(2e-4);
  SphericalRun reference = fine;
  for (std::size_t k = 0; k < fine.places.size(); ++k) {
    reference.places[k] += (fine.places[k] - coarse.places[k]) / 3;
    reference.velocities[k] += (fine.velocities[k] - coarse.velocities[k]) / 3;
  }
  const std::array<std::array<double, 3>, 4> table{
      {{1e-2, 4.336e-2, 2.755e-1}, {5e-3, 1.123e-2, 7.187e-2}, {2e-3, 1.813e-3, 1.163e-2}, {1e-3, 4.539e-4, 2.913e-3}}};
  for (const auto& [h, places, velocities] : table) {
    SCOPED_TRACE(h);
    const SphericalRun run = sphericalRun(h);
    ASSERT_EQ(run.places.size(), 101u);
    double position = 0, velocity = 0;
    for (std::size_t k = 0; k < run.places.size(); ++k) {
      position = std::max(position, (run.places[k] - reference.places[k]).norm());
      velocity = std::max(velocity, (run.velocities[k] - reference.velocities[k]).norm());
    }
    EXPECT_NEAR(position, places, 0.02 * places);
    EXPECT_NEAR(velocity, velocities, 0.02 * velocities);
  }
}

// ---- order
// ---------------------------------------------------------------------------------------------------------------------------------

TEST(Variational, FreeBodyConvergesToEulersEquations) {
  const oracles::HeavyTop data{
      .mass = 1, .inertia = {0.3, 0.5, 0.7}, .centre = {0, 0, 0}, .angularVelocity = {1.5, 0.2, -2}, .gravity = {0, 0, 0}};
  MechanismBuilder b;
  b.body("body", {1, Vector3::Zero(), data.inertia.asDiagonal()}, {}, Vector3::Zero(), data.angularVelocity);
  const Mechanism m = b.build();
  const oracles::TopMotion exact = oracles::heavyTop(2, data, 2000);
  for (Quadrature quadrature : {Quadrature::Midpoint, Quadrature::Trapezoidal}) {
    std::array<double, 3> frame, spin;
    for (int i = 0; i < 3; ++i) {
      const State s = endOf(m, {.duration = 2, .step = 0.01 / (1 << i), .quadrature = quadrature});
      frame[i] = (loadPose(s.q.data()).R - exact.frame).norm(), spin[i] = (s.v.tail<3>() - exact.angularVelocity).norm();
    }
    EXPECT_NEAR(std::log2(frame[1] / frame[2]), 2, 0.05);
    EXPECT_NEAR(std::log2(spin[1] / spin[2]), 2, 0.05);
    EXPECT_LT(frame[2], 1e-3);
  }
}

/// Errors of positions, velocities and multipliers at the end against a run with much smaller steps of another method.
TEST(Variational, AgreesWithGeneralizedAlphaToSecondOrder) {
  for (const Mechanism& m : {chain(2), springPair(true, 0.7), springPair(false)}) {
    GeneralizedAlpha other(*m.model, {.duration = 1, .step = 2.5e-4, .rhoInfinity = 0.95, .tolerances = {1e-10, 1e-12}});
    other.start();
    while (!other.finished()) other.advance();
    for (DirectorScheme scheme : {DirectorScheme::Variational, DirectorScheme::EnergyMomentum}) {
      SCOPED_TRACE(int(scheme));
      std::array<double, 2> q, v;
      for (int i = 0; i < 2; ++i) {
        const State s = endOf(m, {.duration = 1, .step = 8e-3 / (1 << i), .scheme = scheme});
        q[i] = (s.q - other.state().q).norm(), v[i] = (s.v - other.state().v).norm();
      }
      EXPECT_NEAR(std::log2(q[0] / q[1]), 2, 0.15);
      EXPECT_NEAR(std::log2(v[0] / v[1]), 2, 0.15);
      EXPECT_LT(q[1], 1e-2);
    }
  }
}

TEST(Variational, TrapezoidalQuadratureIsOfSecondOrder) {
  const Mechanism m = springPair(true);
  std::array<VectorX, 3> ends;
  for (int i = 0; i < 3; ++i) ends[i] = endOf(m, {.duration = 1, .step = 8e-3 / (1 << i), .quadrature = Quadrature::Trapezoidal}).q;
  EXPECT_NEAR(std::log2((ends[0] - ends[1]).norm() / (ends[1] - ends[2]).norm()), 2, 0.1);
}

TEST(Variational, UnequalStepsAreOfSecondOrder) {
  const Mechanism m = chain(2);
  const State exact = endOf(m, {.duration = 1, .step = 2.5e-4});
  std::array<double, 2> q, lambda;
  for (int i = 0; i < 2; ++i) {
    const int count = 100 << i;
    std::vector<double> steps;
    for (int k = 0; k < count; ++k) steps.push_back((1 + 0.5 * std::sin(11.0 * k)) / count);
    const State s = endOf(m, {.duration = 1, .steps = steps});
    EXPECT_NEAR(s.t, 1, 1e-12);
    q[i] = (s.q - exact.q).norm(), lambda[i] = (s.lambda - exact.lambda).norm() / exact.lambda.norm();
  }
  EXPECT_NEAR(std::log2(q[0] / q[1]), 2, 0.25);
  EXPECT_LT(q[1], 2e-3);
  EXPECT_LT(lambda[1], 2e-2);
}

// ---- how steps are solved
// --------------------------------------------------------------------------------------------------------------------

TEST(Variational, EliminationsGiveOnePath) {
  for (const Mechanism& m : {chain(3), springPair(true, 0.5), fourBar(1.5), doubleSphericalPendulum()}) {
    std::array<State, 3> ends;
    for (int i = 0; i < 3; ++i) ends[i] = endOf(m, {.duration = 0.3, .step = 0.01, .elimination = eliminations[i]});
    for (int i = 1; i < 3; ++i) {
      EXPECT_LT((ends[i].q - ends[0].q).lpNorm<Eigen::Infinity>(), 1e-12);
      EXPECT_LT((ends[i].v - ends[0].v).lpNorm<Eigen::Infinity>(), 1e-10); // differences over the step
    }
  }
}

TEST(Variational, SparseTreeGivesTheSamePath) {
  const Mechanism m = chain(30);
  const State sparse = endOf(m, {.duration = 0.2, .step = 0.01});
  const State full = endOf(m, {.duration = 0.2, .step = 0.01, .elimination = Elimination::Multipliers});
  EXPECT_LT((sparse.q - full.q).lpNorm<Eigen::Infinity>(), 1e-11);
}

TEST(Variational, IterationsDoNotGrowWithTheChain) {
  for (int links : {10, 30, 100, 300}) {
    SCOPED_TRACE(links);
    const Mechanism m = chain(links);
    VariationalIntegrator path(*m.model, {.duration = 0.1, .step = 0.005});
    double iterations = 0;
    path.start();
    while (!path.finished()) iterations += path.advance().iterations;
    EXPECT_LE(iterations / 20, 3.5);
    EXPECT_LE(path.node().closure, 1e-11);
  }
}

TEST(Variational, UnknownsAndConditionsAreThoseOfTheEliminations) {
  const Mechanism m = rodPendulum(0, 1);
  const std::array<int, 3> unknowns{12 + 11, 12, 1};
  for (int i = 0; i < 3; ++i) {
    std::array<VariationalIntegrator::Condition, 2> conditions;
    for (int k = 0; k < 2; ++k) {
      VariationalIntegrator path(*m.model, {.duration = 1, .step = k ? 1e-4 : 1e-2, .elimination = eliminations[i]});
      path.start();
      path.advance();
      EXPECT_EQ(path.node().unknowns, unknowns[i]);
      conditions[k] = path.condition();
    }
    const double growth = conditions[1].raw / conditions[0].raw;
    if (eliminations[i] == Elimination::Multipliers) {
      EXPECT_NEAR(std::log10(growth), 6, 2.1); // h^-2 to h^-3 per decade
    } else if (eliminations[i] == Elimination::Reduced) {
      EXPECT_NEAR(conditions[1].raw, 1, 1e-12);
    }
    EXPECT_NEAR(conditions[1].scaled / conditions[0].scaled, 1, 0.1);
  }
}

// ---- start, failures, resumption
// ----------------------------------------------------------------------------------------------------------------

TEST(Variational, InconsistentStartIsProjectedAndTold) {
  const Mechanism m = pendulum(Vector3::Zero(), {0.5, 1, 0});
  VariationalIntegrator path(*m.model, {.duration = 1, .step = 0.1});
  path.start();
  ASSERT_EQ(path.messages().size(), 1u);
  EXPECT_NE(path.messages()[0].find("initial velocities"), std::string::npos);
  EXPECT_NEAR(path.node().hamiltonian, 0.5, 1e-12);
}

TEST(Variational, StepsBeyondTheFoldAreRefusedByName) {
  MechanismBuilder b;
  b.body("wheel", {1, Vector3::Zero(), Vector3(0.3, 0.3, 0.5).asDiagonal()}, {}, Vector3::Zero(), {0, 0, 30});
  const Mechanism m = b.build();
  for (Elimination elimination : eliminations) {
    VariationalIntegrator path(*m.model, {.duration = 1, .step = 0.1, .elimination = elimination});
    try {
      path.start();
      EXPECT_NEAR(path.state().v[5], 30, 1e-12) << "the start is known all the same";
      path.advance();
      FAIL() << "three radians in a step";
    } catch (const NumericalFailure& failure) {
      EXPECT_NE(std::string(failure.what()).find("wheel"), std::string::npos) << failure.what();
      EXPECT_NE(std::string(failure.what()).find("step 1"), std::string::npos) << failure.what();
    }
  }
}

/// The momentum of a body at 115 degrees a step is beyond the largest that directors have, though Newton's method alone cannot know.
TEST(Variational, SpeedsBeyondTheFoldAreTold) {
  MechanismBuilder b;
  b.body("wheel", {1, Vector3::Zero(), Vector3(0.3, 0.3, 0.5).asDiagonal()}, {}, Vector3::Zero(), {0, 0, 2});
  const Mechanism m = b.build();
  for (Elimination elimination : eliminations) {
    VariationalIntegrator path(*m.model, {.duration = 10, .step = 1, .elimination = elimination});
    path.start();
    try {
      path.advance();
      FAIL() << "two radians in a step";
    } catch (const NumericalFailure& failure) {
      EXPECT_NE(std::string(failure.what()).find("wheel"), std::string::npos) << failure.what();
      EXPECT_NE(std::string(failure.what()).find("fold back at 90"), std::string::npos) << failure.what();
    }
  }
}

/// A drive holds half a turn away, too, and after whole turns: at whatever speed, what is shown follows it or the step is refused.
TEST(Variational, DrivesAreFollowedOrRefused) {
  int followed = 0, refused = 0;
  for (const bool isDrive : {true, false}) {
    for (double speed : {20.0, 60.0, 80.0, 89.0, 100.0, 150.0, 190.0, 280.0, 340.0, 360.0}) { // degrees a step
      const double rate = speed * std::numbers::pi / 180;
      MechanismBuilder b;
      const auto body = b.body("rotor", sphereOf(1, 0.1), {Matrix3::Identity(), {1, 0, 0}});
      const auto& end = body.at({Matrix3::Identity(), {-1, 0, 0}});
      const TimeFunction turning{"turning", [rate](double t) { return Jet{rate * t, rate, 0}; }};
      if (isDrive)
        b.joint(JointKind::DrivenRotation, "drive", b.ground(), end, {.motion = turning});
      else
        b.joint(JointKind::Fixed, "drive", b.movingGround({}, {.angle = turning}), end);
      const Mechanism m = b.build();
      for (Elimination elimination : eliminations) {
        VariationalIntegrator path(*m.model, {.duration = 5, .step = 1, .elimination = elimination});
        path.start();
        try {
          for (int n = 1; n <= 3; ++n) {
            path.advance();
            const Matrix3 R = loadPose(path.state().q.data()).R;
            EXPECT_NEAR((R - so3::exp(Vector3(0, 0, rate * n))).norm(), 0, 1e-9) << speed << " degrees a step";
          }
          EXPECT_LT(speed, 90) << "momenta of a turn beyond the fold";
          ++followed;
        } catch (const NumericalFailure& failure) {
          EXPECT_GT(speed, 90) << failure.what();
          ++refused;
        }
      }
    }
  }
  EXPECT_EQ(followed, 2 * 4 * int(std::size(eliminations)));
  EXPECT_EQ(refused, 2 * 6 * int(std::size(eliminations)));
}

/// The velocity that a drive prescribes is part of what a node shows, at once and in the middle of the motion.
TEST(Variational, DrivenBodiesShowTheirVelocities) {
  MechanismBuilder b;
  const auto body = b.body("body", sphereOf(1, 0.1), {Matrix3::Identity(), {1, 0, 0}});
  b.joint(JointKind::DrivenRotation, "drive", b.ground(), body.at({Matrix3::Identity(), {-1, 0, 0}}),
          {.motion = {"ramp", [](double t) {
                        return Jet{0.2 * t, 0.2, 0};
                      }}});
  const Mechanism m = b.build();
  VariationalIntegrator path(*m.model, {.duration = 0.1, .step = 0.01, .elimination = Elimination::NullSpace});
  path.start();
  while (!path.finished()) {
    path.advance();
    EXPECT_NEAR(path.state().v.head<3>().norm(), 0.2, 1e-9);
    EXPECT_NEAR(path.energy(*m.model).kinetic, 0.5 * (1 + 0.4 * 0.01) * 0.04, 1e-9);
  }
}

/// A body that is held, with and without a joint too many, stays where it is, however its constraints are met.
TEST(Variational, WhatCannotMoveStays) {
  for (const bool isHeldTwice : {false, true}) {
    MechanismBuilder b;
    b.gravity({0, 0, -9.81});
    const auto body = b.body("body", sphereOf(1, 0.1), {Matrix3::Identity(), {1, 0, 0}});
    b.joint(JointKind::Fixed, "weld", b.ground({Matrix3::Identity(), {1, 0, 0}}), body.at());
    if (isHeldTwice) b.joint(JointKind::Distance, "string", b.ground(), body.at());
    const Mechanism m = b.build();
    for (const Elimination elimination : {Elimination::Reduced, Elimination::NullSpace, Elimination::Multipliers}) {
      VariationalIntegrator path(*m.model, {.duration = 0.1, .step = 0.01, .elimination = elimination});
      path.start();
      while (!path.finished()) path.advance();
      EXPECT_LT((path.state().q - m.model->initialState().q).norm(), 1e-13);
      if (elimination == Elimination::Reduced) {
        EXPECT_EQ(path.node().unknowns, 0);
        EXPECT_EQ(path.condition().raw, 1);
      }
    }
  }
}

TEST(Variational, RefusesWhatIsNoDuration) {
  const Mechanism m = pendulum(Vector3::Zero(), {0, 1, 0});
  EXPECT_THROW(VariationalIntegrator(*m.model, {.duration = 0}), InputError);
  EXPECT_THROW(VariationalIntegrator(*m.model, {.duration = 1, .step = -1}), InputError);
  EXPECT_THROW(VariationalIntegrator(*m.model, {.duration = 1, .steps = {0.1, 0}}), InputError);
}

TEST(Variational, GoesOnFromASnapshotToTheBit) {
  for (const Mechanism& m : {chain(3), chain(25), fourBar(1)}) {
    for (Elimination elimination : eliminations) {
      for (double adaptation : {0.0, 0.5}) {
        const VariationalOptions options{.duration = 0.2, .step = 0.005, .adaptation = adaptation, .elimination = elimination};
        VariationalIntegrator whole(*m.model, options), resumed(*m.model, options);
        whole.start();
        for (int i = 0; i < 15; ++i) whole.advance();
        resumed.restore(whole.save());
        EXPECT_EQ(whole.node().hamiltonian, resumed.node().hamiltonian);
        while (!whole.finished()) whole.advance();
        while (!resumed.finished()) resumed.advance();
        EXPECT_EQ(whole.state().q, resumed.state().q);
        EXPECT_EQ(whole.state().v, resumed.state().v);
        EXPECT_EQ(whole.state().lambda, resumed.state().lambda);
      }
    }
  }
}

}
}
