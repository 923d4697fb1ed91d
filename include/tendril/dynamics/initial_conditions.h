#pragma once
#include "tendril/equations/kkt_system.h"

#include <string>
#include <vector>

namespace tendril {

/// Brings an initial state onto the constraints, in three steps that each change as little as possible in the metric of the mass matrix:
///
///     positions      M delta - G^T mu = 0,   g(q exp(delta)) = 0
///     velocities     M dv - G^T mu = 0,      G (v + dv) + g_t = 0
///     accelerations  M a - G^T lambda = -f,  G a = -b
///
/// Leaves the state with q, v, a and lambda that agree with all constraints and their first two derivatives. Returns a sentence for each
/// correction that was not negligible. Throws NumericalFailure naming the body when the mass matrix is singular on the constraints.
std::vector<std::string> makeConsistent(KktSystem& kkt, State& state);

/// a and lambda of the equations of motion at given q, v, t.
void solveAccelerations(KktSystem& kkt, State& state);

}
