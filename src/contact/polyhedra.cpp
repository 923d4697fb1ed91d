#include "contact/closest_point.h"
#include "contact/face_clipping.h"
#include "contact/pair_kernels.h"
#include "contact/support.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Cosine above which a face looks along a contact's normal, so that it can carry more contacts.
constexpr double nearlyParallel = 0.98;
/// Cosine above which faces count as lying on one another: there edges take over from faces, and one face from the other, only if they
/// separate clearly better, so that contacts do not flicker.
constexpr double resting = 1 - 1e-6;

/// A polyhedron, or the core of a capsule, in the frame of the pair.
struct Body {
  const ShapeData& data;
  const Polyhedron& core;
  const Pose& pose;
  std::vector<Vector3>& x; ///< vertices
  std::vector<Vector3>& n; ///< normals of the faces
  double radius;
  bool isBox;

  Body(const PlacedShape& shape, std::vector<Vector3>& vertices, std::vector<Vector3>& normals)
      : data(shape.data), core(shape.data.polyhedron), pose(shape.pose), x(vertices), n(normals), radius(coreRadius(shape.data)),
        isBox(shape.data.shape.kind == Shape::Kind::Box) {
    x.clear();
    n.clear();
    for (const Vector3& v : core.vertices) x.push_back(pose * v);
    for (const auto& face : core.faces) n.push_back(pose.R * face.normal);
  }

  double lowest(const Vector3& direction) const {
    if (isBox) return direction.dot(pose.x) - (pose.R.transpose() * direction).cwiseAbs().dot(data.halfEdges);
    double least = infinity;
    for (const Vector3& v : x) least = std::min(least, direction.dot(v));
    return least;
  }
  int lowestVertex(const Vector3& direction) const { return core.support(-(pose.R.transpose() * direction)); }
  const Vector3& from(const Polyhedron::Edge& e) const { return x[std::size_t(e.from)]; }
  Vector3 along(const Polyhedron::Edge& e) const { return x[std::size_t(e.to)] - x[std::size_t(e.from)]; }

  Patch face(int f) const {
    const Polyhedron::Face& polygon = core.faces[std::size_t(f)];
    Patch patch;
    patch.normal = n[std::size_t(f)];
    patch.id = std::uint32_t(f);
    // Faces of more corners than a patch holds lose some of them.
    const int step = (polygon.count + Patch::most - 1) / Patch::most;
    for (int k = 0; k < polygon.count; k += step) {
      const auto v = std::size_t(core.loop[polygon.first + k]);
      patch.add(x[v], std::uint32_t(v), std::uint32_t(core.loopEdge[polygon.first + k]));
    }
    return patch;
  }

  /// The face about the lowest vertex that looks most along -direction; of a capsule its axis.
  Patch patchBelow(const Vector3& direction) const {
    Patch patch;
    if (core.faces.empty()) {
      for (std::size_t v = 0; v < x.size(); ++v) patch.add(x[v], std::uint32_t(v), 0);
    } else {
      const auto v = std::size_t(lowestVertex(direction));
      int best = core.vertexFaces[std::size_t(core.firstFace[v])];
      for (int k = core.firstFace[v]; k < core.firstFace[v + 1]; ++k) {
        const int f = core.vertexFaces[std::size_t(k)];
        if (n[std::size_t(f)].dot(direction) < n[std::size_t(best)].dot(direction) - 1e-12) best = f;
      }
      patch = face(best);
    }
    patch.radius = radius;
    return patch;
  }
};

struct Scratch {
  std::vector<Vector3> xA, nA, xB, nB;
  std::vector<int> edgesA, edgesB;
};

class PolyhedronPair {
 public:
  PolyhedronPair(const PlacedShape& a, const PlacedShape& b, ContactSink& sink, Scratch& scratch)
      : scratch_(scratch), a_(a, scratch.xA, scratch.nA), b_(b, scratch.xB, scratch.nB), sink_(sink),
        reach_(sink.margin + a_.radius + b_.radius), size_(std::max(a.data.size, b.data.size)) {}

