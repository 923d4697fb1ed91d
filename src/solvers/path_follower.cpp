#include "tendril/solvers/path_follower.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tendril/solvers/sign_change.h"

namespace tendril {

using Eigen::VectorXd;

/// Newton's view of a point at arclength ds along the tangent: the equations with t free, bordered by the linear arclength condition.
class PathFollower::Bordered final : public NewtonProblem {
 public:
  Bordered(PathProblem& problem, const Tangent& tangent, double ds)
      : problem_(problem), tangent_(tangent), ds_(ds), sum_(VectorXd::Zero(problem.size())), step_(sum_), along_(sum_), heldSum_(sum_) {}

  /// Starts from the prediction along the tangent.
  void predict() {
    step_ = tangent_.x;
    dt_ = tangent_.t;
    applyStep(ds_);
  }

  int groupCount() const override { return problem_.groupCount(); }
  bool evaluate(std::span<ResidualGroup> groups) override { return problem_.evaluate(groups); }
  bool factorise() override { return problem_.factorise(); }

  bool solve() override {
    if (!problem_.solve(step_) || !problem_.solveRate(along_)) return false;
    dt_ = (ds_ - problem_.inner(tangent_.x, sum_) - problem_.inner(tangent_.x, step_)) / problem_.inner(tangent_.x, along_);
    step_ += dt_ * along_;
    return std::isfinite(dt_);
  }

  double longestFactor() override { return problem_.longestFactor(step_); }

  void applyStep(double factor) override {
    heldSum_ = sum_;
    problem_.move(step_, dt_, factor);
    sum_ += factor * step_;
  }

  void undoStep() override {
    problem_.undo();
    sum_ = heldSum_;
  }

  std::string describeWorst() const override { return problem_.describeWorst(); }
  std::string describeSingular() const override { return problem_.describeSingular(); }

 private:
  PathProblem& problem_;
  const Tangent& tangent_;
  double ds_;
  VectorXd sum_, step_, along_, heldSum_;
  double dt_ = 0;
};

PathFollower::PathFollower(const PathOptions& options)
    : options_(options), newton_({.maxIterations = options.maxIterations, .lineSearch = false}) {}

/// The present point is a solution of the equations.
bool PathFollower::findTangent(PathProblem& problem) {
  const VectorXd before = tangent_.x;
  groups_.resize(std::size_t(problem.groupCount()));
  problem.settle();
  problem.evaluate(groups_);
  if (!problem.factorise() || !problem.solveRate(tangent_.x)) {
    failure_ = "the tangent is singular; " + problem.describeSingular();
    return false;
  }
  const double norm = std::sqrt(problem.inner(tangent_.x, tangent_.x));
  if (!(norm > 0)) {
    failure_ = "nothing depends on the parameter";
    return false;
  }
  tangent_.t = (problem.inner(before, tangent_.x) < 0 ? -1 : 1) / norm;
  tangent_.x *= tangent_.t;
  return true;
}

bool PathFollower::start(PathProblem& problem) {
  tangent_.x.setZero(problem.size());
  if (!findTangent(problem)) return false;
  before_ = tangent_;
  firstDs_ = ds_ = options_.firstStep / tangent_.t;
  problem.keep();
  return true;
}

void PathFollower::restore(PathProblem& problem, Tangent tangent, double ds, double firstDs) {
  tangent_ = std::move(tangent);
  before_ = tangent_;
  ds_ = ds, firstDs_ = firstDs;
  problem.keep();
}

/// The solution at the distance ds from the kept one.
bool PathFollower::attempt(PathProblem& problem, double ds) {
  problem.returnToKept();
  Bordered bordered(problem, before_, ds);
  bordered.predict();
  return newton_.solve(bordered).converged();
}

bool PathFollower::advance(PathProblem& problem) {
  step_ = {};
  before_ = tangent_;
  while (!attempt(problem, ds_)) {
    step_.iterations += newton_.report().iterations;
    step_.factorisations += newton_.report().factorisations;
    ++step_.cuts;
    ds_ /= 2;
    if (ds_ < options_.smallestShrink * firstDs_) {
      failure_ = newton_.report().message;
      return false;
    }
  }
  lastIterations_ = std::max(newton_.report().iterations, 1);
  step_.iterations += lastIterations_;
  step_.factorisations += newton_.report().factorisations;
  step_.residual = newton_.report().residual();
  if (!findTangent(problem)) return false;
  step_.turned = before_.t * tangent_.t < 0;
  return true;
}

void PathFollower::accept(PathProblem& problem) {
  const double factor = std::sqrt(double(options_.targetIterations) / lastIterations_);
  ds_ = std::min(ds_ * std::clamp(factor, 0.5, 1.5), options_.largestGrowth * firstDs_);
  problem.keep();
}

std::optional<double> PathFollower::locateChange(PathProblem& problem, int negativeBefore,
                                                 const std::function<std::optional<Inertia>()>& signs) {
  return locateSignChange(negativeBefore, [&](double fraction) -> std::optional<TangentSigns> {
    if (!attempt(problem, fraction * ds_)) return {};
    const std::optional<Inertia> inertia = signs();
    if (!inertia) return {};
    return TangentSigns{problem.parameter(), *inertia};
  });
}

}
