#include "tendril/contact/contact_law.h"

#include "tendril/model/error.h"

#include <cmath>

namespace tendril {

namespace {

void refuse(const std::string& name, const std::string& what, double value, const std::string& remedy) {
  throw InputError(name + ": the " + what + " is " + std::to_string(value) + "; " + remedy);
}

}

void ContactLaw::check(const std::string& name) const {
  const auto nonNegative = [&](const char* what, double value) {
    if (!(std::isfinite(value) && value >= 0)) refuse(name, what, value, "give a finite number, not below zero");
  };
  const auto fraction = [&](const char* what, double value) {
    if (!(value >= 0 && value <= 1)) refuse(name, what, value, "give a number from 0 (inelastic) to 1 (elastic)");
  };
  nonNegative("coefficient of friction", friction);
  nonNegative("coefficient of rolling friction", rolling);
  nonNegative("coefficient of pivoting friction", pivoting);
  nonNegative("cohesion", cohesion);
  fraction("coefficient of restitution", restitution);
  fraction("tangential coefficient of restitution", tangentialRestitution);
}

}
