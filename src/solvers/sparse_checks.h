#pragma once
#include <cmath>
#include <stdexcept>

#include <Eigen/SparseCore>
#include <fmt/format.h>

namespace tendril {

/// Throws unless A is what a factorisation takes: square and compressed.
inline void requireFactorisable(const Eigen::SparseMatrix<double>& A, const char* who) {
  if (A.rows() != A.cols())
    throw std::invalid_argument(fmt::format("{}: the matrix is {} x {}, it must be square", who, A.rows(), A.cols()));
  if (!A.isCompressed()) throw std::invalid_argument(fmt::format("{}: the matrix is not compressed, call makeCompressed() first", who));
}

/// Throws unless A has the order and the number of entries that were analysed.
inline void requireSamePattern(const Eigen::SparseMatrix<double>& A, Eigen::Index order, Eigen::Index entries, const char* who) {
  if (A.rows() != order || A.nonZeros() != entries)
    throw std::invalid_argument(
        fmt::format("{}: order {} with {} entries was analysed, this matrix has order {} with {} entries; call analyse() again", who, order,
                    entries, A.rows(), A.nonZeros()));
}

inline bool allFinite(const Eigen::SparseMatrix<double>& A) {
  const double* values = A.valuePtr();
  for (Eigen::Index k = 0; k < A.nonZeros(); ++k)
    if (!std::isfinite(values[k])) return false;
  return true;
}

}
