// Every shipped scene loads, and the cheap ones are run against closed forms and reference solutions.
#include "tendril/io/scene.h"

#include "elastica.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>

using namespace tendril;

namespace {

constexpr double pi = std::numbers::pi;
const std::filesystem::path folder = std::filesystem::path(TENDRIL_SOURCE_DIR) / "scenes";

std::vector<std::string> sceneFiles() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".yaml") files.push_back(std::filesystem::relative(entry.path(), folder));
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Runs a scene to its end; results by name.
std::map<std::string, VectorX> run(const std::string& name, const std::vector<std::string>& overrides = {}) {
  const Scene scene = Scene::fromFile(folder / (name + ".yaml"), overrides);
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  Outputs outputs = scene.makeOutputs();
  analysis->start();
  outputs.observe(*analysis, {});
  while (!analysis->finished()) outputs.observe(*analysis, analysis->advance());
  std::map<std::string, VectorX> results;
  for (int i = 0; i < outputs.size(); ++i) {
    results[outputs.infos()[i].name] = Eigen::Map<const VectorX>(outputs.result(i).data(), Eigen::Index(outputs.result(i).size()));
  }
  return results;
}

void expectNear(const VectorX& value, const Vector3& expected, double tolerance) {
  EXPECT_LT((value - expected).norm(), tolerance) << value.transpose() << " instead of " << expected.transpose();
}

}

class Loading : public ::testing::TestWithParam<std::string> {};

TEST_P(Loading, WithoutErrorOrWarning) {
  const Scene scene = Scene::fromFile(folder / GetParam());
  EXPECT_FALSE(scene.title().empty());
  EXPECT_TRUE(scene.warnings().empty()) << scene.warnings().front();
  EXPECT_GT(scene.makeOutputs().size(), 0);
  for (const Outputs::Info& info : scene.makeOutputs().infos()) EXPECT_FALSE(info.description.empty()) << info.name;
}

INSTANTIATE_TEST_SUITE_P(Scenes, Loading, ::testing::ValuesIn(sceneFiles()), [](const auto& scene) {
  std::string name = scene.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
});

TEST(BeamScenes, PureBendingIsExactForAnyMeshAndModel) {
  const double k = pi / 8;
  for (const char* model : {"SR", "KL", "IK"}) {
    for (const char* elements : {"1", "2", "5"}) {
      const auto results = run("beams/pure-bending", {std::string("model=") + model, std::string("elements=") + elements});
      expectNear(results.at("tip"), {std::sin(k) / k, (1 - std::cos(k)) / k, 0}, 1e-9);
      expectNear(results.at("tip_rotation"), {0, 0, k}, 1e-9);
    }
  }
}

TEST(BeamScenes, RollUpClosesTheCircle) {
  expectNear(run("beams/roll-up").at("tip"), Vector3::Zero(), 1e-9);
  expectNear(run("beams/roll-up", {"turns=0.5", "L=3"}).at("tip"), {0, 6 / pi, 0}, 1e-8);
}

TEST(BeamScenes, HeavyCantileverFollowsTheElastica) {
  for (double Gamma : {10., 100.}) {
    const Eigen::Vector2d tip = oracles::heavyElasticaTip(Gamma);
    for (const char* model : {"SR", "KL", "IK"}) {
      const auto results = run("beams/heavy-cantilever", {"Gamma=" + std::to_string(Gamma), std::string("model=") + model});
      // Stretch under the weight moves the extensible models by some parts in a thousand.
      EXPECT_NEAR(results.at("ratio")[0], -tip[1] / tip[0], (model[0] == 'I' ? 1e-3 : 3e-3) * -tip[1] / tip[0]) << model << " " << Gamma;
      EXPECT_EQ(results.at("ratio")[0], -results.at("tip")[1] / results.at("tip")[0]);
    }
  }
}

TEST(BeamScenes, HelixConvergesWithTheSquareOfTheElementToTheLimitOfItsModel) {
  const std::map<std::string, double> limit{{"SR", -0.2752296}, {"KL", -0.2741012}, {"IK", -0.2739393}};
  for (const auto& [model, z] : limit) {
    const double coarse = run("beams/helix-gravity", {"model=" + model, "elements=40"}).at("tip")[2];
    const double fine = run("beams/helix-gravity", {"model=" + model, "elements=80"}).at("tip")[2];
    EXPECT_NEAR((4 * fine - coarse) / 3, z, 2e-6) << model;
    EXPECT_NEAR((coarse - z) / (fine - z), 4, 0.2) << model;
  }
}

