#include "tendril/scenes/scene.h"

#include "support/run_scene.h"
#include "support/scene_text.h"

#include <cmath>
#include <numbers>
#include <string>
#include <vector>

using namespace tendril;
using namespace tendril::testing;

namespace {

constexpr double pi = std::numbers::pi;

/// A cantilever with a body at its end. Line numbers of the mistakes below count in this text.
const std::string cantilever = R"(tendril: 1
title: A cantilever
parameters: {L: 2, unused: 3}
materials:
  - {name: rubber, E: 1 MPa, nu: 0.5, density: 1000}
beams:
  - name: cable
    curve: {type: straight, from: [0, 0, 0], to: [L, 0, 0]}
    section: {shape: circle, radius: 5 mm}
    material: rubber
    elements: 4
bodies:
  - {name: weight, mass: 1, inertia: [1, 1, 1], position: [L, 0, 0]}
joints:
  - {name: wall, type: clamp, on: cable.start}
  - {name: hook, type: fixed, on: weight, to: cable.end}
loads:
  - {name: push, type: force, on: weight, force: [0, 0, 1e-3]}
analysis: {type: static, steps: 2}
outputs:
  - {name: tip, measure: position, on: cable.end}
)";

/// The cantilever with one change must be refused with these words.
void expectRefused(const std::string& from, const std::string& to, std::initializer_list<const char*> parts) {
  expectSceneRefused(cantilever, from, to, parts);
}

/// Runs to the end; the result of an output.
VectorX run(const Scene& scene, const std::string& name) { return resultsOf(runToEnd(scene)).at(name); }

}

TEST(Scene, BuildsWhatTheFileSays) {
  const Scene scene = parse(cantilever);
  EXPECT_EQ(scene.title(), "A cantilever");
  EXPECT_FALSE(scene.isDynamic());
  EXPECT_EQ(scene.mechanism().beam("cable").elements(), 4);
  EXPECT_DOUBLE_EQ(scene.mechanism().beam("cable").length(), 2);
  EXPECT_DOUBLE_EQ(scene.mechanism().beam("cable").section.stiffness(0, 0), 1e6 * pi * 25e-6);
  ASSERT_EQ(scene.warnings().size(), 1u);
  EXPECT_NE(scene.warnings()[0].find("'unused'"), std::string::npos);
  // Small deflection F L^3/(3 E I), E I = 4.9e-4 N m^2.
  const VectorX tip = run(parse(with(cantilever, "1e-3]", "1e-7]")), "tip");
  EXPECT_NEAR(tip[2], 1e-7 * 8 / (3 * 1e6 * pi * std::pow(5e-3, 4) / 4), 2e-2 * tip[2]);
  EXPECT_EQ(parse(cantilever, {"beams.cable.elements=7"}).mechanism().beam("cable").elements(), 7);
}

TEST(Scene, RefusesUnknownAndMissingKeysWithThePlaceAndTheNearestName) {
  expectRefused("elements: 4", "elemnts: 4", {"scene.yaml:11:5", "beams[0].elemnts", "did you mean 'elements'"});
  expectRefused("type: clamp", "type: clmp", {"scene.yaml:15", "joints[0].type", "clmp", "did you mean 'clamp'"});
  expectRefused("tendril: 1", "tendril: 2", {"scene.yaml:1:10", "tendril", "version 1", "write `tendril: 1`"});
  expectRefused("  - name: cable\n    curve:", "  - curve:", {"scene.yaml:7", "beams[0]", "'name' is missing"});
  expectRefused("{name: hook,", "{name: hook, pitch: 3,", {"scene.yaml:16", "joints[1].pitch", "belongs to type: screw"});
}

TEST(Scene, RefusesNumbersThatCannotBe) {
  expectRefused("E: 1 MPa", "E: -1 MPa", {"scene.yaml:5", "materials[0].E", "not positive"});
  expectRefused("E: 1 MPa", "E: 0", {"scene.yaml:5", "materials[0].E", "not positive"});
  expectRefused("nu: 0.5", "nu: 0.7", {"scene.yaml:5", "materials[0]", "Poisson"});
  expectRefused("radius: 5 mm", "radius: 5 kg", {"scene.yaml:9", "beams[0].section.radius", "kg"});
  expectRefused("radius: 5 mm", "radius: -5 mm", {"scene.yaml:9", "beams[0].section.radius", "not positive"});
  expectRefused("radius: 5 mm", "radius: .nan", {"scene.yaml:9", "beams[0].section.radius"});
  expectRefused("radius: 5 mm", "radius: sqrt(-L)", {"scene.yaml:9", "beams[0].section.radius"});
  expectRefused("mass: 1,", "mass: -1,", {"scene.yaml:13", "bodies[0].mass", "not positive"});
  expectRefused("inertia: [1, 1, 1]", "inertia: [1, 1, 5]", {"scene.yaml:13", "bodies[0]", "no distribution of mass"});
  expectRefused("to: [L, 0, 0]", "to: [0, 0, 0]", {"scene.yaml:8", "beams[0].curve", "not zero"});
}

