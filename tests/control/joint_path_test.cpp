#include "tendril/control/joint_path.h"

#include "control/arms.h"
#include "control/joint_lagrangian.h"
#include "control/node_space.h"
#include "tendril/control/optimal_control.h"
#include "tendril/discrete/null_space.h"
#include "tendril/elements/mechanism.h"
#include "tendril/elements/springs.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>
#include <numbers>
#include <random>

namespace tendril {
namespace {

constexpr double pi = std::numbers::pi;
constexpr std::array allOfJoints{TranscriptionMethod::Dmoc, TranscriptionMethod::CollocationQp, TranscriptionMethod::CollocationQv};

/// A tree in space: a slide that carries a hinge about an oblique axis, on which sit a cylindrical joint and another slide; the second
/// hangs on a spring.
Mechanism tree() {
  MechanismBuilder b;
  b.gravity({1, -9, 2});
  const MassProperties box = MassProperties::box(500, {0.2, 0.3, 0.4});
  const Pose oblique{so3::exp(Vector3(0.4, -0.7, 0.3)), {0.2, 0.1, -0.3}};
  const auto cart = b.body("cart", box, {so3::exp(Vector3(0.1, 0.2, -0.3)), {0.1, 0, 0}});
  const auto arm = b.body("arm", box, {so3::exp(Vector3(-0.5, 0.2, 0.3)), {0.3, 0.6, 0.1}});
  const auto hand = b.body("hand", box, {so3::exp(Vector3(0.5, 0.7, 0.3)), {0.5, 0.9, -0.2}});
  const auto tail = b.body("tail", box, {so3::exp(Vector3(0.2, -0.1, 0.9)), {-0.4, 0.5, 0.3}});
  const JointParameters anyhow{.reference = JointReference::Pose};
  b.joint(JointKind::Prismatic, "rail", b.ground(oblique), cart.at(), anyhow);
  b.joint(JointKind::Revolute, "shoulder", cart.at(oblique), arm.at(), anyhow);
  b.joint(JointKind::Cylindrical, "wrist", arm.at(oblique), hand.at(oblique.inverse()), anyhow);
  b.joint(JointKind::Prismatic, "slide", tail.at(), arm.at(oblique), anyhow); // the carrier is the second frame
  b.model().term<LinearSprings>().add("spring", b.ground({Matrix3::Identity(), {1, 2, 0}}), tail.at(), {.stiffness = 300, .rest = 0});
  return b.build();
}

/// The Lagrangian against its definition, q' = J u'.
TEST(JointLagrangian, IsThatOfTheDirectorSystem) {
  const Mechanism m = tree();
  const DirectorSystem system(*m.model);
  JointLagrangian L(system, m.model->initialState().q);
  ASSERT_EQ(L.size(), 5);
  const VectorX u = randomVector(5, 1), v = randomVector(5, 2);
  const auto value = [&](const VectorX& at, const VectorX& rate) {
    L.place(at);
    const VectorX qdot = L.jacobian() * rate;
    return 0.5 * qdot.dot(system.mass() * qdot);
  };
  std::array<LagrangianDerivatives, 1> K;
  L.kinetic<1>({u}, {v}, K);
  const double h = 1e-4;
  for (int i = 0; i < 5; ++i) {
    const VectorX e = h * VectorX::Unit(5, i);
    EXPECT_NEAR(K[0].u[i], (value(u + e, v) - value(u - e, v)) / (2 * h), 1e-5);
    EXPECT_NEAR(K[0].v[i], (value(u, v + e) - value(u, v - e)) / (2 * h), 1e-6);
  }
  VectorX q, gradient;
  MatrixX hessian;
  L.potential(u, 0, gradient, hessian);
  for (int i = 0; i < 5; ++i) {
    VectorX q1, q0;
    L.configuration(u + h * VectorX::Unit(5, i), q1);
    L.configuration(u - h * VectorX::Unit(5, i), q0);
    EXPECT_NEAR(gradient[i], (system.potential(q1, 0) - system.potential(q0, 0)) / (2 * h), 1e-4);
  }
  L.configuration(u, q);
  VectorX g(system.constraints());
  system.constraint(q, 0, g);
  EXPECT_LT(g.lpNorm<Eigen::Infinity>(), 1e-13);
  EXPECT_LT((L.coordinates(q, VectorX::Zero(5)) - u).norm(), 1e-12);
}

TEST(JointPath, DerivativesAreExact) {
  for (const bool isTree : {false, true}) {
    const Mechanism m = isTree ? tree() : twoLink();
    const DirectorSystem system(*m.model);
    const int n = system.size(), N = 4;
    ControlProblem problem{.actuators = isTree ? motors(m, {"rail", "shoulder", "wrist", "slide"}) : motors(m, {"base", "elbow"})};
    problem.intervals = N;
    problem.duration = 0.6;
    problem.beginMomentum = randomVector(n, 1, 0.1);
    problem.endMomentum = VectorX::Zero(n);
    problem.effort.assign(problem.actuators.size(), 0.7);
    problem.lower.assign(problem.actuators.size(), -5), problem.upper.assign(problem.actuators.size(), 6);
    problem.conditions.push_back({cosineOfTurn("turn", 12), 0, N - 1, 0.3, 1.5});
    problem.conditions.push_back({markerCoordinate("height", *m.model->markers().back(), {0.2, 1, -0.4}, 0.1), 1, 2, -3, 3});
    const auto at = [](int index) { return PathPlace{PathPart::Node, index}; };
    const PathRow distance{
        .name = "distance", .products = {{at(12), at(12), 1}, {at(13), at(14), 0.5}}, .linear = {{at(16), 0.3}}, .constant = 0.2};
    problem.conditions.push_back({distance, N - 1, N - 1, 0.1, 0.1});
    problem.objectives.push_back({distance, N, 1.7});
    for (const TranscriptionMethod method : allOfJoints) {
      JointPath path(method, system, problem, std::vector<VectorX>(N + 1, m.model->initialState().q));
      requireConsistent(path);
      path.x += randomVector(path.x.size(), 5, 0.4);
      const DerivativeCheck check = checkDerivatives(path);
      EXPECT_LT(check.gradient.value, 1e-9) << nameOf(method) << check.describe();
      EXPECT_LT(check.equalityJacobian.value, 1e-9) << nameOf(method) << check.describe();
      EXPECT_LT(check.inequalityJacobian.value, 1e-9) << nameOf(method) << check.describe();
      EXPECT_LT(check.hessian.value, 1e-7) << nameOf(method) << check.describe();
    }
  }
}

TEST(JointPath, DoubleIntegratorIsTheClosedForm) {
  const double mass = 1.7, D = 0.8, T = 1.3;
  MechanismBuilder b;
  const auto body = b.body("cart", MassProperties::box(mass, Vector3::Ones()), {});
  b.joint(JointKind::Prismatic, "slide", b.ground(), body.at());
  const Mechanism m = b.build();
  for (const TranscriptionMethod method : allOfJoints) {
    for (const int N : {2, 10, 64}) {
      OptimalControlOptions o{.method = method, .intervals = N, .duration = T, .actuators = motorsOf(*m.model, "slide"), .effort = {1}};
      o.end.configuration = JointMotions{{"slide", one(D)}};
      o.solver.tolerance = 1e-12;
      OptimalControl control(*m.model, o);
      control.start();
      ASSERT_TRUE(control.report().converged()) << control.report().message;
      const double cost = 12 * mass * mass * D * D / (T * T * T * (1 - 1.0 / (N * N))), h = T / N;
      EXPECT_NEAR(control.cost(), cost, 1e-10 * cost) << nameOf(method);
      for (int n = 0; n < N; ++n)
        EXPECT_NEAR(control.path().control(n)[0], 12 * mass * D / (h * h * N * (double(N) * N - 1)) * ((N - 1) / 2.0 - n), 1e-9 * cost);
    }
  }
}

/// The swing-up of two rods in 1 s, effort 1/2.
class SwingUp : public testing::Test {
 protected:
  struct Solution {
    std::unique_ptr<Transcription> path;
    InteriorPointReport report;
    MatrixX angles() const { // absolute, per node
      MatrixX a(2, path->intervals() + 1);
      for (int k = 0; k <= path->intervals(); ++k)
        for (int body = 0; body < 2; ++body) a(body, k) = std::atan2(path->node(k)[12 * body + 4], path->node(k)[12 * body + 3]);
      return a;
    }
  };

