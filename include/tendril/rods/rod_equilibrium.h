#pragma once
#include "tendril/rods/strain_rod.h"
#include "tendril/solvers/interior_point.h"

#include <optional>
#include <string>

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

struct RodEquilibriumOptions {
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
  double stability = 0; ///< least eigenvalue of that Hessian in natural units, where it was measured
  double energy = 0;    ///< [J]
  RodSupport end;
  int iterations = 0, escapes = 0;
  std::string message; ///< what went wrong
};

/// Minimises the energy of a rod between its supports, from its present strains: a nonlinear program in the strains with up to six
/// equations, r_N = r*, log(R*^T R_N) = 0, solved by InteriorPoint with exact second derivatives. What comes out is a certified minimum
/// or says that it is not: where a stationary point is none, the rod is disturbed along the direction of negative curvature and solved
/// again. InputError for ends farther apart than the rod is long, and for orientations that are no rotations.
RodEquilibrium solveEquilibrium(StrainRod& rod, const RodEnds& ends, const RodEquilibriumOptions& options = {});

}
