#include "contact/closest_point.h"
#include "contact/convex_body.h"
#include "contact/pair_kernels.h"
#include "contact/support.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tendril {

namespace {

using Triangle = SurfaceMesh::Triangle;
using Edge = SurfaceMesh::Edge;

struct Scratch {
  std::vector<int> triangles, edges, vertices;
  std::vector<ContactPoint> points;
};

/// A convex shape on a surface of triangles, in the frame of the surface.
///
/// A contact's normal lies in the normal cone of the surface where it touches: on a triangle it is the triangle's, on a ridge between
/// those of its two sides, on a peak between those of its ridges. So what slides over a plane face never feels the edges within it.
class MeshPair {
 public:
  MeshPair(const PlacedShape& convex, const SurfaceMesh& mesh, double margin, Scratch& scratch)
      : shape_(convex), body_(convex), mesh_(mesh), margin_(margin), size_(convex.data.size), scratch_(scratch) {}

  void find() {
    scratch_.points.clear();
    mesh_.find(reach(), scratch_.triangles);
    collectFeatures();
    for (const int t : scratch_.triangles) findOnTriangle(mesh_.triangles()[std::size_t(t)]);
    for (const int e : scratch_.edges) findOnRidge(e);
    for (const int v : scratch_.vertices) findOnPeak(v);
  }

 private:
  Bounds reach() const {
    Bounds bounds;
    for (int k = 0; k < 3; ++k) {
      bounds.low[k] = coreSupport(shape_, -Vector3::Unit(k))[k] - body_.radius() - std::max(margin_, 0.);
      bounds.high[k] = coreSupport(shape_, Vector3::Unit(k))[k] + body_.radius() + std::max(margin_, 0.);
    }
    return bounds;
  }

