#include "tendril/control/optimal_control.h"

#include "control/muscles.h"
#include "control/node_space.h"
#include "tendril/control/actuation.h"
#include "tendril/control/path_guesses.h"
#include "tendril/control/replay.h"
#include "tendril/discrete/legendre.h"
#include "tendril/discrete/null_space.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

namespace tendril {

namespace {

bool isSolved(const InteriorPointReport& report) { return report.converged() || report.status == InteriorPointReport::Status::Acceptable; }

}

struct OptimalControl::Impl {
  Impl(const Model& model_, OptimalControlOptions options_);

  ControlProblem makeProblem(const std::vector<VectorX>& guess) const;
  void addBounds(ControlProblem& problem) const;
  void addPeriodicity(ControlProblem& problem, const MatrixX& P) const;
  std::vector<KeyMotions> keyMotions() const; ///< those of the guess, and the end
  std::vector<VectorX> firstPath() const;
  InteriorPointReport solved(Transcription& program, const InteriorPointOptions& by) const;
  void tryStarts(std::vector<std::string>& messages);
  void refine(std::vector<std::string>& messages);
  std::vector<VectorX> finerNodes() const;
  void show(int node);
  void findWork();
  void findImpacts();
  std::string missedOrientation() const;
  double defect(int node) const;
  double replay();

