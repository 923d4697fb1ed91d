#include "tendril/shells/patch.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <fmt/format.h>

namespace tendril {

double PatchDomain::reach() const {
  const double s1 = std::max(std::abs(begin1), std::abs(end1)), s2 = std::max(std::abs(begin2), std::abs(end2));
  return std::hypot(s1, s2);
}

PatchProperties PatchProperties::of(const PatchDomain& domain, double thickness, const Material& material) {
  material.check("the material of a shell");
  if (!(thickness > 0)) throw InputError("shell: the thickness is not positive; give its thickness");
  const double nu = material.poissonRatio;
  PatchProperties p;
  p.domain = domain;
  p.areaDensity = material.density * thickness;
  p.rigidity = material.youngsModulus * thickness * thickness * thickness / (12 * (1 - nu * nu));
  p.poissonRatio = nu;
  p.dampingTime = material.dampingTime;
  return p;
}

Matrix3 PatchProperties::stiffness() const {
  const double nu = poissonRatio;
  Matrix3 K;
  K << 1, nu, 0, nu, 1, 0, 0, 0, 2 * (1 - nu);
  return rigidity * K;
}

void PatchProperties::check() const {
  if (!(domain.length() > 0 && domain.width() > 0)) throw InputError("shell: its rectangle is empty; give two positive sides");
  if (!(areaDensity > 0)) throw InputError("shell: it has no mass; give a density");
  if (!(rigidity >= 0)) throw InputError("shell: its rigidity is negative");
  if (!(poissonRatio > -1 && poissonRatio <= 0.5))
    throw InputError(fmt::format("shell: Poisson's ratio {:g} lies outside (-1, 0.5]", poissonRatio));
  if (!(dampingTime >= 0)) throw InputError("shell: a damping time is negative");
  if (const double defect = coneDefect(natural); !(defect <= 1e-9))
    throw InputError(fmt::format("shell: no sheet that does not stretch has the natural curvatures ({:g}, {:g}, {:g}): q0 q1 - q2^2 = "
                                 "{:.3g} 1/m^2; give curvatures with q0 q1 = q2^2",
                                 natural[0], natural[1], natural[2], gaussianCurvature(natural)));
}

double coneDefect(const Vector3& q) {
  const double size = q[0] * q[0] + q[1] * q[1] + 2 * q[2] * q[2];
  return size > 0 ? std::abs(gaussianCurvature(q)) / size : 0;
}

Vector3 ConePoint::toCurvatures(double kappa, double phi) {
  const double c = std::cos(phi), s = std::sin(phi);
  return kappa * Vector3(c * c, s * s, s * c);
}

Eigen::Matrix<double, 3, 2> ConePoint::tangent() const {
  const double c = std::cos(phi), s = std::sin(phi);
  Eigen::Matrix<double, 3, 2> T;
  T << c * c, -2 * kappa * s * c, s * s, 2 * kappa * s * c, s * c, kappa * (c * c - s * s);
  return T;
}

Vector3 ConePoint::curve(const Vector2& rates) const {
  const double c2 = std::cos(2 * phi), s2 = std::sin(2 * phi), mixed = 2 * rates[0] * rates[1], turning = kappa * rates[1] * rates[1];
  return {-mixed * s2 - 2 * turning * c2, mixed * s2 + 2 * turning * c2, mixed * c2 - 2 * turning * s2};
}

/// In the plane of X = q0 - q1 and Y = 2 q2 the cone has circles of radius |kappa|, at the angle 2 phi (opposite for kappa < 0).
ConePoint ConePoint::of(const Vector3& q, double near) {
  ConePoint p;
  p.kappa = q[0] + q[1];
  const double sign = p.kappa < 0 ? -1 : 1;
  const double phi = std::atan2(sign * 2 * q[2], sign * (q[0] - q[1])) / 2;
  p.phi = phi + std::numbers::pi * std::round((near - phi) / std::numbers::pi);
  return p;
}

/// With kappa = q0 + q1 the norm is (kappa^2 + X^2 + Y^2) / 2, in which the cone kappa = +-|(X, Y)| opens at a right angle.
Vector3 projectedOnCone(const Vector3& q) {
  const double kappa = q[0] + q[1], x = q[0] - q[1], y = 2 * q[2], r = std::hypot(x, y);
  if (r == 0) return kappa == 0 ? Vector3(Vector3::Zero()) : Vector3(kappa / 2, 0, 0); // all directions are equally near
  const double size = (std::abs(kappa) + r) / 2, sign = kappa < 0 ? -1 : 1;
  return {(sign * size + size * x / r) / 2, (sign * size - size * x / r) / 2, size * y / r / 2};
}

Vector3 projectedRates(const Vector3& q, const Vector3& rates) {
  const Vector3 J = gaussianGradient(q), normal(J[0], J[1], J[2] / 2); // the gradient in that metric
  const double square = J.dot(normal);
  return square > 0 ? Vector3(rates - J.dot(rates) / square * normal) : rates;
}

}
