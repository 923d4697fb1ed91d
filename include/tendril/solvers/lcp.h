#pragma once
#include "tendril/solvers/friction_problem.h"

#include <string>
#include <vector>

#include <Eigen/Core>

namespace tendril {

/// How a pivoting method for unilateral problems ended.
enum class PivotStatus {
  Solved,
  Infeasible, ///< the conditions contradict each other; for Lemke's method: the path ended on a ray
  PivotLimit
};

/// z and w = M z + q of a linear complementarity problem.
struct LcpResult {
  PivotStatus status = PivotStatus::Solved;
  Eigen::VectorXd z, w;
  int pivots = 0;
  double residual = 0; ///< max |min(s_i z_i, w_i / s_i)| / max |q_i / s_i|, s_i = sqrt(M_ii) (1 where that is zero): free of units
  std::string message; ///< empty if solved
};

/// The linear complementarity problem 0 <= z _|_ M z + q >= 0, M dense, by Lemke's method (Cottle, Pang & Stone 2009, 4.4):
///
///     w = M z + q + d z0,   one of w_i, z_i in the basis,   z0 driven from max(-q) to zero      (solvers.6).
///
/// The lexicographic ratio test excludes cycling, so the path ends after finitely many pivots: in a solution, or on a ray. For M positive
/// semidefinite (or copositive-plus) a ray proves that no z >= 0 has M z + q >= 0; for other matrices it proves nothing. The problem is
/// scaled symmetrically by the diagonal, and the solution is computed anew from its basis, so that it does not carry the rounding of the
/// pivots. maxPivots 0: 50 n + 100. Errors: std::invalid_argument on sizes or entries that are not finite.
LcpResult solveLcp(const Eigen::MatrixXd& M, const Eigen::VectorXd& q, int maxPivots = 0);

/// A strictly convex quadratic program in the form of mechanics: the projection of v0 on a polyhedron in the metric A,
///
///     min 1/2 (v - v0)^T A (v - v0)   subject to   N_i v = b_i for the first `equalities` rows,   N_i v >= b_i for the others.
///
/// It is Moreau's time step for frictionless contact: v0 = u + h A^-1 F, N the gap gradients, b = -dg/dt.
struct QuadraticProgram {
  Eigen::MatrixXd A; ///< positive definite
  Eigen::VectorXd v0;
  Eigen::MatrixXd N;
  Eigen::VectorXd b;
  int equalities = 0;
};

struct ProximalPoint {
  PivotStatus status = PivotStatus::Solved;
  Eigen::VectorXd v;
  /// A (v - v0) = N^T lambda, lambda >= 0 on inequalities, zero on those that are open. Not unique where rows depend on each other.
  Eigen::VectorXd lambda;
  std::vector<int> active;    ///< inequalities held, independent of each other and of the equalities
  std::vector<int> dependent; ///< rows that hold with equality but follow from others
  std::vector<int> conflict;  ///< if infeasible: rows that no v satisfies together
  int pivots = 0;
  std::string message; ///< empty if solved
};

/// Solves the program by the dual active-set method of Goldfarb & Idnani (1983): it starts from v0, takes in the most violated row and
/// keeps lambda >= 0, so dependent rows are never held together and an empty polyhedron is found out. Distances are measured in the metric
/// A with rows of unit length: the result does not depend on the coordinates of v or on the units of rows. Errors: std::invalid_argument on
/// sizes, entries that are not finite, A not positive definite.
ProximalPoint solveProximal(const QuadraticProgram& program, int maxPivots = 0);

enum class FrictionlessMethod { Lemke, ActiveSet };

/// Solves a friction problem whose coefficients are all zero: u_n = W_nn r_n + q_n with 0 <= u_n _|_ r_n >= 0, bilateral rows with u = 0.
/// Dense; W may be singular (then u is unique where the problem is feasible, r is not). The status tells whether r solves the problem.
/// Errors: std::invalid_argument if a coefficient is not zero.
struct FrictionlessReport {
  PivotStatus status = PivotStatus::Solved;
  int pivots = 0;
  std::string message;
};
FrictionlessReport solveFrictionless(const FrictionProblem& problem, FrictionlessMethod method, Eigen::VectorXd& r);

}
