#include "tendril/solvers/friction_solver.h"

#include "friction_island.h"
#include "friction_islands.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace tendril {

struct FrictionSolver::Impl {
  std::vector<FrictionIsland> islands;
  FrictionReport report;
  Eigen::VectorXd u;
};

FrictionSolver::FrictionSolver() : impl_(std::make_unique<Impl>()) {}
FrictionSolver::~FrictionSolver() = default;
FrictionSolver::FrictionSolver(FrictionSolver&&) noexcept = default;
FrictionSolver& FrictionSolver::operator=(FrictionSolver&&) noexcept = default;

const FrictionReport& FrictionSolver::solve(const FrictionProblem& problem, const FrictionOptions& options, Eigen::VectorXd& r) {
  const auto begin = std::chrono::steady_clock::now();
  FrictionReport& report = impl_->report;
  report = {};
  if (r.size() != problem.rows() || !r.allFinite()) r.setZero(problem.rows());
  const std::vector<std::vector<int>> members = findIslands(problem);
  report.islands = int(members.size());
  if (impl_->islands.size() < members.size()) impl_->islands.resize(members.size());
  const double size = problem.q.norm() > 0 ? problem.q.norm() : 1;
  for (std::size_t k = 0; k < members.size(); ++k) {
    FrictionIsland& island = impl_->islands[k];
    island.load(problem, members[k]);
    int rows = 0;
    for (const int i : members[k]) rows += problem.laws[i].size;
    island.solve(options, 0.99 * options.tolerance * size * std::sqrt(double(rows) / problem.rows()), r);
    report.sweeps += island.sweeps();
    report.newtonSteps += island.newtonSteps();
    if (members[k].size() > 1 || members.size() == 1) report.method = island.method();
  }
  velocities(problem, r, impl_->u);
  report.residual = frictionResidual(problem, r, impl_->u);
  using Measure = FrictionOptions::Measure;
  report.converged = (options.measure == Measure::Scaled || report.residual.published <= options.tolerance) &&
                     (options.measure == Measure::Published || report.residual.scaled <= options.tolerance);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}
