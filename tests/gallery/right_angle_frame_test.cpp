// The right-angle frames: critical loads found blind, both branches out of the plane, and a full revolution.
#include "right_angle_frame.h"
#include "support/places.h"
#include "support/run_scene.h"
#include "tendril/lie/so3.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

using namespace tendril;

namespace {

const std::filesystem::path folder = std::filesystem::path(test::sourceFolder()) / "scenes/beams";

double criticalLoad(const std::string& name, const std::vector<std::string>& overrides = {}) {
  const Scene scene = Scene::fromFile(folder / (name + ".yaml"), overrides);
  return tendril::testing::resultsOf(tendril::testing::runToEnd(scene)).at("critical_load")[0];
}

/// The path out of the plane: load parameters at its limit points, the total turn of the corner [rad], its height over the plane.
struct Revolution {
  std::vector<double> limits;
  double turn = 0;
  double height = 0;
};

Revolution revolve(double disturbance) {
  const Scene scene = Scene::fromFile(folder / "right-angle-frame.yaml",
                                      std::vector<std::string>{"path=arc-length", "disturbance=" + std::to_string(disturbance)});
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  const int corner = scene.mechanism().model->blocks()[scene.mechanism().beam("first").nodes.back()].q;
  analysis->start();
  Revolution path;
  Matrix3 before = loadPose(analysis->state().q.data() + corner).R;
  while (!analysis->finished() && std::abs(path.turn) < 2 * M_PI - 0.01) {
    const StepReport& report = analysis->advance();
    if (report.note == "limit point" && report.critical) path.limits.push_back(*report.critical);
    const Pose pose = loadPose(analysis->state().q.data() + corner);
    path.turn += so3::log(pose.R * before.transpose()).x();
    before = pose.R;
    if (std::abs(pose.x.z()) > std::abs(path.height)) path.height = pose.x.z();
  }
  return path;
}

}

TEST(RightAngleFrame, CriticalLoadsWithinOnePercent) {
  const oracles::RightAngleFrame frame;
  const double moment = oracles::hingedFrameCriticalMoment(frame);
  EXPECT_NEAR(criticalLoad("right-angle-frame"), moment, 0.01 * moment);
  const double away = oracles::cantileverFrameBifurcation(frame, 1), towards = oracles::cantileverFrameBifurcation(frame, -1);
  EXPECT_NEAR(criticalLoad("cantilever-right-angle-frame"), away, 0.01 * away);
  EXPECT_NEAR(criticalLoad("cantilever-right-angle-frame", {"P=-1"}), -towards, 0.01 * towards);
}

TEST(RightAngleFrame, CriticalMomentConvergesWithTheSquareOfTheElement) {
  const double a = criticalLoad("right-angle-frame", {"elements=20"}), b = criticalLoad("right-angle-frame", {"elements=40"}),
               c = criticalLoad("right-angle-frame", {"elements=80"});
  EXPECT_NEAR(std::log2((a - b) / (b - c)), 2, 0.1);
}

// Beyond the bifurcation the moment falls through zero to -242.9 N mm, comes back to -209.7 and goes on to -622.2 after a full turn.
TEST(RightAngleFrame, BothBranchesPassTheirLimitPointsToAFullRevolution) {
  const Revolution up = revolve(1e-3), down = revolve(-1e-3);
  for (const Revolution& path : {up, down}) {
    ASSERT_GE(path.limits.size(), 3u);
    EXPECT_NEAR(700 * path.limits[0], 622.21, 3);
    EXPECT_NEAR(700 * path.limits[1], -242.9, 2.4);
    EXPECT_NEAR(700 * path.limits[2], -209.7, 2.1);
    EXPECT_NEAR(std::abs(path.turn), 2 * M_PI, 0.05);
    EXPECT_NEAR(std::abs(path.height), 167.2, 1.7);
  }
  EXPECT_NEAR(up.turn, -down.turn, 1e-6);
  EXPECT_NEAR(up.height, -down.height, 1e-6 * 240);
}
