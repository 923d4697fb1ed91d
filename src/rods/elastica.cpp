#include "tendril/rods/elastica.h"

#include "tendril/model/error.h"
#include "tendril/rods/rod_shooting.h"

#include <Eigen/LU>

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <vector>

namespace tendril {

namespace {

constexpr double pi = std::numbers::pi;

void check(double eps2) {
  if (!(eps2 > 0 && eps2 < 1))
    throw InputError(fmt::format("elastica: its ends move together by a share between 0 and 1 of its length, not {}", eps2));
}

/// A number with its derivatives by (kappa(-1), F_x, F_y).
using Jet = Eigen::Array4d;

constexpr int order = 20;
using Series = std::array<Jet, order + 1>;

Jet product(const Jet& a, const Jet& b) {
  Jet c = a[0] * b + b[0] * a;
  c[0] = a[0] * b[0];
  return c;
}

struct Point {
  Jet x = Jet::Zero(), y = Jet::Zero(), theta = Jet::Zero(), kappa = Jet::Zero();
};

/// Coefficients of theta, kappa, and sin and cos of theta about a point.
struct Expansion {
  Series theta, kappa, sine, cosine, slope;

  Expansion(const Point& at, const Jet& Fx, const Jet& Fy) {
    theta[0] = at.theta, kappa[0] = at.kappa;
    const double atS = std::sin(at.theta[0]), atC = std::cos(at.theta[0]);
    sine[0] = atC * at.theta, cosine[0] = -atS * at.theta;
    sine[0][0] = atS, cosine[0][0] = atC;
    for (int n = 0; n <= order; ++n) {
      if (n > 0) {
        slope[std::size_t(n)] = n * theta[std::size_t(n)];
        // Products of jets, whose values are counted twice in the sums.
        Jet sumS = Jet::Zero(), sumC = Jet::Zero();
        for (int k = 1; k <= n; ++k) {
          const Jet &t = slope[std::size_t(k)], &c = cosine[std::size_t(n - k)], &s = sine[std::size_t(n - k)];
          sumS += t[0] * c + c[0] * t;
          sumC += t[0] * s + s[0] * t;
        }
        sumS[0] /= 2, sumC[0] /= 2;
        sine[std::size_t(n)] = sumS / n, cosine[std::size_t(n)] = -sumC / n;
      }
      if (n == order) break;
      theta[std::size_t(n) + 1] = kappa[std::size_t(n)] / (n + 1);
      kappa[std::size_t(n) + 1] = (product(Fy, cosine[std::size_t(n)]) - product(Fx, sine[std::size_t(n)])) / (n + 1);
    }
  }

  /// Within which the last terms of theta and kappa are rounding.
  double reach() const {
    constexpr double rounding = 1e-17;
    const double last = std::max({std::abs(kappa[order][0]), std::abs(kappa[order - 1][0]), std::abs(theta[order][0]), 1e-300});
    return std::pow(rounding * (1 + std::abs(kappa[0][0])) / last, 1.0 / order);
  }

