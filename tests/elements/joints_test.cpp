#include "support/dense.h"
#include "tendril/elements/joints.h"

#include "rig.h"
#include "support/validator.h"
#include "tendril/lie/se3.h"
#include "tendril/model/assembly.h"

#include "tendril/model/error.h"
#include "tendril/model/model.h"

#include <gtest/gtest.h>
#include <numbers>

using namespace tendril;
using namespace tendril::test;

namespace {

constexpr JointKind kinds[] = {JointKind::Fixed,
                               JointKind::Revolute,
                               JointKind::Prismatic,
                               JointKind::Cylindrical,
                               JointKind::Spherical,
                               JointKind::Universal,
                               JointKind::Planar,
                               JointKind::Screw,
                               JointKind::Distance,
                               JointKind::DrivenRotation,
                               JointKind::DrivenTranslation,
                               JointKind::AngleDrive,
                               JointKind::LengthDrive};
constexpr int freedoms[] = {0, 1, 1, 2, 3, 2, 3, 1, 5, 0, 0, 5, 5};

/// Parameters with which any initial configuration fits.
JointParameters fitting(JointKind kind) {
  JointParameters p;
  p.reference = JointReference::Pose;
  p.motion = {"from rest", [](double t) { return Jet{0.3 * t + 0.5 * t * t, 0.3 + t, 1}; }};
  p.pitch = 0.8;
  if (kind == JointKind::Universal) p.tolerance = 10; // its axes coincide in the reference instead of being perpendicular
  return p;
}

std::string messageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// A body at a pose, joined to the ground at the origin.
std::unique_ptr<const Model> single(JointKind kind, const Pose& pose, const JointParameters& parameters = {}) {
  ModelBuilder builder;
  const int b = addRigidBody(builder, "b", MassProperties::box(1, {1, 1, 1}), pose);
  const Marker& ground = builder.groundMarker("g", {});
  builder.groundMarker("far", poseOf(0, 0, 10));
  builder.term<Joints>().add(kind, "joint", ground, builder.bodyMarker("m", b), parameters);
  return builder.build();
}

double violation(const Model& model, const State& state) {
  Assembly assembly(model);
  assembly.begin({.tangent = false});
  model.evaluate(state, assembly);
  return assembly.constraint().norm();
}

}

class JointsTest : public ::testing::TestWithParam<JointKind> {};

TEST_P(JointsTest, PassTheValidator) {
  for (const PairNames& names : pairs) {
    SCOPED_TRACE(std::string(names.first) + " - " + names.second);
    Rig rig;
    rig.builder.term<Joints>().add(GetParam(), "j", rig.marker(names.first), rig.marker(names.second), fitting(GetParam()));
    ValidationOptions options;
    options.states = 2;
    options.internal = names.internal;
    validate(*rig.builder.build(), options);
  }
}

TEST_P(JointsTest, LeaveTheirFreedoms) {
  // Rank of G at the initial configuration, and no small singular value: the rows are well conditioned.
  ModelBuilder builder;
  const Pose place = poseOf(0.3, -0.2, 0.5, 0.4, 0.2, -0.3);
  const int b = builder.addPose("b", -1, place);
  JointParameters p = fitting(GetParam());
  p.reference = JointReference::Markers;
  const bool isUniversal = GetParam() == JointKind::Universal;
  p.length = 0.5;
  const Pose offset = GetParam() == JointKind::Distance ? poseOf(0.3, 0, 0.4) : Pose{};
  const Pose ground = isUniversal ? place * poseOf(0, 0, 0, 0, 0, std::numbers::pi / 3) : place;
  p.tolerance = isUniversal ? 10 : 1e-9;
  builder.term<Joints>().add(GetParam(), "j", builder.groundMarker("g", ground), builder.bodyMarker("m", b, offset), p);
  const auto model = builder.build();
  Assembly assembly(*model);
  assembly.begin({});
  model->evaluate(model->initialState(), assembly);
  const MatrixX G = MatrixX(assembly.gradient());
  const VectorX singular = singularValues(G);
  EXPECT_EQ(int(G.rows()), 6 - freedoms[int(GetParam())]);
  EXPECT_GE(singular.minCoeff(), 0.4);
}

INSTANTIATE_TEST_SUITE_P(All, JointsTest, ::testing::ValuesIn(kinds));

