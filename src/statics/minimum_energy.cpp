#include "tendril/statics/minimum_energy.h"

#include "statics/energy_program.h"
#include "tendril/model/error.h"
#include "tendril/solvers/interior_point.h"
#include "tendril/statics/equilibrium.h"

#include <cmath>
#include <random>

#include <fmt/format.h>

namespace tendril {

MinimumEnergy::MinimumEnergy(const Model& model, const MinimumEnergyOptions& options)
    : options_(options), kkt_(model, {}), state_(model.initialState()) {
  if (options.steps < 1) throw InputError("minimum energy: it needs one step at least");
}

MinimumEnergy::~MinimumEnergy() = default;

void MinimumEnergy::start() {
  atRest(state_);
  state_.t = 0;
  state_.lambda.setZero(kkt_.model().nc());
  requirePotential();
  kkt_.findRedundancy(state_);
}

/// Along a random direction, the change of the energy (a difference of fourth order) against the forces, at full load.
void MinimumEnergy::requirePotential() {
  const Model& model = kkt_.model();
  State at = state_;
  at.t = 1;
  if (!kkt_.evaluate(at, {.motion = false, .tangent = false}))
    throw InputError("minimum energy: " + model.nameOfBlock(kkt_.assembly().refusedBlock()) + " cannot have its initial configuration");
  const VectorX force = kkt_.assembly().residual();
  std::mt19937 random(1);
  VectorX direction(model.nv());
  for (double& d : direction) d = 2 * (double(random()) / double(random.max())) - 1;
  direction = direction.cwiseProduct(EnergyProgram::units(kkt_));
  constexpr double step = 1e-5, noise = 1e-11; // of the energy
  const auto energyAt = [&](double factor) {
    State moved = at;
    model.retract(at.q, factor * step * direction, moved.q);
    const Energy e = model.energy(moved);
    return e.elastic + e.gravitational;
  };
  const double work = (8 * (energyAt(1) - energyAt(-1)) - (energyAt(2) - energyAt(-2))) / (12 * step);
  const double size = std::abs(work) + force.cwiseProduct(direction).cwiseAbs().sum(), rounding = noise * std::abs(energyAt(0)) / step;
  if (!(std::abs(work - force.dot(direction)) <= 1e-4 * size + rounding))
    throw InputError("minimum energy: some force on the model has no potential that its energy contains; leave gravity, springs and joints "
                     "alone, or write method: load-stepping");
}

void MinimumEnergy::disturb(double size, unsigned seed) {
  const Model& model = kkt_.model();
  std::mt19937 random(seed);
  VectorX delta(model.nv());
  for (double& d : delta) d = 2 * (double(random()) / double(random.max())) - 1;
  model.retract(state_.q, size * delta.cwiseProduct(EnergyProgram::units(kkt_)), state_.q);
}

const StepReport& MinimumEnergy::advance() {
  const State accepted = state_;
  const auto fail = [&](const std::string& why) {
    const double t = state_.t;
    state_ = accepted;
    throw NumericalFailure(fmt::format("minimum energy: no stable equilibrium at the load parameter {:g}: {}", t, why));
  };
  report_ = {.step = report_.step + 1, .t = double(report_.step + 1) / options_.steps, .h = 1.0 / options_.steps};
  state_.t = report_.t;
  EnergyProgram program(kkt_, state_);
  InteriorPoint solver({.tolerance = options_.tolerance, .maxIterations = options_.maxIterations});
  solver.watch([this](const InteriorPointReport::Iterate&) { return !isStopAsked(); });
  double away = 1e-3; // further where the same point comes back
  for (int escapes = 0;; ++escapes) {
    const InteriorPointReport& found = solver.solve(program);
    report_.iterations += found.iterations, report_.factorisations += found.factorisations;
    report_.residual = found.stationarity / options_.tolerance;
    if (found.status == InteriorPointReport::Status::Interrupted) throw Interrupted("minimum energy: stopped on its way to an equilibrium");
    if (!found.converged() && found.status != InteriorPointReport::Status::Acceptable) {
      --report_.step;
      fail(found.message);
    }
    program.takeMultipliers(found.multipliers.equality);
    report_.tangent = kkt_.tangentInertia(state_);
    if (found.strictMinimum || !report_.tangent || report_.tangent->negative == 0) break;
    if (escapes >= options_.escapes) {
      --report_.step;
      fail(fmt::format("the energy falls along {} directions from the one that was found", report_.tangent->negative));
    }
    disturb(away, unsigned(escapes + 1));
    away *= 2;
  }
  atRest(state_);
  return report_;
}

Snapshot MinimumEnergy::save() {
  Snapshot s;
  store(state_, s);
  s["step"] = {double(report_.step)};
  return s;
}

void MinimumEnergy::restore(const Snapshot& snapshot) {
  load(snapshot, state_);
  report_.step = long(snapshot.at("step")[0]), report_.t = state_.t;
  kkt_.findRedundancy(state_);
}

}
