#include "scenes/scene_shapes.h"

#include "scenes/scene_reader.h"
#include "tendril/documents/fingerprint.h"
#include "tendril/lie/so3.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tendril::scenes {

namespace fs = std::filesystem;
using Points = std::vector<Eigen::Vector2d>;

// ---- meshes ----------------------------------------------------------------------------------------------------------------------------

namespace {

/// Unique for the text of the scene, so that files of one name in several folders do not meet.
std::string copyName(const std::string& text) {
  return std::to_string(fingerprint(text) % 1000000) + "-" + fs::path(text).filename().string();
}

MeshFile locate(const Record& record, const std::string& remedy) {
  const Node node = record.node("file");
  const std::string text = record.text("file");
  const fs::path folder = fs::path(node.location().file).parent_path();
  MeshFile file{folder / text, copyName(text)};
  std::error_code status;
  if (fs::is_regular_file(file.path, status)) return file;
  const fs::path copy = folder / MeshLibrary::copies / file.copyName;
  if (!fs::is_regular_file(copy, status)) node.refuse("there is no file " + file.path.string(), remedy);
  file.path = copy;
  return file;
}

std::shared_ptr<const TriangleMesh> scaled(std::shared_ptr<const TriangleMesh> mesh, double unit) {
  if (unit == 1) return mesh;
  TriangleMesh copy = *mesh;
  for (Vector3& vertex : copy.vertices) vertex *= unit;
  return std::make_shared<const TriangleMesh>(std::move(copy));
}

/// A mesh is convex if it fills its hull.
bool fillsItsHull(const TriangleMesh& mesh, double volume) { return solidMoments(convexHull(mesh.vertices)).volume <= volume * (1 + 1e-9); }

}

const MeshLibrary::Entry& MeshLibrary::read(const Record& shape) {
  const std::string text = shape.text("file");
  const double unit = shape.number("unit");
  if (const auto found = entries_.find({text, unit}); found != entries_.end()) return found->second;
  find(shape, "give the path of an OBJ or STL file, relative to the scene");
  return placed(shape.node("file"), [&]() -> const Entry& {
    Entry entry{scaled(readMesh(files_.at(text).path), unit), "", {}, false};
    entry.defect = findMeshDefect(*entry.mesh);
    if (entry.defect.empty()) {
      entry.moments = solidMoments(*entry.mesh);
      entry.isConvex = fillsItsHull(*entry.mesh, entry.moments.volume);
    }
    return entries_.emplace(std::pair(text, unit), std::move(entry)).first->second;
  });
}

const fs::path& MeshLibrary::find(const Record& record, const std::string& remedy) {
  const std::string text = record.text("file");
  if (!files_.contains(text)) files_.emplace(text, locate(record, remedy));
  return files_.at(text).path;
}

std::vector<MeshFile> MeshLibrary::files() const {
  std::vector<MeshFile> list;
  for (const auto& item : files_) list.push_back(item.second);
  return list;
}

// ---- shapes ----------------------------------------------------------------------------------------------------------------------------

