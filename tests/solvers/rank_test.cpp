#include "support/dense.h"
#include "tendril/solvers/rank.h"

#include <chrono>
#include <limits>
#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "random_matrices.h"

namespace tendril {
namespace {

using test::randomSparse;
using test::randomVector;
using test::Sparse;
using Rows = std::vector<int>;

Sparse sparse(const Eigen::MatrixXd& dense) { return dense.sparseView(); }

/// Random m x n matrix of rank r, dense.
Eigen::MatrixXd deficient(int m, int n, int r, unsigned seed) {
  const Eigen::VectorXd numbers = randomVector((m + n) * r, seed);
  return Eigen::Map<const Eigen::MatrixXd>(numbers.data(), m, r) * Eigen::Map<const Eigen::MatrixXd>(numbers.data() + m * r, r, n);
}

TEST(Rank, FullRankKeepsEverything) {
  const RankReport report = findDependentRows(sparse(deficient(8, 12, 8, 1)));
  EXPECT_EQ(report.rank, 8);
  EXPECT_TRUE(report.dependentRows.empty());
  EXPECT_EQ(report.largestDropped, 0);
  EXPECT_GT(report.smallestKept, 1e-3);
}

TEST(Rank, DropsTheLaterOfADependentSet) {
  Eigen::MatrixXd G(5, 4);
  G << 1, 0, 2, 0, /**/ 0, 3, 0, 1, /**/ 2, 3, 4, 1, /**/ 0, 0, 0, 0, /**/ 0, 0, 1, 1;
  const RankReport report = findDependentRows(sparse(G));
  EXPECT_EQ(report.rank, 3);
  EXPECT_EQ(report.dependentRows, (Rows{2, 3})); // row 2 = 2 row 0 + row 1; row 3 is zero
  const Rows priority{0, 0, 5, 0, 0};
  EXPECT_EQ(findDependentRows(sparse(G), 1e-9, priority).dependentRows, (Rows{1, 3}));
}

TEST(Rank, DependentRowWithEntriesToItsRight) {
  // Row 1 repeats row 0, later rows overlap with both: what is left of row 1 must not be lost nor counted.
  Eigen::MatrixXd G(4, 3);
  G << 1, 1, 0, /**/ 2, 2, 0, /**/ 1, 0, 1, /**/ 0, 1, 1;
  const RankReport report = findDependentRows(sparse(G));
  EXPECT_EQ(report.rank, 3);
  EXPECT_EQ(report.dependentRows, (Rows{1}));
}

TEST(Rank, AgreesWithSingularValuesAndWithGreedyChoice) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    const int m = 10 + int(seed), n = 15 + int(seed) / 2, r = 4 + int(seed) / 3;
    Eigen::MatrixXd G = deficient(m, n, r, seed);
    for (int i = 0; i < m; ++i) G.row(i) *= std::pow(10.0, i % 7 - 3); // units differ
    const RankReport report = findDependentRows(sparse(G));
    EXPECT_EQ(report.rank, r);
    // Random rows: the first r are independent, all later ones depend on them.
    Rows expected(m - r);
    std::iota(expected.begin(), expected.end(), r);
    EXPECT_EQ(report.dependentRows, expected);
    EXPECT_LT(report.largestDropped, 1e-11);
    EXPECT_GT(report.smallestKept, 1e-6);
  }
}

TEST(Rank, SparseGraphsAgreeWithDenseRank) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    // Differences along random edges: the rank is the number of vertices less the number of connected components.
    const int vertices = 40, edges = 45;
    const Eigen::VectorXd numbers = randomVector(2 * edges, seed);
    Sparse G(edges, vertices);
    for (int e = 0; e < edges; ++e) {
      const int a = int((numbers[2 * e] + 1) * vertices / 2) % vertices, b = int((numbers[2 * e + 1] + 1) * vertices / 2) % vertices;
      if (a != b) G.coeffRef(e, a) = 1, G.coeffRef(e, b) = -1;
    }
    const RankReport report = findDependentRows(G);
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> dense{Eigen::MatrixXd(G)};
    dense.setThreshold(1e-10);
    EXPECT_EQ(report.rank, int(dense.rank())) << seed;
    EXPECT_EQ(report.rank + int(report.dependentRows.size()), edges);
  }
}

TEST(Rank, DistanceIsThatToTheSpan) {
  // Row 1 stands off row 0 by the angle 1e-6.
  Eigen::MatrixXd G(2, 2);
  G << 1e3, 0, std::cos(1e-6), std::sin(1e-6);
  EXPECT_NEAR(findDependentRows(sparse(G)).smallestKept, std::sin(1e-6), 1e-15);
  const RankReport coarse = findDependentRows(sparse(G), 1e-5);
  EXPECT_EQ(coarse.dependentRows, (Rows{1}));
  EXPECT_NEAR(coarse.largestDropped, std::sin(1e-6), 1e-15);
}

/// A chain: `perJoint` random rows that touch two neighbouring bodies of six numbers. With `repeat`, the last row of every tenth joint is
/// the sum of its others.
Sparse chain(int joints, int perJoint, bool repeat) {
  const Eigen::VectorXd numbers = randomVector(joints * perJoint * 12, 77);
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0, at = 0; j < joints; ++j)
    for (int c = 0; c < 12; ++c) {
      double sum = 0;
      for (int i = 0; i < perJoint; ++i, ++at) {
        const bool last = repeat && j % 10 == 0 && i == perJoint - 1;
        entries.emplace_back(j * perJoint + i, 6 * j + c, last ? sum : numbers[at]);
        sum += numbers[at];
      }
    }
  Sparse G(joints * perJoint, 6 * joints + 6);
  G.setFromTriplets(entries.begin(), entries.end());
  return G;
}

