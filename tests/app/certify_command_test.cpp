#include "app/program.h"

#include <algorithm>
#include <string>

namespace tendril {
namespace {

using namespace testing;
using Json = nlohmann::json;

const std::string weight = R"(tendril: 1
parameters: {m: 1, samples: 40}
bodies:
  - {name: block, mass: m, inertia: [1, 1, 1]}
springs:
  - {name: spring, type: bushing, on: block, stiffness: [98.1, 98.1, 98.1, 98.1, 98.1, 98.1]}
gravity: {acceleration: [0, 0, -9.81]}
analysis: {type: static}
uncertain:
  - {name: m, range: [0.1, 2]}
certify: {performance: sinking, threshold: 0.4, samples: samples}
outputs:
  - {name: place, measure: position, on: block, component: z}
  - {name: sinking, expression: -place}
  - {name: bound, measure: certification, quantity: bound}
  - {name: mean, measure: certification, quantity: mean}
)";

TEST_F(Program, CertifiesWithTheSameNumbersWhateverTheWorkers) {
  scene(weight);
  EXPECT_EQ(tendril({"run", "scene.yaml", "-o", "run", "--quiet"}).code, 0);
  for (const char* jobs : {"1", "3"}) {
    const Answer answer = tendril({"certify", "scene.yaml", "-o", jobs, "-j", jobs, "--quiet"});
    ASSERT_EQ(answer.code, 0) << answer.err;
    EXPECT_EQ(summary(jobs)["outputs"], summary("run")["outputs"]);
    EXPECT_EQ(readAll(folder / jobs / "samples.csv"), readAll(folder / "run" / "samples.csv"));
  }
  EXPECT_LT(summary("run")["outputs"]["bound"]["value"], 0.2);
}

TEST_F(Program, CertifiesWithSamplesAndSeedOfTheCommand) {
  scene(weight);
  ASSERT_EQ(tendril({"certify", "scene.yaml", "--samples", "25", "--seed", "9", "--quiet"}).code, 0);
  const std::string table = readAll(folder / "scene.result" / "samples.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 26);
  EXPECT_TRUE(table.starts_with("sample,m,performance\n")) << table;
  ASSERT_EQ(tendril({"certify", "scene.yaml", "--samples", "25", "--quiet", "-o", "other"}).code, 0);
  EXPECT_NE(summary("scene.result")["outputs"]["mean"], summary("other")["outputs"]["mean"]);
  // The scene's own parameter for it is out of work, which is no mistake.
  EXPECT_EQ(tendril({"certify", "scene.yaml", "--samples", "25", "-o", "loud"}).err.find("is not used"), std::string::npos);
}

TEST_F(Program, CertifyRefusesWrongInput) {
  scene(weight.substr(0, weight.find("uncertain:")) + "outputs: [{name: place, measure: position, on: block}]\n");
  expectOneError(tendril({"certify", "scene.yaml"}), 2, {"certify", "tendril run"});
  scene(weight);
  expectOneError(tendril({"certify", "scene.yaml", "--set", "certify.threshold=0"}), 2, {"every one of the 40 samples"});
  EXPECT_EQ(tendril({"certify", "scene.yaml", "--samples", "0"}).code, 2);
}

}
}
