#pragma once
#include "tendril/contact/collision_shape.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

/// Slow independent reference for contacts of convex shapes: the separation s(n) = min over a of n.x - max over b of n.x of two convex
/// bodies is at most their distance, for every unit n, and its largest value is the distance or minus the depth of the overlap. A contact
/// whose gap equals s(normal) to round-off, and which no direction of a dense search beats, is right to round-off.
namespace tendril::oracle {

inline Pose randomPose(std::mt19937& random, double reach) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-reach, reach);
  Pose pose;
  pose.R = Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random)).normalized().toRotationMatrix();
  pose.x = {uniform(random), uniform(random), uniform(random)};
  return pose;
}

inline Shape sphere(double r) { return {Shape::Kind::Sphere, {r, 0, 0}}; }
inline Shape box(double a, double b, double c) { return {Shape::Kind::Box, {a, b, c}}; }
inline Shape capsule(double r, double l) { return {Shape::Kind::Capsule, {r, l, 0}}; }
inline Shape cylinder(double r, double l) { return {Shape::Kind::Cylinder, {r, l, 0}}; }
inline Shape cone(double r, double l) { return {Shape::Kind::Cone, {r, l, 0}}; }
inline Shape ellipsoid(double a, double b, double c) { return {Shape::Kind::Ellipsoid, {a, b, c}}; }
inline Shape halfSpace() { return {Shape::Kind::HalfSpace}; }
inline Shape disc(double r) { return {Shape::Kind::Disc, {r, 0, 0}}; }
inline Shape meshShape(Shape::Kind kind, TriangleMesh mesh) {
  Shape shape{kind};
  shape.mesh = std::make_shared<const TriangleMesh>(std::move(mesh));
  return shape;
}
inline Shape polygon(std::vector<Vector3> corners) { return meshShape(Shape::Kind::Polygon, {std::move(corners), {}}); }
inline Shape convexMesh(std::vector<Vector3> points) { return meshShape(Shape::Kind::ConvexMesh, {std::move(points), {}}); }
inline Shape randomConvexMesh(std::mt19937& random, int points, double size) {
  std::normal_distribution<double> normal;
  std::vector<Vector3> corners;
  for (int i = 0; i < points; ++i) corners.push_back(size * Vector3(normal(random), normal(random), normal(random)).normalized());
  return convexMesh(corners);
}

/// max over the shape of n . x, in the shape's frame.
inline double height(const Shape& shape, const Vector3& n) {
  const Vector3& s = shape.size;
  const double across = std::hypot(n[0], n[1]);
  switch (shape.kind) {
  case Shape::Kind::Sphere:
    return s[0] * n.norm();
  case Shape::Kind::Box:
    return 0.5 * s.dot(n.cwiseAbs());
  case Shape::Kind::Capsule:
    return s[0] * n.norm() + s[1] / 2 * std::abs(n[2]);
  case Shape::Kind::Cylinder:
    return s[0] * across + s[1] / 2 * std::abs(n[2]);
  case Shape::Kind::Cone:
    return std::max(0.75 * s[1] * n[2], s[0] * across - 0.25 * s[1] * n[2]);
  case Shape::Kind::Ellipsoid:
    return s.cwiseProduct(n).norm();
  default: {
    double most = -std::numeric_limits<double>::infinity();
    for (const Vector3& v : shape.mesh->vertices) most = std::max(most, n.dot(v));
    return most;
  }
  }
}

struct Body {
  Shape shape;
  Pose part;
  double height(const Vector3& n) const {
    const Pose pose = part * shape.pose;
    return n.dot(pose.x) + oracle::height(shape, pose.R.transpose() * n);
  }
};

/// Whether a point lies in a convex body, to a tolerance: below the tangent planes of many directions, those towards the point among them.
inline bool holds(const Body& body, const Vector3& x, double tolerance) {
  const Pose pose = body.part * body.shape.pose;
  const Vector3 p = pose.R.transpose() * (x - pose.x), &s = body.shape.size;
  const double across = std::hypot(p[0], p[1]);
  switch (body.shape.kind) {
  case Shape::Kind::Sphere:
    return p.norm() <= s[0] + tolerance;
  case Shape::Kind::Box:
    return (2 * p.cwiseAbs() - s).maxCoeff() <= 2 * tolerance;
  case Shape::Kind::Capsule:
    return std::hypot(across, std::max(0., std::abs(p[2]) - s[1] / 2)) <= s[0] + tolerance;
  case Shape::Kind::Cylinder:
    return across <= s[0] + tolerance && std::abs(p[2]) <= s[1] / 2 + tolerance;
  case Shape::Kind::Cone:
    return p[2] >= -s[1] / 4 - tolerance && across <= s[0] * (0.75 - p[2] / s[1]) + 2 * tolerance * (1 + s[0] / s[1]);
  case Shape::Kind::Ellipsoid:
    return p.cwiseQuotient(s).norm() <= 1 + tolerance / s.minCoeff();
  default:
    for (int i = 0; i < 2000; ++i) {
      const double z = 1 - (2 * i + 1.) / 2000, angle = i * std::numbers::pi * (3 - std::sqrt(5.)), r = std::sqrt(1 - z * z);
      const Vector3 n(r * std::cos(angle), r * std::sin(angle), z);
      if (n.dot(p) > height(body.shape, n) + tolerance) return false;
    }
    return true;
  }
}

/// n from b to a.
inline double separation(const Body& a, const Body& b, const Vector3& n) { return -a.height(-n) - b.height(n); }

/// Largest separation by dense sampling of directions and local search from the best of them; never above the true value.
inline double bruteGap(const Body& a, const Body& b, std::mt19937& random, int samples = 3000) {
  std::vector<std::pair<double, Vector3>> best;
  for (int i = 0; i < samples; ++i) {
    const double z = 1 - (2 * i + 1.) / samples, angle = i * std::numbers::pi * (3 - std::sqrt(5.)), r = std::sqrt(1 - z * z);
    const Vector3 n(r * std::cos(angle), r * std::sin(angle), z);
    best.emplace_back(separation(a, b, n), n);
  }
  std::partial_sort(best.begin(), best.begin() + 12, best.end(), [](const auto& p, const auto& q) { return p.first > q.first; });
  double most = -std::numeric_limits<double>::infinity();
  std::uniform_real_distribution<double> turn(0, 2 * std::numbers::pi);
  for (int k = 0; k < 12; ++k) {
    auto [value, n] = best[std::size_t(k)];
    for (double step = 0.05; step > 1e-10;) {
      const Vector3 t = n.unitOrthogonal(), s = n.cross(t);
      const double start = turn(random);
      bool improved = false;
      for (int j = 0; j < 12 && !improved; ++j) {
        const double angle = start + j * std::numbers::pi / 6;
        const Vector3 m = (n + step * (std::cos(angle) * t + std::sin(angle) * s)).normalized();
        if (const double found = separation(a, b, m); found > value) value = found, n = m, improved = true;
      }
      if (!improved) step *= 0.7;
    }
    most = std::max(most, value);
  }
  return most;
}

inline std::vector<ContactPoint> contacts(const Body& a, const Body& b, double margin) {
  std::vector<ContactPoint> points;
  findContacts(CollisionShape(a.shape, "first"), a.part, CollisionShape(b.shape, "second"), b.part, margin, points);
  return points;
}

inline const ContactPoint* deepest(const std::vector<ContactPoint>& points) {
  const auto least = std::min_element(points.begin(), points.end(), [](const auto& p, const auto& q) { return p.gap < q.gap; });
  return least == points.end() ? nullptr : &*least;
}

}
