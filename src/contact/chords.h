#pragma once
#include "tendril/contact/contact_curve.h"

#include <algorithm>
#include <array>

namespace tendril {

/// The straight line between the ends of a segment, and how far the segment may bulge from it.
struct Chord {
  Chord(const CurveConfiguration& curve, int segment)
      : begin(curve.node(segment).x), along(curve.node(segment + 1).x - begin),
        bulge(curve.relative(segment).head<3>().norm() * curve.relative(segment).tail<3>().norm() / 8) {}
  Vector3 at(double xi) const { return begin + xi * along; }

  Vector3 begin, along;
  double bulge; ///< |d_u| |d_Omega| / 8 [m]
};

/// Where two chords are nearest to one another (Ericson, "Real-Time Collision Detection", 5.1.9).
inline std::array<double, 2> nearestOnChords(const Chord& a, const Chord& b) {
  const Vector3 r = a.begin - b.begin;
  const double uu = a.along.squaredNorm(), vv = b.along.squaredNorm(), uv = a.along.dot(b.along);
  const double ur = a.along.dot(r), vr = b.along.dot(r), determinant = uu * vv - uv * uv;
  double s = determinant > 1e-12 * uu * vv ? std::clamp((uv * vr - ur * vv) / determinant, 0.0, 1.0) : 0.5;
  double t = (uv * s + vr) / vv;
  if (t < 0 || t > 1) {
    t = std::clamp(t, 0.0, 1.0);
    s = std::clamp((uv * t - ur) / uu, 0.0, 1.0);
  }
  return {s, t};
}

}
