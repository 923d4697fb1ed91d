#include "tendril/io/simulate.h"
#include "io/run_totals.h"

#include <fmt/format.h>

namespace tendril {

Summary simulate(const Model& model, Analysis& analysis, Outputs& outputs, const SimulateOptions& options) {
  RunTotals totals;
  const auto take = [&](const StepReport& report) {
    outputs.observe(analysis, report);
    if (options.observe) options.observe(report);
  };
  analysis.stopWhen(options.stop);
  analysis.start();
  totals.begin(analysis, model);
  StepReport initial;
  initial.t = analysis.state().t;
  take(initial);
  while (!analysis.finished()) {
    const StepReport& report = analysis.advance();
    totals.add(report, analysis, model, options.isDynamic);
    take(report);
    if (!analysis.finished() && options.stop && options.stop())
      throw Interrupted(fmt::format("interrupted after step {}, t = {:.9g}", totals.step, totals.t));
  }
  Summary summary;
  tellOutputs(outputs, summary);
  totals.tellSteps(summary);
  totals.tellEnergy(analysis, model, options.isDynamic, summary);
  for (const auto& list : {analysis.messages(), totals.notes, outputs.messages()})
    summary.messages.insert(summary.messages.end(), list.begin(), list.end());
  return summary;
}

}
