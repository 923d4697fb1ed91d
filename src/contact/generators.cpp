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

/// Unknowns n, gap, alpha, beta; the weight of the first generator is alpha or beta, of the second one minus it.
using System = Eigen::Matrix<double, 6, 6>;

struct Side {
  const Generator& first;
  const Generator& second;
  bool isPair;
  double weight;

  Side(const GeneratorSet& set, const GeneratorFeature& feature)
      : first(set.generators[std::size_t(feature.first)]), second(set.generators[std::size_t(std::max(feature.second, 0))]),
        isPair(feature.second >= 0), weight(isPair ? 0.5 : 1) {}
  Vector3 point(const Vector3& n) const { return isPair ? Vector3(weight * first.point(n) + (1 - weight) * second.point(n)) : first.point(n); }
  Vector3 line(const Vector3& n) const { return isPair ? Vector3(first.point(n) - second.point(n)) : Vector3::Zero(); }
  Matrix3 curvature(const Vector3& n) const {
    return isPair ? Matrix3(weight * first.curvature(n) + (1 - weight) * second.curvature(n)) : first.curvature(n);
  }
  bool isBetween() const { return weight > -1e-9 && weight < 1 + 1e-9; }
};

}

FeatureContact touch(const GeneratorSet& setA, const GeneratorFeature& featureA, const GeneratorSet& setB, const GeneratorFeature& featureB,
                     const Vector3& normal, double size) {
  Side a(setA, featureA), b(setB, featureB);
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
    if (!a.isPair) J(4, 4) = 1;
    if (!b.isPair) J(5, 5) = 1;
    Vector6 residual;
    residual << (a.point(-n) - b.point(n)) / size - gap / size * n, 0.5 * (1 - n.squaredNorm()), n.dot(lineA), n.dot(lineB);
    const Vector6 step = J.fullPivLu().solve(-residual);
    if (!step.allFinite()) return result;
    const double change = step.head<3>().norm();
    const double scale = change > 0.3 ? 0.3 / change : 1; // rad
    n = (n + scale * step.head<3>()).normalized();
    gap += scale * step[3] * size;
    if (a.isPair) a.weight += scale * step[4];
    if (b.isPair) b.weight += scale * step[5];
    const double size4 = change + std::abs(step[3]);
    if (size4 < 1e-15 || (size4 < 1e-11 && size4 >= last)) {
      result.isFound = a.isBetween() && b.isBetween();
      break;
    }
    last = size4;
  }
  result.normal = n;
  result.onA = a.point(-n);
  result.onB = b.point(n);
  result.gap = n.dot(result.onA - result.onB);
  return result;
}

}
