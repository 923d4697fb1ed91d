#pragma once
#include <limits>
#include <span>
#include <vector>

#include <Eigen/SparseCore>

namespace tendril {

/// Which rows of a constraint Jacobian say nothing new. Distances refer to rows scaled to unit length.
struct RankReport {
  int rank = 0;
  /// Ascending row numbers: each lies within the tolerance of the span of the rows kept.
  std::vector<int> dependentRows;
  /// Smallest distance of a kept row to the span of the rows kept before it; infinite if none is kept. A wide gap between this and the next
  /// number means that the rank is well determined.
  double smallestKept = std::numeric_limits<double>::infinity();
  /// Largest distance of a dropped row; 0 if none is dropped.
  double largestDropped = 0;
  double tolerance = 0;
};

/// Rank and redundant rows of a sparse G (m x n).
///
/// Rows are scaled to unit length (a zero row is dependent) and taken in order. A row is dropped when its distance to the span of the rows
/// kept before it is at most the tolerance, so that of a dependent set the LAST row goes; rows of higher `priority` come first (one number
/// per row, empty: all equal). Greedy in a matroid, this keeps the best independent set for that order, which column pivoting would not.
///
/// The distances are the diagonal of R in G^T = Q R, columns in order, computed row by row with Givens rotations (George & Heath 1980;
/// deficient columns as in Heath 1982). Orthogonal, hence backward stable, Q is never formed, R has the pattern of the Cholesky factor of
/// G G^T: time and memory are linear in m for banded G, and components of G that share no columns do not see each other. The test is on
/// distances and not on the smallest singular value, which falls with the length of a chain though nothing in it is redundant.
///
/// Errors: std::invalid_argument if an entry is not finite (names the row), or priority has another length than m.
RankReport findDependentRows(const Eigen::SparseMatrix<double>& G, double relativeTolerance = 1e-9, std::span<const int> priority = {});

/// The multipliers of least weighted norm with the same constraint force:
///
///     min sum_i w_i mu_i^2   subject to   G^T mu = G^T lambda
///
/// that is lambda less its part in null(G^T), orthogonal with the weights. It makes multipliers of redundant constraints unique, for
/// output and for contact laws that read them. Weights are positive, one per row (empty: all 1); w_i with the unit of 1/lambda_i^2 makes
/// the result free of the choice of units. The null space comes from the same factorisation as findDependentRows; if nothing is redundant
/// lambda is returned as it is. Errors: std::invalid_argument on sizes that do not match, weights that are not positive, entries that are
/// not finite.
Eigen::VectorXd minimumNormMultipliers(const Eigen::SparseMatrix<double>& G, const Eigen::VectorXd& lambda,
                                       const Eigen::VectorXd& weights = {}, double relativeTolerance = 1e-9);

}
