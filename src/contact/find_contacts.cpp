#include "contact/pair_kernels.h"

#include <cmath>

namespace tendril {

namespace {

/// The shape's frame relative to a point: the difference of positions is taken first.
Pose placed(const ShapeData& shape, const Pose& part, const Vector3& origin) {
  const Vector3 x = (part.x - origin) + part.R * shape.shape.pose.x;
  return {shape.aligned ? part.R : Matrix3(part.R * shape.shape.pose.R), x};
}

bool isSolid(const ShapeData& shape) { return !shape.shape.hollow && !shape.shape.isPlane() && shape.family != Family::HalfSpace; }

using Kernel = void (*)(const PlacedShape&, const PlacedShape&, ContactSink&);

/// For shapes in the order of families; null where nothing can touch.
Kernel kernelOf(const ShapeData& a, const ShapeData& b) {
  if (a.shape.isPlane() && b.shape.isPlane()) return planeShapes;
  if (a.shape.isPlane() || b.shape.isPlane()) return b.family == Family::HalfSpace ? planeShapes : nullptr;
  if (b.family == Family::HalfSpace) return a.shape.hollow || a.family == Family::HalfSpace ? nullptr : shapeAndHalfSpace;
  if (b.shape.hollow) return isSolid(a) ? solidInHollow : nullptr;
  if (!isSolid(a)) return nullptr;
  if (b.family == Family::Mesh) return a.family == Family::Mesh ? nullptr : convexAndMesh;
  if (a.family == Family::Sphere) return sphereAndSolid;
  if (b.family == Family::Round) return convexAndRound;
  return b.family == Family::Capsule ? capsuleAndCapsule : polyhedronAndPolyhedron;
}

void findOrdered(const ShapeData& a, const Pose& partA, const ShapeData& b, const Pose& partB, double margin,
                 std::vector<ContactPoint>& points) {
  const Kernel kernel = kernelOf(a, b);
  if (!kernel) return;
  // Positions are counted from the frame of the first shape, found once in the inertial frame.
  const Vector3 offset = partA.R * a.shape.pose.x;
  const PlacedShape placedA{a, {a.aligned ? partA.R : Matrix3(partA.R * a.shape.pose.R), Vector3::Zero()}};
  PlacedShape placedB{b, placed(b, partB, partA.x)};
  placedB.pose.x -= offset;
  ContactSink sink(points, partA.x + offset, margin);
  kernel(placedA, placedB, sink);
}

bool findSpheres(const ShapeData& a, const Pose& partA, const ShapeData& b, const Pose& partB, double margin,
                 std::vector<ContactPoint>& points) {
  if (a.family != Family::Sphere || b.family != Family::Sphere || a.shape.hollow || b.shape.hollow) return false;
  Vector3 d = (partA.x - partB.x) + (partA.R * a.shape.pose.x - partB.R * b.shape.pose.x);
  const double reach = a.radius + b.radius + margin, squared = d.squaredNorm();
  if (reach < 0 || squared > reach * reach) return true;
  const double distance = squared > 1e-280 ? std::sqrt(squared) : 0;
  const Vector3 normal = distance > 0 ? Vector3(d / distance) : Vector3::UnitZ();
  const Vector3 centre = partB.x + partB.R * b.shape.pose.x;
  points.push_back({centre + 0.5 * (distance + b.radius - a.radius) * normal, normal, distance - a.radius - b.radius, 0, Vector3::Zero()});
  return true;
}

/// The hollow one of two goes last, whatever its family.
bool mustSwap(const ShapeData& a, const ShapeData& b) { return a.shape.hollow != b.shape.hollow ? a.shape.hollow : a.family > b.family; }

}

bool canTouch(const CollisionShape& first, const CollisionShape& second) {
  const ShapeData &a = first.data(), &b = second.data();
  return (mustSwap(a, b) ? kernelOf(b, a) : kernelOf(a, b)) != nullptr;
}

void findContacts(const CollisionShape& first, const Pose& firstPart, const CollisionShape& second, const Pose& secondPart, double margin,
                  std::vector<ContactPoint>& points) {
  const ShapeData &a = first.data(), &b = second.data();
  if (findSpheres(a, firstPart, b, secondPart, margin, points)) return;
  if (!mustSwap(a, b)) return findOrdered(a, firstPart, b, secondPart, margin, points);
  const std::size_t begin = points.size();
  findOrdered(b, secondPart, a, firstPart, margin, points);
  for (std::size_t i = begin; i < points.size(); ++i) points[i].normal = -points[i].normal;
}

}
