#include "analysis/sliding_systems.h"
#include "dynamics/contact_rig.h"
#include "support/contact_curve_part.h"
#include "tendril/analysis/examination.h"
#include "tendril/analysis/single_contacts.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

using test::ContactRig;
using test::degree;

/// A rod whose lower tip starts at the origin, in the plane or floating in space.
struct RodInSpace {
  MechanismBuilder builder;
  const Marker* tip = nullptr;
  const Marker* ground = nullptr;
  Mechanism mechanism;

  RodInSpace(const test::Rod& rod, double slide, double lift = 0, bool inPlane = true) {
    builder.gravity({0, -rod.g, 0});
    const Vector3 arm = rod.l / 2 * Vector3(rod.c(), rod.s(), 0);
    const Vector3 velocity = Vector3(slide, 0, 0) + Vector3(0, 0, rod.rate).cross(arm);
    const auto body = builder.body("rod", ContactRig::flat(rod.m, rod.m * rod.l * rod.l / 12),
                                   {test::turn(rod.theta), arm + Vector3(0, lift, 0)}, velocity, {0, 0, rod.rate});
    tip = &body.at({Matrix3::Identity(), {-rod.l / 2, 0, 0}});
    ground = &builder.ground();
    if (inPlane) builder.joint(JointKind::Planar, "plane", *ground, body.at());
    mechanism = builder.build();
  }
  Guide guide(double mu) const { return {.name = "floor", .point = tip, .frame = ground, .isUnilateral = true, .friction = mu}; }
};

TEST(ModelContacts, RodOnAGuideIsTheRodOfTheSource) {
  for (const double slide : {-1.0, 1.0}) {
    const test::Rod rod{1.4, 0.7, 9.81, 55 * degree, 2};
    const RodInSpace model(rod, slide);
    ModelContacts contacts(*model.mechanism.model, nullptr, {model.guide(1.1)});
    const Examination e = examine(contacts, model.mechanism.model->initialState());
    const SlidingProblem expected = test::sliding(test::guidedRod(rod, false, 1.1, slide));
    ASSERT_TRUE(e.sliding);
    EXPECT_NEAR(e.sliding->A(0, 0), expected.A(0, 0), 1e-12);
    EXPECT_NEAR(e.sliding->T(0, 0), expected.T(0, 0), 1e-12);
    EXPECT_NEAR(e.sliding->w[0], expected.w[0], 1e-11);
    EXPECT_EQ(e.solvability.degreesOfFreedom, 3);
    EXPECT_NEAR(e.force("guide 'floor'"), solveSliding(expected).lambda.at(0)[0], 1e-11);
    ASSERT_TRUE(e.motion && e.motion->isSolved);
  }
}

TEST(ModelContacts, ContactsOfShapesAgreeWithGuides) {
  const test::Rod rod{1, 1, 9.81, 60 * degree, 1.5};
  ContactRig rig;
  const Vector3 arm = rod.l / 2 * Vector3(rod.c(), rod.s(), 0);
  const auto body = rig.builder.body("rod", ContactRig::flat(rod.m, rod.m * rod.l * rod.l / 12), {test::turn(rod.theta), arm},
                                     Vector3(-1, 0, 0) + Vector3(0, 0, rod.rate).cross(arm), {0, 0, rod.rate});
  rig.part("rod", body.at(), ContactRig::polygon({{-0.5, 0}, {0, -0.02}, {0.5, 0}, {0, 0.02}}));
  rig.floor();
  rig.contacts.addLaw({"rod", "floor", {.friction = 1.2}});
  rig.mechanism = rig.builder.build();
  ModelContacts contacts(*rig.mechanism.model, &rig.contacts, {});
  const Examination e = examine(contacts, rig.mechanism.model->initialState());
  const SlidingProblem expected = test::sliding(test::guidedRod(rod, false, 1.2, -1));
  ASSERT_TRUE(e.sliding && e.sliding->contacts() == 1);
  EXPECT_NEAR(e.sliding->A(0, 0), expected.A(0, 0), 1e-12);
  EXPECT_NEAR(e.sliding->T(0, 0), expected.T(0, 0), 1e-12);
  EXPECT_NEAR(e.sliding->w[0], expected.w[0], 1e-6);
  EXPECT_NE(e.sliding->name(0).find("'rod' and 'floor'"), std::string::npos);

  SingleContacts single(*rig.mechanism.model, rig.contacts);
  ASSERT_TRUE(single.isWatchable());
  ContactReport report;
  ContactRecord record;
  record.first = rig.contacts.find("rod"), record.second = rig.contacts.find("floor");
  record.frame << 0, 1, 0, 1, 0, 0, 0, 0, -1;
  record.velocity = {0, -1, 0};
  record.status = ContactStatus::Slip;
  report.contacts.push_back(record);
  const State state = rig.mechanism.model->initialState();
  single.look(state, report);
  EXPECT_NEAR(single.factor(), e.margin.factor, 1e-9);
  EXPECT_NEAR(single.bound(), *e.bound.exact, 1e-9);
  EXPECT_EQ(single.sliding(), 1);
}

