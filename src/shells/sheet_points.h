#pragma once
#include "shells/gauss_rule.h"
#include "tendril/lie/so3.h"
#include "tendril/shells/sheet_shape.h"

#include <array>
#include <cmath>
#include <type_traits>

namespace tendril {

using std::cos;
using std::sin;
using std::sqrt;

/// Curvature times size below which coordinates with a direction have no meaning.
inline constexpr double flatTurn = 1e-6;
inline constexpr const char* flatMessage = "it is flat, so that the direction in which it bends has no meaning; give it some curvature";

/// Coordinates as numbers, or as variables.
template <class T> T coordinate(const double* q, int i) {
  if constexpr (std::is_same_v<T, double>)
    return q[i];
  else
    return T::variable(i, q[i]);
}

/// The Stumpff function c_8, given c_6.
inline double stumpffEight(double x, double c6) {
  if (x >= 4) return (1. / 720 - c6) / x;
  double sum = 0;
  for (int j = 9; j >= 0; --j) sum = 1 - sum * x / ((9. + 2 * j) * (10. + 2 * j));
  return sum / 40320;
}

/// Stumpff functions c_1 = sin(theta)/theta and c_2 = (1 - cos(theta))/theta^2 of x = theta^2 >= 0.
template <class T> std::array<T, 2> bendFunctions(const T& x) {
  const std::array<double, 8> c = so3::stumpff(valueOf(x));
  if constexpr (std::is_same_v<T, double>) {
    return {c[1], c[2]};
  } else {
    // d c_k / dx = (k c_{k+2} - c_{k+1}) / 2; the third derivatives end with c_7 and c_8.
    const double c8 = stumpffEight(valueOf(x), c[6]);
    const auto next = [](double k, double beyond, double after) { return (k * beyond - after) / 2; };
    const double d1 = next(1, c[3], c[2]), d2 = next(2, c[4], c[3]), d3 = next(3, c[5], c[4]), d4 = next(4, c[6], c[5]);
    const double d5 = next(5, c[7], c[6]), d6 = next(6, c8, c[7]);
    const double e1 = next(1, d3, d2), e2 = next(2, d4, d3), e3 = next(3, d5, d4), e4 = next(4, d6, d5);
    return {composed(x, {c[1], d1, e1, next(1, e3, e2)}), composed(x, {c[2], d2, e2, next(2, e4, e3)})};
  }
}

/// Directions t across the rulings and b along them in the flat sheet, with t = (cos phi, sin phi), b = (sin phi, -cos phi).
template <class T> struct Rulings {
  Rulings(const T& phi, const Vector2& s) : c(cos(phi)), n(sin(phi)), u(c * s[0] + n * s[1]), w(n * s[0] - c * s[1]) {}
  T c, n, u, w;

  /// From components along t, b, e3 to e1, e2, e3.
  void place(const T& along, const T& across, const T& up, std::array<T, 3>& x) const {
    x[0] = c * along + n * across, x[1] = n * along - c * across, x[2] = up;
  }
};

/// A general cylinder whose section turns by theta(u) = k0 u + k1 u^2 / 2: a clothoid. Its integrals are taken in so many equal panels.
template <class T> SheetPoint<T> cylinderPoint(const T& k0, const T& k1, const T& phi, const Vector2& s, int points, int panels) {
  const Rulings<T> ruling(phi, s);
  const T &u = ruling.u, linear = k0 * u, square = 0.5 * (k1 * u * u);
  static const GaussRule rules[]{GaussRule(8), GaussRule(16), GaussRule(32), GaussRule(64)};
  const GaussRule& rule = rules[points];
  T along(0.0), up(0.0);
  for (int panel = 0; panel < panels; ++panel) {
    for (std::size_t i = 0; i < rule.x.size(); ++i) {
      const double tau = (panel + (1 + rule.x[i]) / 2) / panels, weight = rule.w[i] / (2 * panels);
      const T theta = tau * linear + tau * tau * square;
      along += weight * cos(theta), up += weight * sin(theta);
    }
  }
  const T theta = linear + square, ct = cos(theta), st = sin(theta), k = k0 + k1 * u;
  SheetPoint<T> p;
  ruling.place(u * along, ruling.w, u * up, p.r);
  ruling.place(ruling.c * ct, ruling.n, ruling.c * st, p.d1);
  ruling.place(ruling.n * ct, -ruling.c, ruling.n * st, p.d2);
  p.k = {k * ruling.c * ruling.c, k * ruling.n * ruling.n, k * ruling.c * ruling.n};
  return p;
}

/// A circular cylinder.
template <class T> SheetPoint<T> circularPoint(const T& kappa, const T& phi, const Vector2& s) {
  const Rulings<T> ruling(phi, s);
  const T x = kappa * ruling.u, ct = cos(x), st = sin(x);
  const auto [c1, c2] = bendFunctions(x * x);
  SheetPoint<T> p;
  ruling.place(ruling.u * c1, ruling.w, ruling.u * x * c2, p.r);
  ruling.place(ruling.c * ct, ruling.n, ruling.c * st, p.d1);
  ruling.place(ruling.n * ct, -ruling.c, ruling.n * st, p.d2);
  p.k = {kappa * ruling.c * ruling.c, kappa * ruling.n * ruling.n, kappa * ruling.c * ruling.n};
  return p;
}

/// A circular cone with its apex at b / epsilon: polar coordinates m / epsilon, epsilon theta about it, regular where epsilon vanishes.
template <class T> SheetPoint<T> conicalPoint(const T& kappa, const T& phi, const T& epsilon, const Vector2& s) {
  const Rulings<T> ruling(phi, s);
  const T &u = ruling.u, &w = ruling.w, p = 1.0 - epsilon * w, eu = epsilon * u;
  const T m = sqrt(p * p + eu * eu), z = eu * reciprocal(p), y = z * z;
  static const GaussRule rule(24);
  T arc(0.0); // atan(z) / z
  for (std::size_t i = 0; i < rule.x.size(); ++i) {
    const double tau = (1 + rule.x[i]) / 2;
    arc += 0.5 * rule.w[i] * reciprocal(1.0 + tau * tau * y);
  }
  const T theta = u * reciprocal(p) * arc, square = theta * theta, turn = (epsilon * epsilon + kappa * kappa) * square;
  const auto [c1, c2] = bendFunctions(turn);
  const T bow = square * c2, swing = theta * c1;
  SheetPoint<T> point;
  ruling.place(m * swing, (2.0 * w - epsilon * (w * w + u * u)) * reciprocal(1.0 + m) + m * epsilon * bow, m * kappa * bow, point.r);
  // The turned radial and circumferential directions, and their components of e1 and e2 in the flat sheet.
  const T radial[3]{epsilon * swing, epsilon * epsilon * bow - 1.0, epsilon * kappa * bow};
  const T round[3]{1.0 - turn * c2, epsilon * swing, kappa * swing};
  const T inverse = reciprocal(m), cosine = p * inverse, sine = eu * inverse;
  const auto direct = [&](const T& byT, const T& byB, std::array<T, 3>& d) { // of a direction with components along t and b
    const T along = sine * byT - cosine * byB, across = cosine * byT + sine * byB;
    ruling.place(along * radial[0] + across * round[0], along * radial[1] + across * round[1], along * radial[2] + across * round[2], d);
  };
  direct(ruling.c, ruling.n, point.d1);
  direct(ruling.n, -ruling.c, point.d2);
  const T k = kappa * inverse, x1 = cosine * ruling.c + sine * ruling.n, x2 = cosine * ruling.n - sine * ruling.c;
  point.k = {k * x1 * x1, k * x2 * x2, k * x1 * x2};
  return point;
}

}
