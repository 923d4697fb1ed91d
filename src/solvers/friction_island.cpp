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
      alternate(options.maxIterations > 0 ? options.maxIterations : 1000);
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

/// One Newton step from the best iterate; true if it made that better.
bool FrictionIsland::newtonStep(double epsilon) {
  ++newtonSteps_;
  if (!newton_.step(best_.r, best_.u, epsilon, step_)) return false;
  for (double length = 1; length > 0.1; length *= 0.5) {
    now_.r = best_.r + length * step_;
    for (int i = 0; i < system_.contacts(); ++i) projectOnCone(system_.laws[i], &now_.r[system_.first[i]]);
    evaluate(now_);
    if (now_.ratio < 0.9 * best_.ratio) {
      best_ = now_;
      return true;
    }
  }
  now_ = best_;
  return false;
}

void FrictionIsland::newton(long limit, double epsilon) {
  for (long k = 0; k < limit && !converged(); ++k)
    if (!newtonStep(epsilon)) break;
}

void FrictionIsland::alternate(long limit) {
  long share = 10;
  for (long k = 0; k < limit && !converged(); ++k) {
    sweep(share);
    newton(20, 1e-8);
    now_ = best_;
    if (share < 1000) share *= 2;
  }
}

void FrictionIsland::polish() {
  for (int k = 0; k < 3; ++k)
    if (!newtonStep(1e-10)) break;
}

}
