#pragma once
#include <Eigen/Core>

#include <string>
#include <vector>

namespace tendril {

/// A plane inextensible rod on s in [-1, 1], clamped at both ends along x, the ends moved together by a share eps2 of its length (scaled by
/// half of the length, EI = 1):
///
///     x' = cos theta,  y' = sin theta,  theta' = kappa,  kappa' = -F_x sin theta + F_y cos theta,
///     x(-1) = y(-1) = theta(-1) = 0,     x(1) = 2 - 2 eps2,  y(1) = theta(1) = 0.
///
/// F_x > 0 is compression (Blumentals 2017, 6.6 to 6.11).
struct Elastica {
  double curvature = 0;          ///< kappa(-1)
  double forceX = 0, forceY = 0; ///< F
  double energy = 0;             ///< of a rod of length 1 in EI/L
  double height = 0;             ///< largest y
  double largestAngle = 0;       ///< of theta [rad]
  int unstable = 0;              ///< directions in the plane in which the energy falls to second order, ends held
  bool isSolved = false;
  int iterations = 0;
  double residual = 0; ///< of the conditions at the end
  std::string message;
  bool isStable() const { return isSolved && unstable == 0; }
};

/// The mode of m whole waves, m = 1, 2, ..., in closed form: E(k)/K(k) = 1 - eps2/2, F_x = 4 m^2 K^2, F_y = 0, theta = -2 asin(k sn(2 m K
/// s)), with elliptic functions of the modulus k. Stability is not judged. InputError unless 0 < eps2 < 1 and m >= 1.
Elastica elasticaWaves(double eps2, int waves);

/// Newton's method on (kappa(-1), F_x, F_y) from a first guess, with exact derivatives: the equations and their variations are integrated
/// by Taylor series of order 20 whose steps keep to rounding.
Elastica shootElastica(double eps2, double curvature, double forceX, double forceY);

/// Directions out of the plane in which the energy falls to second order, ends held: with `across` and `torsion`, the stiffness against
/// bending out of the plane and against torsion over that in the plane. Its conjugate points (unstableDirections() of a rod in space, with
/// the variations in the plane apart). InputError unless the elastica is solved and both numbers are positive.
int unstableOutOfPlane(const Elastica& elastica, double across, double torsion);

/// (x, y, theta) at elements + 1 nodes that are equally far apart, scaled by half of the length.
std::vector<Eigen::Vector3d> shapeOf(const Elastica& elastica, int elements);

/// The n-th mode of buckling, n = 1 to 20, followed from its onset by continuation in eps2: odd modes are symmetric waves, even ones
/// antisymmetric with F_y, whose loads at onset solve tan(x) = x.
Elastica elasticaMode(double eps2, int mode);

}
