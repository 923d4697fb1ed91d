#include "tendril/dynamics/variational.h"

#include "dynamics/condition_number.h"
#include "dynamics/energy_momentum.h"
#include "dynamics/node_contacts.h"
#include "dynamics/step_equations.h"
#include "dynamics/step_size_control.h"
#include "tendril/dynamics/initial_conditions.h"
#include "tendril/equations/step_count.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <exception>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>

namespace tendril {

namespace {

constexpr double fold = std::numbers::pi / 2, nearFold = 1.4; ///< [rad]

std::unique_ptr<NodeBalance> makeBalance(const DirectorSystem& system, const VariationalOptions& options) {
  if (options.scheme == DirectorScheme::Variational)
    return std::make_unique<VariationalBalance>(system, options.quadrature, options.applied);
  if (options.applied) throw InputError("energy-momentum: the scheme takes the forces of the model alone; choose the variational one");
  return std::make_unique<EnergyMomentumBalance>(system);
}

void keep(Snapshot& snapshot, const char* name, const VectorX& v) { snapshot[name].assign(v.data(), v.data() + v.size()); }
void take(const Snapshot& snapshot, const char* name, VectorX& v) {
  const std::vector<double>& numbers = snapshot.at(name);
  v = Eigen::Map<const VectorX>(numbers.data(), Eigen::Index(numbers.size()));
}

}

/// The integrator shows node n, and has solved the interval from there to node n + 1.
struct VariationalIntegrator::Impl : NodeContacts::Balance {
  Impl(const Model& model_, const VariationalOptions& options_, const ContactModel* touching);

  void start(std::vector<std::string>& messages);
  void requireStart() const;
  void advance();
  void reverse();
  void makeEquations();
  double nextStep(const VectorX& q, const VectorX& arrivedThere, double t, long number);
  struct Arrival {
    const VectorX& momentum; ///< as the balance takes it
    const VectorX& twist;    ///< mean, of the interval before
    double step;             ///< its size; 0 at the start
  };
  void solveInterval(const VectorX& q0, const Arrival& arrival, double t, double step);
  void guessEnd(const Arrival& arrival, double step);
  const NewtonReport& solveEquations();
  void iterate(double t);
  bool reachesEnd(const VectorX& q0);
  void followEnd(const VectorX& q0, const Arrival& arrival, double t, double step);
  // Of the interval at hand, for the contacts at its begin:
  void solve(const VectorX& momentum, double t) override;
  const VectorX& reached() const override { return equations->end(); }
  void linearise(double t) override;
  void respond(const VectorX& momentum, VectorX& move) override { equations->respond(momentum, move); }
  void checkEnd(const VectorX& q0, double t, double step);
  struct Turn {
    int block = -1;
    double angle = 0;
  };
  Turn largestTurn(const VectorX& move) const;
  std::string describeFold(const Turn& turn) const;
  void refuseSingularStart(std::vector<std::string>& messages) const;
  void showStart();
  void carry(VectorX& momentum) const;
  void takeInterval();
  void show();
  void fillNode();
  double largest(const VectorX& g) const;
  double kineticEnergy();
  Energy energy();
  Vector3 displacement(const Marker& on) const;
  void save(Snapshot& snapshot);
  void restore(const Snapshot& snapshot);

  const Model& model;
  VariationalOptions options;
  DirectorSystem system;
  std::unique_ptr<NodeBalance> balance;
  DiscreteLagrangian lagrangian; ///< for the energy of an interval
  KktSystem kkt;                 ///< of the consistent start, in pose coordinates
  std::unique_ptr<StepSizeControl> control;
  std::unique_ptr<StepEquations> equations;
  std::optional<NodalMomenta> momenta;
  std::unique_ptr<NodeContacts> contacts; ///< null where nothing touches
  Newton newton;

