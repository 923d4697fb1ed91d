#include "support/places.h"
#include "tendril/contact/line_contacts.h"
#include "tendril/dynamics/nonsmooth_alpha.h"
#include "tendril/model/error.h"
#include "tendril/scenes/scene.h"
#include "tendril/statics/load_stepping.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

// Contact of beams with friction: what a step costs, and how much of it is looking for contacts and evaluating them.
namespace tendril {
namespace {

/// Of this process [s]: other work on the machine does not count.
double processorTime() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// Passes everything on and measures what it takes.
class TimedContacts final : public ContactConstraints {
 public:
  struct Times {
    double search = 0; ///< finding what touches, with gaps, slips and gradients [s]
    double stiffness = 0;
  };

  TimedContacts(const Model& model, const ContactModel& parts, const LineContactOptions& options, Times& times)
      : contacts_(model, parts, options), times_(times) {}

  void begin(const State& accepted, double reach) override {
    measure(times_.search, [&] { contacts_.begin(accepted, reach); });
  }
  void evaluate(const State& state) override {
    measure(times_.search, [&] { contacts_.evaluate(state); });
  }
  void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const override {
    measure(times_.stiffness, [&] { contacts_.stiffness(forces, blocks); });
  }
  std::span<const ContactConstraint> constraints() const override { return contacts_.constraints(); }
  std::span<const GradientEntry> gradient(const ContactConstraint& c) const override { return contacts_.gradient(c); }
  Vector3 drift(const ContactConstraint& c) const override { return contacts_.drift(c); }
  double size() const override { return contacts_.size(); }
  std::string describe(const ContactConstraint& c) const override { return contacts_.describe(c); }

 private:
  template <class Work> static void measure(double& total, Work work) {
    const double begin = processorTime();
    work();
    total += processorTime() - begin;
  }

  LineContacts contacts_;
  Times& times_;
};

/// Makes `skipped` steps, then measures until the analysis ends or has made so many. Counters are means over the steps measured; contacts
/// those that carry a force.
void march(benchmark::State& run, Analysis& analysis, const TimedContacts::Times& times, int skipped, int steps) {
  analysis.start();
  for (int i = 0; i < skipped && !analysis.finished(); ++i) analysis.advance();
  double contacts = 0, iterations = 0, most = 0, overlap = 0, cuts = 0;
  int made = 0;
  const double searchAtStart = times.search, stiffnessAtStart = times.stiffness;
  const double begin = processorTime();
  for (; made < steps && !analysis.finished(); ++made) {
    const StepReport& report = analysis.advance();
    const ContactReport& contact = *analysis.contacts();
    double closed = 0;
    for (const ContactRecord& record : contact.contacts) closed += record.impulse[0] > 0;
    contacts += closed, most = std::max(most, closed), overlap = std::max(overlap, contact.penetration);
    iterations += report.iterations, cuts += report.cuts;
  }
  const double seconds = processorTime() - begin;
  run.counters["unknowns"] = double(analysis.state().v.size());
  run.counters["contacts"] = contacts / made;
  run.counters["most"] = most;
  run.counters["iterations"] = iterations / made;
  run.counters["cuts"] = cuts;
  run.counters["ms/step"] = 1e3 * seconds / made;
  run.counters["us/contact/iteration"] = 1e6 * seconds * made / (contacts * iterations);
  run.counters["search_%"] = 100 * (times.search - searchAtStart) / seconds;
  run.counters["stiffness_%"] = 100 * (times.stiffness - stiffnessAtStart) / seconds;
  run.counters["overlap"] = overlap;
}

/// Fibres of the scene hair-drop that fall on a ball and on one another.
void hairDrop(benchmark::State& run) {
  const std::vector<std::string> overrides{"N=" + std::to_string(run.range(0))};
  const Scene scene = Scene::fromFile(test::sourceFolder() + "/scenes/beam-contact/hair-drop.yaml", overrides);
  const Model& model = *scene.mechanism().model;
  for (auto _ : run) {
    TimedContacts::Times times;
    NonsmoothAlphaOptions options;
    options.smooth.duration = 0.1;
    options.smooth.step = 1e-3;
    options.smooth.rhoInfinity = 0.6;
    NonsmoothAlpha analysis(model, options, scene.contacts(),
                            std::make_unique<TimedContacts>(model, scene.contacts(), LineContactOptions{}, times));
    try {
      march(run, analysis, times, int(run.range(1)), int(run.range(2)));
    } catch (const NumericalFailure& failure) {
      run.SkipWithError(failure.what());
    }
  }
}

BENCHMARK(hairDrop)
    ->Name("BeamContact/hair_drop")
    ->ArgNames({"fibres", "skipped", "steps"})
    ->Args({60, 0, 30})
    ->Args({60, 30, 30})
    ->Args({125, 0, 30})
    ->Args({125, 30, 10})
    ->Args({250, 0, 30})
    ->Args({500, 0, 30})
    ->Args({500, 30, 5})
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

/// A strand of 7, 19 or 37 wires that is pulled, then turned.
void strand(benchmark::State& run) {
  const std::vector<std::string> overrides{"wires=" + std::to_string(run.range(0)), "elements=" + std::to_string(run.range(1)),
                                           "pitches=" + std::to_string(run.range(1) / 50)};
  const Scene scene = Scene::fromFile(test::sourceFolder() + "/bench/beam_contact_strand.yaml", overrides);
  const Model& model = *scene.mechanism().model;
  for (auto _ : run) {
    TimedContacts::Times times;
    LoadSteppingOptions options;
    options.steps = 10;
    options.grow = false;
    LoadStepping analysis(model, options, scene.contacts(),
                          std::make_unique<TimedContacts>(model, scene.contacts(), LineContactOptions{}, times));
    try {
      march(run, analysis, times, 0, int(run.range(2)));
    } catch (const NumericalFailure& failure) {
      run.SkipWithError(failure.what());
    }
  }
}

BENCHMARK(strand)
    ->Name("BeamContact/strand")
    ->ArgNames({"wires", "elements", "steps"})
    ->Args({7, 50, 10})
    ->Args({7, 100, 10})
    ->Args({7, 200, 10})
    ->Args({19, 50, 10})
    ->Args({19, 100, 10})
    ->Args({19, 200, 10})
    ->Args({37, 50, 10})
    ->Unit(benchmark::kSecond)
    ->Iterations(1);

}
}
