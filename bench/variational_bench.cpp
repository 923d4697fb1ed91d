#include "support/places.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/dynamics/lie_group_variational.h"
#include "tendril/dynamics/variational.h"
#include "tendril/elements/mechanism.h"
#include "tendril/scenes/scene.h"

#include <benchmark/benchmark.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

// Steps of variational integrators: chains by the number of links, closed loops by the way constraints are met.

namespace tendril {
namespace {

/// n rods of 0.1 m on spherical joints, let go from the horizontal (scenes/variational/chain.yaml).
Mechanism chain(int links) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const double length = 0.1;
  const MassProperties rod = MassProperties::cylinder(2700, 0.008, length);
  Matrix3 level;
  level << 0, 0, 1, 0, 1, 0, -1, 0, 0;
  const Pose tail{Matrix3::Identity(), {0, 0, -length / 2}}, head{Matrix3::Identity(), {0, 0, length / 2}};
  const Marker* hook = &b.ground();
  for (int i = 0; i < links; ++i) {
    const std::string number = std::to_string(i + 1);
    const auto link = b.body("link" + number, rod, {level, {(i + 0.5) * length, 0, 0}});
    b.joint(JointKind::Spherical, "joint" + number, *hook, link.at(tail));
    hook = &link.at(head);
  }
  return b.build();
}

template <class Integrator, class Options> void march(benchmark::State& run, const Model& model, const Options& options) {
  double iterations = 0;
  long steps = 0;
  for (auto _ : run) {
    run.PauseTiming();
    Integrator integrator(model, options);
    integrator.start();
    run.ResumeTiming();
    for (; !integrator.finished(); ++steps) iterations += integrator.advance().iterations;
  }
  run.counters["step"] = benchmark::Counter(double(steps), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  run.counters["iterations"] = iterations / double(steps);
}

/// Links, and 0: reduced, 1: null space, 2: multipliers, 3: Lie group variational, 4: generalized-alpha.
void VariationalChainStep(benchmark::State& run) {
  const Mechanism m = chain(int(run.range(0)));
  const double duration = 0.1, h = 1e-3;
  const std::array eliminations{Elimination::Reduced, Elimination::NullSpace, Elimination::Multipliers};
  if (const auto kind = std::size_t(run.range(1)); kind < 3) {
    march<VariationalIntegrator>(run, *m.model, VariationalOptions{.duration = duration, .step = h, .elimination = eliminations[kind]});
  } else if (kind == 3) {
    march<LieGroupVariational>(run, *m.model, LieGroupVariationalOptions{.duration = duration, .step = h});
  } else {
    march<GeneralizedAlpha>(run, *m.model, GeneralizedAlphaOptions{.duration = duration, .step = h});
  }
}
BENCHMARK(VariationalChainStep)->ArgsProduct({{10, 30, 100, 300, 1000}, {0}})->Unit(benchmark::kMillisecond);
BENCHMARK(VariationalChainStep)->ArgsProduct({{10, 30}, {1, 2, 3, 4}})->Unit(benchmark::kMillisecond);

/// Scenes of closed loops by elimination and scheme.
void VariationalLoopStep(benchmark::State& run, const char* scene, const char* method, const char* scheme) {
  const std::vector<std::string> overrides{std::string("method=") + method, std::string("scheme=") + scheme, "duration=0.2"};
  const Scene loaded = Scene::fromFile(test::sourceFolder() + "/scenes/variational/" + scene, overrides);
  double iterations = 0;
  long steps = 0;
  for (auto _ : run) {
    run.PauseTiming();
    const std::unique_ptr<Analysis> analysis = loaded.makeAnalysis();
    analysis->start();
    run.ResumeTiming();
    for (; !analysis->finished(); ++steps) iterations += analysis->advance().iterations;
  }
  run.counters["step"] = benchmark::Counter(double(steps), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  run.counters["iterations"] = iterations / double(steps);
}
BENCHMARK_CAPTURE(VariationalLoopStep, linkage_reduced, "six-body-linkage.yaml", "reduced", "variational")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(VariationalLoopStep, linkage_multiplier, "six-body-linkage.yaml", "multiplier", "variational")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(VariationalLoopStep, linkage_reduced_em, "six-body-linkage.yaml", "reduced", "energy-momentum")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(VariationalLoopStep, swing_reduced, "three-bar-swing.yaml", "reduced", "variational")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(VariationalLoopStep, swing_multiplier, "three-bar-swing.yaml", "multiplier", "variational")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(VariationalLoopStep, swing_reduced_em, "three-bar-swing.yaml", "reduced", "energy-momentum")
    ->Unit(benchmark::kMillisecond);

}
}
