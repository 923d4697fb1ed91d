#pragma once
#include <cmath>

namespace tendril::oracles {

/// A semi-infinite cantilever pressed by a uniform load p [N/m] towards a rigid wall at distance g (Timoshenko: v' = theta - eps^2 theta''
/// in scaled quantities; Euler-Bernoulli for eps = 0). Lengths along the beam in units of u2 = (EI g / p)^(1/4), deflections of g, forces
/// of p u2; eps^2 = EI / (GA u2^2). The beam touches from delta on; there the force per length is rho p.
struct BeamOnWall {
  double eps = 0;
  double delta = 0; ///< free length

  explicit BeamOnWall(double eps_) : eps(eps_) {
    const double e = eps;
    delta = 2.9; // Newton's method on the polynomial, whose positive root is the only one
    for (int i = 0; i < 50; ++i) {
      const double d = delta;
      const double f = std::pow(d, 6) + 6 * e * std::pow(d, 5) + 30 * e * e * std::pow(d, 4) + 72 * std::pow(e, 3) * std::pow(d, 3) +
                       72 * (std::pow(e, 4) - 1) * d * d - 144 * e * (d + e);
      const double slope = 6 * std::pow(d, 5) + 30 * e * std::pow(d, 4) + 120 * e * e * std::pow(d, 3) + 216 * std::pow(e, 3) * d * d +
                           144 * (std::pow(e, 4) - 1) * d - 144 * e;
      delta -= f / slope;
    }
  }

  double deflection(double xi) const {
    if (xi >= delta) return 1;
    const double d4 = std::pow(delta, 4), z = xi / delta, L = delta * delta / (delta * delta + 6 * eps * eps);
    const double A = -2 * L * (1 + 24 / d4), B = -3 * (1 + 8 / d4) + 4 * L * (1 + 24 / d4), C = -2 * (1 + 24 / d4) * (L - 1);
    return d4 / 24 * (std::pow(z, 4) + A * std::pow(z, 3) + B * z * z + C * z);
  }
  /// Slope at the begin of contact.
  double slopeAtContact() const {
    const double e2 = eps * eps, d2 = delta * delta;
    return e2 * (d2 * d2 + 12 * d2 * e2 - 24) / (2 * delta * (d2 + 6 * e2));
  }
  /// Force of the boundary layer, beyond the load itself.
  double layerForce() const { return eps > 0 ? slopeAtContact() / (eps * eps) : delta / 3; }
  /// Force of contact on [delta, length].
  double totalForce(double length) const {
    const double decay = eps > 0 ? 1 - std::exp((delta - length) / eps) : 1;
    return layerForce() * decay + (length - delta);
  }
};

}
