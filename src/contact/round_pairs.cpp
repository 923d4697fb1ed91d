#include "contact/closest_point.h"
#include "contact/convex_body.h"
#include "contact/face_clipping.h"
#include "contact/generators.h"
#include "contact/gjk.h"
#include "contact/pair_kernels.h"
#include "contact/support.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Scratch {
  GeneratorSet a, b;
  std::vector<GeneratorFeature> activeA, activeB;
};

class RoundPair {
 public:
  RoundPair(const PlacedShape& a, const PlacedShape& b, ContactSink& sink, Scratch& scratch)
      : scratch_(scratch), a_(a), b_(b), sink_(sink), reach_(sink.margin + a_.radius() + b_.radius()),
        size_(std::max(a.data.size, b.data.size)) {}

  void find() {
    if (!findFaces()) return;
    if (faceGap_ > 0 && isFaceExact()) return finish(true);
    const Approach start = approach(a_.shape(), b_.shape(), reach_);
    if (start.isBeyond) return;
    if (faceGap_ >= separation(a_.shape(), b_.shape(), start.normal) && start.normal.dot(faceDirection()) > 0.999 && isFaceExact())
      return finish(true);
    refine(start.normal);
    const bool isNearFace = face_.index >= 0 && best_.normal.dot(faceDirection()) > ConvexBody::nearlyParallel;
    const double bias = faceGap_ <= 0 && isNearFace ? 1e-9 * size_ : 1e-13 * size_;
    finish(face_.index >= 0 && faceGap_ >= best_.gap - bias);
  }

 private:
  const ConvexBody& carrier() const { return isFaceOfB_ ? b_ : a_; }
  const ConvexBody& other() const { return isFaceOfB_ ? a_ : b_; }
  Vector3 faceDirection() const { return isFaceOfB_ ? face_.normal : Vector3(-face_.normal); } // from b to a

  void finish(bool isByFace) {
    if (isByFace)
      addOnFace();
    else
      addRefined();
    keepSpread(sink_, Vector3::Zero(), b_.shape().pose.R);
  }

  /// Whether the other shape's lowest point lies over the face: then no direction near the face's normal separates more.
  bool isFaceExact() const { return face_.index >= 0 && carrier().isOnFace(face_, coreSupport(other().shape(), -face_.normal)); }

  /// The flat face that separates most; says whether none separates beyond reach.
  bool findFaces() {
    for (const bool isOfB : {true, false}) {
      const ConvexBody &own = isOfB ? b_ : a_, &opposite = isOfB ? a_ : b_;
      for (int i = 0; i < own.faceCount(); ++i) {
        const FlatFace f = own.face(i);
        const double gap = f.normal.dot(coreSupport(opposite.shape(), -f.normal) - f.point);
        if (gap > reach_) return false;
        if (gap > faceGap_ + 1e-10 * size_) faceGap_ = gap, face_ = f, isFaceOfB_ = isOfB;
      }
    }
    return true;
  }

  /// Tries the features near the start until one fulfils all conditions; else takes what separates most.
  void refine(const Vector3& normal) {
    best_.normal = normal;
    best_.gap = separation(a_.shape(), b_.shape(), normal);
    best_.onA = coreSupport(a_.shape(), -normal);
    best_.onB = coreSupport(b_.shape(), normal);
    scratch_.a.fill(a_.shape());
    scratch_.b.fill(b_.shape());
    for (const double width : {1e-5, 1e-3, 3e-2}) {
      scratch_.a.keepActive(-normal, width * a_.shape().data.size, scratch_.activeA);
      scratch_.b.keepActive(normal, width * b_.shape().data.size, scratch_.activeB);
      if (scratch_.activeA.size() * scratch_.activeB.size() > 200) return; // a face: it has been looked at
      for (const GeneratorFeature& fa : scratch_.activeA) {
        for (const GeneratorFeature& fb : scratch_.activeB) {
          if (offer(fa, fb)) return;
        }
      }
    }
  }

  bool offer(const GeneratorFeature& fa, const GeneratorFeature& fb) {
    const FeatureContact found = touch(scratch_.a, fa, scratch_.b, fb, best_.normal, size_);
    if (!found.isFound) return false;
    const double gap = separation(a_.shape(), b_.shape(), found.normal);
    const bool isTrue = gap >= found.gap - 1e-13 * size_; // no other point of the shapes is in the way
    if (!isTrue || gap < best_.gap - 1e-9 * size_) return false;
    best_ = found;
    feature_ = featurePair(fa.id, fb.id);
    return true;
  }