namespace {

double cross(const Eigen::Vector2d& a, const Eigen::Vector2d& b) { return a[0] * b[1] - a[1] * b[0]; }

double signedArea(const Points& corners) {
  double twice = 0;
  for (std::size_t i = 0; i < corners.size(); ++i) twice += cross(corners[i], corners[(i + 1) % corners.size()]);
  return twice / 2;
}

/// Corners of a polygon, counter-clockwise.
Points readCorners(const Record& r) {
  const Eigen::MatrixXd rows = r.matrix("points");
  Points corners;
  for (int i = 0; i < rows.rows(); ++i) corners.emplace_back(rows(i, 0), rows(i, 1));
  const double area = corners.size() < 3 ? 0 : signedArea(corners);
  if (area == 0) r.node("points").refuse("the polygon has no area", "give at least three corners in their order");
  if (area < 0) std::reverse(corners.begin(), corners.end());
  return corners;
}

std::shared_ptr<const TriangleMesh> meshOf(const Points& corners) {
  TriangleMesh mesh;
  for (const Eigen::Vector2d& corner : corners) mesh.vertices.emplace_back(corner[0], corner[1], 0);
  return std::make_shared<const TriangleMesh>(std::move(mesh));
}

Shape readMeshShape(const Record& r, MeshLibrary& meshes) {
  const MeshLibrary::Entry& entry = meshes.read(r);
  const bool isOpen = r.boolean("open");
  const bool isConvex = r.has("convex") ? r.boolean("convex") : entry.isConvex && !isOpen;
  if (isOpen && isConvex) r.node("open").refuse("a convex hull is closed", "remove `convex` or `open`");
  Shape shape{.kind = isConvex ? Shape::Kind::ConvexMesh : Shape::Kind::TriangleMesh, .mesh = entry.mesh};
  shape.open = isOpen;
  return shape;
}

Shape readHalfSpace(const Record& r) {
  const Vector3 normal = r.vector3("normal");
  if (!(normal.norm() > 0)) r.node("normal").refuse("the normal is zero", "give the direction out of the solid side");
  return {.kind = Shape::Kind::HalfSpace, .pose = {so3::shortestRotation(Vector3::UnitZ(), normal), {}}};
}

/// In its own frame.
Shape readPlainShape(const Record& r, MeshLibrary& meshes) {
  const std::string& kind = r.variant();
  const auto length = [&](const char* key) { return r.number(key); };
  const bool isHollow = (kind == "sphere" || kind == "disc") && r.has("hollow") && r.boolean("hollow");
  if (kind == "sphere") return {.kind = Shape::Kind::Sphere, .size = {length("radius"), 0, 0}, .hollow = isHollow};
  if (kind == "disc") return {.kind = Shape::Kind::Disc, .size = {length("radius"), 0, 0}, .hollow = isHollow};
  if (kind == "box") return {.kind = Shape::Kind::Box, .size = r.vector3("size")};
  if (kind == "cylinder") return {.kind = Shape::Kind::Cylinder, .size = {length("radius"), length("length"), 0}};
  if (kind == "capsule") return {.kind = Shape::Kind::Capsule, .size = {length("radius"), length("length"), 0}};
  if (kind == "cone") return {.kind = Shape::Kind::Cone, .size = {length("radius"), length("length"), 0}};
  if (kind == "tube") return {.kind = Shape::Kind::Tube, .size = {length("outer_radius"), length("inner_radius"), length("length")}};
  if (kind == "mesh") return readMeshShape(r, meshes);
  if (kind == "half-space") return readHalfSpace(r);
  if (kind == "polygon") return {.kind = Shape::Kind::Polygon, .mesh = meshOf(readCorners(r))};
  return {.kind = Shape::Kind::Ellipsoid, .size = r.vector3("semi_axes")};
}

}

Pose readPose(const Record& r) { return {readOrientation(r.node("orientation")), r.vector3("position")}; }

Shape readShape(const Record& r, MeshLibrary& meshes) {
  Shape shape = readPlainShape(r, meshes);
  shape.pose = readPose(r) * shape.pose;
  return shape;
}

std::vector<Shape> readShapes(const Record& owner, MeshLibrary& meshes) {
  std::vector<Shape> shapes;
  for (const Record& shape : owner.objects("shapes")) shapes.push_back(readShape(shape, meshes));
  return shapes;
}

// ---- mass ------------------------------------------------------------------------------------------------------------------------------

