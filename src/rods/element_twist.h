#pragma once
#include "tendril/rods/strain_rod.h"

namespace tendril {

/// The twist x of an element of length h, H_{i+1} = H_i tau(x), as a function of its own strains w, and the derivatives of that:
///
///     constant strains    x = h (e3, kappa),  w = kappa;          a rod that stretches: x = h (nu, kappa),  w = (kappa, nu)
///     linear strains      x = (h/2) (K_0 + C(h K_0) K_1),  K = (e3, kappa) at the nodes,  w = (kappa_0, kappa_1),
///
/// C the inverse tangent of the Cayley map: the explicit trapezoid of Runge, Kutta and Munthe-Kaas (Blumentals 2017, 6.2.4).
class ElementTwist {
 public:
  using Jacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;
  using Block = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 6, 6>;

  ElementTwist(double h, bool isLinear, bool stretches) : h_(h), isLinear_(isLinear), stretches_(stretches) {}

  int size() const { return isLinear_ || stretches_ ? 6 : 3; } ///< of w
  int stride() const { return stretches_ ? 6 : 3; }            ///< from the strains of an element to those of the next

  Vector6 operator()(const double* w) const;
  void jacobian(const double* w, Jacobian& J) const;
  /// H += d2(f . x)/dw2.
  void addHessian(const double* w, const Vector6& f, Block& H) const;

 private:
  Vector6 strains(const double* w) const;

  double h_;
  bool isLinear_, stretches_;
};

}
