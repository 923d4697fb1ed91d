#pragma once
#include "tendril/elements/section.h"
#include "tendril/lie/types.h"

#include <Eigen/Cholesky>

namespace tendril {

using Vector2 = Eigen::Vector2d;

/// The rectangle [begin1, end1] x [begin2, end2] of a patch laid flat [m]. The patch is reckoned from the point s = 0, wherever it lies.
struct PatchDomain {
  double begin1 = 0, end1 = 1, begin2 = 0, end2 = 1;

  double length() const { return end1 - begin1; }
  double width() const { return end2 - begin2; }
  double area() const { return length() * width(); }
  /// Largest distance of a point of the patch from s = 0.
  double reach() const;
};

/// What a patch is made of: an inextensible sheet of constant thickness. Bending costs
///
///     U = 1/2 int (k - k0)^T K (k - k0) dA,      K = D [1 nu 0; nu 1 0; 0 0 2 (1 - nu)],      D = E h^3 / (12 (1 - nu^2)),
///
/// with the curvatures k = (b11, b22, b12), Koiter's energy of an isotropic plate. Damping is a moment K tau k' besides.
struct PatchProperties {
  PatchDomain domain;
  double areaDensity = 1;            ///< rho h [kg/m^2]
  double rigidity = 1;               ///< D [N m]
  double poissonRatio = 0.3;         ///< nu
  double dampingTime = 0;            ///< tau [s]
  Vector3 natural = Vector3::Zero(); ///< k0 [1/m], curvatures of a sheet that lies on the cone k1 k2 = k12^2

  static PatchProperties of(const PatchDomain& domain, double thickness, const Material& material);
  /// K, per area.
  Matrix3 stiffness() const;
  /// Refuses (InputError) what is no patch: an empty rectangle, no thickness, nu outside (-1, 0.5], natural curvatures off the cone.
  void check() const;
};

/// q0 q1 - q2^2 of curvatures q = (b11, b22, b12): the Gaussian curvature, zero for a sheet that does not stretch.
inline double gaussianCurvature(const Vector3& q) { return q[0] * q[1] - q[2] * q[2]; }
/// Its gradient.
inline Vector3 gaussianGradient(const Vector3& q) { return {q[1], q[0], -2 * q[2]}; }
/// How far curvatures are off the cone, relative to their size: |q0 q1 - q2^2| / |q|^2, zero at the flat state.
double coneDefect(const Vector3& q);

/// Coordinates of the double cone q0 q1 = q2^2: q = kappa (cos^2 phi, sin^2 phi, sin phi cos phi). kappa = q0 + q1 with its sign is the
/// curvature of a circular cylinder, phi the angle from e1 to the direction in which it bends, up to half turns; rulings lie across.
/// The apex kappa = 0 is the flat state, where phi has no meaning.
struct ConePoint {
  double kappa = 0, phi = 0;

  static Vector3 toCurvatures(double kappa, double phi);
  Vector3 curvatures() const { return toCurvatures(kappa, phi); }
  /// dq/d(kappa, phi).
  Eigen::Matrix<double, 3, 2> tangent() const;
  /// Second derivative of q along the rates.
  Vector3 curve(const Vector2& rates) const;
  /// The point of the cone with this trace and the direction that fits best; phi is the one nearest to `near`, modulo half turns.
  static ConePoint of(const Vector3& q, double near = 0);
};

/// Curvatures on the cone nearest to q in the norm sqrt(q0^2 + q1^2 + 2 q2^2).
Vector3 projectedOnCone(const Vector3& q);
/// Rates without the part that leaves the cone, in the same norm. The flat state leaves all.
Vector3 projectedRates(const Vector3& q, const Vector3& rates);

}
