#include "contact/closest_point.h"
#include "contact/pair_kernels.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

/// Two capsules by their axes p + s u and q + t v, s and t in [0, 1].
class CapsulePair {
 public:
  CapsulePair(const PlacedShape& a, const PlacedShape& b, ContactSink& sink)
      : u_(2 * a.data.half * a.pose.R.col(2)), v_(2 * b.data.half * b.pose.R.col(2)), p_(a.pose.x - u_ / 2), q_(b.pose.x - v_ / 2),
        ra_(a.data.radius), rb_(b.data.radius), sink_(sink) {}

  void find() {
    const SegmentPair closest = closestOnSegments(p_, u_, q_, v_);
    const double reach = ra_ + rb_ + sink_.margin;
    if (reach < 0 || closest.squared > reach * reach) return;
    if (!addAlong(closest)) add(closest, 0);
  }

 private:
  void add(const SegmentPair& pair, std::uint32_t feature) {
    const Vector3 onA = p_ + pair.s * u_, onB = q_ + pair.t * v_, d = onA - onB;
    Vector3 normal = d;
    double distance = 0;
    if (pair.areInner) { // orthogonal to both axes, even where these cross
      normal = u_.cross(v_).normalized();
      distance = normal.dot(d);
      if (distance < 0 || (distance == 0 && normal.dot(p_ + u_ / 2 - q_ - v_ / 2) < 0)) distance = -distance, normal = -normal;
    } else {
      distance = normalise(normal, anyOrthogonal(u_.normalized()));
    }
    sink_.addBetween(onA - ra_ * normal, onB + rb_ * normal, normal, distance - ra_ - rb_, feature);
  }

  /// Of capsules side by side: the ends of the length that they share, and between them the closest points where axes cross at a small
  /// angle. Says whether there is such a length.
  bool addAlong(const SegmentPair& closest) {
    constexpr double small = 0.1; // sine of the angle
    const double lengths = u_.norm() * v_.norm();
    if (u_.cross(v_).norm() > small * lengths) return false;
    const double first = (q_ - p_).dot(u_) / u_.squaredNorm(), last = (q_ + v_ - p_).dot(u_) / u_.squaredNorm();
    const double low = std::clamp(std::min(first, last), 0., 1.), high = std::clamp(std::max(first, last), 0., 1.);
    if (!(high - low > 1e-3 * std::min(1., v_.norm() / u_.norm()))) return false;
    for (const double s : {low, high}) {
      const double t = closestOnSegment(p_ + s * u_, q_, v_);
      add({s, t, false, 0}, s == low ? 1 : 2);
    }
    const double nearEnd = std::min(std::abs(closest.s - low), std::abs(closest.s - high));
    if (closest.areInner && nearEnd > 1e-3 * (high - low)) add(closest, 0);
    return true;
  }

  Vector3 u_, v_, p_, q_;
  double ra_, rb_;
  ContactSink& sink_;
};

}

void capsuleAndCapsule(const PlacedShape& a, const PlacedShape& b, ContactSink& sink) { CapsulePair(a, b, sink).find(); }

}
