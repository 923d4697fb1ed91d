#include "app/program.h"
#include "support/run_scenes.h"
#include "tendril/io/results.h"

#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace tendril {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using Json = nlohmann::json;

TEST_F(Program, RunsASceneAndSaysWhatCameOut) {
  scene(rollUp);
  const Answer answer = tendril({"run", "scene.yaml"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  for (const char* part : {"tip", " m\n", "bending", " N m\n", "Done", "scene.result"}) {
    EXPECT_NE(answer.out.find(part), std::string::npos) << answer.out << "\nmissing: " << part;
  }
  EXPECT_EQ(summary("scene.result")["status"], "success");
  for (const char* name : {"results.h5", "log.txt", "scene.yaml"}) EXPECT_TRUE(fs::exists(folder / "scene.result" / name)) << name;
}

TEST_F(Program, PrintsOneLineOfJson) {
  scene(rollUp);
  const Answer answer = tendril({"run", "--set", "turns=1", "scene.yaml", "--json", "-o", "out"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.out.find('\n'), answer.out.size() - 1);
  EXPECT_EQ(Json::parse(answer.out), summary("out"));
  EXPECT_EQ(Json::parse(answer.out)["parameters"]["turns"], 1);
}

TEST_F(Program, IsQuietIfAsked) {
  scene(rollUp);
  const Answer answer = tendril({"run", "scene.yaml", "--quiet"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.out + answer.err, "");
}

TEST_F(Program, RefusesWrongInput) {
  scene(rollUp);
  expectOneError(tendril({"run", "scene.yaml", "--set", "turn=1"}), 2, {"turn", "turns"});
  expectOneError(tendril({"run", "nowhere.yaml"}), 2, {"nowhere.yaml"});
  expectOneError(tendril({"check", "nowhere.yaml"}), 2, {"nowhere.yaml"});
  expectOneError(tendril({"export", "nowhere"}), 2, {"nowhere"});
  EXPECT_FALSE(fs::exists(folder / "scene.result"));
}

TEST_F(Program, ShowsItsHelpForWrongOptions) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{}, {"fly"}, {"run"}, {"run", "scene.yaml", "--fast"}, {"export", "out", "--format", "pdf"}}) {
    expectOneError(tendril(arguments), 2, {"Usage"});
  }
  const Answer version = tendril({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_TRUE(version.out.starts_with("tendril ")) << version.out;
  const Answer help = tendril({"run", "--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("--resume"), std::string::npos);
}

TEST_F(Program, ReportsFailedNumerics) {
  scene(undefinedLater);
  const Answer answer = tendril({"run", "scene.yaml", "-o", "out", "--json"});
  expectOneError(answer, 3, {"step", "t = 0."});
  EXPECT_EQ(Json::parse(answer.out)["status"], "failed");
  EXPECT_GT(ResultReader(folder / "out" / "results.h5").rows(), 8u);

  scene(freeBeam);
  expectOneError(tendril({"run", "scene.yaml", "-o", "free"}), 3, {"driftwood"});
  EXPECT_EQ(summary("free")["status"], "failed");
}

TEST_F(Program, ReportsAFolderThatCannotBeMade) {
  scene(rollUp);
  writeAll(folder / "file", "");
  expectOneError(tendril({"run", "scene.yaml", "-o", "file/out"}), 4, {"file/out"});
}

TEST_F(Program, ReportsAFullDiskAndKeepsWhatWasWritten) {
  scene(fallingRod);
  // A limit on the size of files stands for the full disk.
  const Answer answer = tendril({"run", "scene.yaml", "-o", "out", "--set", "duration=4", "--set", "h=0.0005"}, 300000);
  expectOneError(answer, 4, {"out/results.h5", "rows are kept"});
  EXPECT_EQ(summary("out")["status"], "error");
  const ResultReader results(folder / "out" / "results.h5");
  EXPECT_TRUE(results.state("q").allFinite());
}

TEST_F(Program, StopsInGoodOrderAndGoesOnToTheSameBits) {
  scene(fallingRod);
  const std::vector<std::string> whole{"run",     "scene.yaml",           "-o", "whole", "--set", "duration=20", "--set", "h=0.001",
                                       "--quiet", "--checkpoint-seconds", "0"};
  std::vector<std::string> parts = whole;
  parts[3] = "parts";
  const auto checkpoints = [this] {
    const std::string log = readAll(folder / "parts" / "log.txt");
    std::size_t count = 0;
    for (std::size_t at = log.find("info: checkpoint of"); at != std::string::npos; at = log.find("info: checkpoint of", at + 1)) ++count;
    return count;
  };
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    const std::size_t before = checkpoints();
    const pid_t child = start(parts);
    // Some checkpoints on, and long before the end.
    for (int i = 0; i < 3000 && checkpoints() < before + 2; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(child, signal);
    const Answer answer = wait(child);
    if (signal == SIGKILL) {
      EXPECT_EQ(answer.code, -SIGKILL);
    } else {
      expectOneError(answer, 130, {"interrupted after step", "--resume"});
      EXPECT_EQ(summary("parts")["status"], "interrupted");
    }
    if (signal == SIGINT) parts.push_back("--resume");
  }
  EXPECT_EQ(tendril(parts).code, 0);
  EXPECT_EQ(tendril(whole).code, 0);

  const ResultReader a(folder / "whole" / "results.h5"), b(folder / "parts" / "results.h5");
  ASSERT_EQ(a.rows(), b.rows());
  for (const std::string& name : a.states()) {
    const auto first = a.state(name), second = b.state(name);
    EXPECT_EQ(std::memcmp(first.data(), second.data(), sizeof(double) * std::size_t(first.size())), 0) << name;
  }
  Json first = summary("whole"), second = summary("parts");
  first.erase("time"), second.erase("time");
  EXPECT_EQ(first, second);
}

TEST_F(Program, LeavesACompleteRunAsItIs) {
  scene(fallingRod);
  EXPECT_EQ(tendril({"run", "scene.yaml", "-o", "out", "--checkpoint-every", "30", "--checkpoint-seconds", "0"}).code, 0);
  const std::string log = readAll(folder / "out" / "log.txt"), results = readAll(folder / "out" / "results.h5");
  const Answer again = tendril({"run", "scene.yaml", "-o", "out", "--resume"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.out.find("complete"), std::string::npos) << again.out;
  EXPECT_EQ(Json::parse(tendril({"run", "scene.yaml", "-o", "out", "--resume", "--json"}).out), summary("out"));
  EXPECT_EQ(readAll(folder / "out" / "log.txt"), log);
  EXPECT_EQ(readAll(folder / "out" / "results.h5"), results);
  // Another run is not this one.
  expectOneError(tendril({"run", "scene.yaml", "-o", "out", "--resume", "--set", "g=5"}), 2, {"checkpoint"});
}

TEST_F(Program, TwoRunsDoNotShareAFolder) {
  scene(fallingRod);
  const pid_t first = start({"run", "scene.yaml", "-o", "out", "--set", "duration=50", "--set", "h=0.001"});
  for (int i = 0; i < 3000 && !fs::exists(folder / "out" / "results.h5"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  for (const char* more : {"--quiet", "--resume"}) {
    expectOneError(tendril({"run", "scene.yaml", "-o", "out", more}), 2, {"out", "in use by another run", "-o"});
  }
  // The lock dies with its holder.
  kill(first, SIGKILL);
  EXPECT_EQ(wait(first).code, -SIGKILL);
  EXPECT_EQ(tendril({"run", "scene.yaml", "-o", "out"}).code, 0);
}

TEST_F(Program, RefusesADamagedCheckpointWithARemedy) {
  scene(fallingRod);
  EXPECT_EQ(tendril({"run", "scene.yaml", "-o", "out", "--checkpoint-every", "30", "--checkpoint-seconds", "0"}).code, 0);
  fs::remove(folder / "out" / "summary.json"); // as if it had been killed before its end
  writeAll(folder / "out" / "checkpoint", readAll(folder / "out" / "checkpoint").substr(0, 100));
  expectOneError(tendril({"run", "scene.yaml", "-o", "out", "--resume"}), 2, {"out/checkpoint", "cut short", "without --resume"});
}

TEST_F(Program, ChecksASceneWithoutRunningIt) {
  scene(fallingRod);
  const Answer answer = tendril({"check", "scene.yaml"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  for (const char* part :
       {"A falling rod", "rod: 4 elements, 1 m", "hinge: spherical, 3 equations", "g = 9.81", "30 velocities", "ready"}) {
    EXPECT_NE(answer.out.find(part), std::string::npos) << answer.out << "\nmissing: " << part;
  }
  EXPECT_FALSE(fs::exists(folder / "scene.result"));
}

TEST_F(Program, PrintsTheSchema) {
  const Answer answer = tendril({"schema"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_TRUE(Json::parse(answer.out)["properties"].contains("beams"));
}

TEST_F(Program, ListsAndCopiesTheGallery) {
  const Answer list = tendril({"gallery"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("beams/roll-up "), std::string::npos) << list.out;
  EXPECT_EQ(tendril({"gallery", "beams/roll-up"}).code, 0);
  EXPECT_EQ(tendril({"check", "roll-up.yaml"}).code, 0);
  expectOneError(tendril({"gallery", "beams/roll-up"}), 2, {"roll-up.yaml", "exists"});
  expectOneError(tendril({"gallery", "beams/roll-down"}), 2, {"roll-down"});
}

TEST_F(Program, ExportsResults) {
  scene(rollUp);
  tendril({"run", "scene.yaml", "-o", "out"});
  const Answer answer = tendril({"export", "out", "--steps", "last"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_NE(answer.out.find("out/vtk/beams.pvd\n"), std::string::npos) << answer.out;
  EXPECT_EQ(tendril({"export", "out", "--format", "csv"}).code, 0);
  EXPECT_TRUE(fs::exists(folder / "out" / "csv" / "tip.csv"));
  // A folder with exports is still one of a run.
  EXPECT_EQ(tendril({"run", "scene.yaml", "-o", "out"}).code, 0);
}

}
}
