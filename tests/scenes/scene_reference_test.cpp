#include "tendril/scenes/scene_reference.h"

#include "support/scene_text.h"

#include <cmath>
#include <limits>

using namespace tendril;
using namespace tendril::testing;

namespace {

const std::string rod = R"(tendril: 1
parameters: {L: 2}
beams:
  - {name: rod, curve: {type: straight, from: [0, 0, 0], to: [L, 0, 0]}, section: {shape: circle, radius: 5 mm}, material: {E: 1 MPa, nu: 0}}
joints:
  - {name: wall, type: clamp, on: rod.start}
analysis: {type: static}
outputs:
  - {name: tip, measure: position, on: rod.end}
  - {name: height, measure: position, on: rod.end, component: y}
reference:
  source: statics
  expected:
    tip: {value: [L, 0, 0], relative: 1e-3}
    height: {value: 0, tolerance: 1e-6}
picture: {time: 0.5, camera: "1,2,3/0,0,0", show: -grid}
)";

void expectRefused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  expectSceneRefused(rod, from, to, parts);
}

}

TEST(SceneReference, IsKeptWithTheScene) {
  const Scene scene = parse(rod);
  const SceneReference& reference = scene.reference();
  EXPECT_EQ(reference.source, "statics");
  ASSERT_EQ(reference.expected.size(), 2u);
  EXPECT_EQ(reference.expected[0].output, "tip");
  EXPECT_EQ(reference.expected[0].value, (std::vector<double>{2, 0, 0}));
  EXPECT_DOUBLE_EQ(reference.expected[0].tolerance, 2e-3);
  EXPECT_DOUBLE_EQ(reference.expected[1].tolerance, 1e-6);
  EXPECT_EQ(scene.picture().time, 0.5);
  EXPECT_EQ(scene.picture().camera, "1,2,3/0,0,0");
  EXPECT_EQ(scene.picture().show, "-grid");
  EXPECT_EQ(scene.picture().colour, "");
  EXPECT_EQ(scene.picture().exaggerate, 1);
}

TEST(SceneReference, MayBeMissing) {
  const Scene scene = parse(rod.substr(0, rod.find("reference:")));
  EXPECT_EQ(scene.reference().source, "");
  EXPECT_TRUE(scene.reference().expected.empty());
  EXPECT_FALSE(scene.picture().time);
  EXPECT_EQ(scene.picture().camera, "home");
}

TEST(SceneReference, HoldsForTheParametersOfTheFile) {
  const Scene scene = parse(rod, {"L=3"});
  EXPECT_EQ(scene.reference().source, "statics");
  EXPECT_TRUE(scene.reference().expected.empty());
}

TEST(SceneReference, MeasuresTheDistanceOfAResult) {
  const ExpectedOutput expected{"tip", {1, 0}, 0.5};
  EXPECT_DOUBLE_EQ(expected.error(std::vector<double>{1.3, 0.4}), 0.5);
  EXPECT_TRUE(expected.isMet(std::vector<double>{1.29, 0.4}));
  EXPECT_FALSE(expected.isMet(std::vector<double>{1.31, 0.4}));
  EXPECT_TRUE(expected.isMet(std::vector<double>{1, 0, 7})) << "an array that grows";
  EXPECT_FALSE(expected.isMet(std::vector<double>{1}));
  EXPECT_FALSE(expected.isMet(std::vector<double>{1, std::numeric_limits<double>::quiet_NaN()}));
}

TEST(SceneReference, RefusesWhatDoesNotFit) {
  expectRefused("    tip:", "    top:", {"scene.yaml:14", "reference.expected.top", "no output 'top'", "did you mean 'tip'"});
  expectRefused("value: [L, 0, 0], rel", "value: [L, 0], rel", {"scene.yaml:14", "3 numbers", "expected are 2"});
  expectRefused("value: 0,", "value: [0, 0],", {"scene.yaml:15", "one number", "expected are 2", "give a number"});
  expectRefused(", tolerance: 1e-6", "", {"scene.yaml:15", "how near", "tolerance", "relative"});
  expectRefused("tolerance: 1e-6", "tolerance: 1e-6, relative: 1", {"scene.yaml:15", "how near"});
  expectRefused("tolerance: 1e-6", "relative: 1e-6", {"scene.yaml:15", "relative to zero"});
  expectRefused("  source: statics\n", "", {"source"});
  expectRefused("source: statics", "sauce: statics", {"sauce", "source"});
  expectRefused("show: -grid", "shows: -grid", {"scene.yaml:16", "shows", "did you mean 'show'"});
  expectRefused("time: 0.5", "time: -1", {"scene.yaml:16", "picture.time"});
}

TEST(ScenePicture, KeepsItsStudies) {
  std::string text = rod;
  text.replace(text.find("show: -grid"), 11,
               "studies: [{title: Height, x: {parameter: L, from: 1, to: 2, count: 3}, outputs: [height], highest: 4}]");
  const std::vector<StudyPicture> studies = parse(text).picture().studies;
  ASSERT_EQ(studies.size(), 1u);
  EXPECT_EQ(studies[0].x.parameter, "L");
  EXPECT_EQ(studies[0].x.values, (std::vector<double>{1, 1.5, 2}));
  EXPECT_EQ(studies[0].outputs, (std::vector<std::string>{"height"}));
  EXPECT_EQ(studies[0].highest, 4);
  EXPECT_FALSE(studies[0].y || studies[0].each);
}

TEST(ScenePicture, RefusesStudiesOfWhatDoesNotExist) {
  const auto with = [](const std::string& study) { return "studies: [{title: a, " + study + "}]"; };
  const std::string x = "x: {parameter: L, from: 1, to: 2, count: 3}", good = x + ", outputs: [height]";
  const std::pair<std::string, std::vector<const char*>> bad[]{
      {with("x: {parameter: l, from: 1, to: 2, count: 3}, outputs: [height]"), {"parameter", "L"}},
      {with("x: {parameter: L, from: 1, to: 2}, outputs: [height]"), {"count"}},
      {with("x: {parameter: L, from: 1, to: 2, count: 1}, outputs: [height]"), {"count"}},
      {with("x: {parameter: L, values: []}, outputs: [height]"), {"values"}},
      {with("x: {parameter: L, from: 1, to: 2, count: 3, values: [1]}, outputs: [height]"), {"values"}},
      {with(x + ", outputs: [hight]"), {"hight", "height"}},
      {with(x + ", outputs: [tip]"), {"tip", "number"}},
      {with(x + ", outputs: []"), {"outputs"}},
      {with(good + ", line: height"), {"line", "map"}},
      {with(good + ", y: {parameter: L, from: 1, to: 2, count: 3}"), {"both parameters"}},
      {with(good + ", highest: -1"), {"highest", "positive"}},
      {with("x: {parameter: L, from: 1, to: 2, count: 1000000000}, outputs: [height]"), {"count"}},
  };
  for (const auto& [study, parts] : bad) {
    std::string text = rod;
    text.replace(text.find("show: -grid"), 11, study);
    try {
      parse(text);
      ADD_FAILURE() << study;
    } catch (const InputError& error) {
      for (const char* part : parts) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  }
}
