#include "tendril/dynamics/generalized_alpha.h"

#include "tendril/dynamics/initial_conditions.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/model/increment.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tendril {

namespace {

struct Coefficients {
  explicit Coefficients(double rho)
      : alphaF(rho / (rho + 1)), alphaM((2 * rho - 1) / (rho + 1)), gamma(0.5 + alphaF - alphaM), beta((gamma + 0.5) * (gamma + 0.5) / 4) {}
  double alphaF, alphaM, gamma, beta;
};

}

/// The equations of one step, as Newton's method sees them. The unknown is alpha; v, a and w follow from it linearly.
class GeneralizedAlpha::Step final : public NewtonProblem {
 public:
  explicit Step(GeneralizedAlpha& owner)
      : c(owner.options_.rhoInfinity), owner_(owner), kkt_(owner.kkt_), state_(owner.state_), alpha_(state_.v.size()),
        delta_(state_.v.size()), deltaAlpha_(state_.v.size()), deltaLambda_(state_.lambda.size()) {
    kkt_.assembly().velocityMaps().assign(kkt_.model().blocks().size(), Matrix6::Identity());
  }

  const Coefficients c;
  double velocityWeight() const { return c.gamma / (c.beta * owner_.h_); }
  double accelerationWeight() const { return (1 - c.alphaM) / (c.beta * owner_.h_ * owner_.h_ * (1 - c.alphaF)); }
  Request request(bool tangent) const {
    return {.motion = true, .tangent = tangent, .damping = velocityWeight(), .inertia = accelerationWeight()};
  }

  /// Accelerations and multipliers go on along the line through their last two values; all else follows from them.
  void predict() {
    const State& before = owner_.accepted_;
    const VectorX& w = owner_.acceptedW_;
    const double h = owner_.h_;
    state_ = before;
    state_.t = before.t + h;
    const bool firstAttempt = owner_.report_.cuts == 0;
    if (firstAttempt && owner_.previousStep_ > 0) {
      const double ratio = h / owner_.previousStep_;
      state_.a += ratio * (before.a - owner_.previousA_);
      state_.lambda += ratio * (before.lambda - owner_.previousLambda_);
    }
    owner_.w_ = ((1 - c.alphaF) * state_.a + c.alphaF * before.a - c.alphaM * w) / (1 - c.alphaM);
    alpha_ = h * before.v + h * h * ((0.5 - c.beta) * w + c.beta * owner_.w_);
    state_.v = before.v + h * ((1 - c.gamma) * w + c.gamma * owner_.w_);
    move();
  }

  int groupCount() const override { return KktSystem::groupCount; }
  bool evaluate(std::span<ResidualGroup> groups) override {
    const bool represented = kkt_.evaluate(state_, request(false));
    kkt_.measure(state_, groups);
    return represented;
  }
  bool factorise() override {
    std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
    for (std::size_t b = 0; b < maps.size(); ++b) {
      const Block& block = kkt_.model().blocks()[b];
      if (block.kind == Block::Kind::Pose) maps[b] = se3::tangentInverse(alpha_.segment<6>(block.v));
    }
    kkt_.evaluate(state_, request(true));
    return kkt_.factorise();
  }
  bool solve() override {
    if (!kkt_.solve(delta_, deltaLambda_)) return false;
    const std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
    const std::vector<Block>& blocks = kkt_.model().blocks();
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (blocks[b].kind == Block::Kind::Pose) {
        deltaAlpha_.segment<6>(blocks[b].v).noalias() = maps[b] * delta_.segment<6>(blocks[b].v);
      } else {
        deltaAlpha_.segment(blocks[b].v, blocks[b].nv) = delta_.segment(blocks[b].v, blocks[b].nv);
      }
    }
    return true;
  }
  double longestFactor() override { return longestTurn(kkt_.model(), delta_); }
  void applyStep(double factor) override {
    add(factor);
    applied_ = factor;
  }
  void undoStep() override { add(-applied_); }
  std::string describeWorst() const override { return kkt_.describeWorst(); }
  std::string describeSingular() const override { return kkt_.describeSingular(); }

  /// w_{n+1} of the converged step.
  void finish() {
    const State& before = owner_.accepted_;
    owner_.w_ = ((1 - c.alphaF) * state_.a + c.alphaF * before.a - c.alphaM * owner_.acceptedW_) / (1 - c.alphaM);
  }

 private:
  void add(double factor) {
    alpha_ += factor * deltaAlpha_;
    state_.v += (factor * velocityWeight()) * deltaAlpha_;
    state_.a += (factor * accelerationWeight()) * deltaAlpha_;
    state_.lambda += factor * deltaLambda_;
    move();
  }
  void move() { kkt_.model().retract(owner_.accepted_.q, alpha_, state_.q); }

  GeneralizedAlpha& owner_;
  KktSystem& kkt_;
  State& state_;
  VectorX alpha_, delta_, deltaAlpha_, deltaLambda_;
  double applied_ = 0;
};