  const Model& model;
  OptimalControlOptions options;
  DirectorSystem system;
  NodalMomenta momenta;
  std::unique_ptr<Transcription> path;
  InteriorPointReport report;
  InteriorPoint::Watch watch;
  std::vector<double> costsOfStarts, costsOfLevels; ///< NaN where there is no solution
  State state;
  VectorX q0, begin; ///< configuration and momentum at the start
  VectorX left, right, arrived, projected, lambda;
  StepReport step;
  std::string failure;
  double turn = 0, closure = 0, worstDefect = 0; ///< of the solution
  std::vector<double> work, lost;                ///< by controls, and where contacts land, up to every node [J]
  double momentumJump = 0, changedVelocity = 0;
  std::optional<double> replayed;
};

OptimalControl::Impl::Impl(const Model& model_, OptimalControlOptions options_)
    : model(model_), options(std::move(options_)), system(model_), momenta(system), state(model_.initialState()), q0(state.q),
      projected(system.size()) {
  if (options.largestTurn && !(*options.largestTurn > 0 && *options.largestTurn < std::numbers::pi / 2))
    throw InputError("optimal control: the largest turn in an interval lies between 0 and 90 degrees, where discrete momenta fold back");
  VectorX rates(system.size());
  system.rates(state.q, state.v, rates);
  begin = system.mass() * rates;
  VectorX twist(model.nv());
  momenta.project(q0, 0, begin, projected, twist); // what the joints let through
  const double changed = (twist - state.v).lpNorm<Eigen::Infinity>();
  if (!options.beginIsFree && changed > 1e-9 * state.v.lpNorm<Eigen::Infinity>()) changedVelocity = changed, begin = projected;
}

std::vector<KeyMotions> OptimalControl::Impl::keyMotions() const {
  std::vector<KeyMotions> keys = options.guess;
  if (options.end.configuration) keys.push_back({1, *options.end.configuration});
  return keys;
}

std::vector<VectorX> OptimalControl::Impl::firstPath() const { return pathThrough(system, q0, keyMotions(), options.intervals); }

ControlProblem OptimalControl::Impl::makeProblem(const std::vector<VectorX>& guess) const {
  ControlProblem problem;
  problem.intervals = options.intervals, problem.duration = options.duration, problem.durationBounds = options.durationBounds;
  problem.quadrature = options.quadrature;
  problem.actuators = options.actuators, problem.lower = options.lower, problem.upper = options.upper;
  problem.effort = options.effort, problem.effortNorm = options.effortNorm, problem.durationWeight = options.durationWeight;
  problem.contacts = options.contacts;
  if (!options.beginIsFree) problem.beginMomentum = begin;
  if (options.end.isAtRest) problem.endMomentum = VectorX::Zero(system.size());
  const int N = options.intervals;
  const std::vector<int> rows = NullSpace(system, q0, 0).keptConstraints();
  const auto hold = [&](const std::string& what, int node, const VectorX& q) {
    const NodeSpace space(system, rows, q, 0);
    for (PathRow& row : holdConfiguration(what, q, space.basis(), space.unit()))
      problem.conditions.push_back({std::move(row), node, node, 0, 0});
  };
  if (!options.beginIsFree) hold("initial configuration", 0, q0);
  if (options.end.configuration) hold("final configuration", N, guess.back());
  for (const ManoeuvreEnd::Target& target : options.end.targets) {
    const std::string name = "target of " + target.marker->label();
    PathRow row = markerCoordinate(name, *target.marker, target.direction);
    row.unit = model.characteristicLength();
    problem.conditions.push_back({std::move(row), N, N, target.value, target.value});
  }
  for (const ManoeuvreEnd::Orientation& o : options.end.orientations) {
    const Matrix3 target = so3::exp(o.rotation) * o.marker->frame(model.initialState()).R;
    for (PathRow& row : holdOrientation("orientation of " + o.marker->label(), *o.marker, target))
      problem.conditions.push_back({std::move(row), N, N, 0, 0});
  }
  for (const ManoeuvreEnd::Speed& speed : options.end.fastest) {
    PathRow row = markerVelocity("speed of " + speed.marker->label(), *speed.marker, speed.direction);
    row.unit = model.characteristicLength() / options.duration;
    problem.objectives.push_back({std::move(row), N, -speed.weight});
    problem.velocityNodes.push_back(N);
  }
  if (options.per) {
    PathRow way = markerCoordinate("length that the cost is divided by", *options.per->marker, options.per->direction);
    const PathRow from = markerCoordinate("", *options.per->from, options.per->direction);
    way.constant -= from.constant;
    for (const auto& [place, factor] : from.linear) way.add(place, -factor);
    way.unit = model.characteristicLength();
    problem.perUnit = PathCondition{std::move(way), options.per->node, options.per->node};
  }
  addBounds(problem);
  if (options.periodic) {
    const NodeSpace space(system, rows, guess.front(), 0);
    addPeriodicity(problem, space.unit().asDiagonal() * space.basis());
  }
  if (options.largestTurn) {
    for (std::size_t b = 0; b < model.blocks().size(); ++b) {
      if (model.blocks()[b].kind != Block::Kind::Pose) continue;
      problem.conditions.push_back({cosineOfTurn("turn of " + model.nameOfBlock(int(b)), model.blocks()[b].q), 0, N - 1,
                                    std::cos(*options.largestTurn), std::numeric_limits<double>::infinity()});
    }
  }
  return problem;
}

void OptimalControl::Impl::addBounds(ControlProblem& problem) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const PathBound& bound : options.bounds) {
    const auto add = [&](PathRow row, double lower, double upper) {
      problem.conditions.push_back({std::move(row), bound.first, bound.last, lower, upper});
    };
    if (bound.direction) {
      PathRow row = markerCoordinate(bound.name, *bound.marker, *bound.direction);
      row.unit = model.characteristicLength();
      add(std::move(row), bound.lower, bound.upper);
    } else if (bound.centre) {
      PathRow row = squaredDistance(bound.name, *bound.marker, *bound.centre);
      row.unit = std::pow(model.characteristicLength(), 2);
      const auto square = [](double d) { return std::isfinite(d) ? d * d : d; };
      add(std::move(row), bound.lower > 0 ? square(bound.lower) : -infinity, square(bound.upper));
    } else {
      const std::string name = "joint '" + bound.joint + "'";
      const auto& pairs = system.pairs();
      const auto pair = std::find_if(pairs.begin(), pairs.end(), [&](const LowerPair& p) { return p.name == name; });
      if (pair == pairs.end()) throw InputError(name + ": it has no angle that could be bounded");
      const double width = bound.upper - bound.lower;
      if (!(width > 0 && width < 2 * std::numbers::pi)) throw InputError(name + ": bounds of an angle are less than a turn apart");
      add(cosineOfAngle(bound.name, pair->frames, 0.5 * (bound.lower + bound.upper)), std::cos(width / 2), infinity);
    }
  }
}

