#include "support/dense.h"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace tendril::test {

VectorX solve(const MatrixX& A, const VectorX& b) { return A.fullPivLu().solve(b); }

MatrixX inverse(const MatrixX& A) { return A.inverse(); }

VectorX leastNorm(const MatrixX& A, const VectorX& b, double threshold) {
  Eigen::CompleteOrthogonalDecomposition<MatrixX> decomposition;
  decomposition.setThreshold(threshold);
  return decomposition.compute(A).solve(b);
}

MatrixX pseudoInverse(const MatrixX& A) { return A.completeOrthogonalDecomposition().pseudoInverse(); }

VectorX singularValues(const MatrixX& A) { return A.jacobiSvd().singularValues(); }

int rankOf(const MatrixX& A, double tolerance) { return A.size() == 0 ? 0 : int((singularValues(A).array() > tolerance).count()); }

VectorX eigenvalues(const MatrixX& A) { return Eigen::SelfAdjointEigenSolver<MatrixX>(A, Eigen::EigenvaluesOnly).eigenvalues(); }

VectorX eigenvalues(const MatrixX& A, const MatrixX& B) {
  return Eigen::GeneralizedSelfAdjointEigenSolver<MatrixX>(A, B, Eigen::EigenvaluesOnly).eigenvalues();
}

}
