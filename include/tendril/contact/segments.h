#pragma once
#include "tendril/lie/types.h"

namespace tendril {

/// Parameters in [0, 1] of the closest points of two segments p + s u and q + t v.
struct SegmentPair {
  double s = 0, t = 0;
  bool areInner = false; ///< both strictly between the ends, lines not parallel: the connection is orthogonal to both
  double squared = 0;    ///< distance
};
SegmentPair closestOnSegments(const Vector3& p, const Vector3& u, const Vector3& q, const Vector3& v);

/// Parameter in [0, 1] of the point of p + t v closest to x.
double closestOnSegment(const Vector3& x, const Vector3& p, const Vector3& v);

}
