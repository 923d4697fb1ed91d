#pragma once
#include "tendril/model/marker.h"

#include <string>
#include <vector>

namespace tendril {

/// A wrench that a unit of a control puts on a frame: F [N] at its origin and a moment m [N m], with components fixed in the frame
/// (`follows`) or in the inertial frame.
struct ActuatorLoad {
  const Marker* marker = nullptr;
  bool follows = true;
  Vector6 wrench = Vector6::Zero(); ///< (F, m)
};

/// A cable between two points, which pulls both along the line between them: a unit of its control is a unit of tension per length [N/m],
/// so that the force, (x_to - x_from) on `from` and its opposite on `to`, is linear in the redundant coordinates.
struct ActuatorCable {
  const Marker *from = nullptr, *to = nullptr;
};

/// A muscle between two points, after Hill: its control is the activation a, between 0 and 1, and it pulls both points towards each other
/// with
///
///     F = strength (a f_l(l / length) f_v(l' / (length speed)) + f_p(l / length))  [N],
///
/// f_l the share of its strength that it has at a length l, f_v at a rate, 1 where that is zero, about 0 where it shortens at `speed`
/// lengths a second and 1.8 where it is stretched so fast; f_p its passive elasticity.
struct ActuatorMuscle {
  const Marker *from = nullptr, *to = nullptr;
  double strength = 0; ///< isometric force at the best length [N]
  double length = 0;   ///< where it is strongest [m]
  double speed = 10;   ///< fastest shortening, in lengths [1/s]
};

/// One control: what it acts on. The motor of a joint is a pair of opposite loads, so that it changes no momentum map.
struct Actuator {
  std::string name;
  std::vector<ActuatorLoad> loads;
  std::vector<ActuatorCable> cables{};
  std::vector<ActuatorMuscle> muscles{};
};

}
