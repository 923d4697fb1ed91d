#include "contact/gjk.h"

#include "contact/support.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace tendril {

namespace {

/// Minkowski difference a - b of the cores: the origin lies outside of it by their distance.
struct Difference {
  const PlacedShape& a;
  const PlacedShape& b;
  Vector3 support(const Vector3& direction) const { return coreSupport(a, direction) - coreSupport(b, -direction); }
};

/// Up to four points, reduced to those that span the point closest to the origin.
class Simplex {
 public:
  void add(const Vector3& w) { points_[std::size_t(size_++)] = w; }
  bool isFull() const { return size_ == 4; }
  bool holds(const Vector3& w) const { return std::find(points_.begin(), points_.begin() + size_, w) != points_.begin() + size_; }

  Vector3 closest() {
    switch (size_) {
    case 1:
      return points_[0];
    case 2:
      return onSegment(points_[0], points_[1]);
    case 3:
      return onTriangle(points_[0], points_[1], points_[2]);
    default:
      return inTetrahedron();
    }
  }

 private:
  Vector3 keep(std::initializer_list<Vector3> points, const Vector3& closestPoint) {
    // A copy, as it may be one of the points that are overwritten.
    const Vector3 closest = closestPoint; // NOLINT(performance-unnecessary-copy-initialization)
    size_ = 0;
    for (const Vector3& p : points) points_[std::size_t(size_++)] = p;
    return closest;
  }

  Vector3 onSegment(const Vector3& a, const Vector3& b) {
    const Vector3 ab = b - a;
    const double t = -a.dot(ab), whole = ab.squaredNorm();
    if (t <= 0) return keep({a}, a);
    if (t >= whole) return keep({b}, b);
    return keep({a, b}, a + t / whole * ab);
  }

  Vector3 onTriangle(const Vector3& a, const Vector3& b, const Vector3& c) {
    const Vector3 normal = (b - a).cross(c - a);
    const double squared = normal.squaredNorm();
    const bool isInside =
        squared > 0 && normal.dot((b - a).cross(-a)) >= 0 && normal.dot((c - b).cross(-b)) >= 0 && normal.dot((a - c).cross(-c)) >= 0;
    if (isInside) return keep({a, b, c}, normal.dot(a) / squared * normal);
    Simplex best;
    Vector3 point = Vector3::Constant(std::numeric_limits<double>::infinity());
    for (const auto& [p, q] : {std::pair(a, b), std::pair(b, c), std::pair(c, a)}) {
      Simplex side;
      const Vector3 x = side.onSegment(p, q);
      if (x.squaredNorm() < point.squaredNorm()) point = x, best = side;
    }
    *this = best;
    return point;
  }

  Vector3 inTetrahedron() {
    const auto p = points_;
    Simplex best;
    Vector3 point = Vector3::Constant(std::numeric_limits<double>::infinity());
    bool isInside = true;
    constexpr std::array<std::array<std::size_t, 4>, 4> faces{{{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}, {1, 3, 2, 0}}};
    for (const auto& f : faces) {
      const Vector3 normal = (p[f[1]] - p[f[0]]).cross(p[f[2]] - p[f[0]]);
      const double own = -normal.dot(p[f[0]]), opposite = normal.dot(p[f[3]] - p[f[0]]);
      if (own * opposite > 0) continue; // the origin lies on the side of the fourth point
      isInside = false;
      Simplex side;
      const Vector3 x = side.onTriangle(p[f[0]], p[f[1]], p[f[2]]);
      if (x.squaredNorm() < point.squaredNorm()) point = x, best = side;
    }
    if (isInside) return Vector3::Zero();
    *this = best;
    return point;
  }

  std::array<Vector3, 4> points_;
  int size_ = 0;
};

/// Polytope of points of the difference, whose facet of least signed distance from the origin is pushed out until it touches the surface.
class Polytope {
 public:
  Polytope(const Difference& difference, double size) : difference_(difference), size_(size) { start(); }

  /// Outward direction of least penetration.
  Vector3 expand() {
    constexpr int most = 200;
    Vector3 best = Vector3::UnitZ();
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < most; ++k) {
      const Facet nearest =
          *std::min_element(facets_.begin(), facets_.end(), [](const Facet& f, const Facet& g) { return f.offset < g.offset; });
      const Vector3 w = difference_.support(nearest.normal);
      if (const double depth = w.dot(nearest.normal); depth < least) least = depth, best = nearest.normal;
      if (least - nearest.offset < 1e-5 * size_) break; // no direction is shorter than the nearest facet
      insert(w);
    }
    return best;
  }

