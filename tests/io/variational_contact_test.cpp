// Contact of variational integrators in scenes: what is chosen and refused, what is measured, how runs fail and go on.
#include "support/scene_text.h"
#include "tendril/dynamics/lie_group_variational.h"
#include "tendril/dynamics/variational.h"
#include "tendril/io/results.h"
#include "tendril/io/run.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>

namespace fs = std::filesystem;
using namespace tendril;
using namespace tendril::testing;

namespace {

/// A ball and a sliding box on a floor, joined to nothing.
const std::string thrown = R"(tendril: 1
bodies:
  - {name: ball, mass: 2, shapes: [{kind: sphere, radius: 0.1}], position: [0, 0, 0.3], velocity: [0.5, 0, 0]}
  - {name: sled, mass: 3, shapes: [{kind: box, size: [0.4, 0.2, 0.1]}], position: [0, 1, 0.05], velocity: [2, 0, 0]}
obstacles:
  - {name: floor, shapes: [{kind: half-space}]}
contacts:
  - {name: rough, between: all, friction: 0.3, restitution: 0.5}
gravity: {acceleration: [0, 0, -9.81]}
analysis: {type: dynamic, coordinates: directors, duration: 0.6, step: 1e-3}
outputs:
  - {name: at, measure: position, on: sled}
  - {name: force, measure: contact force, between: [sled, floor]}
  - {name: total, measure: contact impulse, between: [ball, floor]}
  - {name: count, measure: contact count}
  - {name: overlap, measure: penetration, result: max}
  - {name: residual, measure: friction residual, result: max}
  - {name: lost, measure: dissipation}
  - {name: energy, measure: discrete energy, result: last}
)";

RunOutcome runIn(const TemporaryFolder& folder, const std::string& text, const std::string& name, long steps = 0, bool resume = false) {
  RunOptions options;
  options.scene = folder / "scene.yaml";
  writeAll(options.scene, text);
  options.folder = folder / name;
  options.terminalLevel = LogLevel::Error;
  options.checkpointSeconds = 0;
  options.checkpointEvery = 50;
  options.resume = resume;
  if (steps > 0) options.stop = [steps, taken = 0L]() mutable { return ++taken >= steps; };
  return run(options);
}

double valueOf(const RunOutcome& outcome, const char* name, std::size_t k = 0) { return outcome.summary.outputs.at(name).values.at(k); }

TEST(VariationalContactScenes, ChooseTheIntegratorInDirectors) {
  for (const char* analysis : {"coordinates: directors", "method: variational", "method: energy-momentum"}) {
    const Scene scene = parse(with(thrown, "coordinates: directors", analysis));
    const std::unique_ptr<Analysis> made = scene.makeAnalysis();
    EXPECT_NE(dynamic_cast<const VariationalIntegrator*>(made.get()), nullptr);
    EXPECT_NE(made->contacts(), nullptr);
  }
}

TEST(VariationalContactScenes, RefuseWhatDoesNotGoTogether) {
  expectSceneRefused(thrown, "coordinates: directors", "method: variational, coordinates: pose",
                     {"scene.yaml:10", "coordinates", "director coordinates alone", "moreau"});
  expectSceneRefused(thrown, "step: 1e-3}", "step: 1e-3, adaptation: 1}", {"adaptation", "impacts take no time"});
  expectSceneRefused(thrown, "step: 1e-3}", "step: 1e-3, theta: 0.5}", {"theta", "does not know this key"});
  const std::string touching =
      "beams: [{name: rod, curve: {type: straight, from: [0, 0, 1], to: [1, 0, 1]}, section: {shape: circle, radius: "
      "0.01}, material: {E: 1e7, nu: 0.4, density: 1000}, elements: 2}]\nobstacles:";
  expectSceneRefused(thrown, "obstacles:", touching, {"rod", "no contact of beams", "nonsmooth-alpha"});
}

