#pragma once
#include "tendril/model/shape.h"

#include <string>
#include <vector>

namespace tendril {

/// Convex polyhedron with plane polygons as faces. A segment has two vertices, one edge and no faces; it is the core of a capsule.
struct Polyhedron {
  /// Its corners, counter-clockwise seen from outside, are loop[first] ... loop[first + count - 1]; edge k leads from corner k to k + 1.
  struct Face {
    Vector3 normal = Vector3::Zero();
    double offset = 0; ///< normal . x <= offset for all points
    int first = 0, count = 0;
  };
  struct Edge {
    int from = 0, to = 0;
    int left = -1, right = -1; ///< faces in which the edge runs forward and backward
  };

  std::vector<Vector3> vertices;
  std::vector<Face> faces;
  std::vector<int> loop;
  std::vector<int> loopEdge; ///< edge that leaves each corner
  std::vector<Edge> edges;
  std::vector<int> firstFace, vertexFaces; ///< faces about vertex v: vertexFaces[firstFace[v]] ... up to firstFace[v + 1]
  double size = 0;                         ///< of the diagonal of its bounds

  /// Fills all but vertices, loop and the extent of the faces.
  void connect();
  int support(const Vector3& direction) const;

  static Polyhedron box(const Vector3& halfEdges);
  static Polyhedron segment(const Vector3& from, const Vector3& to);
  /// Convex hull; triangles in one plane become one face. Points within 1e-12 of their extent from the hull of the others are left out.
  /// Empty (without faces) if the points lie in a plane.
  static Polyhedron hull(const std::vector<Vector3>& points);
};

}