TEST(Scene, RefusesReferencesThatLeadNowhere) {
  expectRefused("material: rubber", "material: ruber", {"scene.yaml:10", "beams[0].material", "ruber", "did you mean 'rubber'"});
  expectRefused("on: cable.start", "on: cable.strat", {"scene.yaml:15", "joints[0].on", "did you mean 'cable.start'"});
  expectRefused("on: cable.start", "on: cable", {"scene.yaml:15", "joints[0].on", "say where", "cable.start"});
  expectRefused("on: cable.start", "on: {on: cable, at: 2.5}", {"scene.yaml:15", "joints[0].on.at", "arclengths 0 to 2"});
  expectRefused("on: cable.start", "on: {on: cable, node: 5}", {"scene.yaml:15", "joints[0].on.node", "nodes 0 to 4"});
  expectRefused("on: cable.end}", "on: {on: weight, at: 1}}", {"scene.yaml:21", "outputs[0].on.at", "'weight' is not a beam"});
  expectRefused("L: 2, unused: 3", "L: M, M: L", {"scene.yaml:3", "parameters"});
  expectRefused("  - {name: tip, measure: position, on: cable.end}", "  - {name: a, expression: 2*b}\n  - {name: b, expression: a/2}",
                {"scene.yaml:21", "outputs[0].expression", "depends on itself"});
  expectRefused("{name: weight, mass", "{name: cable, mass", {"scene.yaml:7", "named 'cable'", "name of its own"});
}

TEST(Scene, RefusesJointsBetweenMarkersFarApart) {
  expectRefused("position: [L, 0, 0]", "position: [L, 0.5, 0]",
                {"scene.yaml:16:5", "joints[1]", "'hook'", "do not fit together", "0.5 m", "move the markers"});
}

TEST(Scene, GroundAloneIsNoEndOfASpringOrADistance) {
  expectRefused("type: clamp, on: cable.start", "type: distance, on: cable.start", {"scene.yaml:15", "joints[0]", "'to' is missing"});
  expectRefused("loads:", "springs: [{name: s, on: cable.end, stiffness: 3}]\nloads:", {"scene.yaml:17", "springs[0]", "'to' is missing"});
  parse(with(cantilever, "loads:", "springs: [{name: s, type: torsion, on: cable.end, stiffness: 3}]\nloads:"));
}

TEST(Scene, MotionNeedsARotaryInertiaOfTheSection) {
  const std::string still = with(cantilever, "    material: rubber\n", "");
  const std::string moving = with(still, "analysis: {type: static, steps: 2}", "analysis: {type: dynamic, duration: 1, step: 0.1}");
  const auto section = [&](const std::string& inertia) {
    const std::string stiffness = "{shape: stiffness, EA: 1, GA2: 1, GA3: 1, GJ: 1, EI2: 1, EI3: 1, rhoA: 1" + inertia + "}";
    return with(moving, "{shape: circle, radius: 5 mm}", stiffness);
  };
  expectError<InputError>([&] { parse(section("")); }, {"scene.yaml:9", "beams[0].section", "rotary inertia", "rhoI1"});
  expectError<InputError>([&] { parse(section(", rhoI1: 0, rhoI2: 1")); }, {"scene.yaml:9", "rhoI1"});
  parse(section(", rhoI1: 1"));
  parse(section(", rhoI2: 1"));
}

