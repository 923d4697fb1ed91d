#include "friction_cone.h"

#include <algorithm>

namespace tendril {

namespace {

/// The normal component of the projection; lengths of the parts in the discs come with it.
double normalOnCone(const FrictionLaw& law, const double* x, const std::array<double, 3>& length) {
  double t = -std::numeric_limits<double>::infinity();
  for (int pass = 0; pass <= law.discCount; ++pass) { // discs drop out of the sum as t grows, and never come back
    double numerator = x[0], denominator = 1;
    for (int i = 0; i < law.discCount; ++i) {
      const double mu = law.discs[i].coefficient;
      if (length[i] <= mu * t) continue;
      numerator += mu * length[i];
      denominator += mu * mu;
    }
    const double next = numerator / denominator;
    if (next == t) break;
    t = next;
  }
  return std::max(0.0, t);
}

}

void projectOnCone(const FrictionLaw& law, double* x) {
  if (law.kind == FrictionLaw::Kind::Bilateral) return;
  std::array<double, 3> length{};
  std::array<bool, FrictionLaw::maxSize> held{};
  bool outside = x[0] < 0;
  for (int i = 0; i < law.discCount; ++i) {
    const FrictionDisc& disc = law.discs[i];
    length[i] = norm(x + disc.first, disc.size);
    outside = outside || length[i] > disc.coefficient * x[0];
    for (int k = 0; k < disc.size; ++k) held[disc.first + k] = true;
  }
  for (int k = 1; k < law.size; ++k)
    if (!held[k]) x[k] = 0;
  if (!outside) return;
  x[0] = normalOnCone(law, x, length);
  for (int i = 0; i < law.discCount; ++i) {
    const FrictionDisc& disc = law.discs[i];
    const double radius = disc.coefficient * x[0];
    if (length[i] <= radius) continue;
    const double factor = radius / length[i];
    for (int k = 0; k < disc.size; ++k) x[disc.first + k] *= factor;
  }
}

double coneShift(const FrictionLaw& law, const double* u) {
  double shift = 0;
  for (int i = 0; i < law.discCount; ++i) {
    const FrictionDisc& disc = law.discs[i];
    if (disc.coefficient > 0) shift += disc.coefficient * norm(u + disc.first, disc.size);
  }
  return shift;
}

double squaredNaturalMap(const FrictionLaw& law, const double* r, const double* u) {
  double x[FrictionLaw::maxSize];
  for (int k = 0; k < law.size; ++k) x[k] = r[k] - u[k];
  x[0] -= coneShift(law, u);
  projectOnCone(law, x);
  double sum = 0;
  for (int k = 0; k < law.size; ++k) sum += (r[k] - x[k]) * (r[k] - x[k]);
  return sum;
}

}
