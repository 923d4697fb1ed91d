#include "tendril/model/attached_frames.h"

#include "rig.h"
#include "support/hinge_chain.h"
#include "support/validator.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/loads.h"
#include "tendril/model/assembly.h"
#include "tendril/model/director_system.h"

#include <gtest/gtest.h>

namespace tendril::test {
namespace {

const std::vector<Vector6> screws{screw(0.1, -0.2, 0.3, 0.2, 0.1, 1), screw(0, 0.3, 0.1, 1, -0.2, 0.3), screw(0.5, 0.1, 1, 0, 0.2, 0)};

/// Three coordinates move a frame against a body (or the ground); a body hangs on it by a joint.
struct Arm {
  explicit Arm(bool isOnBody) {
    const int base =
        isOnBody ? addRigidBody(builder, "base", {2, {0.1, 0, 0.2}, Vector3(0.3, 0.4, 0.5).asDiagonal()}, poseOf(0.2, 0.1, 0)) : -1;
    const int angles = builder.addVector("hinges", Vector3(0.3, -0.4, 0.2), Vector3(0.1, 0.2, -0.3));
    builder.term<CoordinateSprings>().add(angles, 0.7, isOnBody ? 2.0 : 3.0);
    frame = attachFrame(builder, "arm", -1, std::make_unique<HingeChain>(builder, base, angles, screws, poseOf(0.3, 0.2, 0.1, 0.4)));
    const Marker& tip = builder.bodyMarker("tip", frame, poseOf(0.1, 0, -0.2, 0.3, 0.2));
    const int hanging = addRigidBody(builder, "hanging", {1.5, {0, 0.1, 0}, Vector3(0.2, 0.3, 0.25).asDiagonal()},
                                     tip.frame(builder.state()) * poseOf(0, 0, 0, 0, 0, 0.7));
    builder.term<Joints>().add(JointKind::Revolute, "hinge", tip, builder.bodyMarker("hook", hanging));
    builder.term<PointMasses>().add("bob", builder.bodyMarker("bob", frame, poseOf(0, 0.3, 0)), 0.4);
  }
  ModelBuilder builder;
  int frame = -1;
};

}

TEST(AttachedFrames, PassTheValidatorOnTheGround) {
  Arm arm(false);
  arm.builder.setGravity({{1, -2, -9.81}, TimeFunction::proportional()});
  validate(*arm.builder.build());
}

TEST(AttachedFrames, PassTheValidatorOnABody) {
  Arm arm(true);
  validate(*arm.builder.build(), {.internal = true});
}

TEST(AttachedFrames, BeginWhereTheirFieldsAreAndMoveWithThem) {
  Arm arm(true);
  const auto model = arm.builder.build();
  State state = model->initialState();
  FieldKinematics k;
  const AttachedFrames& frames = *model->term<AttachedFrames>();
  frames.field(0).kinematics(state, k);
  const Block& block = model->blocks()[std::size_t(frames.block(0))];
  EXPECT_LE((loadPose(state.q.data() + block.q).x - k.frame.x).norm(), 1e-15);
  EXPECT_LE((state.v.segment<6>(block.v) - k.twist).norm(), 1e-15);
  EXPECT_TRUE(frames.isAttached(frames.block(0)));
  EXPECT_EQ(model->constraintName(0), "arm, its frame");
}

/// The multipliers are the wrench on what is followed: a dead force F on the frame appears as it is, seen from the frame.
TEST(AttachedFrames, PassForcesOn) {
  ModelBuilder builder;
  const int angles = builder.addVector("hinges", Vector3(0.3, -0.4, 0.2), Vector3::Zero());
  const int frame = attachFrame(builder, "arm", -1, std::make_unique<HingeChain>(builder, -1, angles, screws, poseOf(0.3, 0.2, 0.1, 0.4)));
  const Marker& tip = builder.bodyMarker("tip", frame);
  const Vector3 force(1, -2, 3);
  builder.term<Loads>().add("pull", tip, LoadDirection::Dead, force, Vector3::Zero(), TimeFunction::constant());
  const auto model = builder.build();
  State state = model->initialState();
  const Pose H = loadPose(state.q.data() + model->blocks()[std::size_t(frame)].q);
  state.lambda << H.R.transpose() * force, Vector3::Zero();
  Assembly assembly(*model);
  assembly.begin({.motion = false, .tangent = false});
  model->evaluate(state, assembly);
  EXPECT_LE(assembly.residual().segment<6>(model->blocks()[std::size_t(frame)].v).norm(), 1e-14);
  FieldKinematics k;
  model->term<AttachedFrames>()->field(0).kinematics(state, k);
  const Vector3 expected = -(H.R * k.J.topRows<3>()).transpose() * force; // r = -(dx/dq)^T F
  EXPECT_LE((assembly.residual().head<3>() - expected).norm(), 1e-14);
}

TEST(AttachedFrames, HaveNoFormInDirectorCoordinates) {
  ModelBuilder builder;
  const int angles = builder.addVector("hinges", Vector3::Zero(), Vector3::Zero());
  attachFrame(builder, "arm", -1, std::make_unique<HingeChain>(builder, -1, angles, screws, Pose{}));
  const auto model = builder.build();
  try {
    const DirectorSystem system(*model);
    FAIL() << "the system was built";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("arm, its frame"), std::string::npos) << error.what();
  }
}

}
