#pragma once
#include "friction_block_product.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <Eigen/LU>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

namespace tendril {

/// LU factorisation of a sparse matrix of N x N blocks whose pattern is symmetric, values any. Blocks are eliminated in the order of least
/// degree, pivoting happens within diagonal blocks only: meant for matrices near to positive definite ones. Left-looking: column j of L and
/// row j of U are gathered from all columns before that reach j. Blocks are padded to an even number of rows, for packed arithmetic.
template <int N> class BlockLu {
 public:
  using Block = Eigen::Matrix<double, N, N>;
  using Part = Eigen::Matrix<double, N, 1>;
  using Padded = Eigen::Matrix<double, N + N % 2, N>;

  /// Couplings (i, j), i != j, in any order and number; (i, j) brings (j, i) with it.
  void analyse(int count, std::vector<std::pair<int, int>>& couplings) {
    count_ = count;
    for (auto& [i, j] : couplings)
      if (i > j) std::swap(i, j);
    std::sort(couplings.begin(), couplings.end());
    couplings.erase(std::unique(couplings.begin(), couplings.end()), couplings.end());
    order(couplings);
    fill(couplings);
    lower_.resize(row_.size());
    upper_.resize(row_.size());
    diagonal_.resize(count);
    position_.assign(count, -1);
    head_.resize(count);
    next_.resize(count);
    reached_.resize(count);
  }

  void setZero() {
    for (Padded& block : lower_) block.setZero();
    for (Padded& block : upper_) block.setZero();
    for (Block& block : diagonal_) block.setZero();
  }

  void add(int i, int j, const Block& block) {
    i = place_[i];
    j = place_[j];
    if (i == j)
      diagonal_[i] += block;
    else if (i > j)
      lower_[find(i, j)].template topRows<N>() += block;
    else
      upper_[find(j, i)].template topRows<N>() += block;
  }

  /// False if a diagonal block turned out singular or not finite.
  bool factorise() {
    sign_ = 1;
    std::fill(head_.begin(), head_.end(), -1);
    for (int j = 0; j < count_; ++j) {
      for (int p = start_[j]; p < start_[j + 1]; ++p) position_[row_[p]] = p;
      for (int k = head_[j], following = 0; k >= 0; k = following) {
        following = next_[k];
        eliminate(k, j);
        if (const int p = ++reached_[k]; p < start_[k + 1]) push(k, row_[p]);
      }
      Eigen::PartialPivLU<Block> lu(diagonal_[j]);
      if (!(lu.matrixLU().diagonal().cwiseAbs().minCoeff() > 0)) return false;
      if (lu.determinant() < 0) sign_ = -sign_;
      diagonal_[j] = lu.inverse();
      if (!diagonal_[j].allFinite()) return false;
      for (int p = start_[j]; p < start_[j + 1]; ++p) lower_[p] = Padded(lower_[p].lazyProduct(diagonal_[j]));
      reached_[j] = start_[j];
      if (start_[j] < start_[j + 1]) push(j, row_[start_[j]]);
    }
    return true;
  }

  /// b on entry, x on return; block i in rows N i to N i + N - 1.
  void solve(Eigen::VectorXd& x) {
    work_.resize(std::size_t(count_));
    for (int i = 0; i < count_; ++i) work_[place_[i]] = x.template segment<N>(N * i);
    for (int j = 0; j < count_; ++j)
      for (int p = start_[j]; p < start_[j + 1]; ++p) work_[row_[p]].noalias() -= lower_[p].template topRows<N>() * work_[j];
    for (int j = count_ - 1; j >= 0; --j) {
      for (int p = start_[j]; p < start_[j + 1]; ++p) work_[j].noalias() -= upper_[p].template topRows<N>() * work_[row_[p]];
      work_[j] = Part(diagonal_[j] * work_[j]);
    }
    for (int i = 0; i < count_; ++i) x.template segment<N>(N * i) = work_[place_[i]];
  }

  int determinantSign() const { return sign_; } ///< after factorise()
  std::size_t blocks() const { return row_.size(); }
  /// Multiplications of a factorisation.
  double cost() const {
    double products = 0;
    for (int j = 0; j < count_; ++j) products += double(start_[j + 1] - start_[j]) * (start_[j + 1] - start_[j] + 1) + 1;
    return products * N * N * N;
  }

 private:
  void order(const std::vector<std::pair<int, int>>& couplings) {
    Eigen::SparseMatrix<double, Eigen::ColMajor, int> pattern(count_, count_);
    std::vector<Eigen::Triplet<double, int>> entries;
    for (const auto& [i, j] : couplings) {
      entries.emplace_back(i, j, 1.0);
      entries.emplace_back(j, i, 1.0);
    }
    for (int i = 0; i < count_; ++i) entries.emplace_back(i, i, 1.0);
    pattern.setFromTriplets(entries.begin(), entries.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> inverse;
    Eigen::AMDOrdering<int>()(pattern, inverse);
    place_.resize(count_);
    for (int k = 0; k < count_; ++k) place_[inverse.indices()[k]] = k;
  }

  /// The pattern of L: what a column has itself and what it takes over from its children in the elimination tree.
  void fill(const std::vector<std::pair<int, int>>& couplings) {
    std::vector<std::vector<int>> columns(count_);
    for (const auto& [i, j] : couplings) columns[std::min(place_[i], place_[j])].push_back(std::max(place_[i], place_[j]));
    start_.assign(1, 0);
    row_.clear();
    for (int j = 0; j < count_; ++j) {
      std::vector<int>& column = columns[j];
      std::sort(column.begin(), column.end());
      column.erase(std::unique(column.begin(), column.end()), column.end());
      row_.insert(row_.end(), column.begin(), column.end());
      start_.push_back(int(row_.size()));
      if (column.size() > 1) {
        std::vector<int>& parent = columns[column[0]];
        parent.insert(parent.end(), column.begin() + 1, column.end());
      }
      std::vector<int>().swap(column);
    }
  }

  int find(int i, int j) const { return int(std::lower_bound(row_.begin() + start_[j], row_.begin() + start_[j + 1], i) - row_.begin()); }

  void push(int k, int j) {
    next_[k] = head_[j];
    head_[j] = k;
  }

  /// What column k contributes to column j of L and row j of U.
  void eliminate(int k, int j) {
    const int first = reached_[k];
    const Padded left = lower_[first];
    const Block right = upper_[first].template topRows<N>();
    if constexpr (N == 6) {
      subtractProduct6(diagonal_[j].data(), left.data(), right.data());
      for (int p = first + 1; p < start_[k + 1]; ++p) {
        const int target = position_[row_[p]];
        subtractProduct6(lower_[target].data(), lower_[p].data(), right.data());
        subtractProduct6(upper_[target].data(), left.data(), upper_[p].data());
      }
    } else {
      diagonal_[j].noalias() -= left.template topRows<N>().lazyProduct(right);
      for (int p = first + 1; p < start_[k + 1]; ++p) {
        const int target = position_[row_[p]];
        lower_[target].noalias() -= lower_[p].lazyProduct(right);
        upper_[target].noalias() -= left.lazyProduct(upper_[p].template topRows<N>());
      }
    }
  }

  int count_ = 0, sign_ = 1;
  std::vector<int> place_; ///< of each block in the order of elimination
  std::vector<int> start_, row_;
  std::vector<Padded, Eigen::aligned_allocator<Padded>> lower_, upper_; ///< L(row, j) and U(j, row)
  std::vector<Block, Eigen::aligned_allocator<Block>> diagonal_;        ///< inverted
  std::vector<Part, Eigen::aligned_allocator<Part>> work_;
  std::vector<int> position_, head_, next_, reached_;
};

}
