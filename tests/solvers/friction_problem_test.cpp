#include "tendril/solvers/friction_problem.h"

#include <limits>

#include <gtest/gtest.h>

#include "friction_problems.h"

namespace tendril {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

const std::vector<FrictionLaw> mixed{FrictionLaw::coulomb(0.5), FrictionLaw::plane(0.3), FrictionLaw::frictionless(),
                                     FrictionLaw::bilateral(5), FrictionLaw::rolling(0.6, 0.2, 0.1)};

FrictionProblem one(const FrictionLaw& law, const MatrixXd& W, const VectorXd& q) { return test::denseProblem({law}, W, q); }

VectorXd vector(std::initializer_list<double> entries) {
  VectorXd x(entries.size());
  std::copy(entries.begin(), entries.end(), x.data());
  return x;
}

TEST(FrictionProblem, LaysOutRowsInTheOrderOfTheContacts) {
  FrictionProblem problem;
  problem.laws = mixed;
  problem.layOut();
  EXPECT_EQ(problem.firstRow, (std::vector<int>{0, 3, 5, 6, 11, 17}));
  EXPECT_EQ(problem.rows(), 17);
}

TEST(FrictionProblem, BothStoragesGiveTheVelocitiesOfTheDenseMatrix) {
  const FrictionProblem problem = test::randomBodies(3, mixed, 4);
  MatrixXd H = MatrixXd::Zero(problem.rows(), 18), inverse = MatrixXd::Zero(18, 18);
  for (int b = 0; b < 3; ++b) inverse.block<6, 6>(6 * b, 6 * b) = problem.bodies.inverseInertia[b];
  for (int i = 0; i < problem.contacts(); ++i)
    for (int side = 0; side < 2; ++side)
      if (const int body = problem.bodies.touched[i][side]; body >= 0)
        H.block(problem.firstRow[i], 6 * body, problem.laws[i].size, 6) =
            problem.bodies.H.block(problem.firstRow[i], 6 * side, problem.laws[i].size, 6);
  const MatrixXd W = H * inverse * H.transpose();
  EXPECT_LT((test::denseW(problem) - W).norm(), 1e-13 * W.norm());
  std::mt19937 engine(1);
  const VectorXd r = test::randomMatrix(problem.rows(), 1, engine), expected = W * r + problem.q;
  VectorXd u;
  velocities(problem, r, u);
  EXPECT_LT((u - expected).norm(), 1e-13 * expected.norm());
  velocities(test::inBlocks(problem), r, u);
  EXPECT_LT((u - expected).norm(), 1e-13 * expected.norm());
}

TEST(FrictionProblem, AnUnsymmetricMatrixIsKeptAsItIs) {
  MatrixXd W = 2 * MatrixXd::Identity(6, 6);
  W(0, 3) = 0.5;
  W(3, 0) = 0.5005;
  const FrictionProblem problem = test::denseProblem({FrictionLaw::coulomb(0.3), FrictionLaw::coulomb(0.3)}, W, VectorXd::Zero(6));
  EXPECT_EQ(findDefect(problem), "");
  VectorXd u;
  velocities(problem, VectorXd::Unit(6, 3), u);
  EXPECT_EQ(u[0], 0.5);
  velocities(problem, VectorXd::Unit(6, 0), u);
  EXPECT_EQ(u[3], 0.5005);
}

// mu = 0.5, r = (1, 0, 0), u = (0, 1, 0): x = r - u - (0.5, 0, 0) = (0.5, -1, 0). Projected on |x_t| <= 0.5 x_n: s = (0.5 + 0.5) / 1.25 =
// 0.8, (0.8, -0.4, 0). The distance from r is |(0.2, 0.4)| = sqrt(0.2).
TEST(FrictionResidual, IsTheNaturalMapOfDeSaxceAndFeng) {
  const FrictionProblem problem = one(FrictionLaw::coulomb(0.5), MatrixXd::Identity(3, 3), vector({-3, 4, 0}));
  const FrictionResidual residual = frictionResidual(problem, vector({1, 0, 0}), vector({0, 1, 0}));
  EXPECT_NEAR(residual.published, std::sqrt(0.2) / 5, 1e-15);
  EXPECT_NEAR(residual.scaled, std::sqrt(0.2) / 5, 1e-15);
  EXPECT_EQ(residual.worst, 0);
}

TEST(FrictionResidual, IsAbsoluteWithoutVelocities) {
  const FrictionProblem problem = one(FrictionLaw::frictionless(), MatrixXd::Identity(1, 1), vector({0}));
  EXPECT_EQ(frictionResidual(problem, vector({-2}), vector({0})).published, 2);
}

TEST(FrictionResidual, VanishesAtSticking_Sliding_AndOpenContacts) {
  const FrictionProblem problem = one(FrictionLaw::coulomb(0.5), MatrixXd::Identity(3, 3), vector({-1, 0, 0}));
  EXPECT_EQ(frictionResidual(problem, vector({1, 0.3, 0.4}), vector({0, 0, 0})).published, 0);
  EXPECT_NEAR(frictionResidual(problem, vector({1, 0.3, 0.4}), vector({0, -6, -8})).published, 0, 1e-15);
  EXPECT_EQ(frictionResidual(problem, vector({0, 0, 0}), vector({2, -6, 8})).published, 0);
  EXPECT_GT(frictionResidual(problem, vector({1, 0.3, 0.4}), vector({0, 6, 8})).published, 0.1);  // pushes along the slip
  EXPECT_GT(frictionResidual(problem, vector({1, 0.5, 0.4}), vector({0, 0, 0})).published, 0.01); // outside the cone
}

TEST(FrictionResidual, OfSeveralDiscsIsTheDistanceToTheNearestPointOfTheirCone) {
  const FrictionLaw law = FrictionLaw::rolling(0.7, 0.3, 0.2);
  const FrictionProblem problem = one(law, MatrixXd::Identity(6, 6), VectorXd::Zero(6));
  std::mt19937 engine(5);
  for (int sample = 0; sample < 50; ++sample) {
    // u = -z and g from it: the point that is projected is r - u - g with r = 0
    const VectorXd u = test::randomMatrix(6, 1, engine);
    VectorXd z = -u;
    z[0] -= 0.7 * u.segment<2>(1).norm() + 0.3 * u.segment<2>(3).norm() + 0.2 * std::abs(u[5]);
    const double found = frictionResidual(problem, VectorXd::Zero(6), u).published;
    // The nearest point by bisection on the derivative of the distance along the normal component.
    const double lengths[] = {z.segment<2>(1).norm(), z.segment<2>(3).norm(), std::abs(z[5])}, mu[] = {0.7, 0.3, 0.2};
    double low = 0, high = 10;
    for (int k = 0; k < 200; ++k) {
      const double t = 0.5 * (low + high);
      double slope = t - z[0];
      for (int d = 0; d < 3; ++d) slope -= mu[d] * std::max(0.0, lengths[d] - mu[d] * t);
      (slope < 0 ? low : high) = t;
    }
    double size = low * low;
    for (int d = 0; d < 3; ++d) size += std::pow(std::min(lengths[d], mu[d] * low), 2);
    EXPECT_NEAR(found, std::sqrt(size), 1e-13);
  }
}

/// The problem in other units: masses and lengths measured by units `mass` and `length` times smaller, time as it was.
FrictionProblem inUnits(const FrictionProblem& problem, double mass, double length) {
  FrictionProblem scaled = problem;
  Eigen::Matrix<double, 6, 1> velocity;
  velocity << length, length, length, 1, 1, 1;
  for (auto& inverse : scaled.bodies.inverseInertia) // velocity over impulse
    inverse = velocity.asDiagonal() * inverse * velocity.asDiagonal() * (1 / (mass * length * length));
  for (int i = 0; i < problem.contacts(); ++i)
    for (int k = 0; k < problem.laws[i].size; ++k) {
      const bool turns = k >= 3;
      const int row = problem.firstRow[i] + k;
      scaled.q[row] *= turns ? 1 : length;
      for (int c = 0; c < 12; ++c) scaled.bodies.H(row, c) *= (turns ? 1 : length) / velocity[c % 6];
    }
  for (FrictionLaw& law : scaled.laws)
    for (int d = 1; d < law.discCount; ++d) law.discs[d].coefficient *= length;
  return scaled;
}

TEST(FrictionResidual, TheScaledMeasureDoesNotDependOnUnits) {
  const std::vector<FrictionLaw> laws{FrictionLaw::coulomb(0.5), FrictionLaw::rolling(0.6, 0.2, 0.1)};
  FrictionProblem problem = test::randomBodies(2, laws, 9);
  problem.q.tail<3>().setZero(); // of one unit, so that |q| scales with it
  std::mt19937 engine(2);
  const VectorXd r = test::randomMatrix(9, 1, engine);
  VectorXd u;
  velocities(problem, r, u);
  const FrictionResidual reference = frictionResidual(problem, r, u);
  for (const double mass : {1e3, 1e-6})
    for (const double length : {1e3, 1e-3}) {
      const FrictionProblem scaled = inUnits(problem, mass, length);
      VectorXd impulses = r * mass * length;
      impulses.tail<3>() *= length; // moments
      velocities(scaled, impulses, u);
      EXPECT_NEAR(frictionResidual(scaled, impulses, u).scaled, reference.scaled, 1e-10 * reference.scaled);
    }
}

TEST(FrictionDefect, NothingIsWrongWithSoundProblems) {
  const FrictionProblem problem = test::randomBodies(3, mixed, 4);
  EXPECT_EQ(findDefect(problem), "");
  EXPECT_EQ(findDefect(test::inBlocks(problem)), "");
  EXPECT_EQ(findDefect(FrictionProblem()), "");
}

/// A sound problem of blocks, spoilt.
template <class Spoil> std::string defectAfter(Spoil spoil) {
  FrictionProblem problem =
      test::denseProblem({FrictionLaw::coulomb(0.5), FrictionLaw::coulomb(0.5)}, MatrixXd::Identity(6, 6), VectorXd::Ones(6));
  spoil(problem);
  return findDefect(problem);
}

void expectNamed(const std::string& defect, const char* place, const char* what) {
  EXPECT_NE(defect.find(place), std::string::npos) << defect;
  EXPECT_NE(defect.find(what), std::string::npos) << defect;
}

TEST(FrictionDefect, NamesTheContactAndWhatIsWrong) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expectNamed(defectAfter([&](FrictionProblem& p) { p.q[4] = nan; }), "contact 1", "q is not finite");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.W.values[3 * 9 + 4] = nan; }), "contact 1", "not finite");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.W.values[9 + 4] = 1.0 / 0.0; }), "contacts 0 and 1", "not finite");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.laws[1].discs[0].coefficient = -0.1; }), "contact 1", "-0.1");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.laws[1].discs[0].first = 2; }), "contact 1", "rows");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.W.values[27] = -1; }), "contact 1", "positive semidefinite");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.W.values[9] = 0.1; }), "contacts 0 and 1", "symmetric");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.q.conservativeResize(5); }), "q has 5 rows", "6");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.W.blocks[1].column = 7; }), "contact 0", "7");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.W.values.resize(30); }), "contacts 1 and 1", "outside");
  expectNamed(defectAfter([&](FrictionProblem& p) { p.firstRow.pop_back(); }), "layOut()", "contacts");
}

TEST(FrictionDefect, NamesTheBody) {
  FrictionProblem problem = test::randomBodies(3, mixed, 4);
  problem.bodies.inverseInertia[1](2, 2) = -1;
  expectNamed(findDefect(problem), "body 1", "positive semidefinite");
  problem = test::randomBodies(3, mixed, 4);
  problem.bodies.inverseInertia[2](2, 2) = 1.0 / 0.0;
  expectNamed(findDefect(problem), "body 2", "positive mass");
  problem = test::randomBodies(3, mixed, 4);
  problem.bodies.touched[3][0] = 5;
  expectNamed(findDefect(problem), "contact 3", "body 5");
  problem = test::randomBodies(3, mixed, 4);
  problem.bodies.H(4, 2) = std::nan("");
  expectNamed(findDefect(problem), "contact 1", "H");
}

}
}
