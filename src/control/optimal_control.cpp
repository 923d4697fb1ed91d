#include "tendril/control/optimal_control.h"

#include "control/natural_program.h"
#include "control/node_space.h"
#include "tendril/discrete/legendre.h"
#include "tendril/discrete/null_space.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace tendril {

struct OptimalControl::Impl {
  Impl(const Model& model_, OptimalControlOptions options_);

  ControlProblem makeProblem(const std::vector<VectorX>& guess) const;
  std::vector<VectorX> firstPath() const;
  void show(int node);
  double defect(int node) const;

  const Model& model;
  OptimalControlOptions options;
  DirectorSystem system;
  NodalMomenta momenta;
  std::unique_ptr<ControlledPath> path;
  InteriorPoint solver;
  State state;
  VectorX q0, begin; ///< configuration and momentum at the start
  VectorX left, right, arrived, projected, lambda;
  StepReport step;
  std::string failure;
  double objectiveUnit = 1;
  double turn = 0, closure = 0, worstDefect = 0; ///< of the solution
};

OptimalControl::Impl::Impl(const Model& model_, OptimalControlOptions options_)
    : model(model_), options(std::move(options_)), system(model_), momenta(system), solver(options.solver), state(model_.initialState()),
      q0(state.q), projected(system.size()) {
  if (options.largestTurn && !(*options.largestTurn > 0 && *options.largestTurn < std::numbers::pi / 2))
    throw InputError("optimal control: the largest turn in an interval lies between 0 and 90 degrees, where discrete momenta fold back");
  VectorX rates(system.size());
  system.rates(state.q, state.v, rates);
  begin = system.mass() * rates;
}

std::vector<VectorX> OptimalControl::Impl::firstPath() const {
  std::vector<KeyMotions> keys = options.guess;
  if (options.end.configuration) keys.push_back({1, *options.end.configuration});
  return pathThrough(system, q0, keys, options.intervals);
}

ControlProblem OptimalControl::Impl::makeProblem(const std::vector<VectorX>& guess) const {
  ControlProblem problem;
  problem.intervals = options.intervals, problem.duration = options.duration, problem.durationBounds = options.durationBounds;
  problem.quadrature = options.quadrature;
  problem.actuators = options.actuators, problem.lower = options.lower, problem.upper = options.upper;
  problem.effort = options.effort, problem.durationWeight = options.durationWeight;
  problem.beginMomentum = begin;
  if (options.end.isAtRest) problem.endMomentum = VectorX::Zero(system.size());
  const int N = options.intervals;
  const std::vector<int> rows = NullSpace(system, q0, 0).keptConstraints();
  const auto hold = [&](const std::string& what, int node, const VectorX& q) {
    const NodeSpace space(system, rows, q, 0);
    for (PathRow& row : holdConfiguration(what, q, space.basis(), space.unit()))
      problem.conditions.push_back({std::move(row), node, node, 0, 0});
  };
  hold("initial configuration", 0, q0);
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
  if (options.largestTurn) {
    for (std::size_t b = 0; b < model.blocks().size(); ++b) {
      if (model.blocks()[b].kind != Block::Kind::Pose) continue;
      problem.conditions.push_back({cosineOfTurn("turn of " + model.nameOfBlock(int(b)), model.blocks()[b].q), 0, N - 1,
                                    std::cos(*options.largestTurn), std::numeric_limits<double>::infinity()});
    }
  }
  return problem;
}

OptimalControl::OptimalControl(const Model& model, OptimalControlOptions options)
    : impl_(std::make_unique<Impl>(model, std::move(options))) {
  Impl& m = *impl_;
  const std::vector<VectorX> guess = m.firstPath();
  m.path = std::make_unique<ControlledPath>(m.system, m.makeProblem(guess), guess);
}
OptimalControl::~OptimalControl() = default;

void OptimalControl::start() {
  Impl& m = *impl_;
  ControlledPath::Units units = m.path->units();
  m.objectiveUnit = units.objective;
  NaturalProgram program(*m.path, {units.objective, std::move(units.variable), std::move(units.equality), std::move(units.inequality)});
  const InteriorPointReport& report = m.solver.solve(program);
  const ProgramStructure& s = m.path->structure();
  messages_.push_back(fmt::format("optimal control: {} variables, {} equations, {} inequalities; {} after {} iterations, cost {:.9g}",
                                  s.variables(), s.equalities(), s.inequalities(), name(report.status), report.iterations, cost()));
  if (report.status == InteriorPointReport::Status::Acceptable) {
    messages_.push_back(report.message);
  } else if (!report.converged()) {
    m.failure = "optimal control: " + report.message;
  }
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
  if (node > 0) {
    path->momenta(node - 1, left, arrived);
  } else {
    arrived = begin;
  }
  if (node < N)
    path->momenta(node, left, right);
  else
    left = options.end.isAtRest ? VectorX(VectorX::Zero(system.size())) : arrived;
  momenta.multipliers(state.q, 0, left, arrived, path->step(), lambda);
  momenta.project(state.q, 0, left, projected, state.v);
  state.lambda = -lambda.tail(model.nc());
  state.a.setZero(model.nv());
}

bool OptimalControl::finished() const { return impl_->step.step >= impl_->path->intervals(); }

const StepReport& OptimalControl::advance() {
  Impl& m = *impl_;
  m.step.iterations = m.step.step == 0 ? m.solver.report().iterations : 0;
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
const ControlledPath& OptimalControl::path() const { return *impl_->path; }
double OptimalControl::cost() const { return impl_->solver.report().objective * impl_->objectiveUnit; }
const InteriorPointReport& OptimalControl::report() const { return impl_->solver.report(); }

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
  const int n = system.size(), N = path->intervals();
  const VectorX& q = path->node(node);
  VectorX l, r, w = VectorX::Zero(n);
  if (node > 0) path->momenta(node - 1, l, r), w += r;
  if (node == 0) w += begin;
  if (node < N) path->momenta(node, l, r), w -= l;
  if (node == N && !options.end.isAtRest) return 0;
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

double OptimalControl::momentumDefect() const {
  double largest = 0;
  for (int k = 0; k <= impl_->path->intervals(); ++k) largest = std::max(largest, impl_->defect(k));
  return largest;
}

bool OptimalControl::monitor(std::string_view name, const Marker*, double* values) {
  const Impl& m = *impl_;
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
    *values = m.solver.report().iterations;
  } else if (name == "final time") {
    *values = m.path->duration();
  } else if (name == "largest turn") {
    *values = m.turn;
  } else if (name == "closure") {
    *values = m.closure;
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
  std::vector<double> point(std::size_t(m.path->pointSize()));
  Eigen::Map<VectorX> numbers(point.data(), Eigen::Index(point.size()));
  m.path->getPoint(numbers);
  return {{"point", std::move(point)}, {"step", {double(m.step.step)}}};
}

/// The program is solved again from where it was: the report belongs to the run that shows it.
void OptimalControl::restore(const Snapshot& snapshot) {
  Impl& m = *impl_;
  const std::vector<double>& point = snapshot.at("point");
  m.path->setPoint(Eigen::Map<const VectorX>(point.data(), Eigen::Index(point.size())));
  start();
  m.step.step = long(snapshot.at("step")[0]);
  m.show(int(m.step.step));
  m.step.t = m.state.t;
}

}
