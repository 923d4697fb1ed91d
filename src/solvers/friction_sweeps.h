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

}
