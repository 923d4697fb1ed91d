#include "app/commands.h"
#include "app/stop_request.h"
#include "tendril/model/error.h"
#include "tendril/scenes/certification.h"
#include "tendril/scenes/scene.h"
#include "tendril/studies/certification_study.h"
#include "tendril/studies/point_sharing.h"
#include "tendril/studies/ranks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>

namespace tendril::app {

namespace {

namespace fs = std::filesystem;

struct Options {
  RunOptions run;
  RunDisplay display;
  std::optional<std::uint64_t> samples, seed;
  int workers = 0;
};

/// The certification of the scene, as every rank has to build it.
std::unique_ptr<Analysis> build(const Scene& scene) {
  if (!scene.certification())
    throw InputError({scene.document().fileName()}, "certify", "the scene says neither what is uncertain nor what must not fail",
                     "add `uncertain` and `certify`, or use tendril run");
  return scene.makeAnalysis();
}

/// The ranks but the root are silent: what is to be said, the root says.
int certifyOnRanks(Ranks& ranks, Options options) try {
  std::optional<Scene> scene;
  std::unique_ptr<Analysis> analysis;
  agree(ranks, "the scene: its text or the values that are set differ", [&] {
    scene.emplace(Scene::fromFile(options.run.scene, options.run.overrides));
    analysis = build(*scene);
    return fmt::format("{}\n{}", fmt::join(options.run.overrides, "\n"), scene->document().text());
  });
  if (!ranks.isRoot()) {
    servePoints(ranks, dynamic_cast<const Certification&>(*analysis).worker(), options.workers);
    return Success;
  }
  options.run.sharing = onWorkers(ranks, options.workers, stopRequested);
  const fs::path folder = options.run.folder.empty() ? defaultResultFolder(options.run.scene) : options.run.folder;
  options.run.certified = [&](const Certification& certification) {
    writeCertificationStudy(folder / "samples", certification, options.run.scene.string(), options.run.overrides);
  };
  return runScene(options.run, options.display);
} catch (const Error&) {
  if (ranks.isRoot()) throw;
  return Success;
}

int certifyScene(Options options) {
  if (options.samples) options.run.overrides.push_back(fmt::format("certify.samples={}", *options.samples));
  if (options.seed) options.run.overrides.push_back(fmt::format("certify.seed={}", *options.seed));
  catchStopSignals();
  Ranks ranks;
  return isLeftToRoot(ranks, options.workers, options.display.quiet) ? Success : certifyOnRanks(ranks, std::move(options));
}

}

void addCertify(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("certify", "Bound the probability of failure of a scene under uncertainty; leaves a folder as run does");
  const auto options = std::make_shared<Options>();
  command->add_option("scene", options->run.scene, "Scene file (YAML) with `uncertain` and `certify`")->required();
  command->add_option("-o,--output", options->run.folder, "Result folder (default: NAME.result in the current folder)");
  addRepeated(*command, "--set", options->run.overrides, "Set a parameter, NAME=VALUE, or any value, path.to.key=VALUE; may be repeated");
  command->add_option("--samples", options->samples, "Samples, instead of those of the scene")->check(CLI::PositiveNumber & wholeNumber());
  command->add_option("--seed", options->seed, "Seed of the random numbers, instead of that of the scene")->check(wholeNumber());
  command->add_option("-j,--jobs", options->workers, "Workers (of each process of a job); default: one per core")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->display.json, "Print the summary as one line of JSON on stdout");
  command->add_flag("--quiet", options->display.quiet, "Print errors only");
  command->callback([options, &action] { action = [options] { return certifyScene(*options); }; });
}

}
