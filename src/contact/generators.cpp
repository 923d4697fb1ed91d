#include "contact/generators.h"

#include <Eigen/Geometry>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

namespace tendril {

Vector3 Generator::point(const Vector3& n) const {
  if (kind == Kind::Point) return centre;
  if (kind == Kind::Ellipsoid) return centre + S * n / std::sqrt(n.dot(S * n));
  const Vector3 across = n - n.dot(axis) * axis;
  const double norm = across.norm();
  return norm > 0 ? Vector3(centre + radius / norm * across) : centre;
}

Matrix3 Generator::curvature(const Vector3& n) const {
  if (kind == Kind::Point) return Matrix3::Zero();
  if (kind == Kind::Ellipsoid) {
    const Vector3 Sn = S * n;
    const double h = std::sqrt(n.dot(Sn));
    return S / h - Sn * Sn.transpose() / (h * h * h);
  }
  const Vector3 across = n - n.dot(axis) * axis;
  const double norm = across.norm();
  if (!(norm > 0)) return Matrix3::Zero();
  const Vector3 tangent = axis.cross(across) / norm;
  return radius / norm * tangent * tangent.transpose();
}

void GeneratorSet::fill(const PlacedShape& shape) {
  using Kind = Shape::Kind;
  const ShapeData& d = shape.data;
  generators.clear();
  features.clear();
  const Vector3 axis = shape.pose.R.col(2);
  const auto circle = [&](double height) { return Generator{Generator::Kind::Circle, shape.pose.x + height * axis, axis, d.radius, {}}; };
  switch (d.shape.kind) {
  case Kind::Ellipsoid: {
    const Matrix3 RD = shape.pose.R * d.halfEdges.asDiagonal();
    generators.push_back({Generator::Kind::Ellipsoid, shape.pose.x, axis, 0, RD * RD.transpose()});
    break;
  }
  case Kind::Cylinder:
  case Kind::Tube:
    generators.push_back(circle(d.low));
    generators.push_back(circle(d.high));
    features.push_back({0, 1, 0x10000000u});
    break;
  case Kind::Cone:
    generators.push_back(circle(d.low));
    generators.push_back({Generator::Kind::Point, shape.pose.x + d.high * axis, axis, 0, {}});
    features.push_back({0, 1, 0x10000000u});
    break;
  default:
    for (const Vector3& v : d.polyhedron.vertices) generators.push_back({Generator::Kind::Point, shape.pose * v, axis, 0, {}});
    for (std::size_t e = 0; e < d.polyhedron.edges.size(); ++e) {
      features.push_back({d.polyhedron.edges[e].from, d.polyhedron.edges[e].to, 0x10000000u + std::uint32_t(e)});
    }
  }
  for (std::size_t g = 0; g < generators.size(); ++g) features.push_back({int(g), -1, std::uint32_t(g)});
}

void GeneratorSet::keepActive(const Vector3& n, double tolerance, std::vector<GeneratorFeature>& active) {
  heights.clear();
  for (const Generator& g : generators) heights.push_back(n.dot(g.point(n)));
  const double least = *std::max_element(heights.begin(), heights.end()) - tolerance;
  active.clear();
  for (const GeneratorFeature& f : features) {
    if (heights[std::size_t(f.first)] >= least && (f.second < 0 || heights[std::size_t(f.second)] >= least)) active.push_back(f);
  }
}

namespace {

/// Unknowns: n, gap, and one more for either side: the weight of a pair's first generator, or the angle of a circle's point.
using System = Eigen::Matrix<double, 6, 6>;

/// A feature with its unknown. A circle by itself is a curve: its point is free, n orthogonal to its tangent, which stays regular where n
/// comes near the axis and the curvature of the support function grows without bound.
class Side {
 public:
  Side(const GeneratorSet& set, const GeneratorFeature& feature)
      : first_(set.generators[std::size_t(feature.first)]), second_(set.generators[std::size_t(std::max(feature.second, 0))]),
        isPair_(feature.second >= 0), isCurve_(!isPair_ && first_.kind == Generator::Kind::Circle) {}

  bool isFixed() const { return !isPair_ && !isCurve_; }
  bool isCurve() const { return isCurve_; }
  /// Puts the point of a circle as far as it goes towards a place or along a direction.
  void startTowards(const Vector3& direction) {
    radial_ = direction - direction.dot(first_.axis) * first_.axis;
    if (const double norm = radial_.norm(); norm > 0)
      radial_ /= norm;
    else
      radial_ = anyOrthogonal(first_.axis);
  }
  const Vector3& centre() const { return first_.centre; }

