#include "support/places.h"
#include "tendril/analysis/single_contacts.h"
#include "tendril/io/scene.h"

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

void watchPile(benchmark::State& run) {
  const std::vector<std::string> overrides{"N=" + std::to_string(run.range(0)), "duration=0.35"};
  const Scene scene = Scene::fromFile(test::sourceFolder() + "/scenes/contact/pile.yaml", overrides);
  for (auto _ : run) {
    const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
    SingleContacts watch(*scene.mechanism().model, scene.contacts());
    analysis->start();
    double own = 0, watched = 0, contacts = 0;
    long steps = 0;
    for (; !analysis->finished(); ++steps) {
      const double begin = processorTime();
      analysis->advance();
      const double between = processorTime();
      watch.look(analysis->state(), *analysis->contacts());
      watched += processorTime() - between, own += between - begin;
      contacts = double(analysis->contacts()->contacts.size());
    }
    run.counters["contacts"] = contacts;
    run.counters["ms/step"] = 1e3 * own / double(steps);
    run.counters["watch_us/step"] = 1e6 * watched / double(steps);
    run.counters["watch_%"] = 100 * watched / own;
  }
}

BENCHMARK(watchPile)->Name("Solvability/pile")->Arg(125)->Arg(620)->Unit(benchmark::kSecond)->Iterations(1);

}
}
