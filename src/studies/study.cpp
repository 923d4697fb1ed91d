#include "tendril/studies/study.h"

#include "studies/journal.h"
#include "studies/study_files.h"
#include "tendril/documents/atomic_file.h"
#include "tendril/documents/csv.h"
#include "tendril/documents/fingerprint.h"
#include "tendril/documents/folder_lock.h"
#include "tendril/io/checkpoint.h"
#include "tendril/io/run.h"
#include "tendril/model/error.h"
#include "tendril/scenes/scene.h"
#include "tendril/studies/forward_run.h"
#include "tendril/studies/ranks.h"
#include "tendril/studies/scheduler.h"
#include "tendril/studies/study_table.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace tendril {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string textOf(const Json& json, int indent = -1) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

Json recordOf(const std::string& status, const std::string& message, const std::vector<std::string>& values,
              const std::map<std::string, Summary::Output>& outputs = {}) {
  Json record{{"status", status}, {"message", message}, {"values", values}, {"outputs", Json::object()}};
  for (const auto& [name, output] : outputs) {
    const bool isArray = output.isArray || output.values.size() != 1;
    record["outputs"][name] = {{"value", isArray ? Json(output.values) : Json(output.values[0])}, {"unit", output.unit}};
  }
  return record;
}

/// What the machine did may be otherwise next time.
bool isWorthAnotherTry(const Json& record) { return record.at("status") == "killed" || record.at("status") == "error"; }

/// A study: what is run, and where its results go.
class Study {
 public:
  explicit Study(const StudyOptions& options)
      : options_(options), run_(ForwardRun::fromFile(options.scene, options.overrides)), names_(options.design.names()),
        folder_(options.folder.empty() ? defaultStudyFolder(options.scene) : options.folder) {
    refuseCommonMistake();
  }

  /// What determines the results.
  Json identity() const {
    const Design& design = options_.design;
    return {{"version", version()},
            {"scene_fingerprint", fmt::format("{:016x}", fingerprint(run_.source().text()))},
            {"set", options_.overrides},
            {"design",
             {{"kind", design.kind()},
              {"names", names_},
              {"points", design.size()},
              {"seed", design.seed()},
              {"fingerprint", fmt::format("{:016x}", fingerprint(design.description()))}}}};
  }

  /// The record of a run, made by a worker.
  std::string execute(std::string_view task) const;
  StudyOutcome conduct(Scheduler& scheduler);

 private:
  std::vector<std::string> overridesOf(const std::vector<std::string>& values) const;
  std::string describe(const std::vector<std::string>& values) const;
  std::string label(std::size_t run) const { return study::label(run, options_.design.size()); }
  void refuseCommonMistake() const;
  void occupyFolder();
  bool workOff(Scheduler& scheduler, StudyOutcome& outcome) const;
  bool holdsThisStudy() const;
  void writeDescription(const std::string& status, const StudyOutcome& outcome) const;
  void writeTable(StudyOutcome& outcome) const;

  const StudyOptions& options_;
  ForwardRun run_;
  std::vector<std::string> names_;
  fs::path folder_;
};

std::vector<std::string> Study::overridesOf(const std::vector<std::string>& values) const {
  std::vector<std::string> overrides;
  for (std::size_t i = 0; i < names_.size(); ++i) overrides.push_back(names_[i] + "=" + values[i]);
  return overrides;
}

std::string Study::describe(const std::vector<std::string>& values) const {
  std::string text;
  for (const std::string& entry : overridesOf(values)) text += (text.empty() ? "" : ", ") + entry;
  return text;
}

/// A mistake that spoils every run is told once, before anything runs; one that comes with a value belongs to its run.
void Study::refuseCommonMistake() const {
  constexpr std::size_t most = 200;
  const std::size_t points = options_.design.size(), tries = std::min(points, most);
  std::optional<InputError> first;
  for (std::size_t i = 0; i < tries; ++i) {
    try {
      return run_.check(overridesOf(options_.design.point(tries > 1 ? i * (points - 1) / (tries - 1) : 0)));
    } catch (const InputError& error) {
      if (!first) first = error;
    }
  }
  throw InputError(*first);
}

std::string Study::execute(std::string_view task) const {
  const std::size_t number = std::stoul(std::string(task));
  const std::vector<std::string> values = options_.design.point(number);
  if (!options_.keepsRuns) {
    const ForwardResult result = run_(overridesOf(values), options_.stop);
    return textOf(recordOf(std::string(nameOf(result.end)), result.message, values, result.outputs));
  }
  try {
    std::vector<std::string> overrides = options_.overrides;
    for (const std::string& entry : overridesOf(values)) overrides.push_back(entry);
    const RunOutcome outcome = run(Scene::fromSource(run_.source(), overrides), // the file may be another one by now
                                   {.folder = folder_ / label(number), .terminalLevel = LogLevel::Error, .stop = options_.stop});
    if (outcome.status == RunStatus::Success) return textOf(recordOf("success", "", values, outcome.summary.outputs));
    const RunEnd end = outcome.status == RunStatus::Failed ? RunEnd::Failed : RunEnd::Interrupted;
    return textOf(recordOf(std::string(nameOf(end)), outcome.message, values));
  } catch (const InputError& error) {
    return textOf(recordOf("wrong input", error.what(), values));
  } catch (const std::exception& error) {
    return textOf(recordOf("error", error.what(), values));
  }
}

