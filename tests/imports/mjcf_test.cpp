// MJCF as scenes: motions against scenes written by hand and closed forms, defaults, friction, what is lost and refused.
#include "imports/support.h"

#include <cmath>
#include <numbers>

#ifdef TENDRIL_HAVE_TINYXML2

using namespace tendril;
using namespace tendril::testing;

namespace {

constexpr double pi = std::numbers::pi;

const std::string doublePendulum = R"(<mujoco model="double pendulum">
  <compiler angle="radian"/>
  <option timestep="0.001" gravity="0 0 -9.81" integrator="RK4"/>
  <default>
    <geom density="500" contype="0" conaffinity="0"/>
    <default class="rod">
      <geom type="capsule" size="0.05" rgba="1 0 0 1"/>
      <joint axis="0 1 0" damping="0.02"/>
    </default>
  </default>
  <worldbody>
    <light pos="0 0 3"/>
    <body name="upper" pos="0 0 2" childclass="rod" euler="0 1.2 0">
      <joint name="shoulder"/>
      <geom fromto="0 0 0 0 0 -0.6"/>
      <body name="lower" pos="0 0 -0.6" euler="0 0.5 0">
        <joint name="elbow" range="-1 1"/>
        <geom fromto="0 0 0 0 0 -0.4"/>
        <site name="tip" pos="0 0 -0.4"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor joint="elbow" gear="10"/>
  </actuator>
  <keyframe>
    <key name="up" qpos="0 0"/>
  </keyframe>
</mujoco>
)";

const std::string doublePendulumByHand = R"(tendril: 1
parameters: {a: 1.2, b: 1.7, x: -0.6*sin(a), z: 2 - 0.6*cos(a)}
bodies:
  - {name: upper, shapes: [{kind: capsule, radius: 0.05, length: 0.6, density: 500, position: [0, 0, -0.3]}],
     position: [0, 0, 2], orientation: {axis: [0, 1, 0], angle: a*180/pi}}
  - {name: lower, shapes: [{kind: capsule, radius: 0.05, length: 0.4, density: 500, position: [0, 0, -0.2]}],
     position: [x, 0, z], orientation: {axis: [0, 1, 0], angle: b*180/pi}}
joints:
  - {name: shoulder, type: revolute, on: upper, position: [0, 0, 2], axis: [0, 1, 0]}
  - {name: elbow, type: revolute, on: lower, to: upper, position: [x, 0, z], axis: [0, 1, 0]}
springs:
  - {name: s, type: torsion, on: upper, axis: [0, 1, 0], stiffness: 0, damping: 0.02}
  - {name: e, type: torsion, on: lower, to: upper, axis: [0, 1, 0], stiffness: 0, damping: 0.02}
gravity: {}
analysis: {type: dynamic, duration: 0.3, step: 1e-3}
outputs:
  - {name: shoulder, measure: joint angle, joint: shoulder}
  - {name: elbow, measure: joint angle, joint: elbow}
  - {name: energy, measure: energy}
)";

std::string world(const std::string& content, const std::string& before = "") {
  return "<mujoco>\n" + before + "<worldbody>\n" + content + "</worldbody>\n</mujoco>\n";
}

/// A ball on one joint or several.
std::string jointed(const std::string& joints) { return world("<body name=\"b\">" + joints + "<geom size=\"0.1\" mass=\"2\"/></body>\n"); }

}

using MjcfImport = ImportTest;

TEST_F(MjcfImport, ADoublePendulumMovesAsThatWrittenByHand) {
  const Import import = read("pendulum.xml", doublePendulum, {.duration = 0.3});
  const Results imported = runText(import.scene), byHand = runText(doublePendulumByHand);
  EXPECT_GT(std::abs(byHand.at("shoulder")[0]), 0.1);
  expectNear(imported.at("shoulder_angle"), byHand.at("shoulder"), 1e-10);
  expectNear(imported.at("elbow_angle"), byHand.at("elbow"), 1e-10);
  expectNear(imported.at("energy"), byHand.at("energy"), 1e-10);
  EXPECT_EQ(import.scene.find("contacts:"), std::string::npos);
}

