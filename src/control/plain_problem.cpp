#include "control/plain_problem.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>

namespace tendril {

FlatRow::FlatRow(const PathRow& row, int n, const std::string& method) : constant(row.constant), spansInterval(row.readsOther()) {
  const auto place = [&](const PathPlace& p) {
    if (p.part != PathPart::Node)
      throw InputError("condition '" + row.name + "' reads more than configurations; method: " + method + " does not, method: dmocc does");
    return p.index + (p.atOther ? n : 0);
  };
  for (const PathRow::Term& term : row.products) products.push_back({place(term.i), place(term.j), term.value});
  for (const auto& [at, factor] : row.linear) linear.emplace_back(place(at), factor);
}

double FlatRow::value(const VectorX& y) const {
  double sum = constant;
  for (const auto& term : products) sum += term.value * y[term.i] * y[term.j];
  for (const auto& [i, factor] : linear) sum += factor * y[i];
  return sum;
}

void FlatRow::addGradient(const VectorX& y, double scale, VectorX& gradient) const {
  for (const auto& term : products) {
    gradient[term.i] += scale * term.value * y[term.j];
    gradient[term.j] += scale * term.value * y[term.i];
  }
  for (const auto& [i, factor] : linear) gradient[i] += scale * factor;
}

void requirePlain(const ControlProblem& problem, const std::string& method, int controls, const std::vector<VectorX>& guess,
                  const MatrixX& controlsOfGuess) {
  const std::string place = "method " + method + ": ";
  if (problem.intervals < 2) throw InputError(place + "at least two intervals are needed");
  if (problem.durationBounds) throw InputError(place + "the duration is fixed; give one time, or take method: dmocc");
  if (!problem.contacts.empty() || problem.effortNorm || problem.perUnit || !problem.velocityNodes.empty())
    throw InputError(place + "it knows neither contacts nor norms of controls, costs by the way and velocities; method: dmocc does");
  for (const Actuator& actuator : problem.actuators)
    if (!actuator.muscles.empty())
      throw InputError("actuator '" + actuator.name + "' is a muscle, whose force method " + method + " does not know; method: dmocc does");
  for (const PathCondition& c : problem.conditions)
    if (c.other >= 0) throw InputError("condition '" + c.row.name + "' binds nodes far from each other; method: dmocc does");
  if (!(problem.duration > 0)) throw InputError(place + "the duration must be positive");
  if (int(guess.size()) != problem.intervals + 1) throw InputError(place + "the first guess needs one configuration per node");
  if (controlsOfGuess.size() > 0 && (controlsOfGuess.rows() != controls || controlsOfGuess.cols() != problem.intervals))
    throw InputError(place + "the controls of the first guess do not fit the actuators and intervals");
  const auto fits = [&](const std::vector<double>& values) { return values.empty() || int(values.size()) == controls; };
  if (!fits(problem.lower) || !fits(problem.upper) || !fits(problem.effort))
    throw InputError(place + "bounds and weights need one number per control");
}

std::vector<double> unitsOfControls(const ControlProblem& problem, double mass, double length) {
  std::vector<double> units;
  for (const Actuator& actuator : problem.actuators) {
    const auto isForce = [](const ActuatorLoad& load) { return !load.wrench.head<3>().isZero(); };
    if (!actuator.muscles.empty()) {
      units.push_back(1);
      continue;
    }
    const int power = !actuator.cables.empty() ? 0 : std::any_of(actuator.loads.begin(), actuator.loads.end(), isForce) ? 1 : 2;
    units.push_back(mass * std::pow(length, power) / (problem.duration * problem.duration));
  }
  return units;
}

std::vector<int> boundedControls(const ControlProblem& problem, int controls) {
  std::vector<int> bounded;
  for (std::size_t i = 0; i < std::size_t(controls); ++i)
    if ((!problem.lower.empty() && std::isfinite(problem.lower[i])) || (!problem.upper.empty() && std::isfinite(problem.upper[i])))
      bounded.push_back(int(i));
  return bounded;
}

}
