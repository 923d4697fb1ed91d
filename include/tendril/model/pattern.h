#pragma once
#include "tendril/lie/types.h"

#include <Eigen/SparseCore>
#include <unordered_map>
#include <vector>

namespace tendril {

using SparseMatrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

/// The part of a system's unknowns that belongs together: the velocities of one block, or the rows of one constraint.
struct UnknownBlock {
  int offset = 0;
  int size = 0;
};

/// Block sparsity of a system matrix. Couplings (row block, column block) are declared once, while the model is built; the compressed
/// columns are then laid out so that each coupling is a dense matrix with a constant column stride inside the value array.
/// An element therefore adds its blocks without searching: two integers per coupling.
class Pattern {
 public:
  /// Where a coupling lies among the values of the compressed matrix.
  struct Slot {
    int offset = 0;
    int stride = 0;
  };

  int addUnknowns(int size);
  /// Declares that (row, column) couple and returns the number of the coupling; the same pair gives the same number.
  int couple(int row, int column);
  /// Lays out the matrix; nothing can be declared afterwards.
  void freeze();

  int size() const { return size_; }
  const UnknownBlock& unknowns(int block) const { return blocks_[block]; }
  int blocks() const { return int(blocks_.size()); }
  const Slot& slot(int coupling) const { return slots_[coupling]; }
  /// A matrix with this pattern, all values zero.
  SparseMatrix matrix() const { return prototype_; }

 private:
  struct Pair {
    int row, column;
  };
  int size_ = 0;
  std::vector<UnknownBlock> blocks_;
  std::vector<Pair> pairs_;
  std::unordered_map<long long, int> numbers_;
  std::vector<Slot> slots_;
  SparseMatrix prototype_;
};

}
