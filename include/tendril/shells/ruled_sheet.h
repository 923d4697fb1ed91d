#pragma once
#include "tendril/shells/sheet_shape.h"

#include <vector>

namespace tendril {

/// Any developable sheet, moving: the general solution of the compatibility conditions (DevelopableSheet) with its two free functions as
/// polynomials on the line w = 0 through s = 0, with u = s . (cos phi, sin phi) along it and w = s . (sin phi, -cos phi) across:
///
///     alpha(psi) = -epsilon f(psi),  f = psi + f_1 psi^2 + ...,   direction (alpha, -1) of the ruling that crosses the line at psi,
///     k(psi) = kappa (1 + p_1 psi + p_2 psi^2 + ...),             curvature there across the line,
///
/// psi = u + epsilon f(psi) w (Burgers), and the curvature k / (1 - epsilon w f'(psi)) (transport). Coordinates are (kappa, phi, epsilon):
/// how much it bends, in which direction, how much its rulings turn; as ConicalSheet, to which it is close if p and f_1 vanish. With
/// epsilon = 0 it is a cylinder, with f_1 = 0 a cone of any section, else a tangent developable.
///
/// The frame of the line, H' = H A(psi), A = (1, 0, 0; k alpha, -k, 0), is a power series in psi, in panels of some turn, exact to
/// round-off. From there rulings are straight. The sheet must not reach the edge of regression, where rulings meet: it refuses such
/// coordinates.
class RuledSheet final : public SheetShape {
 public:
  /// p_1, p_2, ... [m^-i] and f_1, f_2, ... [m^-i]. InputError for more than ten of them in all.
  explicit RuledSheet(const std::vector<double>& bend = {}, const std::vector<double>& fan = {});

  int size() const override { return 3; }
  Vector2 turns(const double* q, const PatchDomain& domain) const override;
  bool accepts(const double* q, const PatchDomain& domain) const override;

 protected:
  void evaluate(const double* q, const Vector2& s, const AnyPoint& point) const override;
  std::string wrong(const double* q, const PatchDomain& domain) const override;

 private:
  struct Extremes;
  Extremes extremes(const double* q, const PatchDomain& domain) const;

  std::vector<double> bend_, fan_;
  std::vector<double> curvature_, turning_; ///< coefficients of k / kappa and k alpha / (kappa epsilon)
};

}
