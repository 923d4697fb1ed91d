#pragma once
#include <Eigen/Core>

#include <cmath>

namespace tendril {

/// W = L L^T for a positive semidefinite W, with as many columns as W has rank, by Cholesky's method with diagonal pivoting. It ends when
/// no diagonal entry of what is left exceeds the tolerance, relative to the largest of W.
inline Eigen::MatrixXd pivotedCholesky(const Eigen::MatrixXd& W, double relativeTolerance) {
  const Eigen::Index n = W.rows();
  Eigen::MatrixXd L(n, n);
  Eigen::VectorXd diagonal = W.diagonal();
  const double smallest = n > 0 ? relativeTolerance * diagonal.maxCoeff() : 0;
  Eigen::Index rank = 0;
  for (; rank < n; ++rank) {
    Eigen::Index pivot = 0;
    if (diagonal.maxCoeff(&pivot) <= smallest) break;
    L.col(rank) = (W.col(pivot) - L.leftCols(rank) * L.row(pivot).head(rank).transpose()) / std::sqrt(diagonal[pivot]);
    diagonal -= L.col(rank).cwiseAbs2();
    diagonal[pivot] = 0; // a pivot is taken once, whatever rounding leaves of it
  }
  return L.leftCols(rank);
}

}
