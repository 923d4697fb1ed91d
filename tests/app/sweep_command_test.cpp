#include "app/program.h"
#include "support/run_scenes.h"
#include "tendril/studies/ranks.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <set>
#include <sstream>
#include <thread>

namespace tendril::testing {
namespace {

namespace fs = std::filesystem;
using Sweep = Program;

/// Lines of a file, each split at its commas.
std::vector<std::vector<std::string>> table(const fs::path& file) {
  std::vector<std::vector<std::string>> lines;
  std::istringstream text(readAll(file));
  for (std::string line; std::getline(text, line);) {
    lines.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) lines.back().push_back(field);
  }
  return lines;
}

TEST_F(Sweep, RunsAGrid) {
  scene(rollUp);
  const Answer answer =
      tendril({"sweep", "scene.yaml", "--over", "turns=0.25:1:4", "--over", "beams.strip.elements=4,8", "-o", "grid", "-j", "2"});
  EXPECT_EQ(answer.code, 0) << answer.err << answer.out;
  const auto lines = table(folder / "grid" / "sweep.csv");
  ASSERT_EQ(lines.size(), 9u);
  EXPECT_EQ(lines[0], (std::vector<std::string>{"run", "status", "turns", "beams.strip.elements", "bending_1 [N m]", "bending_2 [N m]",
                                                "bending_3 [N m]", "tip_1 [m]", "tip_2 [m]", "tip_3 [m]", "message"}));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const double turns = 0.25 * double((i + 1) / 2);
    EXPECT_EQ(lines[i][1], "success");
    EXPECT_EQ(std::stod(lines[i][2]), turns);
    // The end of an arc of length 1 that turns by 2 pi turns.
    const double angle = 2 * std::acos(-1.0) * turns;
    EXPECT_NEAR(std::stod(lines[i][7]), std::sin(angle) / angle, 1e-8);
  }
}

TEST_F(Sweep, GoesPastRunsThatFail) {
  std::string text = undefinedLater;
  text.replace(text.find("sqrt(0.1 - t)"), 13, "sqrt(limit - t)");
  scene(text + "parameters: {limit: 2}\n");
  const Answer answer = tendril({"sweep", "scene.yaml", "--over", "limit=2,0.1,3", "-o", "grid"});
  EXPECT_EQ(answer.code, 3) << answer.err;
  EXPECT_NE(answer.out.find("(limit=0.1)  failed"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("2 of 3 runs succeeded"), std::string::npos) << answer.out;
  const auto lines = table(folder / "grid" / "sweep.csv");
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[1][1], "success");
  EXPECT_EQ(lines[2][1], "failed");
  for (int column = 3; column < 6; ++column) EXPECT_EQ(lines[2][column], "") << "the values at the break are no result";
  EXPECT_EQ(lines[3][1], "success");
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "limit=1:2"}), 2, {"FROM:TO:COUNT"});
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "limits=1:2:3"}), 2, {"limits"});
}

TEST_F(Sweep, GoesPastValuesThatCannotBe) {
  scene(rollUp);
  const Answer answer = tendril({"sweep", "scene.yaml", "--over", "beams.strip.elements=0,4", "-o", "grid"});
  EXPECT_EQ(answer.code, 3) << answer.err;
  EXPECT_NE(answer.out.find("(beams.strip.elements=0)  wrong input"), std::string::npos) << answer.out;
  const auto lines = table(folder / "grid" / "sweep.csv");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1][1], "wrong input");
  EXPECT_EQ(lines[2][1], "success");
}

TEST_F(Sweep, SetsEachNameOnce) {
  scene(rollUp);
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=1,2", "--over", "turns=3,4"}), 2, {"turns", "twice"});
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=1,2", "--set", "turns=3"}), 2, {"turns", "twice"});
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=1,2", "--over", "parameters.turns=3"}), 2, {"turns", "twice"});
  EXPECT_FALSE(fs::exists(folder / "scene.sweep"));
}

TEST_F(Sweep, LeavesNothingOfAnEarlierOneAndNothingOfOthersTouched) {
  scene(rollUp);
  EXPECT_EQ(tendril({"sweep", "scene.yaml", "--over", "turns=0.1:0.3:3", "-o", "grid", "--keep"}).code, 0);
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=0.1,0.2", "-o", "grid", "--keep"}), 2, {"another study", "--replace"});
  EXPECT_EQ(tendril({"sweep", "scene.yaml", "--over", "turns=0.1,0.2", "-o", "grid", "--keep", "--replace"}).code, 0);
  EXPECT_TRUE(fs::exists(folder / "grid" / "0002"));
  EXPECT_FALSE(fs::exists(folder / "grid" / "0003"));
  fs::create_directory(folder / "mine");
  writeAll(folder / "mine" / "letter.txt", "dear");
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=0.1,0.2", "-o", "mine"}), 2, {"mine", "not those of a sweep", "-o"});
  fs::create_directories(folder / "years" / "2024");
  writeAll(folder / "years" / "2024" / "photo", "");
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=0.1,0.2", "-o", "years"}), 2, {"2024", "not the results of a run"});
  EXPECT_TRUE(fs::exists(folder / "years" / "2024" / "photo"));
}

