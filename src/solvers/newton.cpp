#include "tendril/solvers/newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace tendril {

using Outcome = NewtonReport::Outcome;

double ResidualGroup::threshold() const { return std::max(absoluteTolerance, relativeTolerance * reference); }

const char* name(Outcome outcome) {
  switch (outcome) {
  case Outcome::Converged:
    return "converged";
  case Outcome::MaxIterations:
    return "too many iterations";
  case Outcome::Stagnated:
    return "stagnated";
  case Outcome::NotFinite:
    return "not finite";
  case Outcome::SingularTangent:
    return "singular tangent";
  case Outcome::Diverged:
    return "diverged";
  }
  return "";
}