  /// Through joint motions in the middle.
  std::vector<VectorX> guess(int N, double base, double elbow) const {
    return pathThrough(system, q0, {{0.5, {{"base", one(base)}, {"elbow", one(elbow)}}}, {1, {{"base", one(pi)}, {"elbow", one(0)}}}}, N);
  }
  /// Whose mid pose alone does not lead to it: 16 intervals with all poses and controls, rounded.
  Solution branchA() const {
    constexpr std::array<double, 15> base{-0.056, -0.131, -0.104, 0.112, 0.647, 0.987, 1.322, 1.736,
                                          2.215,  2.706,  3.129,  3.387, 3.470, 3.413, 3.248};
    constexpr std::array<double, 15> elbow{0.204,  0.535,  0.616,  0.160,  -1.271, -2.071, -2.618, -2.914,
                                           -2.972, -2.828, -2.519, -2.110, -1.630, -1.061, -0.375};
    MatrixX controls(2, 16);
    controls << 10.4, 14.2, 17.3, 20.1, 19.0, 15.7, 13.8, 10.5, 6.2, 1.4, -4.0, -9.4, -13.3, -15.3, -15.4, -14.8, //
        11.3, 4.0, -2.5, -9.7, -6.3, 3.3, 5.9, 6.9, 7.0, 7.0, 6.6, 5.1, 2.7, -1.1, -8.6, -18.0;
    std::vector<KeyMotions> keys;
    for (std::size_t k = 0; k < 15; ++k) keys.push_back({double(k + 1) / 16, {{"base", one(base[k])}, {"elbow", one(elbow[k])}}});
    keys.push_back({1, {{"base", one(pi)}, {"elbow", one(0)}}});
    return solve(TranscriptionMethod::Dmoc, pathThrough(system, q0, keys, 16), controls);
  }
  std::vector<VectorX> branchB(int N) const { return guess(N, 0.7105 + pi / 2, -2.3124 - 0.7105); }
  std::vector<VectorX> branchC(int N) const { return guess(N, -0.366 + pi / 2, 2.549 + 0.366); }