TEST_F(Sweep, LeavesNoFoldersOfRunsUnlessTheyAreKept) {
  scene(rollUp);
  EXPECT_EQ(tendril({"sweep", "scene.yaml", "--over", "turns=0.1,0.2", "-o", "plain"}).code, 0);
  EXPECT_FALSE(fs::exists(folder / "plain" / "0001"));
  EXPECT_EQ(tendril({"sweep", "scene.yaml", "--over", "turns=0.1,0.2", "-o", "kept", "--keep"}).code, 0);
  EXPECT_TRUE(fs::exists(folder / "kept" / "0002" / "results.h5"));
  EXPECT_EQ(readAll(folder / "plain" / "sweep.csv"), readAll(folder / "kept" / "sweep.csv"));
}

TEST_F(Sweep, SamplesAndReadsPoints) {
  scene(rollUp);
  for (const char* design : {"lhs", "sobol"}) {
    const std::string out = std::string("by-") + design;
    EXPECT_EQ(tendril({"sweep", "scene.yaml", "--over", "turns=0.1:0.5", "--design", design, "--samples", "8", "-o", out}).code, 0);
    const auto lines = table(folder / out / "sweep.csv");
    ASSERT_EQ(lines.size(), 9u);
    std::set<int> eighths;
    for (std::size_t i = 1; i < lines.size(); ++i) eighths.insert(int((std::stod(lines[i][2]) - 0.1) / 0.4 * 8));
    EXPECT_EQ(eighths.size(), 8u);
  }
  writeAll(folder / "points.csv", "turns,beams.strip.elements\n0.1,4\n0.2,5\n");
  EXPECT_EQ(tendril({"sweep", "scene.yaml", "--points", "points.csv", "-o", "list"}).code, 0);
  EXPECT_EQ(table(folder / "list" / "sweep.csv")[2][3], "5");
}

TEST_F(Sweep, RefusesDesignsThatCannotBe) {
  scene(rollUp);
  const auto refuses = [&](std::vector<std::string> arguments, std::initializer_list<const char*> parts) {
    arguments.insert(arguments.begin(), {"sweep", "scene.yaml"});
    expectOneError(tendril(arguments), 2, parts);
  };
  refuses({}, {"varies nothing", "--over"});
  refuses({"--over", "turns=0:1:1e12"}, {"1e12"});
  refuses({"--over", "turns=0:1", "--design", "lhs", "--samples", "1000000000000"}, {"1000000000000 points"});
  refuses({"--over", "turns=0:1", "--design", "sobol"}, {"no points", "--samples"});
  refuses({"--over", "turns=0:1", "--design", "lhs", "--samples", "-5"}, {"--samples", "'-5' is not a whole number"});
  refuses({"--over", "turns=0:1", "--design", "lhs", "--samples", "8", "--seed", "18446744073709551616"},
          {"--seed", "18446744073709551616"});
  refuses({"--over", "turns=0,1", "--samples", "5"}, {"--samples", "lhs"});
  refuses({"--over", "turns=0:one:3"}, {"'one'", "finite number"});
  refuses({"--points", "none.csv"}, {"none.csv"});
  writeAll(folder / "file", "");
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=0,1", "-o", "file/study"}), 4, {"file/study", "-o"});
}

