#include "tendril/control/path_guesses.h"

#include "control/arms.h"
#include "control/node_space.h"
#include "tendril/control/optimal_control.h"
#include "tendril/discrete/null_space.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"
#include "tendril/solvers/ipopt_program.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace tendril {
namespace {

constexpr double pi = std::numbers::pi;

OptimalControlOptions swingUp(const Mechanism& m, TranscriptionMethod method, int intervals) {
  OptimalControlOptions o{.method = method, .intervals = intervals};
  for (const char* joint : {"joint0", "joint1"}) o.actuators.push_back(motorsOf(*m.model, joint)[0]);
  o.effort = {0.5, 0.5};
  o.end.configuration = JointMotions{{"joint0", one(pi)}};
  o.guess = {{0.5, {{"joint0", one(2.281)}, {"joint1", one(-3.023)}}}};
  o.solver.tolerance = 1e-10;
  return o;
}

TEST(PathGuesses, DisturbancesAreReproducibleAndBounded) {
  const Mechanism m = hangingRods(2);
  const DirectorSystem system(*m.model);
  const std::vector<KeyMotions> keys{{1, {{"joint0", one(2)}}}};
  const auto some = disturbed(system, keys, true, 0.3, 7), same = disturbed(system, keys, true, 0.3, 7),
             other = disturbed(system, keys, true, 0.3, 8), freeEnd = disturbed(system, keys, false, 0.3, 7);
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0].share, 0.5);
  EXPECT_EQ(some[0].motions.at("joint0"), same[0].motions.at("joint0"));
  EXPECT_NE(some[0].motions.at("joint0"), other[0].motions.at("joint0"));
  EXPECT_LE(std::abs(some[0].motions.at("joint0")[0] - 1), 0.3);
  EXPECT_LE(std::abs(some[0].motions.at("joint1")[0]), 0.3);
  EXPECT_EQ(some[1].motions.at("joint0")[0], 2);
  EXPECT_NE(freeEnd[1].motions.at("joint0")[0], 2);
}

TEST(PathGuesses, HalvesStayOnTheManifold) {
  const Mechanism m = fourBar();
  const DirectorSystem system(*m.model);
  const VectorX q0 = m.model->initialState().q;
  const std::vector<VectorX> path = pathThrough(system, q0, {{1, {{"left foot", one(0.8)}}}}, 4), finer = halved(system, path);
  ASSERT_EQ(finer.size(), 9u);
  VectorX g(system.constraints());
  for (std::size_t k = 0; k < finer.size(); ++k) {
    system.constraint(finer[k], 0, g);
    EXPECT_LT(g.lpNorm<Eigen::Infinity>(), 1e-12);
    if (k % 2 == 0) {
      EXPECT_EQ(finer[k], path[k / 2]);
    }
  }
  // The left crank has turned by half of what it does in the interval.
  const auto angle = [](const VectorX& q) { return std::atan2(q[4], q[3]); };
  EXPECT_NEAR(angle(finer[1]) - angle(finer[0]), 0.1, 1e-3);

  MatrixX controls(1, 3);
  controls << 1, 3, 5;
  MatrixX expected(1, 6);
  expected << 0.5, 1.5, 2.5, 3.5, 4.5, 5.5;
  EXPECT_LT((halved(controls) - expected).norm(), 1e-14);
}

/// Each level is the closed form of its number of intervals.
TEST(OptimalControlSearch, LevelsOfRefinementAreOptima) {
  MechanismBuilder b;
  const auto body = b.body("cart", MassProperties::box(1.7, Vector3::Ones()), {});
  b.joint(JointKind::Prismatic, "slide", b.ground(), body.at());
  const Mechanism m = b.build();
  OptimalControlOptions o{.intervals = 4, .actuators = motorsOf(*m.model, "slide"), .effort = {1}};
  o.end.configuration = JointMotions{{"slide", one(0.8)}};
  o.solver.tolerance = 1e-12;
  o.refinements = 3;
  OptimalControl control(*m.model, o);
  control.start();
  std::array<double, 4> costs;
  ASSERT_TRUE(control.monitor("costs of levels", nullptr, costs.data()));
  for (int level = 0; level < 4; ++level) {
    const double N = 4 << level, exact = 12 * 1.7 * 1.7 * 0.64 / (1 - 1 / (N * N));
    EXPECT_NEAR(costs[std::size_t(level)], exact, 1e-10 * exact);
  }
  EXPECT_EQ(control.path().intervals(), 32);
  EXPECT_NEAR(control.cost(), costs[3], 1e-12);
  while (control.state().t < 0.49) control.advance();

  OptimalControl resumed(*m.model, o);
  resumed.restore(control.save());
  EXPECT_EQ(resumed.path().intervals(), 32);
  EXPECT_NEAR(resumed.cost(), control.cost(), 1e-10 * control.cost());
  EXPECT_LT((resumed.state().q - control.state().q).norm(), 1e-9);
  std::array<double, 4> again;
  ASSERT_TRUE(resumed.monitor("costs of levels", nullptr, again.data()));
  EXPECT_EQ(costs, again);
}

TEST(OptimalControlSearch, TheCheapestOfManyStartsStays) {
  const Mechanism m = hangingRods(2);
  OptimalControlOptions o = swingUp(m, TranscriptionMethod::Dmoc, 16);
  o.guess.clear(); // straight to the end, which leads to a dear optimum
  o.starts = 8, o.spread = 1.5;
  OptimalControl control(*m.model, o);
  control.start();
  std::vector<double> costs(8);
  double share = 0;
  ASSERT_TRUE(control.monitor("costs of starts", nullptr, costs.data()));
  ASSERT_TRUE(control.monitor("share solved", nullptr, &share));
  const auto solved = std::count_if(costs.begin(), costs.end(), [](double c) { return std::isfinite(c); });
  EXPECT_EQ(share, double(solved) / 8);
  double least = costs[0];
  for (const double cost : costs)
    if (cost < least) least = cost;
  EXPECT_LT(least, costs[0] - 1); // another branch is cheaper
  EXPECT_EQ(control.cost(), least);
  EXPECT_TRUE(control.report().converged());
}

TEST(OptimalControlSearch, IpoptFindsTheSameOptimum) {
  const Mechanism m = hangingRods(2);
  OptimalControlOptions o = swingUp(m, TranscriptionMethod::Dmocc, 16);
  o.programSolver = ProgramSolver::Ipopt;
  EXPECT_THROW(OptimalControl(*m.model, o), InputError); // nodes on a manifold
  if (!ipoptAvailable()) GTEST_SKIP() << "this build has no Ipopt";
  o.method = TranscriptionMethod::Dmoc;
  OptimalControl control(*m.model, o);
  control.start();
  ASSERT_TRUE(control.report().converged()) << control.report().message;
  EXPECT_NEAR(control.cost(), 90.24726, 1e-5 * 90.24726);
  EXPECT_LT(control.momentumDefect(), 1e-6);
}

}
}
