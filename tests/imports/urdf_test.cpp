// URDF as scenes: motions against scenes written by hand and closed forms, what is lost, what is refused.
#include "imports/support.h"

#include <cmath>
#include <numbers>

#ifdef TENDRIL_HAVE_TINYXML2

using namespace tendril;
using namespace tendril::testing;

namespace {

/// An arm on an oblique hinge, its centre of mass and its axes of inertia askew.
const std::string pendulum = R"(<?xml version="1.0"?>
<robot name="pendulum">
  <link name="world"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.1 0.05 -0.5" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.2" iyy="0.15" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision>
      <origin xyz="0 0 -0.5"/>
      <geometry><box size="0.1 0.1 1"/></geometry>
    </collision>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="world"/>
    <child link="arm"/>
    <origin xyz="0 0 1" rpy="0.3 0 0"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/>
    <dynamics damping="0.25" friction="0.5"/>
  </joint>
  <transmission name="drive"><type>simple</type></transmission>
</robot>
)";

const std::string pendulumByHand = R"(tendril: 1
bodies:
  - {name: arm, mass: 2, centre: [0.1, 0.05, -0.5], inertia: [0.15, 0.2, 0.1], position: [0, 0, 1], orientation: {axis: [1, 0, 0], angle: "0.3*180/pi"}}
joints:
  - {name: hinge, type: revolute, on: arm, position: [0, 0, 1], axis: [0, cos(0.3), sin(0.3)]}
springs:
  - {name: damper, type: torsion, on: arm, axis: [0, cos(0.3), sin(0.3)], stiffness: 0, damping: 0.25}
gravity: {}
analysis: {type: dynamic, duration: 0.4, step: 1e-3}
outputs:
  - {name: angle, measure: joint angle, joint: hinge}
  - {name: energy, measure: energy}
)";

std::string inertial(double mass, double inertia, const std::string& origin = "") {
  const std::string J = std::to_string(inertia);
  return "<inertial>" + origin + "<mass value=\"" + std::to_string(mass) + "\"/><inertia ixx=\"" + J + "\" iyy=\"" + J + "\" izz=\"" + J +
         "\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";
}

std::string linkWith(const std::string& name, const std::string& content = inertial(1, 0.1)) {
  return "<link name=\"" + name + "\">" + content + "</link>\n";
}

std::string joint(const std::string& name, const std::string& type, const std::string& parent, const std::string& child,
                  const std::string& content = "") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent link=\"" + parent + "\"/><child link=\"" + child + "\"/>" + content +
         "</joint>\n";
}

std::string inRobot(const std::string& content) { return "<robot name=\"r\">\n" + content + "</robot>\n"; }

}

using UrdfImport = ImportTest;

TEST_F(UrdfImport, APendulumMovesAsThatWrittenByHand) {
  const Import import = read("pendulum.urdf", pendulum, {.duration = 0.4});
  const Results imported = runText(import.scene), byHand = runText(pendulumByHand);
  EXPECT_GT(std::abs(byHand.at("angle")[0]), 0.1);
  expectNear(imported.at("hinge_angle"), byHand.at("angle"), 1e-11);
  expectNear(imported.at("energy"), byHand.at("energy"), 1e-10);
}

TEST_F(UrdfImport, WhatIsLostIsListedWithItsLineHereAndInTheScene) {
  const Import import = read("pendulum.urdf", pendulum);
  EXPECT_EQ(import.losses.size(), 3U) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 20, "<limit lower=\"-1\" upper=\"1\" effort=\"10\" velocity=\"5\">")) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 21, "dry friction of 0.5")) << all(import.losses);
  EXPECT_TRUE(says(import.losses, 23, "<transmission name=\"drive\"> with 1 elements inside")) << all(import.losses);
  EXPECT_NE(import.scene.find("#   line 20: joint 'hinge': <limit"), std::string::npos) << import.scene;
}

TEST_F(UrdfImport, ADamperSlowsDownExponentially) {
  const std::string text = inRobot(linkWith("world", "") + linkWith("wheel", inertial(1, 0.5)) +
                                   joint("axle", "continuous", "world", "wheel", "<axis xyz=\"0 0 1\"/><dynamics damping=\"1.5\"/>"));
  const Import import = read("wheel.urdf", text);
  const Results results =
      runText(replaced(import.scene, "outputs:\n", "outputs:\n  - {name: rate, measure: angular velocity, on: wheel, component: z}\n"),
              {"bodies.wheel.angular_velocity=[0, 0, 10]"});
  EXPECT_NEAR(results.at("rate")[0], 10 * std::exp(-3.), 1e-5);
}

