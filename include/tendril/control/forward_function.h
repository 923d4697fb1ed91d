#pragma once
#include "tendril/control/forward_path.h"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace tendril {

/// What values of parameters make of a run: a model (a Mechanism is handed over by the aliasing constructor of shared_ptr), its actuators
/// and the function that judges the run, whose rows belong to this model. All have the same shape whatever the values.
struct ForwardCase {
  std::shared_ptr<const Model> model;
  std::vector<Actuator> actuators;
  PathFunction function;
};
using ForwardFamily = std::function<ForwardCase(const VectorX& parameters)>;

/// A forward run as a function of a vector, x = (parameters, controls of step 0, controls of step 1, ...) -> phi, with its gradient: what
/// optimisers, certification and sampling need.
///
/// The gradient takes one adjoint sweep. It is exact in the controls. By a parameter c it is the derivative of the augmented function of
/// ForwardPath, taken from models at c +- s and c +- s/2 by central differences and Richardson's extrapolation, s = scale/256: the
/// function is explicit in c, mostly a polynomial of low degree, so that the error, of order s^4, is near rounding (1e-12 to 1e-10 of the
/// derivatives of the robot arm). errors() is the error, of order s^2, that the extrapolation takes away: what is left of it is far below;
/// rounding comes besides. Each parameter costs four models, and no run.
///
/// Cost of a gradient: the run, an adjoint sweep (about as much), and the models. Models of the last 64 values of parameters are kept.
/// Not thread-safe: one object per thread, and a family that may be called from several.
class ForwardFunction {
 public:
  /// `parameters`: nominal values, of which the absolute value is the scale of each; where it is zero, 1. InputError if
  /// values are not finite or the family gives no model.
  ForwardFunction(ForwardFamily family, const ForwardOptions& options, const VectorX& parameters);
  ~ForwardFunction();

  int parameters() const;
  int controls() const; ///< per step
  int size() const;     ///< parameters + controls * steps
  /// Place of a control in x.
  int place(int control, int step) const { return parameters() + step * controls() + control; }

  /// phi(x); fills its gradient where it is wanted, by the controls alone (zero by parameters) or by all. InputError for x that is not
  /// finite; NumericalFailure where the run fails.
  double operator()(const VectorX& x, VectorX* gradient = nullptr, bool byParameters = true);
  /// The numbers y of which phi is a function, as the components of a miss, and their derivatives by the controls (zero by parameters), one
  /// row for each number: an adjoint sweep apiece.
  VectorX numbers(const VectorX& x, MatrixX& slopes);
  /// Of the differences behind the derivatives by parameters of the last gradient, on the safe side.
  const VectorX& errors() const;
  /// Of the last call.
  const ForwardPath& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
