#include "friction_local.h"

#include "friction_cone.h"
#include "friction_map.h"

#include <algorithm>

#include <Eigen/LU>
#include <Eigen/QR>

namespace tendril {

namespace {

using Map = Eigen::Map<const Eigen::MatrixXd>;

bool isOneDisc(const FrictionLaw& law, int size) {
  return law.kind == FrictionLaw::Kind::Unilateral && law.size == size && law.discCount == 1 && law.discs[0].size == size - 1;
}

LocalSolvers::Kind kindOf(const FrictionLaw& law) {
  if (law.kind == FrictionLaw::Kind::Bilateral) return LocalSolvers::Kind::Bilateral;
  if (law.discCount == 0) return LocalSolvers::Kind::Normal;
  if (isOneDisc(law, 3)) return LocalSolvers::Kind::Coulomb;
  if (isOneDisc(law, 2)) return LocalSolvers::Kind::Plane;
  return LocalSolvers::Kind::General;
}

}

void CoulombBlock::set(const double* W, double friction) {
  mu = friction;
  wnn = W[0];
  inverse = wnn > 0 ? 1 / wnn : 0;
  wnx = W[3];
  wny = W[6];
  txn = W[1] * inverse;
  tyn = W[2] * inverse;
  sxx = W[4] - txn * wnx;
  sxy = W[7] - txn * wny;
  syx = W[5] - tyn * wnx;
  syy = W[8] - tyn * wny;
  trace = sxx + syy;
  det = sxx * syy - sxy * syx;
  const double size = std::abs(W[4]) + std::abs(W[8]) + std::abs(wnn);
  least = det > 1e-13 * size * size ? 0 : 1e-13 * size;
}

void CoulombBlock::solve(const double* b, double* r) const {
  if (b[0] >= 0 || inverse == 0) {
    r[0] = r[1] = r[2] = 0;
    return;
  }
  const double cx = b[1] - txn * b[0], cy = b[2] - tyn * b[0];
  const double factor = 1 / (least * (least + trace) + det);
  const double x = -((syy + least) * cx - sxy * cy) * factor, y = -((sxx + least) * cy - syx * cx) * factor;
  const double n = -(b[0] + wnx * x + wny * y) * inverse;
  r[0] = n;
  r[1] = x;
  r[2] = y;
  if (n >= 0 && x * x + y * y <= mu * mu * n * n) return;
  if (mu > 0) return slide(b, cx, cy, r);
  r[0] = -b[0] * inverse;
  r[1] = r[2] = 0;
}

void CoulombBlock::slide(const double* b, double cx, double cy, double* r) const {
  double s = least, low = least, high = std::numeric_limits<double>::infinity();
  double x = r[1], y = r[2], n = r[0], length = std::sqrt(x * x + y * y);
  for (int step = 0; step < 60; ++step) {
    const double excess = mu * n - length; // h |r_t|
    if (std::abs(excess) <= 1e-14 * length) break;
    (excess < 0 ? low : high) = s;
    const double factor = 1 / (s * (s + trace) + det);
    const double dx = -((syy + s) * x - sxy * y) * factor, dy = -((sxx + s) * y - syx * x) * factor;
    const double dn = -(wnx * dx + wny * dy) * inverse;
    const double slope = mu * (dn - n * (x * dx + y * dy) / (length * length)); // h' |r_t|
    double next = s - excess / slope;
    if (!(next > low && next < high)) next = std::isinf(high) ? 4 * (s + trace + wnn) : 0.5 * (low + high);
    if (next == s) break;
    s = next;
    const double shifted = -1 / (s * (s + trace) + det);
    x = ((syy + s) * cx - sxy * cy) * shifted;
    y = ((sxx + s) * cy - syx * cx) * shifted;
    n = -(b[0] + wnx * x + wny * y) * inverse;
    length = std::sqrt(x * x + y * y);
  }
  // On the edge of the cone in that direction, with u_n = 0 to round-off.
  const double dx = mu * x / length, dy = mu * y / length, effective = wnn + wnx * dx + wny * dy;
  if (effective > 0) n = -b[0] / effective;
  r[0] = n;
  r[1] = n * dx;
  r[2] = n * dy;
}

void LocalSolvers::set(const std::vector<FrictionLaw>& laws, const std::vector<double>& D, const std::vector<std::size_t>& offset) {
  laws_ = &laws;
  D_ = &D;
  offset_ = &offset;
  const int n = int(laws.size());
  kinds_.resize(n);
  blocks_.resize(n);
  inverses_.resize(n);
  allCoulomb_ = true;
  for (int i = 0; i < n; ++i) {
    const double* W = D.data() + offset[i];
    kinds_[i] = kindOf(laws[i]);
    allCoulomb_ = allCoulomb_ && kinds_[i] == Kind::Coulomb;
    if (kinds_[i] == Kind::Coulomb) blocks_[i].set(W, laws[i].discs[0].coefficient);
    if (kinds_[i] == Kind::Bilateral) inverses_[i] = Map(W, laws[i].size, laws[i].size).completeOrthogonalDecomposition().pseudoInverse();
  }
}

void LocalSolvers::solve(int contact, const double* b, double* r) const {
  const FrictionLaw& law = (*laws_)[contact];
  switch (kinds_[contact]) {
  case Kind::Coulomb:
    return blocks_[contact].solve(b, r);
  case Kind::Plane:
    return solvePlane(contact, b, r);
  case Kind::General:
    return solveGeneral(contact, b, r);
  case Kind::Normal: {
    const double w = (*D_)[(*offset_)[contact]];
    std::fill(r, r + law.size, 0.0);
    if (b[0] < 0 && w > 0) r[0] = -b[0] / w;
    return;
  }
  case Kind::Bilateral:
    Eigen::Map<Eigen::VectorXd>(r, law.size).noalias() = -inverses_[contact] * Eigen::Map<const Eigen::VectorXd>(b, law.size);
  }
}

void LocalSolvers::solvePlane(int contact, const double* b, double* r) const {
  const double* W = D_->data() + (*offset_)[contact];
  const double mu = (*laws_)[contact].discs[0].coefficient, wnn = W[0], wtn = W[1], wnt = W[2], wtt = W[3];
  r[0] = r[1] = 0;
  if (b[0] >= 0 || wnn <= 0) return;
  const double det = wnn * wtt - wnt * wtn;
  if (det > 1e-14 * wnn * wtt) {
    const double n = (wnt * b[1] - wtt * b[0]) / det, t = (wtn * b[0] - wnn * b[1]) / det;
    if (n >= 0 && std::abs(t) <= mu * n) {
      r[0] = n;
      r[1] = t;
      return;
    }
  }
  double best = -std::numeric_limits<double>::infinity();
  for (const double sign : {1.0, -1.0}) { // of the sliding velocity; the branch on which it is what it was taken for
    const double effective = wnn - sign * mu * wnt;
    if (effective <= 0) continue;
    const double n = -b[0] / effective, slip = sign * (b[1] + (wtn - sign * mu * wtt) * n);
    if (slip <= best) continue;
    best = slip;
    r[0] = n;
    r[1] = -sign * mu * n;
    if (slip >= 0) return;
  }
}

/// Newton's method on the map of Alart & Curnier, with the step halved until the map falls.
bool LocalSolvers::newton(int contact, const double* b, double* r) const {
  const FrictionLaw& law = (*laws_)[contact];
  const int m = law.size;
  const Map W(D_->data() + (*offset_)[contact], m, m);
  const Eigen::Map<const Eigen::VectorXd> shift(b, m);
  ContactVector x = Eigen::Map<const Eigen::VectorXd>(r, m), u = W * x + shift, trial(m);
  AlartCurnier map;
  const double size = shift.norm();
  for (int step = 0; step < 30; ++step) {
    map.evaluate(law, x.data(), u.data());
    const double error = map.F.norm();
    if (error <= 1e-14 * size) break;
    const ContactVector direction = ContactMatrix(map.A + map.B * W).fullPivLu().solve(map.F);
    double length = 1;
    for (; length > 1e-3; length *= 0.5) {
      trial = x - length * direction;
      u = W * trial + shift;
      if (std::sqrt(squaredAlartCurnier(law, trial.data(), u.data())) < (1 - 1e-4 * length) * error) break;
    }
    if (length <= 1e-3) {
      if (error > 1e-12 * size) return false;
      break;
    }
    x = trial;
  }
  u = W * x + shift;
  if (!(std::sqrt(squaredAlartCurnier(law, x.data(), u.data())) <= 1e-11 * size)) return false;
  projectOnCone(law, x.data());
  std::copy_n(x.data(), m, r);
  return true;
}

/// Newton; where that fails, projections with a step below the reciprocal of the largest eigenvalue.
void LocalSolvers::solveGeneral(int contact, const double* b, double* r) const {
  const FrictionLaw& law = (*laws_)[contact];
  const int m = law.size;
  const Map W(D_->data() + (*offset_)[contact], m, m);
  if (b[0] >= 0 || W(0, 0) <= 0) {
    std::fill(r, r + m, 0.0);
    return;
  }
  if (newton(contact, b, r)) return;
  const double step = 1 / W.norm();
  double u[FrictionLaw::maxSize];
  for (int pass = 0; pass < 500; ++pass) {
    Eigen::Map<Eigen::VectorXd>(u, m) = W * Eigen::Map<const Eigen::VectorXd>(r, m) + Eigen::Map<const Eigen::VectorXd>(b, m);
    const double shift = coneShift(law, u);
    for (int k = 0; k < m; ++k) r[k] -= step * (u[k] + (k == 0 ? shift : 0));
    projectOnCone(law, r);
    if (pass % 50 == 49 && newton(contact, b, r)) return;
  }
}

bool isAmbiguous(const FrictionLaw& law, const double* W) {
  double coupling = 0;
  for (int d = 0; d < law.discCount; ++d) {
    double square = 0;
    for (int k = law.discs[d].first; k < law.discs[d].first + law.discs[d].size; ++k) square += W[k * law.size] * W[k * law.size];
    coupling += law.discs[d].coefficient * std::sqrt(square);
  }
  return W[0] < coupling;
}

}
