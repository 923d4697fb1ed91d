#include "tendril/studies/certification_study.h"

#include "support/scene_text.h"
#include "tendril/scenes/certification.h"
#include "tendril/scenes/scene.h"

#include <filesystem>
#include <memory>

namespace tendril {
namespace {

using namespace testing;

const std::string weight = R"(tendril: 1
parameters: {m: 1}
bodies: [{name: block, mass: m, inertia: [1, 1, 1]}]
springs: [{name: spring, type: bushing, on: block, stiffness: [98.1, 98.1, 98.1, 98.1, 98.1, 98.1]}]
gravity: {acceleration: [0, 0, -9.81]}
analysis: {type: static}
uncertain: [{name: m, range: [0.1, 2]}]
certify: {performance: place, threshold: 0.4, samples: 5}
outputs: [{name: place, measure: position, on: block, component: z}]
)";

// Whatever path it is given: only what a study wrote is taken away.
TEST(CertificationStudy, LeavesFoldersOfOthersAsTheyAre) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "mine" / "deep");
  writeAll(folder / "mine" / "letter.txt", "dear");
  const Scene scene = Scene::fromText(weight, "scene.yaml");
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  analysis->start();
  const auto& certification = dynamic_cast<const Certification&>(*analysis);
  expectError<InputError>([&] { writeCertificationStudy(folder / "mine", certification, "scene.yaml", {}); }, {"mine", "left as it is"});
  EXPECT_EQ(readAll(folder / "mine" / "letter.txt"), "dear");
  EXPECT_TRUE(std::filesystem::exists(folder / "mine" / "deep"));
  for (int twice = 0; twice < 2; ++twice) writeCertificationStudy(folder / "new", certification, "scene.yaml", {});
  EXPECT_TRUE(std::filesystem::exists(folder / "new" / "study.json"));
}

}
}
