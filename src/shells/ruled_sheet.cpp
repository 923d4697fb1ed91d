#include "tendril/shells/ruled_sheet.h"

#include "shells/sheet_points.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <limits>
#include <numbers>

#include <fmt/format.h>

namespace tendril {

namespace {

/// Least share by which neighbouring rulings may come together.
constexpr double leastOpen = 0.02;
/// Angle by which a sheet may turn in all [rad], and about that of a panel of its power series.
constexpr double mostTurn = 100, panelTurn = 1.5;
/// Most terms of the power series in a panel, and coefficients of the polynomials it is made of.
constexpr int mostTerms = 60;
constexpr std::size_t mostCoefficients = 12;

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

/// sum <- sum + a x.
template <class T, class Factor> void accumulate(Three<T>& sum, const Factor& a, const Three<T>& x) {
  for (std::size_t i = 0; i < 3; ++i) {
    if constexpr (std::is_same_v<Factor, double>)
      addScaled(sum[i], a, x[i]);
    else
      sum[i] += a * x[i];
  }
}

/// The frame of the line.
template <class T> struct LineFrame {
  Three<T> x{T(0.0), T(0.0), T(0.0)};
  std::array<Three<T>, 3> R{{{T(1.0), T(0.0), T(0.0)}, {T(0.0), T(1.0), T(0.0)}, {T(0.0), T(0.0), T(1.0)}}}; ///< columns

  Three<T> turned(const Three<T>& a) const {
    Three<T> b{};
    for (std::size_t k = 0; k < 3; ++k) accumulate(b, a[k], R[k]);
    return b;
  }
};

/// Coefficients of a polynomial on a panel of the line, in the share of its length.
struct PanelPolynomial {
  /// l p(begin + l t), by repeated division.
  PanelPolynomial(const std::vector<double>& p, double begin, double length) : size(p.size()) {
    std::copy(p.begin(), p.end(), c.begin());
    for (std::size_t i = 0; i + 1 < size; ++i)
      for (std::size_t j = size - 1; j-- > i;) c[j] += begin * c[j + 1];
    double power = length;
    for (std::size_t j = 0; j < size; ++j, power *= length) c[j] *= power;
  }

