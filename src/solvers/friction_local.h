#pragma once
#include "tendril/solvers/friction_problem.h"

#include <cmath>
#include <vector>

#include <Eigen/Core>

namespace tendril {

/// Coulomb's law at one contact in space, solved exactly: u = W r + b, W the 3 x 3 block (it may be unsymmetric, its tangential part may be
/// singular).
///
/// Take-off first (b_n >= 0), then sticking, then sliding. A contact that slides has u_n = 0 and u_t = -s r_t with one s > 0, hence
///
///     (S + s I) r_t = -c,   r_n = -(b_n + W_nt r_t) / W_nn,   S = W_tt - W_tn W_nt / W_nn,   c = b_t - W_tn b_n / W_nn,
///
/// and s is the root of h(s) = mu r_n / |r_t| - 1. h < 0 at sticking outside of the cone and h > 0 for large s, so a root exists, W
/// positive definite; where W has no coupling of n and t and S is isotropic h is linear and Newton's method exact in one step.
struct CoulombBlock {
  double wnn, inverse;       ///< W_nn, 1 / W_nn
  double wnx, wny;           ///< W_nt
  double txn, tyn;           ///< W_tn / W_nn
  double sxx, sxy, syx, syy; ///< S
  double trace, det, least;  ///< of S; least s, above round-off of S
  double mu;

  void set(const double* W, double friction);
  void solve(const double* b, double* r) const;

 private:
  void slide(const double* b, double cx, double cy, double* r) const;
};

/// Solves the law of each contact of a system on its own.
class LocalSolvers {
 public:
  enum class Kind : unsigned char { Bilateral, Normal, Plane, Coulomb, General };

  /// D: diagonal blocks, contact i at offset[i], column by column.
  void set(const std::vector<FrictionLaw>& laws, const std::vector<double>& D, const std::vector<std::size_t>& offset);

  bool allCoulomb() const { return allCoulomb_; }
  const CoulombBlock& coulomb(int contact) const { return blocks_[contact]; }
  /// r of contact i for u = W_ii r + b; r on entry: where an iterative solution starts.
  void solve(int contact, const double* b, double* r) const;

 private:
  void solvePlane(int contact, const double* b, double* r) const;
  void solveGeneral(int contact, const double* b, double* r) const;
  bool newton(int contact, const double* b, double* r) const;

  const std::vector<FrictionLaw>* laws_ = nullptr;
  const std::vector<double>* D_ = nullptr;
  const std::vector<std::size_t>* offset_ = nullptr;
  std::vector<Kind> kinds_;
  std::vector<CoulombBlock> blocks_;
  std::vector<Eigen::MatrixXd> inverses_; ///< of bilateral contacts, pseudo-inverse
  bool allCoulomb_ = false;
};

/// True if W_nn < mu |W_nt| in some direction of the tangents of some disc: the block alone allows several solutions, or none for a given
/// direction of sliding (Painleve).
bool isAmbiguous(const FrictionLaw& law, const double* W);

}
