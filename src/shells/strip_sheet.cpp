#include "shells/gauss_rule.h"
#include "shells/sheet_points.h"
#include "tendril/model/error.h"
#include "tendril/shells/sheet_shape.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tendril {

namespace {

/// f(u) = atanh(sqrt(u)) / sqrt(u), u < 1, with three derivatives; f(-z^2) = atan(z) / z. They follow from 2 u f' + f = 1 / (1 - u).
std::array<double, 4> areaTangentDerivatives(double u) {
  std::array<double, 4> f{};
  if (std::abs(u) < 0.3) {
    double power = 1;
    for (int k = 0; k < 45; ++k, power *= u) { // u^k of the series of each
      f[0] += power / (2 * k + 1);
      f[1] += power * (k + 1) / (2 * k + 3);
      f[2] += power * (k + 1) * (k + 2) / (2 * k + 5);
      f[3] += power * (k + 1) * (k + 2) * (k + 3) / (2 * k + 7);
    }
    return f;
  }
  const double x = std::sqrt(std::abs(u)), p = 1 / (1 - u);
  f[0] = (u > 0 ? std::atanh(x) : std::atan(x)) / x;
  f[1] = (p - f[0]) / (2 * u);
  f[2] = (p * p - 3 * f[1]) / (2 * u);
  f[3] = (2 * p * p * p - 5 * f[2]) / (2 * u);
  return f;
}
double areaTangent(double u) { return areaTangentDerivatives(u)[0]; }
template <int Order> Taylor<Order> areaTangent(const Taylor<Order>& u) { return composed(u, areaTangentDerivatives(valueOf(u))); }

template <class T> T arcTangent(const T& eta) { return eta * areaTangent(-1.0 * (eta * eta)); }

/// (atan eta1 - atan eta0) / (eta1 - eta0), of rulings less than a quarter turn apart.
template <class T> T turnOverSlope(const T& eta0, const T& eta1) {
  const T inverse = reciprocal(1.0 + eta0 * eta1), tangent = (eta1 - eta0) * inverse;
  return inverse * areaTangent(-1.0 * (tangent * tangent));
}

/// Least 1 + eta0 eta1, positive where the rulings are less than a quarter turn apart, and largest |x|.
constexpr double leastOpening = 0.1, largestCrossing = 1 - 1e-9;

double crossing(const double* q, const PatchDomain& d) { return std::abs(q[1] - q[0]) * d.width() / (2 * d.length()); }

/// Most Gauss points of a lattice across the width.
constexpr int mostRows = 16;
const GaussRule& acrossRule(int points) {
  static const std::vector<GaussRule> rules = [] {
    std::vector<GaussRule> list;
    for (int n = 1; n <= mostRows; ++n) list.emplace_back(n);
    return list;
  }();
  return rules[std::size_t(points - 1)];
}

/// Mean of (cos phi, sin phi tan phi, sin phi) between two angles.
template <class T> std::array<T, 3> meanDirections(const T& phi0, const T& phi1) {
  const GaussRule& rule = acrossRule(8);
  std::array<T, 3> m{T(0.0), T(0.0), T(0.0)};
  for (std::size_t i = 0; i < rule.x.size(); ++i) {
    const T phi = phi0 + ((1 + rule.x[i]) / 2) * (phi1 - phi0), c = cos(phi), s = sin(phi);
    const double weight = rule.w[i] / 2;
    m[0] += weight * c, m[1] += weight * (s * s * reciprocal(c)), m[2] += weight * s;
  }
  return m;
}

}

StripSheet::StripSheet(double length, int columns, int rows) : length_(length), columns_(columns), rows_(rows) {
  if (!(length > 0 && std::isfinite(length))) throw InputError("strip: the length of a patch must be positive and finite");
  if (columns < 1 || rows < 1 || rows > mostRows)
    throw InputError(fmt::format("strip: a patch needs one column of material points at least, and 1 to {} rows", mostRows));
}

