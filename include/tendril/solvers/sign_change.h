#pragma once
#include <functional>
#include <optional>

#include "tendril/solvers/sparse_ldlt.h"

namespace tendril {

/// Zero tolerance of an inertia without a dead band around zero: the sign alone tells on which side of a critical point this is.
inline constexpr double noDeadBand = 1e-30;

/// Where the equations were solved within a step, and the signs of their tangent there.
struct TangentSigns {
  double parameter = 0;
  Inertia inertia;
};

/// Parameter at which the number of negative signs leaves `negativeBefore`, somewhere within a step whose end has another number: bisection
/// over the fraction of the step. Where solveAt(fraction) finds nothing (the tangent is singular at the point itself) the last parameter
/// reached is as near as one can come.
inline std::optional<double> locateSignChange(int negativeBefore,
                                              const std::function<std::optional<TangentSigns>(double fraction)>& solveAt) {
  constexpr int halvings = 32;
  double low = 0, high = 1;
  std::optional<double> parameter;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    const std::optional<TangentSigns> found = solveAt(middle);
    if (!found) break;
    (found->inertia.negative == negativeBefore ? low : high) = middle;
    parameter = found->parameter;
  }
  return parameter;
}

}
