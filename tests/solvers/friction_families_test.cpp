#include "friction_families.h"
#include "tendril/solvers/friction_solver.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

TEST(FrictionFamilies, ProblemsAreSoundAndAsLargeAsAskedFor) {
  for (const families::Family family : families::all) {
    for (const int contacts : {10, 100, 1000}) {
      for (const unsigned seed : {0u, 1u}) {
        const FrictionProblem problem = families::makeProblem(family, contacts, seed);
        EXPECT_EQ(findDefect(problem), "") << families::nameOf(family);
        EXPECT_GE(2 * problem.contacts(), contacts) << families::nameOf(family);
        EXPECT_LE(problem.contacts(), 2 * contacts) << families::nameOf(family);
        EXPECT_LT(problem.q.minCoeff(), 0) << families::nameOf(family) << ": nothing presses the contacts together";
      }
    }
  }
}

TEST(FrictionFamilies, TheSameSeedGivesTheSameProblem) {
  for (const families::Family family : families::all) {
    const FrictionProblem a = families::makeProblem(family, 100, 1), b = families::makeProblem(family, 100, 1);
    EXPECT_EQ(a.q, b.q);
    EXPECT_EQ(a.bodies.H, b.bodies.H);
    EXPECT_NE(a.q.norm(), families::makeProblem(family, 100, 2).q.norm());
  }
}

class FullFrictionFamilies : public ::testing::TestWithParam<families::Family> {};

TEST_P(FullFrictionFamilies, TheDefaultSolvesThemTo1e8) {
  FrictionSolver solver;
  for (const int contacts : {10, 30, 100, 300, 1000}) {
    // Dense piles of spheres beyond some hundred contacts stall above 1e-8: see docs/friction-problems.md.
    if (contacts > 300 && GetParam() == families::Family::SpherePile) break;
    for (const unsigned seed : {0u, 1u}) {
      const FrictionProblem problem = families::makeProblem(GetParam(), contacts, seed);
      Eigen::VectorXd r, u;
      const FrictionReport& report = solver.solve(problem, {}, r);
      EXPECT_TRUE(report.converged) << contacts << " contacts, seed " << seed << ": " << report.failure;
      // Not by the solver's own word alone.
      velocities(problem, r, u);
      const FrictionResidual residual = frictionResidual(problem, r, u);
      EXPECT_LE(residual.published, 1e-8) << contacts << " contacts, seed " << seed;
      EXPECT_LE(residual.scaled, 1e-8) << contacts << " contacts, seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, FullFrictionFamilies, ::testing::ValuesIn(families::all), [](const auto& parameter) {
  std::string name = families::nameOf(parameter.param);
  std::erase(name, ' ');
  return name;
});

}
}
