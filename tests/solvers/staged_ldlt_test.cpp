#include "support/dense.h"
#include "tendril/solvers/staged_ldlt.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include "allocation_count.h"
#include "random_matrices.h"

namespace tendril {
namespace {

using test::randomVector;

void fill(StagedMatrix& A, unsigned seed, double lowest = -1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> value(lowest, 1);
  for (double& v : A.values()) v = value(engine);
}

Eigen::MatrixXd dense(const StagedMatrix& A) {
  Eigen::MatrixXd full = Eigen::MatrixXd::Zero(A.order(), A.order());
  const auto stage = [&](int i) {
    int k = 0;
    while (k < A.stages() && i >= A.offset(k + 1)) ++k;
    return k;
  };
  for (int j = 0; j < A.order(); ++j)
    for (int i = j; i < A.order(); ++i)
      if (stage(i) == A.stages() || stage(i) <= stage(j) + 1) full(i, j) = full(j, i) = A.values()[A.position(i, j)];
  return full;
}

Inertia eigenvalueSigns(const Eigen::MatrixXd& A) {
  const Eigen::VectorXd values = test::eigenvalues(A);
  const double zero = 1e-12 * values.cwiseAbs().maxCoeff();
  return {int((values.array() > zero).count()), int((values.array() < -zero).count()), int((values.array().abs() <= zero).count())};
}

void expectSolves(StagedLdlt& ldlt, const StagedMatrix& A, const Eigen::MatrixXd& full, unsigned seed) {
  const Eigen::VectorXd exact = randomVector(A.order(), seed), b = full * exact;
  Eigen::VectorXd x = b;
  ldlt.solve(x);
  const double conditioned = test::inverse(full).lpNorm<Eigen::Infinity>() * full.lpNorm<Eigen::Infinity>();
  EXPECT_LE((x - exact).lpNorm<Eigen::Infinity>(), 1e-13 * std::max(conditioned, 1e3));
  EXPECT_LE((full * x - b).lpNorm<Eigen::Infinity>(), 1e-11 * full.lpNorm<Eigen::Infinity>() * x.lpNorm<Eigen::Infinity>());
  EXPECT_LE(ldlt.solve(A, b, x), 4e-16);
}

struct Shape {
  std::vector<int> sizes;
  int border;
};

class StagedLdltShapes : public ::testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(All, StagedLdltShapes,
                         ::testing::Values(Shape{{7}, 0}, Shape{{0}, 5}, Shape{{6, 6, 6, 6, 6, 6, 6, 6}, 0},
                                           Shape{{1, 2, 3, 4, 5, 4, 3, 2, 1}, 2}, Shape{{9, 0, 5, 1, 0, 0, 7, 3}, 3},
                                           Shape{{12, 20, 8, 30, 17}, 6}, Shape{{1, 1, 1, 1, 1, 1}, 1}));

TEST_P(StagedLdltShapes, SolvesAndCountsSignsAsDenseMatricesDo) {
  StagedMatrix A(GetParam().sizes, GetParam().border);
  StagedLdlt ldlt;
  for (unsigned seed = 1; seed <= 30; ++seed) {
    fill(A, seed);
    const Eigen::MatrixXd full = dense(A);
    ASSERT_TRUE(ldlt.factorise(A)) << seed;
    EXPECT_EQ(ldlt.inertia(), eigenvalueSigns(full)) << seed;
    expectSolves(ldlt, A, full, seed);
    if (HasFailure()) return;
  }
}

TEST_P(StagedLdltShapes, MultipliesAsDenseMatricesDo) {
  StagedMatrix A(GetParam().sizes, GetParam().border);
  fill(A, 3);
  const Eigen::VectorXd x = randomVector(A.order(), 4);
  Eigen::VectorXd y(A.order());
  A.multiply(x, y);
  EXPECT_LE((y - dense(A) * x).lpNorm<Eigen::Infinity>(), 1e-14 * A.order());
}

/// min sum |x_k|^2 + r u_k^2, x_{k+1} = Phi x_k + g u_k: within a stage the rows of the dynamics have far more rows than controls, so no
/// stage is regular by itself.
StagedMatrix linearQuadratic(int stages, int states, unsigned seed) {
  std::vector<int> sizes(stages + 1, 2 * states + 1);
  sizes.back() = states;
  StagedMatrix A(sizes, states); // the border fixes x_0
  const Eigen::VectorXd g = randomVector(states, seed);
  const Eigen::MatrixXd Phi =
      Eigen::MatrixXd::Identity(states, states) + 0.1 * Eigen::MatrixXd::NullaryExpr(states, states, [&] { return g[0]; });
  auto& v = A.values();
  for (int k = 0; k <= stages; ++k) {
    const int x = A.offset(k), u = x + states, row = u + 1;
    for (int i = 0; i < states; ++i) {
      v[A.position(x + i, x + i)] = k % 3 == 0 ? 0 : 1;
      if (k == 0) v[A.position(A.offset(stages + 1) + i, i)] = 1;
      if (k == stages) continue;
      v[A.position(u, u)] = 0.1;
      for (int j = 0; j < states; ++j) v[A.position(row + i, x + j)] = Phi(i, j);
      v[A.position(row + i, u)] = g[i];
      v[A.position(row + i, A.offset(k + 1) + i)] = -1;
    }
  }
  return A;
}

TEST(StagedLdlt, DelaysPivotsOfStagesThatAreSingularByThemselves) {
  for (int states : {1, 3, 6}) {
    const StagedMatrix A = linearQuadratic(12, states, 5);
    StagedLdlt ldlt;
    ASSERT_TRUE(ldlt.factorise(A));
    const int variables = 13 * states + 12;
    EXPECT_EQ(ldlt.inertia(), (Inertia{variables, 13 * states, 0}));
    EXPECT_TRUE(states == 1 || ldlt.delayedPivots() > 0);
    expectSolves(ldlt, A, dense(A), 6);
  }
}

/// Rows whose sizes differ by orders of magnitude, as barriers make them: fronts do not grow, and signs stay (Sylvester).
TEST(StagedLdlt, FrontsStaySmallWhereSizesDiffer) {
  constexpr int stages = 60, size = 6;
  StagedMatrix A(std::vector<int>(stages, size), 0);
  fill(A, 3);
  StagedLdlt even;
  ASSERT_TRUE(even.factorise(A));
  const Eigen::VectorXd power = randomVector(A.order(), 4);
  for (int j = 0; j < A.order(); ++j)
    for (int i = j; i < std::min(A.order(), (j / size + 2) * size); ++i)
      A.values()[A.position(i, j)] *= std::pow(10, 5 * (power[i] + power[j]));
  StagedLdlt strict({.leastPivotThreshold = 0.1}), relaxed;
  ASSERT_TRUE(strict.factorise(A));
  EXPECT_GT(strict.delayedPivots(), stages * size);
  ASSERT_TRUE(relaxed.factorise(A));
  EXPECT_LE(relaxed.delayedPivots(), stages * size / 2);
  EXPECT_EQ(relaxed.inertia(), even.inertia());
  Eigen::VectorXd x;
  EXPECT_LT(relaxed.solve(A, randomVector(A.order(), 5), x), 1e-15);
}

TEST(StagedLdlt, CountsZerosOfDependentRows) {
  StagedMatrix A = linearQuadratic(12, 3, 5);
  // The first condition on x_0 again in place of the second.
  const int border = A.offset(13);
  A.values()[A.position(border + 1, 1)] = 0;
  A.values()[A.position(border + 1, 0)] = 1;
  StagedLdlt ldlt;
  EXPECT_FALSE(ldlt.factorise(A));
  EXPECT_TRUE(ldlt.finite());
  EXPECT_EQ(ldlt.inertia().zero, 1);
  EXPECT_EQ(ldlt.inertia(), eigenvalueSigns(dense(A)));
}

TEST(StagedLdlt, SeesNumbersThatAreNotFinite) {
  StagedMatrix A({4, 4, 4}, 2);
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (std::size_t place : {std::size_t(0), A.position(5, 2), A.position(13, 13), A.position(12, 9)}) {
      fill(A, 1);
      A.values()[place] = bad;
      EXPECT_FALSE(StagedLdlt().factorise(A)) << place;
    }
  }
}

TEST(StagedLdlt, RefactorisesWithoutAllocation) {
  if (!allocationsCounted()) GTEST_SKIP();
  StagedMatrix A = linearQuadratic(20, 4, 5), B({6, 6, 6, 6, 6, 6}, 2);
  StagedLdlt first, second;
  first.factorise(A);
  fill(B, 1);
  second.factorise(B);
  Eigen::VectorXd a = randomVector(A.order(), 1), b = randomVector(B.order(), 1), x = a, y = b;
  const long before = allocationCount();
  first.factorise(A);
  first.solve(A, a, x);
  for (unsigned seed = 2; seed < 40; ++seed) {
    for (double& v : B.values()) v = std::sin(1e3 * v + seed); // other numbers, other pivots
    second.factorise(B);
    second.solve(B, b, y);
  }
  EXPECT_EQ(allocationCount(), before);
}

TEST(StagedLdlt, EffortIsLinearInTheNumberOfStages) {
  // Pivots delayed per stage, which the size of the fronts follows, must not grow with the number of stages.
  StagedLdlt shorter, longer;
  shorter.factorise(linearQuadratic(500, 4, 5));
  longer.factorise(linearQuadratic(1000, 4, 5));
  EXPECT_LE(longer.delayedPivots(), 2.05 * shorter.delayedPivots());
}

TEST(StagedLdlt, RefusesWhatTheStructureHasNot) {
  const StagedMatrix A({2, 2, 2}, 1);
  EXPECT_THROW((void)A.position(0, 4), std::invalid_argument);
  EXPECT_THROW((void)A.position(0, 7), std::invalid_argument);
  EXPECT_THROW(StagedMatrix({2, -1}, 0), std::invalid_argument);
}

}
}