  void addOnFace() {
    const Patch polygon = carrier().outline(face_, 32);
    Patch patch = other().patch(-face_.normal);
    const Vector3 lowest = coreSupport(other().shape(), -face_.normal);
    const bool isFlat = patch.count > 2 && -face_.normal.dot(patch.normal) > 1 - 1e-16;
    const bool isLowestOver = carrier().isOnFace(face_, lowest);
    if (isFlat || !isLowestOver || isEnd(patch, lowest)) {
      clipToFace(polygon, patch, 1e-10 * size_);
      const double least = addOverFace(polygon, patch, isFaceOfB_, sink_) + a_.radius() + b_.radius();
      if (least <= faceGap_ + 1e-12 * size_ || (!isLowestOver && faceGap_ <= 0 && std::isfinite(least))) return;
      sink_.points().resize(sink_.first());
      if (!isLowestOver) return addRefined();
    }
    const Vector3 n = faceDirection(), onFace = lowest - faceGap_ * face_.normal;
    addExact(isFaceOfB_ ? lowest : onFace, isFaceOfB_ ? onFace : lowest, n, faceGap_,
             featurePair(2 * std::uint32_t(face_.index) + (isFaceOfB_ ? 1 : 0), ConvexBody::lowestId));
  }

  bool isEnd(const Patch& patch, const Vector3& x) const {
    return patch.count == 2 && ((patch.corners[0].x - x).norm() <= 1e-10 * size_ || (patch.corners[1].x - x).norm() <= 1e-10 * size_);
  }

  void addRefined() { addExact(best_.onA, best_.onB, best_.normal, best_.gap, feature_); }

  /// The place of least gap, and others near it where faces or lines rest on one another.
  void addExact(const Vector3& onA, const Vector3& onB, const Vector3& normal, double gap, std::uint32_t feature) {
    const Vector3 a = onA - a_.radius() * normal, b = onB + b_.radius() * normal;
    const FlatFace ofB = b_.faceTowards(normal), ofA = a_.faceTowards(-normal);
    const KnownContact known{0.5 * (a + b), normal, onA, onB, 0.15 * std::min(a_.shape().data.size, b_.shape().data.size)};
    const bool isOnLine = ofA.index < 0 && ofB.index < 0 && addLines(onA, normal, gap);
    if (isOnLine) return;
    sink_.addBetween(a, b, normal, gap - a_.radius() - b_.radius(), feature);
    if (ofB.index >= 0)
      addRest(known, b_, ofB, a_, true);
    else if (ofA.index >= 0)
      addRest(known, a_, ofA, b_, false);
  }

  void addRest(const KnownContact& known, const ConvexBody& from, const FlatFace& f, const ConvexBody& to, bool isOfB) {
    Patch patch = to.patch(-f.normal);
    if (patch.count < 2) return;
    const Patch polygon = from.outline(f, 32);
    clipToFace(polygon, patch, 1e-10 * size_);
    addBeside(known, polygon, patch, isOfB, sink_);
  }

  /// Straight lines of both surfaces side by side: the ends of the length that they share and, where they cross at a small angle, the
  /// place between.
  bool addLines(const Vector3& onA, const Vector3& normal, double gap) {
    const Patch lineA = a_.patch(-normal), lineB = b_.patch(normal);
    if (lineA.count != 2 || lineB.count != 2) return false;
    const Vector3 p = lineA.corners[0].x, u = lineA.corners[1].x - p, q = lineB.corners[0].x, v = lineB.corners[1].x - q;
    const double uu = u.squaredNorm(), sine = u.cross(v).norm() / std::sqrt(uu * v.squaredNorm());
    if (sine > ConvexBody::nearlyLevel) return false;
    const double first = (q - p).dot(u) / uu, last = (q + v - p).dot(u) / uu;
    const double low = std::clamp(std::min(first, last), 0., 1.), high = std::clamp(std::max(first, last), 0., 1.);
    if (!(high - low > 1e-3 * std::min(1., v.norm() / std::sqrt(uu)))) return false;
    const double known = std::clamp((onA - p).dot(u) / uu, 0., 1.), near = 1e-3 * (high - low);
    const std::uint32_t lines = featurePair(lineA.id, lineB.id);
    const auto addAt = [&](const Vector3& x, double distance, std::uint32_t place) {
      const Vector3 middle = x - 0.5 * (distance + a_.radius() - b_.radius()) * normal;
      sink_.add(middle, normal, distance - a_.radius() - b_.radius(), featurePair(lines, place));
    };
    bool isKnownAtEnd = sine < 1e-9; // then it is no better than the ends
    for (const double s : {low, high}) {
      const std::uint32_t place = s == low ? 1 : 2;
      if (sine >= 1e-9 && std::abs(known - s) < near) {
        addAt(onA, gap, place);
        isKnownAtEnd = true;
      } else {
        const Vector3 x = p + s * u, y = q + closestOnSegment(x, q, v) * v;
        addAt(x, normal.dot(x - y), place);
      }
    }
    if (!isKnownAtEnd) addAt(onA, gap, 0);
    return true;
  }

  Scratch& scratch_;
  ConvexBody a_, b_;
  ContactSink& sink_;
  double reach_, size_;
  FlatFace face_;
  double faceGap_ = -infinity;
  bool isFaceOfB_ = false;
  FeatureContact best_;
  std::uint32_t feature_ = 0;
};

}

void convexAndRound(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) {
  static thread_local Scratch scratch;
  RoundPair(a, b, sink, scratch).find();
}

}