TEST(ModelContacts, ViolatedStateIsRefusedOrProjected) {
  const RodInSpace model({1, 1, 9.81, 60 * degree}, 1, 1e-3);
  Guide guide = model.guide(0.2);
  guide.isUnilateral = false;
  ModelContacts contacts(*model.mechanism.model, nullptr, {guide});
  State state = model.mechanism.model->initialState();
  try {
    contacts.at(state);
    FAIL() << "the tip is off its guide";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("guide 'floor'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("project"), std::string::npos) << error.what();
  }
  EXPECT_FALSE(contacts.project(state).empty());
  EXPECT_NO_THROW(contacts.at(state));
  EXPECT_NEAR(model.tip->frame(state).x[1], 0, 1e-12);
}

ContactReport slidingAt(int first, int second, const Vector3& at, const Vector3& normal, const Vector3& slip) {
  ContactRecord record;
  record.first = first, record.second = second, record.position = at;
  record.frame.col(0) = normal, record.frame.col(1) = slip, record.frame.col(2) = normal.cross(slip);
  record.velocity = {0, 1, 0};
  record.status = ContactStatus::Slip;
  ContactReport report;
  report.contacts.push_back(record);
  return report;
}

// Two halves of the rod of Painleve, joined: the bound is that of the whole.
TEST(SingleContacts, JointsTakePart) {
  const double angle = 60 * degree, s = std::sin(angle), c = std::cos(angle);
  ContactRig rig;
  const auto half = [&](const std::string& name, double at) {
    return rig.builder.body(name, ContactRig::flat(0.5, 0.5 * 0.25 / 12), {test::turn(angle), at * Vector3(c, s, 0)}, Vector3::Zero());
  };
  const auto lower = half("lower", 0.25), upper = half("upper", 0.75);
  rig.builder.joint(JointKind::Fixed, "weld", lower.at({Matrix3::Identity(), {0.25, 0, 0}}),
                    upper.at({Matrix3::Identity(), {-0.25, 0, 0}}));
  rig.part("lower", lower.at(), ContactRig::polygon({{-0.25, 0}, {0, -0.02}, {0.25, 0}, {0, 0.02}}));
  rig.floor();
  rig.law({.friction = 1.2});
  rig.mechanism = rig.builder.build();
  SingleContacts single(*rig.mechanism.model, rig.contacts);
  ASSERT_TRUE(single.isWatchable());
  single.look(rig.mechanism.model->initialState(), slidingAt(0, 1, Vector3::Zero(), Vector3::UnitY(), -Vector3::UnitX()));
  EXPECT_NEAR(single.bound(), (1 + 3 * c * c) / (3 * s * c), 1e-9);
  EXPECT_NEAR(single.factor(), single.bound() / 1.2, 1e-12);
  single.look(rig.mechanism.model->initialState(), slidingAt(0, 1, Vector3::Zero(), Vector3::UnitY(), Vector3::UnitX()));
  EXPECT_TRUE(std::isinf(single.bound()));
}

// Two beams cross at the end of one of them: against the inverse of the whole mass matrix.
TEST(SingleContacts, BeamsTakePart) {
  const double R = 5e-3, L = 0.3;
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e8, .poissonRatio = 0.3, .density = 1200});
  const auto upper = b.beam("upper", Curve::straight({0, 0, R}, {L, 0, R}), section, {.elements = 6});
  const auto lower = b.beam("lower", Curve::straight({0, -0.1, -R}, {0, 0.2, -R}), section, {.elements = 3});
  ContactModel parts;
  parts.addPart(test::curvePart(upper.part(), R));
  parts.addPart(test::curvePart(lower.part(), R));
  parts.addLaw({"upper", "lower", {.friction = 0.3}});
  const Marker &above = upper.node(0), &below = lower.node(1);
  const Mechanism m = b.build();
  const State state = m.model->initialState();
  SingleContacts single(*m.model, parts);
  ASSERT_TRUE(single.isWatchable());

  Assembly assembly(*m.model);
  assembly.multiplierScale = 1;
  assembly.begin({.motion = true, .tangent = true, .stiffness = false, .damping = 0, .inertia = 1});
  State still = state;
  still.a.setZero(m.model->nv()), still.lambda.setZero(0);
  m.model->evaluate(still, assembly);
  const auto force = [&](const Vector3& direction) {
    VectorX f = VectorX::Zero(m.model->nv());
    for (const auto& [marker, sign] : {std::pair{&above, 1}, std::pair{&below, -1}}) {
      const Pose frame = marker->frame(state);
      Vector6 wrench;
      wrench.head<3>() = sign * (frame.R.transpose() * direction);
      wrench.tail<3>() = (frame.R.transpose() * -frame.x).cross(wrench.head<3>());
      MarkerForce columns = MarkerForce::Zero();
      marker->force(state, wrench, columns);
      for (std::size_t k = 0; k < marker->blocks().size(); ++k)
        f.segment<6>(m.model->blocks()[std::size_t(marker->blocks()[k])].v) += columns.col(Eigen::Index(k));
    }
    return f;
  };
  const VectorX f = force(Vector3::UnitZ()), response = MatrixX(assembly.matrix()).fullPivLu().solve(f);
  for (const double sign : {1.0, -1.0}) {
    const Vector3 slip = sign * Vector3(0.8, 0.6, 0);
    const double coupling = response.dot(force(slip));
    ContactReport report = slidingAt(0, 1, Vector3::Zero(), Vector3::UnitZ(), slip);
    report.contacts[0].arclength = 0, report.contacts[0].otherArclength = 0.1;
    single.look(state, report);
    if (coupling > 0)
      EXPECT_NEAR(single.bound(), response.dot(f) / coupling, 1e-9 * single.bound());
    else
      EXPECT_TRUE(std::isinf(single.bound()));
  }
}

