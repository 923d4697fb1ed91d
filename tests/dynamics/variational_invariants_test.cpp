#include "support/allocation_counter.h"
#include "tendril/dynamics/variational.h"
#include "variational_scenes.h"

#include <Eigen/LU>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace tendril::test {
namespace {

constexpr std::array eliminations{Elimination::Multipliers, Elimination::NullSpace, Elimination::Reduced};

/// Largest change of the momentum maps over so many steps, relative.
double changeOfMomenta(const Mechanism& m, const VariationalOptions& options) {
  VariationalIntegrator path(*m.model, options);
  path.start();
  const Momentum before = path.node().momentum;
  // Where nothing drifts, against the other over 1 m, which is the size of the pairs.
  const double spin = before.angular.norm(), drift = before.linear.norm() > 0.1 ? before.linear.norm() : spin;
  double linear = 0, angular = 0;
  while (!path.finished()) {
    const long step = path.advance().step;
    if (step % 1000 != 0 && !path.finished()) continue;
    linear = std::max(linear, (path.node().momentum.linear - before.linear).norm() / drift);
    angular = std::max(angular, (path.node().momentum.angular - before.angular).norm() / spin);
  }
  return std::max(linear, angular);
}

TEST(VariationalInvariants, MomentumMapsAreExact) {
  for (const Mechanism& m : {springPair(true), springPair(true, 0.8), springPair(false), chain(4, true, 0)})
    for (Elimination elimination : eliminations)
      EXPECT_LT(changeOfMomenta(m, {.duration = 3, .step = 0.01, .elimination = elimination}), 1e-12);
  EXPECT_LT(changeOfMomenta(springPair(false), {.duration = 3, .step = 0.01, .quadrature = Quadrature::Trapezoidal}), 1e-12);
}

TEST(FullVariationalInvariants, MomentumMapsAreExactOverAMillionSteps) {
  // The pair stays where it is: kilometres away, rounding of positions would be that of kilometres.
  const Vector3 spin(0.5, -0.8, 1.1), centre = Vector3(0.5, 0.1, 0) + so3::exp(Vector3(0.1, 0.2, 0.3)) * Vector3(0.05, 0.02, -0.03);
  EXPECT_LT(changeOfMomenta(springPair(true, 0, -spin.cross(centre)), {.duration = 5e4, .step = 0.05}), 1e-12);
}

/// A moment changes the angular momentum by what it applies, and a spring hung on the ground at the origin does not change it there.
TEST(VariationalInvariants, MomentsChangeTheMomentumByWhatTheyApply) {
  MechanismBuilder b;
  const auto body = b.body("body", {2, Vector3::Zero(), Vector3(0.1, 0.2, 0.25).asDiagonal()}, {Matrix3::Identity(), {0.5, 0, 0}},
                           {0, 1, 0.5}, {1, -1, 2});
  b.moment("motor", body.at(), {0.3, -0.2, 0.1}, LoadDirection::Dead, {"ramp", [](double t) { return Jet{1 + t, 1, 0}; }});
  b.force("push", body.at(), {0.5, 0.1, 0}, LoadDirection::Dead);
  const Mechanism m = b.build();
  VariationalIntegrator path(*m.model, {.duration = 1, .step = 0.02});
  path.start();
  const Momentum first = path.node().momentum;
  Vector3 torque = Vector3::Zero();
  double t = 0;
  const Vector3 push(0.5, 0.1, 0), motor(0.3, -0.2, 0.1);
  while (!path.finished()) {
    const Vector3 begin = path.state().q.head<3>();
    path.advance();
    const Vector3 end = path.state().q.head<3>();
    const double h = path.state().t - t;
    torque += h * ((1 + t + h / 2) * motor + 0.5 * (begin + end).cross(push));
    t = path.state().t;
    EXPECT_LT((path.node().momentum.linear - first.linear - t * push).norm(), 1e-12);
    EXPECT_LT((path.node().momentum.angular - first.angular - torque).norm(), 1e-12);
  }
}

TEST(VariationalInvariants, WeightKeepsTheMomentumAboutTheVertical) {
  const Mechanism m = doubleSphericalPendulum();
  for (Elimination elimination : eliminations) {
    VariationalIntegrator path(*m.model, {.duration = 20, .step = 0.02, .elimination = elimination});
    path.start();
    EXPECT_NEAR(path.node().momentum.angular[2], 22.5, 1e-12);
    while (!path.finished()) path.advance();
    EXPECT_NEAR(path.node().momentum.angular[2], 22.5, 22.5e-12);
  }
}

TEST(VariationalInvariants, PathReturnsTheWayItCame) {
  std::vector<double> unequal;
  for (int k = 0; k < 200; ++k) unequal.push_back(0.01 * (1 + 0.3 * std::sin(1.7 * k)));
  for (const VariationalOptions& options :
       {VariationalOptions{.duration = 10, .step = 0.01},
        VariationalOptions{.duration = 10, .step = 0.01, .quadrature = Quadrature::Trapezoidal},
        VariationalOptions{.duration = 10, .steps = unequal}, VariationalOptions{.duration = 10, .step = 0.01, .adaptation = 1},
        VariationalOptions{.duration = 10, .step = 0.01, .scheme = DirectorScheme::EnergyMomentum}}) {
    for (const Mechanism& m : {doublePendulum(), fourBar(1), springPair(true)}) {
      VariationalIntegrator path(*m.model, options);
      path.start();
      const State begin = path.state();
      for (int i = 0; i < 100; ++i) path.advance();
      EXPECT_GT((path.state().q - begin.q).norm(), 0.5);
      path.reverse();
      for (int i = 0; i < 100; ++i) path.advance();
      EXPECT_LT((path.state().q - begin.q).norm(), 1e-9);
      EXPECT_LT((path.state().v + begin.v).norm(), 1e-9);
    }
  }
}

/// Angle and angular momentum of a rod pendulum after some steps.
Eigen::Vector2d flow(double angle, double momentum) {
  const double J = 1.0 / 3;
  const Mechanism m = rodPendulum(angle, momentum / J);
  VariationalIntegrator path(*m.model, {.duration = 0.6, .step = 0.1});
  path.start();
  while (!path.finished()) path.advance();
  const Vector3 x = path.state().q.head<3>();
  return {std::atan2(x[1], x[0]), path.node().momentum.angular[2]};
}

TEST(VariationalInvariants, FlowOfAPendulumKeepsTheArea) {
  const double step = 0.01;
  const std::array<double, 4> weights{4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}; // differences of order 8
  Eigen::Matrix2d D = Eigen::Matrix2d::Zero();
  for (int k = 1; k <= 4; ++k) {
    D.col(0) += weights[k - 1] / step * (flow(-0.4 + k * step, 0.5) - flow(-0.4 - k * step, 0.5));
    D.col(1) += weights[k - 1] / step * (flow(-0.4, 0.5 + k * step) - flow(-0.4, 0.5 - k * step));
  }
  EXPECT_GT(std::abs(D(0, 1)), 0.1);
  EXPECT_NEAR(D.determinant(), 1, 1e-10);
}

/// Largest and last deviation of the energy from that of the start, over steps in two halves.
std::array<double, 2> deviations(const Mechanism& m, const VariationalOptions& options, long every) {
  VariationalIntegrator path(*m.model, options);
  path.start();
  const double initial = path.node().hamiltonian;
  std::array<double, 2> worst{};
  while (!path.finished()) {
    if (path.advance().step % every != 0) continue;
    double& half = worst[path.progress() < 0.5 ? 0 : 1];
    half = std::max(half, std::abs(path.node().hamiltonian - initial));
  }
  return worst;
}

void expectBoundedEnergy(double duration, long every) {
  const Mechanism m = doublePendulum(0.7);
  std::array<double, 2> first;
  for (int i = 0; i < 2; ++i) {
    const std::array<double, 2> worst = deviations(m, {.duration = duration, .step = 4e-3 / (1 << i)}, every);
    EXPECT_LT(worst[1], 1.5 * worst[0]);
    first[i] = std::max(worst[0], worst[1]);
  }
  EXPECT_NEAR(std::log2(first[0] / first[1]), 2, 0.3);
}

TEST(VariationalInvariants, EnergyHasNoDrift) { expectBoundedEnergy(8, 1); }
TEST(FullVariationalInvariants, EnergyHasNoDriftInAMillionSteps) { expectBoundedEnergy(4000, 31); }

/// Near its upper equilibrium a pendulum is slow, below it is fast.
TEST(VariationalInvariants, AdaptedStepsHaveNoDrift) {
  const Mechanism m = rodPendulum(-1.5707963267948966, std::sqrt(4 * 9.81 * 1.5) * (1 + 1e-4)); // just turns over
  VariationalIntegrator path(*m.model, {.duration = 200, .step = 0.02, .adaptation = 1});
  path.start();
  const double initial = path.node().hamiltonian;
  double shortest = 1, longest = 0;
  std::array<double, 2> worst{};
  while (!path.finished()) {
    const double h = path.advance().h;
    if (!path.finished()) shortest = std::min(shortest, h), longest = std::max(longest, h);
    double& half = worst[path.progress() < 0.5 ? 0 : 1];
    half = std::max(half, std::abs(path.node().hamiltonian - initial));
  }
  EXPECT_GT(longest / shortest, 1.5);
  EXPECT_LT(longest / shortest, 10);
  EXPECT_LT(worst[1], 1.2 * worst[0]);
}

TEST(VariationalInvariants, EnergyMomentumSchemeKeepsBothExactly) {
  for (const Mechanism& m : {springPair(true), springPair(false), chain(4, true, 0)}) {
    for (Elimination elimination : eliminations) {
      VariationalIntegrator path(*m.model,
                                 {.duration = 4, .step = 0.02, .scheme = DirectorScheme::EnergyMomentum, .elimination = elimination});
      path.start();
      const double energy = path.node().momentumHamiltonian;
      const Momentum momentum = path.node().momentum;
      while (!path.finished()) path.advance();
      EXPECT_NEAR(path.node().momentumHamiltonian, energy, 1e-12 * std::abs(energy));
      EXPECT_LT((path.node().momentum.linear - momentum.linear).norm(), 1e-12 * momentum.linear.norm());
      EXPECT_LT((path.node().momentum.angular - momentum.angular).norm(), 1e-12 * momentum.angular.norm());
    }
  }
  const Mechanism heavy = doublePendulum();
  VariationalIntegrator path(*heavy.model, {.duration = 10, .step = 0.01, .scheme = DirectorScheme::EnergyMomentum, .tolerance = 1e-16});
  path.start();
  double worst = 0;
  while (!path.finished()) path.advance(), worst = std::max(worst, std::abs(path.node().momentumHamiltonian));
  EXPECT_LT(worst, 1e-11); // of about 10 J that change from one form to the other
}

/// However the constraints of trees and loops are met, and with the momentum and multipliers of every node.
TEST(VariationalInvariants, StepsTakeNoMemory) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  const std::vector<std::pair<std::string, Mechanism>> mechanisms = [] {
    std::vector<std::pair<std::string, Mechanism>> all;
    all.emplace_back("short chain", chain(3));
    all.emplace_back("long chain", chain(25));
    all.emplace_back("four-bar", fourBar(1));
    all.emplace_back("springs", springPair(true, 0.5));
    return all;
  }();
  for (DirectorScheme scheme : {DirectorScheme::Variational, DirectorScheme::EnergyMomentum}) {
    for (Elimination elimination : {Elimination::Multipliers, Elimination::NullSpace, Elimination::Reduced}) {
      for (const auto& [name, m] : mechanisms) {
        if (name == "long chain" && scheme == DirectorScheme::EnergyMomentum && elimination != Elimination::Multipliers) continue; // dense
        SCOPED_TRACE(testing::Message() << name << ", scheme " << int(scheme) << ", elimination " << int(elimination));
        VariationalIntegrator path(*m.model, {.duration = 1, .step = 1e-3, .scheme = scheme, .elimination = elimination});
        path.start();
        for (int i = 0; i < 10; ++i) path.advance(), path.state();
        const long before = allocationCount;
        EXPECT_GT(before, 0);
        for (int i = 0; i < 20; ++i) path.advance(), path.state();
        EXPECT_EQ(allocationCount - before, 0);
      }
    }
  }
}

}
}