  Solution solve(TranscriptionMethod method, const std::vector<VectorX>& guess, const MatrixX& controls = {}) const {
    ControlProblem problem{.actuators = motors(m, {"base", "elbow"})};
    problem.intervals = int(guess.size()) - 1;
    problem.effort = {0.5, 0.5};
    problem.beginMomentum = problem.endMomentum = VectorX::Zero(system.size());
    const std::vector<int> rows = NullSpace(system, q0, 0).keptConstraints();
    for (const int node : {0, problem.intervals}) {
      const NodeSpace space(system, rows, guess[std::size_t(node)], 0);
      for (PathRow& row : holdConfiguration("place", guess[std::size_t(node)], space.basis(), space.unit()))
        problem.conditions.push_back({std::move(row), node, node, 0, 0});
    }
    Solution s{transcribe(method, system, problem, guess, controls), {}};
    InteriorPoint solver({.tolerance = 1e-11, .maxIterations = 300});
    s.report = solver.solve(s.path->program());
    EXPECT_TRUE(s.report.converged()) << nameOf(method) << ": " << s.report.message;
    return s;
  }

  /// Every so many nodes of a solution, and the mean of its controls between them.
  Solution restricted(TranscriptionMethod method, const Solution& fine, int every) const {
    std::vector<VectorX> nodes;
    const int N = fine.path->intervals() / every;
    MatrixX controls = MatrixX::Zero(2, N);
    for (int k = 0; k <= N; ++k) nodes.push_back(fine.path->node(k * every));
    for (int k = 0; k < N; ++k) controls.col(k) = fine.path->controls().middleCols(k * every, every).rowwise().mean();
    return solve(method, nodes, controls);
  }

