#pragma once
#include "tendril/model/model.h"

namespace tendril::test {

/// Which properties a model is held to, and how far its states are moved about.
struct ValidationOptions {
  int states = 3;         ///< random states
  double amplitude = 0.3; ///< of the random increments that move the configuration [m, rad]
  double speed = 1.0;     ///< of random velocities and accelerations
  double force = 1.0;     ///< of random multipliers
  double time = 0.7;      ///< states are taken at times in (0, time)
  unsigned seed = 1;
  double derivative = 1e-7;    ///< relative to the largest entry of the matrix compared
  double invariance = 1e-11;   ///< relative to the largest entry
  bool motionStiffness = true; ///< dr/dq is exact with inertia and dampers too
  bool conservative = true;    ///< at rest and at fixed time, r is the gradient of the energy
  bool powerBalance = true;    ///< every block has inertia, so that motions can be made consistent
  bool internal = false;       ///< no ground, no gravity, no external load: invariant, and the forces are in balance
  bool movingGround = false;   ///< with dampers: there is a velocity even where v = 0
  bool massless = false;       ///< internal, and nothing has inertia: the forces balance at any velocity
};

/// A configuration moved off the initial one, with random velocities, accelerations, multipliers and time.
State randomState(const Model& model, const ValidationOptions& options = {});

/// Holds a model to what every analysis relies on: each derivative against fourth-order central differences, the pattern and signs of the
/// KKT matrix, energy against force, power balance, invariance under a superimposed rigid motion, action = reaction, and evaluation
/// without allocation. Failures name the property, the state, and the unknowns.
void validate(const Model& model, const ValidationOptions& options = {});

}
