#include "support/files.h"
#include "support/run_scenes.h"
#include "tendril/io/checkpoint.h"
#include "tendril/io/friction_file.h"
#include "tendril/io/results.h"
#include "tendril/io/run.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>

namespace tendril {
namespace {

namespace fs = std::filesystem;
using namespace testing;

/// A scene in a folder of its own, and runs of it that say nothing.
class RunOfScene {
 public:
  explicit RunOfScene(const std::string& text) { writeAll(options.scene = folder / "scene.yaml", text); }

  RunOptions to(const std::string& name) const {
    RunOptions own = options;
    own.folder = folder / name;
    own.terminalLevel = LogLevel::Error;
    own.checkpointSeconds = 0;
    return own;
  }
  /// Runs until that many steps were taken in this process.
  RunOutcome runSteps(RunOptions own, long steps) const {
    own.stop = [steps, taken = 0L]() mutable { return ++taken >= steps; };
    return run(own);
  }

  TemporaryFolder folder;
  RunOptions options;
};

bool sameBits(const ResultReader::RowMatrix& a, const ResultReader::RowMatrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  return a.size() == 0 || std::memcmp(a.data(), b.data(), sizeof(double) * std::size_t(a.size())) == 0;
}

void expectSameResults(const fs::path& a, const fs::path& b) {
  const ResultReader first(a / "results.h5"), second(b / "results.h5");
  EXPECT_TRUE(sameBits(first.time(), second.time())) << "the times differ";
  ASSERT_EQ(first.states(), second.states());
  ASSERT_EQ(first.outputs(), second.outputs());
  for (const std::string& name : first.states()) EXPECT_TRUE(sameBits(first.state(name), second.state(name))) << "state " << name;
  for (const std::string& name : first.outputs()) EXPECT_TRUE(sameBits(first.output(name), second.output(name))) << "output " << name;
}

/// Summaries but for the time spent.
std::string essence(const fs::path& folder) {
  nlohmann::json summary = nlohmann::json::parse(readAll(folder / "summary.json"));
  summary.erase("time");
  return summary.dump(1);
}

void expectResumeIsBitwise(const std::string& text, long stopAt, long checkpointEvery) {
  const RunOfScene scene(text);
  RunOptions whole = scene.to("whole"), parts = scene.to("parts");
  whole.checkpointEvery = parts.checkpointEvery = checkpointEvery;
  ASSERT_EQ(run(whole).status, RunStatus::Success);

  ASSERT_EQ(scene.runSteps(parts, stopAt).status, RunStatus::Interrupted);
  parts.resume = true;
  // The interval is that of the first run: checkpoints are part of the result.
  parts.checkpointEvery = 1000;
  ASSERT_EQ(scene.runSteps(parts, checkpointEvery + 1).status, RunStatus::Interrupted);
  ASSERT_EQ(run(parts).status, RunStatus::Success);
  expectSameResults(whole.folder, parts.folder);
  EXPECT_EQ(essence(whole.folder), essence(parts.folder));
}

TEST(Resume, IsBitwiseInDynamics) { expectResumeIsBitwise(fallingRod, 17, 7); }

TEST(Resume, IsBitwiseUnderErrorControl) {
  std::string text = fallingRod;
  text.replace(text.find("step: h,"), 8, "step: h, error_tolerance: 1e-5,");
  expectResumeIsBitwise(text, 9, 4);
}

TEST(Resume, IsBitwiseInLoadStepping) { expectResumeIsBitwise(rollUp, 11, 5); }
TEST(Resume, IsBitwiseAlongThePath) { expectResumeIsBitwise(arch, 11, 5); }

TEST(Resume, IsBitwiseWithContacts) {
  expectResumeIsBitwise(bouncing, 55, 20);
  const RunOfScene scene(bouncing);
  const RunOptions whole = scene.to("whole"), parts = scene.to("parts");
  run(whole);
  scene.runSteps(parts, 55);
  RunOptions rest = parts;
  rest.resume = true;
  run(rest);
  const ResultReader first(whole.folder / "results.h5"), second(parts.folder / "results.h5");
  ASSERT_EQ(first.rows(), 31u);
  for (std::size_t row = 0; row < first.rows(); ++row) {
    for (const char* column : {"position", "impulse", "parts"}) {
      EXPECT_TRUE(sameBits(first.list("contacts", column, row), second.list("contacts", column, row))) << column << " in row " << row;
    }
  }
}

TEST(Resume, NeedsNoFileBeforeTheInterruption) {
  const RunOfScene scene(fallingRod);
  RunOptions whole = scene.to("whole"), parts = scene.to("parts");
  whole.checkpointEvery = parts.checkpointEvery = 7;
  whole.checkpointSeconds = parts.checkpointSeconds = 1e9;
  run(whole);
  EXPECT_FALSE(fs::exists(whole.folder / "checkpoint"));
  scene.runSteps(parts, 17);
  ASSERT_TRUE(fs::exists(parts.folder / "checkpoint"));
  parts.resume = true;
  run(parts);
  expectSameResults(whole.folder, parts.folder);
  EXPECT_NE(readAll(parts.folder / "log.txt").find("continuing after step 14,"), std::string::npos);
}

TEST(Resume, StartsAnewWithoutACheckpoint) {
  const RunOfScene scene(fallingRod);
  RunOptions options = scene.to("out");
  EXPECT_EQ(scene.runSteps(options, 3).status, RunStatus::Interrupted);
  options.resume = true;
  EXPECT_EQ(run(options).status, RunStatus::Success);
  EXPECT_NE(readAll(options.folder / "log.txt").find("no checkpoint to resume from"), std::string::npos);
}

TEST(Resume, TakesTheCheckpointBeforeADamagedOne) {
  const RunOfScene scene(fallingRod);
  RunOptions whole = scene.to("whole"), parts = scene.to("parts");
  whole.checkpointEvery = parts.checkpointEvery = 5;
  run(whole);
  scene.runSteps(parts, 18);
  std::string bytes = readAll(parts.folder / "checkpoint");
  bytes[bytes.size() / 2] = char(bytes[bytes.size() / 2] ^ 0x10);
  writeAll(parts.folder / "checkpoint", bytes);
  parts.resume = true;
  EXPECT_EQ(run(parts).status, RunStatus::Success);
  expectSameResults(whole.folder, parts.folder);
  EXPECT_NE(readAll(parts.folder / "log.txt").find("continuing from the checkpoint before it"), std::string::npos);
}

TEST(Resume, RefusesWhenNoCheckpointIsWhole) {
  const RunOfScene scene(fallingRod);
  RunOptions options = scene.to("out");
  options.checkpointEvery = 5;
  scene.runSteps(options, 18);
  const std::string results = readAll(options.folder / "results.h5"), summary = readAll(options.folder / "summary.json");
  for (const char* name : {"checkpoint", "checkpoint.previous"}) writeAll(options.folder / name, "TNDRLCKP and then nothing of use");
  options.resume = true;
  expectError<InputError>([&] { run(options); }, {"checkpoint", "without --resume"});
  EXPECT_EQ(readAll(options.folder / "results.h5"), results) << "a refused resume must not touch the results";
  EXPECT_EQ(readAll(options.folder / "summary.json"), summary);
}

TEST(Resume, RefusesAChangedScene) {
  const RunOfScene scene(fallingRod);
  RunOptions options = scene.to("out");
  options.checkpointEvery = 5;
  scene.runSteps(options, 8);
  options.resume = true;
  options.overrides = {"g=1.62"};
  expectError<InputError>([&] { run(options); }, {"checkpoint", "parameters were changed"});
}

TEST(Run, ReportsASuccessInFull) {
  const RunOfScene scene(fallingRod);
  RunOptions options = scene.to("out");
  std::vector<double> fractions;
  options.progress = [&](const RunProgress& progress) { fractions.push_back(progress.fraction); };
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.status, RunStatus::Success);
  EXPECT_EQ(outcome.summary.steps, 40);
  EXPECT_EQ(fractions.size(), 40u);
  EXPECT_NEAR(fractions.back(), 1, 1e-12);
  EXPECT_GE(outcome.summary.newton.iterations, 40);
  EXPECT_GT(outcome.summary.residual, 0);
  EXPECT_LE(outcome.summary.residual, 1);
  for (const char* phase : {"reading", "building", "solving", "writing", "total"})
    EXPECT_TRUE(outcome.summary.time.contains(phase)) << phase;

