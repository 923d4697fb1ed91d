#pragma once
#include "tendril/analysis/certificate.h"

#include <string_view>
#include <vector>

namespace tendril {

/// How controls are looked for.
enum class ControlSearch {
  Annealing, ///< the method of the source: energy -CF
  /// Projected gradients of `(a - <Y>)/D`, with differences along the lines of the diameter, found anew in every round; where the
  /// performance knows residuals, Levenberg-Marquardt steps for them
  Gradient
};
std::string_view nameOf(ControlSearch search);

struct ConcentrationControlOptions {
  ControlSearch search = ControlSearch::Gradient;
  CertificateOptions certificate{};
  Box controls; ///< the neighbourhood
  VectorX start;
  AnnealingOptions annealing{};
  ProjectedGradientOptions gradient{.tolerance = 1e-3, .maxEvaluations = 40};
  int rounds = 3;            ///< of projected gradients
  long gradientSamples = 16; ///< of the mean while gradients are followed
  double share = 1e-3;       ///< of the neighbourhood, for differences where the performance knows no gradients
};

/// Mean, diameter, and the confidence factor and bound that they make, of controls that were looked at.
struct ControlStep {
  double mean = 0, diameter = 0, confidenceFactor = 0, bound = 1;
  EvaluationCount count; ///< so far
};

struct ConcentrationControlResult {
  VectorX controls;
  Certificate begin, best;
  std::vector<ControlStep> history; ///< of the best controls so far
  EvaluationCount count;            ///< of the whole, both certificates included
};

/// Concentration of measure optimal control (Leyendecker, Lucas, Owhadi & Ortiz 2010): controls u in a neighbourhood of given ones that
/// make the failure of Y = F(u, X) improbable,
///
///     max_u CF(u) = (a - <Y> - alpha)_+ / D_F(u).
///
/// Since alpha is a multiple of D, that is to maximise `(a - <Y>)/D`. Where the mean is above the threshold CF is flat; projected gradients
/// then lower the mean, annealing has nothing to go by. Samples of the search are the same for all controls (common random numbers) and
/// others than those of the two certificates, which therefore owe nothing to luck. Controls at which the performance does not exist in some
/// samples are taken back along the way that led there, and the search learns where they fail. Better controls than the given ones are not
/// promised: these are returned if need be.
///
/// The points of the performance are (u, x), controls first.
ConcentrationControlResult concentrate(const Performance& performance, const UncertainInputs& inputs,
                                       const ConcentrationControlOptions& options, const StopQuestion& stop = {});
/// The certificate of given controls, as `begin` and `best`.
ConcentrationControlResult certifyControls(const Performance& performance, const UncertainInputs& inputs, const VectorX& controls,
                                           const CertificateOptions& options, const StopQuestion& stop = {});

}
