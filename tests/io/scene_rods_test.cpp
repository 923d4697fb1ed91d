// Rods in scenes: what is refused, with place and remedy.
#include "io/scene_text.h"

using namespace tendril;
using namespace tendril::testing;

namespace {

const std::string text = R"(tendril: 1
rods:
  - name: rod
    length: 1
    stiffness: [1, 1, 0.7]
    elements: 10
    begin: {position: [0, 0, 0]}
    end: {position: [0, 0, 0.5], orientation: [0, 0, 0]}
analysis: {type: rod-equilibrium, start: [1, 1, 1]}
outputs:
  - {name: energy, measure: energy}
)";

void refused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  SCOPED_TRACE(to);
  expectSceneRefused(text, from, to, parts);
}

}

TEST(SceneRods, RefuseWhatIsNoRod) {
  refused("length: 1", "length: 0", {"scene.yaml:4", "length"});
  refused("stiffness: [1, 1, 0.7]", "stiffness: [1, 1, 0]", {"stiffness", "above zero"});
  refused("elements: 10", "elements: 0", {"elements"});
  refused("elements: 10", "elements: 100000", {"elements", "up to 2000"});
  refused("[0, 0, 0.5]", "[0, 0, 1.5]", {"scene.yaml:8", "farther", "lengthen"});
  refused("orientation: [0, 0, 0]}\nanalysis", "orientation: {directors: [[1, 0, 0], [0, 1, 0], [0, 1, 1]]}}\nanalysis", {"orthonormal"});
  refused("type: rod-equilibrium, start: [1, 1, 1]", "type: static", {"rods", "rod-equilibrium"});
  refused("outputs:", "beams: []\noutputs:", {"beams", "rod and its supports"});
  refused("{name: energy, measure: energy}", "{name: energy, measure: cost}", {"measure"});
}

TEST(SceneRods, InMechanismsHaveMassAndJoints) {
  const std::string swing = R"(tendril: 1
rods:
  - {name: rod, length: 1, stiffness: [1, 1, 0.7], mass: 0.1, elements: 4, begin: {position: [0, 0, 0]}}
gravity: {acceleration: [0, 0, -9.81]}
analysis: {type: dynamic, duration: 1, step: 0.1}
outputs:
  - {name: tip, measure: position, on: rod.end}
  - {name: clamp, measure: reaction force, joint: rod.begin}
  - {name: moment, measure: section moment, beam: rod, at: start}
)";
  expectSceneRefused(swing, "mass: 0.1, ", "", {"no mass", "per length"});
  expectSceneRefused(swing, "mass: 0.1", "rotary: [1, 1, 1]", {"mass"});
  expectSceneRefused(swing, "mass: 0.1", "mass: 0.1, weight: [0, 0, -1]", {"weight", "gravity"});
  expectSceneRefused(swing, "mass: 0.1", "mass: 0.1, end: {position: [0, 0, 0.5]}", {"end", "joint"});
  expectSceneRefused(swing, "elements: 4", "elements: 400", {"elements", "up to 200"});
  expectSceneRefused(swing, "duration: 1", "method: variational, duration: 1", {"rods", "director"});
  expectSceneRefused(swing, "measure: section moment", "measure: section force", {"rod", "reaction"});
  expectSceneRefused(swing, "on: rod.end", "on: rod", {"rod.start"});
  refused("elements: 10", "elements: 10\n    mass: 1", {"mass", "equilibrium"});
  refused("begin: {position: [0, 0, 0]}", "begin: {position: [0, 0, 0], held: false}", {"held"});
}

TEST(SceneRods, MeasuresOfRodsBelongToThem) {
  expectSceneRefused("tendril: 1\nbodies: [{name: b, mass: 1, inertia: [1, 1, 1]}]\nanalysis: {type: dynamic, duration: 1, step: 0.1}\n"
                     "outputs: [{name: t, measure: energy}]\n",
                     "measure: energy", "measure: turns", {"not of type rod-equilibrium"});
}

TEST(SceneRods, ElasticaHasItsOwnRules) {
  const std::string elastica = R"(tendril: 1
rods: [{name: rod, length: 2, stiffness: [1, 1, 1], begin: {position: [0, 0, 0]}}]
analysis: {type: elastica, compression: 0.1, mode: 2}
outputs: [{name: f, measure: force}]
)";
  expectSceneRefused(elastica, "compression: 0.1", "compression: 1.5", {"compression", "below 1"});
  expectSceneRefused(elastica, "mode: 2", "mode: 40", {"mode", "up to 20"});
  expectSceneRefused(elastica, "begin: {", "end: {position: [1, 0, 0]}, begin: {", {"end", "compression"});
  expectSceneRefused(elastica, "measure: force", "measure: turns", {"not of type rod-equilibrium"});
  expectSceneRefused(text, "measure: energy", "measure: kappa0", {"not of type elastica"});
}

TEST(SceneRods, PackedRingHasItsOwnRules) {
  const std::string ring = R"(tendril: 1
rods: [{name: rod, length: 1, stiffness: [1, 1, 1], elements: 60, begin: {position: [0, 0, 0]}}]
analysis: {type: packed-ring, radius: 0.15, index: 1}
outputs: [{name: i, measure: index}]
)";
  expectSceneRefused(ring, "radius: 0.15", "radius: -1", {"radius"});
  expectSceneRefused(ring, "index: 1", "index: -1", {"index"});
  expectSceneRefused(ring, "begin: {", "end: {position: [0, 0, 0]}, begin: {", {"end", "where it begins"});
  expectSceneRefused(ring, "measure: index", "measure: turns", {"not of type rod-equilibrium"});
}
