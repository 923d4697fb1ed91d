#pragma once
#include <string>

namespace tendril {

/// The message of a failure with the step it belongs to. Analyses name the step in which they fail; what fails beneath them (a load that is
/// undefined at some time) cannot. `step` and `t` are those of the last accepted step.
std::string placeFailure(const std::string& message, bool hasBegun, long step, double t);

}