TEST(Rank, LongChainInLinearTime) {
  const int joints = 20000, perJoint = 5;
  const Sparse G = chain(joints, perJoint, true);
  const auto start = std::chrono::steady_clock::now();
  const RankReport report = findDependentRows(G);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_EQ(report.rank, joints * perJoint - joints / 10);
  for (std::size_t k = 0; k < report.dependentRows.size(); ++k) ASSERT_EQ(report.dependentRows[k], int(k) * 10 * perJoint + perJoint - 1);
#ifdef NDEBUG
  EXPECT_LT(seconds, 2);
#endif
  RecordProperty("milliseconds", int(1e3 * seconds));
}

TEST(Rank, ClosedLoopHasOneRedundantRow) {
  // Differences round a ring: each row says nothing suspicious, all together sum to zero; the last one is to go.
  const int n = 5000;
  Sparse G(n, n);
  for (int i = 0; i < n; ++i) G.insert(i, i) = -1, G.insert(i, (i + 1) % n) = 1;
  const RankReport report = findDependentRows(G);
  EXPECT_EQ(report.dependentRows, (Rows{n - 1}));
  // All rows have length sqrt 2; the multipliers of least norm have no common part.
  const Eigen::VectorXd lambda = randomVector(n, 3), mu = minimumNormMultipliers(G, lambda);
  EXPECT_LE((mu - (lambda.array() - lambda.mean()).matrix()).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(Rank, RefusesWhatItCannotTake) {
  Eigen::MatrixXd G = Eigen::MatrixXd::Ones(2, 2);
  EXPECT_THROW(findDependentRows(sparse(G), 1e-9, Rows{1}), std::invalid_argument);
  G(1, 0) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(findDependentRows(sparse(G)), std::invalid_argument);
  const RankReport none = findDependentRows(Sparse(0, 4)), zero = findDependentRows(Sparse(3, 0));
  EXPECT_EQ(none.rank, 0);
  EXPECT_EQ(zero.dependentRows, (Rows{0, 1, 2}));
}

TEST(MinimumNormMultipliers, MatchThePseudoInverse) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const int m = 12 + int(seed), n = 14, r = 6 + int(seed) / 4;
    const Eigen::MatrixXd G = deficient(m, n, r, seed);
    const Eigen::VectorXd lambda = randomVector(m, seed + 5), weights = (2 * randomVector(m, seed + 9)).array().exp();
    const Eigen::VectorXd root = weights.cwiseSqrt();
    // y = W^(1/2) lambda projected on the range of B = W^(-1/2) G by the dense pseudo-inverse.
    const Eigen::MatrixXd B = root.cwiseInverse().asDiagonal() * G;
    const Eigen::VectorXd inverse = test::leastNorm(B, root.cwiseProduct(lambda), 1e-10);
    const Eigen::VectorXd exact = root.cwiseInverse().cwiseProduct(B * inverse);
    const Eigen::VectorXd mu = minimumNormMultipliers(sparse(G), lambda, weights);
    EXPECT_LE((mu - exact).norm(), 1e-10 * lambda.norm()) << seed;
    EXPECT_LE((G.transpose() * (mu - lambda)).norm(), 1e-10 * lambda.norm());
  }
}

TEST(MinimumNormMultipliers, SharesAForceBetweenTwins) {
  Eigen::MatrixXd G(3, 2);
  G << 1, 0, /**/ 2, 0, /**/ 0, 1;
  // f = mu_0 + 2 mu_1 = 5 with least norm: mu = 5 (1, 2) / 5.
  EXPECT_LE((minimumNormMultipliers(sparse(G), Eigen::Vector3d(5, 0, 7)) - Eigen::Vector3d(1, 2, 7)).norm(), 1e-14);
}

TEST(MinimumNormMultipliers, IndependentRowsLeaveThemAlone) {
  const Eigen::VectorXd lambda = randomVector(6, 2);
  EXPECT_EQ(minimumNormMultipliers(sparse(deficient(6, 9, 6, 3)), lambda), lambda);
  EXPECT_THROW(minimumNormMultipliers(sparse(deficient(6, 9, 6, 3)), lambda, Eigen::VectorXd::Zero(6)), std::invalid_argument);
}

TEST(MinimumNormMultipliers, LocalRedundancyInALongChainIsCheap) {
  const Sparse G = chain(4000, 5, true);
  const Eigen::VectorXd lambda = randomVector(int(G.rows()), 4);
  const Eigen::VectorXd mu = minimumNormMultipliers(G, lambda);
  const Eigen::VectorXd scale = G.cwiseAbs().transpose() * Eigen::VectorXd::Ones(G.rows());
  EXPECT_LE((G.transpose() * (mu - lambda)).cwiseAbs().maxCoeff(), 1e-13 * scale.maxCoeff());
  // Redundant joints give up (lambda . z) z with z = (1, 1, 1, 1, -1) / sqrt 5, the others nothing.
  for (int j = 0; j < 4000; ++j) {
    Eigen::VectorXd z(5), local = lambda.segment(5 * j, 5);
    z << 1, 1, 1, 1, -1;
    if (j % 10 == 0) local -= local.dot(z) / 5 * z;
    ASSERT_LE((mu.segment(5 * j, 5) - local).norm(), 1e-11) << j;
  }
}

}
}
