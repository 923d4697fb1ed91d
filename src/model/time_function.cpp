#include "tendril/model/time_function.h"

#include "tendril/model/error.h"

#include <cmath>

namespace tendril {

Jet TimeFunction::operator()(double t) const {
  const Jet jet = function(t);
  if (!std::isfinite(jet.value) || !std::isfinite(jet.rate) || !std::isfinite(jet.acceleration)) {
    throw NumericalFailure("time function '" + name + "' is not finite at t = " + std::to_string(t) +
                           "; check its domain (division by zero, root or logarithm of a negative number)");
  }
  return jet;
}

TimeFunction TimeFunction::constant(double value) {
  return {"constant", [value](double) { return Jet{value, 0, 0}; }};
}

TimeFunction TimeFunction::proportional() {
  return {"proportional", [](double t) { return Jet{t, 1, 0}; }};
}

}
