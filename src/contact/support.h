#pragma once
#include "contact/shape_data.h"

#include <Eigen/Geometry>
#include <cmath>
#include <numbers>

namespace tendril {

/// Edge of a cylinder's or a cone's flat end; `axis` points outward or inward.
struct Rim {
  Vector3 centre, axis, first, second; ///< axis, first, second: orthonormal
  double radius = 0;

  /// Unit vector to the k-th of n fixed points.
  Vector3 direction(std::uint32_t k, std::uint32_t n) const {
    const double angle = 2 * std::numbers::pi * k / n;
    return std::cos(angle) * first + std::sin(angle) * second;
  }
};

inline Rim rimOf(const PlacedShape& shape, double height) {
  const Matrix3& R = shape.pose.R;
  return {shape.pose.x + height * R.col(2), R.col(2), R.col(0), R.col(1), shape.data.radius};
}

/// Farthest point in a direction, of the shape without the ball that rounds spheres and capsules.
Vector3 coreSupport(const PlacedShape& shape, const Vector3& direction);
/// Radius of that ball.
inline double coreRadius(const ShapeData& shape) {
  return shape.family == Family::Sphere || shape.family == Family::Capsule ? shape.radius : 0;
}

/// Reduces the contacts of a pair to at most eight: the deepest, and those farthest out in eight directions across the normal, fixed in the
/// frame R. Where the normal is zero each contact's own normal is left out of the question.
void keepSpread(ContactSink& sink, const Vector3& normal, const Matrix3& R = Matrix3::Identity());

}
