// Rods in scenes: what is refused, with place and remedy.
#include "support/scene_text.h"

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
  refused("elements: 10", "elements: 10000000", {"elements", "up to 1000000"});
  refused("elements: 10", "shearing: [1, 1, -1]\n    elements: 10", {"shearing", "not positive"});
  refused("[0, 0, 0.5]", "[0, 0, 1.5]", {"scene.yaml:8", "farther", "lengthen"});
  refused("orientation: [0, 0, 0]}\nanalysis", "orientation: {directors: [[1, 0, 0], [0, 1, 0], [0, 1, 1]]}}\nanalysis", {"orthonormal"});
  refused("type: rod-equilibrium, start: [1, 1, 1]", "type: static", {"rods", "rod-equilibrium"});
  refused("outputs:", "beams: []\noutputs:", {"beams", "rod and its supports"});
  refused("{name: energy, measure: energy}", "{name: energy, measure: cost}", {"measure"});
}

TEST(SceneRods, MethodsKnowTheirLimits) {
  const auto scene = [](const std::string& elements) {
    return with(with(text, "elements: 10", elements), "start:", "method: ms-exp1, start:");
  };
  expectSceneRefused(scene("elements: 3000"), "method: ms-exp1", "method: ss-exp1", {"elements", "up to 2000"});
  expectSceneRefused(scene("shearing: [9, 9, 9]"), "method: ms-exp1", "method: ms-cay2", {"method", "stretches"});
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

TEST(SceneRods, NaturalStrainsMayBeFormulasOfTheArclength) {
  parse(
      with(with(text, "elements: 10", "elements: 10\n    natural: [\"2*sin(3*s)\", 1/L, 0]"), "outputs:", "parameters: {L: 2}\noutputs:"));
  refused("elements: 10", "elements: 10\n    natural: [1, 2]", {"natural", "three strains"});
  refused("elements: 10", "elements: 10\n    natural: [2*t, 0, 0]", {"natural[0]", "time 't'", "arclength"});
  refused("elements: 10", "elements: 10\n    natural: [\"1/(s - 0.05)\", 0, 0]", {"not finite", "formula"});
}

TEST(SceneRods, PathsHaveTheirOwnRules) {
  const std::string path = R"(tendril: 1
rods:
  - name: rod
    length: 1
    stiffness: [1, 100, 100]
    weight: [0, 0, -1]
    elements: 10
    begin: {position: [0, 0, 0]}
    end: {position: [0, 0, 1], orientation: [0, 0, 0]}
analysis: {type: rod-path, parameter: distance, from: 1, to: 0.9}
outputs: [{name: f, measure: branch forces}]
)";
  parse(path);
  expectSceneRefused(path, "to: 0.9", "to: 1", {"to", "no length"});
  expectSceneRefused(path, "to: 0.9", "to: 1.2", {"to", "length of the rod"});
  expectSceneRefused(path, "position: [0, 0, 1], ", "", {"the distance of the ends changes", "position"});
  expectSceneRefused(path, "elements: 10", "elements: 1000", {"elements", "up to 400"});
  expectSceneRefused(path, "to: 0.9", "to: 0.9, branch_points: 1000", {"branch_points", "up to 100"});
  expectSceneRefused(path, "to: 0.9", "to: 0.9, largest_step: 0.01", {"largest_step"});
  expectSceneRefused(path, "parameter: distance", "parameter: length", {"parameter", "distance"});
  expectSceneRefused(path, "measure: branch forces", "measure: kappa0", {"not of type elastica"});
  expectSceneRefused(text, "measure: energy", "measure: branch forces", {"not of type rod-path"});
}

TEST(SceneRods, RodsThatTouchHaveTheirOwnRules) {
  const std::string touching = R"(tendril: 1
rods:
  - name: rod
    length: 1
    radius: 0.01
    stiffness: [1, 1, 0.7]
    elements: 10
    begin: {position: [0, 0, 0]}
    end: {position: [0, 0, 0.5], orientation: [0, 0, 0]}
obstacles:
  - {name: tube, shapes: [{kind: tube, inner_radius: 0.3, outer_radius: 0.4, length: 2}]}
contacts:
  - {name: itself, between: [rod, rod]}
  - {name: wall, between: [rod, tube]}
analysis: {type: rod-contact, parameter: rotation, from: 0, to: 90}
outputs: [{name: w, measure: writhe}, {name: f, measure: contact force, between: [rod, tube]}]
)";
  parse(touching);
  expectSceneRefused(touching, "between: [rod, tube]}\nanalysis", "between: [rod, tube], friction: 0.1}\nanalysis",
                     {"contacts", "'tube' without friction"});
  expectSceneRefused(touching, "{kind: tube, inner_radius: 0.3, outer_radius: 0.4, length: 2}", "{kind: box, size: [1, 1, 1]}",
                     {"contacts", "shape of 'tube'", "half-space"});
  expectSceneRefused(touching, "to: 90", "to: 0", {"to", "no length"});
  expectSceneRefused(touching, "parameter: rotation", "parameter: torsion", {"parameter", "rotation"});
  expectSceneRefused(touching, "elements: 10", "elements: 5000", {"elements", "up to 2000"});
  expectSceneRefused(touching, "measure: writhe", "measure: torsion spread", {"not of type rod-equilibrium"});
  expectSceneRefused(text, "measure: energy", "measure: writhe", {"not of type rod-contact"});
}