/// Rows along the motions that change what is compared: P without those of the whole that the anchors take out.
void OptimalControl::Impl::addPeriodicity(ControlProblem& problem, const MatrixX& P) const {
  const Periodicity& periodic = *options.periodic;
  const int n = system.size(), N = options.intervals;
  const Matrix3 S =
      periodic.mirror ? Matrix3(Matrix3::Identity() - 2 * *periodic.mirror * periodic.mirror->transpose()) : Matrix3::Identity();
  MatrixX atBegin = MatrixX::Identity(n, n), atEnd = MatrixX::Zero(n, n);
  VectorX unit = VectorX::Ones(n);
  std::vector<int> places; // of positions
  for (std::size_t b = 0; b < model.blocks().size(); ++b) {
    const Block& block = model.blocks()[b];
    if (block.kind != Block::Kind::Pose) throw InputError("optimal control: periodic motions know bodies alone");
    const Block& other = model.blocks()[periodic.endBlock.empty() ? b : std::size_t(periodic.endBlock[b])];
    unit.segment<3>(block.q).setConstant(model.characteristicLength());
    places.push_back(block.q);
    for (int column = 0; column < 4; ++column) {
      const double sign = periodic.mirror && column == periodic.axis ? -1 : 1;
      atEnd.block<3, 3>(block.q + 3 * column, other.q + 3 * column) = sign * S;
    }
  }
  const MatrixX velocityAtEnd = atEnd;
  for (int side = 0; side < 2; ++side) {
    if (!periodic.anchors[std::size_t(side)]) continue;
    for (int i = 0; i < 3; ++i) {
      for (const auto& [place, factor] : markerCoordinate("", *periodic.anchors[std::size_t(side)], Vector3::Unit(i)).linear) {
        for (const int x : places) {
          if (side == 0)
            atBegin(x + i, place.index) -= factor;
          else
            atEnd.block<3, 1>(x, place.index) -= factor * S.col(i);
        }
      }
    }
  }
  const auto add = [&](const std::string& name, const MatrixX& rows, const MatrixX& first, const MatrixX& last, PathPart part,
                       double size) {
    for (Eigen::Index k = 0; k < rows.rows(); ++k) {
      PathRow row{.name = name + ", " + std::to_string(k + 1), .products = {}, .linear = {}, .unit = size};
      const Eigen::RowVectorXd b = rows.row(k) * first, e = rows.row(k) * last;
      for (int i = 0; i < n; ++i) {
        if (std::abs(b[i]) > 1e-14) row.add({part, i}, b[i]);
        if (std::abs(e[i]) > 1e-14) row.add({part, i, true}, -e[i]);
      }
      problem.conditions.push_back({std::move(row), 0, 0, 0, 0, N});
    }
  };
  const VectorX scale = unit.cwiseInverse();
  const MatrixX seen = scale.asDiagonal() * (atBegin * P);
  Eigen::ColPivHouseholderQR<MatrixX> qr(seen);
  qr.setThreshold(1e-9);
  const MatrixX basis = MatrixX(qr.householderQ()).leftCols(qr.rank());
  add("periodic configuration", basis.transpose() * scale.asDiagonal(), atBegin, atEnd, PathPart::Node, 1);
  if (options.beginIsFree && !options.end.isAtRest) {
    const MatrixX tangents = scale.asDiagonal() * P;
    add("periodic velocity", tangents.transpose() * scale.asDiagonal(), MatrixX::Identity(n, n), velocityAtEnd, PathPart::Velocity,
        1 / options.duration);
    problem.velocityNodes.push_back(0), problem.velocityNodes.push_back(N);
    for (PathContact& contact : problem.contacts) contact.standsAtBegin = false; // as at the end
  }
  for (const Periodicity::Control& control : periodic.controls) {
    PathRow row{.name = "periodic control", .products = {}, .linear = {}};
    row.add({PathPart::Control, control.atBegin}, 1);
    row.add({PathPart::Control, control.atEnd, true}, -control.factor);
    problem.conditions.push_back({std::move(row), 0, 0, 0, 0, N});
  }
}

/// From where the program stands; there it stays if it is interrupted.
InteriorPointReport OptimalControl::Impl::solved(Transcription& program, const InteriorPointOptions& by) const {
  InteriorPointReport result = solve(program, options.programSolver, by, watch);
  if (result.status == InteriorPointReport::Status::Interrupted)
    throw Interrupted(fmt::format("optimal control: interrupted after {} iterations", result.iterations));
  return result;
}