TEST_F(MjcfImport, WhatIsLostIsListedWithItsLine) {
  const Import import = read("pendulum.xml", doublePendulum);
  EXPECT_EQ(import.losses.size(), 6U) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 3, "integrator=\"RK4\"")) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 7, "rgba")) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 12, "<light")) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 17, "joint 'elbow': range=\"-1 1\"")) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 24, "<motor")) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 27, "<key")) << all(import.losses);
}

/// Sliding with mu g until it rolls, at 2 v/(7 mu g) with 5/7 of the velocity.
TEST_F(MjcfImport, ABallSlidesOverAPlaneAsCoulombSays) {
  const std::string text = world("<geom name=\"floor\" type=\"plane\" size=\"5 5 0.1\" friction=\"0.1\"/>\n"
                                 "<body name=\"ball\" pos=\"0 0 0.1\"><freejoint/><geom size=\"0.1\" friction=\"0.2\"/></body>\n",
                                 "<option timestep=\"0.001\"/>\n");
  const double mu = 0.2, g = 9.81, v = 2, t = 0.25, rolls = 2 * v / (7 * mu * g);
  ASSERT_LT(t, rolls);
  const std::vector<std::string> thrown{"bodies.ball.velocity=[2, 0, 0]"};
  const std::string scene = read("ball.xml", text, {.duration = t}).scene;
  expectNear(runText(scene, thrown).at("ball_position"), {v * t - mu * g * t * t / 2, 0, 0.1}, 1e-6);
  const std::string until = replaced(read("ball.xml", text, {.duration = 0.5}).scene, "outputs:\n",
                                     "outputs:\n  - {name: speed, measure: velocity, on: ball, component: x}\n");
  EXPECT_NEAR(runText(until, thrown).at("speed")[0], 5 * v / 7, 1e-6);
}

/// About the place where it hangs: x = -(m g/k)(1 - cos(t sqrt(k/m))).
TEST_F(MjcfImport, ASpringOfASlideOscillates) {
  const Import import =
      read("s.xml", jointed("<joint name=\"lift\" type=\"slide\" axis=\"0 0 1\" stiffness=\"200\"/>"), {.duration = 0.5, .step = 1e-3});
  EXPECT_NEAR(runText(import.scene).at("lift_displacement")[0], -2 * 9.81 / 200 * (1 - std::cos(0.5 * 10)), 1e-5);
}

/// A torsion spring whose rest angle is away from the start: phi = phi0 (1 - cos(t sqrt(k/J))).
TEST_F(MjcfImport, ASpringOfAHingeTurnsToItsRest) {
  const Import import = read("s.xml", jointed("<joint name=\"turn\" axis=\"0 0 1\" stiffness=\"0.8\" springref=\"30\" ref=\"10\"/>"),
                             {.duration = 0.1, .step = 1e-3});
  const double J = 0.4 * 2 * 0.01;
  EXPECT_NEAR(runText(import.scene).at("turn_angle")[0], 20 * pi / 180 * (1 - std::cos(0.1 * std::sqrt(0.8 / J))), 1e-5);
}

TEST_F(MjcfImport, SeveralJointsOfABodyAreOne) {
  const std::string x = "<joint axis=\"1 0 0\"/>", y = "<joint axis=\"0 1 0\"/>", z = "<joint axis=\"0 0 1\"/>";
  const std::string slideX = "<joint type=\"slide\" axis=\"1 0 0\"/>", slideY = "<joint type=\"slide\" axis=\"0 1 0\"/>";
  const std::pair<std::string, const char*> joints[] = {
      {x + y, "universal"},        {x + y + z, "spherical"},        {"<joint type=\"ball\" damping=\"1\"/>", "spherical"},
      {slideX + x, "cylindrical"}, {slideX + slideY + z, "planar"}, {slideX, "prismatic"}};
  for (const auto& [text, type] : joints) {
    const Import import = read("j.xml", jointed(text));
    EXPECT_NE(import.scene.find("type: " + std::string(type)), std::string::npos) << text << import.scene;
    sceneOf(import);
  }
}

