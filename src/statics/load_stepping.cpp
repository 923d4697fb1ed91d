#include "tendril/statics/load_stepping.h"

#include "statics/critical_point.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tendril {

namespace {
/// A step that took this many iterations or fewer was easy.
constexpr int easy = 6;
}

LoadStepping::LoadStepping(const Model& model, const LoadSteppingOptions& options)
    : options_(options), kkt_(model, options.tolerances), state_(model.initialState()), accepted_(state_), problem_(kkt_, state_),
      newton_({.maxIterations = options.maxIterations, .minIterations = 1, .lineSearch = false}), h_(1.0 / std::max(options.steps, 1)) {}

void LoadStepping::start() {
  atRest(state_);
  state_.t = 0;
  kkt_.findRedundancy(state_);
  if (const std::string text = kkt_.describeRedundancy(); !text.empty()) messages_.push_back(text);
  kkt_.balance();
  accepted_ = state_;
  if (!options_.stability) return;
  if (const std::optional<Inertia> inertia = kkt_.tangentInertia(state_)) negative_ = inertia->negative;
}

bool LoadStepping::attempt(double t) {
  state_ = accepted_;
  state_.t = t;
  kkt_.forgetPrediction();
  const NewtonReport& newton = newton_.solve(problem_);
  report_.iterations += newton.iterations;
  report_.factorisations += newton.factorisations;
  if (newton.converged()) return true;
  // Rows that were redundant may have become independent; only then is it worth a second try at the same load.
  return kkt_.findRedundancy(state_) && newton_.solve(problem_).converged();
}

const StepReport& LoadStepping::advance() try {
  report_.iterations = report_.factorisations = report_.cuts = 0;
  report_.note.clear();
  for (;;) {
    const double remaining = 1 - accepted_.t;
    // Equal steps reach the end exactly, and no sliver of a step is left over.
    const double h = remaining < h_ * (1 + 1e-9) ? remaining : h_;
    const double t = h == remaining ? 1 : accepted_.t + h;
    if (attempt(t)) {
      report_.h = h;
      break;
    }
    ++report_.cuts;
    h_ = h / 2;
    if (h_ < options_.smallestStep || newton_.report().outcome == NewtonReport::Outcome::SingularTangent) {
      const std::string why = newton_.report().message;
      throw NumericalFailure(fmt::format("statics: step {} from load parameter {:.6g} failed: {} (steps were cut to {:.3g}); near a limit "
                                         "point use arc length, or look at the state that was kept",
                                         report_.step + 1, accepted_.t, why, h_));
    }
  }
  const NewtonReport& newton = newton_.report();
  report_.residual = newton.residual();
  const bool wasEasy = report_.cuts == 0 && newton.iterations <= easy;
  if (options_.stability) judgeStability();
  const double ceiling = options_.grow ? std::max(options_.largestStep, 1.0 / options_.steps) : 1.0 / options_.steps;
  if (wasEasy) h_ = std::min(1.5 * std::max(h_, report_.h), ceiling);
  for (const ResidualGroup& group : newton.groups) {
    if (group.reference > 0 && group.reference < group.roundOff && report_.step == 0) {
      report_.note = "the loads are smaller than the rounding of the stiffest element; use fewer elements, or take the result with care";
    }
  }
  ++report_.step;
  report_.t = state_.t;
  accepted_ = state_;
  return report_;
} catch (const NumericalFailure&) {
  // Also a load that is undefined at the new load parameter ends here.
  state_ = accepted_;
  throw;
}

void LoadStepping::judgeStability() {
  report_.critical.reset();
  report_.tangent = kkt_.tangentInertia(state_);
  if (report_.step == 0 && report_.tangent && report_.tangent->zero > 0) {
    if (const std::string free = kkt_.describeFreeMotions(state_); !free.empty()) {
      throw NumericalFailure("statics: the equilibrium is not unique; " + free);
    }
  }
  if (!report_.tangent || report_.tangent->negative == negative_) return;
  const State reached = state_;
  const StepReport step = report_;
  report_.critical = locateCriticalPoint(kkt_, state_, negative_,
                                         [&](double fraction) { return attempt(accepted_.t + fraction * (reached.t - accepted_.t)); });
  state_ = reached;
  report_.iterations = step.iterations, report_.factorisations = step.factorisations;
  negative_ = report_.tangent->negative;
}

Snapshot LoadStepping::save() {
  Snapshot snapshot;
  store(state_, snapshot);
  snapshot["h"] = {h_};
  snapshot["step"] = {double(report_.step), double(negative_)};
  snapshot["redundant"].assign(kkt_.redundantRows().begin(), kkt_.redundantRows().end());
  kkt_.forget();
  return snapshot;
}

void LoadStepping::restore(const Snapshot& snapshot) {
  start();
  load(snapshot, state_);
  h_ = snapshot.at("h").at(0);
  report_.step = long(snapshot.at("step").at(0));
  negative_ = int(snapshot.at("step").at(1));
  const std::vector<double>& rows = snapshot.at("redundant");
  kkt_.setRedundantRows({rows.begin(), rows.end()});
  accepted_ = state_;
}

}
