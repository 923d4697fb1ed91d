// What a scene writes about contact, and how mistakes in it are refused.
#include "support/run_scene.h"
#include "support/scene_text.h"
#include "tendril/contact/contact_model.h"
#include "tendril/scenes/friction_methods.h"

#include <cmath>
#include <filesystem>
#include <numbers>
#include <string>
#include <vector>

using namespace tendril;
using namespace tendril::testing;

namespace {

constexpr double pi = std::numbers::pi;

const std::string pair = R"(tendril: 1
parameters: {mu: 0.3}
bodies:
  - {name: ball, mass: 1, shapes: [{kind: sphere, radius: 0.1}], position: [0, 0, 1], surface: rubber}
  - {name: crate, mass: 2, shapes: [{kind: box, size: [1, 1, 1]}], position: [3, 0, 2]}
  - {name: ghost, mass: 1, inertia: [1, 1, 1], position: [0, 5, 0]}
obstacles:
  - {name: floor, shapes: [{kind: half-space}, {kind: sphere, radius: 5, hollow: true}], surface: ice}
  - {name: shaker, shapes: [{kind: box, size: [1, 1, 1]}], position: [9, 0, 0], motion: {translation: [0, 0, 0.1*sin(t)], axis: [0, 1, 0], angle: 90*t}}
contacts:
  - {name: default, between: all, friction: mu}
  - {name: slippery, between: [rubber, ice], friction: 0.01, restitution: 0.5}
  - {name: bounce, between: [ball, floor], restitution: 1}
  - {name: apart, exclude: [ball, shaker]}
analysis: {type: dynamic, duration: 0.2, step: 0.01}
outputs:
  - {name: force, measure: contact force, between: [ball, floor]}
  - {name: gap, measure: gap, between: [ball, all]}
  - {name: shaken, measure: position, on: shaker}
)";

void expectRefused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  expectSceneRefused(pair, from, to, parts);
}

/// A tetrahedron with edges along the axes, as an OBJ file; without its last face it is open.
const std::string tetrahedron = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

std::string sceneOfMesh(const std::string& keys) {
  return "tendril: 1\nbodies:\n  - {name: rock, shapes: [{kind: mesh, " + keys +
         "}]}\nobstacles:\n  - {name: floor, shapes: [{kind: half-space, position: [0, 0, -1]}]}\n"
         "contacts:\n  - {name: touch, between: all}\nanalysis: {type: dynamic, duration: 0.1, step: 0.01}\n";
}

}

TEST(SceneContact, LawsArePairedByNamesAndSurfaces) {
  const Scene scene = parse(pair);
  const ContactModel& contacts = scene.contacts();
  ASSERT_EQ(contacts.parts().size(), 5u);
  const auto law = [&](const char* a, const char* b) { return contacts.law(contacts.find(a), contacts.find(b)); };
  EXPECT_EQ(law("ball", "floor")->restitution, 1);
  EXPECT_EQ(law("ball", "floor")->friction, 0);
  EXPECT_EQ(law("ball", "crate")->friction, 0.3);
  EXPECT_EQ(law("ball", "shaker"), nullptr);
  EXPECT_EQ(contacts.parts()[3].shapes.size(), 2u);
  EXPECT_TRUE(contacts.parts()[3].shapes[1].shape().hollow);
  EXPECT_EQ(scene.obstacles().size(), 2u);
  const Scene other = parse(with(pair, "  - {name: bounce, between: [ball, floor], restitution: 1}\n", ""));
  EXPECT_EQ(other.contacts().law(0, 3)->friction, 0.01);
}

TEST(SceneContact, ObstaclesMoveAsPrescribed) {
  const Scene scene = parse(pair);
  State state = scene.mechanism().model->initialState();
  state.t = 0.5;
  const Pose pose = scene.obstacles()[1].marker->frame(state);
  EXPECT_NEAR((pose.x - Vector3(9, 0, 0.1 * std::sin(0.5))).norm(), 0, 1e-14);
  EXPECT_NEAR(pose.R(2, 0), -std::sin(pi / 4), 1e-14);
}

