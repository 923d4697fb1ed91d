#include "tendril/dynamics/lie_group_variational.h"

#include "dynamics/discrete_inertia.h"
#include "tendril/dynamics/initial_conditions.h"
#include "tendril/equations/step_count.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/model/increment.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace tendril {

/// The equations of an interval divided by h/2, so that they are forces: unknown is the increment x, the multipliers are 2 lambda.
class LieGroupVariational::Interval final : public NewtonProblem {
 public:
  Interval(KktSystem& kkt, std::unique_ptr<DiscreteInertia> inertia, double h)
      : x(VectorX::Zero(kkt.model().nv())), end(kkt.model().initialState()), h_(h), kkt_(kkt), model_(kkt.model()), ahead_(kkt.model()),
        inertia_(std::move(inertia)), node_(end), arrived_(end), incoming_(x), momentum_(x), delta_(x), deltaX_(x),
        deltaLambda_(VectorX::Zero(model_.nc())) {
    kkt_.assembly().velocityMaps().assign(model_.blocks().size(), Matrix6::Identity());
  }

  /// The interval begins at the node, which `incoming` reaches; x and end().lambda (2 lambda of the node) are the first guess.
  void begin(const State& node, const VectorX& incoming) {
    node_.t = node.t, node_.q = node.q;
    node_.a.setZero();
    node_.lambda = end.lambda;
    incoming_ = incoming;
    inertia_->begin(node_);
    move();
  }

  int groupCount() const override { return KktSystem::groupCount; }
  bool evaluate(std::span<ResidualGroup> groups) override {
    const bool represented = evaluate(false);
    kkt_.measure(node_, groups);
    return represented;
  }
  bool factorise() override {
    std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
    for (std::size_t b = 0; b < maps.size(); ++b)
      if (isPose(b)) maps[b] = se3::tangentInverse(x.segment<6>(model_.blocks()[b].v));
    evaluate(true);
    return kkt_.factorise();
  }
  bool solve() override {
    if (!kkt_.solve(delta_, deltaLambda_)) return false;
    const std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
    deltaX_ = delta_;
    for (std::size_t b = 0; b < maps.size(); ++b) {
      const int v = model_.blocks()[b].v;
      if (isPose(b)) deltaX_.segment<6>(v).noalias() = maps[b] * delta_.segment<6>(v);
    }
    return true;
  }
  double longestFactor() override { return longestTurn(model_, delta_); }
  void applyStep(double factor) override { add(applied_ = factor); }
  void undoStep() override { add(-applied_); }
  std::string describeWorst() const override { return kkt_.describeWorst(); }
  std::string describeSingular() const override { return kkt_.describeSingular(); }

  /// Sets the scale of the multipliers for this step size.
  void balance() {
    evaluate(true);
    kkt_.balance();
  }

  /// Momentum that leaves the node with the forces of this interval, those of constraints left out.
  void outgoing(VectorX& momentum) {
    node_.lambda.setZero();
    kkt_.evaluate(node_, {.motion = true, .tangent = false});
    inertia_->leaving(interval(), momentum);
    momentum += 0.5 * h_ * kkt_.assembly().residual();
  }
  /// Momentum that reaches the end of the interval, with its forces there.
  void arriving(VectorX& momentum) {
    arrived_.t = end.t, arrived_.q = end.q, arrived_.v = x / h_, arrived_.a.setZero(x.size());
    arrived_.lambda.setZero(model_.nc());
    kkt_.evaluate(arrived_, {.motion = true, .tangent = false});
    inertia_->arriving(interval(), momentum);
    momentum -= 0.5 * h_ * kkt_.assembly().residual();
  }
  void velocities(const State& node, const VectorX& momentum, VectorX& v) { inertia_->velocities(node, momentum, h_, v); }
  void momenta(const State& node, VectorX& momentum) { inertia_->momenta(node, momentum); }