TEST_F(Sweep, WritesAScriptForSlurm) {
  scene(rollUp);
  const Answer answer =
      tendril({"sweep", "scene.yaml", "--over", "turns=0.1,0.2", "--set", "beams.strip.elements=2 + 2", "--slurm", "job.sh"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_FALSE(fs::exists(folder / "scene.sweep"));
  // Without Slurm: its launcher is a function that runs what it is given, and the shell reads the rest as comments.
  const std::string script = readAll(folder / "job.sh");
  EXPECT_NE(script.find("#SBATCH --ntasks="), std::string::npos);
  writeAll(folder / "run.sh", "srun() { shift; \"$@\"; }\nSLURM_SUBMIT_DIR=" + folder.path.string() + "\n" + script);
  EXPECT_EQ(std::system(("bash " + (folder / "run.sh").string() + " > /dev/null").c_str()), 0);
  EXPECT_EQ(table(folder / "scene.sweep" / "sweep.csv").size(), 3u);
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turns=1", "--slurm", "job.sh"}), 2, {"job.sh", "exists"});
  expectOneError(tendril({"sweep", "scene.yaml", "--over", "turn=1", "--slurm", "other.sh"}), 2, {"turn", "turns"});
  EXPECT_FALSE(fs::exists(folder / "other.sh"));
}

TEST_F(Sweep, GoesOnAfterItWasInterrupted) {
  scene(fallingRod);
  const std::vector<std::string> arguments{"sweep", "scene.yaml", "--over", "g=1:10:60", "--set", "h=0.002", "-o", "study"};
  const pid_t program = start(arguments);
  while (!fs::exists(folder / "study" / "journal.txt")) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  kill(program, SIGTERM);
  const Answer stopped = wait(program);
  EXPECT_EQ(stopped.code, 130) << stopped.out << stopped.err;
  EXPECT_NE(stopped.out.find("the same command goes on"), std::string::npos) << stopped.out;
  EXPECT_EQ(tendril(arguments).code, 0);
  std::vector<std::string> anew = arguments;
  anew.back() = "whole";
  EXPECT_EQ(tendril(anew).code, 0);
  EXPECT_TRUE(readAll(folder / "study" / "sweep.csv") == readAll(folder / "whole" / "sweep.csv"));
}

/// `mpirun` with the program, in the folder; its scene may depend on the rank.
class SweepOnRanks : public Program {
 protected:
  void SetUp() override {
    if (std::system("mpirun --version 2> /dev/null | grep -q 'Open MPI'") != 0) GTEST_SKIP() << "there is no Open MPI";
    scene(rollUp);
  }
  Answer mpirun(int ranks, const std::string& arguments) {
    const std::string command = "cd " + folder.path.string() +
                                " && OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl_base_warn_component_unused=0" +
                                " ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0" + // Open MPI keeps what it allocates
                                " timeout 120 mpirun --oversubscribe -n " + std::to_string(ranks) + " sh -c '" + test::programFile() + " " +
                                arguments + "' > stdout.txt 2> stderr.txt < /dev/null";
    const int status = std::system(command.c_str());
    return {WEXITSTATUS(status), readAll(folder / "stdout.txt"), readAll(folder / "stderr.txt")};
  }
};

TEST_F(SweepOnRanks, HasTheSameTableWhateverTheirNumber) {
  EXPECT_EQ(tendril({"sweep", "scene.yaml", "--over", "turns=0.05:0.6:24", "-o", "alone"}).code, 0);
  for (const int ranks : {2, 3}) {
    const std::string out = "on-" + std::to_string(ranks);
    const Answer answer = mpirun(ranks, "sweep scene.yaml --over turns=0.05:0.6:24 -o " + out);
    EXPECT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(answer.out, "24 of 24 runs succeeded. Table in " + out + "/sweep.csv\n") << answer.err;
    EXPECT_TRUE(readAll(folder / out / "sweep.csv") == readAll(folder / "alone" / "sweep.csv"));
    EXPECT_EQ(answer.err.find("has no MPI") == std::string::npos, Ranks::areSupported()) << answer.err;
  }
}

TEST_F(SweepOnRanks, AreRefusedIfTheyDoNotAgree) {
  if (!Ranks::areSupported()) GTEST_SKIP() << "this build has no MPI";
  const Answer differing =
      mpirun(3, "sweep scene.yaml --over turns=0.1,0.2 --set beams.strip.elements=$((3 + OMPI_COMM_WORLD_RANK / 2)) -o study");
  EXPECT_EQ(differing.code, 2) << differing.out << differing.err;
  EXPECT_NE(differing.err.find("rank 2 does not agree with rank 0"), std::string::npos) << differing.err;
  EXPECT_FALSE(fs::exists(folder / "study"));
  writeAll(folder / "scene-0.yaml", rollUp);
  const Answer missing = mpirun(2, "sweep scene-$OMPI_COMM_WORLD_RANK.yaml --over turns=0.1,0.2 -o study");
  EXPECT_EQ(missing.code, 2) << missing.out << missing.err;
  EXPECT_NE(missing.err.find("on rank 1: scene-1.yaml"), std::string::npos) << missing.err;
  const Answer unwritable = mpirun(2, "sweep scene.yaml --over turns=0.1,0.2 -o scene.yaml/study");
  EXPECT_EQ(unwritable.code, 4) << unwritable.out << unwritable.err;
  writeAll(folder / "points-0.csv", "turns\n0.1\n");
  const Answer pointless = mpirun(2, "sweep scene.yaml --points points-$OMPI_COMM_WORLD_RANK.csv -o study");
  EXPECT_EQ(pointless.code, 2) << pointless.out << pointless.err;
  EXPECT_NE(pointless.err.find("on rank 1: points-1.csv"), std::string::npos) << pointless.err;
}

// What ends one rank ends all: none waits for another.
TEST_F(SweepOnRanks, CertifyEndsTogether) {
  if (!Ranks::areSupported()) GTEST_SKIP() << "this build has no MPI";
  const std::string uncertain = rollUp + "uncertain: [{name: turns, range: [0.1, 0.2]}]\n"
                                         "certify: {performance: reach, threshold: 5, samples: 5, diameter: annealing}\n";
  std::string text = uncertain;
  text.insert(text.find("outputs:") + std::string("outputs:").size(),
              "\n  - {name: reach, measure: position, on: strip.end, component: x}");
  writeAll(folder / "scene-0.yaml", text);
  const Answer missing = mpirun(2, "certify scene-$OMPI_COMM_WORLD_RANK.yaml -o result");
  EXPECT_EQ(missing.code, 2) << missing.out << missing.err;
  EXPECT_NE(missing.err.find("on rank 1: scene-1.yaml"), std::string::npos) << missing.err;
  const Answer unwritable = mpirun(2, "certify scene-0.yaml -o scene.yaml/result");
  EXPECT_EQ(unwritable.code, 4) << unwritable.out << unwritable.err;
}

}
}
