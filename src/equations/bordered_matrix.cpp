#include "equations/bordered_matrix.h"

#include <algorithm>
#include <cmath>

namespace tendril {

bool BorderedMatrix::layOut(const SparseMatrix& A, int size) {
  const bool isNew = source_ != &A || size != matrix_.cols() || next_ != pieces_;
  if (isNew) {
    source_ = &A;
    pieces_ = next_;
    layOutPattern(A, size);
  }
  double* values = matrix_.valuePtr();
  std::fill_n(values, matrix_.nonZeros(), 0.0);
  for (std::size_t k = 0; k < places_.size(); ++k) values[places_[k]] = A.valuePtr()[k];
  filled_ = 0;
  return isNew;
}

void BorderedMatrix::layOutPattern(const SparseMatrix& A, int size) {
  // Ranges of rows per column, those of the pieces; A's own rows are merged with them.
  using Range = std::pair<int, int>;
  std::vector<std::vector<Range>> ranges(static_cast<std::size_t>(size));
  for (const Piece& p : pieces_) {
    for (int c = p.column; c < p.column + p.columns; ++c) ranges[c].push_back({p.row, p.row + p.rows});
  }
  std::vector<int> outer{0}, inner, added;
  places_.resize(std::size_t(A.nonZeros()));
  for (int c = 0; c < size; ++c) {
    std::sort(ranges[c].begin(), ranges[c].end());
    ranges[c].erase(std::unique(ranges[c].begin(), ranges[c].end()), ranges[c].end());
    added.clear();
    for (const auto& [first, end] : ranges[c]) {
      for (int r = first; r < end; ++r) added.push_back(r);
    }
    const int begin = int(inner.size());
    const int* own = A.innerIndexPtr() + (c < A.cols() ? A.outerIndexPtr()[c] : 0);
    const int* ownEnd = A.innerIndexPtr() + (c < A.cols() ? A.outerIndexPtr()[c + 1] : 0);
    std::set_union(own, ownEnd, added.begin(), added.end(), std::back_inserter(inner));
    for (int k = begin; own != ownEnd; ++own) {
      while (inner[k] != *own) ++k;
      places_[std::size_t(own - A.innerIndexPtr())] = k;
    }
    outer.push_back(int(inner.size()));
  }
  matrix_.resize(size, size);
  matrix_.resizeNonZeros(Eigen::Index(inner.size()));
  std::copy(outer.begin(), outer.end(), matrix_.outerIndexPtr());
  std::copy(inner.begin(), inner.end(), matrix_.innerIndexPtr());

  starts_.clear();
  for (const Piece& p : pieces_) {
    for (int c = p.column; c < p.column + p.columns; ++c) {
      starts_.push_back(int(std::lower_bound(inner.begin() + outer[c], inner.begin() + outer[c + 1], p.row) - inner.begin()));
    }
  }
}

const std::vector<int>& BorderedMatrix::groups(const Model& model) {
  groups_.assign(std::size_t(matrix_.cols()), 0);
  room_.clear();
  for (const Block& block : model.blocks()) {
    std::fill_n(groups_.begin() + block.v, block.nv, int(room_.size()));
    room_.push_back(block.nv);
  }
  for (int column = model.nv(); column < matrix_.cols(); ++column) {
    std::pair<bool, double> best{false, -1.0}; // there is room, and the size of the action
    int group = -1;
    for (SparseMatrix::InnerIterator it(matrix_, column); it && it.row() < model.nv(); ++it) {
      const int candidate = groups_[std::size_t(it.row())];
      const std::pair value{room_[std::size_t(candidate)] > 0, std::abs(it.value())};
      if (value > best) best = value, group = candidate;
    }
    if (group < 0) { // acts on nothing
      group = int(room_.size());
      room_.push_back(0);
    }
    groups_[std::size_t(column)] = group;
    --room_[std::size_t(group)];
  }
  return groups_;
}

}
