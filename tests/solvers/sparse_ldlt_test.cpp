#include "support/dense.h"
#include "tendril/solvers/sparse_ldlt.h"

#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include "random_matrices.h"

namespace tendril {
namespace {

using test::freeChain;
using test::randomSparse;
using test::randomVector;
using test::saddlePoint;
using test::Sparse;
using Backend = SparseLdltOptions::Backend;

class SparseLdltBackends : public ::testing::TestWithParam<Backend> {
 protected:
  SparseLdltOptions options() const {
    SparseLdltOptions chosen;
    chosen.backend = GetParam();
    return chosen;
  }
  static bool isMumps(const SparseLdlt& ldlt) { return std::string(ldlt.backend()) == "MUMPS"; }
};

INSTANTIATE_TEST_SUITE_P(All, SparseLdltBackends, ::testing::Values(Backend::Automatic, Backend::Eigen));

Sparse definite(int n, unsigned seed) {
  const Sparse B = randomSparse(n, n, 3, seed);
  Sparse I(n, n);
  I.setIdentity();
  Sparse K = Sparse(B * B.transpose()) + I;
  K.makeCompressed();
  return K;
}

/// Full row rank: row i has a unit entry of its own in column i.
Sparse fullRank(int m, int n, unsigned seed) {
  Sparse pick(m, n);
  for (int i = 0; i < m; ++i) pick.insert(i, n - 1 - i) = 1;
  Sparse G = Sparse(0.3 * randomSparse(m, n - m, 2, seed) * Sparse(Eigen::MatrixXd::Identity(n - m, n).sparseView())) + pick;
  return G;
}

TEST_P(SparseLdltBackends, SaddlePointHasAsManyNegativesAsConstraints) {
  for (unsigned seed = 1; seed <= 15; ++seed) {
    const int n = 30 + 5 * int(seed), m = 5 + int(seed);
    const Sparse A = saddlePoint(definite(n, seed), fullRank(m, n, seed + 50));
    SparseLdlt ldlt(options());
    ASSERT_TRUE(ldlt.factorise(A)) << seed;
    ASSERT_TRUE(ldlt.inertia());
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n, m, 0})) << seed;
    const Eigen::VectorXd exact = randomVector(n + m, seed);
    Eigen::VectorXd x = A * exact;
    ldlt.solve(x);
    EXPECT_LE((x - exact).norm(), 1e-10 * exact.norm());
    EXPECT_EQ(ldlt.nullVectors().cols(), 0);
  }
}

TEST_P(SparseLdltBackends, IndefiniteInertiaMatchesEigenvalues) {
  for (unsigned seed = 1; seed <= 15; ++seed) {
    const int n = 40;
    const Sparse B = randomSparse(n, n, 3, seed);
    Sparse A = B + Sparse(B.transpose());
    A.makeCompressed();
    const Eigen::VectorXd values = test::eigenvalues(Eigen::MatrixXd(A));
    ASSERT_GT(values.cwiseAbs().minCoeff(), 1e-6) << "choose another seed";
    SparseLdlt ldlt(options());
    ASSERT_TRUE(ldlt.factorise(A));
    ASSERT_TRUE(ldlt.inertia());
    EXPECT_EQ(*ldlt.inertia(), (Inertia{int((values.array() > 0).count()), int((values.array() < 0).count()), 0})) << seed;
  }
}

TEST_P(SparseLdltBackends, OneObjectServesMatricesOfAllOrders) {
  SparseLdlt ldlt(options());
  for (int n : {1, 2, 5, 24, 25, 3, 60, 24}) {
    const Sparse K = freeChain(n), G = fullRank(1, n, 1), A = saddlePoint(K, G); // a chain held at its end
    ldlt.analyse(A);
    EXPECT_TRUE(ldlt.factorise(A)) << n;
    ASSERT_TRUE(ldlt.inertia()) << n;
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n, 1, 0})) << n;
    const Eigen::VectorXd exact = randomVector(n + 1, 1);
    Eigen::VectorXd x = A * exact;
    ldlt.solve(x);
    EXPECT_LE((x - exact).norm(), 1e-9 * exact.norm()) << n;
    ldlt.analyse(K);
    EXPECT_FALSE(ldlt.factorise(K)) << n;
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n - 1, 0, 1})) << n;
  }
}

TEST_P(SparseLdltBackends, WhatCountsAsZeroIsAskedFor) {
  for (int n : {4, 40}) {
    Sparse A(n, n);
    A.setIdentity();
    A.coeffRef(0, 1) = A.coeffRef(1, 0) = 1 - 1e-9; // an eigenvalue of 1e-9
    A.makeCompressed();
    SparseLdlt ldlt(options());
    EXPECT_TRUE(ldlt.factorise(A)) << n;
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n, 0, 0})) << n;
    ldlt.setZeroTolerance(1e-7);
    EXPECT_FALSE(ldlt.factorise(A)) << n;
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n - 1, 0, 1})) << n;
  }
}

TEST_P(SparseLdltBackends, LowerTriangleSuffices) {
  const Sparse A = saddlePoint(definite(30, 3), fullRank(6, 30, 4));
  const Sparse lower = A.triangularView<Eigen::Lower>();
  SparseLdlt fromLower(options()), fromFull(options());
  ASSERT_TRUE(fromLower.factorise(lower));
  ASSERT_TRUE(fromFull.factorise(A));
  Eigen::VectorXd x = randomVector(36, 1), y = x;
  fromLower.solve(x);
  fromFull.solve(y);
  EXPECT_EQ(x, y);
}

