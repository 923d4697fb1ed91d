#pragma once
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "tendril/solvers/sparse_ldlt.h"

namespace tendril {

/// A symmetric matrix that is block tridiagonal with a border:
///
///     A = [ D_0  E_0^T             B_0^T ]      D_k: n_k x n_k, one per stage
///         [ E_0  D_1   E_1^T       B_1^T ]      E_k: n_{k+1} x n_k
///         [      E_1   D_2   ...   ...   ]      B_k: b x n_k
///         [            ...   ...         ]
///         [ B_0  B_1   ...         C     ]      C: b x b, the border
///
/// All blocks are dense, stages may differ in size or be empty. Rows are numbered stage by stage, the border last. Only the lower triangle
/// is stored: for every stage the columns of [D_k; E_k; B_k], then C.
class StagedMatrix {
 public:
  StagedMatrix() = default;
  StagedMatrix(std::vector<int> sizes, int border);

  int order() const { return offset_.back(); }
  int stages() const { return int(size_.size()) - 1; }
  int border() const { return size_.back(); }
  /// Rows of stage k; of the border for k = stages().
  int size(int k) const { return size_[k]; }
  /// First row of stage k; of the border for k = stages().
  int offset(int k) const { return offset_[k]; }
  /// Rows of stage k + 1, 0 for the last stage and the border.
  int nextSize(int k) const { return k + 1 < stages() ? size_[k + 1] : 0; }
  /// Rows of the border below the columns of stage k, 0 for the border itself.
  int borderRows(int k) const { return k < stages() ? border() : 0; }
  /// Rows stored per column of stage k.
  int height(int k) const { return size_[k] + nextSize(k) + borderRows(k); }

  /// Where the value of (row, column) or, the same one, of (column, row) lies. std::invalid_argument if the structure has no such place.
  std::size_t position(int row, int column) const;

  std::vector<double>& values() { return values_; }
  const std::vector<double>& values() const { return values_; }
  const double* panel(int k) const { return values_.data() + start_[k]; }
  /// Largest magnitude of a value.
  double norm() const;
  /// y = A x.
  void multiply(const Eigen::VectorXd& x, Eigen::VectorXd& y) const;

 private:
  int stageOf(int row) const;

  std::vector<int> size_{0}, offset_{0, 0};
  std::vector<std::size_t> start_{0};
  std::vector<double> values_;
};

struct StagedLdltOptions {
  /// A pivot may be exceeded by its column by no more than the inverse of this.
  double pivotThreshold = 0.1;
  /// Where more pivots than half of a stage would wait for the next one the threshold is lowered, down to this: columns whose sizes differ
  /// by orders of magnitude, as those of barriers do, would wait without end and fronts grow with the number of stages.
  double leastPivotThreshold = 1e-8;
  /// A pivot is zero when it is below this relative to the numbers that it is the difference of.
  double zeroTolerance = 1.5e-14;
};

/// Direct solution of A x = b for a symmetric indefinite staged matrix, with its exact inertia, in time linear in the number of stages.
///
///     P A P^T = L D L^T     D: blocks of size 1 and 2
///
/// Stages are eliminated one after another, each in a dense front of its own rows, those of the next stage and of the border; pivots of
/// size 1 and 2 are chosen within the stage by the threshold test of Duff & Reid (1983), 2 x 2 as in Bunch & Kaufman (1977). A block D_k
/// may be singular although A is not (a state that the next stage determines): what finds no stable pivot is delayed to the next front, the
/// last of which is the border, the Schur complement of all stages. So no factorisation of a regular matrix breaks down. Haynsworth: the
/// inertia is that of D.
///
/// Once factorised, a matrix of the same structure is refactorised without allocation, unless more pivots are delayed than ever before and
/// than a stage has rows.
class StagedLdlt {
 public:
  explicit StagedLdlt(const StagedLdltOptions& options = {});

  /// Takes the memory. Called by the first factorise().
  void analyse(const StagedMatrix& A);
  /// False when A is singular to working precision or not finite.
  bool factorise(const StagedMatrix& A);
  bool finite() const { return finite_; }
  const Inertia& inertia() const { return inertia_; }
  /// Pivots that were moved to a later stage, counted once per stage.
  int delayedPivots() const { return delayedPivots_; }

  /// b on entry, x on return. Where A is singular, the components of its zero pivots are set to zero.
  void solve(Eigen::VectorXd& x) const;
  /// Solves with iterative refinement, once at least, the residual taken with A itself, until it falls no more or is below `tolerance`;
  /// returns max|b - A x| / (max|b| + max|A| max|x|).
  double solve(const StagedMatrix& A, const Eigen::VectorXd& b, Eigen::VectorXd& x, int refinements = 3, double tolerance = 5e-16);

  struct Front {
    int delayed = 0, size = 0, next = 0, border = 0; ///< rows, in this order
    int eliminated = 0;
    int firstNext = 0, firstBorder = 0;           ///< rows of the matrix
    std::size_t panel = 0, rows = 0, inverse = 0; ///< places in the storage of the factor
    int summed() const { return delayed + size; }
    int height() const { return summed() + next + border; }
  };

 private:
  void begin(const StagedMatrix& A, int k);
  void eliminate(const StagedMatrix& A, int k);
  void updateNext(const StagedMatrix& A, int k);
  void countInertia(const Front& front);

  StagedLdltOptions options_;
  std::vector<Front> fronts_;
  std::vector<double> panels_;
  std::vector<int> rows_;            ///< of the fully summed part of each front, pivots first
  std::vector<double> inverse_;      ///< of D, two numbers per pivot: diagonal; below it, which is nonzero for the first of two
  std::vector<double> magnitude_;    ///< of the numbers summed in each diagonal entry, by row of the matrix
  std::vector<double> corner_;       ///< the border's block, being reduced
  std::vector<double> weighted_;     ///< rows of L D below a front, transposed
  mutable std::vector<double> work_; ///< of solve()
  Eigen::VectorXd residual_, correction_;
  Inertia inertia_;
  int delayedPivots_ = 0;
  bool finite_ = true, analysed_ = false;
};

}
