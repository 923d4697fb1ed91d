#pragma once
#include "tendril/analysis/annealing.h"
#include "tendril/analysis/performance.h"
#include "tendril/solvers/projected_gradient.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tendril {

/// How the diameter of a performance is looked for: for every input k a global maximum over all others and the pair (A_k, B_k).
enum class DiameterMethod {
  Annealing, ///< the method of the source: an estimate from below
  Gradient,  ///< projected gradients from several starts: an estimate from below, exact where the maximum is that of a start's valley
  Bounds,    ///< branch and bound by bounds of the slopes: certified from above
};
std::string_view nameOf(DiameterMethod method);

/// The largest difference that changing one input alone makes.
struct InputDiameter {
  double value = 0; ///< what counts: the certified bound, or the largest difference found
  double found = 0; ///< the largest difference found
  VectorX at;       ///< where, with A in the place of the input
  double other = 0; ///< B
};

/// D, with D^2 = sum_k D_k^2.
struct Diameter {
  std::vector<InputDiameter> inputs;
  bool isCertified = false; ///< `value` is an upper bound, if the bounds of the slopes are
  EvaluationCount count;

  double value() const;
  double found() const; ///< from below
};

struct DiameterOptions {
  DiameterMethod method = DiameterMethod::Gradient;
  AnnealingOptions annealing{};
  ProjectedGradientOptions gradient{.tolerance = 1e-3, .maxEvaluations = 30};
  int starts = 4;         ///< of projected gradients, per input: four through the middle of the box, then through random corners
  std::uint64_t seed = 1; ///< of annealing and of starts
  /// Bounds L_j of |dF/dx_j| in the whole box.
  VectorX slopes{};
  /// Bounds of |d2F/dx_j dx_k|: optional, and sharper. Zero: linear.
  MatrixX curvatures{};
  double tolerance = 1e-3; ///< of bounds, relative to the largest difference found
  long maxRuns = 20000;    ///< of bounds, per input; what was not ruled out by then is in the bound
  /// Where maxima were found before, for a performance near to this one: further starts.
  std::vector<InputDiameter> known{};
};

/// The diameter over a box. Inputs that take single values alone are searched over the whole interval between the outermost: no less.
///
/// Bounds: in a box of half widths r about z = (x, A, B), where the difference is d,
///
///     sup <= d + L_k (r_A + r_B) + sum_{j != k} min(2 L_j, C_jk sup |A - B|) r_j      (analysis.14),
///
/// and boxes are halved where that sum has its largest part, the one with the largest bound first. InputError without `slopes`, or where a
/// difference is found that they rule out.
Diameter findDiameter(CountedPerformance& performance, const DiameterOptions& options);

}
