#pragma once
#include "tendril/solvers/friction_problem.h"

#include <array>

namespace tendril::families {

/// Where friction problems come from: one time step of rigid bodies under gravity (and, for odd seeds, some that just hit others), made
/// from simple geometry. All have bodies. Nothing but fixed ground opposes them, so that rest is feasible.
enum class Family {
  BoxStack,   ///< columns of boxes with four contacts per face, leaning against each other
  Capsules,   ///< capsules of random directions, packed in a box
  Chain,      ///< links hung up at both ends, in tension: every link touches the next at two points
  KaplaTower, ///< levels of planks, crosswise, four contacts at each crossing
  Chute,      ///< spheres and cubes that slide down between walls
  SpherePile  ///< a pyramid of spheres on the ground
};
inline constexpr std::array all{Family::BoxStack, Family::Capsules, Family::Chain, Family::KaplaTower, Family::Chute, Family::SpherePile};

const char* nameOf(Family family);

/// About as many contacts as asked for (within a factor of two). The same arguments give the same problem.
FrictionProblem makeProblem(Family family, int contacts, unsigned seed);

}
