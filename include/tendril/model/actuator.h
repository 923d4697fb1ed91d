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

/// One control: what it acts on. The motor of a joint is a pair of opposite loads, so that it changes no momentum map.
struct Actuator {
  std::string name;
  std::vector<ActuatorLoad> loads;
  std::vector<ActuatorCable> cables{};
};

}
