#include "support/places.h"
#include "tendril/analysis/single_contacts.h"
#include "tendril/scenes/scene.h"

#include <benchmark/benchmark.h>

#include <ctime>
#include <memory>
#include <string>
#include <vector>

// What it costs to watch the sliding contacts of a run: the margin of every one of them after each step.
namespace tendril {
namespace {

/// Of this process [s]: other work on the machine does not count.
double processorTime() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Steps from `skipped` on, each followed by a look at its contacts.
void watch(benchmark::State& run, const std::string& file, const std::vector<std::string>& overrides, long skipped) {
  const Scene scene = Scene::fromFile(test::sourceFolder() + "/scenes/" + file, overrides);
  for (auto _ : run) {
    const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
    SingleContacts single(*scene.mechanism().model, scene.contacts());
    if (!single.isWatchable()) return run.SkipWithError("not watchable");
    analysis->start();
    double own = 0, watched = 0, contacts = 0, sliding = 0;
    long steps = 0;
    for (long i = 0; !analysis->finished(); ++i) {
      const double begin = processorTime();
      analysis->advance();
      const double between = processorTime();
      if (i < skipped) continue;
      single.look(analysis->state(), *analysis->contacts());
      watched += processorTime() - between, own += between - begin;
      for (const ContactRecord& record : analysis->contacts()->contacts) contacts += record.impulse[0] > 0;
      sliding += single.sliding();
      ++steps;
    }
    run.counters["contacts"] = contacts / double(steps);
    run.counters["sliding"] = sliding / double(steps);
    run.counters["ms/step"] = 1e3 * own / double(steps);
    run.counters["watch_ms/step"] = 1e3 * watched / double(steps);
    run.counters["watch_%"] = 100 * watched / own;
  }
}

/// Balls on balls: the steps from the first contacts on.
void pile(benchmark::State& run) { watch(run, "contact/pile.yaml", {"N=" + std::to_string(run.range(0)), "duration=0.35"}, 40); }

/// Fibres on a ball and on one another.
void fibres(benchmark::State& run) {
  watch(run, "beam-contact/hair-drop.yaml", {"N=" + std::to_string(run.range(0)), "duration=0.04"}, 30);
}

BENCHMARK(pile)->Name("Solvability/pile")->Arg(125)->Arg(620)->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(fibres)->Name("Solvability/fibres")->Arg(60)->Unit(benchmark::kSecond)->Iterations(1);

}
}
