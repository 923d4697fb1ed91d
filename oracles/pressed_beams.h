#pragma once
#include <algorithm>
#include <cmath>

namespace tendril::oracles {

/// Two equal slender beams of round section, side by side, clamped together at one end, pressed on one another by p per length; a force V
/// on the other end, half of it on either beam, bends both across the line on which they touch. They share the curvature k; M is the
/// moment of both, N the tension of one and the thrust of the other, q the friction per length:
///
///     M = 2 EI k + 2 R N,   N' = -q,   M' = -V,   slip' = 2 R k - 2 N/EA,   |q| <= mu p
///
/// Where nothing slips N = EA R k, so q = V R EA / (2 EI + 2 EA R^2) is the same everywhere: all of the length slips at once, at the
/// shear flow mu p, and from then on both bend like single beams under V - 2 R mu p. Deflection w of the end and force V are thus those of
/// a spring beside a friction slider with a spring of its own.
struct PressedBeams {
  double radius, length, E; ///< m, m, Pa
  double pressure;          ///< p [N/m]
  double friction;          ///< mu

  double EI() const { return E * M_PI * std::pow(radius, 4) / 4; }
  double EA() const { return E * M_PI * radius * radius; }
  double slidingStiffness() const { return 3 * 2 * EI() / std::pow(length, 3); }
  double stickingStiffness() const { return 3 * (2 * EI() + 2 * EA() * radius * radius) / std::pow(length, 3); }
  /// Part of V that friction takes once everything slips.
  double frictionForce() const { return 2 * radius * friction * pressure; }
  /// V at which everything slips, at the first loading.
  double slipForce() const { return frictionForce() * stickingStiffness() / (stickingStiffness() - slidingStiffness()); }
  /// Deflection when V comes to this value for the first time.
  double deflection(double V) const { return V <= slipForce() ? V / stickingStiffness() : (V - frictionForce()) / slidingStiffness(); }
  /// Work that friction takes while V goes from `amplitude` to minus it and back.
  double loopArea(double amplitude) const {
    const double slipping = deflection(amplitude) - deflection(slipForce());
    return 4 * frictionForce() * std::max(0., slipping);
  }
  /// Friction at which that work is largest: at half of that at which nothing slips any more.
  double worstFriction(double amplitude) const {
    return amplitude * (1 - slidingStiffness() / stickingStiffness()) / (4 * radius * pressure);
  }
};

}
