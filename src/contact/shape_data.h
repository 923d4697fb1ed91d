#pragma once
#include "tendril/contact/collision_shape.h"

#include "contact/polyhedron.h"
#include "contact/surface_mesh.h"

#include <optional>

namespace tendril {

/// What shapes have in common, in the order in which pairs are looked at: the first of a pair is the lower one.
enum class Family { Sphere, Capsule, Polyhedron, Round, Disc, Polygon, Mesh, HalfSpace };

struct CollisionShape::Data {
  Shape shape;
  Family family = Family::Sphere;
  bool aligned = false; ///< the shape's axes are those of the part
  double size = 0;
  double radius = 0; ///< sphere, capsule, cylinder, cone, disc
  double half = 0;   ///< half the length of a capsule or cylinder
  double low = 0;    ///< ends of a cylinder or cone on its axis
  double high = 0;
  Vector3 halfEdges = Vector3::Zero(); ///< box: half edges; ellipsoid: semi-axes
  Polyhedron polyhedron;               ///< box, convex mesh, core of a capsule
  std::vector<Vector3> outline;        ///< polygon, in its plane
  std::vector<Vector3> normals;        ///< of the polygon's edges, edge i from corner i to i + 1
  std::optional<SurfaceMesh> mesh;
};

using ShapeData = CollisionShape::Data;

/// A shape with the pose of its own frame.
struct PlacedShape {
  const ShapeData& data;
  Pose pose;

  PlacedShape at(const Vector3& x) const { return {data, {pose.R, x}}; }
};

/// Contacts of one pair: normals from b to a, positions relative to `origin`, which lies near the pair, so that no digits are lost far from
/// the origin of the inertial frame.
class ContactSink {
 public:
  ContactSink(std::vector<ContactPoint>& points, const Vector3& origin, double largestGap)
      : margin(largestGap), points_(points), origin_(origin), first_(points.size()) {}

  void add(const Vector3& position, const Vector3& normal, double gap, std::uint32_t feature,
           const Vector3& planeNormal = Vector3::Zero()) {
    if (gap <= margin) points_.push_back({origin_ + position, normal, gap, feature, planeNormal});
  }
  /// Adds a contact by the points where the two surfaces are.
  void addBetween(const Vector3& onA, const Vector3& onB, const Vector3& normal, double gap, std::uint32_t feature) {
    add(0.5 * (onA + onB), normal, gap, feature);
  }
  std::vector<ContactPoint>& points() { return points_; }
  std::size_t first() const { return first_; }
  const Vector3& origin() const { return origin_; }

  const double margin;

 private:
  std::vector<ContactPoint>& points_;
  Vector3 origin_;
  std::size_t first_;
};

/// Number of a pair of features.
inline std::uint32_t featurePair(std::uint32_t a, std::uint32_t b) {
  std::uint64_t h = (std::uint64_t(a) << 32 | b) + 0x9e3779b97f4a7c15u;
  h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 27) * 0x94d049bb133111ebu;
  return std::uint32_t(h ^ h >> 31);
}

/// Unit vector orthogonal to a unit vector, the same one for the same argument.
inline Vector3 anyOrthogonal(const Vector3& n) {
  int least = 0;
  n.cwiseAbs().minCoeff(&least);
  return n.cross(Vector3::Unit(least)).normalized();
}

/// d / |d| without under- or overflow, and |d|; where d vanishes, the alternative.
inline double normalise(Vector3& d, const Vector3& alternative) {
  const double largest = d.cwiseAbs().maxCoeff();
  if (!(largest > 0)) {
    d = alternative;
    return 0;
  }
  d /= largest;
  const double norm = d.norm();
  d /= norm;
  return norm * largest;
}

}
