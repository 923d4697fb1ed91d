#include "contact/line_samples.h"

#include "contact/chords.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tendril {

LineSampler::LineSampler(const ContactModel& parts, const LineContactOptions& options) : parts_(parts), options_(options) {
  for (const ContactModel::Part& part : parts.parts()) {
    ballOf_.push_back(int(balls_.size()));
    if (!part.curve) continue;
    Shape ball;
    ball.kind = Shape::Kind::Sphere;
    ball.size[0] = part.curve->radius;
    balls_.emplace_back(ball, part.name);
  }
}

void LineSampler::sample(const LineGeometry& geometry, std::span<const LineCandidate> candidates, double approach) {
  geometry_ = &geometry;
  approach_ = approach;
  facing_.geometry = &geometry;
  facing_.parts = &parts_;
  facing_.projection = options_.projection;
  samples_.clear();
  shares_.clear();
  findRuns(candidates);
  for (std::size_t r = 0; r < runs_.size(); ++r) {
    if (!isWanted(r)) continue;
    const Run& run = runs_[r].candidates;
    if (options_.method == LineContactOptions::Method::Mortar) {
      integrate(run);
    } else {
      collocate(run);
    }
    if (isRigid(run)) {
      addSupports(run);
    } else {
      addCrossings(run);
    }
  }
}

void LineSampler::findRuns(std::span<const LineCandidate> candidates) {
  runs_.clear();
  for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
    while (end < candidates.size() && candidates[end].isOfRun(candidates[begin])) ++end;
    const Run run = candidates.subspan(begin, end - begin);
    const bool isNear = isRigid(run) || std::any_of(run.begin(), run.end(), [this](const LineCandidate& c) { return comesNear(c); });
    runs_.push_back({run, isNear});
  }
}

/// A mean around a node is taken over both its segments, if one of them comes near.
bool LineSampler::isWanted(std::size_t r) const {
  if (runs_[r].isNear) return true;
  const LineCandidate& c = runs_[r].candidates.front();
  const ContactCurve& curve = geometry_->curves[std::size_t(c.first)].curve();
  const bool isAtSeam = isClosed(curve) && (c.segment == 0 || c.segment + 1 == int(curve.segments.size()));
  const auto isNearNeighbour = [&](std::size_t k) {
    const LineCandidate& n = runs_[k].candidates.front();
    return runs_[k].isNear && n.first == c.first && n.second == c.second && std::abs(n.segment - c.segment) == 1;
  };
  return isAtSeam || (r > 0 && isNearNeighbour(r - 1)) || (r + 1 < runs_.size() && isNearNeighbour(r + 1));
}

/// Whether two segments of curves may have a gap up to the approach: by the straight lines between their ends, from which a segment bulges
/// by no more than |d_u| |d_Omega| / 8.
bool LineSampler::comesNear(const LineCandidate& candidate) const {
  const CurveConfiguration &first = geometry_->curves[std::size_t(candidate.first)],
                           &second = geometry_->curves[std::size_t(candidate.second)];
  const Chord a(first, candidate.segment), b(second, candidate.other);
  const auto [s, t] = nearestOnChords(a, b);
  const double within = approach_ + first.curve().radius + second.curve().radius + a.bulge + b.bulge;
  return (a.at(s) - b.at(t)).squaredNorm() <= within * within;
}

void LineSampler::addFacing(const Run& run, const CurvePlace& place, double length, std::span<const NodeShare> nodes) {
  const Pose C = firstCurve(run).frame(place);
  if (isRigid(run)) {
    addRigid(run, place, C, length, nodes);
  } else {
    addCurves(run, place, C, length, nodes);
  }
}

void LineSampler::addCurves(const Run& run, const CurvePlace& place, const Pose& C, double length, std::span<const NodeShare> nodes) {
  const LineCandidate& pair = run.front();
  const CurveConfiguration& second = geometry_->curves[std::size_t(pair.second)];
  const double s1 = firstCurve(run).arclength(place), radii = shapeOfFirst(run).radius + second.curve().radius;
  const Vector3 t1 = tangentAt(firstCurve(run), place.segment, C).normalized();
  for (const FacingPlace& facing : facing_.find(run, C, s1)) {
    const Pose F = second.frame(facing.place);
    LineSample& sample = samples_.emplace_back();
    sample.first = pair.first, sample.second = pair.second, sample.law = pair.law;
    sample.place = place, sample.otherPlace = facing.place;
    sample.arclength = s1, sample.otherArclength = facing.arclength;
    sample.gap = facing.distance - radii;
    sample.normal = (C.x - F.x) / std::max(facing.distance, 1e-12 * radii);
    sample.cosine = t1.dot(tangentAt(second, facing.place.segment, F).normalized());
    share(length, nodes);
  }
}

void LineSampler::findRigid(const Run& run, const Pose& C) {
  findRigid(run, C, approach_ + shapeOfFirst(run).segments[std::size_t(run.front().segment)].length);
}

void LineSampler::findRigid(const Run& run, const Pose& C, double within) {
  const LineCandidate& pair = run.front();
  const ContactModel::Part& part = parts_.parts()[std::size_t(pair.second)];
  const CollisionShape& ball = balls_[std::size_t(ballOf_[std::size_t(pair.first)])];
  points_.clear();
  for (const LineCandidate& candidate : run) {
    findContacts(ball, C, part.shapes[std::size_t(candidate.other)], geometry_->frames[std::size_t(pair.second)], within, points_);
  }
  const auto isDeeper = [](const ContactPoint& a, const ContactPoint& b) {
    return std::tuple(a.gap, a.feature) < std::tuple(b.gap, b.feature);
  };
  std::sort(points_.begin(), points_.end(), isDeeper);
}

void LineSampler::addRigid(const Run& run, const CurvePlace& place, const Pose& C, double length, std::span<const NodeShare> nodes) {
  const LineCandidate& pair = run.front();
  findRigid(run, C);
  const std::size_t begin = samples_.size();
  for (const ContactPoint& point : points_) {
    const auto isSame = [&](const LineSample& deeper) { return deeper.normal.dot(point.normal) > sameNormal; };
    if (std::any_of(samples_.begin() + std::ptrdiff_t(begin), samples_.end(), isSame)) continue;
    LineSample& sample = samples_.emplace_back();
    sample.first = pair.first, sample.second = pair.second, sample.law = pair.law;
    sample.place = place, sample.nearest = point;
    sample.arclength = firstCurve(run).arclength(place);
    sample.gap = point.gap, sample.normal = point.normal;
    share(length, nodes);
  }
}

void LineSampler::share(double length, std::span<const NodeShare> nodes) {
  for (const NodeShare& n : nodes) shares_.push_back({int(samples_.size()) - 1, n.node, n.arclength, n.phi * length});
}

}
