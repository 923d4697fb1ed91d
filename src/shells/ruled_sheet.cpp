#include "tendril/shells/ruled_sheet.h"

#include "shells/sheet_points.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include <fmt/format.h>

namespace tendril {

namespace {

/// Least share by which neighbouring rulings may come together.
constexpr double leastOpen = 0.02;
/// Curvature times size below which phi has no meaning.
constexpr double flat = 1e-6;
/// Largest angle of a step of the reconstruction [rad], and the least number of steps, for profiles that change.
constexpr double stepTurn = 0.1;
constexpr int leastSteps = 3;
/// Angle by which a sheet may turn in all [rad].
constexpr double mostTurn = 100;

/// 1 + c_1 x + c_2 x^2 + ...
template <class T> T profile(const std::vector<double>& c, const T& x) {
  T sum(c.empty() ? 1.0 : c.back());
  for (std::size_t i = c.size(); i-- > 0;) sum = sum * x + (i > 0 ? c[i - 1] : 1.0);
  return sum;
}
/// Derivative of x + c_1 x^2 + ...
template <class T> T profileSlope(const std::vector<double>& c, const T& x) {
  T sum(0.0);
  for (std::size_t i = c.size(); i-- > 0;) sum = (sum + double(i + 2) * c[i]) * x;
  return sum + 1.0;
}

template <class T> using Three = std::array<T, 3>;

template <class T> Three<T> cross(const Three<T>& a, const Three<T>& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
template <class T> T dot(const Three<T>& a, const Three<T>& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// A twist: velocity and angular velocity.
template <class T> struct Screw {
  Three<T> v, w;

  friend Screw operator+(Screw a, const Screw& b) {
    for (std::size_t i = 0; i < 3; ++i) a.v[i] += b.v[i], a.w[i] += b.w[i];
    return a;
  }
  friend Screw operator*(double s, Screw a) {
    for (std::size_t i = 0; i < 3; ++i) a.v[i] *= s, a.w[i] *= s;
    return a;
  }
  friend Screw scaled(const T& s, Screw a) {
    for (std::size_t i = 0; i < 3; ++i) a.v[i] = s * a.v[i], a.w[i] = s * a.w[i];
    return a;
  }
};

/// [b, a], the Lie bracket in the order that H' = H A asks for.
template <class T> Screw<T> bracket(const Screw<T>& a, const Screw<T>& b) {
  const Three<T> first = cross(b.w, a.v), second = cross(a.w, b.v);
  return {{first[0] - second[0], first[1] - second[1], first[2] - second[2]}, cross(b.w, a.w)};
}

template <class T> struct LineFrame {
  Three<T> x{T(0.0), T(0.0), T(0.0)};
  Three<T> R[3]{{T(1.0), T(0.0), T(0.0)}, {T(0.0), T(1.0), T(0.0)}, {T(0.0), T(0.0), T(1.0)}}; ///< columns

  Three<T> turned(const Three<T>& a) const {
    Three<T> b;
    for (std::size_t i = 0; i < 3; ++i) b[i] = R[0][i] * a[0] + R[1][i] * a[1] + R[2][i] * a[2];
    return b;
  }

  /// H <- H exp(screw), the turn of which is small: c_k by its series.
  void move(const Screw<T>& screw) {
    const T y = dot(screw.w, screw.w);
    const auto stumpff = [&y](double k) {
      T sum(1.0);
      for (int j = 7; j > 0; --j) sum = 1.0 - (1 / ((k + 2 * j - 1) * (k + 2 * j))) * (sum * y);
      return sum;
    };
    const T c1 = stumpff(1), c2 = 0.5 * stumpff(2), c3 = (1. / 6) * stumpff(3);
    const Three<T> once = cross(screw.w, screw.v), twice = cross(screw.w, once);
    Three<T> step;
    for (std::size_t i = 0; i < 3; ++i) step[i] = screw.v[i] + c2 * once[i] + c3 * twice[i];
    const Three<T> way = turned(step);
    for (std::size_t i = 0; i < 3; ++i) x[i] += way[i];
    Three<T> columns[3];
    for (std::size_t k = 0; k < 3; ++k) {
      Three<T> unit{T(0.0), T(0.0), T(0.0)};
      unit[k] = T(1.0);
      const Three<T> about = cross(screw.w, unit), again = cross(screw.w, about);
      for (std::size_t i = 0; i < 3; ++i) unit[i] += c1 * about[i] + c2 * again[i];
      columns[k] = turned(unit);
    }
    std::copy(columns, columns + 3, R);
  }
};

/// psi and 1 - epsilon w f' at a point, followed from the line outwards; NaN where rulings meet.
struct Foot {
  Foot(const std::vector<double>& fan, double epsilon, double u, double w) : psi(u), open(1) {
    constexpr int parts = 8;
    for (int part = 1; part <= parts; ++part) {
      const double reach = epsilon * w * part / parts;
      for (int iteration = 0; iteration < 40; ++iteration) {
        open = 1 - reach * profileSlope(fan, psi);
        if (!(open > leastOpen / 4)) {
          psi = open = std::numeric_limits<double>::quiet_NaN();
          return;
        }
        const double step = (psi - u - reach * psi * profile(fan, psi)) / open;
        psi -= step;
        if (std::abs(step) <= 1e-15 * (std::abs(psi) + std::abs(u))) break;
      }
    }
  }
  double psi, open;
};

template <class T> T coordinate(const double* q, int i) {
  if constexpr (std::is_same_v<T, double>)
    return q[i];
  else
    return T::variable(i, q[i]);
}

}

template <class T> SheetPoint<T> RuledSheet::point(const double* q, const Vector2& s) const {
  const T kappa = coordinate<T>(q, 0), phi = coordinate<T>(q, 1), epsilon = coordinate<T>(q, 2);
  const Rulings<T> ruling(phi, s);
  const T &u = ruling.u, &w = ruling.w;
  T psi(Foot(fan_, q[2], valueOf(u), valueOf(w)).psi);
  if constexpr (!std::is_same_v<T, double>) { // Newton's method doubles the order to which derivatives are right
    for (int iteration = 0; iteration < 2; ++iteration)
      psi -= (psi - u - epsilon * (psi * profile(fan_, psi) * w)) * reciprocal(1.0 - epsilon * (w * profileSlope(fan_, psi)));
  }

  const auto screwAt = [&](const T& x) {
    const T k = kappa * profile(bend_, x), alpha = -1.0 * (epsilon * (x * profile(fan_, x)));
    return Screw<T>{{T(1.0), T(0.0), T(0.0)}, {k * alpha, -1.0 * k, T(0.0)}};
  };
  // Half the sum at the ends and the middle is close to the turn of the whole.
  double turn = 0;
  for (const double share : {0.0, 0.5, 1.0}) {
    const Screw<T> at = screwAt(share * psi);
    turn = std::max(turn, std::hypot(valueOf(at.w[0]), valueOf(at.w[1])) * std::abs(valueOf(psi)));
  }
  const int steps = leastSteps + int(std::min(turn, mostTurn) / stepTurn);
  const double root = std::sqrt(15.0);
  LineFrame<T> H;
  const T h = (1.0 / steps) * psi;
  for (int i = 0; i < steps; ++i) {
    const Screw<T> begin = screwAt((i + 0.5 - root / 10) * h), middle = screwAt((i + 0.5) * h), end = screwAt((i + 0.5 + root / 10) * h);
    const Screw<T> a1 = scaled(h, middle), a2 = scaled(h, (root / 3) * (end + -1.0 * begin)),
                   a3 = scaled(h, (10. / 3) * (end + -2.0 * middle + begin));
    const Screw<T> c1 = bracket(a1, a2), c2 = (-1. / 60) * bracket(a1, 2.0 * a3 + c1);
    H.move(a1 + (1. / 12) * a3 + (1. / 240) * bracket(-20.0 * a1 + -1.0 * a3 + c1, a2 + c2));
  }

  // In the axes t = (cos phi, sin phi), (-sin phi, cos phi) and the normal.
  const auto placed = [&ruling](const Three<T>& a, Three<T>& x) { ruling.place(a[0], -1.0 * a[1], a[2], x); };
  SheetPoint<T> p;
  Three<T> r = H.turned({u - psi, -1.0 * w, T(0.0)}), d1, d2;
  for (std::size_t i = 0; i < 3; ++i) {
    r[i] += H.x[i];
    d1[i] = ruling.c * H.R[0][i] - ruling.n * H.R[1][i], d2[i] = ruling.n * H.R[0][i] + ruling.c * H.R[1][i];
  }
  placed(r, p.r), placed(d1, p.d1), placed(d2, p.d2);
  const T k = kappa * profile(bend_, psi) * reciprocal(1.0 - epsilon * (w * profileSlope(fan_, psi)));
  const T alpha = -1.0 * (epsilon * (psi * profile(fan_, psi)));
  const T across1 = ruling.c - ruling.n * alpha, across2 = ruling.n + ruling.c * alpha;
  p.k = {k * across1 * across1, k * across2 * across2, k * across1 * across2};
  return p;
}

SheetPoint<double> RuledSheet::at(const double* q, const Vector2& s) const { return point<double>(q, s); }
SheetPoint<Taylor<2>> RuledSheet::secondOrder(const double* q, const Vector2& s) const { return point<Taylor<2>>(q, s); }
SheetPoint<Taylor<3>> RuledSheet::thirdOrder(const double* q, const Vector2& s) const { return point<Taylor<3>>(q, s); }

/// Along the edges of a sheet, where rulings meet first and curvatures are largest.
struct RuledSheet::Extremes {
  double open = 1, curvature = 0; ///< least and largest; open is 0 where rulings have met
};

RuledSheet::Extremes RuledSheet::extremes(const double* q, const PatchDomain& d) const {
  constexpr int points = 8;
  Extremes e;
  const double c = std::cos(q[1]), n = std::sin(q[1]);
  const auto visit = [&](double s1, double s2) {
    const Foot foot(fan_, q[2], c * s1 + n * s2, n * s1 - c * s2);
    const double alpha = q[2] * foot.psi * profile(fan_, foot.psi);
    e.open = foot.open > leastOpen ? std::min(e.open, foot.open) : 0;
    e.curvature = std::max(e.curvature, std::abs(q[0] * profile(bend_, foot.psi) / foot.open) * (1 + alpha * alpha));
  };
  for (int i = 0; i <= points && e.open > 0; ++i) {
    const double s1 = d.begin1 + d.length() * i / points, s2 = d.begin2 + d.width() * i / points;
    visit(s1, d.begin2), visit(s1, d.end2), visit(d.begin1, s2), visit(d.end1, s2);
  }
  return e;
}

/// Towards the edge of regression curvatures grow without bound.
Vector2 RuledSheet::turns(const double* q, const PatchDomain& d) const {
  const Extremes e = extremes(q, d);
  double grows = 4 * std::abs(q[2]) / std::max(e.open, leastOpen);
  for (const std::vector<double>* profile : {&bend_, &fan_})
    for (std::size_t i = 0; i < profile->size(); ++i) grows += std::pow(std::abs((*profile)[i]), 1.0 / double(i + 1));
  return (e.curvature + grows) * Vector2(d.length(), d.width());
}

bool RuledSheet::accepts(const double* q, const PatchDomain& d) const {
  const Extremes e = extremes(q, d);
  const double turn = e.curvature * d.reach();
  return e.open > 0 && std::abs(q[0]) * d.reach() > flat && turn < mostTurn;
}

std::string RuledSheet::wrong(const double* q, const PatchDomain& d) const {
  const Extremes e = extremes(q, d);
  if (!(e.open > 0)) return fmt::format("its rulings meet on the sheet, or too close to it; let them turn less (epsilon = {:g} 1/m)", q[2]);
  if (e.curvature * d.reach() >= mostTurn) return fmt::format("it is rolled up by more than {:g} rad; give smaller curvatures", mostTurn);
  return "it is flat, so that the direction in which it bends has no meaning; give it some curvature";
}

}
