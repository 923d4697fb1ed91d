// Every shipped scene says by what it can be judged, and comes to that with the parameters of its file.
#include "gallery/scene_files.h"
#include "support/run_scene.h"

using namespace tendril;
using namespace tendril::testing;

class References : public ::testing::TestWithParam<std::string> {};
class FullReferences : public ::testing::TestWithParam<std::string> {};

TEST_P(References, NameTheirSource) { EXPECT_FALSE(Scene::fromFile(sceneFolder / GetParam()).reference().source.empty()); }

TEST_P(FullReferences, AreMet) {
  const Scene scene = Scene::fromFile(sceneFolder / GetParam());
  if (scene.reference().expected.empty()) GTEST_SKIP() << "the reference has no values";
  const std::map<std::string, VectorX> results = resultsOf(runToEnd(scene));
  for (const ExpectedOutput& expected : scene.reference().expected) {
    const VectorX& result = results.at(expected.output);
    const std::span<const double> numbers(result.data(), std::size_t(result.size()));
    EXPECT_TRUE(expected.isMet(numbers)) << expected.output << " is " << result.transpose() << ", off by " << expected.error(numbers)
                                         << ", allowed " << expected.tolerance;
  }
}

INSTANTIATE_TEST_SUITE_P(Scenes, References, ::testing::ValuesIn(sceneFiles()), testName);
INSTANTIATE_TEST_SUITE_P(Scenes, FullReferences, ::testing::ValuesIn(sceneFiles()), testName);