TEST(JointMotions, SatisfyTheirRows) {
  const double turn = 2 * std::numbers::pi;
  JointParameters p;
  p.pitch = 0.25;
  p.length = 5;
  p.motion = TimeFunction::proportional();
  const auto freedom = [&](JointKind kind, const Pose& moved, double t = 0, const Pose& start = {}) {
    const auto model = single(kind, start, p);
    State state = model->initialState();
    state.t = t;
    storePose(moved, state.q.data());
    return violation(*model, state);
  };
  const double tight = 1e-14;
  EXPECT_LE(freedom(JointKind::Revolute, poseOf(0, 0, 0, 0, 0, 2.8)), tight);
  EXPECT_GE(freedom(JointKind::Revolute, poseOf(0, 0, 0, 0.1, 0, 0)), 0.09);
  EXPECT_GE(freedom(JointKind::Revolute, poseOf(0, 0, 0.1)), 0.09);
  EXPECT_LE(freedom(JointKind::Prismatic, poseOf(0, 0, 7)), tight);
  EXPECT_GE(freedom(JointKind::Prismatic, poseOf(0, 0, 7, 0, 0, 0.1)), 0.09);
  EXPECT_LE(freedom(JointKind::Cylindrical, poseOf(0, 0, 7, 0, 0, 2)), tight);
  EXPECT_LE(freedom(JointKind::Spherical, poseOf(0, 0, 0, 1, 2, 3)), tight);
  EXPECT_LE(freedom(JointKind::Planar, poseOf(3, 4, 0, 0, 0, 2)), tight);
  EXPECT_GE(freedom(JointKind::Planar, poseOf(3, 4, 0.1, 0, 0, 2)), 0.09);
  EXPECT_LE(freedom(JointKind::Distance, poseOf(3, 4, 0, 1, 2, 3), 0, poseOf(0, 5, 0)), tight);
  // The screw advances by a pitch per turn, over many turns.
  EXPECT_LE(freedom(JointKind::Screw, poseOf(0, 0, 0.25 * (3 + 0.1), 0, 0, 0.1 * turn)), 1e-13);
  EXPECT_GE(freedom(JointKind::Screw, poseOf(0, 0, 0.25 * (3 + 0.2), 0, 0, 0.1 * turn)), 0.024);
  // Drives follow their function, the angle beyond a turn too.
  EXPECT_LE(freedom(JointKind::DrivenRotation, poseOf(0, 0, 0, 0, 0, 9.0 - turn), 9.0), 1e-13);
  EXPECT_LE(freedom(JointKind::AngleDrive, poseOf(1, 2, 3, 0, 0, 9.0 - turn), 9.0), 1e-13);
  EXPECT_LE(freedom(JointKind::DrivenTranslation, poseOf(0, 0, 0.7), 0.7), tight);
  EXPECT_LE(freedom(JointKind::LengthDrive, poseOf(1, 2, 0.7, 1, 2, 3), 0.7), tight);
  // A universal joint turns about e1 of frame 1, then e2 of frame 2.
  const Matrix3 R = so3::exp(Vector3(0.5, 0, 0)) * so3::exp(Vector3(0, 0.8, 0));
  EXPECT_LE(freedom(JointKind::Universal, {R, Vector3::Zero()}), tight);
  EXPECT_GE(freedom(JointKind::Universal, poseOf(0, 0, 0, 0, 0, 0.1)), 0.09);
}

TEST(JointsReaction, HoldsAWeight) {
  // A body of weight W clamped at a marker that is off its centre: the joint carries W and W times the arm.
  const double W = 2 * 9.81;
  ModelBuilder builder;
  builder.setGravity({{0, 0, -9.81}, TimeFunction::constant()});
  const MassProperties box{2, Vector3::Zero(), Vector3(1, 1, 1).asDiagonal()};
  const Pose ground = poseOf(0, 0, 0, 0.3, 0.4, 0.5);
  const int b = addRigidBody(builder, "b", box, poseOf(3, 0, 0));
  const Marker& g = builder.groundMarker("g", ground);
  builder.term<Joints>().add(JointKind::Fixed, "clamp", g, builder.bodyMarker("m", b, poseOf(-3, 0, 0, 0.1, 0.2, 0.3)),
                             {.reference = JointReference::Orientation});
  const auto model = builder.build();
  State state = model->initialState();
  Assembly assembly(*model);
  assembly.begin({});
  model->evaluate(state, assembly);
  state.lambda = solve(MatrixX(assembly.gradient()).transpose(), assembly.residual());
  const Joints& joints = *model->term<Joints>();
  const JointReaction reaction = joints.reaction(state, joints.find("clamp"));
  EXPECT_LE((reaction.force - Vector3(0, 0, W)).norm(), 1e-12);
  EXPECT_LE((reaction.moment - Vector3(0, -3 * W, 0)).norm(), 1e-12); // about the marker: the weight turns about +e_y, the joint resists
  EXPECT_LE((ground.R * reaction.localForce - reaction.force).norm(), 1e-12);
  EXPECT_LE((ground.R * reaction.localMoment - reaction.moment).norm(), 1e-12);
  // The rows of a fixed joint are the reaction itself, in the reference frame, which here is that of the second marker.
  const Matrix3 R = so3::exp(Vector3(0.1, 0.2, 0.3));
  EXPECT_LE((R * state.lambda.head<3>() - reaction.force).norm(), 1e-12);
  EXPECT_LE((R * state.lambda.tail<3>() - reaction.moment).norm(), 1e-12);
}

