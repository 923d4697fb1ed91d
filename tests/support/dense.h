#pragma once
#include "tendril/lie/types.h"

/// Dense linear algebra of reference values, compiled once for all tests.
namespace tendril::test {

/// A^-1 b by LU with full pivoting.
VectorX solve(const MatrixX& A, const VectorX& b);
MatrixX inverse(const MatrixX& A);

/// x of least norm among those that make |A x - b| smallest. Rank is decided by the pivots of a complete orthogonal decomposition, relative
/// to the largest.
VectorX leastNorm(const MatrixX& A, const VectorX& b, double threshold = 1e-13);
MatrixX pseudoInverse(const MatrixX& A);

/// In descending order.
VectorX singularValues(const MatrixX& A);

/// The number of singular values above the tolerance.
int rankOf(const MatrixX& A, double tolerance = 1e-10);

/// Of a symmetric matrix, in ascending order.
VectorX eigenvalues(const MatrixX& A);
/// Of A x = lambda B x, A symmetric, B positive definite, in ascending order.
VectorX eigenvalues(const MatrixX& A, const MatrixX& B);

}