GeneralizedAlpha::GeneralizedAlpha(const Model& model, const GeneralizedAlphaOptions& options)
    : options_(options), kkt_(model, options.tolerances, Redundancy::Share), state_(model.initialState()), accepted_(state_),
      w_(VectorX::Zero(model.nv())), acceptedW_(w_), newton_({.maxIterations = options.maxIterations,
                                                              .lineSearch = false,
                                                              .reuseContraction = options.reuseContraction,
                                                              .startFromHeld = options.reuseContraction > 0}) {
  if (!(options.rhoInfinity >= 0 && options.rhoInfinity < 1)) {
    throw InputError("generalized-alpha: the spectral radius must lie in [0, 1)");
  }
  if (!(options.duration > 0) || !(options.step > 0)) throw InputError("generalized-alpha: duration and step must be positive");
  if (!(options.step > 1e-12 * options.duration)) {
    throw InputError("generalized-alpha: the step is so small against the duration that time would not advance; check their units");
  }
  if (options_.smallestStep <= 0) options_.smallestStep = (options.errorTolerance > 0 ? 1e-7 : 1e-4) * options.step;
  if (options_.largestStep <= 0) options_.largestStep = std::max(options.step, options.duration / 100);
}

GeneralizedAlpha::~GeneralizedAlpha() = default;

bool GeneralizedAlpha::finished() const { return state_.t - begin_ >= options_.duration * (1 - 1e-12); }

void GeneralizedAlpha::setStep(double h) {
  if (h == h_) return;
  h_ = h;
  // The balance must not depend on the increment of the step before, which a resumed run does not know.
  kkt_.assembly().velocityMaps().assign(kkt_.model().blocks().size(), Matrix6::Identity());
  kkt_.evaluate(accepted_, step_->request(true));
  kkt_.balance();
}

namespace {

/// Accelerations as the implicit Euler method has them, (M + h C + h^2 K) x = M a, G x = G a: the same up to terms in h where the step
/// resolves the motion; what dampers and springs far too stiff for it make of a jump of velocities is limited.
VectorX damped(KktSystem& kkt, const State& start, const VectorX& a, double h) {
  State state = start;
  const auto residual = [&](const VectorX& acceleration) -> VectorX {
    state.a = acceleration;
    kkt.evaluate(state, {.motion = true, .tangent = false});
    return kkt.assembly().residual();
  };
  const VectorX inertia = residual(a) - residual(VectorX::Zero(a.size()));
  const Request request{.motion = true, .tangent = true, .damping = 1 / h, .inertia = 1 / (h * h)};
  kkt.evaluate(state, request);
  kkt.balance();
  kkt.evaluate(state, request);
  const VectorX constrained = kkt.assembly().gradient() * a;
  VectorX x(a.size()), multipliers(constrained.size());
  return kkt.factorise() && kkt.solve(inertia / (h * h), constrained, x, multipliers) ? x : a;
}

}

void GeneralizedAlpha::start() {
  begin_ = state_.t;
  messages_ = makeConsistent(kkt_, state_);
  // How accelerations change over a step, by a central difference along the motion.
  const Coefficients c(options_.rhoInfinity);
  const double shift = 0.1 * options_.step;
  State before = state_, after = state_;
  for (auto [moved, tau] : {std::pair{&before, -shift}, std::pair{&after, shift}}) {
    const VectorX increment = tau * state_.v + 0.5 * tau * tau * state_.a;
    kkt_.model().retract(state_.q, increment, moved->q);
    moved->v = state_.v + tau * state_.a;
    moved->t = state_.t + tau;
    solveAccelerations(kkt_, *moved);
  }
  const VectorX change = options_.step / (2 * shift) * (after.a - before.a);
  const auto limited = [this](const VectorX& a) { return damped(kkt_, state_, a, options_.step); };
  const VectorX once = limited(state_.a), twice = once + limited(state_.a - once); // true to second order
  w_ = twice + (c.alphaM - c.alphaF) * limited(limited(change));
  if (!w_.allFinite()) w_ = state_.a;
  acceptedW_ = w_;
  accepted_ = state_;
  if (twice.allFinite()) accepted_.a = twice;
  previousStep_ = 0;
  previousA_ = state_.a, previousLambda_ = state_.lambda;
  next_ = options_.step;
  step_ = std::make_unique<Step>(*this);
}

double GeneralizedAlpha::localError() const {
  // Leading term of the error of one step in positions: (beta - 1/6) h^2 times the change of the acceleration.
  const Coefficients& c = step_->c;
  const double length = kkt_.model().characteristicLength();
  double largest = 0;
  for (const Block& b : kkt_.model().blocks()) {
    if (b.kind == Block::Kind::Pose) {
      const Vector6 change = w_.segment<6>(b.v) - acceptedW_.segment<6>(b.v);
      largest = std::max({largest, change.head<3>().norm() / length, change.tail<3>().norm()});
    } else {
      largest = std::max(largest, (w_.segment(b.v, b.nv) - acceptedW_.segment(b.v, b.nv)).norm());
    }
  }
  return std::max(std::abs(c.beta - 1.0 / 6), 1.0 / 12) * h_ * h_ * largest;
}

