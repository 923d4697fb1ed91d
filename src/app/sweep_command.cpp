#include "app/commands.h"
#include "app/progress_bar.h"
#include "app/slurm_script.h"
#include "app/stop_request.h"
#include "tendril/model/error.h"
#include "tendril/studies/ranks.h"
#include "tendril/studies/study.h"

#include <fmt/format.h>

#include <memory>
#include <optional>

namespace tendril::app {

namespace {

namespace fs = std::filesystem;

struct Options {
  fs::path scene, folder, points, slurm;
  std::vector<std::string> over, overrides;
  std::string design = "grid";
  std::size_t samples = 0;
  std::uint64_t seed = 1;
  bool keeps = false, replaces = false;
  int jobs = 0;
};

Design designOf(const Options& options) {
  const bool isSampled = options.design == "lhs" || options.design == "sobol";
  if (!isSampled && options.samples > 0)
    throw InputError("--samples goes with --design lhs or sobol; a " + options.design + " has the points that its values make");
  if (!options.points.empty()) {
    if (!options.over.empty() || isSampled)
      throw InputError("--points is a list of its own; leave out --over and --design " + options.design);
    return Design::table(options.points);
  }
  std::vector<StudyAxis> axes;
  for (const std::string& text : options.over) axes.push_back(StudyAxis::parse(text));
  if (options.design == "list") return Design::list(std::move(axes));
  if (options.design == "lhs") return Design::latinHypercube(std::move(axes), options.samples, options.seed);
  if (options.design == "sobol") return Design::sobol(std::move(axes), options.samples, options.seed);
  return Design::grid(std::move(axes));
}

int report(const StudyOutcome& outcome) {
  for (const StudyFailure& failure : outcome.failures)
    fmt::print("  {} ({})  {}: {}\n", failure.run, failure.values, failure.status, failure.message);
  const std::size_t open = outcome.count("not run"), failed = outcome.runs - outcome.succeeded() - open;
  if (failed > outcome.failures.size()) fmt::print("  and {} more that did not succeed\n", failed - outcome.failures.size());
  for (const auto& [output, count] : outcome.undefined)
    fmt::print("  {} is not defined in {} of {} runs that succeeded\n", output, count, outcome.succeeded());
  if (outcome.found > 0) fmt::print("{} runs were there from an earlier start.\n", outcome.found);
  fmt::print("{} of {} runs succeeded. Table in {}\n", outcome.succeeded(), outcome.runs, outcome.table.string());
  if (open > 0) fmt::print("Stopped: {} runs are left; the same command goes on.\n", open);
  if (open > 0 && stopRequested()) return Stopped;
  return outcome.succeeded() == outcome.runs ? Success : NumericsFailed;
}

/// The ranks but the root are silent: what is to be said, the root says.
int runOnRanks(Ranks& ranks, const Options& options) try {
  ProgressBar bar;
  catchStopSignals();
  std::optional<Design> design;
  agree(ranks, "the points of the study", [&] { return design.emplace(designOf(options)).description(); });
  const StudyOutcome outcome = runStudy(ranks, {.scene = options.scene,
                                                .overrides = options.overrides,
                                                .design = *design,
                                                .folder = options.folder,
                                                .keepsRuns = options.keeps,
                                                .replaces = options.replaces,
                                                .workers = options.jobs,
                                                .stop = stopRequested,
                                                .progress = [&](std::size_t done, std::size_t all) { bar.show(done, all); }});
  bar.wipe();
  return ranks.isRoot() ? report(outcome) : int(Success);
} catch (const Error&) {
  if (ranks.isRoot()) throw;
  return Success;
}

int sweep(const Options& options) {
  if (!options.slurm.empty()) {
    checkStudy({.scene = options.scene, .overrides = options.overrides, .design = designOf(options)});
    writeSlurmScript(options.slurm, options.scene);
    fmt::print("{}\nSubmit it with: sbatch {}\n", options.slurm.string(), options.slurm.string());
    return Success;
  }
  Ranks ranks;
  return isLeftToRoot(ranks, options.jobs) ? Success : runOnRanks(ranks, options);
}

}

void addSweep(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("sweep", "Run a scene at many points of its parameters, several runs at a time; writes sweep.csv");
  const auto options = std::make_shared<Options>();
  command->add_option("scene", options->scene, "Scene file (YAML)")->required();
  addRepeated(*command, "--over", options->over,
              "What varies: NAME=VALUE,VALUE,... or NAME=FROM:TO:COUNT; a range NAME=FROM:TO for samples")
      ->type_name("NAME=RANGE");
  command->add_option("--points", options->points, "Points as a table (CSV), names in its first line")->type_name("FILE");
  command->add_option("--design", options->design, "grid (all combinations), list (side by side), lhs (Latin hypercube) or sobol")
      ->capture_default_str()
      ->check(CLI::IsMember({"grid", "list", "lhs", "sobol"}));
  command->add_option("--samples", options->samples, "Number of points of lhs and sobol")->check(wholeNumber());
  command->add_option("--seed", options->seed, "Seed of lhs and sobol: the same seed, the same points")
      ->capture_default_str()
      ->check(wholeNumber());
  addRepeated(*command, "--set", options->overrides, "Set a parameter for all runs, NAME=VALUE; may be repeated");
  command->add_option("-o,--output", options->folder, "Folder of the study (default: NAME.sweep); one that was broken off goes on");
  command->add_flag("--keep", options->keeps, "Leave the result folder of each run in it, 0001, 0002, ...");
  command->add_flag("--replace", options->replaces, "Remove the study that the folder holds, and begin anew");
  command->add_option("-j,--jobs", options->jobs, "Runs at a time, of each rank (default: one per core; under mpirun one)")
      ->check(CLI::PositiveNumber);
  command->add_option("--slurm", options->slurm, "Write a job script for Slurm with this command, and run nothing")->type_name("FILE");
  command->callback([options, &action] { action = [options] { return sweep(*options); }; });
}

}
