#pragma once
#include "tendril/rods/rod_equilibrium.h"

#include <string>
#include <vector>

namespace tendril {

/// A place of an inextensible, unshearable rod in equilibrium. Force and moment are those that what lies beyond the place exerts on what
/// lies before it, in the inertial frame; at the end those of the support.
struct RodPoint {
  double s = 0; ///< arclength [m]
  Pose frame;
  Vector3 force = Vector3::Zero();  ///< [N]
  Vector3 moment = Vector3::Zero(); ///< [N m]
};

struct RodShootingOptions {
  /// Pieces that are shot apart and joined by further equations; 1 is single shooting.
  int segments = 1;
  double tolerance = 1e-10; ///< of all conditions, in natural units: lengths over L, moments over EI/L, angles
  int maxIterations = 100;
};

/// An equilibrium found by shooting, stable or not.
struct ShotRod {
  bool isSolved = false;
  std::vector<RodPoint> nodes; ///< begins of the segments, and the end
  int iterations = 0;
  double residual = 0;
  std::string message; ///< what went wrong
};

/// The boundary value problem of Kirchhoff's rod with weight w per length and natural strains u0 (Blumentals 2017, 6.3; Antman 2005, ch.
/// 8),
///
///     r' = d3,   R' = R S(u),   u = u0(s) + K^-1 R^T M,   M' = F x d3,   F' = -w,
///
/// by shooting from both unknowns at the begin, F and M: r(L) = r* or F(L) = 0, log(R*^T R(L)) = 0 or M(L) = 0. Integrated by
/// extrapolation (Gragg, Bulirsch & Stoer) with steps that keep to rounding, together with its variations
///
///     dr' = theta x d3,   theta' = R K^-1 R^T (dM - theta x M),   dM' = dF x d3 + F x (theta x d3),       dR = S(theta) R,
///
/// which are the exact Jacobian of Newton's method; a step is shortened until it reduces the residual, and has the least norm where
/// a rod may be turned about the line between its ends. In multiple shooting frames and moments at the begins of the segments are unknowns
/// too: for rods of which a small change at the begin grows beyond bounds (long and heavy ones, by exp(s (w L/EI)^1/2)).
///
/// Nothing here knows of elements or of energies: an independent check of StrainRod. Stationary points of all kinds are found; see
/// unstableDirections(). InputError for what cannot be, as solveEquilibrium().
ShotRod shootRod(const RodProperties& rod, const RodEnds& ends, const Vector3& force, const Vector3& moment,
                 const RodShootingOptions& options = {});

/// From the frames and elastic moments of a strain rod, and the force at its begin.
ShotRod shootRod(const StrainRod& guess, const RodEnds& ends, const Vector3& force, const RodShootingOptions& options = {});

/// A solution at points that are equally far apart.
std::vector<RodPoint> shapeOf(const RodProperties& rod, const ShotRod& shot, int intervals);

/// Elastic energy and that of the weight [J], by Simpson's rule on so many points.
double energyOf(const RodProperties& rod, const std::vector<RodPoint>& shape);

/// m . u - (u - u0)^T K (u - u0) / 2 + F . d3, constant along a rod without weight and of uniform natural strain.
double hamiltonian(const RodProperties& rod, const RodPoint& point);

/// d(r, theta)(s) / d(M, F)(0) at arclengths that grow, with the begin clamped.
std::vector<Matrix6> endVariations(const RodProperties& rod, const RodPoint& begin, const std::vector<double>& arclengths);

/// Directions in which the energy of a rod that is clamped at both ends falls to second order: its conjugate points, where
/// det d(r, theta)(s) / d(M, F)(0) changes its sign for 0 < s < L (Manning, Rogers & Maddocks 1998; Bretl & McCarthy 2014). Roots that
/// coincide in pairs are not seen.
int unstableDirections(const RodProperties& rod, const RodPoint& begin);

/// The number of changes of sign of det A(s) with the given rows and columns of endVariations(): for a rod in a plane, variations in
/// the plane and out of it are apart.
int conjugatePoints(const std::vector<Matrix6>& variations, const std::vector<int>& rows, const std::vector<int>& columns);
/// Arclengths at which conjugate points are looked for; the first lies before any.
std::vector<double> conjugateSamples(const RodProperties& rod, const RodPoint& begin);

}