TEST(SceneContact, MethodFollowsFromContacts) {
  EXPECT_NE(parse(pair).makeAnalysis()->contacts(), nullptr);
  expectRefused("step: 0.01}", "step: 0.01, method: generalized-alpha}", {"scene.yaml:10", "contacts", "generalized-alpha", "moreau"});
  expectRefused("{type: dynamic, duration: 0.2, step: 0.01}", "{type: static, method: arc-length}",
                {"scene.yaml:10", "arc-length", "method: load-stepping"});
  expectRefused("step: 0.01}", "step: 0.01, rho_infinity: 0.8}", {"scene.yaml:15", "rho_infinity", "method moreau"});
  expectRefused("step: 0.01}", "step: 0.01, theta: 0.3}", {"scene.yaml:15", "theta", "[0.5, 1]"});
  expectRefused("step: 0.01}", "step: 0.01, dump: [0]}", {"scene.yaml:15", "dump", "from 1"});
  expectRefused("step: 0.01}", "step: 0.01, solver: newtonn}", {"scene.yaml:15", "solver", "newton"});
}

TEST(SceneContact, MistakesInLawsAreRefusedWithTheirPlace) {
  expectRefused("friction: mu", "friction: -0.1", {"scene.yaml:11", "friction", "negative"});
  expectRefused("restitution: 0.5", "restitution: 1.5", {"scene.yaml:12", "restitution", "[0, 1]"});
  expectRefused("[ball, floor], rest", "[bal, floor], rest", {"scene.yaml:13", "'bal'", "did you mean 'ball'"});
  expectRefused("[rubber, ice]", "[ruber, ice]", {"scene.yaml:12", "did you mean 'rubber'"});
  expectRefused("between: [ball, floor], restitution", "between: [ball], restitution", {"scene.yaml:13", "two names"});
  expectRefused("between: [ball, floor], restitution", "between: [ball, ball], restitution", {"scene.yaml:13", "itself"});
  expectRefused("between: [ball, floor], restitution", "between: [ball, ghost], restitution", {"scene.yaml:13", "'ghost' has no shape"});
  expectRefused("between: [ball, floor], restitution: 1", "friction: 1", {"scene.yaml:13", "between", "exclude"});
  expectRefused("exclude: [ball, shaker]", "exclude: [rubber, shaker]", {"scene.yaml:14", "'rubber' is neither"});
  expectRefused("name: slippery", "name: default", {"scene.yaml:12", "another contact"});
  expectRefused("inertia: [1, 1, 1], position", "inertia: [1, 1, 1], surface: fog, position", {"scene.yaml:6", "surface", "no shape"});
  expectRefused("surface: ice", "surface: ball", {"scene.yaml:8", "surface", "something else"});
  expectRefused("mass: 2", "mass: 0", {"scene.yaml:5", "mass", "positive"});
}

