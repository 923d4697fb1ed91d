#include "tendril/contact/mesh.h"

#include "contact/edge_uses.h"
#include "contact/mesh_defect.h"
#include "contact/polyhedron.h"

#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <utility>

namespace tendril {

namespace {

std::string numbered(const char* what, std::size_t index) { return std::string(what) + " " + std::to_string(index + 1); }

std::string findTriangleDefect(const TriangleMesh& mesh) {
  if (mesh.triangles.empty()) return "it has no triangles";
  for (std::size_t v = 0; v < mesh.vertices.size(); ++v) {
    if (!mesh.vertices[v].allFinite()) return numbered("vertex", v) + " is not finite";
  }
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto& [a, b, c] = mesh.triangles[t];
    for (const int v : {a, b, c}) {
      if (v < 0 || v >= int(mesh.vertices.size())) return numbered("triangle", t) + " names a vertex that does not exist";
    }
    const Vector3 ab = mesh.vertices[std::size_t(b)] - mesh.vertices[std::size_t(a)],
                  ac = mesh.vertices[std::size_t(c)] - mesh.vertices[std::size_t(a)];
    const double longest = std::max({ab.squaredNorm(), ac.squaredNorm(), (ab - ac).squaredNorm()});
    if (!(ab.cross(ac).norm() > 1e-12 * longest)) return numbered("triangle", t) + " has no area; remove it and merge its corners";
  }
  return {};
}

/// The edges of a surface with the number of triangles at each.
class SurfaceEdges {
 public:
  explicit SurfaceEdges(const TriangleMesh& mesh) : uses_(edgeUses(mesh.triangles)), first_(firstUses(uses_)), count_(uses_.size(), 0) {}

  std::string findDefect() {
    for (std::size_t use = 0; use < uses_.size(); ++use) {
      const std::size_t first = std::size_t(first_[use]);
      if (++count_[first] > 2)
        return numbered("triangle", use / 3) +
               " is the third one at an edge; a surface has two triangles at each edge, so remove inner walls";
      if (count_[first] == 2 && uses_[use] == uses_[first])
        return numbered("triangle", use / 3) + " turns against its neighbour, " + numbered("triangle", first / 3) +
               "; order the corners of all triangles counter-clockwise as seen from outside";
    }
    return {};
  }

  /// Once no other defect was found.
  std::string findOpenEdge() const {
    const auto isOpen = [&](std::size_t use) { return count_[use] == 1; };
    std::size_t open = 0, found = uses_.size();
    for (std::size_t use = 0; use < uses_.size(); ++use) {
      if (!isOpen(use)) continue;
      if (++open == 1 || uses_[use] < uses_[found]) found = use;
    }
    if (open == 0) return {};
    const auto& [from, to] = uses_[found];
    return "the mesh is open, with " + std::to_string(open) + " open edges: " + numbered("triangle", found / 3) +
           " has no neighbour at the edge of vertices " + std::to_string(from + 1) + " and " + std::to_string(to + 1) +
           "; close the hole, or merge vertices that should be one";
  }

 private:
  EdgeUses uses_;
  std::vector<int> first_, count_; ///< count: of the first use of each edge, how many follow with it
};

}

std::string findSurfaceDefect(const TriangleMesh& mesh) {
  std::string defect = findTriangleDefect(mesh);
  return defect.empty() ? SurfaceEdges(mesh).findDefect() : defect;
}

std::string findMeshDefect(const TriangleMesh& mesh) {
  std::string defect = findTriangleDefect(mesh);
  if (!defect.empty()) return defect;
  SurfaceEdges edges(mesh);
  defect = edges.findDefect();
  if (defect.empty()) defect = edges.findOpenEdge();
  if (!defect.empty()) return defect;
  const double volume = solidMoments(mesh).volume;
  if (volume < 0) return "the mesh is inside out (its volume is negative), as triangle 1 shows; turn all triangles round";
  if (!(volume > 0)) return "the mesh has no volume";
  return {};
}

/// Sum over the tetrahedra of each triangle and a point amid the mesh, whose moments are polynomials of the corners.
SolidMoments solidMoments(const TriangleMesh& mesh) {
  Vector3 origin = Vector3::Zero();
  for (const Vector3& v : mesh.vertices) origin += v / double(mesh.vertices.size());
  double volume = 0;
  Vector3 first = Vector3::Zero();
  Matrix3 second = Matrix3::Zero(); // integral of x x^T
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vector3 a = mesh.vertices[std::size_t(i)] - origin, b = mesh.vertices[std::size_t(j)] - origin,
                  c = mesh.vertices[std::size_t(k)] - origin;
    const double six = a.dot(b.cross(c));
    const Vector3 sum = a + b + c;
    volume += six / 6;
    first += six / 24 * sum;
    second += six / 120 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  SolidMoments moments;
  moments.volume = volume;
  if (volume == 0) return moments;
  const Vector3 centroid = first / volume;
  second -= volume * centroid * centroid.transpose();
  moments.centroid = origin + centroid;
  moments.inertia = second.trace() * Matrix3::Identity() - second;
  return moments;
}

TriangleMesh convexHull(const std::vector<Vector3>& points) {
  for (const Vector3& p : points) {
    if (!p.allFinite()) throw InputError("the convex hull of points that are not finite does not exist; check the mesh");
  }
  const Polyhedron hull = Polyhedron::hull(points);
  if (hull.faces.empty()) throw InputError("the points of a convex mesh lie in a plane; give at least four that do not");
  TriangleMesh mesh;
  mesh.vertices = hull.vertices;
  for (const Polyhedron::Face& face : hull.faces) {
    const int* corner = &hull.loop[std::size_t(face.first)];
    for (int k = 1; k + 1 < face.count; ++k) mesh.triangles.push_back({corner[0], corner[k], corner[k + 1]});
  }
  return mesh;
}

}
