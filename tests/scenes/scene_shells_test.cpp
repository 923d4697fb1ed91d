// Shells in scenes: what is refused, with place and remedy.
#include "support/scene_text.h"

using namespace tendril;
using namespace tendril::testing;

namespace {

const std::string text = R"(tendril: 1
shells:
  - name: patch
    length: 1
    width: 0.5
    thickness: 0.01
    material: {E: 1e7, nu: 0.3, density: 100}
    natural: [1, 0, 0]
    initial: [0.5, 0, 0]
analysis: {type: shell-motion, duration: 0.1, step: 1e-3}
outputs:
  - {name: kappa, measure: kappa}
)";

void refused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  SCOPED_TRACE(to);
  expectSceneRefused(text, from, to, parts);
}

/// The same, found when the analysis is made.
void refusedByAnalysis(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  SCOPED_TRACE(to);
  const Scene scene = parse(with(text, from, to));
  expectError<InputError>([&] { scene.makeAnalysis(); }, parts);
}

}

TEST(SceneShells, RefuseWhatIsNoSheet) {
  refused("thickness: 0.01", "thickness: 0", {"scene.yaml:6", "thickness", "not positive"});
  refused("nu: 0.3", "nu: 0.6", {"scene.yaml:7", "Poisson"});
  refused("nu: 0.3", "nu: -1", {"scene.yaml:7", "Poisson"});
  refused("natural: [1, 0, 0]", "natural: [1, 1, 0]", {"scene.yaml:3", "shells[0]", "natural curvatures", "q0 q1 = q2^2"});
  refused("width: 0.5", "width: 0", {"scene.yaml:5", "width"});
  refused("outputs:", "beams: []\noutputs:", {"beams", "nothing but shells"});
  refused("initial: [0.5, 0, 0]", "form: clothoid", {"natural"});
  refused("initial: [0.5, 0, 0]\nanalysis: {type: shell-motion, duration: 0.1, step: 1e-3}\noutputs:",
          "held: false\nanalysis: {type: shell-motion, duration: 0.1, step: 1e-3}\noutputs:\n  - {name: omega, measure: frequencies}",
          {"measure", "uniform shells that are held"});
  refused("initial: [0.5, 0, 0]", "velocity: [1, 0, 0]", {"scene.yaml:3", "held", "velocity"});
  refused("initial: [0.5, 0, 0]", "held: false\n    rates: [1, 2, 3]", {"rates", "leave the cone"});
}

TEST(SceneShells, RefuseMotionsThatCannotBegin) {
  refused("initial: [0.5, 0, 0]", "initial: [0.5, 0.5, 0]", {"scene.yaml:9", "initial", "b11 b22 - b12^2 = 0.25", "project_initial"});
  EXPECT_NO_THROW(
      parse(with(with(text, "initial: [0.5, 0, 0]", "initial: [0.5, 0.4, 0.4]"), "step: 1e-3", "step: 1e-3, project_initial: true"))
          .makeAnalysis());
  refusedByAnalysis("initial: [0.5, 0, 0]", "initial: [0, 0, 0]\n    rates: [1, 2, 3]", {"shell 'patch'", "leave the cone"});
  // Held at its corner the sheet is turned off the ray at once; at the middle of its edge symmetry keeps it there.
  const std::string flat = "initial: [0, 0, 0]\n    rates: [1, 0, 0]";
  refusedByAnalysis("initial: [0.5, 0, 0]", flat, {"shell 'patch'", "nothing keeps it at phi = 0"});
  EXPECT_NO_THROW(parse(with(text, "initial: [0.5, 0, 0]", flat + "\n    clamp: [0, 0.25]")).makeAnalysis());
  refusedByAnalysis("E: 1e7", "E: 1e13", {"shells[0]", "too large for its stiffness", "take at most"});
  refusedByAnalysis("step: 1e-3", "step: 1e-3, chart: three, alpha: 5000", {"Baumgarte"});
  refused("step: 1e-3", "step: 1e-3, alpha: 5", {"alpha", "chart: three"}); // which the chart of the cone does not read
  refused("step: 1e-3", "step: 1e-3, beta: 5", {"beta", "chart: three"});
  refusedByAnalysis("step: 1e-3", "step: 1e-300", {"too many", "take longer ones"});
}

TEST(SceneShells, RefuseRolls) {
  refusedByAnalysis("initial: [0.5, 0, 0]", "initial: [1e300, 0, 0]", {"shell 'patch'", "rolled up"});
  refusedByAnalysis("natural: [1, 0, 0]", "natural: [1e4, 0, 0]", {"shell 'patch'", "rolled up"});
}

TEST(SceneShells, RefuseWhatNothingReads) {
  const std::string initial = "initial: [0.5, 0, 0]";
  refused(initial, initial + "\n    contact_points: 4", {"scene.yaml:10", "contact_points", "touch nothing", "moreau"});
  refused(initial, initial + "\n    surface: paper", {"scene.yaml:10", "surface", "touch nothing"});
  refused("outputs:", "obstacles: []\noutputs:", {"obstacles", "nothing but shells"});
  const std::string still = with(text, "{type: shell-motion, duration: 0.1, step: 1e-3}", "{type: shell-equilibrium}");
  EXPECT_NO_THROW(parse(still));
  for (const char* key : {"rates: [1, 0, 0]", "air: {density: 1}"})
    expectSceneRefused(still, initial, initial + "\n    " + key, {"scene.yaml:10", "nothing moves", "shell-motion"});
}

TEST(SceneShells, FloatingOnesAreProjectedAndCheckedAsHeldOnes) {
  const std::string free = with(text, "initial: [0.5, 0, 0]", "initial: [0.5, 0.4, 0.4]\n    held: false");
  expectSceneRefused(free, "outputs:", "outputs:", {"scene.yaml:9", "initial", "project_initial"});
  EXPECT_NO_THROW(parse(with(free, "step: 1e-3", "step: 1e-3, project_initial: true")).makeAnalysis());
  const Scene stiff = parse(with(with(text, "initial: [0.5, 0, 0]", "held: false"), "E: 1e7", "E: 1e13"));
  expectError<InputError>([&] { stiff.makeAnalysis(); }, {"shell 'patch'", "too large for its stiffness", "take at most"});
}

TEST(SceneShells, RefuseRuledSheetsWhoseRulingsCross) {
  const std::string ruled = with(with(text, "    initial: [0.5, 0, 0]\n", ""), "natural: [1, 0, 0]",
                                 "form: ruled\n    fan: 0.5\n    natural: {kappa: 1, epsilon: 0.5}");
  EXPECT_NO_THROW(parse(ruled));
  expectSceneRefused(ruled, "epsilon: 0.5", "epsilon: -3", {"scene.yaml:3", "shell 'patch'", "rulings meet"});
  expectSceneRefused(with(ruled, "step: 1e-3", "step: 1e-3, project_initial: true"), "epsilon", "epsilon", {"project_initial", "always"});
}
