#include "friction_admm.h"

#include "friction_cone.h"

#include <algorithm>

namespace tendril {

namespace {

constexpr double proximal = 1e-9;

}

void FrictionAdmm::start(const FrictionSystem& system, FrictionEquations& equations, const Eigen::VectorXd& r) {
  system_ = &system;
  equations_ = &equations;
  r_ = z_ = r;
  system.velocities(r_, w_, u_);
  y_ = -u_;
  for (int i = 0; i < system.contacts(); ++i) y_[system.first[i]] -= coneShift(system.laws[i], &u_[system.first[i]]);
  rho_ = 0.1;
  factorisations_ = iterations_ = lastChange_ = 0;
}

bool FrictionAdmm::factorise() {
  ++factorisations_;
  for (int i = 0; i < system_->contacts(); ++i) {
    const int size = system_->laws[i].size;
    equations_->contacts()[i].A.setZero(size, size);
    equations_->contacts()[i].B.setIdentity(size, size);
  }
  return equations_->factorise(rho_ + proximal);
}

bool FrictionAdmm::step() {
  const FrictionSystem& system = *system_;
  if (iterations_++ == 0 && !factorise()) return false;
  for (int i = 0; i < system.contacts(); ++i) { // the gradient at the present r: the equations give the increment
    const int row = system.first[i], size = system.laws[i].size;
    ContactVector& F = equations_->contacts()[i].F;
    F = u_.segment(row, size) + y_.segment(row, size) + rho_ * (r_.segment(row, size) - z_.segment(row, size));
    F[0] += coneShift(system.laws[i], &u_[row]);
  }
  if (!equations_->solve(dr_)) return false;
  r_ += dr_;
  system.velocities(r_, w_, u_);
  last_ = z_;
  z_ = r_ + y_ / rho_;
  for (int i = 0; i < system.contacts(); ++i) projectOnCone(system.laws[i], &z_[system.first[i]]);
  y_ += rho_ * (r_ - z_);
  adapt((r_ - z_).norm(), rho_ * (z_ - last_).norm());
  return true;
}

void FrictionAdmm::adapt(double primal, double dual) {
  if (iterations_ - lastChange_ < 20) return;
  const double ratio = primal / std::max(dual, 1e-300);
  if (ratio < 10 && ratio > 0.1) return;
  rho_ = std::clamp(rho_ * (ratio > 1 ? 3.0 : 1 / 3.0), 1e-6, 1e3);
  lastChange_ = iterations_;
  factorise();
}

}