const StepReport& GeneralizedAlpha::advance() try {
  if (!step_) throw InputError("generalized-alpha: call start() first");
  report_.iterations = report_.factorisations = report_.cuts = 0;
  report_.note.clear();
  const bool controlled = options_.errorTolerance > 0;
  const double end = begin_ + options_.duration;
  double error = 0;
  for (;; ++report_.cuts) {
    const double remaining = end - accepted_.t;
    setStep(remaining < next_ * (1 + 1e-6) ? remaining : next_);
    step_->predict();
    const NewtonReport& newton = newton_.solve(*step_);
    report_.iterations += newton.iterations;
    report_.factorisations += newton.factorisations;
    bool accepted = newton.converged();
    if (accepted) {
      step_->finish();
      error = localError();
      accepted = !controlled || error <= options_.errorTolerance || h_ <= 2 * options_.smallestStep;
    }
    if (accepted) break;
    next_ = newton.converged() ? h_ * std::clamp(0.9 * std::cbrt(options_.errorTolerance / error), 0.2, 0.7) : h_ / 2;
    kkt_.forget();
    if (next_ < options_.smallestStep) {
      const std::string why = newton.message;
      throw NumericalFailure(fmt::format("dynamics: step {} at t = {:.9g} s failed, also with steps cut to {:.3g} s: {}", report_.step + 1,
                                         accepted_.t, next_, why));
    }
  }
  report_.residual = newton_.report().residual();
  ++report_.step;
  report_.t = state_.t;
  report_.h = h_;
  lastStart_.state = accepted_, lastStart_.w = acceptedW_;
  lastStart_.previousA = previousA_, lastStart_.previousLambda = previousLambda_, lastStart_.previousStep = previousStep_;
  previousStep_ = h_;
  previousA_ = accepted_.a, previousLambda_ = accepted_.lambda;
  accepted_.t = state_.t;
  accepted_.q = state_.q, accepted_.v = state_.v, accepted_.a = state_.a, accepted_.lambda = state_.lambda;
  acceptedW_ = w_;
  if (controlled) {
    // Small changes of the step are not worth a new factorisation.
    const double wanted = h_ * std::clamp(0.9 * std::cbrt(options_.errorTolerance / std::max(error, 1e-300)), 0.2, 2.0);
    if (wanted < h_ || wanted > 1.3 * h_) next_ = std::min(wanted, options_.largestStep);
  } else if (report_.cuts == 0) {
    next_ = std::min(options_.step, 2 * next_);
  }
  return report_;
} catch (const NumericalFailure&) {
  // Also a load that is undefined at the new time ends here.
  state_ = accepted_;
  throw;
}

void GeneralizedAlpha::replaceMotion(const VectorX& q, const VectorX& v) {
  state_.q = accepted_.q = q;
  state_.v = accepted_.v = v;
}

void GeneralizedAlpha::retake(double step) {
  state_ = accepted_ = lastStart_.state;
  w_ = acceptedW_ = lastStart_.w;
  previousA_ = lastStart_.previousA, previousLambda_ = lastStart_.previousLambda;
  previousStep_ = lastStart_.previousStep;
  --report_.step;
  next_ = step;
  kkt_.forget();
}

Snapshot GeneralizedAlpha::save() {
  Snapshot snapshot;
  store(state_, snapshot);
  snapshot["w"].assign(w_.data(), w_.data() + w_.size());
  snapshot["previous a"].assign(previousA_.data(), previousA_.data() + previousA_.size());
  snapshot["previous lambda"].assign(previousLambda_.data(), previousLambda_.data() + previousLambda_.size());
  snapshot["steps"] = {begin_, next_, previousStep_, double(report_.step)};
  kkt_.forget();
  h_ = 0;
  return snapshot;
}

void GeneralizedAlpha::restore(const Snapshot& snapshot) {
  start();
  load(snapshot, state_);
  w_ = Eigen::Map<const VectorX>(snapshot.at("w").data(), w_.size());
  previousA_ = Eigen::Map<const VectorX>(snapshot.at("previous a").data(), previousA_.size());
  previousLambda_ = Eigen::Map<const VectorX>(snapshot.at("previous lambda").data(), previousLambda_.size());
  const std::vector<double>& steps = snapshot.at("steps");
  begin_ = steps.at(0), next_ = steps.at(1), previousStep_ = steps.at(2), report_.step = long(steps.at(3));
  accepted_ = state_;
  acceptedW_ = w_;
  h_ = 0;
}

}
