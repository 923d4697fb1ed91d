#pragma once
#include "tendril/model/actuator.h"
#include "tendril/model/model.h"

#include <string>
#include <vector>

namespace tendril {

/// The motors of a joint, one control for each freedom that they drive, on the second body and with the opposite sign on the first:
///
/// | joint       | controls                                                                |
/// |-------------|-------------------------------------------------------------------------|
/// | revolute    | torque about the axis [N m]                                             |
/// | prismatic   | force along the axis [N]                                                |
/// | cylindrical | force along, then torque about the axis                                 |
/// | spherical   | torques about the three inertial axes                                   |
///
/// Controls of joints with several have the name of the joint and a number: "hip 1". InputError for a joint that is missing or of another
/// kind. Source: Leyendecker 2011, 5.5.3 to 5.5.5 (the reaction of a force acts where the force does, so that momentum maps stay).
std::vector<Actuator> motorsOf(const Model& model, const std::string& joint);

}
