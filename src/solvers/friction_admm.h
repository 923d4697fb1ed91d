#pragma once
#include "friction_equations.h"

namespace tendril {

/// The method of multipliers with alternating directions (Boyd et al. 2011; Carpentier et al. 2024 for contact),
///
///     (W + rho + eps) r = rho z - y - q - g(u) + eps r,    z = P_K(r + y / rho),    y <- y + rho (r - z),
///
/// one factorisation as long as the penalty rho stays; that follows the ratio of the two residuals. z is in the cones throughout.
class FrictionAdmm {
 public:
  void start(const FrictionSystem& system, FrictionEquations& equations, const Eigen::VectorXd& r);
  /// One iteration; false if it cannot go on.
  bool step();
  const Eigen::VectorXd& impulses() const { return z_; }
  long factorisations() const { return factorisations_; }

 private:
  bool factorise();
  void adapt(double primal, double dual);

  const FrictionSystem* system_ = nullptr;
  FrictionEquations* equations_ = nullptr;
  Eigen::VectorXd r_, z_, y_, u_, w_, dr_, last_;
  double rho_ = 0;
  long factorisations_ = 0, iterations_ = 0, lastChange_ = 0;
};

}
