#pragma once
#include "tendril/rods/rod_contact.h"
#include "tendril/rods/rod_equilibrium.h"

#include <functional>
#include <string>
#include <vector>

namespace tendril {

enum class ContactDescent {
  Newton, ///< second derivatives on the active set
  Flow    ///< the constrained gradient flow (Blumentals 2017, 6.28), explicit in time, to compare
};

struct RodContactEquilibriumOptions {
  ContactDescent method = ContactDescent::Newton;
  double tolerance = 1e-8; ///< of the residual, in natural units
  int maxIterations = 2000;
  int escapes = 20;            ///< how often a point that is no minimum is left
  std::function<bool()> stops; ///< asked in every iteration: gives up with Interrupted
};

/// A contact that carries a force.
struct RodContactForce {
  RodTouch touch;
  double force = 0; ///< along the normal, on the first place [N]
};

/// An equilibrium with contacts: the frames of the rod that was passed stand at it.
struct RodContactEquilibrium {
  bool isSolved = false;
  /// No motion that the supports allow and that keeps the contacts which carry a force lowers the energy to second order.
  bool isMinimum = false;
  double stability = 0; ///< least of the second variation for these motions, over twice its elastic part
  double energy = 0;    ///< [J]
  RodSupport end;
  std::vector<RodContactForce> contacts;
  double leastGap = 0; ///< [m]; of those within a radius of the rod, else a radius
  /// Size of the step to the nearest point of the linearised constraints against the gradient of the energy, in the metric of the elastic
  /// energy: zero where forces, moments and contacts balance, gaps are open or closed and pushed. In natural units.
  double residual = 0;
  int iterations = 0, escapes = 0, cuts = 0;
  std::vector<double> energies; ///< of all iterates that obey the supports [J]
  std::string message;          ///< what went wrong
};

/// Minimises the energy of a strain rod that touches itself and obstacles, from its present strains, which overlap nothing:
///
///     min E(u)    s.t.    c(u) = 0 (supports of the end),    g_k(u) >= 0 (gaps),
///     dE + J^T lambda - G^T mu = 0,    0 <= mu _|_ g >= 0.
///
/// Every iterate obeys all constraints, so that the rod cannot pass through itself, and the energy falls from each to the next. An
/// iteration
///
///   - projects the gradient, in the metric D of the elastic energy, on the linearised constraints: min |v + D^-1 dE|_D with J v = -c,
///     G v >= -g (NearestPoint). v is the step of the gradient flow (6.28), its size the residual, and rows with a multiplier are a guess
///     of the active set;
///   - minimises the second-order model of the Lagrangian, with exact second derivatives of energy, supports and gaps, on the active rows
///   by
///     conjugate gradients in that metric within a trust region (Steihaug 1983). A product with a direction costs one sweep along the rod
///     (StrainRod::SecondVariation); rows that the step would violate join;
///   - shortens the step until no two segments can meet on the way (RodContacts::longestFactor), and brings the point back to the
///   constraints
///     by the nearest changes of strains;
///   - takes it if the energy falls by enough of what the model promised; else the region shrinks, and at last the step is along v.
///
/// At the end the method of Lanczos finds the least second variation on the active rows. If it is negative, the rod is moved along its
/// direction, down the energy, and the descent goes on: what is reported is a certified minimum. Where the end is elsewhere than `ends`
/// say, it is led there first, in steps that obey the contacts.
///
/// InputError, naming the segments or the obstacle, for a start that overlaps; for rods that stretch; and as solveEquilibrium.
RodContactEquilibrium solveContactEquilibrium(StrainRod& rod, const RodEnds& ends, const RodSurroundings& surroundings,
                                              const RodContactEquilibriumOptions& options = {});

}
