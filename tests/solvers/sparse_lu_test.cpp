#include "support/dense.h"
#include "tendril/solvers/sparse_lu.h"

#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "allocation_count.h"
#include "random_matrices.h"

namespace tendril {
namespace {

using test::randomSquare;
using test::randomVector;
using Backend = SparseLuOptions::Backend;

class SparseLuBackends : public ::testing::TestWithParam<Backend> {
 protected:
  SparseLuOptions options() const {
    SparseLuOptions chosen;
    chosen.backend = GetParam();
    return chosen;
  }
  bool klu() const { return std::string(SparseLu(options()).backend()) == "KLU"; }
};

INSTANTIATE_TEST_SUITE_P(All, SparseLuBackends, ::testing::Values(Backend::Automatic, Backend::Eigen));

TEST_P(SparseLuBackends, SolvesLikeADenseFactorisation) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const int n = 20 + 7 * int(seed);
    const SparseLu::Matrix A = randomSquare(n, seed);
    const Eigen::MatrixXd dense(A);
    const Eigen::VectorXd b = randomVector(n, seed + 100);
    SparseLu lu(options());
    ASSERT_TRUE(lu.factorise(A));
    const Eigen::VectorXd exact = test::solve(dense, b), exactTransposed = test::solve(dense.transpose(), b);
    Eigen::VectorXd x = b, y = b;
    lu.solve(x);
    lu.solveTransposed(y);
    const double condition = lu.estimateCondition();
    EXPECT_LE((x - exact).norm(), 1e-14 * condition * exact.norm());
    EXPECT_LE((y - exactTransposed).norm(), 1e-14 * condition * exactTransposed.norm());
    Eigen::MatrixXd X(n + 3, 2);
    X.topRows(n) << b, 2 * b;
    lu.solveMany(X.topRows(n));
    EXPECT_LE((X.col(1).head(n) - 2 * x).norm(), 1e-13 * condition * x.norm());
  }
}

TEST_P(SparseLuBackends, OrdersByColumnsToTheSameSolution) {
  const SparseLu::Matrix A = randomSquare(80, 3);
  const Eigen::VectorXd b = randomVector(80, 4);
  SparseLuOptions byColumns = options();
  byColumns.ordering = SparseLuOptions::Ordering::Columns;
  SparseLu lu(options()), other(byColumns);
  ASSERT_TRUE(lu.factorise(A));
  ASSERT_TRUE(other.factorise(A));
  Eigen::VectorXd x = b, y = b;
  lu.solve(x);
  other.solve(y);
  EXPECT_LE((x - y).norm(), 1e-14 * lu.estimateCondition() * x.norm());
  if (klu()) {
    EXPECT_NE((x - y).norm(), 0) << "pivots come in another order";
  }
}

/// [[A, B], [B^T, 0]]: a chain of blocks, each held by a multiplier, which is eliminated with its block.
TEST_P(SparseLuBackends, EliminatesMultipliersWithTheirGroups) {
  constexpr int blocks = 40, size = 3, n = blocks * (size + 1);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
  std::vector<int> groups(n);
  for (int k = 0; k < blocks; ++k) {
    const int at = size * k, row = size * blocks + k;
    const Eigen::VectorXd values = randomVector(4 * size * size, unsigned(k) + 1);
    dense.block<size, size>(at, at) = Eigen::Map<const Eigen::Matrix3d>(values.data()) + 4 * Eigen::Matrix3d::Identity();
    if (k + 1 < blocks) dense.block<size, size>(at, at + size) = Eigen::Map<const Eigen::Matrix3d>(values.data() + 9);
    if (k > 0) dense.block<size, size>(at, at - size) = Eigen::Map<const Eigen::Matrix3d>(values.data() + 18);
    dense.block<size, 1>(at, row) = values.segment<size>(27);
    dense.block<1, size>(row, at) = values.segment<size>(27).transpose();
    std::fill_n(groups.begin() + at, size, k);
    groups[std::size_t(row)] = k;
  }
  const SparseLu::Matrix A = dense.sparseView();
  const Eigen::VectorXd b = randomVector(n, 7), exact = test::solve(dense, b);
  SparseLuOptions chosen = options();
  chosen.pivotTolerance = 1e-4;
  SparseLu lu(chosen);
  lu.analyse(A, groups);
  ASSERT_TRUE(lu.factorise(A));
  Eigen::VectorXd x = b;
  lu.solve(x);
  EXPECT_LE((x - exact).norm(), 1e-13 * lu.estimateCondition() * exact.norm());
  groups.pop_back();
  EXPECT_THROW(lu.analyse(A, groups), std::invalid_argument);
}

