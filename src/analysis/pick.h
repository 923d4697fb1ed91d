#pragma once
#include "tendril/lie/types.h"

#include <vector>

namespace tendril {

/// Chosen rows, entries, or a principal submatrix; matrices one above the other.
inline MatrixX pickRows(const MatrixX& A, const std::vector<int>& rows) {
  MatrixX picked(Eigen::Index(rows.size()), A.cols());
  for (std::size_t k = 0; k < rows.size(); ++k) picked.row(Eigen::Index(k)) = A.row(rows[k]);
  return picked;
}
inline VectorX pick(const VectorX& x, const std::vector<int>& entries) {
  VectorX picked(Eigen::Index(entries.size()));
  for (std::size_t k = 0; k < entries.size(); ++k) picked[Eigen::Index(k)] = x[entries[k]];
  return picked;
}
inline MatrixX pickSquare(const MatrixX& A, const std::vector<int>& set) {
  MatrixX picked(Eigen::Index(set.size()), Eigen::Index(set.size()));
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (std::size_t j = 0; j < set.size(); ++j) picked(Eigen::Index(i), Eigen::Index(j)) = A(set[i], set[j]);
  }
  return picked;
}
inline MatrixX stacked(const MatrixX& upper, const MatrixX& lower) {
  MatrixX both(upper.rows() + lower.rows(), upper.cols());
  both.topRows(upper.rows()) = upper;
  both.bottomRows(lower.rows()) = lower;
  return both;
}
/// Puts entries where pick() takes them from.
inline void place(const VectorX& picked, const std::vector<int>& entries, VectorX& x) {
  for (std::size_t k = 0; k < entries.size(); ++k) x[entries[k]] = picked[Eigen::Index(k)];
}

}
