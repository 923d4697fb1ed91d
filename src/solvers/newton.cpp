#include "tendril/solvers/newton.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

namespace tendril {

using Outcome = NewtonReport::Outcome;

double ResidualGroup::threshold() const { return std::max(absoluteTolerance, relativeTolerance * reference); }

double NewtonReport::residual() const {
  double worst = 0;
  for (const ResidualGroup& group : groups) {
    const double allowed = atRoundOff ? std::max(group.threshold(), group.roundOff) : group.threshold();
    worst = std::max(worst, allowed > 0 ? group.value / allowed : group.value);
  }
  return worst;
}

const char* name(Outcome outcome) {
  switch (outcome) {
  case Outcome::Converged:
    return "converged";
  case Outcome::MaxIterations:
    return "too many iterations";
  case Outcome::Stagnated:
    return "stagnated";
  case Outcome::NotFinite:
    return "not finite";
  case Outcome::SingularTangent:
    return "singular tangent";
  case Outcome::Diverged:
    return "diverged";
  }
  return "";
}

namespace {

const char* remedy(Outcome outcome) {
  switch (outcome) {
  case Outcome::MaxIterations:
    return "allow more iterations or take a smaller step";
  case Outcome::Stagnated:
    return "take a smaller step, or loosen a tolerance that is below rounding";
  case Outcome::NotFinite:
    return "look for input that is zero or infinite, or take a smaller step";
  case Outcome::SingularTangent:
    return "look for parts that are free to move or constraints that say the same twice";
  case Outcome::Diverged:
    return "take a smaller step";
  case Outcome::Converged:
    break;
  }
  return "";
}

bool finite(std::span<const ResidualGroup> groups) {
  return std::all_of(groups.begin(), groups.end(),
                     [](const ResidualGroup& g) { return std::isfinite(g.value) && std::isfinite(g.reference); });
}

}

Newton::Newton(const NewtonOptions& options) : options_(options) {
  if (options.maxIterations < 0 || options.minIterations > options.maxIterations)
    throw std::invalid_argument("NewtonOptions: need 0 <= maxIterations and minIterations <= maxIterations");
  if (options.window < 1 || options.patience < 1) throw std::invalid_argument("NewtonOptions: window and patience are 1 or more");
  if (!(options.allowedGrowth >= 1)) throw std::invalid_argument("NewtonOptions: allowedGrowth is 1 or more");
  if (!(options.shortestFactor > 0 && options.shortestFactor < 1))
    throw std::invalid_argument("NewtonOptions: shortestFactor lies between 0 and 1");
  report_.history.reserve(std::size_t(options.maxIterations) + 1);
}

void Newton::reserve(int groups) {
  report_.groups.resize(groups);
  recent_.resize(std::size_t(groups) * options_.window);
}

const NewtonReport& Newton::solve(NewtonProblem& problem) {
  reserve(problem.groupCount());
  report_.iterations = report_.factorisations = report_.evaluations = 0;
  report_.atRoundOff = false;
  report_.history.clear();
  report_.message.clear();
  remembered_ = 0;
  contraction_ = 0;
  held_ = options_.startFromHeld;

  const bool exists = evaluate(problem);
  accept(0, false);
  if (!exists || !finite(report_.groups))
    fail(problem, Outcome::NotFinite);
  else
    while (step(problem)) {
    }
  return report_;
}

/// One step, or the end: false when the outcome is known.
bool Newton::step(NewtonProblem& problem) {
  if (report_.iterations >= options_.minIterations && converged()) {
    report_.outcome = Outcome::Converged;
    return false;
  }
  const double first = std::max(1.0, report_.history.front().merit);
  if (!(report_.history.back().merit <= options_.divergence * first)) return fail(problem, Outcome::Diverged);
  if (stagnates()) return fail(problem, Outcome::Stagnated);
  if (report_.iterations >= options_.maxIterations) return fail(problem, Outcome::MaxIterations);

  const bool slow = contraction_ > options_.reuseContraction && contraction_ * report_.history.back().merit > 1;
  bool fresh = !held_ || options_.reuseContraction <= 0 || slow;
  for (;; fresh = true) {
    if (fresh) {
      ++report_.factorisations;
      held_ = problem.factorise();
      if (!held_) return fail(problem, Outcome::SingularTangent);
    }
    const bool solved = problem.solve();
    const Trial trial = solved ? search(problem, fresh) : Trial::Rejected;
    if (trial == Trial::Accepted) return true;
    if (trial == Trial::NotFinite) return fail(problem, Outcome::NotFinite);
    if (!fresh) continue; // the kept tangent is to blame, not the problem
    if (!solved) return fail(problem, Outcome::NotFinite);
    if (!negligible()) return fail(problem, Outcome::Stagnated);
    report_.atRoundOff = true;
    report_.outcome = Outcome::Converged;
    return false;
  }
}

/// Shortens the step until the merit falls enough. On rejection the state and its residual are those from before.
Newton::Trial Newton::search(NewtonProblem& problem, bool fresh) {
  const std::size_t count = report_.groups.size();
  const double longest = std::min(1.0, problem.longestFactor());
  for (double factor = longest; factor >= options_.shortestFactor * longest;) {
    problem.applyStep(factor);
    const bool exists = evaluate(problem);
    double next = factor / 2;
    if (exists && !finite(report_.groups)) {
      problem.undoStep();
      evaluate(problem);
      return Trial::NotFinite;
    }
    if (exists) {
      const double before = merit(&recent_[newest_ * count]), after = merit(report_.groups.data());
      const bool staleFails = !fresh && after > before;
      if (!staleFails && (!options_.lineSearch || after <= (1 - options_.sufficientDecrease * factor) * referenceMerit())) {
        contraction_ = before > 0 ? after / before : 0;
        accept(factor, fresh);
        return Trial::Accepted;
      }
      // Minimum of the parabola through theta^2 at 0 and here, with Newton's slope -2 theta^2 at 0.
      const double ratio = (after / before) * (after / before);
      next = std::clamp(factor * factor / (ratio - 1 + 2 * factor), 0.1 * factor, 0.5 * factor);
      if (staleFails) next = 0;
    }
    problem.undoStep();
    factor = next;
  }
  evaluate(problem);
  return Trial::Rejected;
}

bool Newton::evaluate(NewtonProblem& problem) {
  ++report_.evaluations;
  return problem.evaluate(report_.groups);
}

void Newton::accept(double factor, bool fresh) {
  const std::size_t count = report_.groups.size();
  newest_ = remembered_ == 0 ? 0 : (newest_ + 1) % options_.window;
  remembered_ = std::min(remembered_ + 1, options_.window);
  std::copy(report_.groups.begin(), report_.groups.end(), recent_.begin() + std::ptrdiff_t(newest_ * count));
  report_.iterations = int(report_.history.size());
  report_.history.push_back({merit(report_.groups.data()), factor, fresh});
}

/// A group's unit of measure is the larger of its thresholds at the last accepted and at the present state: the same for every state that
/// is compared, and sensible when a group's reference grows from nothing in the first step.
double Newton::merit(const ResidualGroup* measured) const {
  const ResidualGroup* base = recent_.data() + newest_ * report_.groups.size();
  double sum = 0;
  for (std::size_t g = 0; g < report_.groups.size(); ++g) {
    const double threshold = std::max(base[g].threshold(), report_.groups[g].threshold());
    const double scaled = measured[g].value / (threshold > 0 ? threshold : 1);
    sum += scaled * scaled;
  }
  return std::sqrt(sum);
}

double Newton::referenceMerit() const {
  double largest = 0;
  for (int k = 0; k < remembered_; ++k) largest = std::max(largest, merit(&recent_[k * report_.groups.size()]));
  return options_.allowedGrowth * largest;
}

bool Newton::converged() {
  const auto& groups = report_.groups;
  if (std::all_of(groups.begin(), groups.end(), [](const ResidualGroup& g) { return g.passes(); })) return true;
  // Rounding counts as an excuse only once steps have stopped to help.
  report_.atRoundOff = report_.iterations > 0 && contraction_ > 0.5 && negligible();
  return report_.atRoundOff;
}

bool Newton::negligible() const {
  return std::all_of(report_.groups.begin(), report_.groups.end(),
                     [](const ResidualGroup& g) { return g.passes() || g.value <= g.roundOff; });
}

bool Newton::stagnates() const {
  const std::ptrdiff_t span = options_.patience;
  if (std::ptrdiff_t(report_.history.size()) < 2 * span) return false;
  const auto less = [](const NewtonReport::Iterate& a, const NewtonReport::Iterate& b) { return a.merit < b.merit; };
  const auto end = report_.history.end();
  return std::min_element(end - span, end, less)->merit >= 0.99 * std::min_element(end - 2 * span, end - span, less)->merit;
}

bool Newton::fail(const NewtonProblem& problem, Outcome outcome) {
  report_.outcome = outcome;
  std::string& message = report_.message;
  message = fmt::format("Newton's method: {} after {} iterations; worst: {};", name(outcome), report_.iterations, problem.describeWorst());
  for (const ResidualGroup& g : report_.groups)
    if (!g.passes()) message += fmt::format(" {} {:.3g} (allowed {:.3g});", g.name, g.value, g.threshold());
  const std::string cause = outcome == Outcome::SingularTangent ? problem.describeSingular() : "";
  if (!cause.empty()) message += " " + cause + ";";
  message += fmt::format(" remedy: {}", remedy(outcome));
  return false;
}

}