/// A band whose factors are dense enough for supernodes, in groups of five, rows numbered at random.
SparseLu::Matrix scatteredBand(int groupCount, std::vector<int>& groups) {
  constexpr int size = 5, reach = 45;
  const int n = size * groupCount;
  std::vector<Eigen::Triplet<double>> entries;
  const Eigen::VectorXd values = randomVector(n * (2 * reach + 1), 3);
  const auto scatter = [&](int row) { return int((long(row) * 7919) % n); };
  groups.assign(std::size_t(n), 0);
  for (int i = 0, k = 0; i < n; ++i) {
    groups[std::size_t(scatter(i))] = i / size;
    for (int j = std::max(0, i - reach); j < std::min(n, i + reach + 1); ++j)
      entries.emplace_back(scatter(i), scatter(j), values[k++] + (i == j ? 10 : 0));
  }
  SparseLu::Matrix A(n, n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

TEST_P(SparseLuBackends, DenseFactorsGoToSupernodes) {
  std::vector<int> groups;
  const SparseLu::Matrix A = scatteredBand(60, groups);
  const Eigen::VectorXd b = randomVector(300, 5), exact = test::solve(Eigen::MatrixXd(A), b);
  SparseLu lu(options());
  lu.analyse(A, groups);
  EXPECT_STREQ(lu.backend(), "Eigen SparseLU");
  ASSERT_TRUE(lu.factorise(A));
  Eigen::VectorXd x = b, y = b;
  lu.solve(x);
  EXPECT_LE((x - exact).norm(), 1e-14 * lu.estimateCondition() * exact.norm());
  lu.solveTransposed(y);
  EXPECT_LE((A.transpose() * y - b).norm(), 1e-12 * b.norm());
}

TEST_P(SparseLuBackends, SupernodesLeaveSingularMatricesToTheOther) {
  std::vector<int> groups;
  const SparseLu::Matrix good = scatteredBand(60, groups);
  SparseLu::Matrix A = good;
  for (int e = A.outerIndexPtr()[17]; e < A.outerIndexPtr()[18]; ++e) A.valuePtr()[e] = 0;
  SparseLu lu(options());
  lu.analyse(A, groups);
  EXPECT_FALSE(lu.factorise(A));
  EXPECT_EQ(lu.singular().column, 17);
  ASSERT_TRUE(lu.factorise(good));
  Eigen::VectorXd x = good * Eigen::VectorXd::Ones(300);
  lu.solve(x);
  EXPECT_LE((x.array() - 1).abs().maxCoeff(), 1e-14 * lu.estimateCondition());
}

TEST_P(SparseLuBackends, ConditionEstimateIsALowerBoundOfTheRightSize) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const SparseLu::Matrix A = randomSquare(60, seed);
    const Eigen::MatrixXd dense(A), inverse = test::inverse(dense);
    const double exact = dense.cwiseAbs().colwise().sum().maxCoeff() * inverse.cwiseAbs().colwise().sum().maxCoeff();
    SparseLu lu(options());
    ASSERT_TRUE(lu.factorise(A));
    EXPECT_LE(lu.estimateCondition(), exact * (1 + 1e-10));
    EXPECT_GE(lu.estimateCondition(), exact / 3);
  }
}

