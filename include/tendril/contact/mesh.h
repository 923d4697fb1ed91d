#pragma once
#include "tendril/model/shape.h"

#include <filesystem>
#include <memory>
#include <string>

namespace tendril {

/// Reads a Wavefront OBJ or an STL file (text or binary); polygons are cut into triangles, equal vertices merged. Throws InputError with
/// file and line.
std::shared_ptr<const TriangleMesh> readMesh(const std::filesystem::path& file);

/// Convex hull of points, its triangles counter-clockwise seen from outside. Throws InputError if the points lie in a plane.
TriangleMesh convexHull(const std::vector<Vector3>& points);

/// Why a mesh does not bound a solid (open edges, edges of more than two triangles, triangles that turn the wrong way, no volume), with the
/// triangle and the remedy; empty if it does.
std::string findMeshDefect(const TriangleMesh& mesh);

/// Volume, centroid and inertia about the centroid of the solid of unit density that a closed mesh bounds.
struct SolidMoments {
  double volume = 0;
  Vector3 centroid = Vector3::Zero();
  Matrix3 inertia = Matrix3::Zero();
};
SolidMoments solidMoments(const TriangleMesh& mesh);

}