TEST(Scene, WholeTurnsWithinAnElementAreSeen) {
  const std::string line = "{type: straight, from: [0, 0, 0], to: [L, 0, 0]}";
  const auto refused = [&](const std::string& curve, std::initializer_list<const char*> parts) { expectRefused(line, curve, parts); };
  // 4 elements; the rotation between the ends of an element of these is none or small.
  const std::string arc = "{type: arc, start: [0, 0, 0], tangent: [1, 0, 0], towards: [0, 0, 1], radius: 1, angle: ";
  refused(arc + "1440}", {"scene.yaml:7", "beam 'cable'", "360 degrees", "9 elements"});
  refused(arc + "1450}", {"362.5 degrees", "9 elements"});
  refused("{type: helix, centre: [0, 0, 0], axis: [0, 0, 1], radial: [1, 0, 0], radius: 1, pitch: 0.1, turns: 8}", {"elements or more"});
  refused("{type: formula, x: cos(t), y: sin(t), z: t/10, from: 0, to: 8*pi}", {"elements or more"});
  parse(with(with(cantilever, line, arc + "670}"), "position: [L, 0, 0]}", "position: [sin(670*pi/180), 0, 1 - cos(670*pi/180)]}"));
  // The shape in which a beam starts can wind up, too.
  refused(line + "\n    initial: " + arc + "1440}", {"initial shape", "360 degrees"});
}

TEST(Scene, WhatIsKnownBeforeTheFirstStepIsToldThen) {
  expectRefused("measure: position, on: cable.end", "measure: position, on: cable.end, when: 2",
                {"scene.yaml:21", "outputs[0].when", "from 0 to 1"});
  expectRefused("measure: position, on: cable.end", "measure: position, on: cable.end, when: -1", {"outputs[0].when"});
  expectRefused("force: [0, 0, 1e-3]", "force: [0, 0, 1e-3], time: log(t)", {"scene.yaml:18", "loads[0].time", "not finite"});
  expectRefused("analysis:", "gravity: {time: sqrt(-1 - t)}\nanalysis:", {"scene.yaml:19", "gravity.time", "not finite"});
  expectRefused("{type: straight, from: [0, 0, 0], to: [L, 0, 0]}", "{type: formula, x: t, y: sqrt(0.5 - t)}",
                {"scene.yaml:8", "beams[0].curve", "formula"});
  const std::string moving = "{type: dynamic, duration: 3, step: 0.1";
  const auto timing = [&](const std::string& more) { return moving + more; };
  expectRefused("{type: static, steps: 2", timing(", largest_step: 1"), {"scene.yaml:19", "largest_step", "error_tolerance"});
  expectRefused("{type: static, steps: 2", timing(", error_tolerance: 1e-3, largest_step: 0.1, smallest_step: 1"),
                {"scene.yaml:19", "smallest_step", "larger than the largest"});
  expectRefused("  - {name: tip,", "  - {name: tip, measure: time}\n  - {name: tip,", {"scene.yaml:22", "outputs[1].name", "'tip'"});
  expectRefused("{type: static, steps: 2", "{type: static, setps: 2", {"of an analysis"});
}

TEST(Scene, DrivesThatDoNotBeginWhereTheJointStandsSaySo) {
  const std::string text = with(cantilever, "type: fixed, on: weight,", "type: driven rotation, motion: 90 + t, on: weight,");
  expectError<InputError>([&] { parse(text); }, {"scene.yaml:16", "do not fit together", "the motion must begin at"});
}

TEST(Scene, ATimeFunctionThatFailsLaterIsNamedByItsKey) {
  const Scene scene = parse(with(cantilever, "force: [0, 0, 1e-3]", "force: [0, 0, 1e-3], time: sqrt(0.7 - t)"));
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  analysis->start();
  expectError<NumericalFailure>(
      [&] {
        while (!analysis->finished()) analysis->advance();
      },
      {"loads[0].time", "not finite"});
}

TEST(Scene, JointsSitWhereTheyAreSaidToBe) {
  // A pendulum hinged away from its centre: the body's frame is at its centre of mass, the hinge at the origin with axis y.
  const Scene scene = parse(R"(tendril: 1
bodies:
  - {name: bob, mass: 2, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0], orientation: [0, 0, 30]}
joints:
  - {name: pin, type: revolute, on: bob, position: [0, 0, 0], axis: [0, 2, 0]}
gravity: {}
analysis: {type: dynamic, duration: 0.05, step: 1e-3}
outputs:
  - {name: acceleration, measure: acceleration, on: bob, when: 0}
  - {name: angle, measure: joint angle, joint: pin}
  - {name: force, measure: reaction force, joint: pin, when: 0}
  - {name: energy, measure: energy}
)");
  // theta'' = m g l/(m l^2 + J) about +y (z falls); the pin carries the rest of the weight.
  const double angular = 2 * 9.81 / 2.1;
  const VectorX acceleration = run(scene, "acceleration");
  EXPECT_NEAR(acceleration[2], -angular, 1e-9);
  EXPECT_NEAR(run(scene, "force")[2], 2 * (9.81 - angular), 1e-8);
  EXPECT_NEAR(run(scene, "angle")[0], angular * 0.05 * 0.05 / 2, 2e-5);
  EXPECT_NEAR(run(scene, "energy")[0], 0, 1e-7) << "the integrator is of second order; 0.3 J change their kind";
}

