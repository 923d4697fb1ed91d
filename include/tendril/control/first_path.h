#pragma once
#include "tendril/model/director_system.h"

#include <map>
#include <string>
#include <vector>

namespace tendril {

/// Moves of joints and free bodies away from a configuration, by name: angles [rad] and displacements [m] along the freedoms of the pair,
/// in their order; of a free body a twist (translation, rotation vector) in its own frame. What is not named does not move, but where it
/// must follow a loop. Angles may exceed a turn.
using JointMotions = std::map<std::string, VectorX>;

/// Motions at a share of the duration of a path.
struct KeyMotions {
  double share = 0; ///< 0 to 1
  JointMotions motions;
};

/// N + 1 configurations that satisfy the constraints: from q through the given motions, between which joints move evenly; after the last it
/// rests. InputError for a name that is no joint of the kinematic tree, for a wrong number of values, and where loops cannot follow.
std::vector<VectorX> pathThrough(const DirectorSystem& system, const VectorX& q, const std::vector<KeyMotions>& keys, int intervals);

}
