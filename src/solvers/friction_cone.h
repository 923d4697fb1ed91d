#pragma once
#include "tendril/solvers/friction_problem.h"

#include <cmath>

namespace tendril {

/// Projects x on K = {x : |x_i| <= mu_i x_n for every disc i}, rows without a disc being zero; all of space for a bilateral law. With
/// several discs the normal component t is the root of a scalar, piecewise linear, increasing and concave function,
///
///     t - z_n = sum_i mu_i max(0, |z_i| - mu_i t),
///
/// which Newton's method from the left finds in as many steps as there are discs. Exact.
void projectOnCone(const FrictionLaw& law, double* x);

/// g(u) of de Saxce & Feng 1998: sum_i mu_i |u_i|, zero for a bilateral law.
double coneShift(const FrictionLaw& law, const double* u);

/// |r - P_K(r - u - g(u))|^2 of one contact.
double squaredNaturalMap(const FrictionLaw& law, const double* r, const double* u);

inline double norm(const double* x, int size) {
  double sum = 0;
  for (int k = 0; k < size; ++k) sum += x[k] * x[k];
  return std::sqrt(sum);
}

}
