#include "friction_problems.h"

#include <gtest/gtest.h>

#include "solvers/friction_block_lu.h"

namespace tendril {
namespace {

/// A ring of `count` blocks; the diagonal ones are shifted by `shift` on random matrices, so that both signs of the determinant occur.
template <int N> void checkRing(int count, double shift, unsigned seed, int& negative) {
  std::mt19937 engine(seed);
  BlockLu<N> lu;
  std::vector<std::pair<int, int>> couplings;
  for (int i = 0; i < count; ++i) couplings.emplace_back(i, (i + 1) % count);
  lu.analyse(count, couplings);
  lu.setZero();
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(N * count, N * count);
  const auto add = [&](int i, int j, const typename BlockLu<N>::Block& block) {
    lu.add(i, j, block);
    dense.block(N * i, N * j, N, N) += block;
  };
  for (int i = 0; i < count; ++i) {
    add(i, i, shift * BlockLu<N>::Block::Identity() + test::randomMatrix(N, N, engine));
    add(i, (i + 1) % count, test::randomMatrix(N, N, engine));
    add((i + 1) % count, i, test::randomMatrix(N, N, engine));
  }
  ASSERT_TRUE(lu.factorise());
  const bool isNegative = dense.determinant() < 0;
  negative += isNegative;
  EXPECT_EQ(lu.determinantSign(), isNegative ? -1 : 1) << "seed " << seed;
  const Eigen::VectorXd b = test::randomMatrix(N * count, 1, engine);
  Eigen::VectorXd x = b;
  lu.solve(x);
  EXPECT_LE((dense * x - b).norm(), 1e-8 * (1 + dense.norm() * x.norm())) << "seed " << seed;
}

TEST(BlockLu, SolvesAndTellsTheSignOfTheDeterminant) {
  int negative = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    checkRing<6>(7, 1, seed, negative);
    checkRing<3>(5, 0.5, seed, negative);
  }
  EXPECT_GT(negative, 20);
  EXPECT_LT(negative, 60);
}

}
}
