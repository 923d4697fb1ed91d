#pragma once
#include "tendril/lie/types.h"

#include <array>
#include <memory>
#include <vector>

namespace tendril {

/// Vertices and triangles; seen from outside the corners of a triangle turn counter-clockwise.
struct TriangleMesh {
  std::vector<Vector3> vertices;
  std::vector<std::array<int, 3>> triangles;
};

/// Outline of a rigid part, for pictures and for contact, in the frame of the part or at an offset from it. Its axis is e3.
///
/// Disc and Polygon are plane: they lie in the plane e1, e2 and touch other plane shapes, and half-spaces whose normal lies in that plane,
/// along lines of that plane only.
struct Shape {
  enum class Kind { Sphere, Box, Cylinder, Capsule, Tube, Cone, Ellipsoid, HalfSpace, ConvexMesh, TriangleMesh, Disc, Polygon };
  Kind kind = Kind::Sphere;
  /// Sphere, disc: radius; box: edges; cylinder, capsule, cone: radius, length; tube: outer, inner radius, length; ellipsoid: semi-axes.
  /// The length of a capsule is that of its cylindrical part. The frame of a cone lies in its centroid, a quarter of its length above its
  /// base, its apex along +e3; those of the others lie in their middle.
  Vector3 size = Vector3::Zero();
  Pose pose; ///< of the shape's frame in the part's. A half-space lies below its plane e3 = 0.
  /// Convex mesh (its convex hull is taken) and triangle mesh; the vertices of a polygon (e3 = 0, convex, counter-clockwise, no triangles).
  std::shared_ptr<const tendril::TriangleMesh> mesh{};
  /// Sphere and disc: what is solid is the outside, as of a ball in a round room or a point on a string.
  bool hollow = false;
  /// Triangle mesh: need not be closed, as of terrain; what is solid lies below the triangles, against their normals.
  bool open = false;

  bool isPlane() const { return kind == Kind::Disc || kind == Kind::Polygon; }
};

}
