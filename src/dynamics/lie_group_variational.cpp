#include "tendril/dynamics/lie_group_variational.h"

#include "tendril/dynamics/initial_conditions.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/model/increment.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace tendril {

namespace {

/// Inertia of every block in its own frame: of a mass matrix M(q) that couples blocks, sum_b M_ab Ad(H_b^-1 H_a), which is what block a
/// contributes when all move as one rigid body.
std::vector<Matrix6> nodalInertia(KktSystem& kkt, const State& state) {
  const Model& model = kkt.model();
  kkt.evaluate(state, {.motion = true, .tangent = true, .stiffness = false, .inertia = 1});
  const SparseMatrix& A = kkt.assembly().matrix();
  std::vector<int> blockOf(model.nv());
  for (std::size_t b = 0; b < model.blocks().size(); ++b) std::fill_n(blockOf.begin() + model.blocks()[b].v, 6, int(b));
  const auto pose = [&](int b) { return loadPose(state.q.data() + model.blocks()[b].q); };

  std::vector<Matrix6> inertia(model.blocks().size(), Matrix6::Zero());
  for (int column = 0; column < model.nv(); ++column) {
    const int b = blockOf[column];
    for (SparseMatrix::InnerIterator entry(A, column); entry; ++entry) {
      if (entry.row() >= model.nv() || entry.value() == 0) continue;
      const int a = blockOf[entry.row()];
      const Matrix6 carry = a == b ? Matrix6::Identity() : se3::Ad(pose(b).inverse() * pose(a));
      inertia[a].row(entry.row() - model.blocks()[a].v) += entry.value() * carry.row(column - model.blocks()[b].v);
    }
  }
  for (Matrix6& M : inertia) M = (0.5 * (M + M.transpose())).eval();
  return inertia;
}

}

/// The equations of an interval divided by h/2, so that they are forces: unknown is the increment x, the multipliers are 2 lambda.
class LieGroupVariational::Interval final : public NewtonProblem {
 public:
  Interval(KktSystem& kkt, std::vector<Matrix6> inertia, double h)
      : x(VectorX::Zero(kkt.model().nv())), end(kkt.model().initialState()), h_(h), kkt_(kkt), model_(kkt.model()), ahead_(kkt.model()),
        inertia_(std::move(inertia)), node_(end), incoming_(x), delta_(x), deltaX_(x), deltaLambda_(VectorX::Zero(model_.nc())) {
    Assembly& assembly = kkt_.assembly();
    assembly.velocityMaps().assign(model_.blocks().size(), Matrix6::Identity());
    assembly.carriedBlocks().assign(model_.blocks().size(), 1);
    const SparseMatrix& A = assembly.matrix();
    for (const Block& b : model_.blocks()) {
      const int* first = A.innerIndexPtr() + A.outerIndexPtr()[b.v];
      const int* last = A.innerIndexPtr() + A.outerIndexPtr()[b.v + 1];
      place_.push_back(int(std::lower_bound(first, last, b.v) - first));
    }
  }

