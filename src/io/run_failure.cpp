#include "tendril/io/run_failure.h"

#include <fmt/format.h>

namespace tendril {

std::string placeFailure(const std::string& message, bool hasBegun, long step, double t) {
  if (!hasBegun) return "at the start: " + message;
  if (message.find("step ") != std::string::npos) return message;
  return fmt::format("step {} from t = {:.9g}: {}", step + 1, t, message);
}

}
