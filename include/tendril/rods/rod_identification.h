#pragma once
#include "tendril/rods/rod_equilibrium.h"

#include <optional>
#include <string>
#include <vector>

namespace tendril {

struct RodIdentificationOptions {
  RodProperties rod; ///< its natural strains are what is looked for
  int elements = 50; ///< with the exponential map
  RodEnds ends;
  /// Of the centreline, in order and all along the rod, from its begin to its end [m].
  std::vector<Vector3> points;
  int groups = 1; ///< pieces of equal length with natural strains of their own, constant in each
  /// Weight of the mean square of the jumps of L u0 between neighbours, against the mean square of the misfits over L.
  double smoothness = 0;
  std::optional<Vector3> guess{}; ///< natural strains to begin with; those of the points if not given [1/m]
  int maxIterations = 100;
};

struct RodIdentification {
  bool isSolved = false;
  VectorX natural;          ///< (kappa_1, kappa_2, tau) of each group [1/m]
  double misfit = 0;        ///< root of the mean square of the distances of the points [m]
  double largestMisfit = 0; ///< [m]
  /// By how much each strain may change while the misfit of all others' best answer grows by no more than what it is now [1/m].
  VectorX uncertainty;
  /// Combinations of the strains that the points do not depend on, to first order, and what they consist of.
  int unidentified = 0;
  std::vector<std::string> undetermined;
  std::optional<StrainRod> rod; ///< in the equilibrium found
  int iterations = 0;
  std::string message;
};

/// The natural strains p of a rod whose equilibrium under its weight passes through measured points y_k:
///
///     min (1/K) sum_k |x(s_k; u) - y_k|^2 / L^2 + (w/G) sum_g |L (p_{g+1} - p_g)|^2     s.t.   u a minimum of the energy E(u; p)
///
/// with the supports, by Levenberg-Marquardt. The equilibrium is eliminated: its derivative follows from the implicit function theorem,
/// [H J^T; J 0] (du/dp, dmu/dp) = (-d2E/dudp, 0), so that that of the misfit is exact. Places s_k are the lengths of the arcs through
/// neighbouring points, scaled to the length of the rod. First guess: the curvature of the polyline in a frame that does not turn about its
/// tangent; the rate at which its direction turns is the torsion.
///
/// Singular values of the misfit's derivative below 1e-6 of the largest are directions that cannot be identified (torsion of a straight
/// rod): the guess keeps its share of them. InputError as checkPoints().
RodIdentification identifyNaturalStrains(const RodIdentificationOptions& options);

/// InputError for points that are no centreline of this rod: too few, doubled, not finite, away from its begin, or a polyline of another
/// length, as of points in millimetres.
void checkPoints(const RodIdentificationOptions& options);

}
