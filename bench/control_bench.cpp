#include "control/arms.h"
#include "tendril/control/optimal_control.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/solvers/ipopt_program.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <numbers>

// Optimal control: time of a solution and of an iteration by the number of intervals, by method and solver; share of building the program.

namespace tendril {
namespace {

constexpr double pi = std::numbers::pi;

OptimalControlOptions manoeuvre(const Mechanism& m, int links, int intervals, TranscriptionMethod method, ProgramSolver solver) {
  const auto angle = [](double value) { return VectorX::Constant(1, value); };
  OptimalControlOptions o{.method = method, .intervals = intervals, .duration = links == 2 ? 1.0 : 2.0};
  for (int k = 0; k < links; ++k) o.actuators.push_back(motorsOf(*m.model, "joint" + std::to_string(k))[0]);
  o.effort.assign(std::size_t(links), 0.5);
  if (links == 2) { // swing up, by the branch in which the second rod folds back
    o.end.configuration = JointMotions{{"joint0", angle(pi)}};
    o.guess = {{0.5, {{"joint0", angle(130.71 * pi / 180)}, {"joint1", angle(-173.2 * pi / 180)}}}};
  } else { // raise the chain sideways
    o.end.configuration = JointMotions{{"joint0", angle(pi / 6)}};
  }
  o.programSolver = solver;
  o.solver.maxIterations = 200;
  return o;
}

void solveControl(benchmark::State& run, int links, TranscriptionMethod method, ProgramSolver solver) {
  if (solver == ProgramSolver::Ipopt && !ipoptAvailable()) return run.SkipWithError("this build has no Ipopt");
  const Mechanism m = hangingRods(links);
  const OptimalControlOptions options = manoeuvre(m, links, int(run.range(0)), method, solver);
  using Clock = std::chrono::steady_clock;
  InteriorPointReport best;
  double building = 0;
  for (auto _ : run) {
    const auto begin = Clock::now();
    OptimalControl control(*m.model, options);
    const double built = std::chrono::duration<double>(Clock::now() - begin).count();
    control.start();
    const InteriorPointReport& report = control.report();
    if (!report.converged()) return run.SkipWithError((std::string(name(report.status)) + ", " + report.message).c_str());
    // The least of all: the machine may be shared.
    building = building > 0 ? std::min(building, built) : built;
    if (best.totalTime == 0 || report.totalTime < best.totalTime) best = report;
  }
  run.counters["iterations"] = best.iterations;
  run.counters["solve_ms"] = 1e3 * best.totalTime;
  run.counters["us_per_iteration"] = 1e6 * best.totalTime / best.iterations;
  run.counters["us_linear_algebra"] = 1e6 * (best.factorisationTime + best.solutionTime) / best.iterations;
  run.counters["us_functions"] = 1e6 * (best.evaluationTime + best.differentiationTime) / best.iterations;
  run.counters["build_percent"] = 100 * building / best.totalTime;
}

void twoLink(benchmark::State& run, TranscriptionMethod method, ProgramSolver solver) { solveControl(run, 2, method, solver); }
void sevenLinks(benchmark::State& run, TranscriptionMethod method, ProgramSolver solver) { solveControl(run, 7, method, solver); }

#define SIZES ArgName("intervals")->Arg(64)->Arg(100)->Arg(512)->Arg(4096)->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(twoLink, dmocc, TranscriptionMethod::Dmocc, ProgramSolver::InteriorPoint)->SIZES;
BENCHMARK_CAPTURE(twoLink, dmoc, TranscriptionMethod::Dmoc, ProgramSolver::InteriorPoint)->SIZES;
BENCHMARK_CAPTURE(twoLink, dmoc_ipopt, TranscriptionMethod::Dmoc, ProgramSolver::Ipopt)->SIZES->Iterations(1);
#undef SIZES
#define SIZE ArgName("intervals")->Arg(200)->Unit(benchmark::kMillisecond)
BENCHMARK_CAPTURE(sevenLinks, dmocc, TranscriptionMethod::Dmocc, ProgramSolver::InteriorPoint)->SIZE;
BENCHMARK_CAPTURE(sevenLinks, dmoc, TranscriptionMethod::Dmoc, ProgramSolver::InteriorPoint)->SIZE;
BENCHMARK_CAPTURE(sevenLinks, dmoc_ipopt, TranscriptionMethod::Dmoc, ProgramSolver::Ipopt)->SIZE->Iterations(1);
#undef SIZE

}
}
