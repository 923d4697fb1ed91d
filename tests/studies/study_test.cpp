#include "tendril/studies/study.h"

#include "studies/journal.h"
#include "support/files.h"
#include "support/run_scenes.h"
#include "tendril/studies/ranks.h"
#include "tendril/studies/study_table.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <numbers>
#include <random>
#include <sys/wait.h>
#include <thread>

namespace tendril::testing {
namespace {

namespace fs = std::filesystem;

Ranks& alone() {
  static Ranks ranks;
  return ranks;
}

class StudyTest : public ::testing::Test {
 protected:
  void SetUp() override { writeAll(folder / "scene.yaml", rollUp); }
  StudyOptions options(const std::string& name, Design design) const {
    return {.scene = folder / "scene.yaml", .design = std::move(design), .folder = folder / name, .workers = 2};
  }
  std::string tableOf(const std::string& name) const { return readAll(folder / name / "sweep.csv"); }
  nlohmann::json description(const std::string& name) const { return nlohmann::json::parse(readAll(folder / name / "study.json")); }

  TemporaryFolder folder;
};

Design turns(const std::string& values = "0.1:0.6:6") { return Design::grid({StudyAxis::parse("turns=" + values)}); }

TEST_F(StudyTest, LeavesATable) {
  const StudyOutcome outcome = runStudy(alone(), options("study", turns()));
  EXPECT_EQ(outcome.succeeded(), 6u);
  const StudyTable table(folder / "study");
  EXPECT_EQ(table.points(), 6u);
  EXPECT_EQ(table.finished(), 6u);
  EXPECT_EQ(table.inputs(), std::vector<std::string>{"turns"});
  ASSERT_EQ(table.outputs().size(), 6u);
  EXPECT_EQ(table.outputs()[3].header(), "tip_1 [m]");
  for (std::size_t run = 0; run < 6; ++run) {
    const StudyTable::Row row = table.row(run);
    EXPECT_EQ(row.status, "success");
    const double angle = 2 * std::numbers::pi * std::stod(row.values[0]);
    EXPECT_NEAR(*row.outputs[3], std::sin(angle) / angle, 1e-8);
  }
  EXPECT_EQ(description("study")["status"], "complete");
  EXPECT_EQ(description("study")["runs"]["success"], 6);
}

// A worker, several, and run folders as `tendril run` leaves them: the same table.
TEST_F(StudyTest, HasTheSameNumbersHoweverItIsRun) {
  StudyOptions one = options("one", turns()), many = options("many", turns()), kept = options("kept", turns());
  one.workers = 1;
  many.workers = 5;
  kept.keepsRuns = true;
  for (const StudyOptions* study : {&one, &many, &kept}) runStudy(alone(), *study);
  EXPECT_EQ(tableOf("many"), tableOf("one"));
  EXPECT_EQ(tableOf("kept"), tableOf("one"));
  EXPECT_TRUE(fs::exists(folder / "kept" / "0006" / "summary.json"));
  EXPECT_FALSE(fs::exists(folder / "one" / "0006"));
}

// The scene is that which was read: what becomes of the file meanwhile is nothing to the study.
TEST_F(StudyTest, KeepsToItsSceneWhenTheFileChanges) {
  for (const bool keeps : {false, true}) {
    writeAll(folder / "scene.yaml", rollUp);
    StudyOptions study = options(keeps ? "kept" : "plain", turns("0.1:0.6:3"));
    study.workers = 1, study.keepsRuns = keeps;
    study.progress = [&](std::size_t, std::size_t) { writeAll(folder / "scene.yaml", "no scene any more"); };
    EXPECT_EQ(runStudy(alone(), study).succeeded(), 3u) << keeps;
  }
}

TEST_F(StudyTest, RecordsRunsThatDoNotSucceed) {
  std::string text = undefinedLater;
  text.replace(text.find("sqrt(0.1 - t)"), 13, "sqrt(limit - t)");
  writeAll(folder / "scene.yaml", text + "parameters: {limit: 2}\n");
  const Design design = Design::grid({StudyAxis::parse("limit=2,0.1,x")});
  const StudyOutcome outcome = runStudy(alone(), options("study", design));
  EXPECT_EQ(outcome.ends, (std::map<std::string, std::size_t>{{"failed", 1}, {"success", 1}, {"wrong input", 1}}));
  ASSERT_EQ(outcome.failures.size(), 2u);
  EXPECT_EQ(outcome.failures[0].run, "0002");
  EXPECT_EQ(outcome.failures[0].values, "limit=0.1");
  EXPECT_NE(outcome.failures[0].message.find("step "), std::string::npos);
  const StudyTable table(folder / "study");
  EXPECT_FALSE(table.row(1).outputs[0].has_value()) << "the values at the break are no result";
  // What the scene did stands: nothing is run again.
  EXPECT_EQ(runStudy(alone(), options("study", design)).found, 3u);
}

// Outputs may be called as the columns of every table are, or as an input: no head stands twice.
TEST_F(StudyTest, TellsColumnsOfTheSameNameApart) {
  std::string text = rollUp;
  for (const char* name : {"status", "turns", "tip_1"})
    text += "  - {name: " + std::string(name) + ", measure: expression, expression: 2*0.5}\n";
  writeAll(folder / "scene.yaml", text);
  runStudy(alone(), options("study", turns("0.25")));
  const std::string table = tableOf("study");
  EXPECT_EQ(table.substr(0, table.find('\n')),
            "run,status,turns,bending_1 [N m],bending_2 [N m],bending_3 [N m],status (output),tip_1 [m],tip_2 [m],tip_3 [m],tip_1,"
            "turns (output),message");
}

TEST_F(StudyTest, CountsAndNamesOutputsThatAreNotDefined) {
  std::string text = rollUp;
  text += "  - {name: root, measure: expression, expression: sqrt(0.45 - turns)}\n";
  writeAll(folder / "scene.yaml", text);
  const StudyOutcome outcome = runStudy(alone(), options("study", turns("0.2:0.6:5")));
  EXPECT_EQ(outcome.succeeded(), 5u);
  EXPECT_EQ(outcome.undefined, (std::map<std::string, std::size_t>{{"root", 2}}));
  EXPECT_NE(tableOf("study").find("nan"), std::string::npos);
  EXPECT_EQ(description("study")["undefined"]["root"], 2);
}

TEST_F(StudyTest, GoesOnWhereItWasStopped) {
  StudyOptions study = options("study", turns("0.01:0.6:40"));
  runStudy(alone(), options("whole", turns("0.01:0.6:40")));
  bool isEnough = false;
  study.stop = [&] { return isEnough; };
  study.progress = [&](std::size_t done, std::size_t) { isEnough = done >= 5; };
  const StudyOutcome stopped = runStudy(alone(), study);
  EXPECT_GT(stopped.count("not run"), 0u);
  EXPECT_EQ(description("study")["status"], "interrupted");
  study.stop = {};
  const StudyOutcome rest = runStudy(alone(), study);
  EXPECT_EQ(rest.found, stopped.succeeded());
  EXPECT_EQ(rest.succeeded(), 40u);
  EXPECT_TRUE(tableOf("study") == tableOf("whole"));
}

// What the machine did may be otherwise next time, so such a run is tried again.
TEST_F(StudyTest, TriesAgainWhatTheMachineSpoiled) {
  runStudy(alone(), options("study", turns()));
  const std::string table = tableOf("study");
  {
    Journal journal(folder / "study" / "journal.txt", 6);
    journal.open();
    journal.append(2, R"({"status":"killed","message":"signal 9","values":["0.3"],"outputs":{}})");
    journal.append(4, R"({"status":"error","message":"out of memory","values":["0.5"],"outputs":{}})");
  }
  const StudyOutcome outcome = runStudy(alone(), options("study", turns()));
  EXPECT_EQ(outcome.found, 4u);
  EXPECT_EQ(outcome.succeeded(), 6u);
  EXPECT_EQ(tableOf("study"), table);
}

TEST_F(StudyTest, RefusesTheFolderOfAnotherStudy) {
  runStudy(alone(), options("study", turns()));
  const std::string before = tableOf("study");
  expectError<InputError>([&] { runStudy(alone(), options("study", turns("0.1,0.2"))); }, {"another study", "design", "--replace"});
  StudyOptions other = options("study", turns());
  other.overrides = {"beams.strip.elements=3"};
  expectError<InputError>([&] { runStudy(alone(), other); }, {"set"});
  writeAll(folder / "scene.yaml", rollUp + "# edited\n");
  expectError<InputError>([&] { runStudy(alone(), options("study", turns())); }, {"scene"});
  EXPECT_EQ(tableOf("study"), before);
  const std::string description = readAll(folder / "study" / "study.json");
  writeAll(folder / "scene.yaml", rollUp);
  writeAll(folder / "study" / "study.json", "");
  expectError<InputError>([&] { runStudy(alone(), options("study", turns())); }, {"study.json", "damaged", "--replace"});
  writeAll(folder / "study" / "study.json", description);
  EXPECT_EQ(runStudy(alone(), options("study", turns())).found, 6u);
  StudyOptions replacing = options("study", turns("0.1,0.2"));
  replacing.replaces = true;
  EXPECT_EQ(runStudy(alone(), replacing).succeeded(), 2u);
  EXPECT_EQ(StudyTable(folder / "study").finished(), 2u);
}

TEST_F(StudyTest, RefusesWhatSpoilsEveryRun) {
  expectError<InputError>([&] { runStudy(alone(), options("study", Design::grid({StudyAxis::parse("turn=1,2")}))); }, {"turn", "turns"});
  StudyOptions twice = options("study", turns());
  twice.overrides = {"turns=1"};
  expectError<InputError>([&] { runStudy(alone(), twice); }, {"turns", "twice"});
  twice.overrides = {"parameters.turns=1"};
  expectError<InputError>([&] { runStudy(alone(), twice); }, {"turns", "twice"});
  writeAll(folder / "scene.yaml", rollUp + "markers: [{name: tip, on: nobody}]\n");
  expectError<InputError>([&] { runStudy(alone(), options("study", turns())); }, {"scene.yaml:", "nobody"});
  EXPECT_FALSE(fs::exists(folder / "study"));
  expectError<InputError>([&] { StudyTable(folder / "study"); }, {"no study"});
}

TEST_F(StudyTest, TableIsNotReadFromADamagedFolder) {
  runStudy(alone(), options("study", turns()));
  const std::string good = description("study").dump();
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{{"\"points\":6", "\"points\":-6"},
                                                                                 {"\"points\":6", "\"points\":1000000000000"},
                                                                                 {"[\"turns\"]", "[\"turns\",\"other\"]"},
                                                                                 {"{", ""}}) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    writeAll(folder / "study" / "study.json", bad);
    expectError<InputError>([&] { StudyTable(folder / "study"); }, {"no study that can be read"});
  }
}

