#include "support/dense.h"
#include "tendril/solvers/friction_solver.h"

#include <numeric>

#include <gtest/gtest.h>

#include "fc3d_reader.h"
#include "friction_problems.h"

namespace tendril {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr FrictionMethod everyMethod[] = {FrictionMethod::Automatic,      FrictionMethod::GaussSeidel, FrictionMethod::SemismoothNewton,
                                          FrictionMethod::ProximalNewton, FrictionMethod::Admm,        FrictionMethod::InteriorPoint};
const char* const names[] = {"Automatic", "GaussSeidel", "SemismoothNewton", "ProximalNewton", "Admm", "InteriorPoint"};

struct Solution {
  VectorXd r, u;
  FrictionReport report;
};

Solution solve(const FrictionProblem& problem, const FrictionOptions& options = {}, const VectorXd& start = {}) {
  FrictionSolver solver;
  Solution solution;
  solution.r = start;
  solution.report = solver.solve(problem, options, solution.r);
  velocities(problem, solution.r, solution.u);
  return solution;
}

Solution solveBy(FrictionMethod method, const FrictionProblem& problem, double tolerance = 1e-10) {
  FrictionOptions options;
  options.method = method;
  options.tolerance = tolerance;
  return solve(problem, options);
}

VectorXd vector(std::initializer_list<double> entries) {
  VectorXd x(entries.size());
  std::copy(entries.begin(), entries.end(), x.data());
  return x;
}

std::vector<FrictionLaw> laws(int count, const FrictionLaw& law) { return std::vector<FrictionLaw>(count, law); }

// ---------------------------------------------------------------------------------------------------------------- one contact

// Closed forms for W = diag(2, 4, 4), q_n = -1: r_n = 1/2; sticks with r_t = -q_t / 4 up to |r_t| = mu / 2.
TEST(OneContact, TakesOff_Sticks_Slides) {
  const MatrixXd W = vector({2, 4, 4}).asDiagonal();
  const auto impulses = [&](const VectorXd& q) { return solve(test::denseProblem({FrictionLaw::coulomb(0.5)}, W, q)).r; };
  EXPECT_EQ(impulses(vector({1, 3, 4})), VectorXd::Zero(3));
  EXPECT_LT((impulses(vector({-1, 0.3, 0.4})) - vector({0.5, -0.075, -0.1})).norm(), 1e-15);
  EXPECT_LT((impulses(vector({-1, 3, 4})) - vector({0.5, -0.15, -0.2})).norm(), 1e-15);
}

TEST(OneContact, ObeysTheLawForAnyMatrixAndCoefficient) {
  std::mt19937 engine(3);
  for (int sample = 0; sample < 300; ++sample) {
    const MatrixXd root = test::randomMatrix(3, 3 + sample % 3, engine);
    const FrictionProblem problem =
        test::denseProblem({FrictionLaw::coulomb(0.02 * (sample % 101))}, root * root.transpose(), test::randomMatrix(3, 1, engine));
    const Solution solution = solve(problem);
    EXPECT_TRUE(solution.report.converged) << sample;
    EXPECT_LT(test::lawDefect(problem, solution.u, solution.r), 1e-10 * (1 + solution.r.squaredNorm())) << sample;
  }
}

TEST(OneContact, UnsymmetricMatricesAreSolvedAsTheyAre) {
  std::mt19937 engine(4);
  for (int sample = 0; sample < 100; ++sample) {
    const MatrixXd root = test::randomMatrix(3, 3, engine);
    const MatrixXd W = root * root.transpose() + MatrixXd::Identity(3, 3) + 2e-3 * test::randomMatrix(3, 3, engine);
    const FrictionProblem problem = test::denseProblem({FrictionLaw::coulomb(0.7)}, W, test::randomMatrix(3, 1, engine));
    const Solution solution = solve(problem);
    EXPECT_LT((solution.u - W * solution.r - problem.q).norm(), 1e-13);
    EXPECT_LT(test::lawDefect(problem, solution.u, solution.r), 1e-11);
  }
}

TEST(OneContact, WithoutFrictionTheTangentialImpulseIsExactlyZero) {
  const MatrixXd W = (MatrixXd(3, 3) << 2, 0.5, -0.3, 0.5, 3, 0.1, -0.3, 0.1, 4).finished();
  const VectorXd r = solve(test::denseProblem({FrictionLaw::coulomb(0)}, W, vector({-1, 2, 3}))).r;
  EXPECT_NEAR(r[0], 0.5, 1e-15);
  EXPECT_EQ(r[1], 0);
  EXPECT_EQ(r[2], 0);
}

// A rod of length 2 l slides with its tip on the ground, in the plane, at the angle theta: m W_nn = 1 + 3 cos^2, m W_tt = 1 + 3 sin^2,
// m W_nt = -3 sin cos. tan(theta) = 2, m = l = v = 1, one step of h = 1e-6 from omega = 0: q = (-h g, -1).
FrictionProblem slidingRod(double mu) {
  const double c = 1 / std::sqrt(5.0), s = 2 / std::sqrt(5.0), h = 1e-6, g = 9.81;
  const MatrixXd W = (MatrixXd(2, 2) << 1 + 3 * c * c, -3 * s * c, -3 * s * c, 1 + 3 * s * s).finished();
  return test::denseProblem({FrictionLaw::plane(mu)}, W, vector({-h * g, -1}));
}

TEST(OneContact, PainleveRodJamsOrSlides) {
  const Solution jam = solve(slidingRod(1.5));
  EXPECT_NEAR(jam.r[0], 0.30001, 2e-5);
  EXPECT_NEAR(jam.r[1], 0.40000, 2e-5);
  EXPECT_LT(jam.u.norm(), 1e-15);
  EXPECT_EQ(jam.report.ambiguous, std::vector<int>{0});
  const Solution slip = solve(slidingRod(1.2));
  EXPECT_NEAR(slip.r[0], 9.81e-6 / 0.16, 1e-18);
  EXPECT_NEAR(slip.r[1], 1.2 * slip.r[0], 1e-18);
  EXPECT_LT(slip.u[1], -0.99);
  EXPECT_TRUE(slip.report.ambiguous.empty());
}

TEST(OneContact, PainleveRodThatMayTakeOffDoes) {
  FrictionProblem problem = slidingRod(1.5);
  problem.q[0] = 1e-6;
  const Solution solution = solve(problem);
  EXPECT_EQ(solution.r, VectorXd::Zero(2));
  EXPECT_EQ(solution.report.ambiguous, std::vector<int>{0}); // a jam would obey the law as well
}

// W diagonal: every disc is on its own once r_n = -q_n / W_nn is known.
TEST(OneContact, RollingAndPivotingClosedForms) {
  const VectorXd diagonal = vector({2, 4, 4, 8, 8, 10});
  const auto impulses = [&](const VectorXd& q) {
    return solve(test::denseProblem({FrictionLaw::rolling(0.5, 0.1, 0.2)}, diagonal.asDiagonal(), q)).r;
  };
  EXPECT_LT((impulses(vector({-1, 0.3, 0.4, 0.03, 0.04, 0.1})) - vector({0.5, -0.075, -0.1, -0.03 / 8, -0.04 / 8, -0.01})).norm(), 1e-14);
  EXPECT_LT((impulses(vector({-1, 3, 4, 0.03, 0.04, 0.1})) - vector({0.5, -0.15, -0.2, -0.03 / 8, -0.04 / 8, -0.01})).norm(), 1e-14);
  EXPECT_LT((impulses(vector({-1, 0.3, 0.4, 3, -4, 0.1})) - vector({0.5, -0.075, -0.1, -0.03, 0.04, -0.01})).norm(), 1e-14);
  EXPECT_LT((impulses(vector({-1, 0.3, 0.4, 0.03, 0.04, -7})) - vector({0.5, -0.075, -0.1, -0.03 / 8, -0.04 / 8, 0.1})).norm(), 1e-14);
  EXPECT_EQ(impulses(vector({0.1, 3, 4, 3, 4, 5})), VectorXd::Zero(6));
}

TEST(OneContact, RollingFrictionWithCouplingObeysTheLaw) {
  std::mt19937 engine(8);
  for (int sample = 0; sample < 100; ++sample) {
    const MatrixXd root = test::randomMatrix(6, 8, engine);
    const FrictionProblem problem =
        test::denseProblem({FrictionLaw::rolling(0.6, 0.3, 0.15)}, root * root.transpose() / 8, test::randomMatrix(6, 1, engine));
    const Solution solution = solve(problem);
    EXPECT_TRUE(solution.report.converged) << sample << " " << solution.report.failure;
    EXPECT_LT(test::lawDefect(problem, solution.u, solution.r), 1e-7) << sample;
  }
}

// ---------------------------------------------------------------------------------------------------------------- many contacts

TEST(Column, ImpulsesCarryWhatIsAbove) {
  for (const int bodies : {1, 5, 50}) {
    const Solution solution = solve(test::column(bodies));
    EXPECT_TRUE(solution.report.converged);
    for (int i = 0; i < bodies; ++i) EXPECT_NEAR(solution.r[3 * i], bodies - i, 1e-9 * bodies);
    EXPECT_LT(solution.u.norm(), 1e-12);
  }
}

// Sweeps from the ground up, from zero, until impulses change by less than 1e-10: the number grows with the square of the height.
TEST(Column, GaussSeidelNeedsTheKnownNumberOfSweeps) {
  for (const auto& [bodies, expected] : {std::pair{5, 222}, {10, 866}, {20, 3358}}) {
    const Solution solution = solveBy(FrictionMethod::GaussSeidel, test::column(bodies));
    EXPECT_TRUE(solution.report.converged);
    EXPECT_NEAR(double(solution.report.sweeps), expected, 0.2 * expected);
  }
}

TEST(Column, ASolutionAsStartIsLeftAlone) {
  const FrictionProblem problem = test::column(20);
  const Solution first = solve(problem);
  const Solution second = solve(problem, {}, first.r);
  EXPECT_TRUE(second.report.converged);
  EXPECT_EQ(second.report.sweeps + second.report.newtonSteps, 0);
  EXPECT_EQ(second.r, first.r);
}

/// A table of unit mass on four legs, whose feet are at (+-1, +-1, -1) from its centre; q: falling by one.
FrictionProblem table(const std::vector<int>& order) {
  FrictionProblem problem;
  problem.laws = laws(4, FrictionLaw::coulomb(0.4));
  problem.layOut();
  problem.bodies.inverseInertia.assign(1, Eigen::Matrix<double, 6, 6>::Identity());
  problem.bodies.H.setZero(12, 12);
  problem.q.setZero(12);
  for (int i = 0; i < 4; ++i) {
    problem.bodies.touched.push_back({0, -1});
    const Eigen::Vector3d foot(order[i] & 1 ? 1 : -1, order[i] & 2 ? 1 : -1, -1);
    const Eigen::Vector3d axes[] = {Eigen::Vector3d::UnitZ(), Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitY()};
    for (int k = 0; k < 3; ++k) {
      problem.bodies.H.row(3 * i + k).head<3>() = axes[k];
      problem.bodies.H.row(3 * i + k).segment<3>(3) = foot.cross(axes[k]);
    }
    problem.q[3 * i] = -1;
  }
  return problem;
}

TEST(Table, TheSumOfTheLegsIsTheWeightAndNothingMoves) {
  for (const FrictionMethod method : everyMethod)
    for (const std::vector<int>& order : {std::vector{0, 1, 2, 3}, {3, 0, 2, 1}, {2, 3, 1, 0}}) {
      const Solution solution = solveBy(method, table(order), 1e-12);
      EXPECT_TRUE(solution.report.converged) << names[int(method)] << ": " << solution.report.failure;
      EXPECT_NEAR(solution.r[0] + solution.r[3] + solution.r[6] + solution.r[9], 1, 1e-10);
      EXPECT_LT(solution.u.norm(), 1e-10);
    }
}

/// All solutions of a plane problem by enumeration: every contact open, sticking, sliding one way or the other.
std::vector<VectorXd> enumerate(const FrictionProblem& problem) {
  const int n = problem.contacts();
  const MatrixXd W = test::denseW(problem);
  std::vector<VectorXd> solutions;
  for (int code = 0; code < 1 << (2 * n); ++code) {
    MatrixXd A = MatrixXd::Zero(2 * n, 2 * n);
    VectorXd b = VectorXd::Zero(2 * n);
    for (int i = 0; i < n; ++i) {
      const int mode = (code >> (2 * i)) & 3;
      const double mu = problem.laws[i].discs[0].coefficient;
      if (mode == 0) {
        A(2 * i, 2 * i) = A(2 * i + 1, 2 * i + 1) = 1;
        continue;
      }
      A.row(2 * i) = W.row(2 * i);
      b[2 * i] = -problem.q[2 * i];
      if (mode == 1) {
        A.row(2 * i + 1) = W.row(2 * i + 1);
        b[2 * i + 1] = -problem.q[2 * i + 1];
      } else {
        A(2 * i + 1, 2 * i + 1) = 1;
        A(2 * i + 1, 2 * i) = mode == 2 ? -mu : mu;
      }
    }
    const VectorXd r = test::solve(A, b), u = W * r + problem.q;
    if (test::lawDefect(problem, u, r) < 1e-10) solutions.push_back(r);
  }
  return solutions;
}

TEST(PlaneProblems, TheSolutionIsOneOfThoseThatEnumerationFinds) {
  std::mt19937 engine(12);
  for (int sample = 0; sample < 60; ++sample) {
    const int n = 1 + sample % 4;
    const MatrixXd root = test::randomMatrix(2 * n, 2 * n + 2, engine);
    const FrictionProblem problem = test::denseProblem(laws(n, FrictionLaw::plane(0.1 + 0.3 * (sample % 3))),
                                                       root * root.transpose() / (2 * n), test::randomMatrix(2 * n, 1, engine));
    const std::vector<VectorXd> solutions = enumerate(problem);
    for (const FrictionMethod method : everyMethod) {
      const Solution found = solveBy(method, problem, 1e-12);
      EXPECT_TRUE(found.report.converged) << sample << " " << names[int(method)] << " " << found.report.failure;
      double nearest = std::numeric_limits<double>::infinity();
      for (const VectorXd& r : solutions) nearest = std::min(nearest, (found.r - r).norm());
      EXPECT_LT(nearest, 1e-9) << sample << " " << names[int(method)] << ", " << solutions.size() << " solutions";
    }
  }
}

TEST(RandomBodies, AllMethodsAgreeInTheVelocities) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    const FrictionProblem problem = test::randomBodies(6, laws(8, FrictionLaw::coulomb(0.1 * seed)), seed);
    const Solution reference = solveBy(FrictionMethod::Automatic, problem, 1e-11);
    EXPECT_TRUE(reference.report.converged) << seed << reference.report.failure;
    EXPECT_LT(test::lawDefect(problem, reference.u, reference.r), 1e-8) << seed;
    for (const FrictionMethod method : everyMethod)
      for (const bool blocks : {false, true}) {
        const FrictionProblem stored = blocks ? test::inBlocks(problem) : problem;
        const Solution solution = solveBy(method, stored, 1e-11);
        EXPECT_TRUE(solution.report.converged) << seed << " " << names[int(method)] << solution.report.failure;
        EXPECT_LT((solution.u - reference.u).norm(), 1e-7) << seed << " " << names[int(method)] << (blocks ? " blocks" : " bodies");
      }
  }
}