  /// The interval begins at the node, which `incoming` reaches; x and end().lambda (2 lambda of the node) are the first guess.
  void begin(const State& node, const VectorX& incoming) {
    node_.t = node.t, node_.q = node.q;
    node_.a.setZero();
    node_.lambda = end.lambda;
    incoming_ = incoming;
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
    for (std::size_t b = 0; b < maps.size(); ++b) maps[b] = se3::tangentInverse(increment(b));
    evaluate(true);
    addInertia();
    return kkt_.factorise();
  }
  bool solve() override {
    if (!kkt_.solve(delta_, deltaLambda_)) return false;
    const std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
    for (std::size_t b = 0; b < maps.size(); ++b) {
      const int v = model_.blocks()[b].v;
      deltaX_.segment<6>(v).noalias() = maps[b] * delta_.segment<6>(v);
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
    addInertia();
    kkt_.balance();
  }

  /// Momentum that leaves the node with the forces of this interval, those of constraints left out.
  void outgoing(VectorX& momentum) {
    node_.lambda.setZero();
    kkt_.evaluate(node_, {.motion = true, .tangent = false});
    momentum = 0.5 * h_ * kkt_.assembly().residual();
    for (std::size_t b = 0; b < inertia_.size(); ++b) momentum.segment<6>(model_.blocks()[b].v) += leaving(b);
  }
  /// Momentum that reaches the end of the interval, with its forces there.
  void arriving(VectorX& momentum) {
    arrived_.t = end.t, arrived_.q = end.q, arrived_.v = x / h_, arrived_.a.setZero(x.size());
    arrived_.lambda.setZero(model_.nc());
    kkt_.evaluate(arrived_, {.motion = true, .tangent = false});
    momentum = -0.5 * h_ * kkt_.assembly().residual();
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const Vector6 xb = increment(b);
      momentum.segment<6>(model_.blocks()[b].v) += se3::tangentInverse(xb).transpose() * (inertia_[b] * xb) / h_;
    }
  }
  /// v = M^-1 p; blocks without inertia of their own keep what they have.
  void velocities(const VectorX& momentum, VectorX& v) const {
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const int at = model_.blocks()[b].v;
      v.segment<6>(at) = inertia_[b].ldlt().solve(momentum.segment<6>(at));
    }
  }
  void momentum(const VectorX& v, VectorX& p) const {
    for (std::size_t b = 0; b < inertia_.size(); ++b) p.segment<6>(model_.blocks()[b].v) = inertia_[b] * v.segment<6>(model_.blocks()[b].v);
  }

  VectorX x; ///< q_{n+1} = q_n exp(x)
  State end; ///< t and q at the end; lambda: 2 lambda of the node at the begin

 private:
  Vector6 increment(std::size_t b) const { return x.segment<6>(model_.blocks()[b].v); }
  /// T(-x)^-T M x / h.
  Vector6 leaving(std::size_t b) const {
    const Vector6 xb = increment(b);
    return se3::tangentInverse(-xb).transpose() * (inertia_[b] * xb) / h_;
  }

  bool evaluate(bool tangent) {
    const bool represented = kkt_.evaluate(node_, {.motion = true, .tangent = tangent, .stiffness = false, .damping = 1 / h_});
    Assembly& assembly = kkt_.assembly();
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const int v = model_.blocks()[b].v;
      const Vector6 out = (2 / h_) * leaving(b), in = (2 / h_) * incoming_.segment<6>(v);
      assembly.addForce(int(b), out - in);
      const double noise = 4 * std::numeric_limits<double>::epsilon();
      assembly.noteRoundoff(noise * out.head<3>().norm(), noise * out.tail<3>().norm());
      Vector6 stored = Vector6::Ones(); // x follows from positions and directors, known to round-off
      stored.head<3>() = node_.q.segment<3>(model_.blocks()[b].q);
      assembly.noteInertiaRoundoff(inertia_[b], 2 / (h_ * h_), Vector6::Zero(), stored);
    }
    ahead_.multiplierScale = assembly.multiplierScale;
    ahead_.begin({.motion = false, .tangent = tangent, .stiffness = false});
    model_.evaluate(end, ahead_);
    assembly.takeConstraints(ahead_, tangent);
    return represented && ahead_.refusedBlock() < 0;
  }
  /// (2/h) d(leaving)/dx T^-1 on the diagonal.
  void addInertia() {
    SparseMatrix& A = kkt_.assembly().matrix();
    const std::vector<Matrix6>& maps = kkt_.assembly().velocityMaps();
    for (std::size_t b = 0; b < inertia_.size(); ++b) {
      const Vector6 xb = increment(b);
      const Matrix6& M = inertia_[b];
      const Matrix6 D = se3::tangentInverse(-xb).transpose() * M - se3::tangentInverseTransposeDerivative(-xb, M * xb);
      const Matrix6 K = (2 / (h_ * h_)) * D * maps[b];
      const int v = model_.blocks()[b].v;
      for (int c = 0; c < 6; ++c) Eigen::Map<Vector6>(A.valuePtr() + A.outerIndexPtr()[v + c] + place_[b]) += K.col(c);
    }
  }
  void add(double factor) {
    x += factor * deltaX_;
    end.lambda += factor * deltaLambda_;
    node_.lambda = end.lambda;
    move();
  }
  void move() {
    node_.v = x / h_;
    end.t = node_.t + h_;
    model_.retract(node_.q, x, end.q);
  }

  double h_;
  KktSystem& kkt_;
  const Model& model_;
  Assembly ahead_;
  std::vector<Matrix6> inertia_;
  std::vector<int> place_; ///< of a block's diagonal within its columns
  State node_, arrived_;
  VectorX incoming_, delta_, deltaX_, deltaLambda_;
  double applied_ = 0;
};

LieGroupVariational::LieGroupVariational(const Model& model, const LieGroupVariationalOptions& options)
    : options_(options), kkt_(model, options.tolerances, Redundancy::Share),
      newton_({.maxIterations = options.maxIterations, .minIterations = 1, .lineSearch = false}), state_(model.initialState()),
      incoming_(VectorX::Zero(model.nv())) {
  if (!(options.duration > 0) || !(options.step > 0)) throw InputError("variational: duration and step must be positive");
  steps_ = std::max(1L, std::lround(std::ceil(options.duration / options.step * (1 - 1e-12))));
  for (std::size_t b = 0; b < model.blocks().size(); ++b) {
    if (model.blocks()[b].kind == Block::Kind::Pose) continue;
    throw InputError("variational: " + model.nameOfBlock(int(b)) + " does not move in SE(3); take the method generalized-alpha");
  }
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
  interval_ = std::make_unique<Interval>(kkt_, nodalInertia(kkt_, state_), h);
  interval_->momentum(state_.v, incoming_);
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
  interval_->velocities(outgoing_, state_.v);
}

Momentum LieGroupVariational::momentum() const {
  Momentum sum;
  for (const Block& b : kkt_.model().blocks()) {
    const Vector6 p = se3::transported(loadPose(state_.q.data() + b.q), outgoing_.segment<6>(b.v));
    sum.linear += p.head<3>();
    sum.angular += p.tail<3>();
  }
  return sum;
}

Snapshot LieGroupVariational::save() {
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
  take("x", interval_->x), take("incoming", incoming_), take("rate", lastRate_), take("end q", interval_->end.q);
  take("end lambda", interval_->end.lambda);
  const std::vector<double>& steps = snapshot.at("steps");
  begin_ = steps.at(0), interval_->end.t = steps.at(1), step_ = long(steps.at(2));
  report_.step = step_;
  accepted_ = state_;
  kkt_.forget();
}

}