bool Study::holdsThisStudy() const {
  std::ifstream file(study::descriptionFile(folder_));
  const Json found = Json::parse(file, nullptr, false);
  if (!found.is_object())
    throw InputError({folder_.string()}, "folder of the study", "its study.json is damaged",
                     "choose another folder with -o, or replace that study with --replace");
  const Json own = identity();
  for (const auto& [key, value] : own.items()) {
    if (!found.contains(key) || found[key] != value) {
      throw InputError({folder_.string()}, "folder of the study",
                       key == "version" ? "it holds the study of another version of tendril"
                                        : "it holds another study (its " + key + " differs)",
                       "choose another folder with -o, or replace that study with --replace");
    }
  }
  return true;
}

void Study::occupyFolder() {
  std::error_code status;
  if (!options_.replaces && isStudyFolder(folder_) && holdsThisStudy()) return;
  study::clearFolder(folder_);
  replaceFile(study::sceneFile(folder_), run_.source().text());
  writeDescription("running", {});
}

StudyOutcome Study::conduct(Scheduler& scheduler) {
  std::error_code status;
  fs::create_directories(folder_, status);
  if (status) throw MachineFailure("cannot create the folder " + folder_.string() + ": " + status.message() + "; choose another with -o");
  const FolderLock lock(folder_, std::chrono::seconds(3));
  occupyFolder();

  StudyOutcome outcome;
  outcome.folder = folder_;
  outcome.table = study::tableFile(folder_);
  outcome.runs = options_.design.size();
  const bool isComplete = workOff(scheduler, outcome);
  writeTable(outcome);
  writeDescription(isComplete ? "complete" : "interrupted", outcome);
  return outcome;
}

/// Runs what the journal does not have yet, or has to try again. Whether nothing is left.
bool Study::workOff(Scheduler& scheduler, StudyOutcome& outcome) const {
  Journal journal(study::journalFile(folder_), outcome.runs);
  std::vector<std::uint32_t> open;
  for (std::size_t run = 0; run < outcome.runs; ++run) {
    if (!journal.has(run) || isWorthAnotherTry(Json::parse(journal.read(run)))) open.push_back(std::uint32_t(run));
  }
  journal.open();
  outcome.found = outcome.runs - open.size();
  std::size_t done = outcome.found;
  const auto collect = [&](std::size_t task, TaskEnd end, std::string bytes) {
    const std::size_t run = open[task];
    if (end != TaskEnd::Done) {
      const char* const ended = end == TaskEnd::Killed ? "killed" : "error";
      bytes = textOf(recordOf(ended, bytes, options_.design.point(run)));
    }
    if (bytes.starts_with(R"({"status":"interrupted")")) return;
    journal.append(run, bytes);
    if (options_.progress) options_.progress(++done, outcome.runs);
  };
  scheduler.run(
      open.size(), [&](std::size_t task) { return std::to_string(open[task]); }, collect);
  journal.flush();
  return journal.size() == outcome.runs;
}

void Study::writeDescription(const std::string& status, const StudyOutcome& outcome) const {
  Json json{{"tendril_study", 1}, {"scene", options_.scene.string()}};
  json.update(identity());
  json["status"] = status;
  json["runs"] = outcome.ends;
  json["undefined"] = outcome.undefined;
  replaceFile(study::descriptionFile(folder_), textOf(json, 2) + "\n");
}

/// Line by line, so that memory does not grow with the study; a reader sees the old table or the new one.
void Study::writeTable(StudyOutcome& outcome) const {
  const StudyTable table(folder_);
  AtomicFile file(outcome.table);
  const char* separator = "";
  std::string line;
  for (const std::string& head : table.heads()) line += std::exchange(separator, ",") + csvField(head);
  file.write(line + '\n');
  for (std::size_t run = 0; run < outcome.runs; ++run) {
    const StudyTable::Row row = table.has(run) ? table.row(run)
                                               : StudyTable::Row{run, "not run", "", options_.design.point(run),
                                                                 std::vector<std::optional<double>>(table.outputs().size())};
    line = label(run) + ',' + row.status;
    for (const std::string& value : row.values) line += ',' + csvField(value);
    std::set<std::string> undefined;
    for (std::size_t j = 0; j < row.outputs.size(); ++j) {
      const std::optional<double>& number = row.outputs[j];
      line += ',' + (!number ? "" : std::isnan(*number) ? "nan" : Json(*number).dump());
      if (number && std::isnan(*number)) undefined.insert(table.outputs()[j].output);
    }
    file.write(line + ',' + csvField(row.message) + '\n');
    ++outcome.ends[row.status];
    for (const std::string& name : undefined) ++outcome.undefined[name];
    if (row.status != "success" && row.status != "not run" && outcome.failures.size() < 20)
      outcome.failures.push_back({label(run), describe(row.values), row.status, row.message});
  }
  file.commit();
}

}

StudyOutcome runStudy(Ranks& ranks, const StudyOptions& options) {
  std::optional<Study> study;
  agree(ranks, "the study: its scene, values or version of tendril differ", [&] { return textOf(study.emplace(options).identity()); });
  Scheduler scheduler(ranks, [&](std::string_view task) { return study->execute(task); },
                      {.workers = options.workers, .stop = options.stop});
  if (ranks.isRoot()) return study->conduct(scheduler);
  scheduler.serve();
  return {};
}

void checkStudy(const StudyOptions& options) { Study{options}; }

fs::path defaultStudyFolder(const fs::path& scene) { return scene.stem().string() + ".sweep"; }

bool isStudyFolder(const fs::path& folder) {
  std::error_code status;
  return fs::is_regular_file(study::descriptionFile(folder), status);
}

}
