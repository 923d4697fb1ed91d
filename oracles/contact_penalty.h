#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

/// Contact by a spring and a damper (Cundall & Strack 1979), the regularised law that exact contact is compared with.
namespace tendril::oracles {

/// R_n = max(0, -k g - c g'), c = 2 zeta sqrt(k m), with zeta = -ln e / sqrt(pi^2 + ln^2 e) for a given restitution e: a free contact of
/// mass m then lasts t_c = pi / sqrt(k / m (1 - zeta^2)).
///
/// The damper that pulls is cut off, so that contact ends a little before the spring is released and the restitution is a little above e.
struct PenaltyContact {
  double stiffness = 1e7, mass = 1, restitution = 0.5;

  double damping() const {
    const double logarithm = std::log(restitution);
    return -logarithm / std::sqrt(std::numbers::pi * std::numbers::pi + logarithm * logarithm);
  }
  double damper() const { return 2 * damping() * std::sqrt(stiffness * mass); }
  double duration() const { return std::numbers::pi / std::sqrt(stiffness / mass * (1 - damping() * damping())); }
  double force(double gap, double rate) const { return gap >= 0 ? 0 : std::max(0.0, -stiffness * gap - damper() * rate); }
};

/// What a ball does that is dropped on such a floor.
struct PenaltyDrop {
  double impactTime = 0, reboundSpeed = 0, contactTime = 0, deepest = 0;
};

/// The first impact of a ball dropped from a height, by explicit steps (symplectic Euler) of t_c / stepsPerContact.
inline PenaltyDrop dropOnPenalty(const PenaltyContact& contact, double height, double g = 9.81, double stepsPerContact = 2000) {
  const double h = contact.duration() / stepsPerContact;
  PenaltyDrop result;
  double gap = height, rate = 0, t = 0;
  bool isIn = false;
  while (true) {
    const double force = contact.force(gap, rate);
    if (!isIn && gap < 0) isIn = true, result.impactTime = t;
    if (isIn && force == 0 && rate > 0) break;
    result.deepest = std::max(result.deepest, -gap);
    rate += h * (force / contact.mass - g);
    gap += h * rate;
    t += h;
  }
  result.contactTime = t - result.impactTime;
  result.reboundSpeed = rate;
  return result;
}

}