  const nlohmann::json summary = nlohmann::json::parse(readAll(options.folder / "summary.json"));
  EXPECT_EQ(summary["status"], "success");
  EXPECT_EQ(summary["parameters"]["g"], 9.81);
  EXPECT_EQ(summary["outputs"]["tip"]["unit"], "m");
  EXPECT_EQ(summary["versions"]["tendril"], version());

  // Rows 0, 3, ..., 39 and the last; the results carry the scene.
  const ResultReader results(options.folder / "results.h5");
  EXPECT_EQ(results.rows(), 15u);
  EXPECT_EQ(results.metadata().scene, fallingRod);
  const auto tip = results.output("tip");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tip(14, i), summary["outputs"]["tip"]["value"][std::size_t(i)].get<double>());
  EXPECT_EQ(results.outputInfo("tip").unit, "m");
}

TEST(Run, BalancesTheEnergyWithTheWork) {
  const RunOfScene scene(fallingRod);
  RunOptions options = scene.to("coarse");
  const auto coarse = run(options).summary.energy;
  options = scene.to("fine");
  options.overrides = {"h=0.0025"};
  const auto fine = run(options).summary.energy;
  // Damping takes energy away; what is left is an error of second order.
  EXPECT_LT(coarse.at("work"), 0);
  EXPECT_DOUBLE_EQ(coarse.at("balance"), coarse.at("final") - coarse.at("initial") - coarse.at("work"));
  EXPECT_LT(std::abs(fine.at("balance")), std::abs(coarse.at("balance")) / 2.5);
}