TEST(SceneContact, LawsThatContradictEachOtherAreRefusedAtTheLaterOne) {
  const auto added = [](const std::string& laws) { return "  - {name: apart, exclude: [ball, shaker]}\n" + laws; };
  const std::string last = added("");
  const auto refused = [&](const std::string& laws, std::initializer_list<const char*> parts) { expectRefused(last, added(laws), parts); };
  refused("  - {name: again, between: [floor, ball], friction: 0.2}\n",
          {"scene.yaml:15", "contacts[4].between", "'ball' and 'floor'", "'bounce'", "remove one"});
  refused("  - {name: again, between: all, friction: 0.7}\n", {"scene.yaml:15", "'default'", "remove one"});
  refused("  - {name: wet, between: [crate, all]}\n  - {name: dry, between: [floor, all], friction: 1}\n",
          {"scene.yaml:16", "'wet'", "[crate, floor]", "law of its own"});
  // Narrower laws, laws that agree, pairs that pass through one another and obstacles among themselves are in no conflict.
  EXPECT_NO_THROW(parse(with(pair, last,
                             added("  - {name: wet, between: [crate, all]}\n  - {name: dry, between: [floor, all], friction: 1}\n"
                                   "  - {name: own, between: [crate, floor], friction: 0.3}\n"))));
  EXPECT_NO_THROW(parse(with(pair, last, added("  - {name: again, between: [ball, floor], restitution: 1}\n"))));
  EXPECT_NO_THROW(
      parse(with(pair, last, added("  - {name: one, between: [shaker, ball]}\n  - {name: two, between: [ball, shaker], friction: 1}\n"))));
  EXPECT_NO_THROW(parse(
      with(pair, last, added("  - {name: one, between: [shaker, floor]}\n  - {name: two, between: [floor, shaker], friction: 1}\n"))));
}

TEST(SceneContact, SolversHaveTheNamesOfTheCommandLine) {
  for (const std::string& word : frictionMethodWords()) {
    EXPECT_NO_THROW(parse(with(pair, "step: 0.01}", "step: 0.01, solver: " + word + "}"))) << word;
  }
}

TEST(SceneContact, MistakesInObstaclesAndOutputsAreRefusedWithTheirPlace) {
  expectRefused("name: shaker", "name: ball", {"scene.yaml:9", "named 'ball'"});
  expectRefused("translation: [0, 0, 0.1*sin(t)]", "translation: [0, 0]", {"scene.yaml:9", "three functions"});
  expectRefused("{kind: half-space}", "{kind: half-space, normal: [0, 0, 0]}", {"scene.yaml:8", "normal", "zero"});
  expectRefused("{kind: half-space}", "{kind: half-space, density: 3}", {"scene.yaml:8", "density"});
  expectRefused("between: [ball, floor]}\n  - {name: gap", "between: [ball, flor]}\n  - {name: gap", {"scene.yaml:17", "'floor'"});
  expectRefused("between: [ball, all]", "between: all", {"scene.yaml:18", "two names"});
  expectRefused("measure: position, on: shaker", "measure: position, on: shaker, result: all", {"scene.yaml:19", "where"});
  expectRefused("measure: position, on: shaker", "measure: position, on: shaker, result: first maximum, where: t > 0",
                {"scene.yaml:19", "where"});
  expectRefused("measure: position, on: shaker", "measure: array, of: force, for: {i: [1, 2]}", {"scene.yaml:19", "${i}"});
  const std::string smooth = "tendril: 1\nbodies:\n  - {name: b, mass: 1, inertia: [1, 1, 1]}\n"
                             "analysis: {type: dynamic, duration: 1, step: 0.1}\noutputs:\n  - {name: n, measure: contact count}\n";
  expectError<InputError>([&] { parse(smooth); }, {"scene.yaml:6", "knows no contact", "moreau"});
}

TEST(SceneContact, EventDrivenRunsTellTheTimesOfEvents) {
  const std::string text = R"(tendril: 1
bodies:
  - {name: ball, mass: 1, shapes: [{kind: sphere, radius: 0.1}], position: [0, 0, 1.1]}
obstacles:
  - {name: floor, shapes: [{kind: half-space}]}
contacts:
  - {name: bounce, between: all, restitution: 0.5}
gravity: {}
analysis: {type: dynamic, method: event-driven, duration: 1.3, step: 0.1}
outputs:
  - {name: impacts, measure: event times, event: impact, between: [floor, all]}
  - {name: jams, measure: event times, event: jam}
)";
  const Scene scene = parse(text);
  const Outputs outputs = runToEnd(scene);
  const double t0 = std::sqrt(2 / 9.81);
  ASSERT_EQ(outputs.result(0).size(), 5u);
  double flight = t0, time = t0;
  for (const double impact : outputs.result(0)) {
    EXPECT_NEAR(impact, time, 1e-9);
    flight = time == t0 ? t0 : flight / 2;
    time += flight;
  }
  EXPECT_TRUE(outputs.isArray(1));
  EXPECT_TRUE(outputs.result(1).empty());
  EXPECT_TRUE(outputs.messages().empty());
  expectError<InputError>([&] { parse(with(text, "method: event-driven", "method: moreau")); }, {"scene.yaml:11", "locates no events"});
  expectError<InputError>([&] { parse(with(text, "event: jam}", "event: jam, result: max}")); }, {"scene.yaml:12", "result", "all times"});
}

