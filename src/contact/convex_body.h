#pragma once
#include "contact/face_clipping.h"

namespace tendril {

/// Flat part of a convex shape's surface.
struct FlatFace {
  Vector3 normal = Vector3::Zero(); ///< outward
  Vector3 point = Vector3::Zero();
  int index = -1; ///< of a polyhedron's face; 0 low, 1 high end of a cylinder or cone; -1: none
};

/// A convex shape of a pair (the core of a sphere or a capsule): its flat faces, and what it offers in a direction.
class ConvexBody {
 public:
  /// Cosine above which a face counts as looking in a direction, so that it carries what rests on it.
  static constexpr double nearlyParallel = 0.98;
  /// Sine of the angle to a plane below which a straight line of the surface counts as lying in it.
  static constexpr double nearlyLevel = 0.1;
  /// Numbers of features that are not corners or edges of polyhedra.
  static constexpr std::uint32_t rimId = 0x20000000u, lineId = 0x30000000u, lowestId = 0x38000000u;

  explicit ConvexBody(const PlacedShape& shape) : shape_(shape), axis_(shape.pose.R.col(2)) {}

  const PlacedShape& shape() const { return shape_; }
  double radius() const;
  int faceCount() const;
  FlatFace face(int i) const;
  /// The face that looks most in a direction, if any nearly does.
  FlatFace faceTowards(const Vector3& direction) const;
  bool isOnFace(const FlatFace& face, const Vector3& x) const;
  /// Polygon of a face; `corners` points of a rim.
  Patch outline(const FlatFace& face, std::uint32_t corners) const;
  /// Face, line or point that the shape offers in a direction.
  Patch patch(const Vector3& direction) const;
  /// The corners of the patch, and of a rim its farthest point instead of the fixed ones close to it. No polygon.
  Patch restingPoints(const Vector3& direction) const;

 private:
  void addEnds(const Vector3& p, const Vector3& q, const Vector3& direction, const std::array<std::uint32_t, 3>& ids, Patch& patch) const;
  void addLine(const Vector3& direction, Patch& result) const;
  void addEdge(const Vector3& direction, Patch& result) const;

  const PlacedShape& shape_;
  Vector3 axis_;
};

}
