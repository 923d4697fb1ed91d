#pragma once
#include "shells/gauss_rule.h"

namespace tendril {

/// What the integrals of a uniform patch need: q, its rates v, gravity, and the rectangle by its middle and half sides.
struct UniformIntegrand {
  double q[3], v[3], g[3];
  double middle[2], half[2];
  double drag, wind[3]; ///< density of the air over twice the mass per area [1/m], and its velocity
  double largest;       ///< of X = |w|^2 over the rectangle
};

/// Sums over the rule of (dr/dq)^T dr/dq (00, 01, 02, 11, 12, 22) and (dr/dq)^T (d2r[v, v] - g).
struct UniformSums {
  double mass[6], force[3];
};

/// The same on the cone: q are (kappa, phi), v their rates, and g and the wind have components along t = (cos phi, sin phi, 0),
/// b = (sin phi, -cos phi, 0) and e3.
struct ConeIntegrand {
  double kappa, cosine, sine, v[2], g[3];
  double middle[2], half[2];
  double drag, wind[3];
  double largest; ///< of X = (kappa u)^2
};

/// Sums of the mass matrix of (kappa, phi) (00, 01, 11) and the forces.
struct ConeSums {
  double mass[3], force[2];
};
/// What the energy of a patch takes: the mass matrix, g . r, and the power of the air over the mass per area.
struct ConeEnergySums {
  double mass[3], weight, power;
};

void sumConePatch(const ConeIntegrand& of, const ProductRule& rule, ConeSums& sums);
void sumConeEnergies(const ConeIntegrand& of, const ProductRule& rule, ConeEnergySums& sums);
void sumUniformPatch(const UniformIntegrand& of, const ProductRule& rule, UniformSums& sums);

}