  void find() {
    faceA_ = faceAxis(a_, b_);
    if (faceA_.gap > reach_) return;
    faceB_ = faceAxis(b_, a_);
    if (faceB_.gap > reach_) return;
    edge_ = a_.isBox && b_.isBox ? boxEdgeAxis() : edgeAxis();
    if (edge_.gap > reach_) return;
    chooseFace();
    if (std::max(face().gap, edge_.gap) > 0)
      findSeparated();
    else
      findOverlapping();
    keepSpread(sink_, Vector3::Zero(), a_.pose.R);
  }

 private:
  struct FaceAxis {
    double gap = -infinity;
    int face = -1;
  };
  struct EdgeAxis {
    double gap = -infinity;
    int edgeA = -1, edgeB = -1;
    Vector3 normal = Vector3::Zero(); ///< from b to a
  };
  struct Nearest {
    double squared = infinity;
    Vector3 onA = Vector3::Zero(), onB = Vector3::Zero();
    std::uint32_t feature = 0;
    int edgeA = -1, edgeB = -1;
  };

  static FaceAxis faceAxis(const Body& from, const Body& to) {
    FaceAxis best;
    for (std::size_t f = 0; f < from.n.size(); ++f) {
      const double gap = to.lowest(from.n[f]) - (from.core.faces[f].offset + from.n[f].dot(from.pose.x));
      if (gap > best.gap) best = {gap, int(f)};
    }
    return best;
  }

  /// The larger of two bodies carries, or the first of equal ones, unless a face of the other separates clearly better.
  void chooseFace() {
    const bool prefersA = a_.data.size >= b_.data.size * (1 - 1e-9);
    const FaceAxis &preferred = prefersA ? faceA_ : faceB_, &other = prefersA ? faceB_ : faceA_;
    double bias = 1e-10 * size_;
    if (faceA_.face >= 0 && faceB_.face >= 0 && a_.n[std::size_t(faceA_.face)].dot(b_.n[std::size_t(faceB_.face)]) < -resting) {
      bias = 1e-8 * size_ + 0.05 * std::abs(preferred.gap);
    }
    if (preferred.gap > 0 || other.gap > 0) bias = 1e-10 * size_;
    isFaceOfB_ = prefersA == (other.gap > preferred.gap + bias);
  }
  const FaceAxis& face() const { return isFaceOfB_ ? faceB_ : faceA_; }
  Vector3 faceNormal() const { // from b to a
    return isFaceOfB_ ? b_.n[std::size_t(faceB_.face)] : Vector3(-a_.n[std::size_t(faceA_.face)]);
  }