TEST(SceneContact, OverlapAtTheStartNamesThePair) {
  const Scene scene = parse(pair, {"bodies.ball.position=[0, 0, 0.08]"});
  expectError<InputError>([&] { scene.makeAnalysis()->start(); }, {"'ball'", "'floor'", "project_initial"});
  const Scene projected = parse(pair, {"bodies.ball.position=[0, 0, 0.08]", "analysis.project_initial=true"});
  const std::unique_ptr<Analysis> analysis = projected.makeAnalysis();
  analysis->start();
  EXPECT_NEAR(analysis->state().q[2], 0.1, 1e-6);
}

TEST(SceneContact, PlaneShapesHaveMassPerArea) {
  const std::string head = "tendril: 1\nbodies:\n  - {name: b, ";
  const std::string tail = "}\nanalysis: {type: dynamic, duration: 1, step: 0.1}\n";
  const auto mass = [&](const std::string& keys) { return parse(head + keys + tail).mechanism().body("b").mass; };
  const MassProperties disc = mass("shapes: [{kind: disc, radius: 2, density: 3}]");
  EXPECT_NEAR(disc.mass, 12 * pi, 1e-12);
  EXPECT_NEAR(disc.inertia(2, 2), disc.mass * 4 / 2, 1e-12);
  // A right triangle with legs 3 and 6, clockwise: centroid at a third, I_x = b h^3/36.
  const MassProperties triangle = mass("shapes: [{kind: polygon, points: [[0, 0], [0, 6], [3, 0]], density: 2}]");
  EXPECT_NEAR(triangle.mass, 18, 1e-13);
  EXPECT_NEAR((triangle.centre - Vector3(1, 2, 0)).norm(), 0, 1e-14);
  EXPECT_NEAR(triangle.inertia(0, 0), 2 * 3 * 216 / 36., 1e-12);
  EXPECT_NEAR(triangle.inertia(1, 1), 2 * 6 * 27 / 36., 1e-12);
  EXPECT_NEAR(triangle.inertia(0, 1), 2 * 9 * 36 / 72., 1e-12) << "-integral of x y about the centroid";
  EXPECT_EQ(mass("mass: 1, inertia: 0.5").inertia(2, 2), 0.5);
  expectError<InputError>([&] { mass("mass: 1, shapes: [{kind: polygon, points: [[0, 0], [1, 1]]}]"); }, {"scene.yaml:3", "no area"});
}

TEST(SceneContact, MeshesAreReadBesideTheScene) {
  const TemporaryFolder folder;
  writeAll(folder / "rock.obj", tetrahedron);
  writeAll(folder / "scene.yaml", sceneOfMesh("file: rock.obj, density: 6, unit: 100 mm"));
  const Scene scene = Scene::fromFile(folder / "scene.yaml");
  const BodyPart& rock = scene.mechanism().body("rock");
  EXPECT_NEAR(rock.mass.mass, 1e-3, 1e-15);
  EXPECT_NEAR((rock.mass.centre - Vector3::Constant(0.025)).norm(), 0, 1e-14);
  EXPECT_EQ(rock.shapes[0].kind, Shape::Kind::ConvexMesh) << "as the mesh is";
  // The copies in a folder of results serve where the file itself is gone.
  std::filesystem::create_directory(folder / "out");
  scene.copyMeshes(folder / "out");
  std::filesystem::copy_file(folder / "scene.yaml", folder / "out/scene.yaml");
  EXPECT_NEAR(Scene::fromFile(folder / "out/scene.yaml").mechanism().body("rock").mass.mass, 1e-3, 1e-15);
}

