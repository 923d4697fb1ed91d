#include "contact/chords.h"
#include "contact/line_samples.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace tendril {

namespace {

/// A point of a segment with the derivatives of its position along xi.
struct SegmentPoint {
  Vector3 x, slope, bend;
};

SegmentPoint pointOf(const CurveConfiguration& curve, int segment, double xi) {
  const Pose frame = curve.frame({segment, xi});
  const Vector6& d = curve.relative(segment);
  return {frame.x, frame.R * d.head<3>(), frame.R * d.tail<3>().cross(d.head<3>())};
}

/// The minimum of f = |x_1(xi_1) - x_2(xi_2)|^2 / 2 over two segments, each bounded by its ends.
struct NearestPair {
  const CurveConfiguration& first;
  const CurveConfiguration& second;
  int firstSegment, secondSegment;

  std::array<double, 2> xi{0.5, 0.5};
  Vector3 r{0, 0, 0}; ///< x_1 - x_2
  std::array<double, 2> gradient{};
  double f11 = 0, f12 = 0, f22 = 0;

  void evaluate() {
    const SegmentPoint a = pointOf(first, firstSegment, xi[0]), b = pointOf(second, secondSegment, xi[1]);
    r = a.x - b.x;
    gradient = {r.dot(a.slope), -r.dot(b.slope)};
    f11 = a.slope.squaredNorm() + r.dot(a.bend);
    f12 = -a.slope.dot(b.slope);
    f22 = b.slope.squaredNorm() - r.dot(b.bend);
  }

  /// Newton's method on those of the two that no bound holds. False where there is no strict minimum.
  bool solve() {
    constexpr int most = 20;
    constexpr double close = 1e-13;
    for (int i = 0; i < most; ++i) {
      evaluate();
      const auto isHeld = [this](int k) { return (xi[k] == 0 && gradient[k] > 0) || (xi[k] == 1 && gradient[k] < 0); };
      const bool held1 = isHeld(0), held2 = isHeld(1);
      std::array<double, 2> step{};
      if (f11 <= 0 || f22 <= 0) return false;
      if (held1 && held2) return true;
      if (held1) {
        step[1] = -gradient[1] / f22;
      } else if (held2) {
        step[0] = -gradient[0] / f11;
      } else {
        const double determinant = f11 * f22 - f12 * f12;
        if (determinant <= 1e-6 * f11 * f22) return false; // parallel: no crossing
        step = {(f12 * gradient[1] - f22 * gradient[0]) / determinant, (f12 * gradient[0] - f11 * gradient[1]) / determinant};
      }
      double moved = 0;
      for (int k = 0; k < 2; ++k) {
        const double next = std::clamp(xi[k] + step[k], 0.0, 1.0);
        moved = std::max(moved, std::abs(next - xi[k]));
        xi[k] = next;
      }
      if (moved < close) {
        evaluate();
        return true;
      }
    }
    return false;
  }
};

double smoothStep(double x) {
  x = std::clamp(x, 0.0, 1.0);
  return x * x * (3 - 2 * x);
}

}

/// Where two curves cross, means over the surroundings of a node do not see how near they come: the distance rises to both sides of the
/// crossing by delta = D'' h^2 / 8 within half a segment. So the place nearest on both curves is an inequality of its own, with its exact
/// gap, once delta is not small against the radii. The inequalities of nodes stay; where they mean something (a curve that winds round
/// another) there is no such minimum, and beside a crossing their gaps are open. So that nothing jumps while curves turn against one
/// another, delta between 1 and 3 % of the sum of the radii lets the crossing come nearer by an allowance that goes from 2 % to nothing.
///
/// A minimum at a node counts where both segments that meet there rise away from it. Ends of curves are no crossings.
void LineSampler::addCrossings(const Run& run) {
  constexpr double roundOff = 1e-10;
  const LineCandidate& pair = run.front();
  const CurveConfiguration &first = firstCurve(run), &second = geometry_->curves[std::size_t(pair.second)];
  const double radii = first.curve().radius + second.curve().radius;
  for (const LineCandidate& candidate : run) {
    if (!comesNear(candidate)) continue;
    const auto guess = nearestOnChords({first, candidate.segment}, {second, candidate.other});
    NearestPair nearest{first, second, candidate.segment, candidate.other, guess};
    if (!nearest.solve()) continue;
    const double distance = nearest.r.norm();
    if (distance - radii > approach_) continue;

    // At a bound the next segment must rise; the smaller of the two slopes is a kink of the distance.
    const auto kink = [&](const CurveConfiguration& curve, int segment, int k, double sign) -> std::optional<double> {
      const double scale = roundOff * (k == 0 ? nearest.f11 : nearest.f22);
      if (nearest.xi[k] > 0 && nearest.xi[k] < 1) return 0;
      const bool isEnd = nearest.xi[k] == 1;
      const int next = isEnd ? segmentAfter(curve.curve(), segment) : segmentBefore(curve.curve(), segment);
      if (next < 0) return std::nullopt;
      const Vector3 tangent = isEnd ? tangentAtBegin(curve, next) : tangentAtEnd(curve, next);
      const double outward = isEnd ? 1 : -1, beyond = outward * sign * nearest.r.dot(tangent), within = -outward * nearest.gradient[k];
      if (beyond < -scale) return std::nullopt;
      return std::max(0.0, std::min(beyond, within));
    };
    const auto kink1 = kink(first, candidate.segment, 0, +1), kink2 = kink(second, candidate.other, 1, -1);
    if (!kink1 || !kink2) continue;

    const double curvature = nearest.f11 - nearest.f12 * nearest.f12 / nearest.f22;
    const double rise = (curvature / 8 + *kink1 / 2) / (radii * radii);
    LineSample sample;
    sample.isCrossing = true;
    sample.first = pair.first, sample.second = pair.second, sample.law = pair.law;
    sample.place = {candidate.segment, nearest.xi[0]}, sample.otherPlace = {candidate.other, nearest.xi[1]};
    sample.arclength = first.arclength(sample.place), sample.otherArclength = second.arclength(sample.otherPlace);
    if (pair.first == pair.second && !facesItself(first.curve(), sample.arclength, sample.otherArclength)) continue;
    sample.gap = distance - radii;
    sample.normal = nearest.r / std::max(distance, 1e-12 * radii);
    sample.curvature = curvature / distance;
    sample.follow = -nearest.f12 / nearest.f22;
    addCrossing(sample, rise, radii);
  }
}

void LineSampler::addCrossing(LineSample& sample, double rise, double size) {
  constexpr double distinct = 0.03, largestAllowance = 0.02;
  sample.isResolved = rise <= unresolvedRise;
  sample.isFlat = rise < distinct;
  sample.allowance = largestAllowance * size * (1 - smoothStep((rise - unresolvedRise) / (distinct - unresolvedRise)));
  samples_.push_back(sample);
  shares_.push_back({int(samples_.size()) - 1, LineShare::crossing, sample.arclength, 1});
}

}
