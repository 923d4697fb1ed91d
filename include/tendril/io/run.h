#pragma once
#include "tendril/io/log.h"
#include "tendril/io/summary.h"
#include "tendril/scenes/work_sharing.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace tendril {

class Certification;
class Scene;

/// How far a run is, for whoever watches it.
struct RunProgress {
  double fraction = 0;  ///< of the whole, 0 to 1
  long step = 0;        ///< steps accepted so far
  double t = 0;         ///< time [s], or load parameter
  double elapsed = 0;   ///< seconds of solving in this process
  double remaining = 0; ///< seconds left at the present pace; negative while there is nothing to judge by
};

struct RunOptions {
  std::filesystem::path scene;
  std::vector<std::string> overrides; ///< NAME=VALUE or path.to.key=VALUE
  /// Result folder; empty: the name of the scene with the ending .result, in the current folder.
  std::filesystem::path folder;
  /// Continue from the checkpoint in the folder; without one, start from the beginning. A run that is complete is left as it is.
  bool resume = false;
  /// Steps between two checkpoints. Counted in steps, never by the clock: a checkpoint makes the analysis forget its factorisations, so the
  /// steps at which that happens belong to the result. A resumed run keeps the number of its first run.
  long checkpointEvery = 200;
  /// Least time [s] between two files of checkpoints; those that fall between replace one another in memory, and the last of them is
  /// written when a run is interrupted. Decides only how much work a crash can cost.
  double checkpointSeconds = 5;
  LogLevel terminalLevel = LogLevel::Warning;
  /// How the forward runs of a certification are shared out; empty: one thread per core.
  WorkSharing sharing;
  /// Called when the files of a run that certifies are written.
  std::function<void(const Certification&)> certified;
  /// Called after each step.
  std::function<void(const RunProgress&)> progress;
  /// Asked after each step; true ends the run in good order (status "interrupted").
  std::function<bool()> stop;
};

enum class RunStatus { Success, Failed, Interrupted };

struct RunOutcome {
  RunStatus status = RunStatus::Success;
  std::filesystem::path folder;
  Summary summary;
  std::string message;      ///< why the run failed, or where it was interrupted
  bool wasComplete = false; ///< a run to be resumed had ended already, and was left as it is; the summary is empty
};

/// Runs a scene and leaves a folder with
///
///   results.h5    states and outputs, every output_every steps and at the end (results.h)
///   summary.json  last values of the outputs, steps, residuals, energies, time by phase, messages (summary.h)
///   log.txt       what happened
///   scene.yaml    the scene as it was run
///   checkpoint    from which `resume` continues
///   friction/     contact problems of the steps that the scene names (friction_file.h)
///   meshes/       copies of the mesh files of the scene
///   samples.csv   of a certification: inputs and performance of every sample
///
/// A resumed run ends with the same bits as one that was never stopped: the same rows of results and the same numbers in the summary but
/// for the time spent. Energy in the summary of a motion: `initial`, `final`, `work` of loads, drives and dampers (trapezoidal rule over
/// the steps), `dissipated` by contacts, `projection` that came by moving bodies out of overlaps, and `balance` = final - initial - work -
/// projection + dissipated, in J; of a sequence of equilibria: initial and final.
///
/// Failing numerics are an outcome, not an exception: everything up to the last accepted step is kept. InputError: the scene, the
/// overrides, or a checkpoint that cannot be used. MachineFailure: the folder cannot be written or the disk is full. Once the folder
/// exists, its summary tells of an exception, too (status "error").
RunOutcome run(const RunOptions& options);
/// The same of a scene that was read already; the scene and the overrides of the options are not looked at.
RunOutcome run(Scene scene, const RunOptions& options);

/// The folder of a run without RunOptions::folder.
std::filesystem::path defaultResultFolder(const std::filesystem::path& scene);

/// Version of this library.
std::string version();

}
