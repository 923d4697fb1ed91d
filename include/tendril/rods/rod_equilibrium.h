#pragma once
#include "tendril/rods/strain_rod.h"
#include "tendril/solvers/interior_point.h"

#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// How a rod is held: its begin always, its end as far as is asked.
struct RodEnds {
  Pose begin;
  std::optional<Vector3> position{};    ///< of the end [m]
  std::optional<Matrix3> orientation{}; ///< of the frame at the end
};

/// What holds the end, in the inertial frame: the force and moment that the support exerts on the rod there.
struct RodSupport {
  Vector3 force = Vector3::Zero();  ///< [N]
  Vector3 moment = Vector3::Zero(); ///< [N m]
};

/// What the unknowns are. Both have the same stationary points and the same discrete energies.
enum class RodForm {
  Strains, ///< strains alone: small and dense, effort of N^3
  Mixed    ///< strains and frames of all nodes: sparse, effort of N
};

struct RodEquilibriumOptions {
  RodForm form = RodForm::Mixed;
  double tolerance = 1e-10; ///< of the conditions of optimality, in natural units: lengths over L, energies over EI/L
  int maxIterations = 500;
  /// How often a point that is no minimum is left along the direction in which the energy falls.
  int escapes = 10;
  bool measuresStability = false; ///< also where the inertia of the equations tells that the point is a minimum
};

/// An equilibrium: the frames of the rod that was passed stand at it.
struct RodEquilibrium {
  bool isSolved = false;
  /// No direction that the supports allow lowers the energy to second order: the Hessian of the Lagrangian on the kernel of their gradients
  /// is positive definite.
  bool isMinimum = false;
  /// The least of the second variation over twice its elastic part, for motions that the supports allow: 1 without load, 0 where stability
  /// is lost. Where it was measured.
  double stability = 0;
  double energy = 0; ///< [J]
  RodSupport end;
  /// In the inertial frame, what each element passes on to the next [N]; of the mixed form, which has them as unknowns.
  std::vector<Vector3> internalForces{};
  int iterations = 0, escapes = 0;
  std::string message; ///< what went wrong
};

/// Minimises the energy of a rod between its supports, from its present strains: a nonlinear program with up to six equations for the end,
/// r_N = r*, log(R*^T R_N) = 0, and in mixed form six for every element, solved by InteriorPoint with exact second derivatives. What comes
/// out is a certified minimum or says that it is not: where a stationary point is none, the rod is disturbed along the direction of
/// negative curvature and solved again. InputError for ends farther apart than the rod is long, and for orientations that are no rotations.
RodEquilibrium solveEquilibrium(StrainRod& rod, const RodEnds& ends, const RodEquilibriumOptions& options = {});

}
