#include "tendril/statics/arc_length.h"

#include "statics/critical_point.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tendril {

/// Newton's view of a point at arclength ds along the tangent: the equilibrium with t free, bordered by the linear arclength condition.
class ArcLength::Problem final : public EquilibriumProblem {
 public:
  Problem(ArcLength& path, double ds)
      : EquilibriumProblem(path.kkt_, path.state_), path_(path), ds_(ds), sum_(VectorX::Zero(delta_.size())), along_(delta_),
        alongLambda_(deltaLambda_) {}

  /// Starts from the prediction state + ds tangent.
  void predict() {
    delta_ = path_.tangent_.delta;
    deltaLambda_ = path_.tangent_.lambda;
    deltaLoad_ = path_.tangent_.load;
    applyStep(ds_);
  }

  bool evaluate(std::span<ResidualGroup> groups) override {
    const bool represented = kkt_.evaluate(state_, {.motion = false, .tangent = true, .timeRate = true});
    kkt_.measure(state_, groups);
    return represented;
  }

  bool solve() override {
    const Assembly& assembly = kkt_.assembly();
    if (!kkt_.solve(delta_, deltaLambda_)) return false;
    if (!kkt_.solve(-assembly.forceRate(), -assembly.constraintRate(), along_, alongLambda_)) return false;
    deltaLoad_ = (ds_ - path_.inner(path_.tangent_.delta, sum_) - path_.inner(path_.tangent_.delta, delta_)) /
                 path_.inner(path_.tangent_.delta, along_);
    delta_ += deltaLoad_ * along_;
    deltaLambda_ += deltaLoad_ * alongLambda_;
    return std::isfinite(deltaLoad_);
  }

  void applyStep(double factor) override {
    EquilibriumProblem::applyStep(factor);
    heldSum_ = sum_;
    heldLoad_ = state_.t;
    sum_ += factor * delta_;
    state_.t += factor * deltaLoad_;
  }

  void undoStep() override {
    EquilibriumProblem::undoStep();
    sum_ = heldSum_;
    state_.t = heldLoad_;
  }

 private:
  ArcLength& path_;
  double ds_;
  VectorX sum_, along_, alongLambda_, heldSum_;
  double deltaLoad_ = 0, heldLoad_ = 0;
};

ArcLength::ArcLength(const Model& model, const ArcLengthOptions& options)
    : options_(options), kkt_(model, options.tolerances), state_(model.initialState()),
      accepted_(state_), tangent_{VectorX::Zero(model.nv()), VectorX::Zero(model.nc())},
      newton_({.maxIterations = options.maxIterations, .lineSearch = false}) {}

double ArcLength::inner(const VectorX& a, const VectorX& b) const {
  const double length = kkt_.model().characteristicLength();
  double sum = 0;
  int count = 0;
  for (const Block& block : kkt_.model().blocks()) {
    if (block.kind != Block::Kind::Pose) continue;
    sum += a.segment<3>(block.v).dot(b.segment<3>(block.v)) / (length * length) + a.segment<3>(block.v + 3).dot(b.segment<3>(block.v + 3));
    ++count;
  }
  return count > 0 ? sum / count : a.dot(b) / double(a.size());
}

void ArcLength::findTangent() {
  const VectorX before = tangent_.delta;
  kkt_.forgetPrediction();
  kkt_.evaluate(state_, {.motion = false, .tangent = true, .timeRate = true});
  const Assembly& assembly = kkt_.assembly();
  if (!kkt_.factorise() || !kkt_.solve(-assembly.forceRate(), -assembly.constraintRate(), tangent_.delta, tangent_.lambda)) {
    throw NumericalFailure("arc length: the tangent is singular at load parameter " + std::to_string(state_.t) + ": " +
                           kkt_.describeSingular());
  }
  const double norm = std::sqrt(inner(tangent_.delta, tangent_.delta));
  if (!(norm > 0)) throw InputError("arc length needs a load that depends on the load parameter; no load of the scene does");
  const double direction = inner(before, tangent_.delta) < 0 ? -1 : 1;
  tangent_.load = direction / norm;
  tangent_.delta *= tangent_.load;
  tangent_.lambda *= tangent_.load;
}

