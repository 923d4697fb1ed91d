#pragma once
#include "tendril/elements/mechanism.h"

namespace tendril {

class SuperHelices;

/// The elements of a part of a mechanism, be it a beam or a rod of strains: what measures, films and files read. Elements count from 0
/// within the part; a state must carry the multipliers to be reported.
class BeamElements {
 public:
  BeamElements(const Model& model, const BeamPart& part);

  int elements() const { return int(arclength_.size()) - 1; }
  /// eps - eps of the reference.
  Vector6 strain(const State& state, int element) const;
  /// Force and moment that the part beyond the section exerts on the part before it, in the section frame. The force in a rod of strains
  /// does not follow from its coordinates, and is given as zero.
  Vector6 sectionForce(const State& state, int element) const;
  /// d = log(H_A^-1 H_B) of its nodes.
  Vector6 relativeVector(const State& state, int element) const;
  double length(int element) const { return arclength_[std::size_t(element) + 1] - arclength_[std::size_t(element)]; }

 private:
  int first_, rod_;
  BeamInterpolation interpolation_;
  std::vector<double> arclength_;
  const Beams* beams_ = nullptr;
  const SuperHelices* rods_ = nullptr;
};

}
