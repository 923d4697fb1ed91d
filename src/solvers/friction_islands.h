#pragma once
#include "tendril/solvers/friction_problem.h"

#include <vector>

namespace tendril {

/// Sets of contacts that have no influence on one another, each ascending, ordered by their first contact. Contacts are joined by bodies,
/// or by blocks of W that are not zero; what does not move joins nothing.
std::vector<std::vector<int>> findIslands(const FrictionProblem& problem);

}
