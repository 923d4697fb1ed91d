#include "tendril/scenes/certification.h"

#include "support/places.h"
#include "support/run_scene.h"
#include "support/scene_text.h"

#include <cmath>
#include <memory>

using namespace tendril;
using namespace tendril::testing;

namespace {

/// A weight on a spring: it sinks by X m g / k, X in [0, 2]; what it is judged by can be more.
const std::string weight = R"(tendril: 1
parameters:
  m: 1
  k: 98.1
  a: 0.15
bodies:
  - {name: block, mass: m, inertia: [1, 1, 1]}
springs:
  - {name: spring, type: bushing, on: block, stiffness: [k, k, k, k, k, k]}
gravity: {acceleration: [0, 0, -9.81]}
analysis: {type: static}
uncertain:
  - {name: m, range: [0.1, 2], slope: 0.1}
  - {name: stiffness, parameter: k, distribution: values, values: [98.1]}
certify: {performance: sinking, threshold: a, samples: 50, seed: 3}
outputs:
  - {name: place, measure: position, on: block, component: z}
  - {name: sinking, expression: -place}
  - {name: bound, measure: certification, quantity: bound}
  - {name: confidence, measure: certification, quantity: confidence}
  - {name: diameter, measure: certification, quantity: diameter}
  - {name: diameters, measure: certification, quantity: diameters}
  - {name: mean, measure: certification, quantity: mean}
  - {name: margin, measure: certification, quantity: margin}
  - {name: failures, measure: certification, quantity: failures}
  - {name: undefined, measure: certification, quantity: undefined}
  - {name: certified, measure: certification, quantity: certified}
  - {name: median, measure: certification, quantity: quantile, share: 0.5}
  - {name: runs, measure: certification, quantity: runs}
)";

std::map<std::string, VectorX> resultsWith(const std::string& text, int threads = 2) {
  const Scene scene = parse(text);
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  dynamic_cast<Certification&>(*analysis).share(onThreads(threads));
  Outputs outputs = scene.makeOutputs();
  analysis->start();
  outputs.observe(*analysis, {});
  while (!analysis->finished()) outputs.observe(*analysis, analysis->advance());
  return resultsOf(outputs);
}

void refused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  SCOPED_TRACE(to);
  expectSceneRefused(weight, from, to, parts);
}

/// Found when the analysis is made, before anything runs, or by the samples.
void refusedAtStart(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  SCOPED_TRACE(to);
  const Scene scene = parse(with(weight, from, to));
  expectError<InputError>([&] { scene.makeAnalysis()->start(); }, parts);
}

TEST(Certification, OfALinearScene) {
  const auto results = resultsWith(weight);
  const double D = 0.19, mean = results.at("mean")[0], alpha = D * std::sqrt(std::log(1e3) / 50);
  EXPECT_NEAR(results.at("sinking")[0], 0.1, 1e-9) << "the scene as it is";
  EXPECT_NEAR(results.at("diameter")[0], D, 1e-9);
  EXPECT_NEAR(results.at("diameters")[0], D, 1e-9);
  EXPECT_EQ(results.at("diameters")[1], 0);
  EXPECT_NEAR(mean, 0.105, 5 * 0.055 / std::sqrt(50.0));
  EXPECT_NEAR(results.at("margin")[0], alpha, 1e-9);
  EXPECT_NEAR(results.at("confidence")[0], std::max(0.0, 0.15 - mean - alpha) / D, 1e-9);
  EXPECT_NEAR(results.at("bound")[0], std::exp(-2 * std::pow(results.at("confidence")[0], 2)), 1e-12);
  EXPECT_NEAR(results.at("failures")[0], 0.05 / 0.19, 0.25);
  EXPECT_LT(results.at("median")[1], 0.105);
  EXPECT_GT(results.at("median")[2], 0.105);
  EXPECT_EQ(results.at("certified")[0], 0);
}

TEST(Certification, SlopesCertifyTheDiameter) {
  const auto results = resultsWith(
      with(with(weight, "values: [98.1]}", "values: [98.1], slope: 0.01}"), "seed: 3", "seed: 3, diameter: bounds, mean: 0.105"));
  EXPECT_EQ(results.at("certified")[0], 1);
  EXPECT_NEAR(results.at("diameter")[0], 0.19, 1e-9);
  EXPECT_NEAR(results.at("bound")[0], std::exp(-2 * std::pow(0.045 / 0.19, 2)), 1e-8) << "with the exact mean";
}

TEST(Certification, NumbersDoNotDependOnThreads) {
  const auto one = resultsWith(weight, 1), three = resultsWith(weight, 3);
  for (const auto& [name, values] : one) EXPECT_EQ(values, three.at(name)) << name;
}

TEST(Certification, SavedAndRestored) {
  const Scene scene = parse(weight);
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis(), other = scene.makeAnalysis();
  analysis->start();
  other->restore(analysis->save());
  double bound = 0, again = 0;
  for (const char* name : {"certification bound best", "certification mean begin", "certification runs"}) {
    ASSERT_TRUE(analysis->monitor(name, nullptr, &bound));
    ASSERT_TRUE(other->monitor(name, nullptr, &again));
    EXPECT_EQ(bound, again);
  }
}

