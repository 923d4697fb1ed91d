#pragma once
#include "rods/end_conditions.h"
#include "tendril/rods/rod_contact.h"
#include "tendril/solvers/nearest_point.h"

#include <array>
#include <optional>
#include <vector>

namespace tendril {

/// A strain rod of length 1 with supports and contacts at one point, in coordinates w of which changes of strains are du = unit w: there
/// the elastic energy is |w|^2 / 2, so that the metric is the identity.
class ContactProgram {
 public:
  using Keys = std::vector<std::array<int, 3>>; ///< of contacts

  ContactProgram(const StrainRod& scaled, const RodEnds& ends, RodSurroundings surroundings);

  StrainRod& rod() { return rod_; }
  const RodContacts& contacts() const { return contacts_; }
  const EndConditions& ends() const { return ends_; }
  void setEnds(const RodEnds& ends) { ends_ = EndConditions(ends); }
  double radius() const { return contacts_.surroundings().radius; }

  /// Other strains: supports and gaps there.
  void place(const VectorX& strains);
  double energy() const { return rod_.energy(); }
  const VectorX& closure() const { return closure_; }               ///< c
  const std::vector<RodTouch>& touches() const { return touches_; } ///< with gaps below half a radius
  double leastGap() const;
  /// How much of a step w from here can be made so that nothing meets on the way, by the nodes at its end.
  double longestFactor(const VectorX& w);
  StrainRod::NodeForces nodes() const { return nodesOf(rod_); } ///< positions

  /// Rows of the constraints in w, and the gradient of the energy.
  void differentiate();
  VectorX gradient();
  const MatrixX& J() const { return J_; }
  const MatrixX& G() const { return G_; }
  const VectorX& gaps() const { return gaps_; }

  /// w that is nearest to w0 on the linearised constraints. The contacts that push are a guess for the next time.
  bool project(const VectorX& w0);
  const NearestPoint& nearest() const { return nearest_; }

  /// The second variation of E + lambda . c - mu . g as products in w.
  void vary(const VectorX& lambda, const VectorX& mu);
  void product(const VectorX& w, VectorX& Hw);

  /// Brings the end from where it is and gaps to where they must be, by small changes of strains from those given. Contacts that are `held`
  /// are closed as well where they have opened, as the second-order model of a step along them supposes. False where it cannot, or where
  /// segments could meet on the way from the nodes `from`.
  bool restore(const VectorX& strains, const StrainRod::NodeForces& from, const Keys& held = {});

  const VectorX& unit() const { return unit_; }
  Keys keysOf(const std::vector<int>& rows) const;

 private:
  static StrainRod::NodeForces nodesOf(const StrainRod& rod);
  std::vector<int> rowsOf(const Keys& keys) const;
  bool correct(const std::vector<int>& closed);

  StrainRod rod_, ahead_; ///< here, and at the end of a step
  EndConditions ends_;
  RodContacts contacts_;
  VectorX unit_, closure_, gaps_;
  std::vector<RodTouch> touches_;
  MatrixX J_, G_;
  NearestPoint nearest_;
  Keys pushing_;
  std::optional<StrainRod::SecondVariation> variation_;
  VectorX mu_;
  // Scratch of products.
  VectorX strains_, change_;
  StrainRod::NodeForces motions_, forces_;
};

}