  /// Nine products of axes; of the four parallel edges of a box the one that faces the other box.
  EdgeAxis boxEdgeAxis() const {
    EdgeAxis best;
    const Vector3 d = a_.pose.x - b_.pose.x;
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) {
        Vector3 n = a_.pose.R.col(i).cross(b_.pose.R.col(k));
        const double sine = n.norm();
        if (sine < 1e-6) continue;
        n *= (n.dot(d) < 0 ? -1 : 1) / sine;
        const double gap = n.dot(d) - (a_.pose.R.transpose() * n).cwiseAbs().dot(a_.data.halfEdges) -
                           (b_.pose.R.transpose() * n).cwiseAbs().dot(b_.data.halfEdges);
        if (gap > best.gap + 1e-10 * size_) best = {gap, boxEdge(a_, i, -n), boxEdge(b_, k, n), n};
      }
    }
    return best;
  }

  static int boxEdge(const Body& box, int axis, const Vector3& direction) {
    const Vector3 local = box.pose.R.transpose() * direction;
    int from = 0;
    for (int k = 0; k < 3; ++k) {
      if (k != axis && local[k] > 0) from |= 1 << k;
    }
    const int to = from | 1 << axis;
    for (std::size_t e = 0; e < box.core.edges.size(); ++e) {
      const auto& edge = box.core.edges[e];
      if (std::min(edge.from, edge.to) == from && std::max(edge.from, edge.to) == to) return int(e);
    }
    return -1;
  }

  /// Edges that can come within the depth of the overlap (or the reach) of the other body: the shortest way out of an overlap along the
  /// common normal of two edges connects points of these edges.
  static void edgesNear(const Body& body, const Body& other, double distance, std::vector<int>& found) {
    Bounds bounds{other.x[0], other.x[0]};
    for (const Vector3& v : other.x) bounds.low = bounds.low.cwiseMin(v), bounds.high = bounds.high.cwiseMax(v);
    bounds.low.array() -= distance;
    bounds.high.array() += distance;
    found.clear();
    for (std::size_t e = 0; e < body.core.edges.size(); ++e) {
      const Vector3 &p = body.x[std::size_t(body.core.edges[e].from)], &q = body.x[std::size_t(body.core.edges[e].to)];
      if (bounds.meets({p.cwiseMin(q), p.cwiseMax(q)})) found.push_back(int(e));
    }
  }

  void findNearEdges() {
    const double distance = std::max(reach_, -std::max(faceA_.gap, faceB_.gap)) + 1e-9 * size_;
    edgesNear(a_, b_, distance, scratch_.edgesA);
    edgesNear(b_, a_, distance, scratch_.edgesB);
  }

  /// Two edges make a face of the Minkowski difference where the arcs of their normals cross on the sphere (Gregorius 2013).
  bool makeFace(const Polyhedron::Edge& ea, const Polyhedron::Edge& eb, const Vector3& u, const Vector3& v) const {
    const Vector3 c = -b_.n[std::size_t(eb.left)], d = -b_.n[std::size_t(eb.right)];
    const double cu = c.dot(u), du = d.dot(u);
    if (!(cu * du < 0)) return false;
    if (ea.left < 0) return true;
    const double lv = a_.n[std::size_t(ea.left)].dot(v), rv = a_.n[std::size_t(ea.right)].dot(v);
    return lv * rv < 0 && cu * rv > 0; // of the two points where the great circles cross both arcs hold the same one
  }

  EdgeAxis edgeAxis() {
    findNearEdges();
    EdgeAxis best;
    for (const int i : scratch_.edgesA) {
      const Polyhedron::Edge& ea = a_.core.edges[std::size_t(i)];
      const Vector3 u = a_.along(ea);
      for (const int k : scratch_.edgesB) {
        const Polyhedron::Edge& eb = b_.core.edges[std::size_t(k)];
        const Vector3 v = b_.along(eb);
        if (!makeFace(ea, eb, u, v)) continue;
        Vector3 n = u.cross(v);
        const double sine = n.norm();
        if (sine < 1e-6 * u.norm() * v.norm()) continue;
        n /= sine;
        if (n.dot(b_.n[std::size_t(eb.left)] + b_.n[std::size_t(eb.right)]) < 0) n = -n;
        const double gap = n.dot(a_.from(ea) - b_.from(eb));
        if (gap > best.gap + 1e-10 * size_) best = {gap, i, k, n};
      }
    }
    return best;
  }

  /// Contacts over the chosen face, or those beside a known one. Returns the smallest gap found.
  double addFace(const KnownContact* known = nullptr) {
    const Body &carrier = isFaceOfB_ ? b_ : a_, &other = isFaceOfB_ ? a_ : b_;
    const Patch polygon = carrier.face(face().face);
    Patch patch = other.patchBelow(polygon.normal);
    clipToFace(polygon, patch, 1e-10 * size_);
    if (!known) return addOverFace(polygon, patch, isFaceOfB_, sink_);
    addBeside(*known, polygon, patch, isFaceOfB_, sink_);
    return known->normal.dot(known->onA - known->onB);
  }

  void addExact(const Vector3& onA, const Vector3& onB, const Vector3& normal, double distance, std::uint32_t feature, int edgeA,
                int edgeB) {
    const Vector3 a = onA - a_.radius * normal, b = onB + b_.radius * normal;
    sink_.addBetween(a, b, normal, distance - a_.radius - b_.radius, feature);
    if (normal.dot(faceNormal()) < nearlyParallel) return;
    const KnownContact known{0.5 * (a + b),
                             normal,
                             onA,
                             onB,
                             1e-3 * std::min(a_.data.size, b_.data.size),
                             isFaceOfB_ ? crossing(std::uint32_t(edgeA), std::uint32_t(edgeB))
                                        : crossing(std::uint32_t(edgeB), std::uint32_t(edgeA))};
    addFace(&known);
  }

  SegmentPair onEdges(const Polyhedron::Edge& ea, const Polyhedron::Edge& eb) const {
    return closestOnSegments(a_.from(ea), a_.along(ea), b_.from(eb), b_.along(eb));
  }

  void addEdges() {
    const Polyhedron::Edge &ea = a_.core.edges[std::size_t(edge_.edgeA)], &eb = b_.core.edges[std::size_t(edge_.edgeB)];
    const SegmentPair at = onEdges(ea, eb);
    addExact(a_.from(ea) + at.s * a_.along(ea), b_.from(eb) + at.t * b_.along(eb), edge_.normal, edge_.gap, edgeFeature(), edge_.edgeA,
             edge_.edgeB);
  }
  std::uint32_t edgeFeature() const {
    return featurePair(0x10000000u + std::uint32_t(edge_.edgeA), 0x10000000u + std::uint32_t(edge_.edgeB));
  }

  void findOverlapping() {
    const double bias =
        edge_.edgeA >= 0 && edge_.normal.dot(faceNormal()) > resting ? 1e-8 * size_ + 0.05 * std::abs(face().gap) : 1e-10 * size_;
    if (edge_.gap > face().gap + bias)
      addEdges();
    else if (addFace() == infinity)
      addLowest();
  }

  /// The lowest vertex over the face's plane, where nothing lies over the face itself.
  void addLowest() {
    const Body &carrier = isFaceOfB_ ? b_ : a_, &other = isFaceOfB_ ? a_ : b_;
    const Vector3 n = carrier.n[std::size_t(face().face)];
    const int v = other.lowestVertex(n);
    const Vector3 x = other.x[std::size_t(v)], onFace = x - face().gap * n, normal = faceNormal();
    const Vector3 a = (isFaceOfB_ ? x : onFace) - a_.radius * normal, b = (isFaceOfB_ ? onFace : x) + b_.radius * normal;
    sink_.addBetween(a, b, normal, face().gap - a_.radius - b_.radius,
                     featurePair(2 * std::uint32_t(face().face) + (isFaceOfB_ ? 1 : 0), std::uint32_t(v)));
  }

  /// The largest separation of all axes is the distance if it is reached over the face or between the ends of the edges; else corners are
  /// closest to edges or corners.
  void findSeparated() {
    const double tolerance = 1e-12 * size_;
    if (face().gap >= edge_.gap - tolerance) {
      const double least = addFace() + a_.radius + b_.radius;
      if (least <= face().gap + tolerance) return;
      sink_.points().resize(sink_.first());
    } else {
      const Polyhedron::Edge &ea = a_.core.edges[std::size_t(edge_.edgeA)], &eb = b_.core.edges[std::size_t(edge_.edgeB)];
      if (onEdges(ea, eb).areInner) return addEdges();
    }
    addNearest();
  }

  void addNearest() {
    findNearEdges();
    Nearest best;
    for (const int i : scratch_.edgesA) {
      for (const int k : scratch_.edgesB) offer(i, k, best);
    }
    if (!(best.squared <= reach_ * reach_)) return;
    Vector3 normal = best.onA - best.onB;
    const double distance = normalise(normal, faceNormal());
    addExact(best.onA, best.onB, normal, distance, best.feature, best.edgeA, best.edgeB);
  }

  void offer(int i, int k, Nearest& best) const {
    const Polyhedron::Edge &ea = a_.core.edges[std::size_t(i)], &eb = b_.core.edges[std::size_t(k)];
    const SegmentPair at = onEdges(ea, eb);
    if (!(at.squared < best.squared)) return;
    const auto number = [](const Polyhedron::Edge& e, int edge, double t) {
      return t == 0 ? std::uint32_t(e.from) : t == 1 ? std::uint32_t(e.to) : 0x10000000u + std::uint32_t(edge);
    };
    const auto point = [](const Body& body, const Polyhedron::Edge& e, double t) {
      return t == 1 ? body.x[std::size_t(e.to)] : Vector3(body.from(e) + t * body.along(e));
    };
    best = {at.squared, point(a_, ea, at.s), point(b_, eb, at.t), featurePair(number(ea, i, at.s), number(eb, k, at.t)), i, k};
  }

  Scratch& scratch_;
  Body a_, b_;
  ContactSink& sink_;
  double reach_, size_;
  FaceAxis faceA_, faceB_;
  EdgeAxis edge_;
  bool isFaceOfB_ = false;
};

}

void polyhedronAndPolyhedron(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) {
  static thread_local Scratch scratch;
  PolyhedronPair(a, b, sink, scratch).find();
}

}
