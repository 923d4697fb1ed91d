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

  /// Separation of the shape and the plane of a triangle.
  double heightOver(const Triangle& t) const { return t.normal.dot(coreSupport(shape_, -t.normal)) - t.offset - body_.radius(); }

  void findOnTriangle(const Triangle& t) {
    const double lowest = heightOver(t);
    if (!isInRange(lowest) || (lowest < 0 && isNearerToNeighbour(t, lowest))) return;
    const Patch points = body_.restingPoints(-t.normal);
    for (int i = 0; i < points.count; ++i) {
      const PatchCorner& p = points.corners[std::size_t(i)];
      const double height = t.normal.dot(p.x) - t.offset;
      if (isInRange(height - body_.radius()) && isOver(t, p.x)) add(p.x, t.normal, height, featurePair(std::uint32_t(t.face), p.id));
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

  /// Across a ridge the shape's way out may be shorter: then this triangle's side has nothing to say.
  bool isNearerAcrossRidge(const Triangle& t, double lowest) const {
    for (std::size_t k = 0; k < 3; ++k) {
      const Triangle* other = neighbour(t, k);
      if (other && mesh_.edges()[std::size_t(t.edge[k])].convex && heightOver(*other) > lowest) return true;
    }
    return false;
  }
  bool isNearerToNeighbour(const Triangle& t, double lowest) const {
    if (isNearerAcrossRidge(t, lowest)) return true;
    for (std::size_t k = 0; k < 3; ++k) {
      const Triangle* other = neighbour(t, k);
      if (other && other->face == t.face && isNearerAcrossRidge(*other, lowest)) return true;
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
    if (!(slopeLow > 0 && slopeHigh < 0)) { // one of the sides separates more: what rests on it may reach beyond the ridge
      const bool isLeft = slopeHigh < 0 || (slopeLow <= 0 && arc.first.dot(xLow - origin) >= arc.at(high).dot(xHigh - origin));
      return addBorder(index, isLeft ? arc.first : arc.at(high));
    }
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
    const double height = normal.dot(x - origin);
    if (patch.count > 2) addBorder(index, normal);
    if (patch.count > 2 && patch.normal.dot(normal) < -1 + 1e-12) return;
    if (patch.count == 2 && (patch.corners[1].x - patch.corners[0].x).cross(e.direction).norm() < 1e-6 * size_) {
      const double p = (patch.corners[0].x - origin).dot(e.direction), q = (patch.corners[1].x - origin).dot(e.direction);
      const double begin = std::max(0., std::min(p, q)), end = std::min(e.length, std::max(p, q));
      if (begin > end) return;
      addAt(index, begin, normal, height, 1);
      return addAt(index, end, normal, height, 2);
    }
    const double at = (x - origin).dot(e.direction), near = 1e-9 * size_;
    if (at >= -near && at <= e.length + near) addAt(index, at, normal, height, 0);
  }

  void addAt(int index, double at, const Vector3& normal, double height, std::uint32_t place) {
    const Edge& e = mesh_.edges()[std::size_t(index)];
    if (!isInRange(height - body_.radius())) return;
    const Vector3 onEdge = mesh_.vertices()[std::size_t(e.from)] + at * e.direction;
    add(onEdge + height * normal, normal, height, featurePair(0x50000000u + std::uint32_t(index), place));
  }

  /// Where a face or a line of the shape that lies over the surface along a normal crosses the ridge.
  void addBorder(int index, const Vector3& normal) {
    const Edge& e = mesh_.edges()[std::size_t(index)];
    const Vector3& origin = mesh_.vertices()[std::size_t(e.from)];
    const Patch patch = body_.patch(-normal);
    const Vector3& corner = patch.corners[0].x;
    if (patch.count > 2) {
      double begin = 0, end = e.length;
      clipLine(patch, origin, e.direction, begin, end);
      if (begin > end) return;
      for (const double at : {begin, end}) {
        const double height = (corner - origin - at * e.direction).dot(patch.normal) / normal.dot(patch.normal);
        addAt(index, at, normal, height, at == begin ? 1 : 2);
      }
    } else if (patch.count == 2) {
      const Vector3 along = patch.corners[1].x - corner, across = e.direction.cross(normal);
      const double rate = along.dot(across), t = (origin - corner).dot(across) / rate;
      if (!(std::abs(rate) > 1e-6 * size_) || !(t >= 0 && t <= 1)) return;
      const Vector3 x = corner + t * along - origin;
      const double at = x.dot(e.direction);
      if (at >= 0 && at <= e.length) addAt(index, at, normal, x.dot(normal), 0);
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
