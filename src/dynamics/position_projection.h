#pragma once
#include "dynamics/impulse_response.h"
#include "tendril/solvers/friction_solver.h"

#include <functional>
#include <span>
#include <vector>

namespace tendril {

/// Takes overlaps out of a configuration by the smallest displacement in the metric of the mass matrix,
///
///     min 1/2 d^T A d     subject to   gap_i + H_n,i d >= 0   for all contacts near,
///
/// repeated until the true gaps agree. Velocities are untouched (resolved in the new frames), so that no kinetic energy comes or goes. The
/// potential does change: a body that fell into the floor by d is lifted by it, and m g d comes from nowhere. d is at most what the body
/// falls from where the step of the impact is free to where contacts are looked for, so that this vanishes with the first power of the
/// step.
class PositionProjection {
 public:
  struct Result {
    double before = 0, after = 0; ///< largest overlap [m]
    double waiting = 0;           ///< largest overlap among those left alone
    int iterations = 0;
    double energyBefore = 0; ///< of the system before it was moved, if it was [J]
  };

  PositionProjection(const Model& model, ContactDetection& detection, RigidFlight& flight, ImpulseResponse& response);

  /// Whether an overlap is left alone: an impact that has yet to come, or one whose rebound takes it out by itself. Moving such bodies
  /// apart would lift them, and they would gain energy.
  using Waits = std::function<bool(const ContactBlock& contact)>;

  /// Overlaps up to `allowed` are left. Unless it has to be thorough, one iteration is enough for overlaps below a thousandth of the
  /// smallest shape: it leaves a tenth, and the next step does the rest. The pairs of the detection must cover what is near.
  Result project(State& state, double allowed, int maxIterations, bool isThorough, const Waits& waits = {});
  /// The contacts found by the last project(), at the state that it left.
  const std::vector<Contact>& contacts() const { return *found_; }

 private:
  double find(const State& state, double within, const Waits& waits, double& waiting);

  const Model& model_;
  ContactDetection& detection_;
  RigidFlight& flight_;
  ImpulseResponse& response_;
  const std::vector<Contact>* found_ = nullptr;
  std::vector<ContactBlock> blocks_;
  std::vector<char> waits_; ///< per contact found
  FrictionProblem problem_;
  FrictionSolver solver_;
  VectorX r_, displacement_, multipliers_;
};

}
