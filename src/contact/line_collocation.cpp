#include "contact/line_samples.h"

namespace tendril {

/// Points at (k + 1/2) / points of a segment, each with an inequality of its own that stands for its part of the length.
void LineSampler::collocate(const Run& run) {
  const int segment = run.front().segment, points = options_.points;
  const double length = shapeOfFirst(run).segments[std::size_t(segment)].length / points;
  for (int k = 0; k < points; ++k) {
    const CurvePlace place{segment, (k + 0.5) / points};
    const NodeShare point{segment * points + k, firstCurve(run).arclength(place), 1};
    addFacing(run, place, length, {&point, 1});
  }
}

}