TEST(RandomBodies, AllKindsOfContactTogether) {
  const std::vector<FrictionLaw> mixed{FrictionLaw::coulomb(0.5), FrictionLaw::plane(0.3), FrictionLaw::frictionless(),
                                       FrictionLaw::bilateral(2), FrictionLaw::coulomb(0), FrictionLaw::rolling(0.6, 0.2, 0.1),
                                       FrictionLaw::bilateral(1)};
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const FrictionProblem problem = test::randomBodies(7, mixed, seed);
    for (const FrictionMethod method : everyMethod)
      for (const bool blocks : {false, true}) {
        const FrictionProblem stored = blocks ? test::inBlocks(problem) : problem;
        const Solution solution = solveBy(method, stored, 1e-9);
        EXPECT_TRUE(solution.report.converged) << seed << " " << names[int(method)] << (blocks ? " blocks" : " bodies")
                                               << solution.report.failure;
        EXPECT_LT(test::lawDefect(problem, solution.u, solution.r), 1e-6) << seed << " " << names[int(method)];
      }
  }
}

TEST(RandomBodies, TheOrderOfTheContactsDoesNotMatter) {
  const FrictionProblem problem = test::inBlocks(test::randomBodies(6, laws(8, FrictionLaw::coulomb(0.4)), 21));
  const Solution reference = solve(problem);
  const MatrixXd W = test::denseW(problem);
  MatrixXd reversed(24, 24);
  VectorXd q(24);
  for (int i = 0; i < 8; ++i) {
    q.segment<3>(3 * i) = problem.q.segment<3>(3 * (7 - i));
    for (int j = 0; j < 8; ++j) reversed.block<3, 3>(3 * i, 3 * j) = W.block<3, 3>(3 * (7 - i), 3 * (7 - j));
  }
  const Solution solution = solve(test::denseProblem(problem.laws, reversed, q));
  for (int i = 0; i < 8; ++i) EXPECT_LT((solution.u.segment<3>(3 * i) - reference.u.segment<3>(3 * (7 - i))).norm(), 1e-8);
}