void ArcLength::start() {
  atRest(state_);
  state_.t = 0;
  kkt_.findRedundancy(state_);
  if (const std::string text = kkt_.describeRedundancy(); !text.empty()) messages_.push_back(text);
  kkt_.balance();
  findTangent();
  firstDs_ = ds_ = options_.firstStep / tangent_.load;
  accepted_ = state_;
  if (!options_.stability) return;
  if (const std::optional<Inertia> inertia = kkt_.tangentInertia(state_)) negative_ = inertia->negative;
}

bool ArcLength::finished() const { return report_.step >= options_.maxSteps || state_.t < options_.lowest || state_.t > options_.highest; }

double ArcLength::progress() const { return std::min(1.0, double(report_.step) / options_.maxSteps); }

/// The equilibrium at the distance ds from the accepted one.
bool ArcLength::attempt(double ds) {
  state_ = accepted_;
  kkt_.forgetPrediction();
  Problem problem(*this, ds);
  problem.predict();
  return newton_.solve(problem).converged();
}

/// Counts the signs at the new equilibrium; where they changed, finds the load within the step, along the tangent that led here.
void ArcLength::judgeStability(Tangent before) {
  report_.critical.reset();
  report_.tangent = kkt_.tangentInertia(state_);
  if (!report_.tangent || report_.tangent->negative == negative_) return;
  if (report_.note.empty()) report_.note = "bifurcation";
  const State reached = state_;
  std::swap(tangent_, before);
  report_.critical = locateCriticalPoint(kkt_, state_, negative_, [&](double fraction) { return attempt(fraction * ds_); });
  std::swap(tangent_, before);
  state_ = reached;
  negative_ = report_.tangent->negative;
}

const StepReport& ArcLength::advance() try {
  report_.iterations = report_.factorisations = report_.cuts = 0;
  report_.note.clear();
  while (!attempt(ds_)) {
    report_.iterations += newton_.report().iterations;
    report_.factorisations += newton_.report().factorisations;
    ++report_.cuts;
    ds_ /= 2;
    if (ds_ < options_.smallestShrink * firstDs_) {
      throw NumericalFailure(fmt::format("arc length: step {} from load parameter {:.6g} failed: {}", report_.step + 1, accepted_.t,
                                         newton_.report().message));
    }
  }
  const int iterations = std::max(newton_.report().iterations, 1);
  report_.iterations += iterations;
  report_.factorisations += newton_.report().factorisations;
  report_.residual = newton_.report().residual();
  const Tangent before = tangent_;
  const double loadBefore = accepted_.t;
  findTangent();
  if (before.load * tangent_.load < 0) report_.note = "limit point";
  if (options_.stability) judgeStability(before);
  ++report_.step;
  report_.t = state_.t;
  report_.h = state_.t - loadBefore;
  ds_ = std::min(ds_ * std::clamp(std::sqrt(double(options_.targetIterations) / iterations), 0.5, 1.5), options_.largestGrowth * firstDs_);
  accepted_ = state_;
  return report_;
} catch (const NumericalFailure&) {
  // Also a load that is undefined at the new load parameter ends here.
  state_ = accepted_;
  throw;
}

Snapshot ArcLength::save() {
  Snapshot snapshot;
  store(state_, snapshot);
  snapshot["path"] = {ds_, firstDs_, tangent_.load, double(negative_), double(report_.step)};
  snapshot["tangent"].assign(tangent_.delta.data(), tangent_.delta.data() + tangent_.delta.size());
  snapshot["tangent_lambda"].assign(tangent_.lambda.data(), tangent_.lambda.data() + tangent_.lambda.size());
  kkt_.forget();
  return snapshot;
}

void ArcLength::restore(const Snapshot& snapshot) {
  start();
  load(snapshot, state_);
  const std::vector<double>& path = snapshot.at("path");
  ds_ = path.at(0), firstDs_ = path.at(1), tangent_.load = path.at(2), negative_ = int(path.at(3)), report_.step = long(path.at(4));
  tangent_.delta = Eigen::Map<const VectorX>(snapshot.at("tangent").data(), tangent_.delta.size());
  tangent_.lambda = Eigen::Map<const VectorX>(snapshot.at("tangent_lambda").data(), tangent_.lambda.size());
  accepted_ = state_;
}

}
