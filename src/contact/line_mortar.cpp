#include "contact/line_samples.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tendril {

namespace {

struct GaussPoint {
  double xi, weight; ///< on [0, 1]
};

/// Legendre-Gauss points on [0, 1], n = 1..4.
std::span<const GaussPoint> gaussPoints(int n) {
  static const double a2 = 0.5 / std::sqrt(3.0), a3 = 0.5 * std::sqrt(0.6);
  static const double inner = 0.5 * std::sqrt(3.0 / 7 - 2.0 / 7 * std::sqrt(1.2)),
                      outer = 0.5 * std::sqrt(3.0 / 7 + 2.0 / 7 * std::sqrt(1.2));
  static const double wi = (18 + std::sqrt(30.0)) / 72, wo = (18 - std::sqrt(30.0)) / 72;
  static const std::array<GaussPoint, 1> one{{{0.5, 1}}};
  static const std::array<GaussPoint, 2> two{{{0.5 - a2, 0.5}, {0.5 + a2, 0.5}}};
  static const std::array<GaussPoint, 3> three{{{0.5 - a3, 5.0 / 18}, {0.5, 8.0 / 18}, {0.5 + a3, 5.0 / 18}}};
  static const std::array<GaussPoint, 4> four{{{0.5 - outer, wo}, {0.5 - inner, wi}, {0.5 + inner, wi}, {0.5 + outer, wo}}};
  switch (n) {
  case 1:
    return one;
  case 2:
    return two;
  case 3:
    return three;
  default:
    return four;
  }
}

}

/// int phi_j (.) ds over a segment of the first curve, piece by piece between the places that face nodes of the second.
void LineSampler::integrate(const Run& run) {
  constexpr double shortest = 1e-12;
  const ContactCurve& curve = shapeOfFirst(run);
  const int segment = run.front().segment, next = segmentAfter(curve, segment);
  const double length = curve.segments[std::size_t(segment)].length, start = firstCurve(run).arclength({segment, 0});
  const int endNode = next == 0 ? 0 : segment + 1;
  findBounds(run);
  for (std::size_t i = 0; i + 1 < bounds_.size(); ++i) {
    const double begin = bounds_[i], piece = bounds_[i + 1] - begin;
    if (piece < shortest) continue;
    for (const GaussPoint& g : gaussPoints(options_.gaussPoints)) {
      const double xi = begin + piece * g.xi;
      const std::array<NodeShare, 2> nodes{{{segment, start, 1 - xi}, {endNode, start + length, xi}}};
      addFacing(run, {segment, xi}, g.weight * piece * length, nodes);
    }
  }
}

void LineSampler::findBounds(const Run& run) {
  bounds_.assign({0.0, 1.0});
  if (isRigid(run)) return;
  const CurveConfiguration& second = geometry_->curves[std::size_t(run.front().second)];
  int last = -1;
  for (const LineCandidate& candidate : run) {
    const int k = candidate.other, before = segmentBefore(second.curve(), k), after = segmentAfter(second.curve(), k);
    if (before < 0 || before != last)
      addBound(run, second.node(k).x, tangentAtBegin(second, k) + (before < 0 ? Vector3::Zero() : tangentAtEnd(second, before)));
    addBound(run, second.node(k + 1).x, tangentAtEnd(second, k) + (after < 0 ? Vector3::Zero() : tangentAtBegin(second, after)));
    last = k;
  }
  std::sort(bounds_.begin(), bounds_.end());
}

/// Where the facing place crosses a node x_f of the second curve: (x_f - x_C(xi)) . t = 0 with its mean tangent t or, where facing places
/// lie in the plane of the section, with t = R_C e1. Found by the rule of the false position (Illinois).
void LineSampler::addBound(const Run& run, const Vector3& node, const Vector3& tangent) {
  constexpr int most = 30;
  const int segment = run.front().segment;
  const auto value = [&](const Pose& C) {
    const Vector3 t = options_.projection == Projection::SectionPlane ? Vector3(C.R.col(0)) : tangent;
    return (node - C.x).dot(t);
  };
  double a = 0, b = 1, fa = value(firstCurve(run).node(segment)), fb = value(firstCurve(run).node(segment + 1));
  if ((fa < 0) == (fb < 0)) return;
  const double close = 1e-13 * std::max(std::abs(fa), std::abs(fb));
  double xi = a;
  for (int i = 0; i < most; ++i) {
    xi = (a * fb - b * fa) / (fb - fa);
    const double f = value(firstCurve(run).frame({segment, xi}));
    if (std::abs(f) <= close) break;
    if ((f < 0) == (fb < 0)) {
      fa *= 0.5;
    } else {
      a = b, fa = fb;
    }
    b = xi, fb = f;
  }
  bounds_.push_back(xi);
}

}
