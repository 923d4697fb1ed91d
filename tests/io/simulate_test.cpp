#include "support/files.h"
#include "support/run_scenes.h"
#include "tendril/io/run.h"
#include "tendril/io/simulate.h"
#include "tendril/scenes/scene.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tendril {
namespace {

using namespace testing;

/// What an analysis in memory can know of the summary of a run.
nlohmann::json essence(const Summary& summary) {
  nlohmann::json all = nlohmann::json::parse(summary.json());
  for (const char* ofRun : {"time", "scene", "parameters", "versions", "messages", "status"}) all.erase(ofRun);
  return all;
}

Summary inMemory(const Scene& scene, SimulateOptions options = {}) {
  const auto analysis = scene.makeAnalysis();
  Outputs outputs = scene.makeOutputs();
  options.isDynamic = scene.isDynamic();
  return simulate(*scene.mechanism().model, *analysis, outputs, options);
}

class SimulatedScene : public ::testing::TestWithParam<std::string> {};

TEST_P(SimulatedScene, SaysTheBitsOfTheSummaryOfItsRun) {
  const TemporaryFolder folder;
  RunOptions options;
  options.folder = folder / "run";
  const RunOutcome outcome = run(Scene::fromText(GetParam(), "scene.yaml"), options);
  EXPECT_EQ(outcome.summary.scene, "scene.yaml");
  const nlohmann::json expected = essence(outcome.summary);
  EXPECT_GT(expected["steps"], 1);
  EXPECT_EQ(expected, essence(inMemory(Scene::fromText(GetParam()))));
}

INSTANTIATE_TEST_SUITE_P(Scenes, SimulatedScene, ::testing::Values(fallingRod, rollUp));

TEST(Simulate, TellsEachStepAndStops) {
  const Scene scene = Scene::fromText(fallingRod);
  std::vector<long> steps;
  SimulateOptions options{.observe = [&](const StepReport& report) { steps.push_back(report.step); },
                          .stop = [&] { return steps.size() > 3; }};
  EXPECT_THROW(inMemory(scene, options), Interrupted);
  EXPECT_EQ(steps, (std::vector<long>{0, 1, 2, 3}));
}

}
}
