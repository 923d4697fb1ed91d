#include "rods/least_curvature.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include <algorithm>
#include <cmath>
#include <random>

namespace tendril {

/// In coordinates in which D is the identity.
LeastCurvature leastCurvature(const VectorX& D, const MatrixX& J, const std::function<void(const VectorX&, VectorX&)>& H, double accuracy) {
  constexpr int most = 300;
  const Eigen::Index n = D.size();
  const VectorX unit = D.cwiseSqrt().cwiseInverse();
  MatrixX held(n, 0); // an orthonormal basis of the gradients
  if (J.cols() > 0) {
    const Eigen::ColPivHouseholderQR<MatrixX> qr(unit.asDiagonal() * J);
    held = qr.householderQ() * MatrixX::Identity(n, qr.rank());
  }
  const auto project = [&](VectorX& v) { v -= held * (held.transpose() * v); };

  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const int size = int(std::min<Eigen::Index>(most, n - held.cols()));
  VectorX v = VectorX::NullaryExpr(n, [&](Eigen::Index) { return uniform(random); }), w;
  project(v);
  v.normalize();
  MatrixX basis(n, size);
  VectorX diagonal(size), below(size);
  Eigen::SelfAdjointEigenSolver<MatrixX> eigen;
  int k = 0;
  while (true) {
    basis.col(k) = v;
    H(unit.cwiseProduct(v), w);
    w = unit.cwiseProduct(w);
    project(w);
    diagonal[k] = v.dot(w);
    for (int pass = 0; pass < 2; ++pass) { // what is left of the gradients would grow as the basis does
      w -= basis.leftCols(k + 1) * (basis.leftCols(k + 1).transpose() * w);
      project(w);
    }
    below[k] = w.norm();
    const bool isLast = ++k == size || below[k - 1] < accuracy;
    if (isLast || k % 5 == 0) {
      eigen.computeFromTridiagonal(diagonal.head(k), below.head(k - 1));
      if (isLast || below[k - 1] * std::abs(eigen.eigenvectors()(k - 1, 0)) < accuracy) break;
    }
    v = w / below[k - 1];
  }
  return {eigen.eigenvalues()[0], unit.cwiseProduct(basis.leftCols(k) * eigen.eigenvectors().col(0))};
}

}