// A tip off its guide by a share of the length, a turn out of the plane by an angle: the same in millimetres and in kilometres.
TEST(ModelContacts, ViolationsAreMeasuredBySizeAndSpeedOfTheModel) {
  for (const double unit : {1e-3, 1.0, 1e3}) {
    const test::Rod rod{1, unit, 9.81 * unit, 60 * degree};
    const auto isRefused = [&](double lift, double tilt, double climb) {
      const RodInSpace model(rod, unit, lift * unit);
      Guide guide = model.guide(0.2);
      guide.isUnilateral = false;
      ModelContacts contacts(*model.mechanism.model, nullptr, {guide});
      State state = model.mechanism.model->initialState();
      Vector6 turned = Vector6::Zero();
      turned[4] = tilt;
      model.mechanism.model->retract(state.q, turned, state.q);
      state.v.head<3>() += loadPose(state.q.data()).R.transpose() * Vector3(0, climb * unit, 0);
      try {
        contacts.at(state);
        return false;
      } catch (const InputError&) {
        return true;
      }
    };
    EXPECT_FALSE(isRefused(3e-7, 0, 0)) << unit;
    EXPECT_TRUE(isRefused(1e-5, 0, 0)) << unit;
    EXPECT_FALSE(isRefused(0, 3e-7, 0)) << unit;
    EXPECT_TRUE(isRefused(0, 1e-5, 0)) << unit;
    EXPECT_FALSE(isRefused(0, 0, 3e-7)) << unit;
    EXPECT_TRUE(isRefused(0, 0, 1e-5)) << unit;
  }
}

