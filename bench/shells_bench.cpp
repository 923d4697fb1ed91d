#include "tendril/shells/patch_motion.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

// Developable patches: time of 10,000 steps of one patch; of a millisecond of a tree with 200 leaves.

namespace tendril {
namespace {

/// The patch of the reference trajectory: 1 s of motion would be 1,000 steps.
template <PatchChart chart> void tenThousandSteps(benchmark::State& run) {
  PatchProperties p{.domain = {0, 1, 0, 0.5}};
  p.natural = ConePoint::toCurvatures(1, 0.3);
  PatchMotionOptions o;
  o.chart = chart, o.gravity = {0, 0, -1};
  for (auto _ : run) {
    PatchMotion motion(UniformPatch(p), o, ConePoint::toCurvatures(0.6, 0.5));
    for (int i = 0; i < 10000; ++i) motion.advance();
    benchmark::DoNotOptimize(motion.curvatures().data());
  }
}
BENCHMARK(tenThousandSteps<PatchChart::Three>)->Unit(benchmark::kMillisecond);
BENCHMARK(tenThousandSteps<PatchChart::Cone>)->Unit(benchmark::kMillisecond);

/// One step of 1 ms of leaves in the wind: real time if it takes less.
void leaves(benchmark::State& run) {
  std::vector<PatchMotion> tree;
  for (int i = 0; i < int(run.range(0)); ++i) {
    PatchProperties p{.domain = {0, 0.12, -0.035, 0.035}, .areaDensity = 0.28, .rigidity = 1.76e-4, .dampingTime = 4e-3};
    p.natural = ConePoint::toCurvatures(-6, 0.5 * std::cos(2.3 * i));
    PatchMotionOptions o;
    o.air = {.density = 1.4, .wind = {6, 0, 0}, .gusts = {"gusts", [](double t) {
                                                            return Jet{0.5 + 0.5 * std::sin(5 * t) * std::sin(1.3 * t)};
                                                          }}};
    tree.emplace_back(UniformPatch(p), o, p.natural);
  }
  for (auto _ : run)
    for (PatchMotion& leaf : tree) leaf.advance();
  run.counters["real time"] = benchmark::Counter(1e-3 * double(run.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(leaves)->Arg(200)->Unit(benchmark::kMillisecond);

}
}
