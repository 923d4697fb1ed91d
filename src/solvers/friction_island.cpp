#include "friction_island.h"

#include "friction_cone.h"

#include <fmt/format.h>

namespace tendril {

double FrictionGoal::ratio(const FrictionSystem::Squares& squares) const {
  double square = measure == FrictionOptions::Measure::Published ? squares.published : squares.scaled;
  if (measure == FrictionOptions::Measure::Both) square = std::max(square, squares.published);
  return std::sqrt(square) / threshold;
}

void FrictionIsland::load(const FrictionProblem& problem, const std::vector<int>& contacts) {
  system_.pack(problem, contacts);
  locals_.set(system_.laws, system_.D, system_.diagonalOffset);
  sweeper_.set(system_, locals_);
  newton_.set(system_);
}

void FrictionIsland::evaluate(FrictionIterate& iterate) {
  system_.velocities(iterate.r, iterate.w, iterate.u);
  iterate.ratio = goal_.ratio(system_.residual(iterate.r, iterate.u));
}

void FrictionIsland::keepBest() {
  if (now_.ratio <= best_.ratio) best_ = now_;
}

void FrictionIsland::solve(const FrictionOptions& options, double threshold, Eigen::VectorXd& r) {
  goal_ = {options.measure, threshold};
  sweeps_ = newtonSteps_ = factorisations_ = 0;
  method_.clear();
  system_.scatter(r, now_.r);
  evaluate(now_);
  best_ = now_;
  if (!converged()) {
    switch (options.method) {
    case FrictionMethod::GaussSeidel:
      sweep(options.maxIterations > 0 ? options.maxIterations : 100000);
      break;
    case FrictionMethod::SemismoothNewton:
      newton(options.maxIterations > 0 ? options.maxIterations : 200, 1e-13);
      break;
    case FrictionMethod::ProximalNewton:
      newton(options.maxIterations > 0 ? options.maxIterations : 200, 1e-6);
      break;
    default:
      alternate(options.maxIterations > 0 ? options.maxIterations : 200);
    }
    if (converged() && options.polish) polish();
    method_ = fmt::format("{} sweeps of Gauss-Seidel, {} Newton steps", sweeps_, newtonSteps_);
  }
  system_.gather(best_.r, r);
}

/// A sweep tells by how much it changed the impulses; the true residual is found when that promises success, and now and then.
void FrictionIsland::sweep(long limit) {
  double promised = std::numeric_limits<double>::infinity();
  long next = 10;
  for (long k = 1; k <= limit && !converged(); ++k) {
    const double change = std::sqrt(sweeper_.sweep(now_.r, now_.w));
    ++sweeps_;
    if (k < next && k < limit && !(change <= promised)) continue;
    evaluate(now_);
    keepBest();
    promised = change / std::max(now_.ratio, 1e-300);
    next = k + 10 + k / 10;
  }
}

/// A Newton step from now_, smoothed by a few sweeps, which take care of the contacts that it judged wrongly; halved until the residual
/// falls. Returns the length of the step that was taken, or zero.
double FrictionIsland::newtonStep(double epsilon, int smoothing) {
  ++newtonSteps_;
  if (!newton_.step(now_.r, now_.u, epsilon, step_)) return 0;
  for (double length = 1; length > 0.1; length *= 0.5) {
    trial_.r = now_.r + length * step_;
    for (int i = 0; i < system_.contacts(); ++i) projectOnCone(system_.laws[i], &trial_.r[system_.first[i]]);
    if (smoothing > 0 && system_.hasBodies()) system_.motion(trial_.r, trial_.w);
    for (int k = 0; k < smoothing; ++k) sweeper_.sweep(trial_.r, trial_.w);
    sweeps_ += smoothing;
    evaluate(trial_);
    if (!(trial_.ratio < now_.ratio)) continue;
    std::swap(now_, trial_);
    keepBest();
    return length;
  }
  return 0;
}

void FrictionIsland::newton(long limit, double epsilon) {
  for (long k = 0; k < limit && !converged(); ++k)
    if (newtonStep(epsilon, 0) == 0) break;
}

/// Newton steps while they pay, sweeps where they do not. epsilon, the pull towards the present impulses, is lowered by success and raised
/// by failure as in the method of Levenberg and Marquardt.
void FrictionIsland::alternate(long limit) {
  constexpr double least = 1e-8, largest = 1e-1;
  double epsilon = 1e-4;
  sweep(20);
  for (long k = 0; k < limit && !converged(); ++k) {
    const double length = newtonStep(epsilon, 5);
    epsilon = length == 1 ? std::max(least, 0.1 * epsilon) : length > 0 ? epsilon : std::min(largest, 10 * epsilon);
    if (length == 0) sweep(100);
  }
}

void FrictionIsland::polish() {
  now_ = best_;
  for (int k = 0; k < 3; ++k)
    if (newtonStep(1e-10, 0) == 0) break;
}

}
