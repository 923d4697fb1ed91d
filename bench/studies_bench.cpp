#include "support/places.h"
#include "tendril/scenes/scene.h"
#include "tendril/studies/forward_run.h"
#include "tendril/studies/ranks.h"
#include "tendril/studies/scheduler.h"

#include <benchmark/benchmark.h>

#include <string>

// Forward runs per second of one core, what of them is not stepping, and what handing out costs.

namespace tendril {
namespace {

std::string sceneFile(const char* name) { return test::sourceFolder() + "/scenes/" + name + ".yaml"; }

/// A whole run with one value set.
void forwardRun(benchmark::State& state, const char* scene, const char* parameter, double value) {
  const ForwardRun run = ForwardRun::fromFile(sceneFile(scene));
  long steps = 0;
  for (auto _ : state) {
    const ForwardResult result = run({ForwardRun::assign(parameter, value)});
    if (!result.isSuccess()) return state.SkipWithError(result.message.c_str());
    steps = result.steps;
  }
  state.counters["runs"] = benchmark::Counter(double(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["steps"] = double(steps);
}

/// The same without the run: the scene is read and built, and everything in it is checked.
void building(benchmark::State& state, const char* scene, const char* parameter, double value) {
  const ForwardRun run = ForwardRun::fromFile(sceneFile(scene));
  const std::vector<std::string> overrides{ForwardRun::assign(parameter, value)};
  for (auto _ : state) run.check(overrides);
}

/// The same from the file, as `tendril run` does.
void reading(benchmark::State& state, const char* scene, const char* parameter, double value) {
  const std::vector<std::string> overrides{ForwardRun::assign(parameter, value)};
  for (auto _ : state) Scene::fromFile(sceneFile(scene), overrides);
}

#define TENDRIL_STUDY_SCENE(name, scene, parameter, value)                                                                                 \
  BENCHMARK_CAPTURE(forwardRun, name, scene, parameter, value)->Unit(benchmark::kMicrosecond);                                             \
  BENCHMARK_CAPTURE(building, name, scene, parameter, value)->Unit(benchmark::kMicrosecond);                                               \
  BENCHMARK_CAPTURE(reading, name, scene, parameter, value)->Unit(benchmark::kMicrosecond)

TENDRIL_STUDY_SCENE(block_slide, "contact/block-slide", "mu", 0.31);
TENDRIL_STUDY_SCENE(pendulum, "variational/pendulum", "h", 0.01);
TENDRIL_STUDY_SCENE(roll_up, "beams/roll-up", "turns", 0.7);
TENDRIL_STUDY_SCENE(four_bar, "mechanisms/four-bar", "h", 0.01);

/// 10 000 tasks of nothing, by two workers.
void handingOut(benchmark::State& state) {
  Ranks ranks;
  Scheduler scheduler(ranks, [](std::string_view task) { return std::string(task); }, {.workers = 2});
  constexpr std::size_t tasks = 10000;
  for (auto _ : state)
    scheduler.run(
        tasks, [](std::size_t task) { return std::to_string(task); }, [](std::size_t, TaskEnd, const std::string&) {});
  state.counters["tasks"] = benchmark::Counter(double(tasks * std::size_t(state.iterations())), benchmark::Counter::kIsRate);
}
BENCHMARK(handingOut)->Unit(benchmark::kMillisecond)->UseRealTime();

}
}