/// From the first guess and from disturbed ones; the best solution stays.
void OptimalControl::Impl::tryStarts(std::vector<std::string>& messages) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const std::vector<KeyMotions> keys = keyMotions();
  const auto tell = [&](int k, const InteriorPointReport& of) {
    costsOfStarts.push_back(isSolved(of) ? of.objective : none);
    if (options.starts > 1)
      messages.push_back(fmt::format("start {}: {} after {} iterations, cost {:.9g}", k, name(of.status), of.iterations, of.objective));
  };
  report = solved(*path, options.solver);
  tell(1, report);
  for (int k = 2; k <= options.starts; ++k) {
    try {
      const std::vector<KeyMotions> poses =
          disturbed(system, keys, options.end.configuration.has_value(), options.spread, options.seed + unsigned(k) - 2);
      const std::vector<VectorX> guess = pathThrough(system, q0, poses, options.intervals);
      std::unique_ptr<Transcription> other = transcribe(options.method, system, makeProblem(guess), guess);
      InteriorPointReport found = solved(*other, options.solver);
      tell(k, found);
      if (isSolved(found) && (!isSolved(report) || found.objective < report.objective)) path = std::move(other), report = std::move(found);
    } catch (const InputError& error) { // loops that cannot follow
      messages.push_back(fmt::format("start {}: {}", k, error.what()));
      costsOfStarts.push_back(none);
    }
  }
}

std::vector<VectorX> OptimalControl::Impl::finerNodes() const {
  std::vector<VectorX> nodes;
  for (int k = 0; k <= path->intervals(); ++k) nodes.push_back(path->node(k));
  return halved(system, nodes);
}

namespace {

/// Twice as many intervals: what is said of nodes is said of the same instants.
void halveIntervals(OptimalControlOptions& options) {
  options.intervals *= 2;
  for (PathContact& contact : options.contacts) contact.first *= 2, contact.last *= 2;
  for (PathBound& bound : options.bounds) bound.first *= 2, bound.last *= 2;
  if (options.per) options.per->node *= 2;
}

}

/// Twice as many intervals, from the solution before.
void OptimalControl::Impl::refine(std::vector<std::string>& messages) {
  const VectorX end = firstPath().back();
  costsOfLevels = {report.objective};
  InteriorPointOptions warm = options.solver;
  warm.initialBarrier = std::min(warm.initialBarrier, 1e-4);
  for (int level = 0; level < options.refinements && failure.empty(); ++level) {
    std::vector<VectorX> nodes = finerNodes();
    if (options.end.configuration) nodes.back() = end;
    halveIntervals(options);
    options.duration = path->duration();
    std::unique_ptr<Transcription> finer = transcribe(options.method, system, makeProblem(nodes), nodes, halved(path->controls()));
    report = solved(*finer, warm);
    path = std::move(finer);
    if (!isSolved(report)) failure = "optimal control: " + report.message;
    costsOfLevels.push_back(failure.empty() ? report.objective : std::numeric_limits<double>::quiet_NaN());
    messages.push_back(fmt::format("{} intervals: {} after {} iterations, cost {:.9g}", options.intervals, name(report.status),
                                   report.iterations, report.objective));
  }
  costsOfLevels.resize(std::size_t(options.refinements) + 1, std::numeric_limits<double>::quiet_NaN());
}

OptimalControl::OptimalControl(const Model& model, OptimalControlOptions options)
    : impl_(std::make_unique<Impl>(model, std::move(options))) {
  Impl& m = *impl_;
  const std::vector<VectorX> guess = m.firstPath();
  m.path = transcribe(m.options.method, m.system, m.makeProblem(guess), guess);
  requireSolver(*m.path, m.options.programSolver);
}
OptimalControl::~OptimalControl() = default;

void OptimalControl::start() {
  Impl& m = *impl_;
  m.watch = [this](const InteriorPointReport::Iterate&) { return !isStopAsked(); };
  m.tryStarts(messages_);
  if (!isSolved(m.report)) m.failure = "optimal control: " + m.report.message;
  m.refine(messages_);
  if (m.failure.empty()) m.failure = m.missedOrientation();
  if (m.changedVelocity > 0)
    messages_.push_back(fmt::format("the initial velocities did not agree with the joints and were changed by up to {:.3g} m/s or rad/s",
                                    m.changedVelocity));
  conclude();
}

