#pragma once
#include "tendril/equations/kkt_system.h"

#include <functional>
#include <optional>

namespace tendril {

/// Load parameter at which the number of negative signs of the tangent leaves `negativeBefore`, somewhere within a step whose end has
/// another number: bisection over the fraction of the step. solveAt(fraction) finds the equilibrium there and leaves it in `state`. Where
/// it cannot (the tangent is singular at the point itself) the last load reached is as near as one can come. The state is left anywhere
/// in the step.
inline std::optional<double> locateCriticalPoint(KktSystem& kkt, const State& state, int negativeBefore,
                                                 const std::function<bool(double)>& solveAt) {
  constexpr int halvings = 32;
  double low = 0, high = 1;
  std::optional<double> load;
  for (int i = 0; i < halvings; ++i) {
    const double middle = 0.5 * (low + high);
    if (!solveAt(middle)) break;
    // No dead band around zero: the sign alone tells on which side of the point this is.
    const std::optional<Inertia> inertia = kkt.tangentInertia(state, 1e-30);
    if (!inertia) break;
    (inertia->negative == negativeBefore ? low : high) = middle;
    load = state.t;
  }
  return load;
}

}
