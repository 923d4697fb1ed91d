#pragma once
#include "tendril/equations/kkt_system.h"
#include "tendril/model/director_system.h"

#include <vector>

namespace tendril {

/// Reversible control of the step of a path (Hairer & Soderlind 2005),
///
///     h_{n+1/2} = h_0 / rho_{n+1/2},     rho_{n+1/2} = rho_{n-1/2} + exponent h_0 G(q_n, q'_n),     G = d/dt ln omega,
///
/// so that h goes with omega^-exponent. omega^2 = |q'''| / |q'| is the stiffness that the motion itself meets: omega is the frequency of an
/// oscillator all along its motion, and r^(-3/2) on the orbits of Kepler. G is odd in q', which makes the control reversible.
class StepSizeControl {
 public:
  StepSizeControl(const DirectorSystem& system, double exponent);

  void start(double step);
  /// The step that leaves a node with this configuration and twists. NumericalFailure where it would have no bound.
  double next(const VectorX& q, const VectorX& v, double t);
  void accept();
  void reverse() { std::swap(rho_, rhoBefore_); }
  std::vector<double> save() const { return {rho_, rhoBefore_}; }
  void restore(const std::vector<double>& numbers) { rho_ = numbers.at(0), rhoBefore_ = numbers.at(1); }

 private:
  double growth(const VectorX& q, const VectorX& v, double t);
  /// q'' at a place `shift` along the motion.
  void accelerate(const VectorX& q, const VectorX& v, double t, double shift, VectorX& result);
  double norm(const VectorX& rates) const;

  const DirectorSystem& system_;
  double exponent_, step_ = 1;
  double rho_ = 1, rhoBefore_ = 1, rhoNext_ = 1;
  KktSystem kkt_;
  State state_;
  VectorX a_, increment_, behind_, here_, ahead_, rates_;
};

}
