#pragma once
#include "friction_equations.h"

#include <cmath>

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
/// The path may fold back, since Coulomb's law may gain and lose solutions as eps falls. As a curve in (r, eps) it goes on through folds,
/// where eps rises for a while (Allgower & Georg 2003, ch. 2): there steps go along the tangent, in the metric |dr|^2 / (eps contacts) +
/// (deps / eps)^2, and are corrected across it. Which way is forward the determinant of dF/dr tells, which changes its sign at folds alone:
/// eps falls where it is positive. So the curve cannot be followed backwards, however sharply it turns within a step.
///
/// Where the curve is lost there is a jump below its folds. With the shift s held the problem is convex (Cadoux 2009) and its path does not
/// fold. So there s follows the slip with inertia, s <- weight s(u) + (1 - weight) s, the implicit step of ds/dt = s(u) - s of length
/// weight / (1 - weight), which flows to another branch; weight tends to 1 as it settles (pseudo-transient continuation).
class FrictionPath {
 public:
  /// kappa: how much the shift is rounded. Another one leads along another path. False if a contact has several discs.
  bool start(const FrictionSystem& system, FrictionEquations& equations, double kappa);
  /// One factorisation; false if it cannot go on.
  bool step();
  const Eigen::VectorXd& impulses() const { return r_; }

 private:
  struct Across {
    double eps;   ///< the change of eps of a correction, in eps_
    double part;  ///< of the correction that leaves eps positive
    double speed; ///< length of the tangent per change of eps
  };

  double delta(double eps) const { return kappa_ * eps / size_; }
  double roundedSlip(int contact, double eps) const;
  double evaluate(const Eigen::VectorXd& r, double eps, double weight);
  void differentiate();
  bool solve(const Eigen::VectorXd& F, Eigen::VectorXd& dr);
  bool tryPoint(double f, double eps);
  Across across() const;
  bool lower();
  bool advance(bool isDown);
  bool correct(double f);
  bool stepJumping(double f);
  void follow();
  void jump();
  void settle();

  const FrictionSystem* system_ = nullptr;
  FrictionEquations* equations_ = nullptr;
  Eigen::VectorXd r_, trial_, u_, w_, F_, rate_; ///< rate = eps dF/deps
  Eigen::VectorXd correction_, slope_;           ///< at this eps; eps dr/deps along the path
  double kappa_ = 1, size_ = 1, eps_ = 0;
  double nearness_ = 0; ///< |F| / sqrt(eps) on the way
  double pull_ = 0;     ///< of Newton's steps towards the present impulses
  double leastEps_ = 0;
  Eigen::VectorXd held_;           ///< the shift of each contact that 1 - weight takes part of
  double weight_ = 1, change_ = 0; ///< change of the shift when it settled last
  int settled_ = 0;                ///< times since the jump
  bool jumping_ = false;
};

}