TEST(ModelContacts, OverlapIsRefusedProjectedOrSaid) {
  const RodInSpace model({1, 1, 9.81, 60 * degree}, 1, -1e-3);
  ModelContacts contacts(*model.mechanism.model, nullptr, {model.guide(0.2)});
  State state = model.mechanism.model->initialState();
  EXPECT_THROW(contacts.at(state), InputError); // the point is inside its support
  ASSERT_EQ(contacts.project(state).size(), 1u);
  EXPECT_NO_THROW(contacts.at(state));
  EXPECT_NEAR(model.tip->frame(state).x[1], 0, 1e-12);

  ContactRig rig;
  rig.sphere("ball", 1, 0.1, {0, 0.09, 0}, {1, 0, 0});
  rig.floor();
  rig.law({.friction = 0.3});
  rig.mechanism = rig.builder.build();
  ModelContacts shapes(*rig.mechanism.model, &rig.contacts, {});
  const Examination e = examine(shapes, rig.mechanism.model->initialState());
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_NE(e.notes[0].find("overlap by 0.01 m"), std::string::npos) << e.notes[0];
  EXPECT_EQ(e.sliding->contacts(), 1);
  EXPECT_EQ(shapes.parts(0), (std::pair{0, 1}));
}

TEST(ModelContacts, RestAndApproachAreSaid) {
  const RodInSpace still({1, 1, 9.81, 60 * degree}, 0);
  ModelContacts resting(*still.mechanism.model, nullptr, {still.guide(0.2)});
  const Examination e = examine(resting, still.mechanism.model->initialState());
  ASSERT_EQ(e.notes.size(), 1u);
  EXPECT_NE(e.notes[0].find("does not slide"), std::string::npos) << e.notes[0];
  EXPECT_EQ(e.sliding->friction[0], 0);
  State falling = still.mechanism.model->initialState();
  falling.v.setZero();
  falling.v.head<3>() = test::turn(-60 * degree) * Vector3(1, -1, 0);
  const Examination f = examine(resting, falling);
  ASSERT_EQ(f.notes.size(), 1u);
  EXPECT_NE(f.notes[0].find("approaches"), std::string::npos) << f.notes[0];
  falling.v.head<3>() *= -1; // leaves the floor
  EXPECT_EQ(examine(resting, falling).sliding->contacts(), 0);
}

TEST(ModelContacts, DegenerateFramesAreRefused) {
  const RodInSpace model({1, 1, 9.81, 60 * degree}, 1);
  Guide guide = model.guide(0.2);
  guide.tangent = {0.6, 0.8, 0};
  EXPECT_THROW(ModelContacts(*model.mechanism.model, nullptr, {guide}), InputError);
  guide = model.guide(0.2);
  guide.normal = {0, 0, 0};
  EXPECT_THROW(ModelContacts(*model.mechanism.model, nullptr, {guide}), InputError);
  guide = model.guide(-0.2);
  EXPECT_THROW(ModelContacts(*model.mechanism.model, nullptr, {guide}), InputError);
  guide = model.guide(0.2);
  guide.frame = guide.point; // cannot slide
  ModelContacts contacts(*model.mechanism.model, nullptr, {guide});
  EXPECT_THROW(contacts.at(model.mechanism.model->initialState()), InputError);
}

TEST(ModelContacts, MovingFramesBendTheGuide) {
  // A bead on a turning guide: centrifugal and Coriolis acceleration stand in w.
  MechanismBuilder builder;
  const auto bead = builder.body("bead", ContactRig::flat(2, 0.1), {Matrix3::Identity(), {0.5, 0, 0}}, {3, 0, 0});
  const auto arm = builder.body("arm", ContactRig::flat(1, 0.1), {}, Vector3::Zero(), {0, 0, 4});
  const Marker &point = bead.at(), &slot = arm.at();
  const int block = bead.block();
  const Mechanism mechanism = builder.build();
  State state = mechanism.model->initialState();
  state.v.segment<3>(mechanism.model->blocks()[std::size_t(block)].v) = Vector3(3, 2, 0); // 4 rad/s at 0.5 m
  const Guide guide{.name = "slot", .point = &point, .frame = &slot};
  ModelContacts contacts(*mechanism.model, nullptr, {guide});
  const AccelerationProblem& p = contacts.at(state);
  ASSERT_EQ(p.joints(), 1);
  EXPECT_NEAR(p.jointBias[0], -2 * 4 * 3, 1e-12); // the bead runs straight, the slot turns away
}

}
}
