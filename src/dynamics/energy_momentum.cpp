#include "dynamics/energy_momentum.h"

namespace tendril {

EnergyMomentumBalance::EnergyMomentumBalance(const DirectorSystem& system)
    : system_(system), middle_(VectorX::Zero(system.size())), rate_(middle_), increment_(middle_), damping_(system.matrix()) {}

void EnergyMomentumBalance::leaving(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& r) {
  increment_ = q1 - q0;
  r.noalias() = system_.mass() * increment_;
  r *= -2 / h;
  system_.addDiscreteGradient(q0, q1, t0, t0 + h, -h, r);
  if (!system_.hasForces()) return;
  middle_ = 0.5 * (q0 + q1);
  rate_ = increment_ / h;
  system_.addForces(middle_, rate_, t0 + h / 2, h, r);
}

void EnergyMomentumBalance::leavingByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) {
  std::fill_n(K.valuePtr(), K.nonZeros(), 0.0);
  if (system_.hasForces()) {
    middle_ = 0.5 * (q0 + q1);
    rate_ = (q1 - q0) / h;
    std::fill_n(damping_.valuePtr(), damping_.nonZeros(), 0.0);
    increment_.setZero();
    system_.addForces(middle_, rate_, t0 + h / 2, 1, increment_, &K, &damping_);
    for (Eigen::Index i = 0; i < K.nonZeros(); ++i) K.valuePtr()[i] = 0.5 * h * K.valuePtr()[i] + damping_.valuePtr()[i];
  }
  system_.addMassMatrix(-2 / h, K);
  increment_.setZero();
  system_.addDiscreteGradient(q0, q1, t0, t0 + h, -h, increment_, &K);
}

void EnergyMomentumBalance::arriving(const VectorX& q0, const VectorX& q1, double, double h, VectorX& arrived) {
  increment_ = q1 - q0;
  middle_.noalias() = system_.mass() * increment_;
  arrived = (4 / h) * middle_ - arrived;
}

void EnergyMomentumBalance::momentum(const VectorX& arrived, const VectorX&, double, VectorX& p) const { p = 0.5 * arrived; }

}