TEST(SceneRods, ReconstructionHasItsOwnRules) {
  const std::string curve = R"yaml(tendril: 1
rods: [{name: rod, length: 2, stiffness: [1, 1, 1], natural: ["cn(s, 0.5)", 0, 0], begin: {position: [0, 0, 0]}}]
analysis: {type: reconstruction, method: rkmk2, map: cayley}
outputs: [{name: tip, measure: position, on: rod.end}]
)yaml";
  parse(curve);
  expectSceneRefused(curve, "rkmk2", "rkmk3", {"method", "rkmk2"});
  expectSceneRefused(curve, "begin: {", "end: {position: [1, 0, 0]}, begin: {", {"end", "where they lead"});
  expectSceneRefused(curve, "0.5)", "1.5)", {"modulus"});
}

TEST(SceneRods, IdentificationReadsItsPoints) {
  const TemporaryFolder folder;
  const std::string scene = R"(tendril: 1
rods: [{name: rod, length: 1, stiffness: [1, 1, 1], elements: 10, begin: {position: [0, 0, 0]}}]
analysis: {type: identification, file: points.csv}
outputs: [{name: k, measure: natural curvature}]
)";
  std::string good = "# measured\nx,y,z\n";
  for (int i = 0; i <= 10; ++i) good += "0, 0, " + std::to_string(0.1 * i) + "\n";
  const auto refusedFile = [&](const std::string& points, std::initializer_list<const char*> parts) {
    writeAll(folder / "points.csv", points);
    writeAll(folder / "scene.yaml", scene);
    expectError<InputError>([&] { Scene::fromFile(folder / "scene.yaml"); }, parts);
  };
  writeAll(folder / "points.csv", good);
  writeAll(folder / "scene.yaml", scene);
  Scene::fromFile(folder / "scene.yaml");
  refusedFile(with(good, "0, 0, 0.2", "0, , 0.2"), {"points.csv:5", "column y is missing"});
  refusedFile(with(good, "0, 0, 0.2", "0, abc, 0.2"), {"points.csv:5", "'abc'"});
  refusedFile(with(good, "0, 0, 0.2", "0, 0"), {"points.csv:5", "2 columns"});
  refusedFile(with(good, "0, 0, 0.200000", "0, 0, 0.100000"), {"points 2 and 3 are the same"});
  refusedFile("x,y,z\n0,0,0\n0,0,1\n", {"scene.yaml:3", "2 points"});
  std::string millimetres;
  for (int i = 0; i <= 10; ++i) millimetres += "0;0;" + std::to_string(100 * i) + "\n";
  refusedFile(millimetres, {"scene.yaml:3", "millimetres"});
  expectError<InputError>([&] { parse(with(scene, "points.csv", "nothing.csv")); }, {"scene.yaml:3", "there is no file", "CSV"});
  expectError<InputError>([&] { parse(with(scene, "elements: 10", "elements: 10, natural: [1, 0, 0]")); }, {"natural", "looked for"});
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

TEST(SceneRods, CosseratRodsHaveTheirOwnRules) {
  const std::string frame = R"(tendril: 1
rods:
  - name: frame
    length: 2
    stiffness: [1, 1, 0.7]
    shearing: [100, 100, 200]
    elements: 10
    begin: {hold: hinged, hinge: [0, 1, 0]}
    end: {hold: hinged, hinge: [0, 1, 0]}
    corners: [{at: 1, turn: {axis: [0, 1, 0], angle: 90 deg}}]
    forces: [{at: 1.2, force: [0, 0, -1]}]
analysis: {type: cosserat-rod, corner: B, method: arc-length, first_step: 0.1}
outputs: [{name: n, measure: force map}]
)";
  const auto refusedRod = [&](const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
    SCOPED_TRACE(to);
    expectSceneRefused(frame, from, to, parts);
  };
  refusedRod("    shearing: [100, 100, 200]\n", "", {"scene.yaml:3", "shearing"});
  refusedRod("[100, 100, 200]", "[100, 0, 200]", {"scene.yaml:6", "shearing", "above zero"});
  refusedRod("at: 1.2", "at: 1.25", {"scene.yaml:11", "at", "no vertex", "elements"});
  refusedRod("at: 1.2", "at: 2.2", {"scene.yaml:11", "at", "ends before"});
  refusedRod("at: 1,", "at: 2,", {"scene.yaml:10", "at", "between the ends"});
  refusedRod("begin: {hold: hinged,", "begin: {hold: pinned,", {"scene.yaml:8", "hinge", "hold: hinged"});
  refusedRod("hinge: [0, 1, 0]}\n    corners", "hinge: [0, 0, 0]}\n    corners", {"scene.yaml:9", "hinge", "zero"});
  refusedRod("corner: B", "corner: A, model: vertex", {"scene.yaml:12", "corner", "model: edge"});
  refusedRod("corner: B", "corner: C", {"scene.yaml:12", "corner"});
  refusedRod("corner: B", "start: between-ends", {"scene.yaml:12", "start", "position"});
  refusedRod("arc-length", "load-stepping", {"scene.yaml:12", "first_step", "arc-length"});
  refusedRod("measure: force map", "measure: turns", {"not of type rod-equilibrium"});
  expectSceneRefused(text, "elements: 10", "elements: 10\n    stretch: [1, 1, 1]", {"scene.yaml:7", "stretch", "cosserat-rod"});
  expectSceneRefused(text, "begin: {", "begin: {hold: pinned, ", {"scene.yaml:7", "hold", "cosserat-rod"});
  expectSceneRefused(text, "measure: energy", "measure: force map", {"not of type cosserat-rod"});
}
