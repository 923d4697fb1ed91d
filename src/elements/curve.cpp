#include "tendril/elements/curve.h"

#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

namespace tendril {

namespace {

Vector3 unit(const Vector3& v, const char* what) {
  const double n = v.norm();
  if (!(n > 0) || !std::isfinite(n)) throw InputError(std::string(what) + " must be a finite vector that is not zero");
  return v / n;
}

double positive(double value, const char* what) {
  if (!(value > 0) || !std::isfinite(value)) {
    throw InputError(std::string(what) + " must be positive and finite, not " + std::to_string(value));
  }
  return value;
}

/// Frame with d1 = tangent and d3 the part of `up` normal to it.
Matrix3 sectionFrame(const Vector3& tangent, const std::optional<Vector3>& up) {
  Vector3 reference = up.value_or(Vector3::UnitZ());
  if (!up && tangent.cross(reference).norm() < 1e-6) reference = Vector3::UnitY();
  const Vector3 normal = reference - reference.dot(tangent) * tangent;
  if (!(normal.norm() > 1e-9 * reference.norm())) throw InputError("the direction `up` of a section must not lie along the beam");
  Matrix3 R;
  R.col(0) = tangent;
  R.col(2) = normal.normalized();
  R.col(1) = R.col(2).cross(R.col(0));
  return R;
}

/// Points and tangents on a grid of arclengths; frames by parallel transport. Between grid points the curve is the helix of the two frames.
struct Grid {
  std::vector<double> s;
  std::vector<Pose> frames;
  std::vector<double> turned; ///< angle by which the frames turned since the first

