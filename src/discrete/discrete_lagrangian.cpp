#include "tendril/discrete/discrete_lagrangian.h"

namespace tendril {

namespace {

void clear(const DirectorSystem& system, SparseMatrix& K) {
  if (K.rows() != system.size()) K = system.matrix();
  K.coeffs().setZero();
}

}

DiscreteLagrangian::DiscreteLagrangian(const DirectorSystem& system, Quadrature quadrature)
    : system_(system), quadrature_(quadrature), middle_(system.size()), rate_(system.size()), increment_(system.size()) {}

void DiscreteLagrangian::left(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& result) {
  momentum(q0, q1, t0, h, End::Begin, result);
}

void DiscreteLagrangian::right(const VectorX& q0, const VectorX& q1, double t0, double h, VectorX& result) {
  momentum(q0, q1, t0, h, End::End, result);
}

void DiscreteLagrangian::leftByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) {
  derivative(q0, q1, t0, h, End::Begin, End::End, K);
}

void DiscreteLagrangian::leftByBegin(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) {
  derivative(q0, q1, t0, h, End::Begin, End::Begin, K);
}

void DiscreteLagrangian::rightByBegin(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) {
  derivative(q0, q1, t0, h, End::End, End::Begin, K);
}

void DiscreteLagrangian::rightByEnd(const VectorX& q0, const VectorX& q1, double t0, double h, SparseMatrix& K) {
  derivative(q0, q1, t0, h, End::End, End::End, K);
}

void DiscreteLagrangian::momentum(const VectorX& q0, const VectorX& q1, double t0, double h, End of, VectorX& result) {
  const bool atBegin = of == End::Begin;
  const VectorX& q = atBegin ? q0 : q1;
  rate_ = (q1 - q0) / h;
  result.noalias() = system_.mass() * rate_;
  if (atBegin) result = -result;
  if (quadrature_ == Quadrature::Midpoint) {
    middle_ = 0.5 * (q0 + q1);
    system_.addPotentialGradient(middle_, t0 + h / 2, -h / 2, result);
  } else {
    system_.addPotentialGradient(q, atBegin ? t0 : t0 + h, -h / 2, result);
  }
  if (system_.hasForces()) system_.addForces(q, rate_, t0 + h / 2, h / 2, result);
}

void DiscreteLagrangian::derivative(const VectorX& q0, const VectorX& q1, double t0, double h, End of, End by, SparseMatrix& K) {
  const bool atBegin = of == End::Begin, isOwn = of == by;
  const VectorX& q = atBegin ? q0 : q1;
  clear(system_, K);
  system_.addMassMatrix(isOwn ? 1 / h : -1 / h, K);
  if (quadrature_ == Quadrature::Midpoint) {
    middle_ = 0.5 * (q0 + q1);
    system_.addPotentialHessian(middle_, t0 + h / 2, -h / 4, K);
  } else if (isOwn) {
    system_.addPotentialHessian(q, atBegin ? t0 : t0 + h, -h / 2, K);
  }
  if (!system_.hasForces()) return;
  rate_ = (q1 - q0) / h;
  increment_.setZero();
  if (isOwn) system_.addForces(q, rate_, t0 + h / 2, h / 2, increment_, &K);
  system_.addForces(q, rate_, t0 + h / 2, by == End::Begin ? -0.5 : 0.5, increment_, nullptr, &K);
}

double DiscreteLagrangian::energy(const VectorX& q0, const VectorX& q1, double t0, double h) {
  rate_ = (q1 - q0) / h;
  increment_.noalias() = system_.mass() * rate_;
  middle_ = 0.5 * (q0 + q1);
  const double potential = quadrature_ == Quadrature::Midpoint ? system_.potential(middle_, t0 + h / 2)
                                                               : 0.5 * (system_.potential(q0, t0) + system_.potential(q1, t0 + h));
  return 0.5 * rate_.dot(increment_) + potential;
}

}
