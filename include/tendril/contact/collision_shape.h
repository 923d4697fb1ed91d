#pragma once
#include "tendril/model/shape.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// Axis-aligned box in the inertial frame.
struct Bounds {
  Vector3 low = Vector3::Zero();
  Vector3 high = Vector3::Zero();
  bool meets(const Bounds& other) const { return (low.array() <= other.high.array()).all() && (other.low.array() <= high.array()).all(); }
};

/// One place where two shapes touch or nearly touch.
struct ContactPoint {
  Vector3 position = Vector3::Zero();    ///< half-way between the two surfaces, inertial frame
  Vector3 normal = Vector3::UnitZ();     ///< unit, from the second shape towards the first
  double gap = 0;                        ///< distance along the normal; negative: overlap
  std::uint32_t feature = 0;             ///< which features of the two shapes meet here: the same number from step to step
  Vector3 planeNormal = Vector3::Zero(); ///< of plane shapes: normal of their common plane; else zero
};

/// A shape made ready for contact: hull, faces and edges of polyhedra, hierarchy of meshes. Constant, cheap to copy.
class CollisionShape {
 public:
  /// Throws InputError for what cannot collide: an open or inverted mesh, an empty or non-convex polygon, a size that is not positive; the
  /// name ("body 'box'") is what the message calls it. Tubes collide as their outer cylinder; cones as what they are.
  CollisionShape(const Shape& shape, const std::string& name);

  const Shape& shape() const;
  /// Largest extent [m]; of a half-space 0.
  double size() const;
  bool isBounded() const { return shape().kind != Shape::Kind::HalfSpace; }
  /// Bounds of the shape on a part with the given pose.
  Bounds bounds(const Pose& part) const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  std::shared_ptr<const Data> data_;
};

/// Appends all places where the distance of two shapes, on parts with the given poses, is at most `margin`.
///
/// Where faces rest on faces, or edges on faces, the corners of the area they share are given (up to eight points), so that a body rests
/// on what carries it; their feature numbers stay the same while the bodies slide and rock. Pairs of spheres, planes, boxes, capsules,
/// cylinders and plane shapes are in closed form, good to round-off; others (ellipsoids, cones, meshes) are refined to round-off by
/// Newton's method where the surfaces are smooth. Deterministic; symmetric in its two arguments up to the sign of the normal.
void findContacts(const CollisionShape& first, const Pose& firstPart, const CollisionShape& second, const Pose& secondPart, double margin,
                  std::vector<ContactPoint>& points);

}