  std::size_t piece(double arclength) const {
    const auto after = std::upper_bound(s.begin(), s.end() - 1, arclength);
    return std::min<std::size_t>(std::max<std::ptrdiff_t>(after - s.begin(), 1) - 1, s.size() - 2);
  }
  double turn(double arclength) const {
    const std::size_t i = piece(arclength);
    return turned[i] + (arclength - s[i]) / (s[i + 1] - s[i]) * (turned[i + 1] - turned[i]);
  }
  Pose at(double arclength) const {
    const std::size_t i = piece(arclength);
    const double xi = (arclength - s[i]) / (s[i + 1] - s[i]);
    return frames[i] * se3::exp(xi * se3::log(frames[i].relative(frames[i + 1])));
  }
};

void transport(std::vector<Pose>& frames, const std::vector<Vector3>& tangents, const std::optional<Vector3>& up) {
  frames[0].R = sectionFrame(tangents[0], up);
  for (std::size_t i = 1; i < frames.size(); ++i) {
    frames[i].R = so3::orthonormalised(so3::shortestRotation(tangents[i - 1], tangents[i]) * frames[i - 1].R);
  }
}

/// Direction of travel at u, of which at the end of the range it is only known how it is reached: the derivative there is that of what
/// would follow. There, and where the derivative vanishes or is infinite, it is the limit of the directions at u + e and u + 2 e.
Vector3 direction(const std::function<CurvePoint(double)>& point, const CurvePoint& at, double u, double e, bool isEnd) {
  const double sense = (e > 0) == isEnd ? -1 : 1; // e leads forwards but from the end
  const auto beside = [&](double v) { return Vector3(sense * unit(point(v).rate, "the tangent of a curve")); };
  if (isEnd || !at.rate.allFinite() || at.rate.isZero(0)) return 2 * beside(u + e) - beside(u + 2 * e);
  return sense * at.rate;
}

/// How far a piece of a curve turns, by its tangents and its chord: of a whole turn the tangents know nothing.
double turnOf(const Vector3& before, const Vector3& after, const Vector3& chord) {
  const double length = chord.norm();
  if (!(length > 0)) return std::numeric_limits<double>::infinity();
  return std::max((after - before).norm(), 2 * (chord / length - before).norm());
}

}

Curve::Curve(double length, std::function<Pose(double)> frame, std::function<double(double)> turned)
    : length_(length), frame_(std::move(frame)), turned_(std::move(turned)), breaks_{0, length} {}

Curve Curve::screw(const Pose& start, const Vector6& f, double length) {
  positive(length, "the length of a curve");
  return {length, [start, f](double s) { return start * se3::exp(s * f); }, [rate = f.tail<3>().norm()](double s) { return s * rate; }};
}

Curve Curve::straight(const Vector3& from, const Vector3& to, const std::optional<Vector3>& up) {
  const Vector3 tangent = unit(to - from, "the line from the first to the last point of a straight beam");
  Vector6 f = Vector6::Zero();
  f[0] = 1;
  return screw({sectionFrame(tangent, up), from}, f, (to - from).norm());
}

Curve Curve::arc(const Vector3& start, const Vector3& tangent, const Vector3& towards, double radius, double angle) {
  positive(radius, "the radius of an arc");
  positive(angle, "the angle of an arc");
  Matrix3 R;
  R.col(0) = unit(tangent, "the tangent of an arc");
  R.col(1) = unit(towards - towards.dot(R.col(0)) * R.col(0), "the direction of an arc's centre (normal to its tangent)");
  R.col(2) = R.col(0).cross(R.col(1));
  Vector6 f = Vector6::Zero();
  f[0] = 1;
  f[5] = 1 / radius;
  return screw({R, start}, f, radius * angle);
}

Curve Curve::helix(const Vector3& centre, const Vector3& axis, const Vector3& radial, double radius, double pitch, double turns) {
  positive(radius, "the radius of a helix");
  positive(turns, "the number of turns of a helix");
  const Vector3 e3 = unit(axis, "the axis of a helix");
  const Vector3 e1 = unit(radial - radial.dot(e3) * e3, "the radial direction of a helix (normal to its axis)");
  const double rise = pitch / (2 * std::numbers::pi), speed = std::hypot(radius, rise);
  Matrix3 R;
  R.col(0) = (radius * e3.cross(e1) + rise * e3) / speed;
  R.col(1) = -e1;
  R.col(2) = R.col(0).cross(R.col(1));
  // One radian of the screw about e3 advances the arclength by `speed`.
  Vector6 f;
  f << 1, 0, 0, R.transpose() * e3 / speed;
  return screw({R, centre + radius * e1}, f, speed * 2 * std::numbers::pi * turns);
}

Curve Curve::polyline(const std::vector<Vector3>& points, const std::optional<Vector3>& up) {
  if (points.size() < 2) throw InputError("a polyline needs two points or more");
  std::vector<double> breaks{0};
  std::vector<Vector3> legs;
  for (std::size_t i = 1; i < points.size(); ++i) {
    legs.push_back(unit(points[i] - points[i - 1], "the leg between two points of a polyline"));
    breaks.push_back(breaks.back() + (points[i] - points[i - 1]).norm());
    if (i > 1 && legs[i - 1].dot(legs[i - 2]) < -0.99) throw InputError("a polyline must not turn back on itself");
  }
  std::vector<Pose> frames(legs.size());
  transport(frames, legs, up);
  const auto frame = [points, breaks, legs, frames](double s) {
    const auto after = std::upper_bound(breaks.begin(), breaks.end() - 1, s);
    const std::size_t leg = std::min<std::size_t>(std::max<std::ptrdiff_t>(after - breaks.begin(), 1) - 1, legs.size() - 1);
    Pose at{frames[leg].R, points[leg] + (s - breaks[leg]) * legs[leg]};
    const bool corner = leg > 0 && std::abs(s - breaks[leg]) < 1e-12 * breaks.back();
    if (corner) at.R = frames[leg - 1].R * so3::exp(0.5 * so3::log(frames[leg - 1].R.transpose() * frames[leg].R));
    return at;
  };
  std::vector<double> corners;
  for (std::size_t i = 1; i < legs.size(); ++i) corners.push_back(so3::log(frames[i - 1].R.transpose() * frames[i].R).norm());
  const auto turned = [breaks, corners](double s) {
    double sum = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const double beyond = s - breaks[i + 1];
      const bool isCorner = std::abs(beyond) < 1e-12 * breaks.back();
      sum += isCorner ? corners[i] / 2 : beyond > 0 ? corners[i] : 0;
    }
    return sum;
  };
  Curve curve(breaks.back(), frame, turned);
  curve.breaks_ = breaks;
  return curve;
}

