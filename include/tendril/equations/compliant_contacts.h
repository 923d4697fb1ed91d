#pragma once

namespace tendril {

/// What a contact gives way along its tangents before it slips: a spring in series with Coulomb's law, a dashpot beside the spring,
///
///     u_t = w + e',     e + relaxation e' = -compliance f_t,     Coulomb's law between w and f      (analysis.7),
///
/// u_t the relative velocity, w the slip, e the strain [m], f_t the friction. Then f_t belongs to the state, and where a contact sticks,
/// its normal force follows from 0 <= A f_n + T f_t + w _|_ f_n >= 0 alone: it exists and is unique whatever the coefficient, and grows
/// only as fast as the spring is strained (McClamroch 1989, Dupont & Yamajako 1997). 0: rigid.
struct TangentialCompliance {
  double compliance = 0; ///< [m/N]
  double relaxation = 0; ///< [s]: dashpot x compliance; 0: the spring gives all back that it took
};

/// An analysis of motion whose contacts can be given a tangential compliance while it runs. At that moment the spring is strained by the
/// friction that acts, so that forces do not jump.
class CompliantContacts {
 public:
  virtual ~CompliantContacts() = default;
  /// The contacts of two parts from now on, for the rest of the run.
  virtual void soften(int first, int second, const TangentialCompliance& compliance) = 0;
  virtual bool isSoft(int first, int second) const = 0;
};

}
