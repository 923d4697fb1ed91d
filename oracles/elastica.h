#pragma once

#include "numerics.h"

namespace tendril::oracles {

/// Tip of the heavy elastica: an inextensible, unshearable cantilever of length 1, clamped horizontally at the origin, under its own
/// weight: theta'' = -Gamma (1 - s) cos theta, theta(0) = 0, theta'(1) = 0, theta the slope counted positive downwards,
/// Gamma = rho A g L^3 / (E I). Returns (x, y)/L with y negative (down).
///
/// Solved from the free end in u = 1 - s with the deviation from the vertical delta = pi/2 - theta, delta'' = Gamma u sin delta, whose
/// end value is found by bisection on its logarithm: near the vertical, double precision keeps the digits of delta and not those of theta.
inline Vector2d heavyElasticaTip(double Gamma, int steps = 2000) {
  const Slope f = [Gamma](double u, const VectorXd& y, VectorXd& dy) {
    dy << y[1], Gamma * u * std::sin(y[0]), std::sin(y[0]), std::cos(y[0]);
  };
  const auto atClamp = [&](double logarithm) { return rungeKutta(f, 0, 1, Eigen::Vector4d(std::exp(logarithm), 0, 0, 0), steps); };
  // The first crossing from below is the hanging equilibrium; for a heavy rod there are others, with loops.
  const double highest = std::log(M_PI / 2);
  const auto excess = [&](double l) { return atClamp(l)[0] - M_PI / 2; };
  double low = -2.0 / 3 * std::sqrt(Gamma) - 6, high = low;
  while (high < highest && excess(high) < 0) {
    low = high;
    high = std::min(high + 0.25, highest);
  }
  const double root = bisect(excess, low, high);
  const VectorXd y = atClamp(root);
  return {y[2], -y[3]};
}

/// Tip of a straight cantilever of length L along x under an end moment M about z: an arc of curvature M / (E I) from the origin.
inline Vector2d pureBendingTip(double length, double bendingStiffness, double moment) {
  const double angle = moment * length / bendingStiffness;
  if (std::abs(angle) < 1e-4) return {length * (1 - angle * angle / 6), length * angle / 2};
  return {length * std::sin(angle) / angle, length * (1 - std::cos(angle)) / angle};
}

/// Tip of the roll-up cantilever minus the clamp under `turns` times the end moment 2 pi E I / L, for unit length.
inline Vector2d rollUpTip(double turns) { return pureBendingTip(1, 1, 2 * M_PI * turns); }

}
