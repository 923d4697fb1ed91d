#include "tendril/statics/arc_length.h"

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
    delta_ = path_.tangent_;
    deltaLambda_ = path_.tangentLambda_;
    deltaLoad_ = path_.tangentLoad_;
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
    deltaLoad_ = (ds_ - path_.inner(path_.tangent_, sum_) - path_.inner(path_.tangent_, delta_)) / path_.inner(path_.tangent_, along_);
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
    : options_(options), kkt_(model, options.tolerances), state_(model.initialState()), accepted_(state_),
      tangent_(VectorX::Zero(model.nv())), tangentLambda_(VectorX::Zero(model.nc())) {}

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
  const VectorX before = tangent_;
  kkt_.forgetPrediction();
  kkt_.evaluate(state_, {.motion = false, .tangent = true, .timeRate = true});
  const Assembly& assembly = kkt_.assembly();
  if (!kkt_.factorise() || !kkt_.solve(-assembly.forceRate(), -assembly.constraintRate(), tangent_, tangentLambda_)) {
    throw NumericalFailure("arc length: the tangent is singular at load parameter " + std::to_string(state_.t) + ": " +
                           kkt_.describeSingular());
  }
  const double norm = std::sqrt(inner(tangent_, tangent_));
  if (!(norm > 0)) throw InputError("arc length needs a load that depends on the load parameter; no load of the scene does");
  const double direction = inner(before, tangent_) < 0 ? -1 : 1;
  tangentLoad_ = direction / norm;
  tangent_ *= tangentLoad_;
  tangentLambda_ *= tangentLoad_;
}

void ArcLength::start() {
  atRest(state_);
  state_.t = 0;
  kkt_.findRedundancy(state_);
  if (const std::string text = kkt_.describeRedundancy(); !text.empty()) messages_.push_back(text);
  kkt_.balance();
  findTangent();
  firstDs_ = ds_ = options_.firstStep / tangentLoad_;
  accepted_ = state_;
}

bool ArcLength::finished() const { return report_.step >= options_.maxSteps || state_.t < options_.lowest || state_.t > options_.highest; }

double ArcLength::progress() const { return std::min(1.0, double(report_.step) / options_.maxSteps); }

const StepReport& ArcLength::advance() try {
  report_.iterations = report_.factorisations = report_.cuts = 0;
  report_.note.clear();
  const double loadBefore = accepted_.t, directionBefore = tangentLoad_;
  Newton newton({.maxIterations = options_.maxIterations, .lineSearch = false});
  for (;; ++report_.cuts, ds_ /= 2) {
    if (ds_ < options_.smallestShrink * firstDs_) {
      throw NumericalFailure(
          fmt::format("arc length: step {} from load parameter {:.6g} failed: {}", report_.step + 1, accepted_.t, newton.report().message));
    }
    state_ = accepted_;
    Problem problem(*this, ds_);
    problem.predict();
    const NewtonReport& result = newton.solve(problem);
    report_.iterations += result.iterations;
    report_.factorisations += result.factorisations;
    if (result.converged()) break;
  }
  const int iterations = std::max(newton.report().iterations, 1);
  report_.residual = newton.report().history.back().merit;
  findTangent();
  if (options_.stability) report_.tangent = kkt_.tangentInertia(state_);
  const bool turned = directionBefore * tangentLoad_ < 0;
  if (turned) report_.note = "limit point";
  if (report_.tangent) {
    if (!turned && negative_ >= 0 && report_.tangent->negative != negative_) report_.note = "bifurcation";
    negative_ = report_.tangent->negative;
  }
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
  snapshot["path"] = {ds_, firstDs_, tangentLoad_, double(negative_), double(report_.step)};
  snapshot["tangent"].assign(tangent_.data(), tangent_.data() + tangent_.size());
  snapshot["tangent_lambda"].assign(tangentLambda_.data(), tangentLambda_.data() + tangentLambda_.size());
  kkt_.forget();
  return snapshot;
}

void ArcLength::restore(const Snapshot& snapshot) {
  start();
  load(snapshot, state_);
  const std::vector<double>& path = snapshot.at("path");
  ds_ = path.at(0), firstDs_ = path.at(1), tangentLoad_ = path.at(2), negative_ = int(path.at(3)), report_.step = long(path.at(4));
  tangent_ = Eigen::Map<const VectorX>(snapshot.at("tangent").data(), tangent_.size());
  tangentLambda_ = Eigen::Map<const VectorX>(snapshot.at("tangent_lambda").data(), tangentLambda_.size());
  accepted_ = state_;
}

}