TEST(Scene, ShapesGiveMassAndInertia) {
  const std::string head = "tendril: 1\nbodies:\n  - {name: b, ";
  const std::string tail = "}\nanalysis: {type: dynamic, duration: 1, step: 0.1}\n";
  const Scene solid = parse(head + "shapes: [{kind: box, size: [1, 2, 3], density: 2}]" + tail);
  EXPECT_NEAR(solid.mechanism().body("b").mass.mass, 12, 1e-14);
  EXPECT_NEAR(solid.mechanism().body("b").mass.inertia(0, 0), 13, 1e-13);
  const Scene scaled = parse(head + "mass: 24, shapes: [{kind: box, size: [1, 2, 3], position: [1, 0, 0]}]" + tail);
  EXPECT_NEAR(scaled.mechanism().body("b").mass.inertia(0, 0), 26, 1e-13);
  EXPECT_NEAR(scaled.mechanism().body("b").mass.centre[0], 1, 1e-15);
  expectError<InputError>([&] { parse(head + "shapes: [{kind: sphere, radius: 1}]" + tail); }, {"scene.yaml:3", "needs a density"});
  expectError<InputError>([&] { parse(head + "position: [0, 0, 0]" + tail); }, {"scene.yaml:3", "has no mass"});
}

TEST(Scene, PrescribedMotionMovesAMarker) {
  const Scene scene = parse(R"(tendril: 1
bodies: [{name: b, mass: 1, inertia: [1, 1, 1], position: [1, 2, 3]}]
joints:
  - {name: shaker, type: prescribed, on: b, translation: [0.1*t^2, 0, 0], axis: [0, 0, 1], angle: 90*t^2}
analysis: {type: dynamic, duration: 1, step: 0.01}
outputs:
  - {name: position, measure: position, on: b}
  - {name: rotation, measure: rotation, on: b}
)");
  EXPECT_TRUE(run(scene, "position").isApprox(Vector3(1.1, 2, 3), 1e-9));
  EXPECT_TRUE(run(scene, "rotation").isApprox(Vector3(0, 0, pi / 2), 1e-9));
}

TEST(Scene, RepeatsObjects) {
  const std::string chain = R"(tendril: 1
parameters: {n: 3}
bodies:
  - {name: "link${i}", repeat: {i: [0, n]}, mass: 1, inertia: [1, 1, 1], position: ["2*${i}", 0, 0]}
joints:
  - {name: "hinge${i}", repeat: {i: [1, n]}, type: revolute, on: "link${i}", to: "link${i-1}", position: ["2*${i} - 1", 0, 0], axis: [0, 1, 0]}
  - {name: root, type: revolute, on: link0, axis: [0, 1, 0]}
analysis: {type: dynamic, duration: 1, step: 0.1}
)";
  const Scene scene = parse(chain, {"n=5"});
  EXPECT_EQ(scene.mechanism().bodies.size(), 6u);
  EXPECT_EQ(scene.mechanism().model->nc(), 30);
  const int q = scene.mechanism().model->blocks()[scene.mechanism().body("link4").block].q;
  EXPECT_EQ(scene.mechanism().model->initialState().q[q], 8);
  expectError<InputError>([&] { parse(with(chain, "link${i-1}", "link${i+1}")); }, {"scene.yaml:6", "joints[2].to", "'link4'"});
  expectError<InputError>([&] { parse(with(chain, "i: [0, n]", "i: 4")); }, {"scene.yaml:4", "repeat", "first and last"});
  expectError<InputError>([&] { parse(with(chain, "i: [0, n]", "i: [0, n/2]")); }, {"scene.yaml:4", "whole numbers"});
}

TEST(Scene, SchemaCoversTheFormat) {
  const std::string json = Scene::schema().json();
  for (const char* key : {"\"joint\"", "\"helix\"", "\"rho_infinity\"", "\"relative_to\"", "\"prescribed\""}) {
    EXPECT_NE(json.find(key), std::string::npos) << key;
  }
  EXPECT_NE(Scene::schema().markdown().find("first maximum"), std::string::npos);
}