TEST(Run, TellsOfContacts) {
  const RunOfScene scene(bouncing);
  const RunOptions options = scene.to("out");
  const RunOutcome outcome = run(options);
  ASSERT_EQ(outcome.status, RunStatus::Success) << outcome.message;
  const nlohmann::json summary = nlohmann::json::parse(readAll(options.folder / "summary.json"));
  EXPECT_EQ(summary["contact"]["contacts"], 5);
  EXPECT_LT(summary["contact"]["residual"].get<double>(), 1e-8);
  EXPECT_EQ(summary["contact"]["ambiguous_steps"], 0);
  EXPECT_EQ(summary["penetration"], summary["contact"]["penetration"]);
  ASSERT_GE(summary["outputs"]["impacts"]["value"].size(), 2u);
  EXPECT_NEAR(summary["outputs"]["impacts"]["value"][0].get<double>(), std::sqrt(2 * 0.5 / 9.81), 0.02);
  EXPECT_NEAR(summary["outputs"]["way"]["value"].get<double>(), 1 / (2 * 0.4 * 9.81), 1e-3);
  // The block loses its energy to friction, the ball three quarters of it in each impact.
  const auto& energy = outcome.summary.energy;
  EXPECT_GT(energy.at("dissipated"), 1 + 0.7 * 0.5 * 9.81);
  EXPECT_NEAR(energy.at("balance"), 0, 1e-12);
  EXPECT_NEAR(summary["outputs"]["balance"]["value"].get<double>(), energy.at("balance"), 1e-12);
  EXPECT_NEAR(summary["outputs"]["taken"]["value"].get<double>(), energy.at("dissipated"), 1e-12);

  const ResultReader results(options.folder / "results.h5");
  EXPECT_EQ(results.output("impacts").rows(), Eigen::Index(summary["outputs"]["impacts"]["value"].size()));
  EXPECT_EQ(results.list("contacts", "position", 0).rows(), 0);
  const auto parts = results.list("contacts", "parts", 1);
  ASSERT_EQ(parts.rows(), 4) << "the corners of the block";
  EXPECT_EQ(parts.row(0).sum(), 1 + 3);
  const auto impulse = results.list("contacts", "impulse", 1);
  EXPECT_NEAR(std::abs(impulse.col(2).sum()), 2 * 9.81 * 0.01, 1e-9);

  for (const char* name : {"step-000001.hdf5", "step-000040.hdf5"}) {
    const FrictionFile file = readFrictionFile(options.folder / "friction" / name);
    EXPECT_GE(file.problem().contacts(), 4) << name;
    EXPECT_EQ(file.solution.size(), file.problem().rows());
  }
  EXPECT_FALSE(fs::exists(options.folder / "friction" / "step-000002.hdf5"));
  // The next run of another scene leaves nothing of this one's problems.
  RunOptions again = options;
  again.overrides = {"analysis.dump=[2]"};
  run(again);
  EXPECT_TRUE(fs::exists(options.folder / "friction" / "step-000002.hdf5"));
  EXPECT_FALSE(fs::exists(options.folder / "friction" / "step-000001.hdf5"));
}