TEST(RandomBodies, UnitsChangeNothing) {
  const FrictionProblem problem = test::randomBodies(6, laws(8, FrictionLaw::coulomb(0.4)), 22);
  FrictionOptions options;
  options.measure = FrictionOptions::Measure::Scaled;
  const Solution reference = solve(problem, options);
  for (const double mass : {1e3, 1e-6})
    for (const double velocity : {1.0, 1e3, 1e-4}) {
      FrictionProblem scaled = problem;
      for (auto& inverse : scaled.bodies.inverseInertia) inverse /= mass;
      scaled.q *= velocity;
      const Solution solution = solve(scaled, options);
      EXPECT_TRUE(solution.report.converged);
      EXPECT_LT((solution.u / velocity - reference.u).norm(), 1e-7);
      EXPECT_LT((solution.r / (velocity * mass) - reference.r).norm(), 1e-6 * reference.r.norm());
    }
}

TEST(RandomBodies, CoefficientsUpToTwo) {
  for (const double mu : {0.0, 0.01, 0.5, 1.0, 2.0})
    for (unsigned seed = 30; seed < 35; ++seed) {
      const FrictionProblem problem = test::randomBodies(10, laws(12, FrictionLaw::coulomb(mu)), seed);
      const Solution solution = solve(problem);
      EXPECT_TRUE(solution.report.converged) << mu << " " << seed << " " << solution.report.failure;
      EXPECT_LT(test::lawDefect(problem, solution.u, solution.r), 1e-5) << mu << " " << seed;
    }
}