TEST(BeamScenes, FortyFiveDegreeBend) {
  expectNear(run("beams/bend45").at("tip"), {15.6848, 47.1504, 53.4749}, 3e-3);
  expectNear(run("beams/bend45", {"torsion=saint-venant"}).at("tip"), {15.5578, 46.8919, 53.6074}, 3e-3);
}

TEST(BeamScenes, LeesFramePassesBothLimitPoints) {
  const auto results = run("beams/lee-frame");
  EXPECT_NEAR(results.at("max_load")[0], 18.54656, 18.54656e-3 / 2);
  EXPECT_NEAR(results.at("min_load")[0], -9.39615, 9.39615e-3 / 2);
}

TEST(BeamScenes, CurvedRodsLeaveTheirPlaneWhenHeavy) {
  const auto light = run("beams/bend-twist", {"Xp=0.5", "elements=50"}), heavy = run("beams/bend-twist", {"Xp=1", "elements=50"});
  EXPECT_LT(light.at("psi")[0], 1e-8);
  EXPECT_EQ(light.at("class")[0], 0);
  EXPECT_GT(heavy.at("psi")[0], 0.1);
  EXPECT_EQ(heavy.at("class")[0], 1);
  // Without a disturbance nothing leaves the plane.
  EXPECT_LT(run("beams/bend-twist", {"Xp=1", "elements=50", "side=0"}).at("psi")[0], 1e-12);
}

TEST(MechanismScenes, HeavyTop) {
  const Vector3 expected(-0.15041682, -0.72416559, -0.67302227);
  const auto coarse = run("mechanisms/heavy-top", {"h=2e-4"}), fine = run("mechanisms/heavy-top", {"h=1e-4"});
  expectNear(fine.at("position"), expected, 3e-3);
  expectNear((4 * fine.at("position") - coarse.at("position")) / 3, expected, 1e-4);
  EXPECT_NEAR(fine.at("energy")[0], 5435.69679, 5e-3);
}

TEST(MechanismScenes, Bricard) {
  const auto results = run("mechanisms/bricard");
  expectNear(results.at("position_at_1"), {0.510501, -1.649168, 0.140123}, 1e-5);
  expectNear(results.at("position"), {1, -1.000269, 0.999731}, 1e-5);
  EXPECT_NEAR(results.at("energy")[0], -29.43, 1e-5);
}

TEST(MechanismScenes, FourBarsOfAnyNumber) {
  const std::vector<std::string> step{"h=2e-3", "windows=2"};
  const auto results = run("mechanisms/four-bar", step);
  expectNear(results.at("position"), {0.3284581, 0.9445185, 0}, 3e-4);
  EXPECT_NEAR(results.at("energy")[0], 35.835, 1e-4);
  EXPECT_EQ(Scene::fromFile(folder / "mechanisms/four-bar.yaml", std::vector<std::string>{"windows=7"}).mechanism().bodies.size(), 15u);
}

TEST(CableScenes, CatenaryBridge) {
  const auto results = run("cables/catenary-bridge");
  EXPECT_NEAR(results.at("sag")[0], 10.27337, 2e-3);
  // The rope's small bending stiffness and the polygon of elements account for a part in a thousand.
  expectNear(results.at("reactions"), {-996438, 402654, 0}, 1e-3 * 996438);
  expectNear(results.at("reactions_right"), {996438, 502416, 0}, 1e-3 * 996438);
  EXPECT_NEAR(results.at("first_hanger")[0], 110608, 1e-2 * 110608);
  // Weight of cable and deck.
  const double weight = results.at("reactions")[1] + results.at("reactions_right")[1];
  EXPECT_NEAR(weight, (90000 + 22 * 102.722069) * 9.81, 1e-6 * weight);
}

TEST(FullScenes, FallingCable) {
  const auto results = run("cables/falling-cable");
  expectNear(results.at("tip_half"), {-0.2211, 0, -0.9346}, 1e-3);
  expectNear(results.at("tip"), {-0.9625, 0, 0.0419}, 1e-3);
  EXPECT_NEAR(results.at("energy")[0], 0, 1e-4);
}

TEST(FullScenes, FlexiblePendulum) {
  const auto results = run("beams/flexible-pendulum", {"elements=40", "analysis.rho_infinity=0.9"});
  expectNear(results.at("tip_half"), {-0.2331, 0, -0.9194}, 2e-3);
  expectNear(results.at("tip"), {-0.9401, 0, -0.0991}, 2e-3);
}

TEST(FullScenes, FlexibleSliderCrank) {
  const auto results = run("mechanisms/slider-crank-flexible");
  EXPECT_NEAR(results.at("largest_deflection")[0], 0.0154, 2e-4);
  EXPECT_NEAR(results.at("least_deflection")[0], -0.0155, 2e-4);
}