TEST(Run, ReportsTheStabilityOfEquilibria) {
  const RunOfScene scene(arch);
  RunOptions options = scene.to("out");
  const RunOutcome outcome = run(options);
  ASSERT_EQ(outcome.status, RunStatus::Success) << outcome.message;
  const ResultReader results(options.folder / "results.h5");
  const auto stable = results.state("stable");
  EXPECT_TRUE(std::isnan(stable(0, 0))) << "the start is not judged";
  // The load parameter falls between the two limit points, and there the equilibria are unstable.
  const Eigen::VectorXd load = results.time();
  int falling = 0;
  for (Eigen::Index row = 2; row < stable.rows(); ++row) {
    if (load[row] >= load[row - 1]) continue;
    ++falling;
    EXPECT_EQ(stable(row, 0), 0) << "row " << row;
  }
  EXPECT_GT(falling, 3);
  EXPECT_EQ(stable(1, 0), 1);
  bool told = false;
  for (const std::string& message : outcome.summary.messages) told |= message.find("became unstable") != std::string::npos;
  EXPECT_TRUE(told);
}

TEST(Run, KeepsWhatWasComputedWhenTheNumericsFail) {
  const RunOfScene scene(undefinedLater);
  const RunOptions options = scene.to("out");
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.status, RunStatus::Failed);
  EXPECT_NE(outcome.message.find("step"), std::string::npos) << outcome.message;
  const nlohmann::json summary = nlohmann::json::parse(readAll(options.folder / "summary.json"));
  EXPECT_EQ(summary["status"], "failed");
  const ResultReader results(options.folder / "results.h5");
  const auto place = results.output("place");
  EXPECT_NEAR(results.time().tail(1)[0], 0.1, 1e-3);
  EXPECT_TRUE(place.allFinite());
  EXPECT_EQ(summary["outputs"]["place"]["value"][0].get<double>(), place(place.rows() - 1, 0));
}

TEST(Run, NamesWhatIsFree) {
  const RunOfScene scene(freeBeam);
  const RunOutcome outcome = run(scene.to("out"));
  EXPECT_EQ(outcome.status, RunStatus::Failed);
  EXPECT_NE(outcome.message.find("driftwood"), std::string::npos) << outcome.message;
}

TEST(Run, LeavesNothingOfAWrongScene) {
  const RunOfScene scene(fallingRod + "colour: red\n");
  const RunOptions options = scene.to("out");
  expectError<InputError>([&] { run(options); }, {"colour", "scene.yaml"});
  EXPECT_FALSE(fs::exists(options.folder));
}

TEST(Run, LeavesEarlierResultsAloneWhenBodiesOverlap) {
  const RunOfScene scene(bouncing);
  RunOptions options = scene.to("out");
  run(options);
  const std::string before = readAll(options.folder / "summary.json");
  options.overrides = {"bodies.ball.position=[0, 0, 0.05]"};
  expectError<InputError>([&] { run(options); }, {"overlap", "'ball'", "'floor'", "project_initial"});
  EXPECT_EQ(readAll(options.folder / "summary.json"), before);
  EXPECT_EQ(ResultReader(options.folder / "results.h5").rows(), 31u);
}

TEST(Run, TellsWhereTheOverlapIsInTheScene) {
  const RunOfScene scene(bouncing);
  RunOptions options = scene.to("out");
  options.overrides = {"bodies.ball.position=[0, 0, 0.05]"};
  expectError<InputError>([&] { run(options); }, {"scene.yaml:5:", "overlap"});
}

TEST(Run, KeepsTheStartWhereTheFirstStepFails) {
  const RunOfScene scene(R"(tendril: 1
bodies: [{name: top, mass: 1, inertia: [1, 1, 1], position: [1, 2, 3], angular_velocity: [0, 0, 2]}]
analysis: {type: dynamic, method: variational, duration: 10, step: 1}
outputs: [{name: place, measure: position, on: top}, {name: spin, measure: angular velocity, on: top}, {name: E, measure: energy}]
)");
  const RunOptions options = scene.to("out");
  const RunOutcome outcome = run(options);
  EXPECT_EQ(outcome.status, RunStatus::Failed);
  EXPECT_NE(outcome.message.find("fold back"), std::string::npos) << outcome.message;
  const ResultReader results(options.folder / "results.h5");
  ASSERT_EQ(results.rows(), 1u);
  EXPECT_EQ(results.output("place")(0, 2), 3);
  EXPECT_NEAR(results.output("spin")(0, 2), 2, 1e-12);
  EXPECT_NEAR(results.output("E")(0, 0), 2, 1e-12);
}

