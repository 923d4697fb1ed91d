#pragma once
#include <string>

namespace tendril {

/// What happens where two surfaces touch. With V = (U+ + e U-) / (1 + e) normal to the surfaces and V = (U+ + tau U-) / (1 + tau) along
/// them, U- and U+ the relative velocities before and after, the impulse P satisfies (Moreau 1988)
///
///     0 <= V_n  _|_  P_n + c >= 0,  |P_t| <= mu (P_n + c),  P_t opposite to V_t where it does not vanish,   (contact.1), (contact.2)
///
/// c = h times the cohesion; likewise for the moments of rolling and pivoting friction, whose coefficients are lengths.
struct ContactLaw {
  double friction = 0;              ///< mu
  double restitution = 0;           ///< e, Newton's coefficient, in [0, 1]
  double tangentialRestitution = 0; ///< tau, in [0, 1]
  double rolling = 0;               ///< [m]: moment that resists rolling over normal force
  double pivoting = 0;              ///< [m]: moment that resists pivoting over normal force
  double cohesion = 0;              ///< [N]: normal force that pulls before a contact opens

  /// Throws InputError unless all are finite, in their ranges; the name ("contact 'floor'") is what the message calls it.
  void check(const std::string& name) const;
  bool operator==(const ContactLaw&) const = default;
};

}
