#include "contact/facing.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tendril {

Vector3 tangentAtBegin(const CurveConfiguration& curve, int segment) { return tangentAt(curve, segment, curve.node(segment)); }
Vector3 tangentAtEnd(const CurveConfiguration& curve, int segment) { return tangentAt(curve, segment, curve.node(segment + 1)); }

void FacingSearch::addInterior(const CurveConfiguration& curve, int segment, const Pose& C, double begin, double end) {
  constexpr double slack = 1e-9;
  const auto xi = project(C, curve, segment, std::clamp(begin / (begin - end), 0.0, 1.0), projection, slack);
  if (!xi) return;
  const CurvePlace place{segment, std::clamp(*xi, 0.0, 1.0)};
  places_.push_back({place, curve.arclength(place), (curve.frame(place).x - C.x).norm()});
}

void FacingSearch::addNode(const CurveConfiguration& curve, int before, const Pose& C) {
  const CurvePlace place{before, 1};
  places_.push_back({place, curve.arclength(place), (curve.node(before + 1).x - C.x).norm()});
}

const std::vector<FacingPlace>& FacingSearch::find(std::span<const LineCandidate> run, const Pose& C, double s1) {
  places_.clear();
  const int second = run.front().second;
  const CurveConfiguration& curve = geometry->curves[std::size_t(second)];
  const ContactCurve& shape = curve.curve();
  const bool isPlane = projection == Projection::SectionPlane;
  const Vector3 m = C.R.col(0);
  int last = -1; // segment of the candidate before
  for (const LineCandidate& candidate : run) {
    const int k = candidate.other, before = segmentBefore(shape, k), after = segmentAfter(shape, k);
    const Vector3 a = curve.node(k).x - C.x, b = curve.node(k + 1).x - C.x;
    if (isPlane) {
      const double begin = a.dot(m), end = b.dot(m);
      if ((begin < 0) != (end < 0)) addInterior(curve, k, C, begin, end);
    } else {
      const double begin = a.dot(tangentAtBegin(curve, k)), end = b.dot(tangentAtEnd(curve, k));
      if (begin >= 0 && before >= 0 && before != last && a.dot(tangentAtEnd(curve, before)) < 0) addNode(curve, before, C);
      if (begin < 0 && end >= 0) addInterior(curve, k, C, begin, end);
      if (end < 0 && after >= 0 && b.dot(tangentAtBegin(curve, after)) >= 0) addNode(curve, k, C);
    }
    last = k;
  }
  if (run.front().first == second) {
    std::erase_if(places_, [&](const FacingPlace& p) { return !facesItself(shape, s1, p.arclength); });
  }
  keepNearest(parts->parts()[std::size_t(run.front().first)].curve->radius + shape.radius);
  return places_;
}

void FacingSearch::keepNearest(double radii) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const FacingPlace place = places_[i];
    const double apart = kept ? place.arclength - places_[kept - 1].arclength : 0;
    const bool isNew = !kept || apart > std::numbers::pi * std::max(radii, std::min(place.distance, places_[kept - 1].distance));
    if (isNew) {
      places_[kept++] = place;
    } else if (place.distance < places_[kept - 1].distance) {
      places_[kept - 1] = place;
    }
  }
  places_.resize(kept);
}

}
