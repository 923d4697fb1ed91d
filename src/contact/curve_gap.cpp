#include "tendril/contact/curve_gap.h"

#include "contact/closest_point.h"
#include "tendril/lie/so3.h"

#include <algorithm>
#include <limits>

namespace tendril {

namespace {

constexpr double accuracy = 1e-6; ///< of the radii
constexpr double infinity = std::numeric_limits<double>::infinity();

/// A part of a segment, replaced by its chord.
struct Piece {
  int segment = 0;
  double begin = 0, width = 1; ///< xi
  Vector3 from, to;
  double sagitta = 0; ///< the piece lies within it of the chord
};

Piece piece(const CurveConfiguration& curve, int segment, double begin, double width) {
  const Vector6& d = curve.relative(segment);
  return {segment,
          begin,
          width,
          curve.frame({segment, begin}).x,
          curve.frame({segment, begin + width}).x,
          d.head<3>().norm() * d.tail<3>().norm() * width * width / 8};
}

std::array<Piece, 2> halves(const CurveConfiguration& curve, const Piece& p) {
  return {piece(curve, p.segment, p.begin, p.width / 2), piece(curve, p.segment, p.begin + p.width / 2, p.width / 2)};
}

std::vector<Piece> segmentsOf(const CurveConfiguration& curve) {
  std::vector<Piece> pieces;
  for (int i = 0; i < curve.segments(); ++i) pieces.push_back(piece(curve, i, 0, 1));
  return pieces;
}

/// The distance of what may hold the smallest one lies between distance - slack and distance + slack.
template <class Pieces> struct Candidate {
  Pieces pieces;
  double distance = infinity, slack = 0;
};

/// Branch and bound, the lowest bound first. `measure(pieces)` makes a candidate, `split(pieces, use)` halves pieces.
template <class Pieces, class Measure, class Split>
Candidate<Pieces> smallest(const std::vector<Pieces>& all, double tolerance, const Measure& measure, const Split& split) {
  std::vector<Candidate<Pieces>> heap;
  Candidate<Pieces> best;
  double bound = infinity;
  const auto isHigher = [](const auto& a, const auto& b) { return a.distance - a.slack > b.distance - b.slack; };
  const auto add = [&](const Pieces& pieces) {
    const Candidate<Pieces> candidate = measure(pieces);
    if (!(candidate.distance - candidate.slack < bound)) return;
    if (candidate.distance + candidate.slack < bound) best = candidate, bound = candidate.distance + candidate.slack;
    heap.push_back(candidate);
    std::push_heap(heap.begin(), heap.end(), isHigher);
  };
  for (const Pieces& pieces : all) add(pieces);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), isHigher);
    const Candidate<Pieces> lowest = heap.back();
    heap.pop_back();
    if (bound - (lowest.distance - lowest.slack) <= tolerance) break;
    split(lowest.pieces, add);
  }
  return best;
}

auto halving(const CurveConfiguration& curve) {
  return [&curve](const Piece& p, const auto& use) {
    for (const Piece& half : halves(curve, p)) use(half);
  };
}

/// Balls of a radius along the chord of a piece.
CollisionShape capsule(const Piece& p, double radius) {
  const Vector3 chord = p.to - p.from;
  const Pose middle{so3::shortestRotation(Vector3::UnitZ(), chord), (p.from + p.to) / 2};
  return {{.kind = Shape::Kind::Capsule, .size = {radius, chord.norm(), 0}, .pose = middle}, "piece of a curve"};
}

}

double gapOf(const CurveConfiguration& first, const CurveConfiguration& second) {
  using Pair = std::array<Piece, 2>;
  std::vector<Pair> pairs;
  const std::vector<Piece> others = segmentsOf(second);
  for (const Piece& one : segmentsOf(first)) {
    for (const Piece& other : others) pairs.push_back({one, other});
  }
  const double radii = first.curve().radius + second.curve().radius;
  const auto measure = [](const Pair& p) -> Candidate<Pair> {
    const double squared = closestOnSegments(p[0].from, p[0].to - p[0].from, p[1].from, p[1].to - p[1].from).squared;
    return {p, std::sqrt(squared), p[0].sagitta + p[1].sagitta};
  };
  const auto split = [&](const Pair& p, const auto& use) {
    const bool isFirst = p[0].sagitta > p[1].sagitta;
    for (const Piece& half : isFirst ? halves(first, p[0]) : halves(second, p[1])) use(isFirst ? Pair{half, p[1]} : Pair{p[0], half});
  };
  return smallest(pairs, accuracy * radii, measure, split).distance - radii;
}

double gapOf(const CurveConfiguration& curve, const CollisionShape& shape, const Pose& part) {
  const double radius = curve.curve().radius;
  const auto measure = [&](const Piece& p) -> Candidate<Piece> { return {p, gapOf(capsule(p, radius), Pose{}, shape, part), p.sagitta}; };
  return smallest(segmentsOf(curve), accuracy * radius, measure, halving(curve)).distance;
}

CurvePlace nearestPlace(const CurveConfiguration& curve, const Vector3& point) {
  const auto fraction = [&](const Piece& p) { return closestOnSegment(point, p.from, p.to - p.from); };
  const auto measure = [&](const Piece& p) -> Candidate<Piece> {
    return {p, (p.from + fraction(p) * (p.to - p.from) - point).norm(), p.sagitta};
  };
  const Piece nearest = smallest(segmentsOf(curve), accuracy * curve.curve().radius, measure, halving(curve)).pieces;
  return {nearest.segment, nearest.begin + fraction(nearest) * nearest.width};
}

/// The margin within which contacts are looked for grows until there are some; shapes that can never touch have none.
double gapOf(const CollisionShape& first, const Pose& firstPart, const CollisionShape& second, const Pose& secondPart) {
  if (!canTouch(first, second)) return infinity;
  const double size = std::max(first.size(), second.size());
  std::vector<ContactPoint> points;
  for (double margin = size / 4; points.empty() && margin < 1e6 * size; margin *= 8) {
    findContacts(first, firstPart, second, secondPart, margin, points);
  }
  double gap = infinity;
  for (const ContactPoint& point : points) gap = std::min(gap, point.gap);
  return gap;
}

}
