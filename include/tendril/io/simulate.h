#pragma once
#include "tendril/io/summary.h"
#include "tendril/scenes/outputs.h"

#include <functional>

namespace tendril {

struct SimulateOptions {
  /// Called with the initial state (step 0) and after each step.
  std::function<void(const StepReport&)> observe{};
  /// Asked after each step and within steps that take long; once true, Interrupted is thrown, the analysis at the last accepted state.
  std::function<bool()> stop{};
  bool isDynamic = true; ///< t is a time; in statics (false) a load parameter, and no power is summed up
};

/// Advances an analysis that was not started to its end, in memory, and says what the summary of a run says: the outputs, steps, residuals,
/// contacts and energies have the same bits as those of a scene with the same mechanism, analysis and outputs. The scene, its parameters
/// and the times are not known here. Throws what the analysis throws.
Summary simulate(const Model& model, Analysis& analysis, Outputs& outputs, const SimulateOptions& options = {});

}