// sqrt of a negative number from m = 1.5 on: a quarter of the samples.
TEST(Certification, CountsAndNamesRunsWithoutPerformance) {
  const Scene scene = parse(with(weight, "expression: -place", "expression: 0*sqrt(0.15 + place) - place"));
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  analysis->start();
  double undefined = 0, bound = 0;
  analysis->monitor("certification undefined best", nullptr, &undefined);
  analysis->monitor("certification bound best", nullptr, &bound);
  EXPECT_GT(undefined, 3);
  EXPECT_LT(undefined, 25);
  EXPECT_EQ(bound, 1);
  EXPECT_NE(analysis->messages().back().find("of 50 samples have no performance"), std::string::npos) << analysis->messages().back();
}

TEST(Certification, RefusesRangesThatTheSceneRefuses) {
  refusedAtStart("range: [0.1, 2]", "range: [-0.4, 1.6]", {"uncertain[0]", "probability 0.2", "below", "mass"});
  refusedAtStart("distribution: values, values: [98.1]", "distribution: normal, mean: 10, deviation: 10, range: [-20, 50]",
                 {"uncertain[1]", "probability 0.15", "stiffness"});
}

// Of two inputs, or of an input and a control, nothing would be left of the first.
TEST(Certification, RefusesInputsThatAreTheSameValue) {
  refusedAtStart("parameter: k, distribution", "parameter: parameters.m, distribution", {"uncertain[0]", "same value", "'m="});
  refusedAtStart("seed: 3", "seed: 3, controls: {parameters: [{name: parameters.k, range: [50, 100]}]}",
                 {"uncertain[0]", "same value", "'k="});
}

TEST(Certification, RefusesAThresholdThatEverySampleViolates) {
  refusedAtStart("a: 0.15", "a: 0.005", {"certify.threshold: every one of the 50 samples", "raise the threshold"});
}

TEST(Certification, RefusesWhatMakesNoSense) {
  refused("performance: sinking", "performance: sinkin", {"sinkin", "sinking"});
  refused("performance: sinking, ", "", {"performance", "miss"});
  refused("performance: sinking", "miss: {on: block, place: [0, 0, 0]}", {"manoeuvre"});
  refused("range: [0.1, 2]", "range: [2, 0.1]", {"uncertain[0]", "range"});
  refused("range: [0.1, 2]", "range: [1]", {"uncertain[0].range"});
  refused("range: [0.1, 2]", "range: [.nan, 2]", {"uncertain[0].range"});
  refused("range: [0.1, 2]", "range: [0.1, 2], on: block, force: [1, 0, 0]", {"interval"});
  refused("name: stiffness", "name: m", {"two inputs"});
  refused("seed: 3", "seed: 3, diameter: bounds", {"stiffness", "slope"});
  refused("seed: 3", "seed: 3, epsilon: 1", {"epsilon", "below 1"});
  refused("seed: 3", "seed: 3, samples_: 1", {"samples_"});
  refused("samples: 50", "samples: 0", {"samples"});
  refused("seed: 3", "seed: 3, controls: {}", {"parameters"});
  for (const char* own : {"actuators: [k]", "least: 1"})
    refused("seed: 3", std::string("seed: 3, controls: {parameters: [{name: k, range: [80, 120]}], ") + own + "}", {"manoeuvres"});
  refused("quantity: quantile, share: 0.5", "quantity: quantile", {"share"});
  refused("certify: {performance: sinking, threshold: a, samples: 50, seed: 3}", "", {"certify"});
  const std::string nothing =
      "uncertain:\n  - {name: m, range: [0.1, 2], slope: 0.1}\n  - {name: stiffness, parameter: k, distribution: values, values: [98.1]}\n";
  refused(nothing, "", {"nothing is uncertain"});
}

// The stiffness is free: the stiffest spring is the best, both in mean and in diameter.
TEST(Certification, FindsBetterParameters) {
  const std::string searching = with(with(weight, "  - {name: stiffness, parameter: k, distribution: values, values: [98.1]}\n", ""),
                                     "seed: 3", "seed: 3, controls: {parameters: [{name: k, range: [80, 120]}]}");
  const Scene scene = parse(with(searching, "quantity: diameter}", "quantity: diameter, controls: begin}"));
  const auto results = resultsOf(runToEnd(scene));
  EXPECT_NEAR(results.at("diameter")[0], 1.9 * 9.81 / 100, 1e-8);
  EXPECT_NEAR(results.at("diameters")[0], 1.9 * 9.81 / 120, 1e-8);
}

TEST(Certification, NamesTheActuatorsThatThereAre) {
  const std::string arm = readAll(std::filesystem::path(test::sourceFolder()) / "scenes/certify/robot-arm-lengths.yaml");
  for (const char* names : {"[base 1, wrist 4]", "[]", "base"}) {
    try {
      parse(with(arm, "[base 1, wrist 1]", names));
      ADD_FAILURE() << names;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("certify.controls.actuators"), std::string::npos) << error.what();
    }
  }
}

// Nobody need say what a manoeuvre is compared with, nor what is measured.
TEST(Certification, OfAManoeuvreWithoutReference) {
  std::string arm = readAll(std::filesystem::path(test::sourceFolder()) / "scenes/certify/robot-arm-lengths.yaml");
  arm = with(arm.substr(0, arm.find("outputs:")), "  controls: {search: gradient, actuators: [base 1, wrist 1]}\n", "");
  const Scene scene = parse(arm, {"samples=20"});
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  analysis->start();
  const double mean = dynamic_cast<Certification&>(*analysis).numbers("mean begin").at(0);
  EXPECT_TRUE(mean > 0 && mean < 0.1) << mean;
}

}
