#pragma once
#include "tendril/lie/rkmk.h"
#include "tendril/shells/patch.h"

#include <functional>

namespace tendril {

/// Any developable sheet without a flat region whose rulings all cross the line s2 = 0. The equations that its curvatures must satisfy,
///
///     b11 b22 = b12^2,      d2 b11 = d1 b12,      d2 b12 = d1 b22,      (shells.1)
///
/// say that alpha = b12 / b11 is constant along the rulings, d2 alpha = alpha d1 alpha (Burgers), and carries b11 along; so with two
/// functions of the place psi at which a ruling crosses the line,
///
///     alpha = F(psi),  psi = s1 + alpha s2,   b11 = k(psi) / (1 - s2 F'(psi)),  b12 = alpha b11,  b22 = alpha^2 b11,   (shells.5)
///
/// until rulings meet at 1 = s2 F'(psi), the edge of regression, beyond which there is no sheet (InputError). F = alpha constant makes
/// cylinders, k linear in psi clothoids (ClothoidSheet); F = (c0 + c1 psi) cones.
///
/// The frame is the same all along a ruling: it follows from that on the line s2 = 0, R' = R S((alpha, -1, 0) k), by a Runge-Kutta-Munthe-
/// Kaas method of order 4; from there rulings are straight.
///
/// Source: Blumentals (2017), 9.4; the explicit curvatures and the reconstruction along rulings are worked out here.
class DevelopableSheet {
 public:
  struct Profile {
    std::function<double(double)> value, slope;
  };
  /// Direction F of the rulings with its derivative, and the curvature k = b11 on the line s2 = 0.
  DevelopableSheet(Profile direction, std::function<double(double)> curvature)
      : direction_(std::move(direction)), curvature_(std::move(curvature)) {}

  /// psi of a point. InputError where rulings have met.
  double foot(const Vector2& s) const;
  /// (b11, b22, b12).
  Vector3 curvatures(const Vector2& s) const;
  /// Frame of a point in that of s = 0, with so many steps along the line.
  Pose frame(const Vector2& s, int steps = 64) const;
  /// The same by a way of its own: along the ray from s = 0, in steps of the method of the given order (1, 2 or 4) with the given map.
  Pose frameAlongRay(const Vector2& s, int steps, int order = 2, se3::StepMap map = se3::StepMap::Exponential) const;
  /// InputError if rulings meet on a rectangle; looks along its edges, where they meet first.
  void check(const PatchDomain& domain) const;

 private:
  Profile direction_;
  std::function<double(double)> curvature_;
};

}
