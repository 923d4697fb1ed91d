#include "contact/mesh_defect.h"
#include "contact/shape_data.h"

#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

using Kind = Shape::Kind;

const char* nameOf(Kind kind) {
  switch (kind) {
  case Kind::Sphere:
    return "sphere";
  case Kind::Box:
    return "box";
  case Kind::Cylinder:
    return "cylinder";
  case Kind::Capsule:
    return "capsule";
  case Kind::Tube:
    return "tube";
  case Kind::Cone:
    return "cone";
  case Kind::Ellipsoid:
    return "ellipsoid";
  case Kind::HalfSpace:
    return "half-space";
  case Kind::ConvexMesh:
    return "convex mesh";
  case Kind::TriangleMesh:
    return "triangle mesh";
  case Kind::Disc:
    return "disc";
  case Kind::Polygon:
    return "polygon";
  }
  return "shape";
}

Family familyOf(Kind kind) {
  switch (kind) {
  case Kind::Sphere:
    return Family::Sphere;
  case Kind::Capsule:
    return Family::Capsule;
  case Kind::Box:
  case Kind::ConvexMesh:
    return Family::Polyhedron;
  case Kind::Cylinder:
  case Kind::Tube:
  case Kind::Cone:
  case Kind::Ellipsoid:
    return Family::Round;
  case Kind::HalfSpace:
    return Family::HalfSpace;
  case Kind::TriangleMesh:
    return Family::Mesh;
  case Kind::Disc:
    return Family::Disc;
  case Kind::Polygon:
    return Family::Polygon;
  }
  return Family::Sphere;
}

/// Builds the data of one shape; its errors begin with the name that the author knows.
class Builder {
 public:
  Builder(const Shape& shape, const std::string& name, ShapeData& data) : shape_(shape), name_(name), data_(data) {}

  void build() {
    data_.shape = shape_;
    data_.family = familyOf(shape_.kind);
    data_.aligned = shape_.pose.R == Matrix3::Identity();
    if (!shape_.pose.R.allFinite() || !shape_.pose.x.allFinite()) fail("its pose is not finite; check its position and directions");
    if ((shape_.pose.R.transpose() * shape_.pose.R - Matrix3::Identity()).cwiseAbs().maxCoeff() > 1e-9) {
      fail("the directors of its pose are not orthonormal; give a rotation");
    }
    if (shape_.hollow && shape_.kind != Kind::Sphere && shape_.kind != Kind::Disc) fail("only a sphere or a disc can be hollow");
    if (shape_.open && shape_.kind != Kind::TriangleMesh) fail("only a triangle mesh can be open");
    buildKind();
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(name_ + ": the " + nameOf(shape_.kind) + " cannot touch: " + what);
  }

  double positive(int i, const char* what) const {
    const double value = shape_.size[i];
    if (!(value > 0) || !std::isfinite(value)) fail(std::string(what) + " must be positive and finite, not " + std::to_string(value));
    return value;
  }

  void buildKind() {
    switch (shape_.kind) {
    case Kind::Sphere:
    case Kind::Disc:
      return buildRound();
    case Kind::Capsule:
      return buildCapsule();
    case Kind::Cylinder:
    case Kind::Tube:
      return buildCylinder();
    case Kind::Cone:
      return buildCone();
    case Kind::Ellipsoid:
      data_.halfEdges = {positive(0, "its first semi-axis"), positive(1, "its second semi-axis"), positive(2, "its third semi-axis")};
      data_.size = 2 * data_.halfEdges.maxCoeff();
      return;
    case Kind::Box:
      data_.halfEdges = 0.5 * Vector3(positive(0, "its first edge"), positive(1, "its second edge"), positive(2, "its third edge"));
      data_.polyhedron = Polyhedron::box(data_.halfEdges);
      data_.size = data_.polyhedron.size;
      return;
    case Kind::ConvexMesh:
      return buildHull();
    case Kind::TriangleMesh:
      return buildMesh();
    case Kind::Polygon:
      return buildPolygon();
    case Kind::HalfSpace:
      return;
    }
  }

  void buildRound() {
    data_.radius = positive(0, "its radius");
    data_.size = 2 * data_.radius;
  }

  void buildCapsule() {
    data_.radius = positive(0, "its radius");
    data_.half = positive(1, "the length of its cylindrical part") / 2;
    data_.polyhedron = Polyhedron::segment({0, 0, -data_.half}, {0, 0, data_.half});
    data_.size = 2 * (data_.radius + data_.half);
  }

  void buildCylinder() {
    const bool isTube = shape_.kind == Kind::Tube;
    data_.radius = positive(0, isTube ? "its outer radius" : "its radius");
    data_.half = positive(isTube ? 2 : 1, "its length") / 2;
    if (isTube && !(shape_.size[1] >= 0 && shape_.size[1] < data_.radius)) fail("its inner radius must lie between 0 and the outer radius");
    data_.low = -data_.half;
    data_.high = data_.half;
    data_.size = 2 * std::hypot(data_.radius, data_.half);
  }

  void buildCone() {
    data_.radius = positive(0, "the radius of its base");
    const double length = positive(1, "its length");
    data_.low = -length / 4;
    data_.high = 3 * length / 4;
    data_.size = std::max(2 * data_.radius, std::hypot(data_.radius, length));
  }

  const TriangleMesh& mesh() const {
    if (!shape_.mesh || shape_.mesh->vertices.empty()) fail("it has no vertices; give a mesh");
    for (const Vector3& v : shape_.mesh->vertices) {
      if (!v.allFinite()) fail("a vertex is not finite");
    }
    return *shape_.mesh;
  }

