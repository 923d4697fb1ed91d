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
