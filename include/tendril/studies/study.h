#pragma once
#include "tendril/studies/design.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tendril {

class Ranks;

struct StudyOptions {
  std::filesystem::path scene;
  std::vector<std::string> overrides{}; ///< that all runs share
  Design design;
  /// Folder of the study; empty: the name of the scene with the ending .sweep, in the current folder.
  std::filesystem::path folder{};
  bool keepsRuns = false; ///< each run leaves its result folder, by its number, in that of the study
  bool replaces = false;  ///< what an earlier study, another or the same, left there is removed
  int workers = 0;        ///< of this rank; 0: see SchedulerOptions
  std::function<bool()> stop{};
  std::function<void(std::size_t done, std::size_t all)> progress{};
};

/// A run that did not succeed.
struct StudyFailure {
  std::string run, values; ///< "0012", "a=1, b=2"
  std::string status, message;
};

struct StudyOutcome {
  std::filesystem::path folder, table;
  std::size_t runs = 0;
  std::size_t found = 0;                        ///< runs that an earlier start of the study had finished
  std::map<std::string, std::size_t> ends;      ///< number of runs by status
  std::vector<StudyFailure> failures;           ///< the first twenty
  std::map<std::string, std::size_t> undefined; ///< runs that succeeded and in which an output is not defined, by output

  std::size_t succeeded() const { return count("success"); }
  std::size_t count(const std::string& status) const {
    const auto entry = ends.find(status);
    return entry == ends.end() ? 0 : entry->second;
  }
};

/// Runs a scene at the points of a design, on the workers of all ranks, and leaves in the folder
///
///   study.json   what is studied, and how it stands: scene, overrides, design, number of runs by status
///   scene.yaml   the scene as it was run
///   journal.txt  each run as it was finished, appended at once
///   sweep.csv    the table, written at the end: run, status, values, outputs, message; a line per point in their order
///   0001, ...    the result folders of the runs, if they are kept
///
/// A run's status is "success"; "wrong input", "failed" (numerics); "killed" (its process died), "error" (the machine failed), or "not
/// run". Numbers do not depend on workers, ranks or the order in which runs end; they are those of `tendril run`, bit for bit.
///
/// A study whose folder holds it already, whole or in part, goes on where it stopped, however it ended. What the machine did (killed,
/// error) is tried again, what the scene did (failed, wrong input) stands. The folder of another study is refused, as is one that is not a
/// study's.
///
/// Throws InputError also for what spoils every run (found at no more than 200 points) and for ranks that do not agree on the study;
/// MachineFailure. Ranks but the root work for it, and return an empty outcome.
StudyOutcome runStudy(Ranks& ranks, const StudyOptions& options);

/// Throws InputError where runStudy would before anything runs: a scene that cannot be read, names that do not exist, values set twice.
void checkStudy(const StudyOptions& options);

std::filesystem::path defaultStudyFolder(const std::filesystem::path& scene);
bool isStudyFolder(const std::filesystem::path& folder);

}