TEST(SceneContact, BadMeshesAreRefusedWithTheirPlace) {
  const TemporaryFolder folder;
  const auto load = [&](const std::string& mesh) {
    writeAll(folder / "rock.obj", mesh);
    writeAll(folder / "scene.yaml", sceneOfMesh("file: rock.obj, density: 1"));
    return Scene::fromFile(folder / "scene.yaml");
  };
  expectError<InputError>([&] { load(tetrahedron.substr(0, tetrahedron.size() - 8)); }, {"scene.yaml:3", "shapes[0]", "open"});
  expectError<InputError>([&] { load(with(tetrahedron, "f 1 3 2", "f 1 2 3")); }, {"scene.yaml:3", "shapes[0]"});
  expectError<InputError>([&] { load(with(tetrahedron, "f 1 3 2", "f 1 3 x")); }, {"scene.yaml:3", "rock.obj:5"});
  writeAll(folder / "scene.yaml", sceneOfMesh("file: stone.obj, density: 1"));
  expectError<InputError>([&] { Scene::fromFile(folder / "scene.yaml"); }, {"scene.yaml:3", "there is no file", "stone.obj"});
}

// ---- beams -----------------------------------------------------------------------------------------------------------------------------

namespace {

/// A long beam, clamped at both ends, and one that crosses over its middle at a distance; a strip that nothing touches; a ball above.
const std::string crossing = R"(tendril: 1
materials:
  - {name: steel, E: 2e11, nu: 0.3, density: 7800}
beams:
  - {name: along, curve: {type: straight, from: [0, 0, 0], to: [1, 0, 0]}, section: {shape: circle, radius: 0.01}, material: steel, elements: 3}
  - {name: arch, curve: {type: arc, start: [0, 0.3, 0.05], tangent: [0, 0, 1], towards: [0, -1, 0], radius: 0.3, angle: 180}, section: {shape: circle, radius: 0.02}, material: steel, elements: 7}
  - {name: strip, curve: {type: straight, from: [0, 3, 0], to: [1, 3, 0]}, section: {shape: rectangle, width: 0.01, height: 0.02}, material: steel, elements: 2}
obstacles:
  - {name: ball, shapes: [{kind: sphere, radius: 0.05}], position: [0, 0, 0.6]}
joints:
  - {name: left, type: clamp, on: along.start}
  - {name: right, type: clamp, on: along.end}
  - {name: foot, type: clamp, on: arch.start}
  - {name: hold, type: clamp, on: strip.start}
contacts:
  - {name: touch, between: [along, arch]}
  - {name: rest, between: [arch, ball]}
analysis: {type: static, steps: 1}
outputs:
  - {name: beams, measure: gap, between: [along, arch]}
  - {name: swapped, measure: gap, between: [arch, along]}
  - {name: solid, measure: gap, between: [arch, ball]}
  - {name: nearest, measure: gap, between: [arch, all]}
)";

void expectCrossingRefused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  expectSceneRefused(crossing, from, to, parts);
}

}

TEST(SceneContact, GapsOfBeamsFollowTheirCurves) {
  const Scene scene = parse(crossing);
  std::map<std::string, VectorX> results = resultsOf(runToEnd(scene));
  const double legs = std::hypot(0.3, 0.05) - 0.03; // both feet of the arch, from the begin of the straight beam
  EXPECT_NEAR(results["beams"][0], legs, 3e-8);
  EXPECT_NEAR(results["swapped"][0], legs, 3e-8);
  const double top = 0.6 - 0.05 - (0.05 + 0.3) - 0.02; // the apex lies within an element
  EXPECT_NEAR(results["solid"][0], top, 3e-8);
  EXPECT_NEAR(results["nearest"][0], top, 3e-8);
}