Curve Curve::parametric(const std::function<CurvePoint(double)>& point, double from, double to, const std::optional<Vector3>& up) {
  // Frames on a fine grid; arclength by the length of the helical pieces, which is of fourth order like the positions between them; the
  // turn between frames is of second order. Pieces that turn by a thousandth leave less than 1e-10.
  constexpr int coarse = 250, most = 4000;
  constexpr double smallTurn = 1e-3;
  const double range = to - from;
  if (!(std::abs(range) > 0) || !std::isfinite(range)) throw InputError("a parametric curve needs two different ends of its parameter");
  Grid grid;
  std::vector<Vector3> tangents;
  const auto sample = [&](int pieces) {
    grid.frames.clear(), tangents.clear();
    const double du = range / pieces;
    for (int i = 0; i <= pieces; ++i) {
      const double u = from + i * du;
      const CurvePoint at = point(u);
      if (!at.x.allFinite()) throw InputError("the formula of a curve is not finite at parameter " + std::to_string(u));
      const bool isEnd = i == pieces;
      tangents.push_back(unit(direction(point, at, u, (isEnd ? -1e-6 : 1e-6) * du, isEnd), "the tangent of a curve"));
      grid.frames.push_back({Matrix3::Identity(), at.x});
    }
  };
  sample(coarse);
  double turn = 0;
  for (std::size_t i = 0; i < coarse; ++i)
    turn = std::max(turn, turnOf(tangents[i], tangents[i + 1], grid.frames[i + 1].x - grid.frames[i].x));
  if (turn > smallTurn) sample(int(std::min<double>(most, coarse * std::ceil(turn / smallTurn))));
  transport(grid.frames, tangents, up);
  grid.s.push_back(0);
  grid.turned.push_back(0);
  for (std::size_t i = 1; i < grid.frames.size(); ++i) {
    const Vector6 step = se3::log(grid.frames[i - 1].relative(grid.frames[i]));
    grid.s.push_back(grid.s.back() + step.head<3>().norm());
    grid.turned.push_back(grid.turned.back() + step.tail<3>().norm());
  }
  const double length = positive(grid.s.back(), "the length of a curve");
  const auto shared = std::make_shared<const Grid>(std::move(grid));
  return {length, [shared](double s) { return shared->at(s); }, [shared](double s) { return shared->turn(s); }};
}

Curve Curve::spline(const std::vector<Vector3>& points, const std::optional<Vector3>& up) {
  const int n = int(points.size());
  if (n < 2) throw InputError("a spline needs two points or more");
  if (n == 2) return straight(points[0], points[1], up);
  VectorX u(n);
  u[0] = 0;
  for (int i = 1; i < n; ++i) u[i] = u[i - 1] + positive((points[i] - points[i - 1]).norm(), "the distance of two points of a spline");
  // Second derivatives m of the natural spline: a tridiagonal system, solved by elimination.
  std::vector<Vector3> m(n, Vector3::Zero()), rhs(n, Vector3::Zero());
  VectorX diagonal = VectorX::Ones(n);
  for (int i = 1; i < n - 1; ++i) {
    const double left = u[i] - u[i - 1], right = u[i + 1] - u[i];
    rhs[i] = 6 * ((points[i + 1] - points[i]) / right - (points[i] - points[i - 1]) / left);
    diagonal[i] = 2 * (left + right);
    if (i > 1) {
      const double factor = left / diagonal[i - 1];
      diagonal[i] -= factor * left;
      rhs[i] -= factor * rhs[i - 1];
    }
  }
  for (int i = n - 2; i > 0; --i) m[i] = (rhs[i] - (u[i + 1] - u[i]) * m[i + 1]) / diagonal[i];
  const auto point = [points, u, m, n](double at) -> CurvePoint {
    const int i = std::clamp<int>(int(std::upper_bound(u.begin(), u.end(), at) - u.begin()) - 1, 0, n - 2);
    const double h = u[i + 1] - u[i], b = (at - u[i]) / h, a = 1 - b;
    return {a * points[i] + b * points[i + 1] + h * h / 6 * ((a * a * a - a) * m[i] + (b * b * b - b) * m[i + 1]),
            (points[i + 1] - points[i]) / h + h / 6 * ((3 * b * b - 1) * m[i + 1] - (3 * a * a - 1) * m[i])};
  };
  return parametric(point, 0, u[n - 1], up);
}

}
