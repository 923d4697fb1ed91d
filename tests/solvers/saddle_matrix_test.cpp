#include "tendril/solvers/saddle_matrix.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Two unknown places and one constraint, K without symmetry: against the dense matrix and its transpose.
TEST(SaddleMatrix, SolvesWithTheMatrixAndItsTranspose) {
  MatrixXd K(3, 3), H0(1, 3), H1(1, 3);
  K << 4, 1, 0.5, -2, 5, 1, 0.3, 0.7, 3;
  H0 << 1, 2, -1;
  H1 << 0.9, 2.2, -1.3;
  const SaddleMatrix::Sparse sparseK = K.sparseView(), sparse0 = H0.sparseView(), sparse1 = H1.sparseView();
  const VectorXd unit = (VectorXd(4) << 1, 0.5, 2, 3).finished();
  SaddleMatrix saddle(sparseK, sparse0, unit);
  ASSERT_TRUE(saddle.factorise(sparseK, sparse0, sparse1, 7));
  MatrixXd dense = MatrixXd::Zero(4, 4);
  dense << -K, H0.transpose(), H1, MatrixXd::Zero(1, 1);
  const VectorXd rhs = (VectorXd(4) << 1, -2, 0.5, 0.3).finished();
  VectorXd x = rhs, y = rhs;
  saddle.solve(x);
  saddle.solveTransposed(y);
  EXPECT_LT((dense * x - rhs).norm(), 1e-11);
  EXPECT_LT((dense.transpose() * y - rhs).norm(), 1e-11);
  EXPECT_GT((x - y).norm(), 1e-2);
}

}
}
