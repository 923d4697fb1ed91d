#pragma once
#include "tendril/lie/types.h"

#include <memory>

namespace tendril {

/// Rank, null space and solutions of a dense J x = b, rows scaled to unit length and columns measured in `unit` (empty: 1). Relative pivots
/// of an orthogonal elimination up to the tolerance count as zero.
class RowSpace {
 public:
  RowSpace(const MatrixX& J, const VectorX& unit, double tolerance);
  ~RowSpace();

  /// The solution of least length, in the units of the columns.
  VectorX solve(const VectorX& b) const;
  /// Whether the rows agree at x, relative to the terms that meet in them.
  bool isSolved(const VectorX& x, const VectorX& b) const;

  int rank = 0;
  double smallestKept = 0, largestDropped = 0; ///< relative pivots on both sides of the decision
  MatrixX nullSpace;

 private:
  VectorX scaledRight(const VectorX& b) const;

  VectorX unit_, length_;
  MatrixX scaled_;
  struct Factor;
  std::unique_ptr<Factor> factor_;
};

}