/// The box slides by mu g until friction stops it, the ball has bounced; forces of the floor are weights in the end.
TEST(VariationalContactScenes, MeasureWhatMoreauMeasures) {
  const TemporaryFolder folder;
  const RunOutcome outcome = runIn(folder, with(thrown, "duration: 0.6", "duration: 1.2"), "out");
  ASSERT_EQ(outcome.status, RunStatus::Success) << outcome.message;
  const double v = 2, mu = 0.3, g = 9.81;
  EXPECT_NEAR(valueOf(outcome, "at", 0), v * v / (2 * mu * g), 1e-5);
  EXPECT_NEAR(valueOf(outcome, "at", 2), 0.05, 1e-10);
  EXPECT_NEAR(valueOf(outcome, "force", 2), 3 * g, 1e-5);
  EXPECT_NEAR(valueOf(outcome, "count"), 5, 0.1);
  EXPECT_LT(valueOf(outcome, "overlap"), 1e-10);
  EXPECT_LT(valueOf(outcome, "residual"), 1e-8);
  // What is not left has been taken: the energy of slip and of impacts.
  const double start = 0.5 * 2 * 0.25 + 0.5 * 3 * v * v + g * (2 * 0.3 + 3 * 0.05);
  EXPECT_NEAR(valueOf(outcome, "lost"), start - valueOf(outcome, "energy"), 2e-3);
  EXPECT_GT(valueOf(outcome, "lost"), 6);
}

TEST(VariationalContactScenes, ResumeToTheSameBits) {
  const TemporaryFolder folder;
  ASSERT_EQ(runIn(folder, thrown, "whole").status, RunStatus::Success);
  ASSERT_EQ(runIn(folder, thrown, "parts", 300).status, RunStatus::Interrupted);
  ASSERT_EQ(runIn(folder, thrown, "parts", 0, true).status, RunStatus::Success);
  const ResultReader whole(folder / "whole" / "results.h5"), parts(folder / "parts" / "results.h5");
  ASSERT_EQ(whole.outputs(), parts.outputs());
  for (const std::string& name : whole.outputs()) {
    const auto one = whole.output(name), other = parts.output(name);
    ASSERT_EQ(one.size(), other.size()) << name;
    EXPECT_EQ(std::memcmp(one.data(), other.data(), sizeof(double) * std::size_t(one.size())), 0) << name;
  }
}

TEST(VariationalContactScenes, GiveFrictionProblemsAway) {
  const TemporaryFolder folder;
  const std::string text = with(with(thrown, "step: 1e-3}", "step: 1e-3, dump: [10]}"), "duration: 0.6", "duration: 0.02");
  ASSERT_EQ(runIn(folder, text, "out").status, RunStatus::Success);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(folder / "out" / "friction")) files += entry.is_regular_file();
  EXPECT_EQ(files, 1);
}

/// Two walls close in on a ball that cannot give way.
TEST(VariationalContactScenes, KeepWhatWasComputedWhereContactsCannotBeSolved) {
  std::string text = with(thrown, "obstacles:\n",
                          "obstacles:\n  - {name: press, motion: {translation: [0.2*t, 0, 0]}, shapes: [{kind: half-space, normal: [1, 0, "
                          "0], position: [-0.11, 0, 0]}]}\n"
                          "  - {name: stop, shapes: [{kind: half-space, normal: [-1, 0, 0], position: [0.11, 0, 0]}]}\n");
  text = with(text, "position: [0, 0, 0.3], velocity: [0.5, 0, 0]", "position: [0, 0, 0.1]");
  text = with(text, "between: all", "between: [ball, all]");
  text = with(text, "position: [0, 1, 0.05], velocity: [2, 0, 0]", "position: [0, 1, 5]");
  const TemporaryFolder folder;
  const RunOutcome outcome = runIn(folder, text, "out");
  ASSERT_EQ(outcome.status, RunStatus::Failed);
  for (const char* word : {"step ", "t = ", "residual ", "1e-08 was asked", "'ball'"})
    EXPECT_NE(outcome.message.find(word), std::string::npos) << word << ": " << outcome.message;
  const ResultReader results(folder / "out" / "results.h5");
  EXPECT_NEAR(results.time().tail(1)[0], 0.1, 5e-3); // when both close
  EXPECT_TRUE(results.output("at").allFinite());
}

}