TEST_F(UrdfImport, LinksThatAreWeldedAreOneBodyWithTheInertiaOfBoth) {
  const std::string text = inRobot(linkWith("left", inertial(1, 0.01)) + linkWith("tool", "") + linkWith("right", inertial(3, 0.02)) +
                                   joint("j1", "fixed", "left", "tool", "<origin xyz=\"1 0 0\"/>") +
                                   joint("j2", "fixed", "tool", "right", "<origin xyz=\"1 0 0\"/>"));
  const Scene scene = sceneOf(read("dumbbell.urdf", text));
  ASSERT_EQ(scene.mechanism().bodies.size(), 1U);
  const MassProperties& p = scene.mechanism().bodies[0].mass;
  EXPECT_DOUBLE_EQ(p.mass, 4);
  EXPECT_LT((p.centre - Vector3(1.5, 0, 0)).norm(), 1e-15);
  const double across = 0.03 + 1 * 1.5 * 1.5 + 3 * 0.5 * 0.5;
  EXPECT_LT((p.inertia - Matrix3(Vector3(0.03, across, across).asDiagonal())).norm(), 1e-14);
}

/// Roll r, pitch p and yaw y about fixed axes: R e1 = (cos y cos p, sin y cos p, -sin p), R e3 = (cos y sin p cos r + sin y sin r, ...).
TEST_F(UrdfImport, RollPitchAndYawTurnAboutFixedAxes) {
  const double r = 0.3, p = 0.5, y = 0.7;
  const Vector3 first(std::cos(y) * std::cos(p), std::sin(y) * std::cos(p), -std::sin(p));
  const Vector3 third(std::cos(y) * std::sin(p) * std::cos(r) + std::sin(y) * std::sin(r),
                      std::sin(y) * std::sin(p) * std::cos(r) - std::cos(y) * std::sin(r), std::cos(p) * std::cos(r));
  const std::string text = inRobot(linkWith("a", inertial(1, 0.1)) + linkWith("b", inertial(1, 0.1, "<origin xyz=\"2 0 3\"/>")) +
                                   joint("j", "fixed", "a", "b", "<origin rpy=\"0.3 0.5 0.7\"/>"));
  const Vector3 centre = sceneOf(read("r.urdf", text)).mechanism().bodies.at(0).mass.centre;
  EXPECT_LT((2 * centre - 2 * first - 3 * third).norm(), 1e-14);
}

TEST_F(UrdfImport, ARootWithMassIsFreeUnlessItIsHeld) {
  const std::string text = inRobot(linkWith("base") + linkWith("arm") + joint("j", "revolute", "base", "arm", "<origin xyz=\"0 0 1\"/>"));
  const Import free = read("r.urdf", text);
  EXPECT_TRUE(says(free.remarks, 2, "moves freely")) << all(free.remarks);
  EXPECT_EQ(sceneOf(free).mechanism().bodies.size(), 2U);
  EXPECT_EQ(sceneOf(read("r.urdf", text, {.base = ImportedBase::Fixed})).mechanism().bodies.size(), 1U);
}

TEST_F(UrdfImport, AllJointsRunTogether) {
  const std::string up = "<origin xyz=\"0 0 1\" rpy=\"0.1 0.2 0.3\"/><axis xyz=\"0 1 1\"/><dynamics damping=\"0.1\"/>";
  const std::string text = inRobot(linkWith("world", "") + linkWith("a") + linkWith("b") + linkWith("c") + linkWith("d") +
                                   joint("slide", "prismatic", "world", "a", up) + joint("turn", "continuous", "a", "b", up) +
                                   joint("plane", "planar", "b", "c", up) + joint("loose", "floating", "c", "d", up));
  const Import import = read("all.urdf", text, {.duration = 0.02});
  EXPECT_TRUE(says(import.losses, 9, "damping of a planar joint")) << all(import.losses);
  const Results results = runText(import.scene);
  EXPECT_GT(std::abs(results.at("slide_displacement")[0]), 1e-4);
  EXPECT_EQ(results.count("turn_angle"), 1U);
}

TEST_F(UrdfImport, FrictionMakesLawsOfContactButNotBetweenNeighbours) {
  const std::string ball = inertial(1, 0.1) + "<collision><geometry><sphere radius=\"0.2\"/></geometry></collision>";
  const std::string text = inRobot(linkWith("a", ball) + linkWith("b", ball) + linkWith("c", ball) +
                                   joint("ab", "revolute", "a", "b", "<origin xyz=\"0.3 0 0\"/>") +
                                   joint("bc", "revolute", "b", "c", "<origin xyz=\"0.3 0 0\"/>"));
  const Scene scene = sceneOf(read("r.urdf", text, {.friction = 0.4}));
  EXPECT_FALSE(lawOf(scene, "a", "b"));
  EXPECT_FALSE(lawOf(scene, "b", "c"));
  ASSERT_TRUE(lawOf(scene, "a", "c"));
  EXPECT_EQ(lawOf(scene, "a", "c")->friction, 0.4);
}

