#include "tendril/solvers/friction_solver.h"

#include "friction_island.h"
#include "friction_islands.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <deque>
#include <numeric>
#include <thread>

#include <fmt/format.h>

namespace tendril {

struct FrictionSolver::Impl {
  std::deque<FrictionIsland> islands;
  FrictionReport report;
  Eigen::VectorXd u;

  void solveIslands(const FrictionProblem& problem, const FrictionOptions& options, const std::vector<std::vector<int>>& members,
                    Eigen::VectorXd& r);
  void summarise(const FrictionProblem& problem, const FrictionOptions& options, std::size_t count, const Eigen::VectorXd& r);
};

FrictionSolver::FrictionSolver() : impl_(std::make_unique<Impl>()) {}
FrictionSolver::~FrictionSolver() = default;
FrictionSolver::FrictionSolver(FrictionSolver&&) noexcept = default;
FrictionSolver& FrictionSolver::operator=(FrictionSolver&&) noexcept = default;

namespace {

int rowsOf(const FrictionProblem& problem, const std::vector<int>& contacts) {
  int rows = 0;
  for (const int i : contacts) rows += problem.laws[i].size;
  return rows;
}

/// Calls work(0), ..., work(count - 1), on several threads if asked.
template <class Work> void forAll(std::size_t count, int threads, Work work) {
  std::atomic<std::size_t> next{0};
  const auto run = [&] {
    for (std::size_t k = next++; k < count; k = next++) work(k);
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < std::min<int>(threads, int(count)); ++t) others.emplace_back(run);
  run();
}

bool passes(const FrictionResidual& residual, const FrictionOptions& options) {
  using Measure = FrictionOptions::Measure;
  return (options.measure == Measure::Scaled || residual.published <= options.tolerance) &&
         (options.measure == Measure::Published || residual.scaled <= options.tolerance);
}

}

/// Every island may have the part of the allowed residual that its rows are of all; its result depends on nothing else.
void FrictionSolver::Impl::solveIslands(const FrictionProblem& problem, const FrictionOptions& options,
                                        const std::vector<std::vector<int>>& members, Eigen::VectorXd& r) {
  while (islands.size() < members.size()) islands.emplace_back();
  const double size = problem.q.norm() > 0 ? problem.q.norm() : 1;
  std::vector<std::size_t> order(members.size()); // large ones first, so that no thread ends late
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return members[a].size() > members[b].size(); });
  const int threads = problem.contacts() < 64 ? 1 : options.threads;
  forAll(members.size(), threads, [&](std::size_t k) {
    FrictionIsland& island = islands[order[k]];
    const std::vector<int>& contacts = members[order[k]];
    island.load(problem, contacts);
    const double share = std::sqrt(double(rowsOf(problem, contacts)) / problem.rows());
    island.solve(options, 0.99 * options.tolerance * size * share, r);
  });
}

void FrictionSolver::Impl::summarise(const FrictionProblem& problem, const FrictionOptions& options, std::size_t count,
                                     const Eigen::VectorXd& r) {
  FrictionEffort effort;
  for (std::size_t k = 0; k < count; ++k) {
    effort += islands[k].effort();
    islands[k].findAmbiguous(report.ambiguous);
  }
  std::sort(report.ambiguous.begin(), report.ambiguous.end());
  report.islands = int(count);
  report.sweeps = effort.sweeps;
  report.newtonSteps = effort.newtonSteps;
  report.factorisations = effort.factorisations;
  report.method = effort.text();
  velocities(problem, r, u);
  report.residual = frictionResidual(problem, r, u);
  report.converged = passes(report.residual, options);
  if (report.converged) return;
  report.failure = findDefect(problem);
  if (report.failure.empty())
    report.failure =
        fmt::format("the residual stays at {:.2g} (scaled {:.2g}), above {:.2g}, after {}; the largest share is of contact {}",
                    report.residual.published, report.residual.scaled, options.tolerance, report.method, report.residual.worst);
}

const FrictionReport& FrictionSolver::solve(const FrictionProblem& problem, const FrictionOptions& options, Eigen::VectorXd& r) {
  const auto begin = std::chrono::steady_clock::now();
  impl_->report = {};
  if (r.size() != problem.rows() || !r.allFinite()) r.setZero(problem.rows());
  const std::vector<std::vector<int>> members = findIslands(problem);
  impl_->solveIslands(problem, options, members, r);
  impl_->summarise(problem, options, members.size(), r);
  impl_->report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return impl_->report;
}

}