  void collectFeatures() {
    scratch_.edges.clear();
    scratch_.vertices.clear();
    for (const int t : scratch_.triangles) {
      const Triangle& triangle = mesh_.triangles()[std::size_t(t)];
      for (std::size_t k = 0; k < 3; ++k) {
        if (mesh_.edges()[std::size_t(triangle.edge[k])].convex) scratch_.edges.push_back(triangle.edge[k]);
        if (mesh_.isPeak(triangle.vertex[k])) scratch_.vertices.push_back(triangle.vertex[k]);
      }
    }
    for (auto* list : {&scratch_.edges, &scratch_.vertices}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }

  /// Overlaps beyond half the shape's size are of what lies on the other side of the solid.
  bool isInRange(double gap) const { return gap <= margin_ && gap > -0.5 * size_; }

  void add(const Vector3& x, const Vector3& normal, double height, std::uint32_t feature) {
    const Vector3 position = x - 0.5 * (height + body_.radius()) * normal;
    const double near = 1e-9 * size_;
    for (const ContactPoint& p : scratch_.points) {
      const bool isSame = (p.position - position).squaredNorm() < near * near && p.normal.dot(normal) > 1 - 1e-9;
      if (isSame) return; // found on a neighbour
    }
    scratch_.points.push_back({position, normal, height - body_.radius(), feature, Vector3::Zero()});
  }

  const Vector3& corner(const Triangle& t, std::size_t k) const { return mesh_.vertices()[std::size_t(t.vertex[k])]; }

  void findOnTriangle(const Triangle& t) {
    const double lowest = t.normal.dot(coreSupport(shape_, -t.normal)) - t.offset - body_.radius();
    if (!isInRange(lowest)) return;
    const Patch points = body_.restingPoints(-t.normal);
    for (int i = 0; i < points.count; ++i) {
      const PatchCorner& p = points.corners[std::size_t(i)];
      const double height = t.normal.dot(p.x) - t.offset;
      if (!isInRange(height - body_.radius()) || !isOver(t, p.x)) continue;
      if (height < body_.radius() && isNearerToNeighbour(t, p.x, height)) continue;
      add(p.x, t.normal, height, featurePair(std::uint32_t(t.face), p.id));
    }
  }

  /// In a valley a point that has sunk into both sides lies a little beyond the edge as seen from either.
  bool isOver(const Triangle& t, const Vector3& x) const {
    for (std::size_t k = 0; k < 3; ++k) {
      const Edge& e = mesh_.edges()[std::size_t(t.edge[k])];
      const Vector3& p = corner(t, k);
      const Vector3 along = (corner(t, (k + 1) % 3) - p) / e.length;
      const double beyond = (x - p).dot(along.cross(t.normal));
      if (beyond > (e.concave ? 0.05 : 1e-9) * size_) return false;
    }
    return true;
  }

  const Triangle* neighbour(const Triangle& t, std::size_t k) const {
    const Edge& e = mesh_.edges()[std::size_t(t.edge[k])];
    const int own = int(&t - mesh_.triangles().data()), other = e.left == own ? e.right : e.left;
    return other < 0 ? nullptr : &mesh_.triangles()[std::size_t(other)];
  }

  /// Across a ridge the way out may be shorter: then this triangle's side has nothing to say.
  bool isNearerAcrossRidge(const Triangle& t, const Vector3& x, double height) const {
    for (std::size_t k = 0; k < 3; ++k) {
      const Triangle* other = neighbour(t, k);
      if (other && mesh_.edges()[std::size_t(t.edge[k])].convex && other->normal.dot(x) - other->offset > height) return true;
    }
    return false;
  }
  bool isNearerToNeighbour(const Triangle& t, const Vector3& x, double height) const {
    if (isNearerAcrossRidge(t, x, height)) return true;
    for (std::size_t k = 0; k < 3; ++k) {
      const Triangle* other = neighbour(t, k);
      if (other && other->face == t.face && isNearerAcrossRidge(*other, x, height)) return true;
    }
    return false;
  }

  /// Normals between those of a ridge's sides: n(angle) = first cos + second sin, angle in [0, range].
  struct Arc {
    Vector3 first, second;
    double range;
    Vector3 at(double angle) const { return std::cos(angle) * first + std::sin(angle) * second; }
    Vector3 derivative(double angle) const { return std::cos(angle) * second - std::sin(angle) * first; }
  };

  Arc arcOf(const Edge& e) const {
    const Vector3& left = mesh_.triangles()[std::size_t(e.left)].normal;
    const Vector3 across = e.direction.cross(left); // in the direction of the right side
    if (e.right < 0) return {left, across, std::numbers::pi / 2};
    const Vector3& right = mesh_.triangles()[std::size_t(e.right)].normal;
    return {left, across, std::atan2(across.dot(right), left.dot(right))};
  }

  void findOnRidge(int index) {
    const Edge& e = mesh_.edges()[std::size_t(index)];
    const Vector3& origin = mesh_.vertices()[std::size_t(e.from)];
    const Arc arc = arcOf(e);
    double low = 0, high = arc.range;
    const auto slope = [&](double angle, Vector3& x) {
      x = coreSupport(shape_, -arc.at(angle));
      return arc.derivative(angle).dot(x - origin);
    };
    Vector3 xLow, xHigh, x;
    double slopeLow = slope(low, xLow), slopeHigh = slope(high, xHigh);
    if (!(slopeLow > 0 && slopeHigh < 0)) return; // a side separates more than the ridge
    for (int k = 0; k < 60 && high - low > 1e-16; ++k) {
      const double middle = 0.5 * (low + high), s = slope(middle, x);
      if (s > 0)
        low = middle, slopeLow = s, xLow = x;
      else
        high = middle, slopeHigh = s, xHigh = x;
    }
    Vector3 normal = arc.at(0.5 * (low + high));
    if ((xHigh - xLow).norm() > 1e-6 * size_) { // between two corners of the shape: orthogonal to both edges
      const Vector3 exact = e.direction.cross(xHigh - xLow).normalized();
      normal = exact.dot(normal) < 0 ? Vector3(-exact) : exact;
    }
    x = xLow + slopeLow / (slopeLow - slopeHigh) * (xHigh - xLow);
    if (isInRange(normal.dot(x - origin) - body_.radius())) addOnRidge(index, normal, x);
  }

  /// A face or a line along the ridge touches it over a length, given by its ends; else one point does.
  void addOnRidge(int index, const Vector3& normal, const Vector3& x) {
    const Edge& e = mesh_.edges()[std::size_t(index)];
    const Vector3& origin = mesh_.vertices()[std::size_t(e.from)];
    const Patch patch = body_.patch(-normal);
    double begin = 0, end = e.length;
    const bool isAlong = patch.count == 2 && (patch.corners[1].x - patch.corners[0].x).cross(e.direction).norm() < 1e-6 * size_;
    if (isAlong) {
      const double p = (patch.corners[0].x - origin).dot(e.direction), q = (patch.corners[1].x - origin).dot(e.direction);
      begin = std::max(begin, std::min(p, q));
      end = std::min(end, std::max(p, q));
    }
    const bool isOnFace = patch.count > 2 && patch.normal.dot(normal) < -1 + 1e-12;
    if (isOnFace) clipLine(patch, origin, e.direction, begin, end);
    const double near = 1e-9 * size_;
    if (!isAlong && !isOnFace) begin = end = (x - origin).dot(e.direction);
    if (begin > end || end < -near || begin > e.length + near) return;
    for (const double at : {begin, end}) {
      const Vector3 onEdge = origin + at * e.direction;
      const double height = normal.dot(x - origin);
      add(onEdge + height * normal, normal, height, featurePair(0x50000000u + std::uint32_t(index), at == begin ? 1 : 2));
    }
  }

  static void clipLine(const Patch& face, const Vector3& origin, const Vector3& direction, double& begin, double& end) {
    for (int k = 0; k < face.count; ++k) {
      const Vector3& p = face.corners[std::size_t(k)].x;
      const Vector3 outward = (face.corners[std::size_t((k + 1) % face.count)].x - p).cross(face.normal);
      const double rate = outward.dot(direction), beyond = outward.dot(origin - p);
      if (rate > 0)
        end = std::min(end, -beyond / rate);
      else if (rate < 0)
        begin = std::max(begin, -beyond / rate);
      else if (beyond > 0)
        end = begin - 1;
    }
  }

  void findOnPeak(int v) {
    const Vector3& x = mesh_.vertices()[std::size_t(v)];
    const SurfacePoint closest = closestSurfacePoint(shape_.data, shape_.pose.R.transpose() * (x - shape_.pose.x));
    if (!isInRange(closest.distance)) return;
    const Vector3 normal = -(shape_.pose.R * closest.normal);
    if (!mesh_.inNormalCone(v, normal)) return;
    const double height = closest.distance + body_.radius();
    add(x + height * normal, normal, height, featurePair(0x60000000u + std::uint32_t(v), closest.feature));
  }

  const PlacedShape& shape_;
  ConvexBody body_;
  const SurfaceMesh& mesh_;
  double margin_, size_;
  Scratch& scratch_;
};

}

void convexAndMesh(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) {
  static thread_local Scratch scratch;
  const PlacedShape inMesh{a.data, b.pose.relative(a.pose)};
  MeshPair(inMesh, *b.data.mesh, sink.margin, scratch).find();
  for (const ContactPoint& p : scratch.points) sink.add(b.pose * p.position, b.pose.R * p.normal, p.gap, p.feature);
}

}