/// Two hinges that do not meet, as of a hand on gimbals: the bodies between take a ten-thousandth of the mass, which is listed.
TEST_F(MjcfImport, JointsThatAreNoLowerPairStayAChain) {
  const std::string text = jointed("<joint name=\"p\" axis=\"1 0 0\"/><joint name=\"q\" pos=\"0 0 1\" axis=\"0 1 0\" damping=\"0.1\"/>");
  const Import import = read("j.xml", text, {.duration = 0.01});
  EXPECT_TRUE(says(import.losses, 3, "takes 0.0001 of its mass")) << all(import.losses);
  const std::vector<BodyPart> bodies = sceneOf(import).mechanism().bodies;
  ASSERT_EQ(bodies.size(), 2U);
  EXPECT_NEAR(bodies[0].mass.mass, 2e-4, 1e-18);
  EXPECT_NEAR(bodies[0].mass.mass + bodies[1].mass.mass, 2, 1e-15);
  const Results results = runText(import.scene);
  EXPECT_EQ(results.count("p_angle") + results.count("q_angle"), 2U);
}

/// A pendulum whose hinge hangs on a very stiff slide swings as on the hinge alone.
TEST_F(MjcfImport, AChainMovesAsTheFileSaysButForItsShareOfTheMass) {
  const auto swing = [&](const std::string& joints) {
    const std::string text =
        world("<body name=\"b\" euler=\"0 40 0\">" + joints + "<geom size=\"0.1\" pos=\"0 0 -1\" mass=\"2\"/></body>\n");
    return runText(read("j.xml", text, {.duration = 0.3, .step = 1e-3}).scene).at("b_position");
  };
  const std::string hinge = "<joint pos=\"0 0 0.5\" axis=\"0 1 0\"", slide = "<joint type=\"slide\" axis=\"1 0 0\" stiffness=\"1e6\"/>";
  expectNear(swing(slide + hinge + "/>"), swing(hinge + "/>"), 1e-4);
}

TEST_F(MjcfImport, MassesComeFromShapesOrAreGiven) {
  const auto massOf = [&](const std::string& geom, const std::string& more = "") {
    return sceneOf(read("m.xml", world("<body name=\"b\"><freejoint/>" + more + geom + "</body>\n"))).mechanism().bodies.at(0).mass;
  };
  const MassProperties box = massOf("<geom type=\"box\" size=\"0.1 0.2 0.3\" pos=\"1 0 0\"/>");
  EXPECT_NEAR(box.mass, 1000 * 0.2 * 0.4 * 0.6, 1e-12);
  EXPECT_NEAR(box.inertia(0, 0), box.mass * (0.16 + 0.36) / 12, 1e-12);
  EXPECT_LT((box.centre - Vector3(1, 0, 0)).norm(), 1e-15);
  const MassProperties rod = massOf("<geom type=\"cylinder\" size=\"0.1\" fromto=\"0 0 0 2 0 0\" mass=\"3\"/>");
  EXPECT_NEAR(rod.mass, 3, 1e-14);
  EXPECT_NEAR(rod.inertia(0, 0), 3 * 0.01 / 2, 1e-14);
  EXPECT_NEAR(rod.inertia(1, 1), 3 * (3 * 0.01 + 4) / 12, 1e-13);
  const MassProperties given = massOf("<geom size=\"1\"/>", "<inertial pos=\"0 0 1\" mass=\"2\" fullinertia=\"3 4 5 0.1 0.2 0.3\"/>");
  EXPECT_DOUBLE_EQ(given.mass, 2);
  EXPECT_NEAR(given.inertia(0, 2), 0.2, 1e-15);
  EXPECT_NEAR(given.inertia(1, 2), 0.3, 1e-15);
}

/// A quarter turn about x and then about the new z: e1 becomes e3, e3 becomes -e2.
TEST_F(MjcfImport, OrientationsInAllWordsAreOne) {
  const std::string words[] = {"euler=\"90 0 90\"", "quat=\"0.5 0.5 -0.5 0.5\"", "xyaxes=\"0 0 1 -2 0 0\"", "axisangle=\"1 -1 1 120\""};
  for (const std::string& word : words) {
    const std::string text =
        world("<body name=\"a\"><freejoint/><body name=\"b\" " + word + "><geom size=\"0.1\" pos=\"1 0 3\"/></body></body>\n");
    const Vector3 centre = sceneOf(read("m.xml", text)).mechanism().bodies.at(0).mass.centre;
    EXPECT_LT((centre - Vector3(0, -3, 1)).norm(), 1e-14) << word << " " << centre.transpose();
  }
}

