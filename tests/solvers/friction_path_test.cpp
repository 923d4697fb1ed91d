#include "friction_problems.h"
#include "support/places.h"
#include "tendril/solvers/friction_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "solvers/friction_path.h"

namespace tendril {
namespace {

/// Reads the format that tests/data/friction/README.md describes.
FrictionProblem readSymmetric(const std::string& name) {
  std::ifstream in(std::filesystem::path(test::sourceFolder()) / "tests/data/friction" / (name + ".txt"));
  int contacts = 0, blocks = 0;
  in >> contacts >> blocks;
  FrictionProblem problem;
  for (int i = 0; i < contacts; ++i) {
    double mu = 0;
    in >> mu;
    problem.laws.push_back(FrictionLaw::coulomb(mu));
  }
  problem.layOut();
  problem.q.resize(problem.rows());
  for (double& entry : problem.q) in >> entry;
  std::vector<std::vector<std::pair<int, Eigen::Matrix3d>>> rows(contacts);
  for (int b = 0; b < blocks; ++b) {
    int i = 0, j = 0;
    Eigen::Matrix3d block;
    in >> i >> j;
    for (int k = 0; k < 9; ++k) in >> block(k / 3, k % 3);
    rows.at(i).emplace_back(j, block);
    if (i != j) rows.at(j).emplace_back(i, block.transpose());
  }
  EXPECT_TRUE(in) << name;
  problem.W.start.push_back(0);
  for (auto& row : rows) {
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [j, block] : row) {
      problem.W.blocks.push_back({j, problem.W.values.size()});
      problem.W.values.insert(problem.W.values.end(), block.data(), block.data() + 9);
    }
    problem.W.start.push_back(int(problem.W.blocks.size()));
  }
  return problem;
}

class FrictionHardProblems : public ::testing::TestWithParam<const char*> {};

TEST_P(FrictionHardProblems, TheDefaultSolvesThemTo1e8AtLittleCost) {
  const FrictionProblem problem = readSymmetric(GetParam());
  ASSERT_EQ(findDefect(problem), "");
  FrictionSolver solver;
  Eigen::VectorXd r, again, u;
  const FrictionReport report = solver.solve(problem, {}, r);
  EXPECT_TRUE(report.converged) << report.failure;
  EXPECT_LE(report.factorisations, 1000) << report.method;
  velocities(problem, r, u); // not by the solver's own word alone
  const FrictionResidual residual = frictionResidual(problem, r, u);
  EXPECT_LE(residual.published, 1e-8);
  EXPECT_LE(residual.scaled, 1e-8);
  solver.solve(problem, {}, again);
  EXPECT_EQ(r, again);
}

INSTANTIATE_TEST_SUITE_P(, FrictionHardProblems,
                         ::testing::Values("box-stack-14", "sphere-lattice-61", "sphere-lattice-156", "sphere-pile-295"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::erase(name, '-');
                           return name;
                         });

/// The end of the path of a whole problem, or as far as it comes.
Eigen::VectorXd endOfPath(const FrictionProblem& problem, double kappa, int steps = 60) {
  std::vector<int> contacts(problem.contacts());
  std::iota(contacts.begin(), contacts.end(), 0);
  FrictionSystem system;
  system.pack(problem, contacts);
  FrictionEquations equations;
  equations.set(system);
  FrictionPath path;
  EXPECT_TRUE(path.start(system, equations, kappa));
  for (int k = 0; k < steps && path.step(); ++k) {
  }
  Eigen::VectorXd r = Eigen::VectorXd::Zero(problem.rows());
  system.gather(path.impulses(), r);
  return r;
}

TEST(FrictionPath, EndsAtTheStatesOfOneContact) {
  const Eigen::MatrixXd W = Eigen::MatrixXd::Identity(3, 3);
  const double mu = 0.5;
  for (const double kappa : {0.1, 1.0}) {
    const auto solve = [&](const Eigen::Vector3d& q) { return endOfPath(test::denseProblem({FrictionLaw::coulomb(mu)}, W, q), kappa); };
    EXPECT_LE((solve({-1, 0.3, 0.2}) - Eigen::Vector3d(1, -0.3, -0.2)).norm(), 1e-8) << "sticks";
    EXPECT_LE((solve({-1, 3, 4}) - Eigen::Vector3d(1, -0.3, -0.4)).norm(), 1e-8) << "slides";
    EXPECT_LE(solve({1, 3, 4}).norm(), 1e-8) << "leaves";
  }
}

TEST(FrictionPath, KnowsPlaneFrictionlessAndBilateralContacts) {
  const std::vector<FrictionLaw> laws{FrictionLaw::plane(0.5), FrictionLaw::frictionless(), FrictionLaw::bilateral(2),
                                      FrictionLaw::coulomb(0)};
  std::mt19937 engine(3);
  const Eigen::MatrixXd root = test::randomMatrix(8, 8, engine), W = root * root.transpose() + Eigen::MatrixXd::Identity(8, 8);
  const FrictionProblem problem = test::denseProblem(laws, W, test::randomMatrix(8, 1, engine));
  Eigen::VectorXd u;
  const Eigen::VectorXd r = endOfPath(problem, 0.3);
  velocities(problem, r, u);
  EXPECT_LE(frictionResidual(problem, r, u).scaled, 1e-8);
}

/// With much friction there are several solutions, and paths that fold. Contacts of fewer directions than rows, and a motion without
/// impulses that impulses can stop.
TEST(FrictionPath, GoesThroughFolds) {
  constexpr int n = 30, rank = 45;
  std::mt19937 engine(5);
  for (int trial = 0; trial < 16; ++trial) {
    const Eigen::MatrixXd root = test::randomMatrix(3 * n, rank, engine), W = root * root.transpose() / rank;
    const FrictionProblem problem =
        test::denseProblem(std::vector<FrictionLaw>(n, FrictionLaw::coulomb(2)), W, root * test::randomMatrix(rank, 1, engine));
    Eigen::VectorXd u;
    const Eigen::VectorXd r = endOfPath(problem, 0.3, 120);
    velocities(problem, r, u);
    EXPECT_LE(frictionResidual(problem, r, u).scaled, 1e-8) << "trial " << trial;
  }
}

TEST(FrictionPath, LeavesLawsOfSeveralDiscsToOthers) {
  const FrictionProblem problem =
      test::denseProblem({FrictionLaw::rolling(0.5, 0.1, 0.1)}, Eigen::MatrixXd::Identity(6, 6), Eigen::VectorXd::Constant(6, -1));
  FrictionSystem system;
  system.pack(problem, {0});
  FrictionEquations equations;
  equations.set(system);
  FrictionPath path;
  EXPECT_FALSE(path.start(system, equations, 0.3));
}

}
}