TEST(RunFolder, KeepsTheResultsOfAnotherScene) {
  const RunOfScene scene(bouncing);
  RunOptions options = scene.to("out");
  run(options);
  std::string before = readAll(options.folder / "summary.json");
  RunOptions other = options;
  other.scene = options.scene.parent_path() / "other.yaml";
  writeAll(other.scene, fallingRod);
  for (bool resume : {false, true}) {
    other.resume = resume;
    expectError<InputError>([&] { run(other); }, {"another scene", "scene.yaml", "-o"});
  }
  // One of the same name elsewhere is another, too; the same by another way to it is not.
  other.scene = options.scene.parent_path() / "elsewhere" / options.scene.filename();
  fs::create_directory(other.scene.parent_path());
  writeAll(other.scene, fallingRod);
  expectError<InputError>([&] { run(other); }, {"another scene"});
  other.scene = options.scene.parent_path() / "elsewhere" / ".." / options.scene.filename();
  other.resume = false;
  EXPECT_EQ(run(other).status, RunStatus::Success);
  EXPECT_EQ(readAll(options.folder / "scene.yaml"), readAll(options.scene));
  run(options);
  before = readAll(options.folder / "summary.json");
  // Nor are results of other settings what --resume goes on with.
  options.resume = true;
  options.overrides = {"bodies.ball.position=[0, 0, 0.7]"};
  expectError<InputError>([&] { run(options); }, {"other settings", "--resume"});
  EXPECT_EQ(readAll(options.folder / "summary.json"), before);
}

TEST(Run, SetsParameters) {
  const RunOfScene scene(rollUp);
  RunOptions options = scene.to("out");
  options.overrides = {"turns=1"};
  const RunOutcome outcome = run(options);
  // A full turn of a beam bent by the end moment 2 pi EI/L: the tip meets the clamp.
  const auto& tip = outcome.summary.outputs.at("tip").values;
  EXPECT_NEAR(std::hypot(tip[0], tip[1], tip[2]), 0, 1e-9);
  EXPECT_NEAR(outcome.summary.outputs.at("bending").values[1], 20 * std::acos(-1.0), 1e-6);
}

TEST(RunFolder, OfSomebodyElseIsLeftAlone) {
  const RunOfScene scene(fallingRod);
  const RunOptions options = scene.to("thesis");
  fs::create_directory(options.folder);
  writeAll(options.folder / "chapter1.tex", "precious");
  writeAll(options.folder / "summary.json", "mine");
  expectError<InputError>([&] { run(options); }, {"thesis", "-o"});
  EXPECT_EQ(readAll(options.folder / "summary.json"), "mine");
}

// Files may be what a run left when it was killed; folders of the same names hold what somebody made.
TEST(RunFolder, IsNotTakenForThatOfARunByTheNamesOfItsFolders) {
  const RunOfScene scene(fallingRod);
  const RunOptions options = scene.to("project");
  for (const char* name : {"meshes", "samples"}) {
    fs::create_directories(options.folder / name);
    writeAll(options.folder / name / "mine.txt", "precious");
    expectError<InputError>([&] { run(options); }, {"project", "-o"});
    EXPECT_EQ(readAll(options.folder / name / "mine.txt"), "precious");
  }
}

TEST(RunFolder, OfARunIsReplaced) {
  const RunOfScene scene(fallingRod);
  RunOptions options = scene.to("out");
  options.checkpointEvery = 5;
  run(options);
  writeAll(options.folder / "notes.txt", "kept");
  options.checkpointEvery = 1000;
  EXPECT_EQ(run(options).status, RunStatus::Success);
  EXPECT_EQ(readAll(options.folder / "notes.txt"), "kept");
  EXPECT_FALSE(fs::exists(options.folder / "checkpoint")) << "a checkpoint of the replaced run";
}

TEST(RunFolder, ThatCannotBeMadeIsAFailureOfTheMachine) {
  const RunOfScene scene(fallingRod);
  writeAll(scene.folder / "file", "");
  expectError<MachineFailure>([&] { run(scene.to("file/out")); }, {"file/out", "-o"});
}

/// Resident memory of this process [KiB].
long residentMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return -1;
}

TEST(FullRun, NeedsNoMoreMemoryAsItGrowsLonger) {
  std::string text = fallingRod;
  text.replace(text.find("output_every: 3"), 15, "output_every: 1");
  const RunOfScene scene(text);
  RunOptions options = scene.to("out");
  options.overrides = {"duration=60", "h=0.001"};
  long early = 0;
  options.progress = [&](const RunProgress& progress) {
    if (progress.step == 20000) early = residentMemory(); // the caches of HDF5 are full by then
  };
  ASSERT_EQ(run(options).summary.steps, 60000);
  EXPECT_GT(early, 0);
  EXPECT_LT(residentMemory() - early, 1024) << "KiB in 40000 steps";
}

}
}
