#include "tendril/shells/developable_sheet.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tendril {

namespace {

[[noreturn]] void refuseCrossing(const Vector2& s) {
  throw InputError(
      fmt::format("shell: rulings meet at or before the point ({:g}, {:g}) m of the flat sheet; make the sheet smaller, or let the "
                  "direction of its rulings change more slowly",
                  s[0], s[1]));
}

}

/// From the line s2 = 0 outwards, psi follows dpsi/ds2 = alpha / (1 - s2 F'): steps keep on the branch that begins there.
double DevelopableSheet::foot(const Vector2& s) const {
  constexpr int steps = 16;
  double psi = s[0];
  for (int i = 1; i <= steps; ++i) {
    const double height = s[1] * i / steps;
    double residual = 0;
    for (int iteration = 0; iteration < 50; ++iteration) {
      const double open = 1 - height * direction_.slope(psi);
      if (!(open > 1e-6)) refuseCrossing(s);
      residual = psi - s[0] - height * direction_.value(psi);
      psi -= residual / open;
      if (std::abs(residual) <= 1e-15 * (std::abs(psi) + std::abs(s[0]))) break;
    }
    if (!(std::abs(residual) <= 1e-12 * (std::abs(psi) + std::abs(s[0]) + std::abs(s[1])))) refuseCrossing(s);
  }
  if (!(1 - s[1] * direction_.slope(psi) > 1e-6)) refuseCrossing(s);
  return psi;
}

Vector3 DevelopableSheet::curvatures(const Vector2& s) const {
  const double psi = foot(s), alpha = direction_.value(psi), b11 = curvature_(psi) / (1 - s[1] * direction_.slope(psi));
  return {b11, alpha * alpha * b11, alpha * b11};
}

Pose DevelopableSheet::frame(const Vector2& s, int steps) const {
  const double psi = foot(s);
  const auto strains = [this, psi](double share) {
    const double k = curvature_(share * psi);
    Vector6 xi;
    xi << psi, 0, 0, psi * direction_.value(share * psi) * k, -psi * k, 0;
    return xi;
  };
  Pose H = se3::reconstruct<4>(se3::StepMap::Exponential, strains, 1, steps);
  H.x += H.R * Vector3(s[0] - psi, s[1], 0);
  return H;
}

Pose DevelopableSheet::frameAlongRay(const Vector2& s, int steps, int order, se3::StepMap map) const {
  const auto strains = [this, &s](double share) {
    const Vector3 b = curvatures(share * s);
    Vector6 xi;
    xi << s[0], s[1], 0, s[0] * b[2] + s[1] * b[1], -(s[0] * b[0] + s[1] * b[2]), 0;
    return xi;
  };
  if (order == 1) return se3::reconstruct<1>(map, strains, 1, steps);
  if (order == 2) return se3::reconstruct<2>(map, strains, 1, steps);
  return se3::reconstruct<4>(map, strains, 1, steps);
}

void DevelopableSheet::check(const PatchDomain& d) const {
  constexpr int points = 64;
  for (int i = 0; i <= points; ++i) {
    const double s1 = d.begin1 + d.length() * i / points, s2 = d.begin2 + d.width() * i / points;
    for (const Vector2& s : {Vector2(s1, d.begin2), Vector2(s1, d.end2), Vector2(d.begin1, s2), Vector2(d.end1, s2)}) foot(s);
  }
}

}
