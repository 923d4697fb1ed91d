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
  bool meets(const Bounds& other) const {
    int apart = 0; // without branches, which would be guessed wrong half the time
    for (int k = 0; k < 3; ++k) apart |= int(low[k] > other.high[k]) | int(other.low[k] > high[k]);
    return apart == 0;
  }
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
  bool isBounded() const { return shape().kind != Shape::Kind::HalfSpace && !shape().hollow; }
  /// Bounds of the shape on a part with the given pose.
  Bounds bounds(const Pose& part) const;

  struct Data;
  const Data& data() const { return *data_; }

 private:
  std::shared_ptr<const Data> data_;
};

/// Whether contacts between shapes of two such kinds can be found at all. Not between half-spaces, hollow shapes or triangle meshes among
/// themselves, nor between plane shapes and solids other than half-spaces.
bool canTouch(const CollisionShape& first, const CollisionShape& second);

/// Appends all places where the distance of two shapes, on parts with the given poses, is at most `margin`.
///
/// The gap of the deepest contact is the distance of the shapes or, where they overlap, the length of the shortest way out; its normal is
/// that direction. Pairs of spheres, half-spaces, boxes, capsules, polyhedra and plane shapes, and of spheres with all solids, are in
/// closed form; cylinders, cones and ellipsoids are refined to round-off by Newton's method on the features that touch.
///
/// Where faces rest on faces, edges or lines on faces, or lines along lines, the corners of what they share are given (up to eight points),
/// so that a body rests on what carries it; they never lie deeper than the deepest. Their feature numbers stay the same while the bodies
/// slide and rock: of faces that are parallel to 1e-3 the one that carries stays the same until another direction is shorter by 5 % of the
/// overlap, so only there may a gap exceed the shortest way by as much.
///
/// Against a triangle mesh the normal lies in the normal cone of the surface (of a triangle, between the sides of a ridge, of a peak), so
/// inner edges of plane ground are not felt; every triangle, ridge and peak that is touched counts, and an overlap beyond half the size of
/// the shape is none. Two meshes, two half-spaces, and plane shapes with solids other than half-spaces do not touch. The solid of a hollow
/// sphere or disc touches the points of a shape farthest from its centre: gap = R - r - |d|.
///
/// Deterministic; the same for exchanged arguments up to the sign of the normal. Takes no memory but for `points` once it has worked on
/// shapes as large.
void findContacts(const CollisionShape& first, const Pose& firstPart, const CollisionShape& second, const Pose& secondPart, double margin,
                  std::vector<ContactPoint>& points);

}
