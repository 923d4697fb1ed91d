#pragma once
#include <random>
#include <vector>

#include <Eigen/Dense>
#include <Eigen/SparseCore>

namespace tendril::test {

using Sparse = Eigen::SparseMatrix<double>;

/// Entries uniform in (-1, 1), about `perColumn` of them per column.
inline Sparse randomSparse(int rows, int columns, double perColumn, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  std::uniform_int_distribution<int> row(0, rows - 1);
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < columns; ++j)
    for (int k = 0; k < int(perColumn); ++k) entries.emplace_back(row(engine), j, value(engine));
  Sparse A(rows, columns);
  A.setFromTriplets(entries.begin(), entries.end(), [](double, double last) { return last; });
  return A;
}

inline Eigen::VectorXd randomVector(int n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  return Eigen::VectorXd::NullaryExpr(n, [&] { return value(engine); });
}

/// A regular square matrix: random with something on a permuted diagonal, which is itself often zero.
inline Sparse randomSquare(int n, unsigned seed) {
  Sparse shifted(n, n);
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < n; ++j) entries.emplace_back((j + 3) % n, j, 2.0 + 0.1 * (j % 7));
  shifted.setFromTriplets(entries.begin(), entries.end());
  Sparse A = randomSparse(n, n, 4, seed) + shifted;
  A.makeCompressed();
  return A;
}

/// [K G^T; G 0].
inline Sparse saddlePoint(const Sparse& K, const Sparse& G) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int j = 0; j < K.cols(); ++j)
    for (Sparse::InnerIterator it(K, j); it; ++it) entries.emplace_back(int(it.row()), j, it.value());
  const int n = int(K.rows());
  for (int j = 0; j < G.cols(); ++j)
    for (Sparse::InnerIterator it(G, j); it; ++it) {
      entries.emplace_back(n + int(it.row()), j, it.value());
      entries.emplace_back(j, n + int(it.row()), it.value());
    }
  Sparse A(n + G.rows(), n + G.rows());
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

/// Springs of stiffness k between neighbours of a free chain: the null space is the common translation.
inline Sparse freeChain(int n, double k = 1) {
  std::vector<Eigen::Triplet<double>> entries;
  for (int i = 0; i + 1 < n; ++i)
    for (int a : {0, 1})
      for (int b : {0, 1}) entries.emplace_back(i + a, i + b, a == b ? k : -k);
  Sparse K(n, n);
  K.setFromTriplets(entries.begin(), entries.end());
  return K;
}

}
