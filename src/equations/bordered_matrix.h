#pragma once
#include "tendril/model/model.h"
#include "tendril/model/pattern.h"

#include <vector>

namespace tendril {

/// A sparse matrix, its border, and additions inside it:
///
///     [ A + K   C ]
///     [   R     D ]
///
/// with K, C, R, D sums of dense pieces. The pattern is laid out anew only where the list of pieces differs from the last one; else
/// only values are written, at places that are known.
class BorderedMatrix {
 public:
  /// Rows and columns that a dense piece occupies, ranges that another piece shares entirely or not at all.
  struct Piece {
    int row, column, rows, columns;
    bool operator==(const Piece&) const = default;
  };

  /// Begins a list of pieces.
  void begin() { next_.clear(); }
  /// Appends a piece.
  void declare(const Piece& piece) { next_.push_back(piece); }
  /// Takes the values of A, with zeros elsewhere; `size` is that of the whole. True if the pattern is new.
  bool layOut(const SparseMatrix& A, int size);
  /// Adds to a piece; pieces come in the order of their declaration.
  template <class Derived> void add(const Eigen::MatrixBase<Derived>& values) {
    const int* start = starts_.data() + filled_;
    for (Eigen::Index c = 0; c < values.cols(); ++c) {
      Eigen::Map<VectorX>(matrix_.valuePtr() + start[c], values.rows()) += values.col(c);
    }
    filled_ += std::size_t(values.cols());
  }
  const SparseMatrix& matrix() const { return matrix_; }
  /// Groups in which the matrix is eliminated (SparseLu): the velocities of each block of the model, and with them rows of multipliers that
  /// act on that block most, no more of them than it has velocities where there is a choice.
  const std::vector<int>& groups(const Model& model);

 private:
  void layOutPattern(const SparseMatrix& A, int size);

  std::vector<Piece> pieces_, next_;
  const SparseMatrix* source_ = nullptr;
  SparseMatrix matrix_;
  std::vector<int> starts_; ///< of every column of every piece, among the values
  std::vector<int> places_; ///< of every value of A among the values
  std::size_t filled_ = 0;
  std::vector<int> groups_, room_;
};

}