TEST_P(SparseLdltBackends, FreeChainHasItsTranslation) {
  for (double k : {1.0, 1e9, 1e-7}) {
    const int n = 120;
    const Sparse K = freeChain(n, k);
    SparseLdlt ldlt(options());
    EXPECT_FALSE(ldlt.factorise(K));
    EXPECT_TRUE(ldlt.singular());
    ASSERT_TRUE(ldlt.inertia());
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n - 1, 0, 1}));
    const Eigen::MatrixXd Z = ldlt.nullVectors();
    ASSERT_EQ(Z.cols(), 1);
    EXPECT_NEAR(std::abs(Z.col(0).sum()), std::sqrt(double(n)), 1e-10);
    // A load that balances itself has a solution.
    Eigen::VectorXd load = Eigen::VectorXd::Zero(n);
    load[10] = k, load[90] = -k;
    Eigen::VectorXd x = load;
    ldlt.solve(x);
    EXPECT_LE((K * x - load).norm(), 1e-10 * k);
  }
}

TEST_P(SparseLdltBackends, SeveralNullVectors) {
  // Three free chains of different stiffness beside each other, tied by one constraint between the first two, stated twice.
  const int n = 30;
  std::vector<Eigen::Triplet<double>> entries;
  for (int c = 0; c < 3; ++c) {
    const Sparse K = freeChain(n, std::pow(100.0, c));
    for (int j = 0; j < n; ++j)
      for (Sparse::InnerIterator it(K, j); it; ++it) entries.emplace_back(c * n + int(it.row()), c * n + j, it.value());
  }
  Sparse K(3 * n, 3 * n), G(2, 3 * n);
  K.setFromTriplets(entries.begin(), entries.end());
  for (int i : {0, 1}) G.insert(i, 4) = 1, G.insert(i, n + 7) = -1;
  const Sparse A = saddlePoint(K, G);
  SparseLdlt ldlt(options());
  EXPECT_FALSE(ldlt.factorise(A));
  ASSERT_TRUE(ldlt.inertia());
  // 87 springs, one pair (+,-) of the constraint, and what is left: two translations, one redundant multiplier.
  EXPECT_EQ(*ldlt.inertia(), (Inertia{88, 1, 3}));
  const Eigen::MatrixXd Z = ldlt.nullVectors();
  ASSERT_EQ(Z.cols(), 3);
  EXPECT_LE((Z.transpose() * Z - Eigen::Matrix3d::Identity()).norm(), 1e-13);
  EXPECT_LE((A * Z).norm(), 1e-9);
}

TEST_P(SparseLdltBackends, NewValuesChangeTheInertia) {
  Sparse K = definite(50, 7);
  SparseLdlt ldlt(options());
  ASSERT_TRUE(ldlt.factorise(K));
  EXPECT_EQ(*ldlt.inertia(), (Inertia{50, 0, 0}));
  K.coeffRef(20, 20) -= 1e3;
  ASSERT_TRUE(ldlt.factorise(K));
  EXPECT_EQ(*ldlt.inertia(), (Inertia{49, 1, 0}));
  K.valuePtr()[0] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(ldlt.factorise(K));
  EXPECT_FALSE(ldlt.finite());
  EXPECT_FALSE(ldlt.inertia());
}

TEST_P(SparseLdltBackends, InertiaSurvivesBadScaling) {
  Sparse A = saddlePoint(definite(40, 2), fullRank(8, 40, 3));
  const Eigen::VectorXd s = Eigen::VectorXd::NullaryExpr(48, [](Eigen::Index i) { return std::pow(10.0, double(i % 9) - 4); });
  A = s.asDiagonal() * A * s.asDiagonal();
  SparseLdlt ldlt(options());
  ASSERT_TRUE(ldlt.factorise(A));
  ASSERT_TRUE(ldlt.inertia());
  EXPECT_EQ(*ldlt.inertia(), (Inertia{40, 8, 0}));
}

TEST_P(SparseLdltBackends, ZeroAndEmptyMatrices) {
  SparseLdlt ldlt(options());
  EXPECT_FALSE(ldlt.factorise(Sparse(3, 3)));
  ASSERT_TRUE(ldlt.inertia());
  EXPECT_EQ(*ldlt.inertia(), (Inertia{0, 0, 3}));
  EXPECT_EQ(ldlt.nullVectors().cols(), 3);
  SparseLdlt none(options());
  EXPECT_TRUE(none.factorise(Sparse(0, 0)));
  EXPECT_EQ(*none.inertia(), Inertia{});
}

TEST_P(SparseLdltBackends, LongCantileverIsDefiniteAndItsFreeTwinIsNot) {
  // Bending of a beam by second differences, 2000 nodes: the free one translates and rotates.
  const int n = 2000;
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i + 2 < n; ++i) {
    const double c[3] = {1, -2, 1};
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b) entries.emplace_back(i + a, i + b, c[a] * c[b]);
  }
  Sparse K(n, n);
  K.setFromTriplets(entries.begin(), entries.end());
  SparseLdlt ldlt(options());
  const bool regular = ldlt.factorise(K);
  if (isMumps(ldlt)) {
    EXPECT_FALSE(regular);
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n - 2, 0, 2}));
    const Eigen::MatrixXd Z = ldlt.nullVectors();
    EXPECT_LE((K * Z).norm(), 1e-11);
  } else {
    EXPECT_FALSE(ldlt.inertia()); // too large for eigenvalues: it does not guess
  }
  K.coeffRef(0, 0) += 1;
  K.coeffRef(1, 1) += 1;
  ASSERT_TRUE(ldlt.factorise(K));
  if (isMumps(ldlt)) {
    EXPECT_EQ(*ldlt.inertia(), (Inertia{n, 0, 0}));
  }
}

}
}
