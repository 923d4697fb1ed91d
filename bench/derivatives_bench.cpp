#include "control/forward_runs.h"

#include <benchmark/benchmark.h>

// Derivatives of forward runs: a run, the adjoint and the tangent mode along it, and the function of everything with its gradient; by the
// number of steps for the robot arm, by the number of links for a chain.

namespace tendril {
namespace {

enum Work { Set, Run, Adjoint, Tangent };

void work(benchmark::State& state, const ForwardSample& s, const MatrixX& controls) {
  const auto kind = Work(state.range(1));
  ForwardPath path = s.path();
  path.run(controls);
  const ForwardPath::Change change{.controls = MatrixX::Ones(controls.rows(), controls.cols())};
  for (auto _ : state) {
    if (kind == Set) benchmark::DoNotOptimize(s.path().actuators());
    if (kind == Run) path.run(controls);
    if (kind == Adjoint) benchmark::DoNotOptimize(path.differentiate(s.function).value);
    if (kind == Tangent) benchmark::DoNotOptimize(path.differentiate(s.function, change));
  }
}

/// Steps, and the work.
void ForwardArm(benchmark::State& state) {
  const int steps = int(state.range(0));
  work(state, robotArm({}, steps), armControls(steps, 1));
}
BENCHMARK(ForwardArm)->ArgsProduct({{15, 60, 240}, {Set, Run, Adjoint, Tangent}})->Unit(benchmark::kMicrosecond);

/// Links, and the work; 20 steps of 5 ms.
void ForwardChain(benchmark::State& state) {
  ForwardSample s{
      .mechanism = std::make_shared<Mechanism>(hangingRods(int(state.range(0)))), .actuators = {}, .function = {}, .options = {}};
  s.actuators = motors(*s.mechanism, {"joint0", "joint1"});
  PathRow row{.name = "way", .products = {}, .linear = {}};
  row.add({PathPart::Node, int(s.mechanism->model->nq()) - 12}, 1);
  s.function = valueOf(row, 20);
  s.options = {.steps = 20, .duration = 0.1};
  work(state, s, MatrixX::Ones(2, 20));
}
BENCHMARK(ForwardChain)->ArgsProduct({{10, 30, 100}, {Run, Adjoint, Tangent}})->Unit(benchmark::kMicrosecond);

/// The robot arm as a function of six parameters and 180 controls; 0: value, 1: value and gradient.
void ForwardArmFunction(benchmark::State& state) {
  const VectorX c = ArmParameters{}.vector();
  ForwardFunction f([](const VectorX& p) { return robotArm(ArmParameters::of(p)).asCase(); }, {.steps = 15, .duration = 1.5}, c);
  VectorX x(f.size()), gradient;
  x << c, armControls().reshaped();
  for (auto _ : state) {
    x[0] = x[0] == c[0] ? 1.01 * c[0] : c[0]; // other parameters every time: a new model
    benchmark::DoNotOptimize(f(x, state.range(0) ? &gradient : nullptr));
  }
}
BENCHMARK(ForwardArmFunction)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

}
}
