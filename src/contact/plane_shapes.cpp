#include "contact/pair_kernels.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

/// A plane shape in the common plane: a polygon, or a point with a disc about it.
struct Outline {
  const ShapeData& data;
  Pose pose;
  Vector3 corner(std::size_t i) const { return pose * data.outline[i % data.outline.size()]; }
  Vector3 normal(std::size_t i) const { return pose.R * data.normals[i % data.normals.size()]; }
  std::size_t count() const { return data.outline.size(); }
};

class PlanePair {
 public:
  PlanePair(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) : a_(a), b_(b), plane_(a.pose.R.col(2)), sink_(sink) {}

  void find() {
    const bool isDiscA = a_.data.family == Family::Disc;
    if (b_.data.family == Family::HalfSpace) return findHalfSpace();
    constexpr double tilted = 0.1;
    if (plane_.cross(b_.pose.R.col(2)).norm() > tilted) return;
    if (b_.data.family == Family::Disc) return findDiscs();
    if (isDiscA) return findDiscPolygon();
    findPolygons();
  }

 private:
  /// In the plane, exactly.
  Vector3 inPlane(const Vector3& d) const { return d - d.dot(plane_) * plane_; }

  void add(const Vector3& position, const Vector3& direction, double gap, std::uint32_t feature) {
    sink_.add(position, inPlane(direction).normalized(), gap, feature, plane_);
  }

  void findHalfSpace() {
    Vector3 normal = inPlane(b_.pose.R.col(2));
    const double sine = normal.norm();
    if (!(sine > 1e-6)) return; // parallel planes have no line in common
    normal /= sine;
    const double offset = b_.pose.R.col(2).dot(b_.pose.x) / sine;
    const auto addPoint = [&](const Vector3& x, double r, std::uint32_t feature) {
      const double gap = b_.pose.R.col(2).dot(x) / sine - offset - r;
      add(x - (r + 0.5 * gap) * normal, normal, gap, feature);
    };
    if (a_.data.family == Family::Disc) return addPoint(a_.pose.x, a_.data.radius, 0);
    for (std::size_t i = 0; i < a_.data.outline.size(); ++i) addPoint(a_.pose * a_.data.outline[i], 0, std::uint32_t(i));
  }

  void findDiscs() {
    Vector3 d = inPlane(a_.pose.x - b_.pose.x);
    const double distance = normalise(d, a_.pose.R.col(0)), gap = distance - a_.data.radius - b_.data.radius;
    add(a_.pose.x - (a_.data.radius + 0.5 * gap) * d, d, gap, 0);
  }

