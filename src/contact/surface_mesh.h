#pragma once
#include "tendril/contact/collision_shape.h"

#include <array>
#include <vector>

namespace tendril {

/// Surface of triangles, solid below (against the normals), with what neighbours are to one another and a hierarchy of bounds. May be
/// open: then it ends at its border.
class SurfaceMesh {
 public:
  struct Triangle {
    std::array<int, 3> vertex{};
    std::array<int, 3> edge{}; ///< edge k from corner k to k + 1
    Vector3 normal = Vector3::Zero();
    double offset = 0;
    int face = 0; ///< number of the plane face it belongs to, together with its neighbours in the same plane
  };
  struct Edge {
    int from = 0, to = 0;
    int left = -1, right = -1; ///< triangles in which it runs forward and backward; right is -1 at the border
    Vector3 direction = Vector3::Zero();
    double length = 0;
    bool convex = false; ///< the solid has a ridge here, or it is the border
    bool concave = false;
  };

  explicit SurfaceMesh(const TriangleMesh& mesh);

  const std::vector<Vector3>& vertices() const { return vertices_; }
  const std::vector<Triangle>& triangles() const { return triangles_; }
  const std::vector<Edge>& edges() const { return edges_; }
  /// Whether no point of the surface about vertex v lies, to first order, farther in direction n: the normal cone of the vertex.
  bool inNormalCone(int v, const Vector3& n) const;
  /// Whether a vertex is a peak, whose normal cone is solid.
  bool isPeak(int v) const { return peak_[std::size_t(v)] != 0; }
  /// Triangles whose bounds meet the given ones, ascending.
  void find(const Bounds& bounds, std::vector<int>& found) const;

 private:
  struct Node {
    Bounds bounds;
    int first = 0, count = 0; ///< triangles of a leaf
    int right = 0;            ///< the left child follows its parent
  };
  void connect();
  void markVertices();
  int build(int first, int count);

  std::vector<Vector3> vertices_;
  std::vector<Triangle> triangles_;
  std::vector<Edge> edges_;
  std::vector<int> firstEdge_, vertexEdges_;
  std::vector<char> peak_;
  std::vector<Node> nodes_;
  std::vector<int> order_;
};

}
