#pragma once
#include "dynamics/rigid_flight.h"
#include "tendril/equations/kkt_system.h"

namespace tendril {

/// Free rigid bodies as an ordinary differential equation: per body the centre of mass x and the velocity of it in the inertial frame, the
/// quaternion p of its orientation and the angular velocity w in the frame of the body,
///
///     y = (x, p, x', w),     p' = 1/2 p (0, w).
///
/// The length of p carries no meaning, so that any smooth y stands for a configuration.
class BodyMotion {
 public:
  static constexpr int size = 13;

  /// Throws InputError unless all blocks of the model are free rigid bodies.
  explicit BodyMotion(const Model& model);

  const RigidFlight& flight() const { return *flight_; }
  RigidFlight& movable() { return *flight_; }
  KktSystem& kkt() { return kkt_; }
  int bodies() const { return int(flight_->bodies().size()); }

  void toNumbers(const State& state, VectorX& y) const;
  void toState(double t, const VectorX& y, State& state) const;
  /// Accelerations without contact forces, in the local frames.
  void freeAcceleration(const State& state, VectorX& a);
  /// y' that goes with accelerations in the local frames.
  void slope(const State& state, const VectorX& y, const VectorX& a, VectorX& dy) const;

 private:
  const Model& model_;
  KktSystem kkt_;
  std::unique_ptr<RigidFlight> flight_;
  State still_;
};

}
