#include "tendril/elements/measures.h"

#include "support/allocation_counter.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

using namespace tendril;

namespace {

constexpr double pi = std::numbers::pi;

VectorX valueOf(const Measure& measure, const State& state) {
  VectorX out(measure.columns);
  measure.evaluate(state, out.data());
  return out;
}

SectionProperties section(double radius) { return SectionProperties::of(Section::circle(radius), {1e7, 0.25, 1000}); }

/// A ring segment (quarter of a circle of radius 2 in the x-y plane), a helix, and a spinning body.
struct Rig {
  Rig() {
    MechanismBuilder b;
    b.gravity({0, 0, -9.81});
    b.beam("arc", Curve::arc({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 2, pi / 2), section(0.01), {.elements = 8});
    b.beam("helix", Curve::helix({0, 0, 0}, {0, 0, 1}, {1, 0, 0}, 0.5, 0.4, 2), section(0.01), {.elements = 40});
    const auto body = b.body("body", {2, {0.1, 0, 0}, Vector3(1, 2, 2.5).asDiagonal()}, {so3::exp(Vector3(0, 0, pi / 2)), {1, 2, 3}},
                             {1, 0, 0}, {0, 0, 3});
    point = &body.at({Matrix3::Identity(), {0.5, 0, 0}}, "point");
    b.clamp("wall", b.beam("arc").start());
    mechanism = b.build();
  }
  const Model& model() const { return *mechanism.model; }

  Mechanism mechanism;
  const Marker* point;
};

}

TEST(Measures, FollowAPointOfASpinningBody) {
  const Rig rig;
  State state = rig.model().initialState();
  // The body's x axis points along y: the point is half a metre above the origin of the body in y.
  EXPECT_TRUE(valueOf(measures::position(*rig.point), state).isApprox(Vector3(1, 2.5, 3), 1e-15));
  // v + omega x r, omega = 3 about z, r = 0.5 along y.
  EXPECT_TRUE(valueOf(measures::velocity(*rig.point), state).isApprox(Vector3(1 - 1.5, 0, 0), 1e-14));
  EXPECT_NEAR(valueOf(measures::velocity(*rig.point, MeasureFrame::Marker), state)[1], 0.5, 1e-14);
  EXPECT_TRUE(valueOf(measures::angularVelocity(*rig.point), state).isApprox(Vector3(0, 0, 3), 1e-14));
  // At a = 0 of the local twist, v' = 0: x'' of the origin is R (omega x v_local), and the point adds omega x (omega x r).
  const Vector3 expected = Vector3(0, 3, 0) + Vector3(0, -4.5, 0);
  EXPECT_TRUE(valueOf(measures::acceleration(*rig.point), state).isApprox(expected, 1e-13));
}

TEST(Measures, RotationCountsFromTheInitialOrientationInInertialAxes) {
  const Rig rig;
  State state = rig.model().initialState();
  const Measure rotation = measures::rotation(rig.model(), *rig.point);
  EXPECT_LT(valueOf(rotation, state).norm(), 1e-15);
  const Vector3 turn(0.3, -0.2, 0.5);
  double* q = state.q.data() + rig.model().blocks()[rig.mechanism.body("body").block].q;
  const Pose pose = loadPose(q);
  storePose({so3::exp(turn) * pose.R, pose.x}, q);
  EXPECT_TRUE(valueOf(rotation, state).isApprox(turn, 1e-13));
  EXPECT_TRUE(valueOf(measures::frame(*rig.point), state).segment<3>(3).isApprox(so3::exp(turn) * pose.R.col(0), 1e-14));
}

TEST(Measures, BeamsKnowTheirLengthTorsionAndResultants) {
  const Rig rig;
  const State state = rig.model().initialState();
  const BeamPart &arc = rig.mechanism.beam("arc"), &helix = rig.mechanism.beam("helix");
  EXPECT_NEAR(valueOf(measures::length(rig.model(), arc), state)[0], pi, 1e-12);
  EXPECT_NEAR(valueOf(measures::elongation(rig.model(), arc), state)[0], 0, 1e-12);
  EXPECT_NEAR(valueOf(measures::frenetTorsion(rig.model(), arc), state)[0], 0, 1e-14);
  // tau = p/(r^2 + p^2) with p = pitch/(2 pi), over a length of 2 turns of 2 pi sqrt(r^2 + p^2).
  const double p = 0.4 / (2 * pi), square = 0.25 + p * p;
  EXPECT_NEAR(valueOf(measures::frenetTorsion(rig.model(), helix), state)[0], p / square * 4 * pi * std::sqrt(square), 1e-10);
  EXPECT_LT(valueOf(measures::curvature(rig.model(), arc, 3), state).norm(), 1e-12);
}

TEST(Measures, SectionMomentIsStiffnessTimesCurvature) {
  const Rig rig;
  State state = rig.model().initialState();
  const BeamPart& arc = rig.mechanism.beam("arc");
  // Move the nodes of the arc onto a circle of half the radius and the same length: curvature 1/1 - 1/2.
  const Curve tighter = Curve::arc({0, 0, 0}, {1, 0, 0}, {0, 1, 0}, 1, pi);
  for (std::size_t i = 0; i < arc.nodes.size(); ++i) {
    storePose(tighter.frame(arc.arclength[i]), state.q.data() + rig.model().blocks()[arc.nodes[i]].q);
  }
  EXPECT_TRUE(valueOf(measures::curvature(rig.model(), arc, 2), state).isApprox(Vector3(0, 0, 0.5), 1e-12));
  const double EI = section(0.01).stiffness(5, 5);
  const Vector3 moment = valueOf(measures::sectionMoment(rig.model(), arc, 2), state);
  EXPECT_TRUE(moment.isApprox(Vector3(0, 0, EI / 2), 1e-11));
  EXPECT_LT(valueOf(measures::sectionForce(rig.model(), arc, 2), state).norm(), 1e-8 * EI);
  EXPECT_NEAR(valueOf(measures::energy(rig.model(), measures::EnergyPart::Elastic), state)[0], EI * 0.25 * pi / 2, 1e-9 * EI);
}

TEST(Measures, ElementsAreFoundByArclength) {
  const Rig rig;
  const BeamPart& arc = rig.mechanism.beam("arc");
  EXPECT_EQ(measures::elementAt(arc, 0), 0);
  EXPECT_EQ(measures::elementAt(arc, arc.arclength[3]), 3);
  EXPECT_EQ(measures::elementAt(arc, arc.arclength[3] - 1e-3), 2);
  EXPECT_EQ(measures::elementAt(arc, arc.length()), 7);
  EXPECT_THROW(measures::elementAt(arc, 3.2), InputError);
  EXPECT_THROW(measures::strain(rig.model(), arc, 8), InputError);
}

TEST(Measures, WholeMechanism) {
  const Rig rig;
  const State state = rig.model().initialState();
  // Centre of mass of the body: (1, 2.1, 3), its velocity (1, 0, 0) + 3 e_z x (0, 0.1, 0).
  const Vector3 v(1 - 0.3, 0, 0), momentum = 2 * v;
  EXPECT_TRUE(valueOf(measures::momentum(rig.model()), state).isApprox(momentum, 1e-13));
  const Vector3 angular = Vector3(1, 2.1, 3).cross(momentum) + Vector3(0, 0, 2.5 * 3);
  EXPECT_TRUE(valueOf(measures::angularMomentum(rig.model()), state).isApprox(angular, 1e-13));
  EXPECT_NEAR(valueOf(measures::energy(rig.model(), measures::EnergyPart::Kinetic), state)[0], v.squaredNorm() + 2.5 * 9 / 2, 1e-12);
  EXPECT_LT(valueOf(measures::constraintViolation(rig.model()), state).norm(), 1e-15);
  State moved = state;
  moved.q.segment<3>(rig.model().blocks()[rig.mechanism.beam("arc").nodes[0]].q) += Vector3(0.25, 0, 0);
  EXPECT_NEAR(valueOf(measures::constraintViolation(rig.model()), moved)[0], 0.25, 1e-14);
  EXPECT_THROW(measures::reactionForce(rig.model(), "door"), InputError);
}

#if TENDRIL_COUNTS_ALLOCATIONS
TEST(Measures, EvaluationDoesNotAllocate) {
  const Rig rig;
  const State state = rig.model().initialState();
  const BeamPart& arc = rig.mechanism.beam("arc");
  const std::vector<Measure> all{measures::position(*rig.point),
                                 measures::rotation(rig.model(), *rig.point),
                                 measures::acceleration(*rig.point),
                                 measures::sectionForce(rig.model(), arc, 1),
                                 measures::frenetTorsion(rig.model(), arc),
                                 measures::energy(rig.model()),
                                 measures::momentum(rig.model()),
                                 measures::constraintViolation(rig.model())};
  double out[12];
  for (const Measure& measure : all) {
    measure.evaluate(state, out);
    const long before = test::allocationCount;
    measure.evaluate(state, out);
    EXPECT_EQ(test::allocationCount, before) << measure.description;
  }
}
#endif
