#include "app/commands.h"
#include "app/progress_bar.h"
#include "app/stop_request.h"
#include "tendril/io/run.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

namespace tendril::app {

namespace {

struct Options {
  RunOptions run;
  RunDisplay display;
};

std::string valueText(const Summary::Output& output) {
  constexpr std::size_t shown = 6;
  if (std::all_of(output.values.begin(), output.values.end(), [](double value) { return std::isnan(value); })) return "not defined";
  std::string text;
  for (std::size_t i = 0; i < std::min(output.values.size(), shown); ++i)
    text += fmt::format("{}{:.8g}", i > 0 ? "  " : "", output.values[i]);
  if (output.values.size() > shown) text += fmt::format("  ... ({} numbers)", output.values.size());
  return output.unit == "1" ? text : text + " " + output.unit;
}

void printTable(const RunOutcome& outcome) {
  std::size_t width = 0;
  for (const auto& [name, output] : outcome.summary.outputs) width = std::max(width, name.size());
  for (const auto& [name, output] : outcome.summary.outputs) {
    fmt::print("  {:<{}}  {}\n", name, width, valueText(output));
  }
}

std::string verdict(const RunOutcome& outcome) {
  const Summary& summary = outcome.summary;
  const double seconds = summary.time.at("total");
  switch (outcome.status) {
  case RunStatus::Success:
    return fmt::format("Done: {} steps, {:.1f} Newton iterations a step, {:.3g} s.", summary.steps, summary.newton.average, seconds);
  case RunStatus::Failed:
    return fmt::format("Failed after {} steps; what was computed is kept.", summary.steps);
  default:
    return summary.steps == 0 ? "Stopped before the first step."
                              : fmt::format("Stopped after {} steps; continue with --resume.", summary.steps);
  }
}

void printForPeople(const RunOutcome& outcome) {
  printTable(outcome);
  for (const std::string& message : outcome.summary.messages) {
    if (message != outcome.message) fmt::print("  note: {}\n", message);
  }
  fmt::print("{}\nResults in {}\n", verdict(outcome), outcome.folder.string());
}

}

int runScene(RunOptions options, const RunDisplay& display) {
  catchStopSignals();
  ProgressBar bar;
  options.stop = stopRequested;
  if (!display.quiet) options.progress = [&bar](const RunProgress& progress) { bar.show(progress); };
  if (display.quiet) options.terminalLevel = LogLevel::Error;
  const RunOutcome outcome = run(options);
  bar.wipe();
  if (outcome.wasComplete) {
    if (display.json)
      fmt::print("{}\n", nlohmann::ordered_json::parse(std::ifstream(outcome.folder / "summary.json")).dump());
    else if (!display.quiet)
      fmt::print("Nothing to do: {}.\n", outcome.message);
    return Success;
  }
  if (display.json)
    fmt::print("{}\n", nlohmann::ordered_json::parse(outcome.summary.json()).dump());
  else if (!display.quiet)
    printForPeople(outcome);
  if (outcome.status == RunStatus::Success) return Success;
  fmt::print(stderr, "error: {}\n", outcome.message);
  return outcome.status == RunStatus::Failed ? NumericsFailed : Stopped;
}

void addRun(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("run", "Run a scene; leaves a folder with summary.json, results.h5 and log.txt");
  const auto options = std::make_shared<Options>();
  command->add_option("scene", options->run.scene, "Scene file (YAML)")->required();
  command->add_option("-o,--output", options->run.folder, "Result folder (default: NAME.result in the current folder)");
  addRepeated(*command, "--set", options->run.overrides, "Set a parameter, NAME=VALUE, or any value, path.to.key=VALUE; may be repeated");
  command->add_flag("--resume", options->run.resume, "Continue from the last checkpoint in the result folder");
  command->add_flag("--json", options->display.json, "Print the summary as one line of JSON on stdout");
  command->add_flag("--quiet", options->display.quiet, "Print errors only");
  command->add_option("--checkpoint-every", options->run.checkpointEvery, "Steps between two checkpoints")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--checkpoint-seconds", options->run.checkpointSeconds, "Least time between two checkpoint files [s]")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->callback([options, &action] { action = [options] { return runScene(options->run, options->display); }; });
}

}