TEST_P(SparseLuBackends, NewValuesInTheSamePattern) {
  SparseLu::Matrix A = randomSquare(80, 5);
  SparseLu lu(options());
  lu.analyse(A);
  for (int k = 0; k < 10; ++k) {
    for (int e = 0; e < A.nonZeros(); ++e) A.valuePtr()[e] *= 1 + 0.02 * std::sin(e + k);
    ASSERT_TRUE(lu.factorise(A));
    const Eigen::VectorXd exact = randomVector(80, unsigned(k));
    Eigen::VectorXd x = A * exact;
    lu.solve(x);
    EXPECT_LE((x - exact).norm(), 1e-14 * lu.estimateCondition() * exact.norm());
  }
  if (klu()) {
    EXPECT_EQ(lu.pivotedCount(), 1);
    EXPECT_EQ(lu.keptCount(), 9);
  }
}

/// The pivots of the first matrix are tiny in the second: keeping them loses all digits, as 1/1e-13 swamps the other entries.
TEST_P(SparseLuBackends, ChoosesNewPivotsWhenTheOldOnesGrowPoor) {
  Eigen::MatrixXd dense(3, 3);
  dense << 4, 1, 1, 1, 5, 1, 1, 1, 6;
  SparseLu::Matrix A = dense.sparseView();
  A.makeCompressed();
  SparseLu lu(options());
  ASSERT_TRUE(lu.factorise(A));
  for (int i = 0; i < 3; ++i) A.coeffRef(i, i) = 1e-13 * (i + 1);
  ASSERT_TRUE(lu.factorise(A));
  const Eigen::Vector3d exact(1, -2, 3);
  Eigen::VectorXd x = A * exact;
  lu.solve(x);
  EXPECT_LE((x - exact).norm(), 1e-14);
  if (klu()) {
    EXPECT_EQ(lu.pivotedCount(), 2);
  }
}

TEST_P(SparseLuBackends, RefinementReachesRounding) {
  // Rows and columns of scales 1e-6 .. 1e6, a factorisation of a perturbed matrix.
  SparseLu::Matrix A = randomSquare(100, 9);
  SparseLu::Matrix perturbed = A;
  for (int e = 0; e < A.nonZeros(); ++e) perturbed.valuePtr()[e] *= 1 + 1e-5 * std::cos(3 * e);
  SparseLu lu(options());
  ASSERT_TRUE(lu.factorise(perturbed));
  const Eigen::VectorXd b = randomVector(100, 3);
  Eigen::VectorXd x = b;
  lu.solve(x);
  EXPECT_GE(lu.refine(A, b, x, 0), 1e-9);
  EXPECT_LE(lu.refine(A, b, x, 8), 4e-16);
  const Eigen::VectorXd settled = x;
  lu.refine(A, b, x, 1);
  EXPECT_LE((x - settled).norm(), 1e-12 * settled.norm());
}

TEST_P(SparseLuBackends, NamesTheStructurallyDependentColumn) {
  std::vector<Eigen::Triplet<double>> entries{{0, 0, 1.0}, {1, 1, 2.0}, {2, 1, 1.0}, {1, 2, 1.0}, {2, 2, 3.0}};
  SparseLu::Matrix A(4, 4); // column 3 and row 3 are empty
  A.setFromTriplets(entries.begin(), entries.end());
  SparseLu lu(options());
  EXPECT_FALSE(lu.factorise(A));
  EXPECT_TRUE(lu.singular().singular);
  EXPECT_EQ(lu.singular().column, 3);
  EXPECT_EQ(lu.singular().structuralRank, klu() ? 3 : -1);
  Eigen::VectorXd x = Eigen::VectorXd::Ones(4);
  EXPECT_THROW(lu.solve(x), std::logic_error);
}

TEST_P(SparseLuBackends, FindsNumericalSingularity) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    // Column 7 becomes the sum of columns 3 and 11, hidden in a regular pattern.
    Eigen::MatrixXd dense(randomSquare(40, seed));
    dense.col(7) = dense.col(3) + dense.col(11);
    SparseLu::Matrix A = dense.sparseView();
    A.makeCompressed();
    SparseLu lu(options());
    EXPECT_FALSE(lu.factorise(A)) << seed;
    EXPECT_TRUE(lu.singular().singular);
    EXPECT_TRUE(lu.singular().column == 3 || lu.singular().column == 7 || lu.singular().column == 11) << lu.singular().column;
    EXPECT_LE(lu.singular().numericalRank, 39);
  }
}

