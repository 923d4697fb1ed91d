#include "contact/polyhedron.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

namespace tendril {

namespace {

/// Convex hull by adding, facet by facet, the farthest point outside ("quickhull", Barber, Dobkin & Huhdanpaa 1996). Among equally far
/// points the last one in lexicographic order is taken: it is a true corner of the hull, so no facet degenerates where many points lie on
/// a line or in a plane.
class HullBuilder {
 public:
  explicit HullBuilder(const std::vector<Vector3>& points) : points_(points) {}

  Polyhedron build() {
    Vector3 low = points_[0], high = points_[0];
    for (const Vector3& p : points_) low = low.cwiseMin(p), high = high.cwiseMax(p);
    tolerance_ = 1e-12 * (high - low).norm();
    if (!start()) return {};
    for (std::size_t f = 0; f < facets_.size(); ++f) {
      if (facets_[f].alive && !facets_[f].outside.empty()) {
        addPoint(farthest(facets_[f]));
        f = std::size_t(-1); // facets before may have got points
      }
    }
    return merged();
  }

 private:
  struct Facet {
    std::array<int, 3> vertex{};
    Vector3 normal = Vector3::Zero();
    double offset = 0;
    std::vector<int> outside;
    bool alive = true;
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

  int farthest(const Facet& f) const {
    int best = f.outside[0];
    double most = height(f, best);
    for (const int i : f.outside) {
      const double d = height(f, i);
      if (d > most + tolerance_ || (d > most - tolerance_ && before(best, i))) best = i, most = std::max(d, most);
    }
    return best;
  }

  void addFacet(int a, int b, int c) {
    Facet f;
    f.vertex = {a, b, c};
    f.normal = (at(b) - at(a)).cross(at(c) - at(a)).normalized();
    f.offset = f.normal.dot(at(a));
    facets_.push_back(std::move(f));
  }

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
    addFacet(a, d, p);
    addFacet(p, d, q);
    addFacet(q, d, a);
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

  void addPoint(int p) {
    std::map<std::pair<int, int>, bool> seen; // directed edges of the facets that p sees
    std::vector<int> orphans;
    for (Facet& f : facets_) {
      if (!f.alive || !(height(f, p) > tolerance_)) continue;
      f.alive = false;
      for (std::size_t k = 0; k < 3; ++k) seen[{f.vertex[k], f.vertex[(k + 1) % 3]}] = true;
      for (const int i : f.outside) {
        if (i != p) orphans.push_back(i);
      }
    }
    std::erase_if(facets_, [](const Facet& f) { return !f.alive; });
    const std::size_t first = facets_.size();
    for (const auto& [edge, unused] : seen) {
      if (!seen.contains({edge.second, edge.first})) addFacet(edge.first, edge.second, p);
    }
    distribute(orphans, first);
  }

  /// Numbers the facets of each plane face alike, largest facets first.
  std::vector<int> planeFaces() const {
    std::vector<int> face(facets_.size(), -1);
    std::map<std::pair<int, int>, int> owner;
    for (std::size_t f = 0; f < facets_.size(); ++f) {
      for (std::size_t k = 0; k < 3; ++k) owner[{facets_[f].vertex[k], facets_[f].vertex[(k + 1) % 3]}] = int(f);
    }
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
        const Facet f = facets_[std::size_t(open.back())];
        open.pop_back();
        for (std::size_t k = 0; k < 3; ++k) {
          const int other = owner.at({f.vertex[(k + 1) % 3], f.vertex[k]});
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
    std::map<std::pair<int, int>, int> owner;
    for (std::size_t f = 0; f < facets_.size(); ++f) {
      for (std::size_t k = 0; k < 3; ++k) owner[{facets_[f].vertex[k], facets_[f].vertex[(k + 1) % 3]}] = face[f];
    }
    for (const auto& [edge, own] : owner) {
      if (owner.at({edge.second, edge.first}) != own) next[std::size_t(own)][edge.first] = edge.second;
    }
    Polyhedron body;
    std::map<int, int> number;
    for (const auto& corners : next) {
      if (corners.empty()) continue;
      Polyhedron::Face polygon;
      polygon.first = int(body.loop.size());
      for (int v = corners.begin()->first; polygon.count < int(corners.size()); v = corners.at(v), ++polygon.count) {
        const auto [known, isNew] = number.try_emplace(v, int(body.vertices.size()));
        if (isNew) body.vertices.push_back(at(v));
        body.loop.push_back(known->second);
      }
      body.faces.push_back(polygon);
    }
    body.connect();
    return body;
  }

  const std::vector<Vector3>& points_;
  double tolerance_ = 0;
  std::vector<Facet> facets_;
};

}

Polyhedron Polyhedron::hull(const std::vector<Vector3>& points) {
  if (points.size() < 4) return {};
  return HullBuilder(points).build();
}

}