  /// Largest momentum about the base that appears or is lost at a node, torques and weight taken into account.
  double defect(const Solution& s) const {
    double largest = 0;
    VectorX left, right, arrived = VectorX::Zero(system.size());
    for (int k = 0; k <= s.path->intervals(); ++k) {
      VectorX turn(system.size());
      for (int column = 0; column < 8; ++column)
        turn.segment<3>(3 * column) = Vector3::UnitZ().cross(s.path->node(k).segment<3>(3 * column));
      left.setZero(system.size()), right = left;
      if (k < s.path->intervals()) s.path->momenta(k, left, right);
      largest = std::max(largest, std::abs(turn.dot(arrived - left)));
      arrived = right;
    }
    return largest;
  }

  const Mechanism m = twoLink();
  const DirectorSystem system{*m.model};
  const VectorX q0 = m.model->initialState().q;
};

/// Costs of the three published branches (Leyendecker 2011, 5.7.1, recomputed by another program).
TEST_F(SwingUp, HasThePublishedCosts) {
  const auto expectCost = [&](const std::vector<VectorX>& guess, double cost) {
    const Solution s = solve(TranscriptionMethod::Dmoc, guess);
    EXPECT_NEAR(s.report.objective, cost, 1e-5 * cost);
  };
  EXPECT_NEAR(branchA().report.objective, 121.3047, 1e-5 * 121.3047);
  expectCost(branchB(16), 90.24726);
  expectCost(branchB(32), 89.72525);
  expectCost(branchC(16), 82.233);
  expectCost(branchC(32), 80.777);
}

TEST_F(SwingUp, CollocationInMomentaIsDmoc) {
  const Solution dmoc = solve(TranscriptionMethod::Dmoc, branchB(32)), qp = restricted(TranscriptionMethod::CollocationQp, dmoc, 1);
  EXPECT_NEAR(qp.report.objective, dmoc.report.objective, 1e-8);
  EXPECT_LT((qp.angles() - dmoc.angles()).lpNorm<Eigen::Infinity>(), 1e-8);
  EXPECT_LT((qp.path->controls() - dmoc.path->controls()).lpNorm<Eigen::Infinity>(), 1e-8 * dmoc.path->controls().maxCoeff());
}

/// Momenta change by torques and weight alone, but where rates are collocated: there they lose O(h^2) in all.
TEST_F(SwingUp, MomentumIsLostByRatesAlone) {
  const Solution fine = solve(TranscriptionMethod::Dmoc, branchB(128));
  for (const TranscriptionMethod method : {TranscriptionMethod::Dmocc, TranscriptionMethod::Dmoc, TranscriptionMethod::CollocationQp})
    EXPECT_LT(defect(restricted(method, fine, 4)), 1e-10) << nameOf(method);
  std::vector<double> lost;
  for (const int every : {4, 2, 1}) lost.push_back(defect(restricted(TranscriptionMethod::CollocationQv, fine, every)));
  EXPECT_GT(lost[0], 1e-4);
  for (int i = 0; i < 2; ++i) EXPECT_GT(std::log2(lost[std::size_t(i)] / lost[std::size_t(i) + 1]), 1.9) << lost[0] << " " << lost[1];
}

/// A fine solution, restricted, leads all methods to the same optimum, and they converge to it with order two.
TEST_F(SwingUp, AllMethodsConvergeWithOrderTwo) {
  constexpr int finest = 1024;
  const Solution fine = solve(TranscriptionMethod::Dmoc, branchC(finest));
  const MatrixX angles = fine.angles();
  const auto expectOrderTwo = [&](const char* what, double coarser, double finer, TranscriptionMethod method) {
    EXPECT_NEAR(std::log2(coarser / finer), 2, 0.15) << what << " by " << nameOf(method) << ": " << coarser << ", " << finer;
  };
  for (const TranscriptionMethod method :
       {TranscriptionMethod::Dmocc, TranscriptionMethod::Dmoc, TranscriptionMethod::CollocationQp, TranscriptionMethod::CollocationQv}) {
    std::vector<double> ofAngles, ofControls, ofCost, ofMultipliers;
    for (const int every : {16, 8}) {
      const Solution s = restricted(method, fine, every);
      const int N = s.path->intervals();
      double angle = 0, control = 0, multiplier = 0;
      const MatrixX own = s.angles();
      for (int k = 0; k <= N; ++k)
        for (int i = 0; i < 2; ++i) angle = std::max(angle, std::abs(std::remainder(own(i, k) - angles(i, k * every), 2 * pi)));
      for (int k = 0; k < N; ++k) {
        const VectorX middle = fine.path->controls().middleCols(k * every + every / 2 - 1, 2).rowwise().mean();
        control = std::max(control, (s.path->control(k) - middle).lpNorm<Eigen::Infinity>());
      }
      if (method == TranscriptionMethod::Dmoc) {
        const auto &path = static_cast<const JointPath&>(*s.path), &finePath = static_cast<const JointPath&>(*fine.path);
        for (int k = 1; k < N; ++k)
          multiplier = std::max(multiplier, (s.report.multipliers.equality.segment(path.firstRow(k), 2) -
                                             fine.report.multipliers.equality.segment(finePath.firstRow(k * every), 2))
                                                .lpNorm<Eigen::Infinity>());
        ofMultipliers.push_back(multiplier);
      }
      ofAngles.push_back(angle), ofControls.push_back(control), ofCost.push_back(std::abs(s.report.objective - fine.report.objective));
    }
    expectOrderTwo("angles", ofAngles[0], ofAngles[1], method);
    expectOrderTwo("controls", ofControls[0], ofControls[1], method);
    expectOrderTwo("cost", ofCost[0], ofCost[1], method);
    if (!ofMultipliers.empty()) expectOrderTwo("multipliers", ofMultipliers[0], ofMultipliers[1], method);
  }
}

TEST_F(SwingUp, DirectorsAndAnglesDifferBySquaresOfTheStep) {
  const Solution fine = solve(TranscriptionMethod::Dmoc, branchC(256));
  std::vector<double> apart;
  for (const int every : {4, 2}) {
    const Solution angles = restricted(TranscriptionMethod::Dmoc, fine, every),
                   directors = restricted(TranscriptionMethod::Dmocc, fine, every);
    apart.push_back(
        (angles.angles() - directors.angles()).unaryExpr([](double a) { return std::abs(std::remainder(a, 2 * pi)); }).maxCoeff());
  }
  EXPECT_NEAR(std::log2(apart[0] / apart[1]), 2, 0.15) << apart[0] << " " << apart[1];
}

TEST(JointPath, WhatJointCoordinatesCannotDoIsRefused) {
  const auto expectRefusal = [](const Mechanism& m, OptimalControlOptions o, const std::string& words) {
    o.method = TranscriptionMethod::Dmoc;
    o.effort.assign(o.actuators.size(), 1);
    try {
      OptimalControl control(*m.model, o);
      FAIL() << "accepted, but should say: " << words;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("dmocc"), std::string::npos) << error.what();
    }
  };
  MechanismBuilder b;
  const MassProperties box = MassProperties::box(500, {0.2, 0.3, 0.4});
  const auto base = b.body("base", box, {}), arm = b.body("arm", box, {Matrix3::Identity(), {0.5, 0, 0}});
  b.joint(JointKind::Revolute, "hinge", b.ground(), base.at());
  b.joint(JointKind::Spherical, "ball", base.at({Matrix3::Identity(), {0.5, 0, 0}}), arm.at());
  const Mechanism ball = b.build();
  expectRefusal(ball, {.actuators = motorsOf(*ball.model, "hinge")}, "joint 'ball' turns about more than one axis");

  MechanismBuilder c;
  const auto body = c.body("hull", box, {});
  const Marker& at = body.at();
  const Mechanism free = c.build();
  Vector6 push = Vector6::Unit(0);
  expectRefusal(free, {.actuators = {{"jet", {{&at, true, push}}}}}, "body 'hull' turns about more than one axis");

  const Mechanism link = twoLink();
  expectRefusal(link, {.durationBounds = {{0.5, 2}}, .actuators = motorsOf(*link.model, "base")}, "the duration is fixed");
  expectRefusal(link, {.quadrature = Quadrature::Trapezoidal, .actuators = motorsOf(*link.model, "base")}, "midpoint");
  expectRefusal(link, {.actuators = {{"jet", {{link.model->markers().back().get(), false, push}}}}}, "depends on the configuration");
}

}
}
