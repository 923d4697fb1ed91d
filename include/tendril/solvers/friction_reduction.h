#pragma once
#include "tendril/solvers/friction_problem.h"

#include <memory>
#include <optional>

#include <Eigen/SparseCore>

namespace tendril {

/// The friction problem of a system that still has its velocities v (n), bilateral impulses lambda (m) and contact impulses r:
///
///     M v = H r + G lambda + f,      u = H^T v + w,      G^T v + b = 0,      law_i(u_i, r_i) for every contact i.
///
/// M (n x n) is symmetric and positive definite on the motions that G allows; G (n x m) may have dependent columns, and no column where
/// nothing is held; the columns of H (n x rows) are those of the contacts in turn, the normal first. A time step has the free motion
/// f = M v0 + h F.
struct GlobalFrictionProblem {
  using Matrix = Eigen::SparseMatrix<double>;
  Matrix M, H, G;
  Eigen::VectorXd f, w, b;
  std::vector<FrictionLaw> laws;
};

/// Eliminates v and lambda: u = W r + q with
///
///     W = H^T K H,   q = H^T v(0) + w,   [ M  -G ; G^T  0 ] [ v ; lambda ] = [ H r + f ; -b ],   K the upper left part of the inverse.
///
/// Where M consists of blocks of six velocities, each contact touches at most two of them and nothing is held, the problem keeps its
/// bodies and W is never formed. Otherwise the saddle-point matrix is factorised (columns of G that depend on others are set aside) and W
/// has a block wherever two contacts share a part of the system that M and G hold together.
///
/// Errors: std::invalid_argument, saying which matrix, vector or constraint: sizes that do not fit, entries that are not finite, M not
/// positive definite where G leaves motion, constraints that contradict each other.
class FrictionReduction {
 public:
  explicit FrictionReduction(GlobalFrictionProblem global);
  ~FrictionReduction();
  FrictionReduction(FrictionReduction&&) noexcept;
  FrictionReduction& operator=(FrictionReduction&&) noexcept;

  const FrictionProblem& problem() const;
  const GlobalFrictionProblem& global() const;
  /// Columns of G that say nothing new; their impulses are zero.
  const std::vector<int>& redundant() const;

  struct Motion {
    Eigen::VectorXd v, lambda;
  };
  /// The velocities and bilateral impulses that go with contact impulses.
  Motion motion(const Eigen::VectorXd& r) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The blocks of a sparse W for contacts that begin at these rows (see FrictionProblem::firstRow): all that hold an entry, and the
/// diagonal.
BlockMatrix toBlocks(const Eigen::SparseMatrix<double, Eigen::RowMajor>& W, const std::vector<int>& firstRow);

/// W as a sparse matrix, by rows; formed from the bodies if need be.
Eigen::SparseMatrix<double, Eigen::RowMajor> toSparse(const FrictionProblem& problem);

/// The numerical rank of W. With bodies it is that of H, row by row; otherwise the rank of each island of contacts by Cholesky's method
/// with diagonal pivoting, a pivot counting from 1e-9 of the largest diagonal entry on. Empty where an island has more than 4000 rows.
std::optional<int> rankOf(const FrictionProblem& problem);

/// The bodies as M, H and f: f = 0 and w = q, so that u = H^T v + w holds with v the change of velocity. Bilateral contacts become columns
/// of G. Errors: std::invalid_argument if the problem has no bodies.
GlobalFrictionProblem toGlobal(const FrictionProblem& problem);

}
