#pragma once
#include "tendril/model/director_system.h"

namespace tendril {

/// Units in which coordinates and constraints of a director system, and the equations that belong to them, are of one size whatever the
/// units of the input: 1 for positions, 1/L for directors, L for internal constraints and angles, with L the size of the model; and a mass,
/// so that mass / h is the size of a momentum per displacement.
struct MomentumUnits {
  explicit MomentumUnits(const DirectorSystem& system);

  VectorX unit; ///< of coordinates, then of constraints
  double mass = 1;
};

}
