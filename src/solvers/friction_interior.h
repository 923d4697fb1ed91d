#pragma once
#include "friction_equations.h"

namespace tendril {

/// A primal-dual interior-point method on the cones |r_i| <= mu_i r_n, for
///
///     u + g(u) = sum_i G_i^T y_i,    z_i = G_i r,    z_i, y_i in second-order cones,   z_i . y_i = 0,
///
/// G_i r = (mu_i r_n, r_i) for every disc i, r_n alone without friction. It is the optimality of a convex problem for a given shift g
/// (Cadoux 2009); g follows u from step to step, so that the end is a solution of Coulomb's law. Steps of Nesterov & Todd with Mehrotra's
/// corrector; the gap z . y is never lowered faster than the residual of the first equation, which g disturbs.
class FrictionInterior {
 public:
  /// weight: the share of the derivative of g that the steps know, 1 for Newton's method, 0 for a shift that lags behind.
  void start(const FrictionSystem& system, FrictionEquations& equations, double weight);
  /// One step; false if it cannot go on.
  bool step();
  const Eigen::VectorXd& impulses() const { return r_; }

 private:
  /// One cone of a contact: z_0 = factor r_n (its disc's coefficient, or 1), the others are the rows of the disc.
  struct Cone {
    int contact = 0, row = 0, size = 1;
    double factor = 1;
    ContactVector z, y, lambda, dz, dy, correction;
    ContactMatrix T, inverse; ///< T z = T^-1 y = lambda
  };
  void scale(Cone& cone) const;
  void add(const Cone& cone, const ContactVector& part, Eigen::VectorXd& rows) const;
  ContactVector take(const Cone& cone, const Eigen::VectorXd& rows) const;
  void differentiateShift(const Cone& cone);
  void direction(double target);
  double largestStep() const;

  const FrictionSystem* system_ = nullptr;
  FrictionEquations* equations_ = nullptr;
  std::vector<Cone> cones_;
  Eigen::VectorXd r_, u_, w_, residual_, dr_;
  double gap_ = 0, weight_ = 1;
};

}
