#pragma once
#include "friction_local.h"
#include "friction_system.h"

namespace tendril {

/// Block nonlinear Gauss-Seidel: contact after contact is solved exactly with what the others give at that moment (Jean & Moreau 1992).
class FrictionSweeps {
 public:
  /// Both must outlive the sweeps.
  void set(const FrictionSystem& system, const LocalSolvers& locals);
  /// One sweep over all contacts, first to last or last to first; r is updated and, with bodies, w = H^T r with it. Returns |change of
  /// r|^2.
  double sweep(Eigen::VectorXd& r, Eigen::VectorXd& w, bool backward = false) const;

 private:
  double updateInBlocks(int contact, double* r) const;
  double updateOnBodies(int contact, double* r, double* w) const;
  double updateCoulombOnBodies(int contact, double* r, double* w) const;

  const FrictionSystem* system_ = nullptr;
  const LocalSolvers* locals_ = nullptr;
};

/// Sweeps with momentum (Nesterov 1983) on bodies: x is what a sweep makes of y, and the next sweep starts from
///
///     y_i <- x_i + (t_i - 1) / (t_i + 1) (x_i - x_i of the sweep before),   t_i <- t_i + 1,   for every contact i.
///
/// t_i is one again where the sweep goes against the last step, summed over the contacts of either body that the contact touches. A test
/// over all contacts (O'Donoghue & Candes 2015) does not see the few places that oscillate in a large pile, and never comes to rest there.
/// Without momentum t_i stays one: plain sweeps. Allocates nothing but in start().
class AcceleratedSweeps {
 public:
  /// From the impulses r with the motion w; system and sweeps must outlive this.
  void start(const FrictionSystem& system, const FrictionSweeps& sweeps, const Eigen::VectorXd& r, const Eigen::VectorXd& w);
  void step(bool momentum = true);
  const Eigen::VectorXd& impulses() const { return y_; } ///< y, where the next sweep starts; it may be outside of the cones

 private:
  const FrictionSystem* system_ = nullptr;
  const FrictionSweeps* sweeps_ = nullptr;
  Eigen::VectorXd x_, y_, before_, step_; ///< before_: y before the sweep; step_: the last change of x
  Eigen::VectorXd motion_;                ///< of y
  Eigen::VectorXd agreement_;             ///< of each body: sweep times last step
  std::vector<double> t_;                 ///< of each contact
};

}
