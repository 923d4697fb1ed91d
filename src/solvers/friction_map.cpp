#include "friction_map.h"

#include "friction_cone.h"

#include <algorithm>

namespace tendril {

void AlartCurnier::evaluate(const FrictionLaw& law, const double* r, const double* u) {
  const int m = law.size;
  const Eigen::Map<const Eigen::VectorXd> x(r, m), v(u, m);
  F = x;
  A.setIdentity(m, m);
  B.setZero(m, m);
  if (law.kind == FrictionLaw::Kind::Bilateral) {
    F = v;
    A.swap(B);
    return;
  }
  const double z = r[0] - u[0];
  if (z <= 0) return;
  F[0] = u[0];
  std::swap(A(0, 0), B(0, 0));
  for (int d = 0; d < law.discCount; ++d) {
    const FrictionDisc& disc = law.discs[d];
    if (disc.coefficient == 0) continue;
    const int f = disc.first, k = disc.size;
    const ContactVector trial = x.segment(f, k) - v.segment(f, k);
    const double length = trial.norm(), radius = disc.coefficient * z;
    if (length <= radius) {
      F.segment(f, k) = v.segment(f, k);
      A.block(f, f, k, k).setZero();
      B.block(f, f, k, k).setIdentity();
      continue;
    }
    const ContactVector direction = trial / length;
    F.segment(f, k) -= radius * direction;
    const ContactMatrix across = (radius / length) * (ContactMatrix::Identity(k, k) - direction * direction.transpose());
    A.block(f, f, k, k) -= across;
    B.block(f, f, k, k) += across;
    A.block(f, 0, k, 1) -= disc.coefficient * direction;
    B.block(f, 0, k, 1) += disc.coefficient * direction;
  }
}

double squaredAlartCurnier(const FrictionLaw& law, const double* r, const double* u) {
  double sum = 0;
  if (law.kind == FrictionLaw::Kind::Bilateral) {
    for (int k = 0; k < law.size; ++k) sum += u[k] * u[k];
    return sum;
  }
  const double z = std::max(0.0, r[0] - u[0]);
  sum = (r[0] - z) * (r[0] - z);
  std::array<bool, FrictionLaw::maxSize> held{true};
  for (int d = 0; d < law.discCount; ++d) {
    const FrictionDisc& disc = law.discs[d];
    double trial[FrictionLaw::maxSize];
    for (int k = 0; k < disc.size; ++k) trial[k] = r[disc.first + k] - u[disc.first + k];
    const double length = norm(trial, disc.size), radius = disc.coefficient * z;
    const double factor = length <= radius ? 1 : radius / length;
    for (int k = 0; k < disc.size; ++k) {
      const double difference = r[disc.first + k] - factor * trial[k];
      sum += difference * difference;
      held[disc.first + k] = true;
    }
  }
  for (int k = 1; k < law.size; ++k)
    if (!held[k]) sum += r[k] * r[k];
  return sum;
}

}
