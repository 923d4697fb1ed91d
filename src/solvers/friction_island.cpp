#include "friction_island.h"

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
    sweep(options.maxIterations > 0 ? options.maxIterations : 100000);
    method_ = fmt::format("{} sweeps of Gauss-Seidel", sweeps_);
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

}
