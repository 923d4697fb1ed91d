// Scenes of solvability under other parameters than those of their files, and a run that is watched.
#include "gallery/scene_files.h"
#include "support/run_scene.h"

#include <cmath>
#include <numbers>

using namespace tendril;
using namespace tendril::testing;

namespace {

constexpr double degree = std::numbers::pi / 180;

std::map<std::string, VectorX> examine(const std::string& name, const std::vector<std::string>& overrides) {
  return resultsOf(runToEnd(Scene::fromFile(sceneFolder / ("solvability/" + name + ".yaml"), overrides)));
}

std::string set(const std::string& name, double value) { return name + "=" + std::to_string(value); }

}

TEST(SolvabilityScenes, GuidedRod) {
  for (const double angle : {20.0, 60.0, 90.0}) {
    for (const double rate : {0.0, 3.0, 7.0}) {
      const double s = std::sin(angle * degree), c = std::cos(angle * degree), force = (9.81 - 0.5 * rate * rate * s) / (1 + 3 * c * c);
      EXPECT_NEAR(examine("guided-rod", {set("angle", angle), set("rate", rate)}).at("force")[0], force, 1e-8);
      EXPECT_NEAR(examine("guided-rod-unilateral", {set("angle", angle), set("rate", rate)}).at("force")[0], std::max(0.0, force), 1e-8);
    }
  }
}

TEST(SolvabilityScenes, PainleveRodJamsOrLiftsAboveTheBound) {
  for (const double angle : {30.0, 60.0, 80.0}) {
    const double s = std::sin(angle * degree), c = std::cos(angle * degree), bound = (1 + 3 * c * c) / (3 * s * c);
    EXPECT_NEAR(examine("painleve-rod", {set("angle", angle)}).at("bound")[0], bound, 1e-8);
    EXPECT_EQ(examine("painleve-rod", {set("angle", angle), set("mu", 0.99 * bound)}).at("solutions")[0], 1);
    EXPECT_EQ(examine("painleve-rod", {set("angle", angle), set("mu", 1.01 * bound)}).at("solutions")[0], 0);
  }
}

TEST(SolvabilityScenes, PainleveKleinRegions) {
  for (const double mu1 : {0.0, 0.4, 1.3, 2.5}) {
    for (const double mu2 : {0.0, 0.9, 1.8}) {
      const auto results = examine("painleve-klein", {set("angle", 50), set("mu1", mu1), set("mu2", mu2)});
      const double limit = 2 / std::tan(50 * degree);
      EXPECT_EQ(results.at("unique")[0] == 1, std::abs(mu1 - mu2) < limit) << mu1 << " " << mu2;
      EXPECT_EQ(results.at("unique_always")[0] == 1, mu1 + mu2 < limit) << mu1 << " " << mu2;
      EXPECT_NEAR(results.at("bound")[0], 1 / (3 * std::sin(50 * degree) * std::cos(50 * degree)), 1e-8);
    }
  }
}

TEST(SolvabilityScenes, FlexibleAndArticulated) {
  EXPECT_NEAR(examine("painleve-klein-flexible", {"d=1", "angle=30"}).at("bound")[0], 3.2332, 1e-4);
  EXPECT_NEAR(examine("painleve-klein-flexible", {"d=0", "angle=15"}).at("bound")[0], 2, 1e-4);
  EXPECT_NEAR(examine("articulated", {"angle=30"}).at("bound")[0], 1.73205, 1e-5);
  const double angle2 = std::asin(1.4 - std::sin(30 * degree)) / degree;
  EXPECT_NEAR(examine("articulated", {"angle=30", set("angle2", angle2)}).at("bound")[0], 0.84827, 1e-5);
}

TEST(SolvabilityScenes, LadderByAngle) {
  for (const auto& [angle, bound] : std::map<double, double>{{80, 0.505}, {60, 0.613}, {30, 0.517}, {10, 0.277}})
    EXPECT_NEAR(examine("ladder", {set("angle", angle)}).at("bound")[0], bound, 6e-4) << angle;
  EXPECT_NEAR(examine("ladder", {"m=1000", "l=2"}).at("beta2")[0], 1.0990, 1e-4);
}

TEST(SolvabilityScenes, WatchedRunReportsTheParadox) {
  const std::vector<std::string> watched{"analysis.monitor=solvability", "mu=1.5"};
  const Scene scene = Scene::fromFile(sceneFolder / "contact/painleve-rod.yaml", watched);
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  analysis->start();
  ASSERT_FALSE(analysis->messages().empty());
  EXPECT_NE(analysis->messages().back().find("Painleve"), std::string::npos) << analysis->messages().back();
  EXPECT_NE(analysis->messages().back().find("'rod' and 'floor'"), std::string::npos) << analysis->messages().back();
  double margin = 0;
  ASSERT_TRUE(analysis->monitor("friction margin", nullptr, &margin));
  EXPECT_NEAR(margin, (4.0 / 3) / 1.5, 1e-6);
  const Scene below = Scene::fromFile(sceneFolder / "contact/painleve-rod.yaml", std::vector<std::string>{watched[0], "mu=1.2"});
  const std::unique_ptr<Analysis> safe = below.makeAnalysis();
  safe->start();
  EXPECT_TRUE(safe->messages().empty());
}
