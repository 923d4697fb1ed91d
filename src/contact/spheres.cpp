#include "contact/closest_point.h"
#include "contact/pair_kernels.h"
#include "contact/round_parts.h"

#include <Eigen/Geometry>
#include <array>
#include <cmath>

namespace tendril {

void sphereAndSolid(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) {
  const double r = a.data.radius;
  const SurfacePoint surface = closestSurfacePoint(b.data, b.pose.R.transpose() * (a.pose.x - b.pose.x));
  const double gap = surface.distance - r;
  if (gap > sink.margin) return;
  const Vector3 normal = b.pose.R * surface.normal;
  sink.add(a.pose.x - 0.5 * (surface.distance + r) * normal, normal, gap, surface.feature);
}

namespace {

/// Points of a solid, each with a ball about it, that can touch a wall around the solid.
class HollowPair {
 public:
  HollowPair(const PlacedShape& b, ContactSink& sink, const Vector3& planeNormal)
      : centre_(b.pose.x), radius_(b.data.radius), planeNormal_(planeNormal), sink_(sink) {}

  void add(const Vector3& point, double ball, std::uint32_t feature) {
    Vector3 d = point - centre_;
    d -= d.dot(planeNormal_) * planeNormal_;
    const double distance = normalise(d, planeNormal_.isZero(0) ? Vector3::UnitZ() : anyOrthogonal(planeNormal_));
    const double gap = radius_ - ball - distance;
    sink_.add(centre_ + (radius_ - 0.5 * gap) * d, -d, gap, feature, planeNormal_);
  }

  void addRim(const Rim& rim, std::uint32_t feature) {
    Vector3 out = rim.centre - centre_;
    out -= out.dot(rim.axis) * rim.axis;
    const double offset = out.norm();
    if (offset > 1e-9 * rim.radius) add(rim.centre + rim.radius / offset * out, 0, feature);
    for (std::uint32_t k = 0; k < 4; ++k) {
      const Vector3 fixed = rim.radius * rim.direction(k, 4);
      if (offset <= 1e-9 * rim.radius || (fixed - rim.radius / offset * out).norm() > 0.3 * rim.radius)
        add(rim.centre + fixed, 0, feature + 10 + k);
    }
  }

  void addAll(const std::vector<Vector3>& vertices, const Pose& pose) {
    for (std::size_t v = 0; v < vertices.size(); ++v) add(pose * vertices[v], 0, std::uint32_t(v));
  }

 private:
  Vector3 centre_;
  double radius_;
  Vector3 planeNormal_;
  ContactSink& sink_;
};

}

void solidInHollow(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) {
  const bool isPlane = b.data.family == Family::Disc;
  const Vector3 planeNormal = isPlane ? Vector3(a.pose.R.col(2)) : Vector3::Zero();
  HollowPair pair(b, sink, planeNormal);
  if (addRoundParts(a, pair)) return;
  switch (a.data.shape.kind) {
  case Shape::Kind::Disc:
    return pair.add(a.pose.x, a.data.radius, 0);
  case Shape::Kind::Polygon:
    return pair.addAll(a.data.outline, a.pose);
  case Shape::Kind::Box:
  case Shape::Kind::ConvexMesh:
    pair.addAll(a.data.polyhedron.vertices, a.pose);
    return keepSpread(sink, Vector3::Zero());
  case Shape::Kind::TriangleMesh:
    pair.addAll(a.data.mesh->vertices(), a.pose);
    return keepSpread(sink, Vector3::Zero());
  case Shape::Kind::Ellipsoid:
    return pair.add(a.pose * farthestOnEllipsoid(a.data.halfEdges, a.pose.R.transpose() * (b.pose.x - a.pose.x)), 0, 0);
  default:
    return;
  }
}

}
