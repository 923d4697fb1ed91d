#pragma once
#include "tendril/lie/se3.h"

/// Reconstruction of a curve on SE(3) from its strains, H'(s) = H S(xi(s)), by Runge-Kutta-Munthe-Kaas methods: H = H_0 tau(theta) with a
/// map tau from the algebra to the group, and theta' = T^-1(theta) xi, theta(0) = 0, by a Runge-Kutta method; T is the left-trivialised
/// tangent of tau. Steps stay on the group to rounding. Sources: Munthe-Kaas, BIT 38 (1998); Blumentals (2017), 6.2.
namespace tendril::se3 {

/// The map of a step.
enum class StepMap {
  Exponential,
  Cayley ///< (I - S/2)^-1 (I + S/2) of the 4 x 4 matrix S
};

inline Pose step(StepMap map, const Vector6& twist) { return map == StepMap::Exponential ? exp(twist) : cayley(twist); }
inline Matrix6 stepTangent(StepMap map, const Vector6& twist) {
  return map == StepMap::Exponential ? tangent(twist) : cayleyTangent(twist);
}
/// Of rotations below 2 pi with the exponential map.
inline Matrix6 stepTangentInverse(StepMap map, const Vector6& twist) {
  return map == StepMap::Exponential ? tangentInverse(twist) : cayleyTangentInverse(twist);
}

/// d(T(x)^T f)/dx of the map of a step at a fixed wrench f: symmetric but for the half of the commutator, as T is no gradient.
inline Matrix6 stepTangentTransposeDerivative(StepMap map, const Vector6& x, const Vector6& f) {
  if (map == StepMap::Exponential) return tangentTransposeDerivative(x, f);
  // T = C^-1, so that d(T^T f) = -T^T d(C^T) y with y = T^T f.
  const Matrix6 T = cayleyTangent(x);
  const Vector6 y = T.transpose() * f;
  const Vector3 u = x.head<3>(), w = x.tail<3>(), yu = y.head<3>(), yw = y.tail<3>();
  Matrix6 D = Matrix6::Zero();
  D.topRightCorner<3, 3>() = 0.5 * so3::hat(yu);
  D.bottomLeftCorner<3, 3>() = 0.5 * so3::hat(yu - 0.5 * w.cross(yu));
  D.bottomRightCorner<3, 3>() =
      -0.25 * so3::hat(u) * so3::hat(yu) + 0.5 * so3::hat(yw) + 0.25 * (w.dot(yw) * Matrix3::Identity() + w * yw.transpose());
  return -T.transpose() * D;
}

/// The twist theta of one step of size h from s, H(s + h) = H(s) tau(theta), by the method of the given order with the strains xi(s):
///
///     1   Lie-Euler;   2   explicit trapezoid;   4   the classical method of four stages.
template <int order, class Strains> Vector6 rkmkTwist(StepMap map, const Strains& xi, double s, double h) {
  static_assert(order == 1 || order == 2 || order == 4);
  const Vector6 first = xi(s);
  if constexpr (order == 1) {
    return h * first;
  } else if constexpr (order == 2) {
    const Vector6 second = stepTangentInverse(map, h * first) * xi(s + h);
    return h / 2 * (first + second);
  } else {
    const Vector6 middle = xi(s + h / 2);
    const Vector6 second = stepTangentInverse(map, h / 2 * first) * middle;
    const Vector6 third = stepTangentInverse(map, h / 2 * second) * middle;
    const Vector6 last = stepTangentInverse(map, h * third) * xi(s + h);
    return h / 6 * (first + 2 * second + 2 * third + last);
  }
}

/// H(length) from H(0) = begin in equal steps.
template <int order, class Strains> Pose reconstruct(StepMap map, const Strains& xi, double length, int steps, Pose begin = {}) {
  const double h = length / steps;
  for (int i = 0; i < steps; ++i) begin = begin * step(map, rkmkTwist<order>(map, xi, i * h, h));
  return begin;
}

}
