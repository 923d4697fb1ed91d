#pragma once
#include <memory>
#include <optional>

#include <Eigen/SparseCore>

namespace tendril {

/// Numbers of positive, negative and zero eigenvalues of a symmetric matrix; the same for A and S^T A S, S regular (Sylvester).
struct Inertia {
  int positive = 0;
  int negative = 0;
  int zero = 0;
  bool operator==(const Inertia&) const = default;
};

struct SparseLdltOptions {
  /// Eigen serves always; Automatic takes MUMPS if it was compiled in, and the matrix is not small.
  enum class Backend { Automatic, Eigen };
  Backend backend = Backend::Automatic;
  /// A pivot (or an eigenvalue) is zero when what is left of its row is below this, relative to the norm of the scaled matrix. Rounding
  /// leaves about 1e-12 of the rotation of a free slender beam of 1000 elements; clamped it shows no pivot below 1e-10 in 5000.
  double zeroTolerance = 1e-11;
};

/// Direct solution of A x = b, A symmetric, indefinite, sparse, with its exact inertia: the sign counts decide stability of an equilibrium
/// and regularity of a saddle-point matrix [K G^T; G 0].
///
///     P S A S P^T = L D L^T     S: diagonal scaling, D: blocks of size 1 and 2
///
/// With MUMPS (Amestoy, Duff, L'Excellent & Koster 2001), sequential: threshold pivoting, null pivots detected and set aside, null vectors
/// on request. Without it, and up to order 24, Eigen's unpivoted LDL^T of the scaled matrix serves; its sign counts are the inertia
/// whenever no pivot is small, which holds for definite and quasi-definite matrices. If one is small, an eigenvalue decomposition takes
/// over up to order 800; above that Eigen's LU solves and inertia() is empty: the inertia is never guessed.
///
/// Only the lower triangle of A is read; A may hold both. The pattern is fixed from analyse() on. factorise() allocates. Not thread-safe,
/// and with MUMPS no two objects may work at the same time. Errors: as SparseLu; std::bad_alloc if the factor does not fit in memory.
class SparseLdlt {
 public:
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

  explicit SparseLdlt(const SparseLdltOptions& options = {});
  ~SparseLdlt();
  SparseLdlt(SparseLdlt&&) noexcept;
  SparseLdlt& operator=(SparseLdlt&&) noexcept;

  /// "MUMPS" or "Eigen LDLT"; empty before a matrix was analysed.
  const char* backend() const;

  void analyse(const Matrix& A);
  /// False when A is singular to working precision or not finite. A singular A still has its inertia and null vectors; solve() then gives
  /// one of the solutions if b is in the range of A. Analyses first if nothing was analysed.
  bool factorise(const Matrix& A);
  /// For the factorisations from now on.
  void setZeroTolerance(double tolerance);
  bool finite() const;
  bool singular() const;
  /// Of the matrix last factorised; empty if the factorisation could not tell.
  std::optional<Inertia> inertia() const;

  /// b on entry, x on return.
  void solve(Eigen::Ref<Eigen::VectorXd> x) const;

  /// Orthonormal basis of the null space, n x inertia().zero, in A's own (unscaled) coordinates: for a stiffness matrix the free rigid-body
  /// motions. No columns when A is regular.
  Eigen::MatrixXd nullVectors() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