  static Jet at(const Series& a, double h) {
    Jet sum = a[order];
    for (int n = order - 1; n >= 0; --n) sum = sum * h + a[std::size_t(n)];
    return sum;
  }
  static Jet integral(const Series& a, double h) {
    Jet sum = a[order] / (order + 1);
    for (int n = order - 1; n >= 0; --n) sum = sum * h + a[std::size_t(n)] / (n + 1);
    return sum * h;
  }
};

/// From -1 to 1; what is seen at the ends of the steps is told.
template <class See> Point integrate(double curvature, double forceX, double forceY, const See& see) {
  Point p;
  p.kappa = Jet(curvature, 1, 0, 0);
  const Jet Fx(forceX, 0, 1, 0), Fy(forceY, 0, 0, 1);
  double s = -1;
  constexpr int mostSteps = 10000;
  for (int step = 0; step < mostSteps && s < 1; ++step) {
    const Expansion e(p, Fx, Fy);
    const double h = std::min(e.reach(), 1 - s);
    see(s, h, p, e);
    p.x += Expansion::integral(e.cosine, h);
    p.y += Expansion::integral(e.sine, h);
    p.theta = Expansion::at(e.theta, h);
    p.kappa = Expansion::at(e.kappa, h);
    s = s + h >= 1 - 1e-15 ? 1 : s + h;
    if (!p.theta.isFinite().all()) break;
  }
  return p;
}

/// Negative directions of  int (v'^2 - (F_x cos theta + F_y sin theta) v^2) ds  on v(-1) = v(1) = 0, int v sin theta = int v cos theta = 0,
/// by linear elements: those of the tridiagonal matrix A and of -C^T A^-1 C, less the two of the constraints.
int unstableDirections(const std::vector<double>& theta, double forceX, double forceY) {
  const int n = int(theta.size()) - 2; // inner nodes
  const double h = 2.0 / (n + 1);
  std::vector<double> pivot(static_cast<std::size_t>(n));
  Eigen::MatrixX2d C(n, 2), X(n, 2);
  int negative = 0;
  for (int i = 0; i < n; ++i) {
    const double angle = theta[std::size_t(i) + 1];
    const double diagonal = 2 / h - h * (forceX * std::cos(angle) + forceY * std::sin(angle));
    pivot[std::size_t(i)] = diagonal - (i > 0 ? 1 / (h * h) / pivot[std::size_t(i) - 1] : 0);
    negative += pivot[std::size_t(i)] < 0;
    C.row(i) << h * std::sin(angle), h * std::cos(angle);
    X.row(i) = C.row(i);
    if (i > 0) X.row(i) += X.row(i - 1) / (h * pivot[std::size_t(i) - 1]);
  }
  // A = L D L^T: C^T A^-1 C = sum of squares over the pivots.
  Eigen::Matrix2d S = Eigen::Matrix2d::Zero();
  for (int i = 0; i < n; ++i) S -= X.row(i).transpose() * X.row(i) / pivot[std::size_t(i)];
  const double trace = S.trace(), determinant = S.determinant();
  negative += determinant < 0 ? 1 : trace < 0 ? 2 : 0;
  return negative - 2;
}

/// Numbers of nodes that are equally far apart: see(x, y, theta) at each; the end.
template <class See> Point sample(const Elastica& e, int nodes, const See& see) {
  int node = 0;
  const Point end = integrate(e.curvature, e.forceX, e.forceY, [&](double s, double h, const Point& p, const Expansion& series) {
    for (; node < nodes; ++node) {
      const double at = -1 + 2.0 * node / (nodes - 1) - s;
      if (at > h * (1 + 1e-12)) break;
      see(p.x[0] + Expansion::integral(series.cosine, at)[0], p.y[0] + Expansion::integral(series.sine, at)[0],
          Expansion::at(series.theta, at)[0]);
    }
  });
  for (; node < nodes; ++node) see(end.x[0], end.y[0], end.theta[0]);
  return end;
}

void describe(Elastica& e) {
  constexpr int nodes = 401;
  std::vector<double> theta;
  theta.reserve(nodes);
  e.height = e.largestAngle = 0;
  const Point end = sample(e, nodes, [&](double, double y, double angle) {
    theta.push_back(angle);
    e.height = std::max(e.height, y);
    e.largestAngle = std::max(e.largestAngle, std::abs(angle));
  });
  // kappa^2/2 - F_x cos theta - F_y sin theta is constant along the rod.
  e.energy = 2 * (e.curvature * e.curvature - 2 * e.forceX + e.forceX * end.x[0] + e.forceY * end.y[0]);
  e.unstable = unstableDirections(theta, e.forceX, e.forceY);
}

/// k with E(k)/K(k) = 1 - eps2/2.
double modulusOf(double eps2) {
  double low = 0, high = 1 - 1e-16;
  for (int i = 0; i < 200 && high - low > 1e-17; ++i) {
    const double k = 0.5 * (low + high);
    (std::comp_ellint_2(k) / std::comp_ellint_1(k) > 1 - eps2 / 2 ? low : high) = k;
  }
  return 0.5 * (low + high);
}

}

Elastica elasticaWaves(double eps2, int waves) {
  check(eps2);
  if (waves < 1) throw InputError("elastica: a mode has one whole wave at least");
  const double k = modulusOf(eps2), K = std::comp_ellint_1(k), E = std::comp_ellint_2(k), root = 2 * waves * K;
  Elastica e;
  // kappa = -2 k sqrt(F) cn(sqrt(F) s); cn is 1 or -1 at the ends. Upwards at the begin.
  e.curvature = 2 * k * root;
  e.forceX = root * root;
  e.energy = 16 * waves * root * (E - (1 - k * k) * K);
  e.height = 2 * k / (waves * K); // (2 k / sqrt(F)) (1 - cn), at most twice
  e.largestAngle = 2 * std::asin(k);
  e.isSolved = true;
  return e;
}

Elastica shootElastica(double eps2, double curvature, double forceX, double forceY) {
  check(eps2);
  constexpr int most = 50;
  constexpr double met = 1e-12;
  Elastica e{.curvature = curvature, .forceX = forceX, .forceY = forceY};
  const auto shoot = [&](const Eigen::Vector3d& unknown) {
    return integrate(unknown[0], unknown[1], unknown[2], [](double, double, const Point&, const Expansion&) {});
  };
  const auto residualOf = [&](const Point& p) { return Eigen::Vector3d(p.x[0] - (2 - 2 * eps2), p.y[0], p.theta[0]); };
  Eigen::Vector3d unknown(curvature, forceX, forceY);
  Point end = shoot(unknown);
  Eigen::Vector3d r = residualOf(end);
  for (; e.iterations < most && r.allFinite() && r.lpNorm<Eigen::Infinity>() > met; ++e.iterations) {
    Eigen::Matrix3d J;
    for (int j = 0; j < 3; ++j) J.col(j) << end.x[j + 1], end.y[j + 1], end.theta[j + 1];
    const Eigen::Vector3d step = J.fullPivLu().solve(-r);
    double factor = 1;
    Eigen::Vector3d next = r;
    for (; factor > 1e-6; factor /= 2) { // a step that reduces the residual
      end = shoot(unknown + factor * step);
      next = residualOf(end);
      if (next.allFinite() && next.norm() < (1 - 1e-4 * factor) * r.norm()) break;
    }
    if (!(factor > 1e-6)) break;
    unknown += factor * step;
    r = next;
  }
  e.curvature = unknown[0], e.forceX = unknown[1], e.forceY = unknown[2];
  e.residual = r.lpNorm<Eigen::Infinity>();
  e.isSolved = e.residual <= 1e-10;
  if (e.isSolved)
    describe(e);
  else
    e.message = fmt::format("elastica: shooting ended with a residual of {:.2e} after {} iterations; start nearer, or follow a mode from "
                            "its onset",
                            e.residual, e.iterations);
  return e;
}

int unstableOutOfPlane(const Elastica& e, double across, double torsion) {
  if (!e.isSolved) throw InputError("elastica: the stability of one that is not solved cannot be told");
  if (!(across > 0 && torsion > 0)) throw InputError("elastica: stiffnesses against bending out of the plane and torsion must be positive");
  // d3 along x and d2 along y; what lies beyond presses back.
  const RodProperties rod{.length = 2, .stiffness = {1, across, torsion}};
  const Matrix3 along = (Matrix3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished();
  const RodPoint begin{0, {along, Vector3::Zero()}, {-e.forceX, -e.forceY, 0}, {0, 0, e.curvature}};
  // z and turns about x and y, by moments about these and the force along z.
  return conjugatePoints(endVariations(rod, begin, conjugateSamples(rod, begin)), {2, 3, 4}, {0, 1, 5});
}

std::vector<Eigen::Vector3d> shapeOf(const Elastica& e, int elements) {
  std::vector<Eigen::Vector3d> shape;
  sample(e, elements + 1, [&](double x, double y, double theta) { shape.emplace_back(x, y, theta); });
  return shape;
}

Elastica elasticaMode(double eps2, int mode) {
  check(eps2);
  if (mode < 1 || mode > 20) throw InputError(fmt::format("elastica: modes are counted from 1 to 20, not {}", mode));
  // Onset: theta = eps v, F = x^2; symmetric y: v = sin(m pi s); antisymmetric y: v = cos(x s) - cos(x), tan x = x.
  const bool isEven = mode % 2 == 0;
  const int waves = (mode + 1) / 2;
  double x = waves * pi;
  if (isEven) {
    const int branch = mode / 2;
    const auto excess = [](double at) { return std::sin(at) - at * std::cos(at); }; // one root between
    double low = branch * pi, high = (branch + 0.5) * pi;
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      ((excess(middle) > 0) == (excess(low) > 0) ? low : high) = middle;
    }
    x = 0.5 * (low + high);
  }
  // eps2 = (1/4) int theta^2 for small angles; amplitude a of v.
  double norm = 1; // int v^2
  if (isEven) norm = 1 + std::sin(2 * x) / (2 * x) - 4 * std::cos(x) * std::sin(x) / x + 2 * std::cos(x) * std::cos(x);
  const double first = std::min(eps2, 0.01);
  const double a = std::sqrt(4 * first / norm);
  Elastica e = isEven ? shootElastica(first, a * x * std::sin(x), x * x, -a * x * x * std::cos(x)) : shootElastica(first, a * x, x * x, 0);
  double at = first, step = 0.05;
  while (e.isSolved && at < eps2) {
    const double next = std::min(eps2, at + step);
    const Elastica further = shootElastica(next, e.curvature, e.forceX, e.forceY);
    const bool isSame = further.isSolved && std::abs(further.forceX - e.forceX) < 0.5 * std::abs(e.forceX);
    if (isSame) {
      const int iterations = e.iterations;
      e = further, e.iterations += iterations;
      at = next;
    } else if ((step /= 2) < 1e-5) {
      e.isSolved = false;
      e.message = fmt::format("elastica: mode {} was lost at a compression of {:.4g}", mode, at);
    }
  }
  return e;
}

}