TEST_F(UrdfImport, MeshesAreFoundInPackagesAndCopied) {
  std::filesystem::create_directories(folder / "robot_pkg" / "meshes");
  writeAll(folder / "robot_pkg" / "meshes" / "tip.obj", tetrahedron);
  const auto with = [](const std::string& mesh) {
    return inRobot(linkWith("body", inertial(1, 0.1) + "<collision><geometry>" + mesh + "</geometry></collision>"));
  };
  const Import import = read("r.urdf", with("<mesh filename=\"package://robot_pkg/meshes/tip.obj\" scale=\"0.1 0.1 -0.2\"/>"));
  ASSERT_EQ(import.meshes.size(), 1U);
  const Scene scene = sceneOf(import);
  EXPECT_TRUE(std::filesystem::exists(folder / "scene-meshes" / "tip.obj"));
  const TriangleMesh& mesh = *scene.mechanism().bodies[0].shapes.at(0).mesh;
  double lowest = 0;
  for (const Vector3& v : mesh.vertices) lowest = std::min(lowest, v[2]);
  EXPECT_DOUBLE_EQ(lowest, -0.2);
  EXPECT_TRUE(says(read("r.urdf", with("<mesh filename=\"a.dae\"/>")).losses, 2, "Collada"));
  expectRefused("r.urdf", with("<mesh filename=\"package://robot_pkg/none.stl\"/>"), {"r.urdf:2", "no file"});
}

TEST_F(UrdfImport, NamesAreMadeValidAndThatIsSaid) {
  const Import import =
      read("r.urdf", inRobot(linkWith("my link.1") + linkWith("2nd") + joint("my link.1", "continuous", "my link.1", "2nd")));
  EXPECT_TRUE(says(import.remarks, 2, "named my_link_1")) << all(import.remarks);
  EXPECT_TRUE(says(import.remarks, 3, "named link_2nd")) << all(import.remarks);
  sceneOf(import);
  // What a name holds does not leave its comment.
  sceneOf(read("r.urdf", inRobot(linkWith("a&#10;tendril: 2") + "<gazebo reference=\"x&#10;title: y\"/>\n")));
}

TEST_F(UrdfImport, BadRobotsAreRefusedWithTheirLine) {
  const std::string two = linkWith("a") + linkWith("b");
  expectRefused("r.urdf", "<robot>\n<link name=\"a\">\n</robot>", {"r.urdf:", "well-formed"});
  expectRefused("r.urdf", "", {"r.urdf", "well-formed"});
  expectRefused("r.urdf", "<sdf/>", {"r.urdf:1", "<robot>"});
  expectRefused("r.urdf", inRobot(""), {"no links"});
  expectRefused("r.urdf", inRobot(two + joint("j", "revolute", "a", "c")), {"r.urdf:4", "no link 'c'"});
  expectRefused("r.urdf", inRobot(two + joint("j", "revolute", "a", "b") + joint("k", "revolute", "b", "a")), {"cycle"});
  expectRefused("r.urdf", inRobot(two + linkWith("c") + joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "a")), {"cycle"});
  expectRefused("r.urdf", inRobot(two + joint("j", "fixed", "a", "b") + joint("k", "fixed", "a", "b")),
                {"r.urdf:5", "parent already", "line 4"});
  expectRefused("r.urdf", inRobot(two), {"r.urdf:3", "in pieces"});
  expectRefused("r.urdf", inRobot(two + linkWith("a")), {"r.urdf:4", "line 2"});
  expectRefused("r.urdf", inRobot(two + joint("j", "hinge", "a", "b")), {"r.urdf:4", "'hinge'"});
  expectRefused("r.urdf", inRobot(two + joint("j", "revolute", "a", "b", "<axis xyz=\"0 0 0\"/>")), {"r.urdf:4", "axis is zero"});
  expectRefused("r.urdf", inRobot(two + joint("j", "revolute", "a", "b", "<axis xyz=\"0 nan 0\"/>")), {"'nan'", "no number"});
  expectRefused("r.urdf", inRobot(two + joint("j", "revolute", "a", "b", "<axis xyz=\"0 1e300 0\"/>")), {"'1e300'"});
  expectRefused("r.urdf", inRobot(two + joint("j", "revolute", "a", "b", "<axis xyz=\"0 1\"/>")), {"2 numbers", "give 3"});
  expectRefused("r.urdf", inRobot(two + "<joint name=\"j\" type=\"fixed\"><child link=\"b\"/></joint>"), {"no <parent>"});
  expectRefused("r.urdf", inRobot(linkWith("a") + linkWith("b", "") + joint("j", "revolute", "a", "b")), {"r.urdf:3", "no mass"});
  expectRefused("r.urdf", inRobot(linkWith("a", inertial(1, 0))), {"r.urdf:2", "inertia"});
  expectRefused("r.urdf", inRobot(linkWith("a", inertial(-1, 1))), {"negative"});
  expectRefused("r.urdf", inRobot("<xacro:macro name=\"m\"/>"), {"xacro"});
  expectRefused("r.urdf", inRobot(linkWith("world", "")), {"nothing in the file moves"});
}

TEST_F(UrdfImport, BrokenFilesDoNoHarm) {
  expectNoHarm("r.urdf", pendulum, [](std::string& text, std::mt19937& random) {
    for (int k = 0; k < 3; ++k) {
      const std::size_t at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = char(random() % 256);
      else
        text.erase(at, random() % 40);
    }
  });
}

#endif