// ---------------------------------------------------------------------------------------------------------------- the solver itself

/// Columns of several heights side by side, with something to slide on top of each.
FrictionProblem columns() {
  FrictionProblem problem;
  int contact = 0;
  for (int k = 0; k < 12; ++k) {
    const FrictionProblem one = test::column(3 + k);
    const int shift = int(problem.bodies.inverseInertia.size());
    for (int i = 0; i < one.contacts(); ++i, ++contact) {
      problem.laws.push_back(one.laws[i]);
      const auto [a, b] = one.bodies.touched[i];
      problem.bodies.touched.push_back({a + shift, b < 0 ? -1 : b + shift});
    }
    problem.bodies.inverseInertia.insert(problem.bodies.inverseInertia.end(), one.bodies.inverseInertia.begin(),
                                         one.bodies.inverseInertia.end());
  }
  problem.layOut();
  problem.bodies.H.setZero(problem.rows(), 12);
  problem.q.setZero(problem.rows());
  std::mt19937 engine(1);
  for (int i = 0; i < contact; ++i) {
    problem.bodies.H.block<3, 3>(3 * i, 0).setIdentity();
    if (problem.bodies.touched[i][1] >= 0) problem.bodies.H.block<3, 3>(3 * i, 6) = -Eigen::Matrix3d::Identity();
    problem.q.segment<3>(3 * i) = 0.3 * test::randomMatrix(3, 1, engine);
    if (problem.bodies.touched[i][1] < 0) problem.q[3 * i] -= 1;
  }
  return problem;
}

