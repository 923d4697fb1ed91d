#include "contact/surface_mesh.h"

#include "contact/edge_uses.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <numeric>

namespace tendril {

namespace {

/// Sine of the angle between neighbours below which they count as one plane face.
constexpr double flat = 1e-6;

Bounds boundsOf(const SurfaceMesh& mesh, int triangle) {
  const auto& v = mesh.triangles()[std::size_t(triangle)].vertex;
  const Vector3 &a = mesh.vertices()[std::size_t(v[0])], &b = mesh.vertices()[std::size_t(v[1])], &c = mesh.vertices()[std::size_t(v[2])];
  return {a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)};
}

}

SurfaceMesh::SurfaceMesh(const TriangleMesh& mesh) : vertices_(mesh.vertices) {
  for (const auto& corners : mesh.triangles) {
    Triangle t;
    t.vertex = corners;
    const Vector3& a = vertices_[std::size_t(corners[0])];
    t.normal = (vertices_[std::size_t(corners[1])] - a).cross(vertices_[std::size_t(corners[2])] - a).normalized();
    t.offset = t.normal.dot(a);
    triangles_.push_back(t);
  }
  connect();
  markVertices();
  order_.resize(triangles_.size());
  std::iota(order_.begin(), order_.end(), 0);
  build(0, int(order_.size()));
}

void SurfaceMesh::connect() {
  std::vector<std::array<int, 3>> corners;
  for (const Triangle& t : triangles_) corners.push_back({t.vertex[0], t.vertex[1], t.vertex[2]});
  const EdgeUses uses = edgeUses(corners);
  const std::vector<int> first = firstUses(uses);
  for (std::size_t use = 0; use < uses.size(); ++use) {
    const int t = int(use / 3);
    const bool isNew = first[use] == int(use);
    int& edge = triangles_[std::size_t(t)].edge[use % 3];
    if (isNew) {
      const auto [from, to] = uses[use];
      edge = int(edges_.size());
      Edge e{from, to, t, -1, vertices_[std::size_t(to)] - vertices_[std::size_t(from)], 0, true, false};
      e.length = e.direction.norm();
      e.direction /= e.length;
      edges_.push_back(e);
    } else {
      edge = triangles_[std::size_t(first[use] / 3)].edge[std::size_t(first[use] % 3)];
      edges_[std::size_t(edge)].right = t;
    }
  }
  std::vector<int> face(triangles_.size());
  std::iota(face.begin(), face.end(), 0);
  const auto root = [&face](int t) {
    while (face[std::size_t(t)] != t) t = face[std::size_t(t)] = face[std::size_t(face[std::size_t(t)])];
    return t;
  };
  for (Edge& e : edges_) {
    if (e.right < 0) continue;
    const Vector3 &left = triangles_[std::size_t(e.left)].normal, &right = triangles_[std::size_t(e.right)].normal;
    const double sine = e.direction.dot(left.cross(right));
    const bool isFolded = left.dot(right) < 0;
    e.convex = sine > flat || (isFolded && sine > -flat);
    e.concave = sine < -flat;
    if (!e.convex && !e.concave) {
      const int p = root(e.left), q = root(e.right);
      face[std::size_t(std::max(p, q))] = std::min(p, q);
    }
  }
  for (std::size_t t = 0; t < triangles_.size(); ++t) triangles_[t].face = root(int(t));
}

/// A peak has ridges all around that are not all in one plane with it; where a valley or a saddle begins the surface has points farther
/// out.
void SurfaceMesh::markVertices() {
  std::vector<std::vector<int>> about(vertices_.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    about[std::size_t(edges_[e].from)].push_back(int(e));
    about[std::size_t(edges_[e].to)].push_back(int(e));
  }
  firstEdge_.assign(1, 0);
  peak_.assign(vertices_.size(), 0);
  for (std::size_t v = 0; v < vertices_.size(); ++v) {
    vertexEdges_.insert(vertexEdges_.end(), about[v].begin(), about[v].end());
    firstEdge_.push_back(int(vertexEdges_.size()));
    const auto ridges = std::count_if(about[v].begin(), about[v].end(), [&](int e) { return edges_[std::size_t(e)].convex; });
    const auto valleys = std::count_if(about[v].begin(), about[v].end(), [&](int e) { return edges_[std::size_t(e)].concave; });
    peak_[v] = ridges >= 2 && (valleys == 0 || ridges >= 3);
  }
}

bool SurfaceMesh::inNormalCone(int v, const Vector3& n) const {
  for (int k = firstEdge_[std::size_t(v)]; k < firstEdge_[std::size_t(v) + 1]; ++k) {
    const Edge& e = edges_[std::size_t(vertexEdges_[std::size_t(k)])];
    const double along = n.dot(e.direction);
    if ((e.from == v ? along : -along) > 1e-9) return false;
  }
  return true;
}

int SurfaceMesh::build(int first, int count) {
  constexpr int leafSize = 4;
  Bounds all = boundsOf(*this, order_[std::size_t(first)]);
  for (int i = first; i < first + count; ++i) {
    const Bounds b = boundsOf(*this, order_[std::size_t(i)]);
    all.low = all.low.cwiseMin(b.low);
    all.high = all.high.cwiseMax(b.high);
  }
  const int own = int(nodes_.size());
  nodes_.push_back({all, first, count, 0});
  if (count <= leafSize) return own;
  int axis = 0;
  (all.high - all.low).maxCoeff(&axis);
  const auto centre = [&](int t) {
    const Bounds b = boundsOf(*this, t);
    return b.low[axis] + b.high[axis];
  };
  const auto begin = order_.begin() + first;
  std::nth_element(begin, begin + count / 2, begin + count,
                   [&](int a, int b) { return std::pair(centre(a), a) < std::pair(centre(b), b); });
  build(first, count / 2);
  const int right = build(first + count / 2, count - count / 2);
  nodes_[std::size_t(own)].count = 0;
  nodes_[std::size_t(own)].right = right;
  return own;
}

void SurfaceMesh::find(const Bounds& bounds, std::vector<int>& found) const {
  found.clear();
  std::array<int, 64> open{0};
  for (int size = 1; size > 0;) {
    const int n = open[std::size_t(--size)];
    const Node& node = nodes_[std::size_t(n)];
    if (!node.bounds.meets(bounds)) continue;
    if (node.count == 0) {
      open[std::size_t(size++)] = node.right;
      open[std::size_t(size++)] = n + 1;
    }
    for (int i = node.first; i < node.first + node.count; ++i) {
      if (boundsOf(*this, order_[std::size_t(i)]).meets(bounds)) found.push_back(order_[std::size_t(i)]);
    }
  }
  std::sort(found.begin(), found.end());
}

}