TEST_F(MjcfImport, MasksAndExclusionsSayWhatTouches) {
  const auto ball = [](const std::string& name, const std::string& pos, const std::string& geom) {
    return "<body name=\"" + name + "\" pos=\"" + pos + "\"><freejoint/><geom size=\"0.1\" " + geom + "/></body>\n";
  };
  const std::string text =
      world("<geom name=\"floor\" type=\"plane\" size=\"1 1 1\" friction=\"0.6\"/>\n" + ball("a", "0 0 1", "friction=\"0.3\"") +
                ball("b", "1 0 1", "contype=\"2\" conaffinity=\"2\"") + ball("c", "2 0 1", "friction=\"0.3\" condim=\"6\"") +
                ball("d", "3 0 1", "contype=\"0\" conaffinity=\"0\""),
            "<contact><exclude body1=\"a\" body2=\"c\"/></contact>\n");
  const Scene scene = sceneOf(read("m.xml", text));
  const auto law = [&](const char* a, const char* b) { return lawOf(scene, a, b); };
  ASSERT_TRUE(law("a", "floor"));
  EXPECT_EQ(law("a", "floor")->friction, 0.6); // the larger one
  EXPECT_EQ(law("c", "floor")->rolling, 0.0001);
  EXPECT_FALSE(law("a", "b"));
  EXPECT_FALSE(law("b", "floor"));
  EXPECT_FALSE(law("a", "c"));
  EXPECT_FALSE(law("d", "floor"));
}

TEST_F(MjcfImport, MeshesTouchByTheirHull) {
  writeAll(folder / "tip.obj", openTetrahedron);
  const Import import =
      read("m.xml", world("<body><freejoint/><geom mesh=\"tip\"/></body>\n", "<asset><mesh file=\"tip.obj\" scale=\"2 2 2\"/></asset>\n"));
  const BodyPart body = sceneOf(import).mechanism().bodies.at(0);
  EXPECT_EQ(body.shapes.at(0).kind, Shape::Kind::ConvexMesh);
  const double m = 1000 * 8. / 6;
  EXPECT_NEAR(body.mass.mass, m, 1e-9);
  // Of a tetrahedron with three legs a = 2 at right angles, about its centre of mass: 3/40 m a^2 and, off the diagonal, m a^2 / 80.
  EXPECT_LE((body.mass.inertia - (m / 80 * 4) * (5 * Matrix3::Identity() + Matrix3::Ones())).norm(), 1e-9 * m);
}

TEST_F(MjcfImport, BadFilesAreRefusedWithTheirLine) {
  expectRefused("m.xml", "<mujoco/>", {"no <worldbody>"});
  expectRefused("m.xml", world(""), {"nothing in the file moves"});
  expectRefused("m.xml", world("<body><joint/></body>\n"), {"m.xml:3", "no mass"});
  expectRefused("m.xml", world("<body><joint class=\"x\"/></body>\n"), {"m.xml:3", "no default class 'x'"});
  expectRefused("m.xml", jointed("<joint type=\"screw\"/>"), {"'screw'"});
  expectRefused("m.xml", jointed("<joint axis=\"0 0 inf\"/>"), {"'inf'"});
  expectRefused("m.xml", jointed("<joint/><freejoint/>"), {"no other joints"});
  expectRefused("m.xml", world("<body><freejoint/><geom type=\"box\" size=\"1 1\"/></body>\n"), {"3 sizes"});
  expectRefused("m.xml", world("<body><freejoint/><geom size=\"-1\"/></body>\n"), {"not positive"});
  expectRefused("m.xml", world("<body><freejoint/><geom mesh=\"none\"/></body>\n"), {"no mesh 'none'"});
  expectRefused("m.xml", world("<body><freejoint/><geom type=\"plane\"/><geom size=\"1\"/></body>\n"), {"cannot move"});
  expectRefused("m.xml", world("<body name=\"a\"/>\n<body name=\"a\"/>\n"), {"m.xml:4", "this name"});
  expectRefused("m.xml", world("", "<option timestep=\"0\"/>"), {"time step"});
  expectRefused("m.xml", world("<body quat=\"0 0 0 0\"/>\n"), {"quaternion"});
}

TEST_F(MjcfImport, BrokenFilesDoNoHarm) {
  expectNoHarm("m.xml", doublePendulum, [](std::string& text, std::mt19937& random) {
    for (int k = 0; k < 2; ++k) text[random() % text.size()] = "0123456789.-<>\"/ abcxyz"[random() % 23];
  });
}

#endif