TEST(FrictionSolver, TheNumberOfThreadsChangesNotOneBit) {
  const FrictionProblem problem = columns();
  FrictionOptions options;
  const Solution one = solve(problem, options);
  EXPECT_TRUE(one.report.converged);
  EXPECT_EQ(one.report.islands, 12);
  for (const int threads : {2, 3, 8}) {
    options.threads = threads;
    const Solution many = solve(problem, options);
    EXPECT_EQ(many.r, one.r);
    EXPECT_EQ(many.report.sweeps, one.report.sweeps);
    EXPECT_EQ(many.report.method, one.report.method);
  }
}

TEST(FrictionSolver, WhatSticksDoesNotMove) {
  // A box on a slope inside its cone: q by gravity along the slope.
  FrictionProblem problem = table({0, 1, 2, 3});
  for (int i = 0; i < 4; ++i) problem.q[3 * i + 1] = 0.3;
  const Solution solution = solve(problem);
  EXPECT_TRUE(solution.report.converged);
  EXPECT_LT(solution.u.norm(), 1e-13);
}

TEST(FrictionSolver, EmptyAndResting) {
  const Solution empty = solve(FrictionProblem());
  EXPECT_TRUE(empty.report.converged);
  EXPECT_EQ(empty.r.size(), 0);
  FrictionProblem problem = test::column(4);
  problem.q.setZero();
  const Solution resting = solve(problem);
  EXPECT_TRUE(resting.report.converged);
  EXPECT_EQ(resting.r, VectorXd::Zero(12));
}