namespace {

/// A plate in the plane e1, e2 with the given moments about its centroid, per mass.
MassProperties plate(double mass, const Eigen::Vector2d& centroid, const Eigen::Matrix2d& squares) {
  Matrix3 inertia = Matrix3::Zero();
  inertia.topLeftCorner<2, 2>() = mass * (squares.trace() * Eigen::Matrix2d::Identity() - squares);
  inertia(2, 2) = mass * squares.trace();
  return {mass, {centroid[0], centroid[1], 0}, inertia};
}

/// Sum over the triangles that the corners span with the origin.
MassProperties polygon(double density, const Points& corners) {
  double area = 0;
  Eigen::Vector2d first = Eigen::Vector2d::Zero();
  Eigen::Matrix2d second = Eigen::Matrix2d::Zero();
  for (std::size_t i = 0; i < corners.size(); ++i) {
    const Eigen::Vector2d &a = corners[i], &b = corners[(i + 1) % corners.size()], sum = a + b;
    const double part = cross(a, b) / 2;
    area += part;
    first += part / 3 * sum;
    second += part / 12 * (a * a.transpose() + b * b.transpose() + sum * sum.transpose());
  }
  const Eigen::Vector2d centroid = first / area;
  return plate(density * area, centroid, second / area - centroid * centroid.transpose());
}

MassProperties massOf(const Record& r, double density, MeshLibrary& meshes) {
  const std::string& kind = r.variant();
  if (kind == "sphere") return MassProperties::sphere(density, r.number("radius"));
  if (kind == "box") return MassProperties::box(density, r.vector3("size"));
  if (kind == "cylinder") return MassProperties::cylinder(density, r.number("radius"), r.number("length"));
  if (kind == "capsule") return MassProperties::capsule(density, r.number("radius"), r.number("length"));
  if (kind == "tube") return MassProperties::tube(density, r.number("inner_radius"), r.number("outer_radius"), r.number("length"));
  if (kind == "cone") return MassProperties::cone(density, r.number("radius"), r.number("length"));
  if (kind == "ellipsoid") return MassProperties::ellipsoid(density, r.vector3("semi_axes"));
  if (kind == "polygon") return polygon(density, readCorners(r));
  if (kind == "disc") {
    const double square = r.number("radius") * r.number("radius");
    return plate(density * std::numbers::pi * square, Eigen::Vector2d::Zero(), square / 4 * Eigen::Matrix2d::Identity());
  }
  const MeshLibrary::Entry& entry = meshes.read(r);
  if (!entry.defect.empty()) r.node("file").refuse("the mesh bounds no solid, so it has no mass: " + entry.defect, "");
  return {density * entry.moments.volume, entry.moments.centroid, density * entry.moments.inertia};
}

/// The sum of the shapes, each with its own density or all with the same.
MassProperties sumOfShapes(const Record& body, bool ownDensity, MeshLibrary& meshes) {
  MassProperties sum;
  for (const Record& shape : body.objects("shapes")) {
    if (ownDensity && !shape.has("density")) {
      shape.node().refuse("without a mass of the body, each of its shapes needs a density", "add `density:` here, or `mass:` to the body");
    }
    if (!ownDensity && shape.has("density")) {
      shape.node("density").refuse("the body's mass is given, so its shapes take no density", "remove one of the two");
    }
    sum = sum + massOf(shape, ownDensity ? shape.number("density") : 1, meshes).placed(readPose(shape));
  }
  return sum;
}

}

MassProperties readMass(const Record& body, MeshLibrary& meshes) {
  const bool hasMass = body.has("mass"), hasInertia = body.has("inertia"), hasShapes = !body.objects("shapes").empty();
  if (hasMass && hasInertia) return {body.number("mass"), body.vector3("centre"), readInertia(body.node("inertia"))};
  if (hasInertia) body.node("inertia").refuse("an inertia needs the mass, too", "add `mass:` to the body");
  if (!hasShapes) {
    body.node().refuse("this body has no mass", "give `mass` and `inertia`, or `mass` and `shapes`, or `shapes` with `density`");
  }
  MassProperties properties = sumOfShapes(body, !hasMass, meshes);
  if (hasMass) {
    const double density = body.number("mass") / properties.mass;
    properties.mass *= density;
    properties.inertia *= density;
  }
  return properties;
}

}
