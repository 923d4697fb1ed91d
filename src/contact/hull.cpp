#include "contact/polyhedron.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tendril {

namespace {

/// Convex hull by adding, facet by facet, the farthest point outside ("quickhull", Barber, Dobkin & Huhdanpaa 1996): the facets that the
/// point sees are found from neighbour to neighbour and give way to a fan about their rim, so that n points cost O(n log n). Among equally
/// far points the last one in lexicographic order is taken: it is a true corner of the hull, so no facet degenerates where many points lie
/// on a line or in a plane.
class HullBuilder {
 public:
  explicit HullBuilder(const std::vector<Vector3>& points) : points_(points), fanOf_(points.size(), -1) {}

  Polyhedron build() {
    Vector3 low = points_[0], high = points_[0];
    for (const Vector3& p : points_) low = low.cwiseMin(p), high = high.cwiseMax(p);
    tolerance_ = 1e-12 * (high - low).norm();
    if (!start()) return {};
    for (std::size_t f = 0; f < facets_.size(); ++f) { // what is added stands behind
      while (facets_[f].isAlive && !facets_[f].outside.empty()) addPoint(int(f), takeFarthest(facets_[f]));
    }
    removeDead();
    return merged();
  }

 private:
  struct Facet {
    std::array<int, 3> vertex{}, neighbour{-1, -1, -1}; ///< neighbour k lies across the edge from vertex k to the next
    Vector3 normal = Vector3::Zero();
    double offset = 0;
    std::vector<int> outside;
    bool isAlive = true;
  };
  /// An edge between what a point sees and what it does not.
  struct RimEdge {
    int from = 0, to = 0, beyond = 0; ///< beyond: the facet on the other side
    bool operator<(const RimEdge& other) const { return std::pair(from, to) < std::pair(other.from, other.to); }
  };

  const Vector3& at(int i) const { return points_[std::size_t(i)]; }
  double height(const Facet& f, int i) const { return f.normal.dot(at(i)) - f.offset; }

  bool before(int a, int b) const {
    for (int k = 0; k < 3; ++k) {
      if (std::abs(at(a)[k] - at(b)[k]) > tolerance_) return at(a)[k] < at(b)[k];
    }
    return false;
  }

  /// The point of all that is farthest by a measure of distance; ties as above.
  template <class Distance> std::pair<int, double> farthestOf(const Distance& distance) const {
    int best = 0;
    double most = distance(0);
    for (int i = 1; i < int(points_.size()); ++i) {
      const double d = distance(i);
      if (d > most + tolerance_ || (d > most - tolerance_ && before(best, i))) best = i, most = std::max(d, most);
    }
    return {best, most};
  }

  int takeFarthest(Facet& f) const {
    std::size_t best = 0;
    double most = height(f, f.outside[0]);
    for (std::size_t k = 1; k < f.outside.size(); ++k) {
      const double d = height(f, f.outside[k]);
      if (d > most + tolerance_ || (d > most - tolerance_ && before(f.outside[best], f.outside[k]))) best = k, most = std::max(d, most);
    }
    const int point = f.outside[best];
    f.outside.erase(f.outside.begin() + std::ptrdiff_t(best));
    return point;
  }

  int addFacet(int a, int b, int c) {
    Facet f;
    f.vertex = {a, b, c};
    f.normal = (at(b) - at(a)).cross(at(c) - at(a)).normalized();
    f.offset = f.normal.dot(at(a));
    facets_.push_back(std::move(f));
    return int(facets_.size()) - 1;
  }

  int edgeFrom(const Facet& f, int vertex) const { return int(std::find(f.vertex.begin(), f.vertex.end(), vertex) - f.vertex.begin()); }