TEST(JointsReaction, ReadsAnglesAndDisplacements) {
  const auto model = single(JointKind::Cylindrical, poseOf(0, 0, 0.7, 0, 0, 0.4));
  const Joints& joints = *model->term<Joints>();
  EXPECT_NEAR(joints.angle(model->initialState(), 0), 0.4, 1e-14);
  EXPECT_NEAR(joints.displacement(model->initialState(), 0)[2], 0.7, 1e-14);
  EXPECT_EQ(model->nameOfConstraint(3), "joint 'joint', row 4");
  EXPECT_EQ(joints.rows(0), 4);
  EXPECT_EQ(joints.firstRow(0), 0);
  EXPECT_EQ(model->constraintQuantities(), (std::vector{RowQuantity::Length, RowQuantity::Length, RowQuantity::Angle, RowQuantity::Angle}));
}

TEST(JointsInput, RefusesMarkersThatDoNotFit) {
  const std::string far = messageOf([] { single(JointKind::Spherical, poseOf(0.5, 0, 0)); });
  EXPECT_NE(far.find("spherical joint 'joint' between 'g' and 'm'"), std::string::npos) << far;
  EXPECT_NE(far.find("0.5 m"), std::string::npos) << far;
  EXPECT_NE(far.find("far-apart"), std::string::npos) << far;
  EXPECT_NE(messageOf([] { single(JointKind::Fixed, poseOf(0, 0, 0, 0, 0, 0.5)); }).find("28.65 degrees"), std::string::npos);
  EXPECT_EQ(messageOf([] { single(JointKind::Spherical, poseOf(0, 0, 0, 1, 2, 3)); }), "");
  EXPECT_EQ(messageOf([] { single(JointKind::Spherical, poseOf(5e-5, 0, 0)); }), ""); // within 1e-5 of the size 10
  EXPECT_NE(messageOf([] { single(JointKind::Spherical, poseOf(2e-4, 0, 0)); }), "");
  // Half turns satisfy the rows, but not the joint.
  const double pi = std::numbers::pi;
  EXPECT_NE(messageOf([&] { single(JointKind::Fixed, poseOf(0, 0, 0, 0, pi, 0)); }).find("180 degrees"), std::string::npos);
  EXPECT_NE(messageOf([&] { single(JointKind::Revolute, poseOf(0, 0, 0, pi, 0, 0)); }).find("180 degrees"), std::string::npos);
  EXPECT_EQ(messageOf([&] { single(JointKind::Revolute, poseOf(0, 0, 0, 0, 0, pi)); }), "");
  // A reference taken from the initial configuration fits what it names.
  JointParameters p;
  p.reference = JointReference::Orientation;
  EXPECT_EQ(messageOf([&] { single(JointKind::Fixed, poseOf(0, 0, 0, 1, 2, 3), p); }), "");
  EXPECT_NE(messageOf([&] { single(JointKind::Fixed, poseOf(0, 0, 1, 1, 2, 3), p); }), "");
  p.reference = JointReference::Pose;
  EXPECT_EQ(messageOf([&] { single(JointKind::Fixed, poseOf(0, 0, 1, 1, 2, 3), p); }), "");
  // Drives must start where the joint is.
  p = {};
  p.motion = TimeFunction::constant(0.3);
  EXPECT_NE(messageOf([&] { single(JointKind::DrivenRotation, poseOf(0, 0, 0, 0, 0, 0.4), p); }).find("5.73 degrees"), std::string::npos);
  EXPECT_EQ(messageOf([&] { single(JointKind::DrivenRotation, poseOf(0, 0, 0, 0, 0, 0.3), p); }), "");
}

TEST(JointsInput, RefusesWrongParameters) {
  Rig rig;
  const Marker &a = rig.marker("one"), &b = rig.marker("two");
  Joints& joints = rig.builder.term<Joints>();
  EXPECT_NE(messageOf([&] { joints.add(JointKind::Screw, "j", a, b); }).find("pitch"), std::string::npos);
  EXPECT_NE(messageOf([&] { joints.add(JointKind::DrivenRotation, "j", a, b); }).find("function of time"), std::string::npos);
  EXPECT_NE(messageOf([&] { joints.add(JointKind::Distance, "j", a, b, {.length = 0.0}); }).find("spherical"), std::string::npos);
  EXPECT_NE(messageOf([&] { joints.add(JointKind::Fixed, "j", a, rig.marker("one again")); }).find("one body"), std::string::npos);
  EXPECT_NE(messageOf([&] { joints.add(JointKind::Fixed, "j", rig.marker("ground"), rig.marker("ground again")); }).find("ground"),
            std::string::npos);
  joints.add(JointKind::Spherical, "j", a, b, {.reference = JointReference::Pose});
  EXPECT_NE(messageOf([&] { joints.add(JointKind::Spherical, "j", a, b); }).find("name of its own"), std::string::npos);
  EXPECT_NE(messageOf([] { single(JointKind::Distance, {}); }).find("coincide"), std::string::npos);
}
