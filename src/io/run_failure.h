#pragma once
#include <fmt/format.h>

#include <string>

namespace tendril {

/// The message of a failure with the step it belongs to. Analyses name the step in which they fail; what fails beneath them (a load that is
/// undefined at some time) cannot. `step` and `t` are those of the last accepted step.
inline std::string placeFailure(const std::string& message, bool hasBegun, long step, double t) {
  if (!hasBegun) return "at the start: " + message;
  if (message.find("step ") != std::string::npos) return message;
  return fmt::format("step {} from t = {:.9g}: {}", step + 1, t, message);
}

}
