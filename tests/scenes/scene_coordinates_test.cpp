// Coordinates and methods of discrete mechanics in scenes: what is chosen, what is refused.
#include "tendril/dynamics/lie_group_variational.h"
#include "tendril/dynamics/variational.h"
#include "tendril/model/error.h"
#include "tendril/scenes/scene.h"

#include <gtest/gtest.h>

#include <string>

namespace tendril {
namespace {

/// A hanging rod, with an analysis and outputs to choose.
std::string scene(const std::string& analysis, const std::string& outputs = "[]") {
  return "tendril: 1\n"
         "bodies: [{name: bob, mass: 1, position: [1, 0, 0], shapes: [{kind: sphere, radius: 0.1}]}]\n"
         "beams: [{name: rod, curve: {type: straight, from: [0, 0, 0], to: [1, 0, 0]}, section: {shape: circle, radius: 0.01}, material: "
         "rubber, elements: 2}]\n"
         "materials: [{name: rubber, E: 1e7, nu: 0.4, density: 1000}]\n"
         "joints: [{name: hinge, type: revolute, on: rod.start, axis: [0, 1, 0]}]\n"
         "gravity: {acceleration: [0, 0, -9.81]}\n"
         "analysis: {type: dynamic, duration: 0.01, step: 1e-3" +
         analysis + "}\noutputs: " + outputs + "\n";
}

template <class Method> bool runsBy(const std::string& analysis) {
  const Scene read = Scene::fromText(scene(analysis));
  const std::unique_ptr<Analysis> made = read.makeAnalysis();
  return dynamic_cast<const Method*>(made.get()) != nullptr;
}

void expectRefused(const std::string& text, const std::string& part) {
  try {
    Scene::fromText(text);
    FAIL() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(SceneCoordinates, ChooseTheIntegrator) {
  EXPECT_TRUE(runsBy<VariationalIntegrator>(", coordinates: directors"));
  EXPECT_TRUE(runsBy<VariationalIntegrator>(", method: variational"));
  EXPECT_TRUE(runsBy<VariationalIntegrator>(", method: energy-momentum, elimination: multiplier"));
  EXPECT_TRUE(runsBy<LieGroupVariational>(", method: variational, coordinates: pose"));
  EXPECT_FALSE(runsBy<VariationalIntegrator>(", coordinates: pose"));
}

TEST(SceneCoordinates, DecideWhoseStrainsAreShown) {
  const auto shown = [](const std::string& analysis) { return Scene::fromText(scene(analysis)).mechanism().beam("rod").interpolation; };
  EXPECT_EQ(shown(", coordinates: directors"), BeamInterpolation::Directors);
  EXPECT_EQ(shown(", method: energy-momentum"), BeamInterpolation::Directors);
  EXPECT_EQ(shown(", method: variational, coordinates: pose"), BeamInterpolation::Helicoidal);
  EXPECT_EQ(shown(""), BeamInterpolation::Helicoidal);
}

TEST(SceneCoordinates, TolerancesAreRead) {
  for (const char* method : {"variational", "variational, coordinates: pose", "energy-momentum", "generalized-alpha"}) {
    const std::string chosen = std::string(", method: ") + method;
    expectRefused(scene(chosen + ", tolerance: 0"), "not positive");
    expectRefused(scene(chosen + ", tolerance: -1"), "not positive");
    expectRefused(scene(chosen + ", tolerance: 1e10"), "less than 1");
    // How many iterations the whole run takes falls with what is asked of each step.
    const auto iterations = [&](const char* tolerance) {
      const Scene read = Scene::fromText(scene(chosen + ", tolerance: " + tolerance));
      const std::unique_ptr<Analysis> analysis = read.makeAnalysis();
      analysis->start();
      int sum = 0;
      while (!analysis->finished()) sum += analysis->advance().iterations;
      return sum;
    };
    EXPECT_LT(iterations("1e-2"), iterations("1e-13")) << method;
  }
  // What no method reads must make sense, too.
  expectRefused(scene(", method: variational, coordinates: pose, rho_infinity: -1"), "");
}

TEST(SceneCoordinates, RefuseWhatDoesNotBelong) {
  expectRefused(scene(", method: generalized-alpha, coordinates: directors"), "pose coordinates");
  expectRefused(scene(", method: energy-momentum, coordinates: pose"), "method in directors");
  expectRefused(scene(", method: variational, coordinates: pose, elimination: reduced"), "does not know this key");
  expectRefused(scene(", method: energy-momentum, quadrature: trapezoidal"), "does not know this key");
  expectRefused(scene(", method: variational, steps: [1e-3, 0]"), "must be positive");
  expectRefused(scene(", method: variational, steps: [1e-3], adaptation: 1"), "prescribed or adapted");
  expectRefused(scene(", method: variational, steps: []"), "sizes of the steps");
  expectRefused(scene(", method: event-driven, tolerance: 1e-9"), "does not know this key");
  expectRefused(scene(", method: variational, constraint_tolerance: 1e-9"), "does not know this key");
  expectRefused(scene("", "[{name: H, measure: hamiltonian}]"), "no discrete path");
}

}
}
