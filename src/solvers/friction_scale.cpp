#include "friction_scale.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

double diagonalOfBodies(const FrictionBodies& bodies, int contact, int row) {
  double sum = 0;
  for (int side = 0; side < 2; ++side) {
    const int body = bodies.touched[contact][side];
    if (body < 0) continue;
    const double* lever = bodies.H.data() + 12 * row + 6 * side;
    const double* inverse = bodies.inverseInertia[body].data();
    for (int k = 0; k < 6; ++k)
      for (int l = 0; l < 6; ++l) sum += lever[k] * inverse[6 * k + l] * lever[l];
  }
  return sum;
}

}

void diagonalOf(const FrictionProblem& problem, int contact, double* diagonal) {
  const int size = problem.laws[contact].size;
  if (problem.hasBodies()) {
    for (int k = 0; k < size; ++k) diagonal[k] = diagonalOfBodies(problem.bodies, contact, problem.firstRow[contact] + k);
    return;
  }
  const BlockMatrix& W = problem.W;
  const auto begin = W.blocks.begin() + W.start[contact], end = W.blocks.begin() + W.start[contact + 1];
  const auto block = std::lower_bound(begin, end, contact, [](const BlockMatrix::Block& b, int column) { return b.column < column; });
  for (int k = 0; k < size; ++k) diagonal[k] = W.values[block->offset + std::size_t(k) * (size + 1)];
}

double scalesOf(const FrictionLaw& law, const double* diagonal, double* scale) {
  std::fill(scale, scale + law.size, 1.0);
  for (int d = 1; d < law.discCount; ++d)
    if (law.discs[d].coefficient > 0) std::fill_n(scale + law.discs[d].first, law.discs[d].size, law.discs[d].coefficient);
  double trace = 0;
  for (int k = 0; k < law.size; ++k) trace += scale[k] * scale[k] * diagonal[k];
  const double mass = trace > 0 ? law.size / trace : 1;
  for (int k = 0; k < law.size; ++k) scale[k] *= std::sqrt(mass);
  return mass;
}

FrictionLaw scaledLaw(const FrictionLaw& law, const double* scale) {
  FrictionLaw scaled = law;
  for (int d = 1; d < law.discCount; ++d) scaled.discs[d].coefficient *= scale[0] / scale[law.discs[d].first];
  return scaled;
}

}
