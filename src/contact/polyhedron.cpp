#include "contact/polyhedron.h"

#include "contact/edge_uses.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <limits>

namespace tendril {

namespace {

double diagonal(const std::vector<Vector3>& points) {
  if (points.empty()) return 0;
  Vector3 low = points[0], high = points[0];
  for (const Vector3& p : points) low = low.cwiseMin(p), high = high.cwiseMax(p);
  return (high - low).norm();
}

/// Newell's normal: the area vector of a polygon, insensitive to which of its corners are nearly in line.
Vector3 areaVector(const Polyhedron& body, const Polyhedron::Face& face) {
  Vector3 sum = Vector3::Zero();
  const Vector3& origin = body.vertices[std::size_t(body.loop[std::size_t(face.first)])];
  for (int k = 1; k + 1 < face.count; ++k) {
    const Vector3 a = body.vertices[std::size_t(body.loop[face.first + k])] - origin;
    const Vector3 b = body.vertices[std::size_t(body.loop[face.first + k + 1])] - origin;
    sum += a.cross(b);
  }
  return sum;
}

/// The sides of all faces, in the order of the loop.
EdgeUses sides(const Polyhedron& body) {
  EdgeUses uses(body.loop.size());
  for (const Polyhedron::Face& face : body.faces) {
    for (int k = 0; k < face.count; ++k)
      uses[std::size_t(face.first + k)] = {body.loop[face.first + k], body.loop[face.first + (k + 1) % face.count]};
  }
  return uses;
}

}

void Polyhedron::connect() {
  size = diagonal(vertices);
  loopEdge.assign(loop.size(), -1);
  edges.clear();
  const EdgeUses uses = sides(*this);
  const std::vector<int> first = firstUses(uses);
  std::vector<std::vector<int>> about(vertices.size());
  for (std::size_t f = 0; f < faces.size(); ++f) {
    Face& face = faces[f];
    face.normal = areaVector(*this, face).normalized();
    face.offset = -std::numeric_limits<double>::infinity();
    for (int k = 0; k < face.count; ++k) {
      const int use = face.first + k, from = loop[use], to = uses[std::size_t(use)][1];
      face.offset = std::max(face.offset, face.normal.dot(vertices[std::size_t(from)]));
      about[std::size_t(from)].push_back(int(f));
      const bool isNew = first[std::size_t(use)] == use;
      loopEdge[use] = isNew ? int(edges.size()) : loopEdge[first[std::size_t(use)]];
      if (isNew)
        edges.push_back({from, to, int(f), -1});
      else
        edges[std::size_t(loopEdge[use])].right = int(f);
    }
  }
  firstFace.assign(1, 0);
  vertexFaces.clear();
  for (const auto& list : about) {
    vertexFaces.insert(vertexFaces.end(), list.begin(), list.end());
    firstFace.push_back(int(vertexFaces.size()));
  }
}

int Polyhedron::support(const Vector3& direction) const {
  int best = 0;
  double farthest = vertices[0].dot(direction);
  for (std::size_t v = 1; v < vertices.size(); ++v) {
    const double distance = vertices[v].dot(direction);
    if (distance > farthest) farthest = distance, best = int(v);
  }
  return best;
}

Polyhedron Polyhedron::box(const Vector3& h) {
  Polyhedron body;
  for (int i = 0; i < 8; ++i) body.vertices.emplace_back(i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]);
  body.loop = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  for (int f = 0; f < 6; ++f) body.faces.push_back({Vector3::Zero(), 0, 4 * f, 4});
  body.connect();
  for (int f = 0; f < 6; ++f) { // exact, where the general way rounds
    body.faces[std::size_t(f)].normal = (f % 2 ? 1 : -1) * Vector3::Unit(f / 2);
    body.faces[std::size_t(f)].offset = h[f / 2];
  }
  return body;
}

Polyhedron Polyhedron::segment(const Vector3& from, const Vector3& to) {
  Polyhedron body;
  body.vertices = {from, to};
  body.connect();
  body.edges = {{0, 1, -1, -1}};
  return body;
}

}