  void findDiscPolygon() {
    const Vector3 centre = a_.pose.x;
    const double radius = a_.data.radius;
    const Outline polygon = outline(b_);
    double most = -std::numeric_limits<double>::infinity();
    std::size_t edge = 0;
    for (std::size_t i = 0; i < polygon.count(); ++i) {
      const double height = polygon.normal(i).dot(inPlane(centre - polygon.corner(i)));
      if (height > most) most = height, edge = i;
    }
    Vector3 normal = polygon.normal(edge);
    double distance = most;
    auto feature = std::uint32_t(edge);
    if (most > 0) { // outside: the nearest corner may be closer than the line
      double nearest = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < polygon.count(); ++i) {
        const Vector3 p = inPlane(centre - polygon.corner(i)), along = inPlane(polygon.corner(i + 1) - polygon.corner(i));
        const double t = p.dot(along) / along.squaredNorm();
        Vector3 d = t <= 0 ? p : t >= 1 ? Vector3(p - along) : Vector3(polygon.normal(i) * polygon.normal(i).dot(p));
        if (!(d.squaredNorm() < nearest)) continue;
        nearest = d.squaredNorm();
        distance = normalise(d, polygon.normal(i));
        normal = d;
        feature = t <= 0 ? 1000u + std::uint32_t(i) : t >= 1 ? 1000u + std::uint32_t((i + 1) % polygon.count()) : std::uint32_t(i);
      }
    }
    add(centre - 0.5 * (distance + radius) * normal, normal, distance - radius, feature);
  }

  static Outline outline(const PlacedShape& shape) { return {shape.data, shape.pose}; }

  struct Separation {
    double gap = -std::numeric_limits<double>::infinity();
    std::size_t edge = 0;
  };

  /// Largest separation along the normals of `from`'s edges.
  Separation separation(const Outline& from, const Outline& to) const {
    Separation best;
    for (std::size_t i = 0; i < from.count(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t k = 0; k < to.count(); ++k) least = std::min(least, from.normal(i).dot(to.corner(k) - from.corner(i)));
      if (least > best.gap) best = {least, i};
    }
    return best;
  }

  void findPolygons() {
    const Outline a = outline(a_), b = outline(b_);
    const Separation byA = separation(a, b), byB = separation(b, a);
    if (std::max(byA.gap, byB.gap) > sink_.margin) return;
    // The second one's edge carries, unless the first one's separates clearly more: no flicker between equals.
    const bool isByA = byA.gap > byB.gap + 1e-9 * std::max(a_.data.size, b_.data.size);
    if (isByA ? !addEdge(a, byA, b, true) : !addEdge(b, byB, a, false)) addNearestCorners(a, b);
  }

  /// Contacts of the edge `best` of `carrier` with the edge of `other` that faces it most. Says whether its gap is reached over the edge,
  /// so that it is the distance of the polygons.
  bool addEdge(const Outline& carrier, const Separation& best, const Outline& other, bool isCarrierA) {
    const Vector3 n = carrier.normal(best.edge), start = carrier.corner(best.edge), along = carrier.corner(best.edge + 1) - start;
    const double length = along.norm();
    std::size_t facing = 0;
    for (std::size_t i = 1; i < other.count(); ++i) {
      if (other.normal(i).dot(n) < other.normal(facing).dot(n)) facing = i;
    }
    struct End {
      Vector3 x;
      std::uint32_t feature;
    };
    std::array<End, 2> ends{
        {{other.corner(facing), std::uint32_t(facing)}, {other.corner(facing + 1), std::uint32_t((facing + 1) % other.count())}}};
    const double tolerance = 1e-9 * length;
    const auto along01 = [&](const Vector3& x) { return (x - start).dot(along) / length; };
    const std::array<double, 2> at{along01(ends[0].x), along01(ends[1].x)};
    const auto clip = [&](End& end, double own, double opposite, const Vector3& oppositeX) {
      const double limit = own < -tolerance ? 0 : own > length + tolerance ? length : own;
      if (limit == own) return true;
      if ((limit - own) * (limit - opposite) > 0) return false;
      end.x += (limit - own) / (opposite - own) * (oppositeX - end.x);
      end.feature = 1000u + std::uint32_t(limit == 0 ? 0 : 1);
      return true;
    };
    const Vector3 x0 = ends[0].x, x1 = ends[1].x;
    if (!clip(ends[0], at[0], at[1], x1) || !clip(ends[1], at[1], at[0], x0)) return false;
    const std::array<double, 2> gaps{n.dot(ends[0].x - start), n.dot(ends[1].x - start)};
    if (best.gap > 0 && std::min(gaps[0], gaps[1]) > best.gap + 1e-12 * length) return false;
    const bool areEqual = (ends[0].x - ends[1].x).norm() <= tolerance;
    for (std::size_t k = 0; k < (areEqual ? 1 : 2); ++k) {
      const std::uint32_t feature =
          featurePair(std::uint32_t(best.edge) + (isCarrierA ? 5000u : 0u), ends[k].feature + 10000u * std::uint32_t(facing));
      add(ends[k].x - 0.5 * gaps[k] * n, isCarrierA ? Vector3(-n) : n, gaps[k], feature);
    }
    return true;
  }

  /// Polygons that face one another with corners.
  void addNearestCorners(const Outline& a, const Outline& b) {
    double nearest = std::numeric_limits<double>::infinity();
    Vector3 onA = Vector3::Zero(), onB = onA;
    std::uint32_t feature = 0;
    const auto offer = [&](const Outline& points, const Outline& edges, bool isPointA) {
      for (std::size_t i = 0; i < points.count(); ++i) {
        for (std::size_t k = 0; k < edges.count(); ++k) {
          const Vector3 x = points.corner(i), along = edges.corner(k + 1) - edges.corner(k);
          const double t = std::clamp((x - edges.corner(k)).dot(along) / along.squaredNorm(), 0., 1.);
          const Vector3 y = t == 1 ? edges.corner(k + 1) : Vector3(edges.corner(k) + t * along);
          if (!((x - y).squaredNorm() < nearest)) continue;
          nearest = (x - y).squaredNorm();
          onA = isPointA ? x : y;
          onB = isPointA ? y : x;
          const std::size_t end = t == 0 ? k : t == 1 ? (k + 1) % edges.count() : 1000 + k;
          feature = featurePair(std::uint32_t(isPointA ? i : end), std::uint32_t(isPointA ? end : i) + 100000u);
        }
      }
    };
    offer(a, b, true);
    offer(b, a, false);
    Vector3 normal = inPlane(onA - onB);
    const double gap = normalise(normal, a_.pose.R.col(0));
    add(0.5 * (onA + onB), normal, gap, feature);
  }

  const PlacedShape &a_, &b_;
  Vector3 plane_;
  ContactSink& sink_;
};

}

void planeShapes(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) {
  if (b.data.shape.hollow) return a.data.shape.hollow || b.data.family == Family::HalfSpace ? void() : solidInHollow(a, b, sink);
  if (a.data.shape.hollow) return;
  PlanePair(a, b, sink).find();
}

}