  State state; ///< node n
  VectorX startQ;
  VectorX end;              ///< q_{n+1}
  VectorX arrived, leaving; ///< of node n
  VectorX met;              ///< arrived, with the impulses of contacts
  bool isTouched = false;   ///< there are any
  VectorX leftOver;         ///< of the balance of node n, forces on the blocks
  VectorX arrivedNext, leavingMomentum, p, projected, lambda, impulse, rate, twist, twistAhead, twistBehind, meanBefore, work;
  SparseMatrix G;
  double begin = 0;
  double h = 0, before = 0; ///< of the interval that leaves the node, and of the one that reaches it (0: none)
  long steps = 1;           ///< in all, where they are equal
  long interval = 0;        ///< number of the one that leaves the node, counted along prescribed sizes
  long direction = 1;       ///< in which these are passed
  StepReport report;
  DiscreteNode node;
  bool isShown = true, isNodeKnown = true; ///< before the start there is nothing to show
  std::exception_ptr failure;              ///< of the first interval; the first step tells of it
};

VariationalIntegrator::Impl::Impl(const Model& model_, const VariationalOptions& options_, const ContactModel* touching)
    : model(model_), options(options_), system(model_), balance(makeBalance(system, options_)), lagrangian(system, options_.quadrature),
      kkt(model_, KktTolerances{}, Redundancy::Share),
      newton({.maxIterations = options_.maxIterations, .minIterations = 1, .lineSearch = false}), state(model_.initialState()),
      G(system.gradient()) {
  if (!(options.duration > 0) || !(options.step > 0)) throw InputError("variational: duration and step must be positive");
  if (!(options.tolerance > 0)) throw InputError("variational: the tolerance must be positive");
  if (!(options.adaptation >= 0)) throw InputError("variational: the adaptation of the step cannot be negative");
  for (double size : options.steps)
    if (!(size > 0)) throw InputError("variational: prescribed steps must be positive");
  steps = stepsIn(options.duration, options.step);
  for (VectorX* v : {&end, &arrived, &leaving, &met, &arrivedNext, &leavingMomentum, &p, &projected, &impulse, &work})
    v->setZero(system.size());
  for (VectorX* v : {&rate, &twist, &twistAhead, &twistBehind, &meanBefore, &leftOver}) v->setZero(model.nv());
  lambda.setZero(system.constraints());
  node.multipliers = lambda;
  if (touching) {
    if (options.adaptation > 0) {
      throw InputError(
          "variational: where bodies touch the step cannot follow the motion, since impacts take no time; set the adaptation to 0");
    }
    contacts = std::make_unique<NodeContacts>(system, *touching, options.friction, options.onProblem);
  }
  if (options.adaptation > 0) control = std::make_unique<StepSizeControl>(system, options.adaptation);
}

/// All that remembers steps is made anew: a resumed run must go on in the same way.
void VariationalIntegrator::Impl::makeEquations() {
  const double t = begin, tolerance = options.tolerance;
  const bool isReduced = options.elimination == Elimination::Reduced;
  if (options.elimination == Elimination::Multipliers) {
    equations = makeMultiplierStep(system, *balance, tolerance, startQ, t);
  } else if (balance->turnsWithEnd()) {
    equations = makeHalfwayStep(system, *balance, tolerance, startQ, t, isReduced);
  } else {
    equations =
        isReduced ? makeReducedStep(system, *balance, tolerance, startQ, t) : makeNullSpaceStep(system, *balance, tolerance, startQ, t);
  }
  momenta.emplace(system);
}

void VariationalIntegrator::Impl::start(std::vector<std::string>& messages) {
  begin = state.t;
  messages = makeConsistent(kkt, state);
  startQ = state.q;
  if (contacts) contacts->start(state);
  makeEquations();
  const bool isUniform = options.steps.empty() && !control;
  if (isUniform && options.duration / double(steps) < options.step * (1 - 1e-9)) {
    messages.push_back(
        fmt::format("steps are {:.9g} s, so that a whole number of them makes the duration", options.duration / double(steps)));
  }
  system.rates(state.q, state.v, work);
  p.noalias() = system.mass() * work;
  balance->setOut(p, arrived);
  if (control) control->start(options.step);
  before = 0;
  rate = state.v;
  state.a.setZero();
  h = control ? options.step : nextStep(state.q, arrived, state.t, 0);
  refuseSingularStart(messages);
  try {
    solveInterval(state.q, {arrived, state.v, 0}, state.t, h);
    takeInterval();
  } catch (const NumericalFailure&) {
    failure = std::current_exception();
    showStart();
  }
}

/// A mechanism that begins where branches of its motion cross can leave along any of them.
void VariationalIntegrator::Impl::refuseSingularStart(std::vector<std::string>& messages) const {
  if (KinematicTree(system).closure().empty()) return; // a tree has no branches, and may be large
  const std::string names = NullSpace(system, state.q, state.t).singularAtStart();
  if (names.empty()) return;
  const std::string what =
      names +
      ": the mechanism begins where branches of its motion cross, as a linkage in line does: these joints hold more a short way from "
      "there than they hold there";
  if (options.elimination != Elimination::Multipliers) throw InputError(what + "; start beside it, or take the multiplier elimination");
  messages.push_back(what);
}

/// Where no interval leaves the start: what the momentum there tells.
void VariationalIntegrator::Impl::showStart() {
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  isShown = isNodeKnown = true;
  momenta->project(state.q, state.t, p, projected, state.v);
  lambda.setConstant(unknown);
  state.lambda.setConstant(unknown);
  state.a.setConstant(unknown);
  node.hamiltonian = kineticEnergy() + system.potential(state.q, state.t);
  node.momentumHamiltonian = momenta->hamiltonian(state.q, state.t, p);
  node.momentum = system.momentum(state.q, projected);
  node.multipliers = lambda;
  node.intervalEnergy = node.speed = node.hiddenConstraint = node.closure = unknown;
}

/// Size of the interval of that number, which begins at q.
double VariationalIntegrator::Impl::nextStep(const VectorX& q, const VectorX& arrivedThere, double t, long number) {
  if (options.steps.empty() && !control) return options.duration / double(steps);
  double size = options.step;
  if (control) {
    balance->momentum(arrivedThere, impulse, 0, work);
    momenta->project(q, t, work, leavingMomentum, twist);
    size = control->next(q, twist, t);
  } else {
    size = options.steps[std::clamp(number, 0L, long(options.steps.size()) - 1)];
  }
  const double remaining = begin + options.duration - t;
  return remaining > 1e-12 * options.duration && remaining < size * (1 + 1e-9) ? remaining : size;
}

/// Blocks go on with the mean velocity of the interval before, changed by its acceleration unless that was an impact.
void VariationalIntegrator::Impl::guessEnd(const Arrival& arrival, double step) {
  if (isTouched)
    twist = step * rate;
  else
    twist = step * (rate + 0.5 * (arrival.step + step) * state.a);
}

void VariationalIntegrator::Impl::solveInterval(const VectorX& q0, const Arrival& arrival, double t, double step) {
  guessEnd(arrival, step);
  equations->begin(q0, arrival.momentum, t, step, twist);
  report.iterations = report.factorisations = 0;
  if (contacts) {
    iterate(t);
    const long number = arrival.step > 0 ? report.step + 1 : 0;
    contacts->resolve({number, q0, t, arrival.step, step, arrival.twist, arrival.momentum, balance->weight()}, *this);
  } else if (!reachesEnd(q0)) {
    followEnd(q0, arrival, t, step);
    iterate(t);
  }
  checkEnd(q0, t, step);
}

const NewtonReport& VariationalIntegrator::Impl::solveEquations() {
  const NewtonReport& solved = newton.solve(*equations);
  report.iterations += solved.iterations;
  report.factorisations += solved.factorisations;
  report.residual = solved.residual();
  return solved;
}

/// Whether Newton's method finds an end before the fold; `twist` leads there.
bool VariationalIntegrator::Impl::reachesEnd(const VectorX& q0) {
  if (!solveEquations().converged()) return false;
  model.difference(q0, equations->end(), twist);
  return largestTurn(twist).angle < fold;
}

/// Bodies that turn far and carry one another have other ends beyond the fold, to which Newton's method may stray although there is one
/// before it: the one that shorter intervals lead to, as their ends leave the node. It becomes the first guess.
void VariationalIntegrator::Impl::followEnd(const VectorX& q0, const Arrival& arrival, double t, double step) {
  constexpr int parts = 16;
  twistAhead = step / parts * rate, twistBehind.setZero();
  int part = 1;
  for (; part < parts; ++part) {
    equations->begin(q0, arrival.momentum, t, step * part / parts, twistAhead);
    if (!reachesEnd(q0)) break;
    twistAhead = 2 * twist - twistBehind, twistBehind = twist;
  }
  guessEnd(arrival, step);
  if (part == parts) twist = twistAhead;
  equations->begin(q0, arrival.momentum, t, step, twist);
}

void VariationalIntegrator::Impl::iterate(double t) {
  const NewtonReport& solved = solveEquations();
  if (solved.converged()) return;
  std::string why = solved.message;
  if (const std::string note = equations->note(); !note.empty()) why += "; " + note;
  // Momenta beyond the fold lead to no end at all: the first guess tells of it.
  if (const Turn turn = largestTurn(twist); turn.angle > nearFold) why += "; at the speed it has " + describeFold(turn);
  throw NumericalFailure(fmt::format("variational: step {} at t = {:.9g} s failed: {}; take smaller steps", report.step + 1, t, why));
}

void VariationalIntegrator::Impl::solve(const VectorX& momentum, double t) {
  equations->bring(momentum);
  iterate(t);
}

VariationalIntegrator::Impl::Turn VariationalIntegrator::Impl::largestTurn(const VectorX& move) const {
  Turn largest;
  for (std::size_t b = 0; b < model.blocks().size(); ++b) {
    if (model.blocks()[b].kind != Block::Kind::Pose) continue;
    const double angle = move.segment<3>(model.blocks()[b].v + 3).norm();
    if (angle > largest.angle) largest = {int(b), angle};
  }
  return largest;
}

std::string VariationalIntegrator::Impl::describeFold(const Turn& turn) const {
  return fmt::format("{} turns by {:.0f} degrees, and momenta of directors fold back at 90", model.nameOfBlock(turn.block),
                     turn.angle * 180 / std::numbers::pi);
}

/// What Newton's method cannot see: an end beyond the fold, or at the other root of a drive.
void VariationalIntegrator::Impl::checkEnd(const VectorX& q0, double t, double step) {
  const auto refuse = [&](const std::string& why) {
    throw NumericalFailure(
        fmt::format("variational: step {} at t = {:.9g} s, h = {:.3g} s: {}; take smaller steps", report.step + 1, t, step, why));
  };
  if (const int row = system.lostDrive(equations->end(), t, t + step); row >= 0) {
    refuse(model.constraintName(row) + ": what is prescribed turns too far in a step to be followed in directors (ground by 90 degrees, a "
                                       "drive by 180 or both of its bodies by 90 each)");
  }
  model.difference(q0, equations->end(), twist);
  const Turn turn = largestTurn(twist);
  node.largestTurn = turn.angle;
  if (turn.angle >= fold) refuse(describeFold(turn));
}

/// Adds what the iteration left of the balance at the node to the momentum that reaches the next: force and moment stay what they are in
/// space, so that momentum maps do not wander with the tolerance.
void VariationalIntegrator::Impl::carry(VectorX& momentum) const {
  const double weight = balance->weight();
  for (const Block& block : model.blocks()) {
    if (block.kind == Block::Kind::Vector) {
      momentum.segment(block.q, block.nq) += weight * leftOver.segment(block.v, block.nv);
      continue;
    }
    const Pose from = loadPose(state.q.data() + block.q), to = loadPose(end.data() + block.q);
    const Vector3 force = weight * (from.R * leftOver.segment<3>(block.v));
    const Vector3 moment = weight * (from.R * leftOver.segment<3>(block.v + 3)) + (from.x - to.x).cross(force);
    momentum.segment<3>(block.q) += force;
    for (int I = 0; I < 3; ++I) momentum.segment<3>(block.q + 3 + 3 * I) += 0.5 * moment.cross(to.R.col(I));
  }
}

/// Velocities and accelerations of the interval just solved.
void VariationalIntegrator::Impl::takeInterval() {
  end = equations->end(), leaving = equations->leaving();
  isTouched = contacts && contacts->acts();
  met = isTouched ? contacts->arrived() : arrived;
  equations->leftOver(leftOver);
  model.difference(state.q, end, twist);
  twist /= h;
  state.a = (twist - rate) / (0.5 * (before + h));
  rate = twist;
  isShown = isNodeKnown = false;
}

/// Multipliers and momentum of the node, and velocities from them. Steps do not need them. Where contacts act the momentum jumps: it is
/// then that of the interval which begins there, after an impact, and zero at rest.
void VariationalIntegrator::Impl::show() {
  if (isShown) return;
  isShown = true;
  if (balance->turnsWithEnd()) {
    work = 0.5 * (state.q + end);
    leavingMomentum = -leaving;
    momenta->multipliers(work, state.t + h / 2, leavingMomentum, met, h, lambda);
  } else {
    const double mean = 0.5 * (before + h);
    leavingMomentum = -leaving;
    momenta->multipliers(state.q, state.t, leavingMomentum, met, mean, lambda);
    system.constraintGradient(state.q, state.t, G);
    impulse.noalias() = G.transpose() * lambda;
    impulse *= mean;
  }
  if (isTouched) {
    work = (end - state.q) / h;
    p.noalias() = system.mass() * work;
  } else {
    balance->momentum(arrived, impulse, before / (before + h), p);
  }
  momenta->project(state.q, state.t, p, projected, state.v);
  state.lambda = -lambda.tail(model.nc());
}

void VariationalIntegrator::Impl::requireStart() const {
  if (!equations) throw InputError("variational: call start() first");
}

void VariationalIntegrator::Impl::advance() {
  requireStart();
  if (failure) std::rethrow_exception(failure);
  arrivedNext = met;
  balance->arriving(state.q, end, state.t, h, arrivedNext);
  carry(arrivedNext);
  const bool isUniform = options.steps.empty() && !control;
  const double t = isUniform ? begin + double(report.step + 1) * options.duration / double(steps) : state.t + h;
  const double size = nextStep(end, arrivedNext, t, interval + direction);
  meanTwist(system, end, state.q, end, h, meanBefore);
  solveInterval(end, {arrivedNext, meanBefore, h}, t, size);
  if (control) control->accept();
  interval += direction;
  before = h;
  h = size;
  state.t = t;
  state.q = end;
  arrived.swap(arrivedNext);
  takeInterval();
  ++report.step;
  report.t = state.t;
  report.h = before;
  report.note = equations->note();
}

/// What left the node comes in, and the next interval is the one that came before.
void VariationalIntegrator::Impl::reverse() {
  requireStart();
  balance->turn(leaving, arrived);
  interval -= direction;
  direction = -direction;
  rate = -rate;
  if (control) control->reverse();
  const double size = before > 0 ? before : h;
  meanTwist(system, state.q, end, state.q, h, meanBefore);
  solveInterval(state.q, {arrived, meanBefore, h}, state.t, size);
  before = std::exchange(h, size);
  takeInterval();
}

void VariationalIntegrator::Impl::linearise(double t) {
  ++report.factorisations;
  if (equations->factorise()) return;
  throw NumericalFailure(fmt::format("variational: step {} at t = {:.9g} s: the matrix of the step is singular where bodies touch; take "
                                     "smaller steps",
                                     report.step + 1, t));
}

/// Of constraints or their rates: lengths relative to the size of the model.
double VariationalIntegrator::Impl::largest(const VectorX& g) const {
  double size = 0;
  for (int i = 0; i < g.size(); ++i) {
    const int row = i - system.internalConstraints();
    const bool isLength = row >= 0 && model.constraintQuantities()[row] == RowQuantity::Length;
    size = std::max(size, std::abs(g[i]) / (isLength ? model.characteristicLength() : 1));
  }
  return size;
}

/// Numbers that nothing but reports need.
void VariationalIntegrator::Impl::fillNode() {
  if (isNodeKnown) return;
  isNodeKnown = true;
  show();
  node.intervalEnergy = lagrangian.energy(state.q, end, state.t, h);
  node.hamiltonian = kineticEnergy() + system.potential(state.q, state.t);
  node.momentumHamiltonian = momenta->hamiltonian(state.q, state.t, p);
  work = end - state.q;
  for (const Block& block : model.blocks())
    if (block.kind == Block::Kind::Pose) work.segment<9>(block.q + 3) *= model.characteristicLength();
  node.speed = work.norm() / h;
  node.momentum = system.momentum(state.q, projected);
  node.multipliers = lambda;
  VectorX g(system.constraints());
  momenta->hiddenConstraint(state.q, state.t, p, g);
  node.hiddenConstraint = largest(g);
  system.constraint(state.q, state.t, g);
  node.closure = largest(g);
  node.unknowns = equations->unknowns();
}

/// Of a marker in the interval that begins at the node.
Vector3 VariationalIntegrator::Impl::displacement(const Marker& on) const {
  const DirectorFrame frame = on.directors();
  return frame.at(end, state.t + h).col(0) - frame.at(state.q, state.t).col(0);
}

double VariationalIntegrator::Impl::kineticEnergy() {
  show();
  system.rates(state.q, state.v, work);
  return 0.5 * projected.dot(work);
}

/// Every step of a run asks for it: without the other numbers of the node.
Energy VariationalIntegrator::Impl::energy() {
  Energy energy;
  energy.kinetic = kineticEnergy();
  const double potential = system.potential(state.q, state.t);
  work.noalias() = system.mass() * state.q;
  Vector3 moment = Vector3::Zero(); // mass times place
  for (const Block& block : model.blocks())
    if (block.kind == Block::Kind::Pose) moment += work.segment<3>(block.q);
  energy.gravitational = -model.gravity().factor(state.t).value * model.gravity().g.dot(moment);
  energy.elastic = potential - energy.gravitational;
  energy.power = model.energy(state).power;
  return energy;
}

void VariationalIntegrator::Impl::save(Snapshot& snapshot) {
  show();
  store(state, snapshot);
  keep(snapshot, "start", startQ), keep(snapshot, "end", end), keep(snapshot, "arrived", arrived), keep(snapshot, "leaving", leaving);
  keep(snapshot, "p", p), keep(snapshot, "projected", projected), keep(snapshot, "multipliers", lambda), keep(snapshot, "rate", rate);
  keep(snapshot, "left over", leftOver);
  snapshot["steps"] = {begin, h, before, double(report.step), double(interval), double(direction), node.largestTurn};
  if (contacts) contacts->save(snapshot), keep(snapshot, "met", met);
  if (control) snapshot["step size"] = control->save();
  makeEquations();
}

void VariationalIntegrator::Impl::restore(const Snapshot& snapshot) {
  load(snapshot, state);
  take(snapshot, "start", startQ), take(snapshot, "end", end), take(snapshot, "arrived", arrived), take(snapshot, "leaving", leaving);
  take(snapshot, "p", p), take(snapshot, "projected", projected), take(snapshot, "multipliers", lambda), take(snapshot, "rate", rate);
  take(snapshot, "left over", leftOver);
  const std::vector<double>& numbers = snapshot.at("steps");
  begin = numbers.at(0), h = numbers.at(1), before = numbers.at(2), report.step = long(numbers.at(3)), interval = long(numbers.at(4));
  direction = long(numbers.at(5)), node.largestTurn = numbers.at(6);
  met = arrived;
  if (contacts) contacts->restore(snapshot), take(snapshot, "met", met);
  isTouched = contacts && contacts->acts();
  if (control) control->restore(snapshot.at("step size"));
  isShown = true, isNodeKnown = false;
  makeEquations();
}

// ---- the analysis ----------------------------------------------------------------------------------------------------------------------

VariationalIntegrator::VariationalIntegrator(const Model& model, const VariationalOptions& options)
    : impl_(std::make_unique<Impl>(model, options, nullptr)) {}
VariationalIntegrator::VariationalIntegrator(const Model& model, const VariationalOptions& options, const ContactModel& contacts)
    : impl_(std::make_unique<Impl>(model, options, &contacts)) {}
VariationalIntegrator::~VariationalIntegrator() = default;

void VariationalIntegrator::start() { impl_->start(messages_); }
bool VariationalIntegrator::finished() const { return impl_->state.t - impl_->begin >= impl_->options.duration * (1 - 1e-12); }
const State& VariationalIntegrator::state() const {
  impl_->show();
  return impl_->state;
}
VectorX VariationalIntegrator::reactions() { return state().lambda; }
const ContactReport* VariationalIntegrator::contacts() const { return impl_->contacts ? &impl_->contacts->report() : nullptr; }
double VariationalIntegrator::progress() const { return (impl_->state.t - impl_->begin) / impl_->options.duration; }
const DirectorSystem& VariationalIntegrator::system() const { return impl_->system; }
void VariationalIntegrator::reverse() { impl_->reverse(); }
Energy VariationalIntegrator::energy(const Model&) const { return impl_->energy(); }

const StepReport& VariationalIntegrator::advance() {
  impl_->advance();
  return impl_->report;
}

const DiscreteNode& VariationalIntegrator::node() const {
  impl_->fillNode();
  return impl_->node;
}

const VectorX& VariationalIntegrator::ahead() const {
  if (impl_->failure) std::rethrow_exception(impl_->failure);
  return impl_->end;
}

VariationalIntegrator::Condition VariationalIntegrator::condition() {
  Impl& i = *impl_;
  i.requireStart();
  i.twist = i.h * i.rate;
  i.equations->begin(i.state.q, i.arrived, i.state.t, i.h, i.twist);
  return {conditionNumber(i.equations->rawMatrix()), conditionNumber(i.equations->scaledMatrix())};
}

bool VariationalIntegrator::monitor(std::string_view name, const Marker* on, double* values) {
  const auto vector = [values](const Vector3& v) { return Eigen::Map<Vector3>(values) = v, true; };
  if (name == "discrete velocity") return on && vector(impl_->displacement(*on) / impl_->h);
  if (name == "momentum") return vector(node().momentum.linear);
  if (name == "angular momentum") return vector(node().momentum.angular);
  const auto scalar = [&]() -> std::optional<double> {
    if (name == "discrete energy") return node().intervalEnergy;
    if (name == "hamiltonian" || name == "energy") return node().hamiltonian;
    if (name == "full hamiltonian") return node().momentumHamiltonian;
    if (name == "discrete speed") return node().speed;
    if (name == "closure") return node().closure;
    if (name == "hidden constraint") return node().hiddenConstraint;
    if (name == "largest turn") return node().largestTurn;
    if (name == "unknowns") return node().unknowns;
    if (name == "condition number") return condition().raw;
    if (name == "scaled condition number") return condition().scaled;
    if (name == "kinetic energy") return impl_->energy().kinetic;
    if (name == "elastic energy") return impl_->energy().elastic;
    if (name == "gravitational energy") return impl_->energy().gravitational;
    return {};
  }();
  if (scalar) *values = *scalar;
  return scalar.has_value();
}

Snapshot VariationalIntegrator::save() {
  impl_->requireStart();
  Snapshot snapshot;
  impl_->save(snapshot);
  return snapshot;
}

void VariationalIntegrator::restore(const Snapshot& snapshot) {
  start();
  impl_->restore(snapshot);
}

}
