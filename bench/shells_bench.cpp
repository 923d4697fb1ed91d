#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/elements/joints.h"
#include "tendril/lie/so3.h"
#include "tendril/shells/patch_motion.h"
#include "tendril/shells/strip.h"
#include "tendril/statics/minimum_energy.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <numbers>
#include <vector>

// Developable patches: time of 10,000 steps of one patch; of a millisecond of a tree with 200 leaves; of a ring that is turned to a Moebius
// band; of a step of a ribbon that swings.

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

StripOptions ribbon(int patches, double bend, double natural) {
  StripOptions o;
  o.properties.domain = {0, 1, 0, 0.1};
  for (int i = 0; i < patches; ++i) o.patches.push_back({.bend = bend, .natural = {natural, 0, 0}});
  return o;
}

ShellPart addHeldStrip(ModelBuilder& builder, const StripOptions& options) {
  const ShellPart strip = addStrip(builder, "ribbon", options);
  builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("", builder.pose(strip.frame)),
                             builder.bodyMarker("", strip.frame));
  return strip;
}

void moebiusBand(benchmark::State& run) {
  ModelBuilder builder;
  const ShellPart strip = addHeldStrip(builder, ribbon(int(run.range(0)), 2 * std::numbers::pi, 0));
  GroundMotion turn;
  turn.axis = Vector3::UnitX();
  turn.angle = {"half a turn", [](double t) { return Jet{std::numbers::pi * t, std::numbers::pi, 0}; }};
  builder.term<Joints>().add(JointKind::Fixed, "glue", builder.movingMarker("", builder.pose(strip.end), turn),
                             builder.bodyMarker("", strip.end));
  const auto model = builder.build();
  for (auto _ : run) {
    MinimumEnergy search(*model, {.steps = 10});
    search.start();
    while (!search.finished()) search.advance();
    run.counters["energy"] = model->energy(search.state()).elastic;
  }
}
BENCHMARK(moebiusBand)->RangeMultiplier(2)->Range(20, 80)->Unit(benchmark::kMillisecond)->Iterations(1);

void swingingStrip(benchmark::State& run) {
  ModelBuilder builder;
  builder.setGravity({{0, 0, -9.81}, TimeFunction::constant()});
  StripOptions options = ribbon(int(run.range(0)), 3, 3);
  options.frame.R = so3::exp({0.7, 0, 0});
  addHeldStrip(builder, options);
  const auto model = builder.build();
  GeneralizedAlphaOptions alpha;
  alpha.duration = 1, alpha.step = 2e-3, alpha.rhoInfinity = 0.99;
  GeneralizedAlpha motion(*model, alpha);
  motion.start();
  for (auto _ : run) motion.advance();
}
BENCHMARK(swingingStrip)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond)->Iterations(50);

}
}