TEST_P(SparseLuBackends, RecoversAfterASingularMatrix) {
  SparseLu::Matrix A = randomSquare(30, 4);
  const SparseLu::Matrix good = A;
  SparseLu lu(options());
  ASSERT_TRUE(lu.factorise(A));
  for (int e = A.outerIndexPtr()[5]; e < A.outerIndexPtr()[6]; ++e) A.valuePtr()[e] = 0;
  EXPECT_FALSE(lu.factorise(A));
  EXPECT_EQ(lu.singular().column, 5);
  A.valuePtr()[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(lu.factorise(A));
  EXPECT_FALSE(lu.finite());
  ASSERT_TRUE(lu.factorise(good));
  EXPECT_TRUE(lu.finite());
  EXPECT_FALSE(lu.singular().singular);
  Eigen::VectorXd x = good * Eigen::VectorXd::Ones(30);
  lu.solve(x);
  EXPECT_LE((x.array() - 1).abs().maxCoeff(), 1e-14 * lu.estimateCondition());
}

TEST_P(SparseLuBackends, BadScalingIsNotSingular) {
  SparseLu::Matrix A = randomSquare(50, 2);
  const Eigen::VectorXd rows = Eigen::VectorXd::NullaryExpr(50, [](Eigen::Index i) { return std::pow(10.0, double(i % 13) - 6); });
  const Eigen::VectorXd columns = Eigen::VectorXd::NullaryExpr(50, [](Eigen::Index i) { return std::pow(10.0, double(i % 11) * 2 - 10); });
  A = rows.asDiagonal() * A * columns.asDiagonal();
  SparseLu lu(options());
  ASSERT_TRUE(lu.factorise(A));
  const Eigen::VectorXd exact = columns.cwiseInverse();
  Eigen::VectorXd x = A * exact;
  lu.solve(x);
  EXPECT_LE((x.cwiseProduct(columns).array() - 1).abs().maxCoeff(), 1e-11);
}

TEST_P(SparseLuBackends, RefusesWhatItCannotTake) {
  SparseLu lu(options());
  EXPECT_THROW(lu.analyse(SparseLu::Matrix(3, 4)), std::invalid_argument);
  SparseLu::Matrix open(3, 3);
  open.insert(0, 0) = 1;
  EXPECT_THROW(lu.analyse(open), std::invalid_argument);
  lu.analyse(randomSquare(10, 1));
  EXPECT_THROW(lu.factorise(randomSquare(11, 1)), std::invalid_argument);
  ASSERT_TRUE(SparseLu(options()).factorise(SparseLu::Matrix(0, 0)));
}

TEST(SparseLuMemory, NothingIsAllocatedWithKeptPivots) {
  SparseLu::Matrix A = randomSquare(200, 8);
  SparseLu lu;
  if (std::string(lu.backend()) != "KLU" || !allocationsCounted()) GTEST_SKIP();
  ASSERT_TRUE(lu.factorise(A));
  const Eigen::VectorXd b = randomVector(200, 1);
  Eigen::VectorXd x = b;
  const long before = allocationCount();
  for (int k = 0; k < 5; ++k) {
    for (int e = 0; e < A.nonZeros(); ++e) A.valuePtr()[e] *= 1.001;
    lu.factorise(A);
    x = b;
    lu.solve(x);
    lu.refine(A, b, x, 2);
    lu.solveTransposed(x);
    lu.estimateCondition();
  }
  EXPECT_EQ(allocationCount(), before);
  EXPECT_EQ(lu.keptCount(), 5);
  const long counted = allocationCount();
  delete new SparseLu;
  EXPECT_GT(allocationCount(), counted); // the counter counts
}

}
}
