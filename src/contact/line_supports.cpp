#include "contact/line_samples.h"

#include "tendril/contact/contact_detection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace tendril {

/// The deepest contact of a section with a rigid part, and how its gap grows along xi: n . x'.
std::optional<LineSampler::Probe> LineSampler::probe(const Run& run, const Pose& C) {
  findRigid(run, C);
  if (points_.empty()) return std::nullopt;
  return Probe{points_.front(), points_.front().normal.dot(tangentAt(firstCurve(run), run.front().segment, C))};
}

/// Where a curve lies across a rigid part (an edge, a ball, a thin cylinder) the mean around a node sees as little of the nearest place as
/// where it crosses a curve; so that place, or the end of the curve if that is nearest, is an inequality of its own by the same rule, delta
/// = D'' h^2 / 8 against twice the radius of the curve, D'' h^2 the change of the slope along the segment. An end whose centre is first
/// seen on or in the part is fixed to it and does not touch it.
void LineSampler::addSupports(const Run& run) {
  const CurveConfiguration& curve = firstCurve(run);
  const int segment = run.front().segment, next = segmentAfter(curve.curve(), segment);
  const auto begin = probe(run, curve.node(segment)), end = probe(run, curve.node(segment + 1));
  if (!begin || !end) return;
  const double diameter = 2 * curve.curve().radius;
  const auto isAnchored = [&](const Probe& p) { return p.nearest.gap < -0.495 * diameter; };
  if (begin->slope < 0 && end->slope >= 0) {
    const double xi = flattest(run, begin->slope, end->slope);
    const CurvePlace place{segment, xi};
    if (const auto found = probe(run, curve.frame(place)))
      addSupport(run, place, found->nearest, (end->slope - begin->slope) / 8 / diameter);
  } else if (end->slope < 0 && !(next < 0 && isAnchored(*end))) {
    const double beyond = next >= 0 ? end->nearest.normal.dot(tangentAtBegin(curve, next)) : -end->slope;
    if (beyond >= 0)
      addSupport(run, {segment, 1}, end->nearest, ((end->slope - begin->slope) / 8 + std::min(-end->slope, beyond) / 2) / diameter);
  } else if (begin->slope > 0 && segmentBefore(curve.curve(), segment) < 0 && !isAnchored(*begin)) {
    addSupport(run, {segment, 0}, begin->nearest, ((end->slope - begin->slope) / 8 + begin->slope / 2) / diameter);
  }
}

/// Where the slope vanishes between the ends of a segment, by the rule of the false position (Illinois).
double LineSampler::flattest(const Run& run, double atBegin, double atEnd) {
  constexpr int most = 40;
  const double close = 1e-12 * (atEnd - atBegin);
  double a = 0, b = 1, fa = atBegin, fb = atEnd, xi = 0;
  for (int i = 0; i < most; ++i) {
    xi = (a * fb - b * fa) / (fb - fa);
    const auto found = probe(run, firstCurve(run).frame({run.front().segment, xi}));
    if (!found || std::abs(found->slope) <= close) break;
    if ((found->slope < 0) == (fb < 0)) {
      fa *= 0.5;
    } else {
      a = b, fa = fb;
    }
    b = xi, fb = found->slope;
  }
  return xi;
}

void LineSampler::addSupport(const Run& run, const CurvePlace& place, const ContactPoint& nearest, double rise) {
  if (nearest.gap > approach_) return;
  LineSample sample = supportAt(run, place, nearest);
  addCrossing(sample, rise, 2 * shapeOfFirst(run).radius);
}

LineSample LineSampler::supportAt(const Run& run, const CurvePlace& place, const ContactPoint& nearest) const {
  const LineCandidate& pair = run.front();
  LineSample sample;
  sample.isCrossing = true;
  sample.first = pair.first, sample.second = pair.second, sample.law = pair.law;
  sample.place = place, sample.nearest = nearest;
  sample.arclength = firstCurve(run).arclength(place);
  sample.gap = nearest.gap, sample.normal = nearest.normal;
  return sample;
}

LineSampler::Run LineSampler::runOf(int first, int second, int segment) const {
  const std::tuple wanted(first, second, segment);
  const auto isBefore = [](const NearRun& run, const auto& value) {
    const LineCandidate& c = run.candidates.front();
    return std::tuple(c.first, c.second, c.segment) < value;
  };
  return std::lower_bound(runs_.begin(), runs_.end(), wanted, isBefore)->candidates;
}

/// Differences of the normals around the centre, each from the contact that it stands for.
Matrix3 LineSampler::normalRate(const LineSample& sample) {
  const Run run = runOf(sample.first, sample.second, sample.place.segment);
  const double width = 1e-4 * shapeOfFirst(run).radius;
  const Pose C = firstCurve(run).frame(sample.place);
  const Vector3& n = sample.nearest.normal;
  const Matrix3 basis = contactFrame(n, Vector3::Zero());
  Matrix3 N = Matrix3::Zero();
  for (int k = 1; k < 3; ++k) {
    std::array<Vector3, 2> changes; // forth and back
    for (const int side : {0, 1}) {
      const double sign = side == 0 ? 1 : -1;
      findRigid(run, {C.R, C.x + sign * width * basis.col(k)}, sample.nearest.gap + width);
      const auto same = std::find_if(points_.begin(), points_.end(), [&](const ContactPoint& p) { return p.normal.dot(n) > sameNormal; });
      if (same == points_.end()) return Matrix3::Zero();
      changes[std::size_t(side)] = sign * (same->normal - n);
    }
    // Where a face ends the normal turns on one side alone: there is no derivative, and the face counts.
    const Vector3 change = changes[0] + changes[1], jump = changes[0] - changes[1];
    if (jump.norm() > 0.5 * change.norm()) continue;
    N += (change - n * n.dot(change)) / (2 * width) * basis.col(k).transpose();
  }
  return N;
}

bool LineSampler::addSupportAt(int first, int second, const CurvePlace& place) {
  const Run run = runOf(first, second, place.segment);
  const auto found = probe(run, firstCurve(run).frame(place));
  if (!found || found->nearest.gap > approach_) return false;
  samples_.push_back(supportAt(run, place, found->nearest));
  shares_.push_back({int(samples_.size()) - 1, LineShare::crossing, samples_.back().arclength, 1});
  return true;
}

}