TEST(FrictionSolver, AMatrixOfZerosHasNoSolutionAndSaysSo) {
  const Solution solution = solve(test::denseProblem({FrictionLaw::coulomb(0.5)}, MatrixXd::Zero(3, 3), vector({-1, 0, 0})));
  EXPECT_FALSE(solution.report.converged);
  EXPECT_TRUE(solution.r.allFinite());
  EXPECT_NE(solution.report.failure.find("contact 0"), std::string::npos) << solution.report.failure;
  EXPECT_TRUE(solve(test::denseProblem({FrictionLaw::coulomb(0.5)}, MatrixXd::Zero(3, 3), vector({1, 2, 3}))).report.converged);
}

TEST(FrictionSolver, NumbersThatAreNoneAreNamed) {
  for (const FrictionMethod method : everyMethod) {
    FrictionProblem problem = test::column(3);
    problem.q[4] = std::nan("");
    const Solution inVelocity = solveBy(method, problem);
    EXPECT_FALSE(inVelocity.report.converged);
    EXPECT_NE(inVelocity.report.failure.find("contact 1"), std::string::npos) << inVelocity.report.failure;
    problem = test::inBlocks(test::column(3));
    problem.W.values[2] = std::nan("");
    EXPECT_NE(solveBy(method, problem).report.failure.find("not finite"), std::string::npos);
  }
}

TEST(FrictionSolver, AFailureTellsItsResidualAndTheWorstContact) {
  FrictionOptions options;
  options.method = FrictionMethod::GaussSeidel;
  options.maxIterations = 5;
  const Solution solution = solve(test::column(30), options);
  EXPECT_FALSE(solution.report.converged);
  EXPECT_GT(solution.report.residual.scaled, 1e-8);
  EXPECT_NE(solution.report.failure.find("residual"), std::string::npos);
  EXPECT_GE(solution.report.residual.worst, 0);
}

TEST(FrictionSolver, TheReportTellsWhatWasDone) {
  const Solution solution = solve(test::column(20));
  EXPECT_NE(solution.report.method.find("Gauss-Seidel"), std::string::npos) << solution.report.method;
  EXPECT_NE(solution.report.method.find("Newton"), std::string::npos) << solution.report.method;
  EXPECT_GT(solution.report.seconds, 0);
}

// ---------------------------------------------------------------------------------------------------------------- public problems

class PublicProblems : public testing::TestWithParam<const char*> {};

TEST_P(PublicProblems, AreSolvedByTheDefault) {
  const FrictionProblem problem = test::readFc3d(test::fc3dFolder() / GetParam());
  EXPECT_EQ(findDefect(problem), "");
  const Solution solution = solve(problem);
  EXPECT_TRUE(solution.report.converged) << solution.report.failure;
  EXPECT_LT(frictionResidual(problem, solution.r, solution.u).published, 1e-8);
  EXPECT_LT(frictionResidual(problem, solution.r, solution.u).scaled, 1e-8);
}

INSTANTIATE_TEST_SUITE_P(Fc3d, PublicProblems,
                         testing::Values("BoxesStack1-i100000-32.hdf5.dat", "Capsules-i100-1090.dat", "Capsules-i101-404.dat",
                                         "Confeti-ex13-4contact-Fc3D-SBM.dat", "Confeti-ex13-Fc3D-SBM.dat", "FC3D_Example1.dat",
                                         "FC3D_Example1_SBM.dat", "KaplasTower-i1061-4.hdf5.dat", "NESpheres_10_1.dat",
                                         "OneObject-i100000-316.hdf5.dat", "Rover1039.dat", "Rover1040.dat", "Rover11035.dat",
                                         "Rover4396.dat"),
                         [](const auto& file) {
                           std::string name = file.param;
                           name.resize(name.find_first_of('.'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}
}