 private:
  struct Facet {
    std::array<int, 3> vertex;
    Vector3 normal;
    double offset;
  };
  using Scratch = std::vector<Facet>;

  const Vector3& at(int i) const { return points_[std::size_t(i)]; }

  void addFacet(int i, int j, int k) {
    Vector3 normal = (at(j) - at(i)).cross(at(k) - at(i));
    const double area = normal.norm();
    // A facet without area is never the nearest.
    if (area > 1e-14 * size_ * size_)
      facets_.push_back({{i, j, k}, normal / area, normal.dot(at(i)) / area});
    else
      facets_.push_back({{i, j, k}, Vector3::Zero(), std::numeric_limits<double>::infinity()});
  }

  /// A tetrahedron as large as four extreme points make it.
  void start() {
    facets_.clear();
    points_.clear();
    double widest = 0;
    int axis = 0;
    for (int k = 0; k < 3; ++k) {
      const double width = (difference_.support(Vector3::Unit(k)) - difference_.support(-Vector3::Unit(k)))[k];
      if (width > widest) widest = width, axis = k;
    }
    const Vector3 p = difference_.support(Vector3::Unit(axis)), q = difference_.support(-Vector3::Unit(axis));
    const Vector3 line = (q - p).normalized(), s = anyOrthogonal(line), t = line.cross(s);
    Vector3 r = p;
    double farthest = 0;
    for (const Vector3& d : {s, t, Vector3(-s), Vector3(-t)}) {
      const Vector3 w = difference_.support(d);
      const double distance = line.cross(w - p).norm();
      if (distance > 1.001 * farthest) farthest = distance, r = w;
    }
    Vector3 normal = (q - p).cross(r - p).normalized();
    Vector3 top = difference_.support(normal);
    if (const Vector3 other = difference_.support(-normal); normal.dot(p - other) > 1.001 * normal.dot(top - p)) {
      top = other;
      normal = -normal;
    }
    points_ = {p, q, r, top};
    const bool isRight = normal.dot((q - p).cross(r - p)) > 0; // counter-clockwise seen from the top
    const int i = isRight ? 1 : 2, j = isRight ? 2 : 1;
    addFacet(0, j, i);
    addFacet(0, i, 3);
    addFacet(i, j, 3);
    addFacet(j, 0, 3);
  }

  void insert(const Vector3& w) {
    edges_.clear();
    std::erase_if(facets_, [&](const Facet& f) {
      if (!(f.normal.dot(w) - f.offset > 1e-13 * size_)) return false;
      for (std::size_t k = 0; k < 3; ++k) edges_.emplace_back(f.vertex[k], f.vertex[(k + 1) % 3]);
      return true;
    });
    points_.push_back(w);
    for (const auto& [from, to] : edges_) {
      const bool isInner = std::find(edges_.begin(), edges_.end(), std::pair(to, from)) != edges_.end();
      if (!isInner) addFacet(from, to, int(points_.size()) - 1);
    }
  }

  const Difference& difference_;
  double size_;
  static thread_local Scratch facets_;
  static thread_local std::vector<Vector3> points_;
  static thread_local std::vector<std::pair<int, int>> edges_;
};

thread_local Polytope::Scratch Polytope::facets_;
thread_local std::vector<Vector3> Polytope::points_;
thread_local std::vector<std::pair<int, int>> Polytope::edges_;

}

double separation(const PlacedShape& a, const PlacedShape& b, const Vector3& normal) {
  return normal.dot(coreSupport(a, -normal) - coreSupport(b, normal));
}

Approach approach(const PlacedShape& a, const PlacedShape& b, double reach) {
  const Difference difference{a, b};
  const double size = a.data.size + b.data.size;
  Vector3 v = a.pose.x - b.pose.x;
  if (v.squaredNorm() == 0) v = Vector3::UnitX();
  Simplex simplex;
  for (int k = 0; k < 64 && !simplex.isFull(); ++k) {
    const Vector3 w = difference.support(-v);
    const double norm = v.norm();
    if (v.dot(w) > reach * norm) return {v / norm, true};
    const bool isFound = k > 0 && (norm * norm - v.dot(w) <= 1e-10 * norm * norm || simplex.holds(w));
    if (isFound) return {v / norm, false};
    simplex.add(w);
    v = simplex.closest();
    if (v.norm() < 1e-7 * size) break;
  }
  if (v.norm() >= 1e-7 * size) return {v.normalized(), false};
  return {-Polytope(difference, size).expand(), false};
}

}
