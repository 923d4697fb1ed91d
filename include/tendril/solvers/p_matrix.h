#pragma once
#include <vector>

#include <Eigen/Core>

namespace tendril {

/// Whether all principal minors of a matrix are positive.
struct PMatrixReport {
  bool isP = true;
  /// Rows of a principal submatrix whose determinant is not positive; empty if there is none.
  std::vector<int> witness;
  double smallestPivot = 0; ///< smallest one met: how clear the decision is
  double tolerance = 0;     ///< pivots up to this count as not positive
};

/// Distance at which a column of a piece of a complementarity problem counts as lying in the span of the others, all columns of unit length
/// (largest entry): the one meaning of "singular" that uniqueness for every load and the solutions for one load are decided by.
inline constexpr double dependentColumns = 1e-12;

/// Most rows for which subsets of rows are looked through one by one.
inline constexpr int maxEnumeratedRows = 20;

/// Exact test for P-matrices, for which 0 <= z _|_ M z + q >= 0 has exactly one solution whatever q (Samelson, Thrall & Wesler 1958): M is
/// one if M_11 > 0 and both M without its first row and column and the Schur complement of M_11 are (Tsatsomeros & Li 2000). 2^n pivots,
/// det(set + i) / det(set); the general question is co-NP-complete. Rows and columns are scaled by the diagonal, so that units do not
/// enter. Errors: std::invalid_argument unless M is square and finite with at most maxEnumeratedRows rows.
PMatrixReport testPMatrix(const Eigen::MatrixXd& M, double tolerance = 1e-12);

/// How far a P-matrix is from losing that property.
struct PMatrixRadius {
  double lower = 0;        ///< beta_2 is at least this: attained by `worst`
  double upper = 0;        ///< and at most this; infinite if nothing is known
  bool isCertified = true; ///< both agree to the tolerance
  std::vector<int> worst;  ///< rows of the principal submatrix that is nearest to singular
  long nodes = 0;          ///< of the search
};

/// beta_2(M) = max over d in [0,1]^n of |(I - D + D M)^-1 D|_2, D = diag d: every A with beta_2 |M - A|_2 < 1 is a P-matrix, too
/// (Chen & Xiang 2007).
///
/// The maximum lies at a corner. Along one coordinate d_i the matrix is a constant plus tau u v^T with tau a monotone (Moebius) function of
/// d_i, and norms are convex in tau, so that one of the two ends of d_i is at least as good as what lies between. At the corner of a set of
/// rows the matrix is the inverse of the principal submatrix of that set, hence
///
///     beta_2(M) = 1 / min over sets of sigma_min(M_set,set).
///
/// Up to 14 rows all sets are looked at. Beyond, they are searched by branch and bound: with some coordinates fixed at 0 or 1 and the
/// others anywhere (centre d, radii r = 1/2),
///
///     |Phi(d')| <= |Phi(d)| + |S E| |E R| / (1 - |E K S E|),   K = M - I,  S = (I + D K)^-1,  R = (I + K D)^-1,  E = diag(r)^1/2.
///
/// The search may stop at maxNodes and says so, with what is known. M must be a P-matrix (an infinite lower bound tells that it is not).
/// Errors: std::invalid_argument unless M is square and finite.
PMatrixRadius radiusOfPMatrix(const Eigen::MatrixXd& M, double relativeTolerance = 1e-10, long maxNodes = 100000);

/// The horizontal linear complementarity problem P x+ - N x- + q = 0, 0 <= x+ _|_ x- >= 0. With N = I it is the common one, x- = P x+ + q.
/// It says that a piecewise linear map of x = x+ - x-, with column P_i where x_i > 0 and N_i where x_i < 0, takes the value -q.
struct HorizontalLcp {
  Eigen::MatrixXd P, N;
  Eigen::VectorXd q;

  int size() const { return int(q.size()); }
};

/// Whether there is exactly one solution whatever q: the determinants of all 2^n matrices that take each column from P or from N, the
/// pieces, have the same sign, which is to say that P is invertible and P^-1 N a P-matrix. The condition is open: where a piece is singular
/// (dependentColumns) it does not hold. The witness is the set of columns from P of a piece with a sign of its own or none; pivots are the
/// distances of columns from the span of others.
PMatrixReport testUniqueSolvability(const HorizontalLcp& problem);

/// All solutions x, piece by piece.
struct LcpSolutions {
  std::vector<Eigen::VectorXd> x;
  /// A piece whose columns depend on each other holds solutions, as a rule a whole polyhedron of them; one of it is in x.
  bool isContinuum = false;
  PMatrixReport uniqueness; ///< whatever q, as testUniqueSolvability
};

/// Looks through all 2^n pieces: an oracle for small problems. Solutions that differ by less than the tolerance, relative to the largest
/// entry, are one. Errors: std::invalid_argument on sizes, entries that are not finite, more than maxEnumeratedRows rows.
LcpSolutions enumerateSolutions(const HorizontalLcp& problem, double tolerance = 1e-9);

}
