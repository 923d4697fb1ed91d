#pragma once
#include <Eigen/Core>

#include <array>
#include <string>
#include <vector>

namespace tendril {

/// |x| <= coefficient * r_n on `size` rows of a contact from row `first` on; row 0 is the normal.
struct FrictionDisc {
  int first = 1;
  int size = 2;
  double coefficient = 0;
};

/// What the impulse r and the relative velocity u of one contact must satisfy.
///
/// Bilateral:   u = 0.
/// Unilateral:  0 <= u_n  _|_  r_n >= 0   and, for every disc i,   -u_i in N_{D(mu_i r_n)}(r_i):
///              |r_i| <= mu_i r_n,  and r_i = -mu_i r_n u_i / |u_i| where u_i does not vanish (maximal dissipation).
///
/// Coulomb's law in space has one disc of two rows, in the plane one of one row; rolling and pivoting friction are further discs, on
/// rows of their own that hold the relative angular velocity.
struct FrictionLaw {
  static constexpr int maxSize = 6;
  enum class Kind : unsigned char { Bilateral, Unilateral };

  Kind kind = Kind::Unilateral;
  int size = 3;
  int discCount = 0;
  std::array<FrictionDisc, 3> discs{};

  static FrictionLaw bilateral(int rows) { return {Kind::Bilateral, rows, 0, {}}; }
  static FrictionLaw frictionless() { return {Kind::Unilateral, 1, 0, {}}; }
  static FrictionLaw plane(double mu) { return {Kind::Unilateral, 2, 1, {{{1, 1, mu}}}}; }
  static FrictionLaw coulomb(double mu) { return {Kind::Unilateral, 3, 1, {{{1, 2, mu}}}}; }
  /// Rows: normal, two tangents, two rolling axes, pivoting axis. The coefficients of rolling and pivoting are lengths.
  static FrictionLaw rolling(double mu, double rolling, double pivoting) {
    return {Kind::Unilateral, 6, 3, {{{1, 2, mu}, {3, 2, rolling}, {5, 1, pivoting}}}};
  }
};

/// A square matrix of dense blocks, by rows of blocks. Block (i, j) has as many rows as contact i and as many columns as contact j, and
/// lies in `values` from its offset on, column by column. Columns of a row ascend; the diagonal is always there.
struct BlockMatrix {
  struct Block {
    int column = 0;
    std::size_t offset = 0;
  };
  std::vector<int> start; ///< first block of each row, and the end
  std::vector<Block> blocks;
  std::vector<double> values;
};

/// W = H A^-1 H^T of bodies that are coupled by their contacts alone: A^-1 per body, at most two bodies per contact.
struct FrictionBodies {
  using Levers = Eigen::Matrix<double, Eigen::Dynamic, 12, Eigen::RowMajor>;
  std::vector<Eigen::Matrix<double, 6, 6>> inverseInertia;
  std::vector<std::array<int, 2>> touched; ///< the bodies of each contact; -1 for what does not move
  Levers H;                                ///< rows of all contacts; columns 0-5 for the first body, 6-11 for the second, zero without body
};

/// The discrete friction problem: find the impulses r with
///
///     u = W r + q,     law_i(u_i, r_i) for every contact i,      (solvers.3)
///
/// W the Delassus operator, symmetric positive semidefinite (files may hold slightly unsymmetric ones), often of deficient rank; q the
/// relative velocity without contact impulses. W is given by its blocks or, where that is empty, by the bodies behind it.
struct FrictionProblem {
  std::vector<FrictionLaw> laws;
  std::vector<int> firstRow; ///< of each contact, and the number of rows
  Eigen::VectorXd q;
  BlockMatrix W;
  FrictionBodies bodies;

  int contacts() const { return int(laws.size()); }
  int rows() const { return firstRow.empty() ? 0 : firstRow.back(); }
  bool hasBodies() const { return W.start.empty(); }
  /// Fills firstRow from the laws.
  void layOut();
};

/// What is wrong with a problem, as a sentence that names the contact and the remedy; empty if nothing is. NaN and infinity, sizes that do
/// not fit, negative coefficients, diagonal blocks that are not positive semidefinite, W far from symmetric.
std::string findDefect(const FrictionProblem& problem);

/// u = W r + q.
void velocities(const FrictionProblem& problem, const Eigen::VectorXd& r, Eigen::VectorXd& u);

/// The blocks of W = H A^-1 H^T.
BlockMatrix delassus(const FrictionProblem& problem);

/// Two measures of how far r is from a solution, both divided by the norm of q (absolute where q is zero).
struct FrictionResidual {
  /// |r - P_K(r - u - g(u))| with K the product of the cones and g(u) = (sum_i mu_i |u_i|, 0, ...) (de Saxce & Feng 1998): the measure of
  /// published comparisons of solvers. It adds impulses and velocities, so it is meaningful in the units of the file.
  double published = 0;
  /// The same with each contact's impulses measured by its own effective mass rho_i = rows / trace(W_ii), as a velocity: independent of
  /// the units. Before that the rows of all discs but the first are divided (impulses) and multiplied (velocities) by the coefficient of
  /// their disc, a length, which makes forces of moments and velocities of angular velocities.
  double scaled = 0;
  int worst = -1; ///< the contact with the largest share of `scaled`
};
FrictionResidual frictionResidual(const FrictionProblem& problem, const Eigen::VectorXd& r, const Eigen::VectorXd& u);

}