  /// In outward direction n.
  Vector3 point(const Vector3& n) const {
    if (isCurve_) return first_.centre + first_.radius * radial_;
    return isPair_ ? Vector3(weight_ * first_.point(n) + (1 - weight_) * second_.point(n)) : first_.point(n);
  }
  /// Derivative of the point by the unknown.
  Vector3 line(const Vector3& n) const {
    if (isCurve_) return first_.radius * first_.axis.cross(radial_);
    return isPair_ ? Vector3(first_.point(n) - second_.point(n)) : Vector3::Zero();
  }
  /// Second derivative of n . point by the unknown.
  double bend(const Vector3& n) const { return isCurve_ ? -first_.radius * n.dot(radial_) : 0; }
  Matrix3 curvature(const Vector3& n) const {
    if (isCurve_) return Matrix3::Zero();
    return isPair_ ? Matrix3(weight_ * first_.curvature(n) + (1 - weight_) * second_.curvature(n)) : first_.curvature(n);
  }
  void move(double step) {
    if (isPair_) weight_ += step;
    if (!isCurve_) return;
    radial_ = std::cos(step) * radial_ + std::sin(step) * first_.axis.cross(radial_);
    radial_ = (radial_ - radial_.dot(first_.axis) * first_.axis).normalized();
  }
  bool isBetween() const { return !isPair_ || (weight_ > -1e-9 && weight_ < 1 + 1e-9); }

 private:
  const Generator& first_;
  const Generator& second_;
  bool isPair_, isCurve_;
  double weight_ = 0.5;
  Vector3 radial_ = Vector3::UnitX();
};

FeatureContact solve(Side& a, Side& b, const Vector3& normal, double size) {
  FeatureContact result;
  Vector3 n = normal;
  double gap = n.dot(a.point(-n) - b.point(n)), last = 1;
  constexpr int most = 30;
  for (int k = 0; k < most; ++k) {
    const Vector3 lineA = a.line(-n) / size, lineB = -b.line(n) / size;
    System J = System::Zero();
    J.topLeftCorner<3, 3>() = -(a.curvature(-n) + b.curvature(n)) / size - gap / size * Matrix3::Identity();
    J.block<3, 1>(0, 3) = J.block<1, 3>(3, 0).transpose() = -n;
    J.block<3, 1>(0, 4) = J.block<1, 3>(4, 0).transpose() = lineA;
    J.block<3, 1>(0, 5) = J.block<1, 3>(5, 0).transpose() = lineB;
    J(4, 4) = a.isFixed() ? 1 : a.bend(n) / size;
    J(5, 5) = b.isFixed() ? 1 : -b.bend(n) / size;
    Vector6 residual;
    residual << (a.point(-n) - b.point(n)) / size - gap / size * n, 0.5 * (1 - n.squaredNorm()), n.dot(lineA), n.dot(lineB);
    const Vector6 step = J.fullPivLu().solve(-residual);
    if (!step.allFinite()) return result;
    const double change = step.head<3>().norm() + (a.isCurve() ? std::abs(step[4]) : 0) + (b.isCurve() ? std::abs(step[5]) : 0);
    const double scale = change > 0.3 ? 0.3 / change : 1; // rad
    n = (n + scale * step.head<3>()).normalized();
    gap += scale * step[3] * size;
    a.move(scale * step[4]);
    b.move(scale * step[5]);
    const double whole = step.head<4>().norm();
    if (whole < 1e-15 || (whole < 1e-11 && whole >= last)) {
      result.isFound = a.isBetween() && b.isBetween();
      break;
    }
    last = whole;
  }
  result.normal = n;
  result.onA = a.point(-n);
  result.onB = b.point(n);
  result.gap = n.dot(result.onA - result.onB);
  return result;
}

}

FeatureContact touch(const GeneratorSet& setA, const GeneratorFeature& featureA, const GeneratorSet& setB, const GeneratorFeature& featureB,
                     const Vector3& normal, double size) {
  Side a(setA, featureA), b(setB, featureB);
  a.startTowards(-normal);
  b.startTowards(normal);
  const FeatureContact found = solve(a, b, normal, size);
  if (found.isFound || (!a.isCurve() && !b.isCurve())) return found;
  // Where the normal is near the axis it hardly tells where on the rim: the other side does.
  Side otherA(setA, featureA), otherB(setB, featureB);
  otherA.startTowards(b.isCurve() ? b.centre() - a.centre() : Vector3(b.point(normal) - a.centre()));
  otherB.startTowards(a.isCurve() ? a.centre() - b.centre() : Vector3(a.point(-normal) - b.centre()));
  return solve(otherA, otherB, normal, size);
}

}
