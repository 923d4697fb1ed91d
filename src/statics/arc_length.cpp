#include "tendril/statics/arc_length.h"

#include "tendril/model/error.h"
#include "tendril/model/increment.h"
#include "tendril/solvers/sign_change.h"
#include "tendril/statics/equilibrium.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tendril {

/// Equilibria as a PathFollower sees them: increments are those of the configuration and of the multipliers, one after the other.
class ArcLength::Equilibria final : public PathProblem {
 public:
  explicit Equilibria(ArcLength& analysis)
      : kkt_(analysis.kkt_), state_(analysis.state_), kept_(analysis.accepted_), held_(analysis.state_), delta_(state_.v.size()),
        lambda_(state_.lambda.size()) {}

  int size() const override { return int(delta_.size() + lambda_.size()); }
  double parameter() const override { return state_.t; }
  int groupCount() const override { return KktSystem::groupCount; }

  bool evaluate(std::span<ResidualGroup> groups) override {
    const bool represented = kkt_.evaluate(state_, {.motion = false, .tangent = true, .timeRate = true});
    kkt_.measure(state_, groups);
    return represented;
  }

  bool factorise() override { return kkt_.factorise(); }

  bool solve(VectorX& step) override {
    if (!kkt_.solve(delta_, lambda_)) return false;
    step << delta_, lambda_;
    return true;
  }

  bool solveRate(VectorX& along) override {
    const Assembly& assembly = kkt_.assembly();
    if (!kkt_.solve(-assembly.forceRate(), -assembly.constraintRate(), delta_, lambda_)) return false;
    along << delta_, lambda_;
    return true;
  }

  double inner(const VectorX& a, const VectorX& b) const override {
    const double length = kkt_.model().characteristicLength();
    double sum = 0;
    int count = 0;
    for (const Block& block : kkt_.model().blocks()) {
      if (block.kind != Block::Kind::Pose) continue;
      sum +=
          a.segment<3>(block.v).dot(b.segment<3>(block.v)) / (length * length) + a.segment<3>(block.v + 3).dot(b.segment<3>(block.v + 3));
      ++count;
    }
    const Eigen::Index n = delta_.size();
    return count > 0 ? sum / count : a.head(n).dot(b.head(n)) / double(n);
  }

  double longestFactor(const VectorX& step) override {
    delta_ = step.head(delta_.size());
    return longestTurn(kkt_.model(), delta_);
  }

  void move(const VectorX& step, double dt, double factor) override {
    held_ = state_;
    delta_ = step.head(delta_.size());
    kkt_.predict(state_, delta_, factor);
    delta_ *= factor;
    kkt_.model().retract(held_.q, delta_, state_.q);
    state_.lambda += factor * step.tail(lambda_.size());
    state_.t += factor * dt;
  }

  void undo() override {
    kkt_.forgetPrediction();
    state_ = held_;
  }

  void settle() override { kkt_.forgetPrediction(); }
  void keep() override { kept_ = state_; }

  void returnToKept() override {
    kkt_.forgetPrediction();
    state_ = kept_;
  }

  std::string describeWorst() const override { return kkt_.describeWorst(); }
  std::string describeSingular() const override { return kkt_.describeSingular(); }

 private:
  KktSystem& kkt_;
  State &state_, &kept_;
  State held_;
  VectorX delta_, lambda_;
};

ArcLength::ArcLength(const Model& model, const ArcLengthOptions& options)
    : options_(options), kkt_(model, options.tolerances), state_(model.initialState()), accepted_(state_),
      equilibria_(std::make_unique<Equilibria>(*this)), follower_(options.path) {}

ArcLength::~ArcLength() = default;

void ArcLength::start() {
  atRest(state_);
  state_.t = 0;
  kkt_.findRedundancy(state_);
  if (const std::string text = kkt_.describeRedundancy(); !text.empty()) messages_.push_back(text);
  kkt_.balance();
  if (!follower_.start(*equilibria_)) {
    if (follower_.tangent().x.isZero(0))
      throw InputError("arc length needs a load that depends on the load parameter; no load of the scene does");
    throw NumericalFailure(fmt::format("arc length: at load parameter {:.6g} {}", state_.t, follower_.failure()));
  }
  if (!options_.stability) return;
  if (const std::optional<Inertia> inertia = kkt_.tangentInertia(state_)) negative_ = inertia->negative;
}

bool ArcLength::finished() const { return report_.step >= options_.maxSteps || state_.t < options_.lowest || state_.t > options_.highest; }

double ArcLength::progress() const { return std::min(1.0, double(report_.step) / options_.maxSteps); }

/// Counts the signs at the new equilibrium; where they changed, finds the load within the step, along the tangent that led here.
void ArcLength::judgeStability() {
  report_.critical.reset();
  report_.tangent = kkt_.tangentInertia(state_);
  if (!report_.tangent || report_.tangent->negative == negative_) return;
  if (report_.note.empty()) report_.note = "bifurcation";
  const State reached = state_;
  report_.critical = follower_.locateChange(*equilibria_, negative_, [&] { return kkt_.tangentInertia(state_, noDeadBand); });
  state_ = reached;
  negative_ = report_.tangent->negative;
}

const StepReport& ArcLength::advance() try {
  if (follower_.tangent().x.size() == 0) throw InputError("arc length: call start() first");
  report_.note.clear();
  const bool isReached = follower_.advance(*equilibria_);
  const PathFollower::Step& step = follower_.step();
  report_.iterations = step.iterations, report_.factorisations = step.factorisations, report_.cuts = step.cuts;
  report_.residual = step.residual;
  if (!isReached)
    throw NumericalFailure(
        fmt::format("arc length: step {} from load parameter {:.6g} failed: {}", report_.step + 1, accepted_.t, follower_.failure()));
  if (step.turned) report_.note = "limit point";
  if (options_.stability) judgeStability();
  ++report_.step;
  report_.t = state_.t;
  report_.h = state_.t - accepted_.t;
  follower_.accept(*equilibria_);
  return report_;
} catch (const NumericalFailure&) {
  // Also a load that is undefined at the new load parameter ends here.
  state_ = accepted_;
  throw;
}

Snapshot ArcLength::save() {
  Snapshot snapshot;
  store(state_, snapshot);
  const PathFollower::Tangent& tangent = follower_.tangent();
  snapshot["path"] = {follower_.arclengthStep(), follower_.firstArclengthStep(), tangent.t, double(negative_), double(report_.step)};
  snapshot["tangent"].assign(tangent.x.data(), tangent.x.data() + tangent.x.size());
  kkt_.forget();
  return snapshot;
}

void ArcLength::restore(const Snapshot& snapshot) {
  start();
  load(snapshot, state_);
  const std::vector<double>& path = snapshot.at("path");
  negative_ = int(path.at(3)), report_.step = long(path.at(4));
  const VectorX tangent = Eigen::Map<const VectorX>(snapshot.at("tangent").data(), equilibria_->size());
  follower_.restore(*equilibria_, {tangent, path.at(2)}, path.at(0), path.at(1));
}

}
