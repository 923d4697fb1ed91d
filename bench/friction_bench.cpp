#include "tendril/solvers/friction_solver.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "solvers/fc3d_reader.h"

// Time of one friction problem from zero impulses to a residual of 1e-8, one thread: every public file by the default and by each of its
// members. Counters: contacts, residual as published, whether it was reached.
namespace tendril {
namespace {

constexpr struct {
  const char* name;
  FrictionMethod method;
} methods[] = {{"default", FrictionMethod::Automatic},
               {"Gauss-Seidel", FrictionMethod::GaussSeidel},
               {"semismooth Newton", FrictionMethod::SemismoothNewton},
               {"proximal Newton", FrictionMethod::ProximalNewton},
               {"ADMM", FrictionMethod::Admm},
               {"interior point", FrictionMethod::InteriorPoint}};

void solveFile(benchmark::State& state, const std::filesystem::path& file, FrictionMethod method) {
  const FrictionProblem problem = test::readFc3d(file);
  FrictionOptions options;
  options.method = method;
  FrictionSolver solver;
  Eigen::VectorXd r;
  FrictionReport report;
  for (auto _ : state) {
    r.setZero(problem.rows());
    report = solver.solve(problem, options, r);
  }
  state.counters["contacts"] = problem.contacts();
  state.counters["residual"] = report.residual.published;
  state.counters["converged"] = report.converged;
  state.SetLabel(report.method);
}

/// The files are found when the program starts; without them there is nothing to measure.
const bool registered = [] {
  if (!std::filesystem::exists(test::fc3dFolder())) return false;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(test::fc3dFolder()))
    if (entry.path().extension() == ".dat") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files)
    for (const auto& [name, method] : methods)
      benchmark::RegisterBenchmark(("friction/" + file.stem().string() + "/" + name).c_str(), [file,
                                                                                               method = method](benchmark::State& state) {
        solveFile(state, file, method);
      })->Unit(benchmark::kMillisecond);
  return true;
}();

}
}