  VectorX x; ///< q_{n+1} = q_n exp(x)
  State end; ///< t and q at the end; lambda: 2 lambda of the node at the begin

 private:
  DiscreteInterval interval() const { return {node_, end, x, h_}; }
  bool isPose(std::size_t b) const { return model_.blocks()[b].kind == Block::Kind::Pose; }

  bool evaluate(bool tangent) {
    const double inertia = inertia_->weightInModel() / (h_ * h_);
    const bool represented =
        kkt_.evaluate(node_, {.motion = true, .tangent = tangent, .stiffness = false, .damping = 1 / h_, .inertia = inertia});
    Assembly& assembly = kkt_.assembly();
    if (!isCurrent_) inertia_->leaving(interval(), momentum_);
    isCurrent_ = true;
    for (std::size_t b = 0; b < model_.blocks().size(); ++b) {
      const Block& block = model_.blocks()[b];
      const auto out = (2 / h_) * momentum_.segment(block.v, block.nv), in = (2 / h_) * incoming_.segment(block.v, block.nv);
      if (isPose(b)) {
        assembly.addForce(int(b), out - in);
      } else { // apart, as their sizes are what round-off of coordinates is judged by
        assembly.addForce(int(b), out), assembly.addForce(int(b), -in);
      }
    }
    inertia_->noteRoundoff(interval(), momentum_, assembly);
    if (tangent) inertia_->addTangent(interval(), assembly);
    ahead_.multiplierScale = assembly.multiplierScale;
    ahead_.begin({.motion = false, .tangent = tangent, .stiffness = false});
    model_.evaluate(end, ahead_);
    assembly.takeConstraints(ahead_, tangent);
    return represented && ahead_.refusedBlock() < 0;
  }
  void add(double factor) {
    x += factor * deltaX_;
    end.lambda += factor * deltaLambda_;
    node_.lambda = end.lambda;
    move();
  }
  void move() {
    isCurrent_ = false;
    node_.v = x / h_;
    end.t = node_.t + h_;
    model_.retract(node_.q, x, end.q);
  }

  double h_;
  KktSystem& kkt_;
  const Model& model_;
  Assembly ahead_;
  std::unique_ptr<DiscreteInertia> inertia_;
  State node_, arrived_;
  VectorX incoming_, momentum_, delta_, deltaX_, deltaLambda_;
  bool isCurrent_ = false; ///< momentum_ is that of x
  double applied_ = 0;
};

LieGroupVariational::LieGroupVariational(const Model& model, const LieGroupVariationalOptions& options)
    : options_(options), kkt_(model, options.tolerances, Redundancy::Share),
      newton_({.maxIterations = options.maxIterations, .minIterations = 1, .lineSearch = false}), state_(model.initialState()),
      incoming_(VectorX::Zero(model.nv())) {
  if (!(options.duration > 0) || !(options.step > 0)) throw InputError("variational: duration and step must be positive");
  steps_ = stepsIn(options.duration, options.step);
}

LieGroupVariational::~LieGroupVariational() = default;

const State& LieGroupVariational::state() const { return state_; }
bool LieGroupVariational::finished() const { return step_ >= steps_; }
double LieGroupVariational::progress() const { return double(step_) / double(steps_); }
VectorX LieGroupVariational::reactions() { return kkt_.minimumNorm(state_); }

void LieGroupVariational::start() {
  begin_ = state_.t;
  step_ = 0;
  messages_ = makeConsistent(kkt_, state_);
  const double h = options_.duration / double(steps_);
  const VectorX velocity = state_.v;
  if (h < options_.step * (1 - 1e-9)) {
    messages_.push_back(fmt::format("steps are {:.9g} s, so that a whole number of them makes the duration", h));
  }
  interval_ = std::make_unique<Interval>(kkt_, discreteInertia(kkt_, state_), h);
  interval_->momenta(state_, incoming_);
  interval_->x = h * state_.v;
  interval_->end.lambda = state_.lambda;
  lastRate_ = state_.v;
  interval_->begin(state_, incoming_);
  interval_->balance();
  solveInterval();
  showNode();
  // At the first node the velocity is given, and lambda acts through one interval alone.
  state_.v = velocity;
  state_.lambda *= 2;
  interval_->end.lambda *= 2;
  accepted_ = state_;
}