  bool start() {
    const int a = farthestOf([&](int i) { return at(i)[0]; }).first;
    const auto [b, ab] = farthestOf([&](int i) { return (at(i) - at(a)).norm(); });
    if (!(ab > tolerance_)) return false;
    const Vector3 line = (at(b) - at(a)).normalized();
    const auto [c, abc] = farthestOf([&](int i) { return line.cross(at(i) - at(a)).norm(); });
    if (!(abc > 1e3 * tolerance_)) return false;
    const Vector3 normal = line.cross(at(c) - at(a)).normalized();
    auto [d, abcd] = farthestOf([&](int i) { return std::abs(normal.dot(at(i) - at(a))); });
    if (!(abcd > 1e3 * tolerance_)) return false;
    int p = b, q = c;
    if (normal.dot(at(d) - at(a)) > 0) std::swap(p, q);
    addFacet(a, p, q);
    addFan({{p, a, 0}, {q, p, 0}, {a, q, 0}}, d);
    std::vector<int> all(points_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = int(i);
    distribute(all, 0);
    return true;
  }

  /// Gives each point to the facet, from `first` on, that it is farthest outside of.
  void distribute(const std::vector<int>& candidates, std::size_t first) {
    for (const int i : candidates) {
      Facet* best = nullptr;
      double most = tolerance_;
      for (std::size_t f = first; f < facets_.size(); ++f) {
        const double d = height(facets_[f], i);
        if (d > most) most = d, best = &facets_[f];
      }
      if (best) best->outside.push_back(i);
    }
  }

  void addPoint(int seen, int p) {
    findVisible(seen, p);
    if (!isRound()) { // p lies within round-off of the hull, where what it sees is no disc
      for (const int f : visible_) facets_[std::size_t(f)].isAlive = true;
      return;
    }
    orphans_.clear();
    for (const int f : visible_) {
      std::vector<int> outside = std::move(facets_[std::size_t(f)].outside);
      orphans_.insert(orphans_.end(), outside.begin(), outside.end());
    }
    const std::size_t first = facets_.size();
    addFan(rim_, p);
    distribute(orphans_, first);
  }

  /// The facets that p sees, from one of them on, which die, and their rim in the order of its vertices.
  void findVisible(int seen, int p) {
    visible_.assign(1, seen);
    facets_[std::size_t(seen)].isAlive = false;
    rim_.clear();
    for (std::size_t i = 0; i < visible_.size(); ++i) {
      for (std::size_t k = 0; k < 3; ++k) {
        const Facet& f = facets_[std::size_t(visible_[i])];
        Facet& other = facets_[std::size_t(f.neighbour[k])];
        if (other.isAlive && height(other, p) > tolerance_) {
          other.isAlive = false;
          visible_.push_back(f.neighbour[k]);
        }
      }
    }
    for (const int i : visible_) {
      const Facet& f = facets_[std::size_t(i)];
      for (std::size_t k = 0; k < 3; ++k) {
        if (facets_[std::size_t(f.neighbour[k])].isAlive) rim_.push_back({f.vertex[k], f.vertex[(k + 1) % 3], f.neighbour[k]});
      }
    }
    std::sort(rim_.begin(), rim_.end());
  }

  /// Whether the rim is one closed line that passes no vertex twice.
  bool isRound() const {
    const auto follows = [](const RimEdge& edge, int vertex) { return edge.from < vertex; };
    if (rim_.empty()) return false;
    std::size_t length = 0;
    for (int v = rim_.front().from; length == 0 || v != rim_.front().from; ++length) {
      const auto edge = std::lower_bound(rim_.begin(), rim_.end(), v, follows);
      if (length > rim_.size() || edge == rim_.end() || edge->from != v) return false;
      v = edge->to;
    }
    return length == rim_.size();
  }

  /// Facets from the edges of a closed rim to a point.
  void addFan(const std::vector<RimEdge>& rim, int p) {
    for (const RimEdge& edge : rim) {
      const int own = fanOf_[std::size_t(edge.from)] = addFacet(edge.from, edge.to, p);
      facets_[std::size_t(own)].neighbour[0] = edge.beyond;
      Facet& beyond = facets_[std::size_t(edge.beyond)];
      beyond.neighbour[std::size_t(edgeFrom(beyond, edge.to))] = own;
    }
    for (const RimEdge& edge : rim) {
      const int own = fanOf_[std::size_t(edge.from)], next = fanOf_[std::size_t(edge.to)];
      facets_[std::size_t(own)].neighbour[1] = next;
      facets_[std::size_t(next)].neighbour[2] = own;
    }
  }

  void removeDead() {
    std::vector<int> number;
    int count = 0;
    for (const Facet& f : facets_) number.push_back(f.isAlive ? count++ : -1);
    std::erase_if(facets_, [](const Facet& f) { return !f.isAlive; });
    for (Facet& f : facets_) {
      for (int& neighbour : f.neighbour) neighbour = number[std::size_t(neighbour)];
    }
  }

  /// Numbers the facets of each plane face alike, largest facets first.
  std::vector<int> planeFaces() const {
    std::vector<int> face(facets_.size(), -1);
    std::vector<std::pair<double, int>> bySize;
    for (std::size_t f = 0; f < facets_.size(); ++f) {
      const auto& v = facets_[f].vertex;
      bySize.emplace_back(-(at(v[1]) - at(v[0])).cross(at(v[2]) - at(v[0])).norm(), int(f));
    }
    std::sort(bySize.begin(), bySize.end());
    int count = 0;
    for (const auto& [size, seed] : bySize) {
      if (face[std::size_t(seed)] >= 0) continue;
      std::vector<int> open{seed};
      face[std::size_t(seed)] = count;
      while (!open.empty()) {
        const int own = open.back();
        open.pop_back();
        for (const int other : facets_[std::size_t(own)].neighbour) {
          if (face[std::size_t(other)] < 0 && isCoplanar(facets_[std::size_t(seed)], facets_[std::size_t(other)])) {
            face[std::size_t(other)] = count;
            open.push_back(other);
          }
        }
      }
      ++count;
    }
    return face;
  }

  bool isCoplanar(const Facet& seed, const Facet& other) const {
    return std::all_of(other.vertex.begin(), other.vertex.end(), [&](int v) { return std::abs(height(seed, v)) <= 1e3 * tolerance_; });
  }

  Polyhedron merged() const {
    const std::vector<int> face = planeFaces();
    std::vector<std::map<int, int>> next; // corner after each corner, per face
    next.resize(1 + std::size_t(*std::max_element(face.begin(), face.end())));
    for (std::size_t f = 0; f < facets_.size(); ++f) {
      for (std::size_t k = 0; k < 3; ++k) {
        const int own = face[f], other = face[std::size_t(facets_[f].neighbour[k])];
        if (own != other) next[std::size_t(own)][facets_[f].vertex[k]] = facets_[f].vertex[(k + 1) % 3];
      }
    }
    Polyhedron body;
    std::vector<int> number(points_.size(), -1);
    for (const auto& corners : next) {
      if (corners.empty()) continue;
      Polyhedron::Face polygon;
      polygon.first = int(body.loop.size());
      for (int v = corners.begin()->first; polygon.count < int(corners.size()); v = corners.at(v), ++polygon.count) {
        if (number[std::size_t(v)] < 0) {
          number[std::size_t(v)] = int(body.vertices.size());
          body.vertices.push_back(at(v));
        }
        body.loop.push_back(number[std::size_t(v)]);
      }
      body.faces.push_back(polygon);
    }
    body.connect();
    return body;
  }

  const std::vector<Vector3>& points_;
  double tolerance_ = 0;
  std::vector<Facet> facets_;
  std::vector<int> visible_, orphans_;
  std::vector<RimEdge> rim_;
  std::vector<int> fanOf_; ///< by vertex: the newest facet whose first edge begins there
};

}

Polyhedron Polyhedron::hull(const std::vector<Vector3>& points) {
  if (points.size() < 4) return {};
  return HullBuilder(points).build();
}

}
