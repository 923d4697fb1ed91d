#pragma once
#include <memory>
#include <vector>

#include <Eigen/SparseCore>

namespace tendril {

struct SparseLuOptions {
  /// Eigen serves always; Automatic takes KLU if it was compiled in.
  enum class Backend { Automatic, Eigen };
  Backend backend = Backend::Automatic;
  /// How KLU keeps the factors sparse. Symmetric: minimum degree of A + A^T, for diagonals that serve as pivots. Columns: COLAMD, bounds
  /// the fill whatever the pivots, for unsymmetric matrices with many zeros on the diagonal. Eigen always takes Columns.
  enum class Ordering { Symmetric, Columns };
  Ordering ordering = Ordering::Symmetric;
  /// A diagonal entry is taken as pivot when it is at least this fraction of the largest entry of its column (1: partial pivoting).
  double pivotTolerance = 0.1;
  /// Numerically singular below this pivot, relative to the largest entry of its column in the row-scaled matrix.
  double singularTolerance = 1e-14;
  /// Pivots are chosen anew when kept pivots make the reciprocal growth, or the ratio of extreme pivots, this much worse than
  /// at the last pivoted factorisation.
  double degradation = 1e-3;
};

/// What a failed factorisation says about the matrix. Columns are those of A, counted from 0.
struct SingularityReport {
  bool singular = false;
  /// Largest number of non-zeros of the pattern, no two in one row or column: an upper bound of the rank for any values.
  /// -1 if not known (Eigen).
  int structuralRank = -1;
  /// Pivots above the tolerance; with KLU, elimination stops at a pivot that is exactly zero, and the count is then a lower bound of the
  /// rank.
  int numericalRank = 0;
  /// The column whose pivot is smallest: it depends on columns eliminated before it. -1 when the matrix is regular.
  int column = -1;
  /// That pivot relative to its column; 0 if the pivot is missing.
  double pivotRatio = 1;
};

/// Direct solution of A x = b and A^T x = b, A square, unsymmetric, sparse, one pattern and many values.
///
///     P R^-1 A Q = L U + F      R: largest entry of each row, F: blocks above the block triangular diagonal
///
/// With KLU (Davis & Palamadai Natarajan 2010): analyse() finds the block triangular form and a fill-reducing order; the first
/// factorise() chooses pivots, later ones keep them, which allocates nothing, until growth shows that they have become poor.
/// Without KLU Eigen's supernodal LU serves: same results, every factorise() pivots and allocates.
///
/// A is compressed, column by column, and has the pattern that was analysed; values are free to change. Not thread-safe: one object per
/// thread. Errors: std::invalid_argument if A is not square, not compressed, or its pattern differs in size from the analysed one;
/// std::logic_error if a step of analyse, factorise, solve is missing.
class SparseLu {
 public:
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

  explicit SparseLu(const SparseLuOptions& options = {});
  ~SparseLu();
  SparseLu(SparseLu&&) noexcept;
  SparseLu& operator=(SparseLu&&) noexcept;

  /// "KLU" or "Eigen SparseLU", the one in use.
  const char* backend() const;

  void analyse(const Matrix& A);
  /// With an order for saddle points, whose multipliers have no diagonal of their own: `groups` gives each row and column a group, which is
  /// eliminated as a whole, lower rows first; the order of groups is one of minimum degree or a front that runs along them (reverse Cuthill
  /// & McKee), what costs less. A multiplier finds a pivot on the diagonal if its group holds unknowns that it acts on. Where this makes
  /// the factors dense in parts Automatic takes Eigen's supernodes, until they find the matrix singular.
  void analyse(const Matrix& A, const std::vector<int>& groups);
  /// False when A is singular to working precision or has entries that are not finite; see singular() and finite(). Analyses first if
  /// nothing was analysed.
  bool factorise(const Matrix& A);
  /// True after a successful factorise().
  bool factorised() const;
  const SingularityReport& singular() const;
  /// False if the last matrix had an entry that was not finite.
  bool finite() const;

  /// b on entry, x on return.
  void solve(Eigen::Ref<Eigen::VectorXd> x) const;
  void solveTransposed(Eigen::Ref<Eigen::VectorXd> x) const;
  /// Many right-hand sides, one per column.
  void solveMany(Eigen::Ref<Eigen::MatrixXd> X) const;

  /// Iterative refinement of x with A, the matrix that was factorised (or one close to it). Steps that do not lower the residual are
  /// undone. Returns ||b - A x|| / (||A|| ||x|| + ||b||) in the infinity norm, the normwise backward error.
  double refine(const Matrix& A, const Eigen::Ref<const Eigen::VectorXd>& b, Eigen::Ref<Eigen::VectorXd> x, int steps = 1) const;

  /// Estimate of the condition number in the 1-norm, of the matrix last factorised (Hager 1984, Higham 1988). Costs a few solves.
  double estimateCondition() const;

  /// Factorisations that chose pivots, and those that kept them, since analyse().
  int pivotedCount() const;
  int keptCount() const;

 private:
  double normwiseError(const Matrix& A, const Eigen::Ref<const Eigen::VectorXd>& b, const Eigen::Ref<const Eigen::VectorXd>& x) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
