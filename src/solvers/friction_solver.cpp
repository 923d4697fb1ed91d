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
  FrictionIslands partition;
  std::vector<int> order;
  FrictionReport report;
  FrictionEffort effort; ///< of which the report's text tells
  Eigen::VectorXd u;

  void solveIslands(const FrictionProblem& problem, const FrictionOptions& options, Eigen::VectorXd& r);
  void summarise(const FrictionProblem& problem, const FrictionOptions& options, const Eigen::VectorXd& r);
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
void FrictionSolver::Impl::solveIslands(const FrictionProblem& problem, const FrictionOptions& options, Eigen::VectorXd& r) {
  partition.find(problem);
  while (int(islands.size()) < partition.count()) islands.emplace_back();
  const double size = problem.q.norm() > 0 ? problem.q.norm() : 1;
  order.resize(std::size_t(partition.count())); // large ones first, so that no thread ends late
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const std::size_t sizeA = partition.contacts(a).size(), sizeB = partition.contacts(b).size();
    return sizeA != sizeB ? sizeA > sizeB : a < b;
  });
  const int threads = problem.contacts() < 64 ? 1 : options.threads;
  forAll(order.size(), threads, [&](std::size_t k) {
    FrictionIsland& island = islands[std::size_t(order[k])];
    const std::vector<int>& contacts = partition.contacts(order[k]);
    island.load(problem, contacts);
    const double share = std::sqrt(double(rowsOf(problem, contacts)) / problem.rows());
    island.solve(options, 0.99 * options.tolerance * size * share, r);
  });
}

void FrictionSolver::Impl::summarise(const FrictionProblem& problem, const FrictionOptions& options, const Eigen::VectorXd& r) {
  FrictionEffort sum;
  report.ambiguous.clear();
  for (int k = 0; k < partition.count(); ++k) {
    sum += islands[std::size_t(k)].effort();
    islands[std::size_t(k)].findAmbiguous(report.ambiguous);
  }
  std::sort(report.ambiguous.begin(), report.ambiguous.end());
  report.islands = partition.count();
  report.sweeps = sum.sweeps;
  report.newtonSteps = sum.newtonSteps;
  report.factorisations = sum.factorisations;
  if (report.method.empty() || sum != effort) report.method = sum.text(); // the same effort has the same text
  effort = sum;
  velocities(problem, r, u);
  report.residual = frictionResidual(problem, r, u);
  report.converged = passes(report.residual, options);
  report.failure.clear();
  if (report.converged) return;
  report.failure = findDefect(problem);
  if (report.failure.empty())
    report.failure =
        fmt::format("the residual stays at {:.2g} (scaled {:.2g}), above {:.2g}, after {}; the largest share is of contact {}",
                    report.residual.published, report.residual.scaled, options.tolerance, report.method, report.residual.worst);
}

const FrictionReport& FrictionSolver::solve(const FrictionProblem& problem, const FrictionOptions& options, Eigen::VectorXd& r) {
  const auto begin = std::chrono::steady_clock::now();
  if (r.size() != problem.rows() || !r.allFinite()) r.setZero(problem.rows());
  impl_->solveIslands(problem, options, r);
  impl_->summarise(problem, options, r);
  impl_->report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return impl_->report;
}

}
