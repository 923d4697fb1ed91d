#include "contact/convex_body.h"

#include "contact/support.h"

#include <cmath>
#include <limits>

namespace tendril {

using Kind = Shape::Kind;

double ConvexBody::radius() const { return coreRadius(shape_.data); }

int ConvexBody::faceCount() const {
  switch (shape_.data.shape.kind) {
  case Kind::Cylinder:
  case Kind::Tube:
    return 2;
  case Kind::Cone:
    return 1;
  default:
    return int(shape_.data.polyhedron.faces.size());
  }
}

FlatFace ConvexBody::face(int i) const {
  if (shape_.data.family == Family::Round) {
    const double height = i == 0 ? shape_.data.low : shape_.data.high;
    return {i == 0 ? Vector3(-axis_) : axis_, shape_.pose.x + height * axis_, i};
  }
  const Polyhedron& body = shape_.data.polyhedron;
  const Polyhedron::Face& polygon = body.faces[std::size_t(i)];
  return {shape_.pose.R * polygon.normal, shape_.pose * body.vertices[std::size_t(body.loop[std::size_t(polygon.first)])], i};
}

FlatFace ConvexBody::faceTowards(const Vector3& direction) const {
  FlatFace best;
  double most = nearlyParallel;
  for (int i = 0; i < faceCount(); ++i) {
    const FlatFace f = face(i);
    if (f.normal.dot(direction) > most) most = f.normal.dot(direction), best = f;
  }
  return best;
}

bool ConvexBody::isOnFace(const FlatFace& f, const Vector3& x) const {
  if (shape_.data.family == Family::Round) {
    const Vector3 d = x - f.point;
    return (d - d.dot(f.normal) * f.normal).norm() <= shape_.data.radius;
  }
  const Patch polygon = outline(f, 0);
  for (int k = 0; k < polygon.count; ++k) {
    const Vector3 &p = polygon.corners[std::size_t(k)].x, &q = polygon.corners[std::size_t((k + 1) % polygon.count)].x;
    if (f.normal.dot((q - p).cross(x - p)) < 0) return false;
  }
  return true;
}

Patch ConvexBody::outline(const FlatFace& f, std::uint32_t corners) const {
  Patch patch;
  patch.normal = f.normal;
  patch.id = std::uint32_t(f.index);
  if (shape_.data.family == Family::Round) {
    const Rim rim = rimOf(shape_, f.index == 0 ? shape_.data.low : shape_.data.high);
    for (std::uint32_t k = 0; k < corners; ++k) {
      const std::uint32_t turned = f.index == 0 ? corners - k : k; // counter-clockwise seen from outside
      patch.add(rim.centre + rim.radius * rim.direction(turned, corners), rimId + turned % corners, rimId + turned);
    }
    return patch;
  }
  const Polyhedron& body = shape_.data.polyhedron;
  const Polyhedron::Face& polygon = body.faces[std::size_t(f.index)];
  const int step = (polygon.count + Patch::most - 1) / Patch::most;
  for (int k = 0; k < polygon.count; k += step) {
    const auto v = std::size_t(body.loop[polygon.first + k]);
    patch.add(shape_.pose * body.vertices[v], std::uint32_t(v), std::uint32_t(body.loopEdge[polygon.first + k]));
  }
  return patch;
}

Patch ConvexBody::patch(const Vector3& direction) const {
  Patch result;
  if (const FlatFace f = faceTowards(direction); f.index >= 0)
    result = outline(f, 8);
  else
    addLine(direction, result);
  if (result.count == 0) result.add(coreSupport(shape_, direction), 0, 0);
  result.radius = radius();
  return result;
}

Patch ConvexBody::restingPoints(const Vector3& direction) const {
  const Patch all = patch(direction);
  if (shape_.data.family != Family::Round || all.count < 3) return all;
  const Vector3 lowest = coreSupport(shape_, direction);
  Patch result;
  result.radius = all.radius;
  const bool isTilted = direction.cross(all.normal).norm() > 1e-9;
  if (isTilted) result.add(lowest, lowestId, 0);
  for (int i = 0; i < all.count; i += 2) {
    const PatchCorner& corner = all.corners[std::size_t(i)];
    if (!isTilted || (corner.x - lowest).norm() > 0.3 * shape_.data.radius) result.add(corner.x, corner.id, corner.edge);
  }
  return result;
}

/// The numbers of both ends and of the line.
void ConvexBody::addEnds(const Vector3& p, const Vector3& q, const Vector3& direction, const std::array<std::uint32_t, 3>& ids,
                         Patch& patch) const {
  if (std::abs((q - p).dot(direction)) > nearlyLevel * (q - p).norm()) return;
  patch.count = 0;
  patch.id = ids[2];
  patch.add(p, ids[0], ids[2]);
  patch.add(q, ids[1], ids[2]);
}

void ConvexBody::addLine(const Vector3& direction, Patch& result) const {
  const ShapeData& d = shape_.data;
  Vector3 across = direction - direction.dot(axis_) * axis_;
  normalise(across, shape_.pose.R.col(0));
  const Vector3 low = shape_.pose.x + d.low * axis_, high = shape_.pose.x + d.high * axis_;
  constexpr std::array<std::uint32_t, 3> ids{lineId, lineId + 1, lineId};
  switch (d.shape.kind) {
  case Kind::Sphere:
  case Kind::Ellipsoid:
    return;
  case Kind::Cylinder:
  case Kind::Tube:
    return addEnds(low + d.radius * across, high + d.radius * across, direction, ids, result);
  case Kind::Cone:
    return addEnds(low + d.radius * across, high, direction, ids, result);
  case Kind::Capsule:
    return addEnds(shape_.pose.x - d.half * axis_, shape_.pose.x + d.half * axis_, direction, ids, result);
  default:
    return addEdge(direction, result);
  }
}

/// The most level edge about the farthest vertex.
void ConvexBody::addEdge(const Vector3& direction, Patch& result) const {
  const Polyhedron& body = shape_.data.polyhedron;
  const int v = body.support(shape_.pose.R.transpose() * direction);
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t e = 0; e < body.edges.size(); ++e) {
    const Polyhedron::Edge& edge = body.edges[e];
    if (edge.from != v && edge.to != v) continue;
    const Vector3 p = shape_.pose * body.vertices[std::size_t(edge.from)], q = shape_.pose * body.vertices[std::size_t(edge.to)];
    const double slope = std::abs((q - p).normalized().dot(direction));
    if (slope >= least) continue;
    least = slope;
    addEnds(p, q, direction, {std::uint32_t(edge.from), std::uint32_t(edge.to), 0x10000000u + std::uint32_t(e)}, result);
  }
}

}
