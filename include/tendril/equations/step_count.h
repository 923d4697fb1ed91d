#pragma once
#include "tendril/model/error.h"

#include <cmath>
#include <sstream>

namespace tendril {

/// The fewest steps of one length, none longer than `step`, that make up a duration. Throws InputError for more than a program can make.
inline long stepsIn(double duration, double step) {
  const double steps = std::ceil(duration / step * (1 - 1e-12)); // a quotient that rounding lifted above a whole number
  if (!(steps < 1e12)) {
    std::ostringstream text;
    text << "steps of " << step << " s are too many in " << duration << " s; take longer ones";
    throw InputError(text.str());
  }
  return steps < 1 ? 1 : long(steps);
}

}