/// A study in a process of its own, which may be killed.
pid_t startStudy(const StudyOptions& options) {
  const pid_t child = fork();
  if (child != 0) return child;
  Ranks ranks;
  try {
    runStudy(ranks, options);
    std::_Exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "the study ends with: %s\n", error.what());
    std::_Exit(1);
  }
}

/// Kills it at a random time; whether it had ended before, which then was a success.
bool killLater(pid_t study, std::mt19937& random) {
  std::this_thread::sleep_for(std::chrono::microseconds(std::uniform_int_distribution(500, 60000)(random)));
  kill(study, SIGKILL);
  int status = 0;
  waitpid(study, &status, 0);
  EXPECT_TRUE(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
  return WIFEXITED(status);
}

/// Kills a study at random times until `kills` of them hit it alive, and compares its table with that of one that was left alone.
void expectSameTableAfterKills(const TemporaryFolder& folder, std::size_t runs, int kills) {
  writeAll(folder / "scene.yaml", rollUp);
  StudyOptions study{.scene = folder / "scene.yaml", .design = Design::latinHypercube({{"turns", 0.05, 0.6}}, runs, 4)};
  study.workers = 2;
  study.folder = folder / "whole";
  runStudy(alone(), study);
  const std::string whole = readAll(folder / "whole" / "sweep.csv");
  study.folder = folder / "study";
  std::mt19937 random(1);
  for (int tries = 0; kills > 0; ++tries) {
    ASSERT_LT(tries, 400);
    if (!killLater(startStudy(study), random)) {
      --kills;
      continue;
    }
    EXPECT_TRUE(readAll(folder / "study" / "sweep.csv") == whole);
    fs::remove_all(folder / "study");
  }
  EXPECT_EQ(runStudy(alone(), study).succeeded(), runs);
  EXPECT_TRUE(readAll(folder / "study" / "sweep.csv") == whole);
}

TEST_F(StudyTest, EndsWithTheSameTableIfItWasKilled) { expectSameTableAfterKills(folder, 40, 4); }
TEST(FullStudyTest, EndsWithTheSameTableHoweverOftenItWasKilled) { expectSameTableAfterKills(TemporaryFolder(), 150, 20); }

/// Resident memory of this process [MB].
double residentMemory() {
  std::ifstream file("/proc/self/statm");
  long all = 0, resident = 0;
  file >> all >> resident;
  return double(resident) * double(sysconf(_SC_PAGESIZE)) / 1e6;
}

// 10^5 runs of the smallest scene there is: what grows is the list of where each run stands in the journal.
TEST(FullStudyTest, TakesNoMemoryPerRun) {
  const TemporaryFolder folder;
  writeAll(folder / "scene.yaml", R"(tendril: 1
parameters: {x: 0}
bodies: [{name: ball, mass: 1, shapes: [{kind: sphere, radius: 1}], velocity: [x, 0, 0]}]
analysis: {type: dynamic, duration: 1, step: 1}
outputs: [{name: way, measure: position, on: ball, component: x}]
)");
  std::size_t worst = 0;
  StudyOptions study{.scene = folder / "scene.yaml", .design = Design::sobol({{"x", 0., 1.}}, 100'000, 1), .folder = folder / "study"};
  const double before = residentMemory();
  study.progress = [&](std::size_t done, std::size_t) {
    if (done % 10000 == 0) worst = std::max(worst, std::size_t(residentMemory() - before));
  };
  const StudyOutcome outcome = runStudy(alone(), study);
  EXPECT_EQ(outcome.succeeded(), 100'000u);
  EXPECT_LT(worst, 20u) << "MB";
  EXPECT_LT(residentMemory() - before, 20) << "MB";
  const StudyTable table(folder / "study");
  for (const std::size_t run : {0, 77, 99'999}) EXPECT_NEAR(*table.row(run).outputs[0], std::stod(table.row(run).values[0]), 1e-12);
}

}
}