const StepReport& LieGroupVariational::advance() try {
  requireStart();
  interval_->arriving(incoming_);
  state_.t = interval_->end.t;
  state_.q = interval_->end.q;
  solveInterval();
  showNode();
  report_.step = ++step_;
  report_.t = state_.t;
  report_.h = state_.t - accepted_.t;
  report_.residual = newton_.report().residual();
  accepted_.t = state_.t, accepted_.q = state_.q, accepted_.v = state_.v, accepted_.a = state_.a, accepted_.lambda = state_.lambda;
  return report_;
} catch (const NumericalFailure&) {
  state_ = accepted_;
  throw;
}

void LieGroupVariational::requireStart() const {
  if (!interval_) throw InputError("variational: call start() first");
}

/// x of the interval that begins at the state shown, and the multipliers of this node.
void LieGroupVariational::solveInterval() {
  interval_->begin(state_, incoming_);
  const NewtonReport& newton = newton_.solve(*interval_);
  report_.iterations = newton.iterations;
  report_.factorisations = newton.factorisations;
  if (newton.converged()) return;
  throw NumericalFailure(
      fmt::format("variational: step {} at t = {:.9g} s failed: {}; take smaller steps", step_ + 1, state_.t, newton.message));
}

/// Velocities, accelerations and multipliers of the node at which the interval just solved begins.
void LieGroupVariational::showNode() {
  state_.lambda = 0.5 * interval_->end.lambda;
  interval_->outgoing(outgoing_);
  outgoing_ = 0.5 * (incoming_ + outgoing_);
  const double h = options_.duration / double(steps_);
  state_.a = (interval_->x / h - lastRate_) / h;
  lastRate_ = interval_->x / h;
  interval_->velocities(state_, outgoing_, state_.v);
}

Momentum LieGroupVariational::momentum() const {
  requireStart();
  Momentum sum;
  for (const Block& b : kkt_.model().blocks()) {
    if (b.kind != Block::Kind::Pose) continue;
    const Vector6 p = se3::transported(loadPose(state_.q.data() + b.q), outgoing_.segment<6>(b.v));
    sum.linear += p.head<3>();
    sum.angular += p.tail<3>();
  }
  return sum;
}

Snapshot LieGroupVariational::save() {
  requireStart();
  Snapshot snapshot;
  store(state_, snapshot);
  const auto keep = [&snapshot](const char* name, const VectorX& v) { snapshot[name].assign(v.data(), v.data() + v.size()); };
  keep("x", interval_->x), keep("incoming", incoming_), keep("rate", lastRate_), keep("end q", interval_->end.q);
  keep("end lambda", interval_->end.lambda);
  snapshot["steps"] = {begin_, interval_->end.t, double(step_)};
  kkt_.forget();
  return snapshot;
}

void LieGroupVariational::restore(const Snapshot& snapshot) {
  start();
  load(snapshot, state_);
  const auto take = [&snapshot](const char* name, VectorX& v) { v = Eigen::Map<const VectorX>(snapshot.at(name).data(), v.size()); };
  take("x", interval_->x), take("incoming", incoming_), take("rate", lastRate_), take("end lambda", interval_->end.lambda);
  interval_->begin(state_, incoming_);
  take("end q", interval_->end.q);
  const std::vector<double>& steps = snapshot.at("steps");
  begin_ = steps.at(0), interval_->end.t = steps.at(1), step_ = long(steps.at(2));
  report_.step = step_;
  accepted_ = state_;
  kkt_.forget();
}

}