/// The patch as a cone of sheet_points.h.
void StripSheet::evaluate(const double* q, const Vector2& s, const AnyPoint& point) const {
  const auto fill = [&]<class T>(SheetPoint<T>* p) {
    const T eta0 = coordinate<T>(q, 0), eta1 = coordinate<T>(q, 1), beta = coordinate<T>(q, 2);
    const T cosine = reciprocal(sqrt(1.0 + eta0 * eta0)); // of the first ruling against e2
    const T kappa = (1 / length_) * (beta * cosine * reciprocal(turnOverSlope(eta0, eta1)));
    const T epsilon = (1 / length_) * ((eta1 - eta0) * cosine);
    *p = conicalPoint(kappa, T(-1.0 * arcTangent(eta0)), epsilon, s);
  };
  std::visit(fill, point);
}

Vector2 StripSheet::turns(const double* q, const PatchDomain& d) const {
  return (std::abs(q[2]) + std::abs(q[1] - q[0])) * Vector2(1, d.width() / length_);
}

bool StripSheet::accepts(const double* q, const PatchDomain& d) const {
  return 1 + q[0] * q[1] > leastOpening && crossing(q, d) < largestCrossing && std::isfinite(q[2]);
}

std::string StripSheet::wrong(const double* q, const PatchDomain& d) const {
  if (!(crossing(q, d) < largestCrossing))
    return fmt::format("its rulings cross within the width, since their slopes {:g} and {:g} differ by more than 2 h / w = {:.4g}; bring "
                       "them nearer to each other",
                       q[0], q[1], 2 * d.length() / d.width());
  return fmt::format("its rulings, of slopes {:g} and {:g}, turn too far from one to the other; take more patches", q[0], q[1]);
}

bool StripSheet::visitPoints(const double* q, const PatchDomain& d, const Visit& visit) const {
  const GaussRule& rule = acrossRule(rows_);
  const double spacing = length_ / columns_;
  for (std::size_t j = 0; j < rule.x.size(); ++j) {
    const double s2 = (d.begin2 + d.end2 + d.width() * rule.x[j]) / 2, area = spacing * d.width() * rule.w[j] / 2;
    const double begin = q[0] * s2, end = length_ + q[1] * s2;
    const double first = std::ceil(begin / spacing - 0.5);
    for (int k = 0; k <= 2 * columns_; ++k) // a row is shorter than 2 h, since rulings do not cross
      if (const double s1 = (first + k + 0.5) * spacing; s1 < end) visit(area, Vector2(s1, s2));
  }
  return true;
}

std::optional<SheetBending> StripSheet::bending(const double* q, const PatchProperties& p) const {
  using T = Taylor<3>;
  const T eta0 = T::variable(0, q[0]), eta1 = T::variable(1, q[1]), beta = T::variable(2, q[2]);
  const double width = p.domain.width();
  const T x = (width / (2 * length_)) * (eta1 - eta0);
  SheetBending result;
  result.amplitude = beta * sqrt((p.rigidity * width / length_) * areaTangent(x * x) * reciprocal(turnOverSlope(eta0, eta1)));
  result.energy = 0.5 * (result.amplitude * result.amplitude);
  if (p.natural.isZero(0)) return result;
  const Vector3 moment = p.stiffness() * p.natural;
  const std::array<T, 3> m = meanDirections(T(-1.0 * arcTangent(eta0)), T(-1.0 * arcTangent(eta1)));
  result.energy -= width * (beta * (moment[0] * m[0] + moment[1] * m[1] + moment[2] * m[2]));
  result.energy += length_ * width * p.natural.dot(moment) / 2;
  return result;
}

Vector2 StripSheet::meshPoint(const double* q, const PatchDomain& d, const Vector2& shares) const {
  const double s2 = d.begin2 + d.width() * shares[1];
  return {length_ * shares[0] + (q[0] + shares[0] * (q[1] - q[0])) * s2, s2};
}

}