/// The rows of an orientation vanish half a turn away, too.
std::string OptimalControl::Impl::missedOrientation() const {
  for (const ManoeuvreEnd::Orientation& o : options.end.orientations) {
    const Matrix3 asked = so3::exp(o.rotation) * o.marker->frame(model.initialState()).R;
    const Matrix3 found = o.marker->directors().at(path->node(path->problem().intervals), 0).rightCols<3>();
    if (asked.cwiseProduct(found).sum() < 1) // 1 + 2 cos
      return "optimal control: orientation of " + o.marker->label() +
             ": the motion ends half a turn away; give a first guess that ends nearer";
  }
  return {};
}

/// What is told of the solution, and its first node.
void OptimalControl::conclude() {
  Impl& m = *impl_;
  const InteriorPointReport& report = m.report;
  const ProgramStructure& s = m.path->structure();
  messages_.push_back(fmt::format("optimal control: {} variables, {} equations, {} inequalities; {} after {} iterations, cost {:.9g}",
                                  s.variables(), s.equalities(), s.inequalities(), name(report.status), report.iterations, cost()));
  if (report.status == InteriorPointReport::Status::Acceptable) messages_.push_back(report.message);
  m.findWork();
  m.findImpacts();
  m.turn = m.path->largestTurn(), m.closure = m.path->closure(), m.worstDefect = momentumDefect();
  if (m.turn > std::numbers::pi / 4)
    messages_.push_back(fmt::format("a body turns by {:.0f} degrees in one interval, where discrete momenta J sin(angle)/h are far from "
                                    "those of the motion; take more intervals",
                                    m.turn * 180 / std::numbers::pi));
  m.step.residual = report.stationarity;
  m.show(0);
}

/// Node: configuration, velocities of the momentum that constraints let through, multipliers.
void OptimalControl::Impl::show(int node) {
  const int N = path->intervals();
  state.t = node * path->step();
  state.q = path->node(node);
  const VectorX rates = path->velocity(node);
  projected = system.mass() * rates;
  system.pullBack(state.q, rates, state.v);
  for (const Block& block : model.blocks())
    if (block.kind == Block::Kind::Pose) state.v.segment<3>(block.v + 3) *= 0.5; // N^T N is 2 on rotations
  if (node > 0)
    path->momenta(node - 1, left, arrived);
  else
    arrived = options.beginIsFree ? projected : begin;
  if (node < N)
    path->momenta(node, left, right);
  else
    left = options.end.isAtRest ? VectorX(VectorX::Zero(system.size())) : projected;
  arrived += path->contactMomentum(node);
  momenta.multipliers(state.q, 0, left, arrived, path->step(), lambda);
  state.lambda = -lambda.tail(model.nc());
  state.a.setZero(model.nv());
}

/// By the trapezoidal rule on every interval, from the velocity with which the path leaves its first node to that with which it arrives at
/// the second: exact where inertia is constant, since the controls, constant on the interval, give momentum in equal parts at both ends.
void OptimalControl::Impl::findWork() {
  const Actuation actuation(system, options.actuators);
  const Muscles muscles(system, options.actuators);
  VectorX force(system.size());
  const auto power = [&](int node, int interval, const VectorX& rates) {
    const double t = node * path->step();
    force.setZero();
    actuation.addForce(path->node(node), t, path->control(interval), 1, force);
    muscles.addForce(path->node(node), t, rates, path->control(interval), 1, force);
    return force.dot(rates);
  };
  work.assign(1, 0);
  for (int k = 0; k < path->intervals(); ++k)
    work.push_back(work.back() + path->step() / 2 * (power(k, k, path->velocity(k)) + power(k + 1, k, path->velocityBefore(k + 1))));
}