  void buildHull() {
    data_.polyhedron = Polyhedron::hull(mesh().vertices);
    if (data_.polyhedron.faces.empty()) fail("its vertices lie in a plane; give at least four that do not");
    data_.size = data_.polyhedron.size;
  }

  void buildMesh() {
    const std::string defect = shape_.open ? findSurfaceDefect(mesh()) : findMeshDefect(mesh());
    if (!defect.empty()) fail(defect);
    data_.mesh.emplace(mesh());
    Vector3 low = mesh().vertices[0], high = low;
    for (const Vector3& v : mesh().vertices) low = low.cwiseMin(v), high = high.cwiseMax(v);
    data_.size = (high - low).norm();
  }

  void buildPolygon() {
    data_.outline = mesh().vertices;
    const std::size_t n = data_.outline.size();
    if (n < 3) fail("a polygon has at least three corners");
    for (const Vector3& v : data_.outline) data_.size = std::max(data_.size, (v - data_.outline[0]).norm());
    for (std::size_t i = 0; i < n; ++i) {
      const Vector3 a = data_.outline[i], along = data_.outline[(i + 1) % n] - a,
                    next = data_.outline[(i + 2) % n] - data_.outline[(i + 1) % n];
      const std::string corner = std::to_string(i + 1);
      if (std::abs(a[2]) > 1e-12 * data_.size) fail("corner " + corner + " does not lie in the plane e3 = 0");
      if (!(along.norm() > 1e-12 * data_.size)) fail("corner " + corner + " equals the next one");
      if (!(along.cross(next)[2] > 0)) {
        fail("it is not convex or not counter-clockwise at corner " + std::to_string((i + 1) % n + 1) + "; put it together of convex ones");
      }
      data_.outline[i][2] = 0;
      data_.normals.push_back(Vector3(along[1], -along[0], 0).normalized());
    }
    double turn = 0; // of the edges; more than once for a star that is convex at each corner
    for (std::size_t i = 0; i < n; ++i) {
      const Vector3 &p = data_.normals[i], &q = data_.normals[(i + 1) % n];
      turn += std::atan2(p.cross(q)[2], p.dot(q));
    }
    if (turn > 7) fail("its outline crosses itself; put it together of convex ones");
  }

  const Shape& shape_;
  const std::string& name_;
  ShapeData& data_;
};

/// Extent of a circle of radius r about an axis, along the three axes of the frame that the axis is given in.
Vector3 circleExtent(const Vector3& axis, double r) { return r * (1 - axis.array().square()).max(0).sqrt().matrix(); }

Bounds boundsOf(const std::vector<Vector3>& points, const Pose& pose) {
  const double infinity = std::numeric_limits<double>::infinity();
  Bounds bounds{Vector3::Constant(infinity), Vector3::Constant(-infinity)};
  for (const Vector3& p : points) {
    const Vector3 x = pose * p;
    bounds.low = bounds.low.cwiseMin(x);
    bounds.high = bounds.high.cwiseMax(x);
  }
  return bounds;
}

/// A half-space is bounded only along an axis that its normal is parallel to.
Bounds halfSpaceBounds(const Pose& pose) {
  const double infinity = std::numeric_limits<double>::infinity();
  Bounds bounds{Vector3::Constant(-infinity), Vector3::Constant(infinity)};
  for (int k = 0; k < 3; ++k) {
    if (pose.R.col(2) == Vector3::Unit(k)) bounds.high[k] = pose.x[k];
    if (pose.R.col(2) == -Vector3::Unit(k)) bounds.low[k] = pose.x[k];
  }
  return bounds;
}

Bounds centred(const Vector3& x, const Vector3& extent) { return {x - extent, x + extent}; }

}

CollisionShape::CollisionShape(const Shape& shape, const std::string& name) {
  auto data = std::make_shared<Data>();
  Builder(shape, name, *data).build();
  data_ = std::move(data);
}

const Shape& CollisionShape::shape() const { return data_->shape; }

double CollisionShape::size() const { return data_->size; }

Bounds CollisionShape::bounds(const Pose& part) const {
  const Data& d = *data_;
  const double infinity = std::numeric_limits<double>::infinity();
  if (d.shape.hollow) return {Vector3::Constant(-infinity), Vector3::Constant(infinity)};
  if (d.family == Family::Sphere) return centred(part * d.shape.pose.x, Vector3::Constant(d.radius));
  const Pose pose = part * d.shape.pose;
  const Vector3 axis = pose.R.col(2);
  switch (d.shape.kind) {
  case Kind::HalfSpace:
    return halfSpaceBounds(pose);
  case Kind::Capsule:
    return centred(pose.x, d.half * axis.cwiseAbs() + Vector3::Constant(d.radius));
  case Kind::Box:
    return centred(pose.x, pose.R.cwiseAbs() * d.halfEdges);
  case Kind::Ellipsoid:
    return centred(pose.x, (pose.R * d.halfEdges.asDiagonal()).rowwise().norm());
  case Kind::Disc:
    return centred(pose.x, circleExtent(axis, d.radius));
  case Kind::Cylinder:
  case Kind::Tube:
    return centred(pose.x, d.half * axis.cwiseAbs() + circleExtent(axis, d.radius));
  case Kind::Cone: {
    const Vector3 base = pose.x + d.low * axis, apex = pose.x + d.high * axis, extent = circleExtent(axis, d.radius);
    return {apex.cwiseMin(base - extent), apex.cwiseMax(base + extent)};
  }
  case Kind::Polygon:
    return boundsOf(d.outline, pose);
  case Kind::ConvexMesh:
    return boundsOf(d.polyhedron.vertices, pose);
  default:
    return boundsOf(d.mesh->vertices(), pose);
  }
}

}
