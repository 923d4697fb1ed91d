#pragma once
#include "friction_equations.h"

namespace tendril {

/// Follows the central path of Coulomb's law down to its end. For eps > 0 the law of a contact with a disc is replaced by
///
///     z o y = eps e,    z = (mu r_n, r_t),    y = (u_n / mu + s, u_t),    s = sqrt(|u_t|^2 + delta^2),    delta = kappa eps / |q|,
///
/// o the product of the second-order cones, e their unit, |q| per contact; without disc r_n u_n = eps. As one smooth equation this is
/// F = z - P(z - y) = 0 with P(x) = (x + (x^2 + 4 eps)^1/2) / 2, the rounded projection on the cone (Fukushima, Luo & Tseng 2002): easy for
/// large eps, the law itself for eps = 0. A step costs one factorisation. It corrects by Newton's method and lowers eps as far as |F| stays
/// below a share of sqrt(eps), so that it ends fast. W may be singular.
///
/// The path may fold back, since Coulomb's law may gain and lose solutions as eps falls: Newton's method finds nothing below a fold. With
/// the shift s held the problem is convex (Cadoux 2009) and its path does not fold. So below a fold s follows the slip with inertia,
/// s <- weight s(u) + (1 - weight) s, the implicit step of ds/dt = s(u) - s of length weight / (1 - weight), which flows to another branch;
/// weight tends to 1 as it settles (pseudo-transient continuation).
class FrictionPath {
 public:
  /// kappa: how much the shift is rounded. Another one leads along another path. False if a contact has several discs.
  bool start(const FrictionSystem& system, FrictionEquations& equations, double kappa);
  /// One factorisation; false if it cannot go on.
  bool step();
  const Eigen::VectorXd& impulses() const { return r_; }

 private:
  double delta(double eps) const { return kappa_ * eps / size_; }
  double roundedSlip(int contact, double eps) const;
  double evaluate(const Eigen::VectorXd& r, double eps, double weight);
  void differentiate();
  bool lower();
  double descend(double f);
  void follow();
  void jump();
  void settle();
  bool stepFollowing(double f);

  const FrictionSystem* system_ = nullptr;
  FrictionEquations* equations_ = nullptr;
  Eigen::VectorXd r_, trial_, u_, w_, F_, rate_; ///< rate = dF/deps
  Eigen::VectorXd correction_, prediction_;
  Eigen::VectorXd held_; ///< the shift of each contact that 1 - weight takes part of
  double kappa_ = 1, size_ = 1, eps_ = 0;
  double weight_ = 1, change_ = 0; ///< change of the shift when it settled last
  int centred_ = 0, settled_ = 0;  ///< steps at this eps
  bool jumping_ = false;
};

}