/// Plastic impacts where contacts land.
void OptimalControl::Impl::findImpacts() {
  momentumJump = 0;
  lost.assign(work.size(), 0);
  if (options.contacts.empty()) return;
  for (int k = 1; k <= path->intervals(); ++k) {
    lost[std::size_t(k)] = lost[std::size_t(k) - 1];
    if (k == path->intervals()) break;
    const VectorX change = path->velocity(k) - path->velocityBefore(k), impulse = system.mass() * change;
    const double jump = system.momentum(path->node(k), impulse).linear.norm();
    momentumJump = std::max(momentumJump, jump);
    lost[std::size_t(k)] += 0.5 * change.dot(impulse);
  }
}

bool OptimalControl::finished() const { return impl_->step.step >= impl_->path->intervals(); }

const StepReport& OptimalControl::advance() {
  Impl& m = *impl_;
  m.step.iterations = m.step.step == 0 ? m.report.iterations : 0;
  ++m.step.step;
  m.show(int(m.step.step));
  m.step.h = m.path->step();
  m.step.t = m.state.t;
  if (finished() && !m.failure.empty()) throw NumericalFailure(m.failure);
  return m.step;
}

const State& OptimalControl::state() const { return impl_->state; }
VectorX OptimalControl::reactions() { return impl_->state.lambda; }
double OptimalControl::progress() const { return double(impl_->step.step) / impl_->path->intervals(); }
const Transcription& OptimalControl::path() const { return *impl_->path; }
bool OptimalControl::hasSolution() const { return impl_->failure.empty(); }
double OptimalControl::cost() const { return impl_->report.objective; }
const InteriorPointReport& OptimalControl::report() const { return impl_->report; }

Energy OptimalControl::energy(const Model& model) const {
  const Impl& m = *impl_;
  Energy energy = model.energy(m.state);
  VectorX rates(m.system.size());
  m.system.rates(m.state.q, m.state.v, rates);
  energy.kinetic = 0.5 * m.projected.dot(rates);
  energy.elastic = m.system.potential(m.state.q, m.state.t) - energy.gravitational;
  return energy;
}

/// Rigid motions of the whole that no constraint resists, and the work of what is left of the balance on them.
double OptimalControl::Impl::defect(int node) const {
  const int n = system.size();
  const VectorX &q = path->node(node), w = path->unbalanced(node);
  MatrixX motions = MatrixX::Zero(n, 6);
  for (const Block& block : model.blocks()) {
    if (block.kind != Block::Kind::Pose) continue;
    for (int i = 0; i < 3; ++i) {
      motions.col(i)[block.q + i] = 1;
      for (int column = 0; column < 4; ++column) {
        const int at = block.q + 3 * column;
        motions.col(3 + i).segment<3>(at) = Vector3::Unit(i).cross(q.segment<3>(at));
      }
    }
  }
  SparseMatrix G = system.gradient();
  system.constraintGradient(q, 0, G);
  const MatrixX resisted = G * motions;
  const Eigen::JacobiSVD<MatrixX> svd(resisted.transpose() * resisted, Eigen::ComputeFullV);
  double largest = 0;
  for (int i = 0; i < 6; ++i) {
    if (svd.singularValues()[i] > 1e-16 * std::max(1.0, svd.singularValues()[0])) continue;
    largest = std::max(largest, std::abs(w.dot(motions * svd.matrixV().col(i))));
  }
  return largest;
}

/// NaN where the path is not what an initial value problem gives, or the integrator does not get through.
double OptimalControl::Impl::replay() {
  if (replayed) return *replayed;
  replayed = std::numeric_limits<double>::quiet_NaN();
  const bool hasMuscles =
      std::any_of(options.actuators.begin(), options.actuators.end(), [](const Actuator& a) { return !a.muscles.empty(); });
  if (options.beginIsFree || !options.contacts.empty() || hasMuscles) return *replayed;
  try {
    replayed = replayDifference(model, *path);
  } catch (const NumericalFailure&) {
  }
  return *replayed;
}

double OptimalControl::momentumDefect() const {
  double largest = 0;
  for (int k = 0; k <= impl_->path->intervals(); ++k) largest = std::max(largest, impl_->defect(k));
  return largest;
}

