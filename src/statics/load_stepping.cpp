#include "tendril/statics/load_stepping.h"

#include "statics/contact_equilibrium.h"
#include "tendril/model/error.h"
#include "tendril/solvers/sign_change.h"

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

LoadStepping::LoadStepping(const Model& model, const LoadSteppingOptions& options, const ContactModel& parts,
                           std::unique_ptr<ContactConstraints> contacts)
    : LoadStepping(model, options) {
  contacts_ = std::move(contacts);
  options_.stability = false;
  lastMove_.setZero(model.nv());
  equilibrium_ = std::make_unique<ContactEquilibrium>(kkt_, state_, parts, *contacts_, options.contact, options.gapTolerance);
  contactReport_.model = &parts;
}

LoadStepping::~LoadStepping() = default;

void LoadStepping::start() {
  atRest(state_);
  state_.t = 0;
  kkt_.findRedundancy(state_);
  if (const std::string text = kkt_.describeRedundancy(); !text.empty()) messages_.push_back(text);
  kkt_.balance();
  accepted_ = state_;
  if (equilibrium_) judgeOverlap();
  if (!options_.stability) return;
  if (const std::optional<Inertia> inertia = kkt_.tangentInertia(state_)) negative_ = inertia->negative;
}

void LoadStepping::judgeOverlap() {
  contacts_->begin(state_, 0.1 * contacts_->size());
  contacts_->evaluate(state_);
  const Overlap overlap = deepestOverlap(*contacts_);
  if (overlap.depth <= allowedOverlap * contacts_->size()) return;
  overlap_ = overlap.place;
  if (!options_.projectInitial) {
    throw InputError("surfaces overlap at the start: " + overlap.place +
                     "; move them apart, or set project_initial: true to let the first step do that");
  }
  messages_.push_back("overlaps at the start are taken out in the first step; the deepest is " + overlap.place);
}

bool LoadStepping::attempt(double t) {
  state_ = accepted_;
  state_.t = t;
  kkt_.forgetPrediction();
  if (equilibrium_) {
    predict();
    solveWithContact();
    if (attempt_.converged || lastStep_ == 0) return attempt_.converged;
    state_ = accepted_;
    state_.t = t;
    solveWithContact();
    return attempt_.converged;
  }
  // Rows that were redundant may have become independent; only then is it worth a second try at the same load.
  return solve() || (kkt_.findRedundancy(state_) && solve());
}

/// Iterates begin where the structure would be if it went on as in the last step.
void LoadStepping::predict() {
  if (lastStep_ == 0) return;
  const double ratio = (state_.t - accepted_.t) / lastStep_;
  kkt_.model().retract(accepted_.q, ratio * lastMove_, state_.q);
  state_.lambda += ratio * lastLambda_;
}

void LoadStepping::accept() {
  if (equilibrium_) {
    equilibrium_->accept();
    equilibrium_->report(contactReport_);
    kkt_.model().difference(accepted_.q, state_.q, lastMove_);
    lastLambda_ = state_.lambda - accepted_.lambda;
    lastStep_ = state_.t - accepted_.t;
  }
  accepted_ = state_;
}

bool LoadStepping::solve() {
  const NewtonReport& newton = newton_.solve(problem_);
  report_.iterations += newton.iterations;
  report_.factorisations += newton.factorisations;
  attempt_ = {newton.converged(), newton.outcome == NewtonReport::Outcome::SingularTangent, newton.iterations, newton.residual(),
              newton.message};
  return attempt_.converged;
}

void LoadStepping::solveWithContact() {
  const ContactNewtonReport& newton = equilibrium_->solve(accepted_);
  report_.iterations += newton.iterations;
  report_.factorisations += newton.factorisations;
  attempt_ = {newton.converged, newton.isSingular, newton.iterations, newton.residual, newton.message};
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
    if (h_ < options_.smallestStep || attempt_.isSingular) {
      std::string why = fmt::format("statics: step {} from load parameter {:.6g} failed: {}", report_.step + 1, accepted_.t, attempt_.why);
      if (!(equilibrium_ && attempt_.isSingular)) {
        why += fmt::format(" (steps were cut to {:.3g}); near a limit point use arc length, or look at the state that was kept", h_);
      }
      if (!overlap_.empty() && report_.step == 0) {
        why += "; overlaps at the start were to be taken out in this step, the deepest is " + overlap_ + ": move these apart";
      }
      throw NumericalFailure(why);
    }
  }
  report_.residual = attempt_.residual;
  const bool wasEasy = report_.cuts == 0 && attempt_.iterations <= easy;
  if (options_.stability) judgeStability();
  const double ceiling = options_.grow ? std::max(options_.largestStep, 1.0 / options_.steps) : 1.0 / options_.steps;
  if (wasEasy) h_ = std::min(1.5 * std::max(h_, report_.h), ceiling);
  for (const ResidualGroup& group : newton_.report().groups) {
    if (group.reference > 0 && group.reference < group.roundOff && report_.step == 0) {
      report_.note = "the loads are smaller than the rounding of the stiffest element; use fewer elements, or take the result with care";
    }
  }
  ++report_.step;
  report_.t = state_.t;
  accept();
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
  report_.critical = locateSignChange(negative_, [&](double fraction) -> std::optional<TangentSigns> {
    if (!attempt(accepted_.t + fraction * (reached.t - accepted_.t))) return {};
    const std::optional<Inertia> inertia = kkt_.tangentInertia(state_, noDeadBand);
    if (!inertia) return {};
    return TangentSigns{state_.t, *inertia};
  });
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
  if (equilibrium_) {
    snapshot["contact"] = equilibrium_->save();
    snapshot["last move"].assign(lastMove_.data(), lastMove_.data() + lastMove_.size());
    snapshot["last lambda"].assign(lastLambda_.data(), lastLambda_.data() + lastLambda_.size());
    snapshot["last step"] = {lastStep_};
  }
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
  if (equilibrium_) {
    equilibrium_->restore(snapshot.at("contact"));
    const std::vector<double>&move = snapshot.at("last move"), &lambda = snapshot.at("last lambda");
    lastMove_ = Eigen::Map<const VectorX>(move.data(), Eigen::Index(move.size()));
    lastLambda_ = Eigen::Map<const VectorX>(lambda.data(), Eigen::Index(lambda.size()));
    lastStep_ = snapshot.at("last step").at(0);
  }
  accepted_ = state_;
}

}
