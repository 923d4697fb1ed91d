#pragma once
#include <functional>
#include <string>

namespace tendril {

/// A scalar with its first and second derivative in time.
struct Jet {
  double value = 0;
  double rate = 0;
  double acceleration = 0;
};

/// Factor of a load or value of a prescribed motion as a function of time (in statics: of the load parameter, which runs from 0 to 1).
/// The name is the one under which a message reports a value that is not finite.
struct TimeFunction {
  std::string name;
  std::function<Jet(double)> function;

  /// The value at t; throws NumericalFailure, naming the function and t, when a component is not finite.
  Jet operator()(double t) const;

  static TimeFunction constant(double value = 1);
  /// value = t: the factor of a load that grows in proportion to the load parameter.
  static TimeFunction proportional();
};

}