TEST(SceneContact, BeamsWithoutRoundOutlineDoNotTouchAndMayStandBeside) {
  const Scene scene = parse(crossing);
  const ContactModel& contacts = scene.contacts();
  EXPECT_EQ(contacts.law(contacts.find("strip"), contacts.find("along")), nullptr);
  expectCrossingRefused("between: [along, arch]}", "between: [along, strip]}", {"scene.yaml:16", "no round outline", "contact_radius"});
  expectCrossingRefused("elements: 2}", "elements: 2, surface: rubber}", {"scene.yaml:7", "no round outline", "contact_radius"});
}

/// Moreau's scheme lets rigid bodies touch beside beams that touch nothing, whatever their sections.
TEST(SceneContact, BeamsBesideTouchingBodiesLeaveMoreauAlone) {
  const std::string laws = crossing.substr(crossing.find("contacts:"));
  const Scene scene = parse(with(crossing, laws, R"(bodies:
  - {name: puck, mass: 2, shapes: [{kind: sphere, radius: 0.1}], position: [0, 0, 0.75]}
contacts:
  - {name: rest, between: [puck, ball]}
gravity: {acceleration: [0, 0, -10]}
analysis: {type: dynamic, method: moreau, duration: 1e-2, step: 1e-3}
outputs:
  - {name: weight, measure: normal force}
)"));
  EXPECT_NEAR(resultsOf(runToEnd(scene))["weight"][0], 20, 1e-6);
}

TEST(SceneContact, PartsOfALawThatTheMethodWouldForgetAreRefused) {
  for (const char* key : {"rolling_friction", "pivoting_friction", "cohesion"}) {
    const std::string law = std::string("between: [arch, ball], ") + key + ": 0.01}";
    expectCrossingRefused("between: [arch, ball]}", law, {"scene.yaml:17", key, "method: moreau"});
    for (const char* method : {"nonsmooth-alpha", "event-driven", "sweeping"}) {
      const std::string text = with(pair, "type: dynamic", std::string("type: dynamic, method: ") + method);
      expectSceneRefused(text, "between: all, friction: mu", std::string("between: all, ") + key + ": 0.01",
                         {"scene.yaml:11", key, "method: moreau"});
    }
    EXPECT_NO_THROW(parse(with(pair, "friction: mu", std::string("friction: mu, ") + key + ": 0.01"))) << key;
  }
}

TEST(SceneContact, ABeamHasNoGapFromItself) {
  expectCrossingRefused("between: [arch, along]}", "between: [along, along]}", {"scene.yaml:21", "the beam from itself"});
}

TEST(SceneContact, KeysOfContactOfBeamsAreRefusedByMethodsWithoutIt) {
  const std::string analysis = "{type: static, steps: 1}";
  const std::vector<std::string> keys{"contact_method: mortar", "contact_points: 2",      "contact_projection: closest-point",
                                      "contact_tangent: true",  "contact_solver: newton", "contact_tolerance: 1e-9",
                                      "contact_weight: 2"};
  for (const std::string& key : keys) {
    EXPECT_NO_THROW(parse(with(crossing, analysis, "{type: static, " + key + "}"))) << key;
    expectCrossingRefused(analysis, "{type: static, method: arc-length, " + key + "}", {"scene.yaml:18", "arc-length does not know"});
    for (const char* method : {"generalized-alpha", "moreau", "event-driven", "sweeping"}) {
      const std::string text = std::string("{type: dynamic, duration: 1, step: 1, method: ") + method + ", " + key + "}";
      expectCrossingRefused(analysis, text, {"scene.yaml:18", method, "does not know", "nonsmooth-alpha"});
    }
  }
  expectCrossingRefused(analysis, "{type: static, method: arc-length}", {"scene.yaml:15", "knows no contact", "load-stepping"});
}