  std::array<double, mostCoefficients> c{};
  std::size_t size;
};

/// The rotation on a panel as a power series R_0 + R_1 t + ... of what solves R' = R S(kappa epsilon a, -kappa b, 0), with the columns
///
///     (n + 1) R_{n+1} = sum_j (kappa b_j R3, kappa epsilon a_j R3, -kappa b_j R1 - kappa epsilon a_j R2)_{n-j}.
///
/// Calls take(n, R_n) for the first terms. kappa and epsilon are the variables 0 and 2.
template <class T, class Take>
void expandRotation(const PanelPolynomial& a, const PanelPolynomial& b, double kappa, double epsilon, const std::array<Three<T>, 3>& R,
                    int terms, const Take& take) {
  std::array<std::array<Three<T>, 3>, mostCoefficients> past; // the last ones
  past[0] = R;
  for (int n = 0;; ++n) {
    const std::size_t last = std::size_t(n) % mostCoefficients;
    take(n, past[last]);
    if (n + 1 == terms) return;
    Three<T> bent{}, turned{}, back{}, aside{};
    for (std::size_t j = 0; j <= std::size_t(n) && j < std::max(a.size, b.size); ++j) {
      const std::array<Three<T>, 3>& X = past[(std::size_t(n) - j) % mostCoefficients];
      if (j < b.size) accumulate(bent, b.c[j], X[2]), accumulate(back, b.c[j], X[0]);
      if (j < a.size) accumulate(turned, a.c[j], X[2]), accumulate(aside, a.c[j], X[1]);
    }
    std::array<Three<T>, 3>& next = past[(last + 1) % mostCoefficients];
    const double share = 1.0 / (n + 1);
    for (std::size_t i = 0; i < 3; ++i) {
      addScaled(back[i], 1, timesVariable(aside[i], 2, epsilon));
      next[0][i] = share * timesVariable(bent[i], 0, kappa);
      next[1][i] = share * timesVariable(timesVariable(turned[i], 2, epsilon), 0, kappa);
      next[2][i] = -share * timesVariable(back[i], 0, kappa);
    }
  }
}

/// Terms after which the series, and three derivatives of it, are exact to round-off: those of its majorant (n + 1) m_{n+1} = sum_j (|kappa
/// b_j| + |kappa epsilon a_j|) m_{n-j}.
int termsOf(const PanelPolynomial& a, const PanelPolynomial& b, double kappa, double kappaEpsilon) {
  const std::size_t size = std::max(a.size, b.size);
  std::array<double, mostTerms> m{1};
  int small = 0;
  for (int n = 0; n + 1 < mostTerms; ++n) {
    for (std::size_t j = 0; j < size && j <= std::size_t(n); ++j)
      m[std::size_t(n) + 1] += (std::abs(kappa * b.c[j]) + std::abs(kappaEpsilon * a.c[j])) * m[std::size_t(n) - j] / (n + 1);
    small = m[std::size_t(n) + 1] * n * n * n < 1e-17 ? small + 1 : 0;
    if (small > int(size)) return n + 2;
  }
  return mostTerms;
}

/// The frame at psi. Panels are led to the value of psi; derivatives by it follow from the first terms of the series there.
template <class T>
LineFrame<T> frameOfLine(const std::vector<double>& turning, const std::vector<double>& curvature, double kappa, double epsilon,
                         const T& psi) {
  const double end = valueOf(psi);
  const auto bound = [end](const std::vector<double>& p) {
    double sum = 0;
    for (std::size_t i = p.size(); i-- > 0;) sum = sum * std::abs(end) + std::abs(p[i]);
    return sum;
  };
  const double turn = std::abs(end * kappa) * (bound(curvature) + std::abs(epsilon) * bound(turning));
  const int panels = 1 + int((turn < 10 * mostTurn ? turn : 10 * mostTurn) / panelTurn);
  LineFrame<T> H;
  for (int panel = 0; panel < panels; ++panel) {
    const double length = end / panels, begin = panel * length;
    const PanelPolynomial a(turning, begin, length), b(curvature, begin, length);
    LineFrame<T> next{H.x, {}};
    expandRotation(a, b, kappa, epsilon, H.R, termsOf(a, b, kappa, kappa * epsilon), [&](int n, const std::array<Three<T>, 3>& R) {
      for (std::size_t i = 0; i < 3; ++i) accumulate(next.R[i], 1.0, R[i]);
      accumulate(next.x, length / (n + 1), R[0]);
    });
    H = next;
  }
  if constexpr (!std::is_same_v<T, double>) {
    const T beyond = psi - end; // its fourth power is beyond the order
    const PanelPolynomial a(turning, end, 1), b(curvature, end, 1);
    LineFrame<T> next{H.x, {}};
    T power(1.0);
    expandRotation(a, b, kappa, epsilon, H.R, 4, [&](int n, const std::array<Three<T>, 3>& R) {
      for (std::size_t i = 0; i < 3; ++i) accumulate(next.R[i], power, R[i]);
      power = power * beyond;
      accumulate(next.x, T((1.0 / (n + 1)) * power), R[0]);
    });
    H = next;
  }
  return H;
}

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

}

RuledSheet::RuledSheet(const std::vector<double>& bend, const std::vector<double>& fan) : bend_(bend), fan_(fan) {
  if (bend.size() + fan.size() + 2 > mostCoefficients)
    throw InputError(
        fmt::format("ruled sheet: its polynomials have {} coefficients; give at most {}", bend.size() + fan.size(), mostCoefficients - 2));
  curvature_ = bend, curvature_.insert(curvature_.begin(), 1);
  turning_.assign(bend.size() + fan.size() + 2, 0); // -f k / (epsilon kappa)
  for (std::size_t i = 0; i < curvature_.size(); ++i)
    for (std::size_t j = 0; j <= fan.size(); ++j) turning_[i + j + 1] -= curvature_[i] * (j == 0 ? 1 : fan[j - 1]);
}

void RuledSheet::evaluate(const double* q, const Vector2& s, const AnyPoint& point) const {
  const auto fill = [&]<class T>(SheetPoint<T>* p) {
    const T kappa = coordinate<T>(q, 0), phi = coordinate<T>(q, 1), epsilon = coordinate<T>(q, 2);
    const Rulings<T> ruling(phi, s);
    const T &u = ruling.u, &w = ruling.w;
    T psi(Foot(fan_, q[2], valueOf(u), valueOf(w)).psi);
    if constexpr (!std::is_same_v<T, double>) { // Newton's method doubles the order to which derivatives are right
      for (int iteration = 0; iteration < 2; ++iteration)
        psi -= (psi - u - epsilon * (psi * profile(fan_, psi) * w)) * reciprocal(1.0 - epsilon * (w * profileSlope(fan_, psi)));
    }
    const LineFrame<T> H = frameOfLine(turning_, curvature_, q[0], q[2], psi);

    // In the axes t = (cos phi, sin phi), (-sin phi, cos phi) and the normal.
    const auto placed = [&ruling](const Three<T>& a, Three<T>& x) { ruling.place(a[0], -1.0 * a[1], a[2], x); };
    Three<T> r = H.turned({u - psi, -1.0 * w, T(0.0)}), d1, d2;
    for (std::size_t i = 0; i < 3; ++i) {
      r[i] += H.x[i];
      d1[i] = ruling.c * H.R[0][i] - ruling.n * H.R[1][i], d2[i] = ruling.n * H.R[0][i] + ruling.c * H.R[1][i];
    }
    placed(r, p->r), placed(d1, p->d1), placed(d2, p->d2);
    const T k = kappa * profile(bend_, psi) * reciprocal(1.0 - epsilon * (w * profileSlope(fan_, psi)));
    const T alpha = -1.0 * (epsilon * (psi * profile(fan_, psi)));
    const T across1 = ruling.c - ruling.n * alpha, across2 = ruling.n + ruling.c * alpha;
    p->k = {k * across1 * across1, k * across2 * across2, k * across1 * across2};
  };
  std::visit(fill, point);
}

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
  return e.open > 0 && std::abs(q[0]) * d.reach() > flatTurn && turn < mostTurn;
}

std::string RuledSheet::wrong(const double* q, const PatchDomain& d) const {
  const Extremes e = extremes(q, d);
  if (!(e.open > 0)) return fmt::format("its rulings meet on the sheet, or too close to it; let them turn less (epsilon = {:g} 1/m)", q[2]);
  if (e.curvature * d.reach() >= mostTurn) return fmt::format("it is rolled up by more than {:g} rad; give smaller curvatures", mostTurn);
  return flatMessage;
}

}