bool OptimalControl::monitor(std::string_view name, const Marker*, double* values) {
  Impl& m = *impl_;
  const ProgramStructure& s = m.path->structure();
  if (name == "cost") {
    *values = cost();
  } else if (name == "momentum defect") {
    *values = m.worstDefect;
  } else if (name == "program variables") {
    *values = s.variables();
  } else if (name == "program constraints") {
    *values = s.equalities();
  } else if (name == "program iterations") {
    *values = m.report.iterations;
  } else if (name == "cost divisor") {
    *values = m.path->costUnit();
  } else if (name == "momentum jump") {
    *values = m.momentumJump;
  } else if (name == "impact loss") {
    *values = m.lost[std::size_t(m.step.step)];
  } else if (name == "control work") {
    *values = m.work[std::size_t(m.step.step)];
  } else if (name == "costs of starts") {
    std::copy(m.costsOfStarts.begin(), m.costsOfStarts.end(), values);
  } else if (name == "costs of levels") {
    std::copy(m.costsOfLevels.begin(), m.costsOfLevels.end(), values);
  } else if (name == "share solved") {
    const auto isSolved = [](double cost) { return std::isfinite(cost); };
    *values = double(std::count_if(m.costsOfStarts.begin(), m.costsOfStarts.end(), isSolved)) / double(m.costsOfStarts.size());
  } else if (name == "final time") {
    *values = m.path->duration();
  } else if (name == "largest turn") {
    *values = m.turn;
  } else if (name == "closure") {
    *values = m.closure;
  } else if (name == "replay difference") {
    *values = m.replay();
  } else if (name == "kinetic energy") {
    *values = energy(m.model).kinetic;
  } else if (name == "elastic energy") {
    *values = energy(m.model).elastic;
  } else if (name == "gravitational energy") {
    *values = energy(m.model).gravitational;
  } else if (name == "energy") {
    *values = energy(m.model).total();
  } else if (name == "momentum") {
    Eigen::Map<Vector3>{values} = m.system.momentum(m.state.q, m.projected).linear;
  } else if (name == "angular momentum") {
    Eigen::Map<Vector3>{values} = m.system.momentum(m.state.q, m.projected).angular;
  } else if (name.starts_with("impulse ")) {
    const auto& contacts = m.options.contacts;
    const auto found = std::find_if(contacts.begin(), contacts.end(), [&](const PathContact& c) { return c.name == name.substr(8); });
    if (found == contacts.end()) return false;
    Eigen::Map<Vector3>{values} = m.path->impulse(int(found - contacts.begin()), int(m.step.step));
  } else if (name.starts_with("control ")) {
    const auto& actuators = m.options.actuators;
    const auto found = std::find_if(actuators.begin(), actuators.end(), [&](const Actuator& a) { return a.name == name.substr(8); });
    if (found == actuators.end()) return false;
    const int interval = std::min(int(m.step.step), m.path->intervals() - 1);
    *values = m.path->controls()(found - actuators.begin(), interval);
  } else {
    return false;
  }
  return true;
}

Snapshot OptimalControl::save() {
  const Impl& m = *impl_;
  std::vector<double> point(std::size_t(m.path->program().pointSize()));
  Eigen::Map<VectorX> numbers(point.data(), Eigen::Index(point.size()));
  m.path->program().getPoint(numbers);
  return {{"point", std::move(point)},
          {"step", {double(m.step.step)}},
          {"intervals", {double(m.path->intervals())}},
          {"costs of starts", m.costsOfStarts},
          {"costs of levels", m.costsOfLevels}};
}

/// The program is solved again from where it was: the report belongs to the run that shows it.
void OptimalControl::restore(const Snapshot& snapshot) {
  Impl& m = *impl_;
  while (m.path->intervals() < int(snapshot.at("intervals")[0])) {
    const std::vector<VectorX> nodes = m.finerNodes();
    halveIntervals(m.options);
    m.path = transcribe(m.options.method, m.system, m.makeProblem(nodes), nodes);
  }
  const std::vector<double>& point = snapshot.at("point");
  m.path->program().setPoint(Eigen::Map<const VectorX>(point.data(), Eigen::Index(point.size())));
  m.costsOfStarts = snapshot.at("costs of starts"), m.costsOfLevels = snapshot.at("costs of levels");
  m.report = solve(*m.path, m.options.programSolver, m.options.solver);
  if (!isSolved(m.report)) m.failure = "optimal control: " + m.report.message;
  conclude();
  m.step.step = long(snapshot.at("step")[0]);
  m.show(int(m.step.step));
  m.step.t = m.state.t;
}

}
