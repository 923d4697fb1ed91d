#include "contact/pair_kernels.h"
#include "contact/round_parts.h"

namespace tendril {

namespace {

/// A plane with what is solid below it.
class HalfSpacePair {
 public:
  HalfSpacePair(const PlacedShape& b, ContactSink& sink) : normal_(b.pose.R.col(2)), offset_(normal_.dot(b.pose.x)), sink_(sink) {}

  /// A point with a ball about it.
  void add(const Vector3& point, double ball, std::uint32_t feature) {
    const double height = normal_.dot(point) - offset_;
    sink_.add(point - 0.5 * (height + ball) * normal_, normal_, height - ball, feature);
  }

  /// The lowest point of the rim and, where its disc lies nearly flat on the plane, four fixed ones that are not close to it.
  void addRim(const Rim& rim, std::uint32_t feature) {
    const double cosine = rim.axis.dot(normal_);
    const Vector3 uphill = normal_ - cosine * rim.axis;
    const double sine = uphill.norm();
    const Vector3 lowest = sine > 1e-9 ? Vector3(-rim.radius / sine * uphill) : Vector3::Zero();
    if (sine > 1e-9) add(rim.centre + lowest, 0, feature);
    if (std::abs(cosine) < 0.9) return;
    for (std::uint32_t k = 0; k < 4; ++k) {
      const Vector3 fixed = rim.radius * rim.direction(k, 4);
      if ((fixed - lowest).norm() > 0.3 * rim.radius) add(rim.centre + fixed, 0, feature + 10 + k);
    }
  }

  void addEllipsoid(const PlacedShape& a) {
    const Vector3 local = a.data.halfEdges.cwiseProduct(a.pose.R.transpose() * normal_);
    const double extent = local.norm();
    add(a.pose * -a.data.halfEdges.cwiseProduct(local / extent), 0, 0);
  }

  void addAll(const std::vector<Vector3>& vertices, const PlacedShape& a, const Matrix3& frame) {
    for (std::size_t v = 0; v < vertices.size(); ++v) add(a.pose * vertices[v], 0, std::uint32_t(v));
    keepSpread(sink_, normal_, frame);
  }

 private:
  Vector3 normal_;
  double offset_;
  ContactSink& sink_;
};

}

void shapeAndHalfSpace(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) {
  HalfSpacePair pair(b, sink);
  if (addRoundParts(a, pair)) return;
  switch (a.data.shape.kind) {
  case Shape::Kind::Box:
  case Shape::Kind::ConvexMesh:
    return pair.addAll(a.data.polyhedron.vertices, a, a.pose.R);
  case Shape::Kind::TriangleMesh:
    return pair.addAll(a.data.mesh->vertices(), a, a.pose.R);
  case Shape::Kind::Ellipsoid:
    return pair.addEllipsoid(a);
  default:
    return;
  }
}

}
