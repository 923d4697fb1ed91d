#include "tendril/discrete/null_space.h"

#include "mechanisms.h"
#include "support/dense.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <functional>

using namespace tendril;
using namespace tendril::test;

namespace {

std::string messageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Angle about the z axis by which a body has turned.
double angleOf(const VectorX& q, int block) { return std::atan2(q[12 * block + 4], q[12 * block + 3]); }

}

// ---- every kind of joint, alone and in loops -------------------------------------------------------------------------------------------

class JointsOfAllKinds : public ::testing::TestWithParam<JointKind> {
 protected:
  /// A chain ground - a - b of spherical joints whose end is held by a joint of that kind: it closes a loop, or adds rows that are no pair.
  JointsOfAllKinds() {
    Mechanism m;
    const int a = m.body("a", numbers.pose(0.3, 1)), b = m.body("b", numbers.pose(0.3, 1));
    m.join(JointKind::Cylindrical, "free", -1, a, frameAlong({0, 0, 0.1}, {0, 0.6, 0.8}));
    m.join(JointKind::Spherical, "ball", a, b, frameAlong({1, 0.2, 0}, {0, 0, 1}));
    JointParameters parameters;
    parameters.reference = JointReference::Pose;
    parameters.motion = {"slow", [](double t) { return Jet{0.1 * t, 0.1, 0}; }};
    if (GetParam() == JointKind::Universal) parameters.tolerance = 10; // its axes coincide in the reference instead of being perpendicular
    const Marker& atGround = m.builder.groundMarker("", frameAlong({0.4, 1, 0.5}, {1, 0, 0}));
    m.builder.term<Joints>().add(GetParam(), "last", atGround, m.builder.bodyMarker("", b, numbers.pose(0.4, 1)), parameters);
    d = std::make_unique<Directors>(m.builder);
  }
  Numbers numbers{17};
  std::unique_ptr<Directors> d;
};

TEST_P(JointsOfAllKinds, TangentSpaceAndRetraction) {
  NullSpace space(d->system, d->q, 0);
  const MatrixX G = d->constraintGradient(d->q, 0);
  EXPECT_EQ(space.dimension(), d->system.size() - rankOf(G, 1e-9));
  EXPECT_EQ(int(space.redundantRows().size()), int(G.rows()) - rankOf(G, 1e-9));
  VectorX q = d->q, next;
  MatrixX P;
  for (int step = 0; step < 5; ++step) {
    const double t = 0.1 * step;
    space.update(q, t);
    space.matrix(q, P);
    EXPECT_EQ(rankOf(P), space.dimension());
    if (space.dimension() > 0) {
      EXPECT_LT((d->constraintGradient(q, t) * P).lpNorm<Eigen::Infinity>(), 1e-12);
    }
    EXPECT_LT((space.basis().transpose() * space.basis() - MatrixX::Identity(space.dimension(), space.dimension())).norm(), 1e-13);
    ASSERT_TRUE(space.retract(q, numbers.vector(space.dimension(), 0.1), t, t + 0.1, next));
    q.swap(next);
    EXPECT_LT(d->constraint(q, t + 0.1).lpNorm<Eigen::Infinity>(), 1e-12);
  }
}

TEST_P(JointsOfAllKinds, TangentSpaceIsTheDerivativeOfTheRetraction) {
  NullSpace space(d->system, d->q, 0);
  MatrixX P;
  space.matrix(d->q, P);
  VectorX plus, minus;
  constexpr double h = 1e-5;
  for (int i = 0; i < space.dimension(); ++i) {
    ASSERT_TRUE(space.retract(d->q, VectorX::Unit(space.dimension(), i) * h, 0, 0, plus));
    ASSERT_TRUE(space.retract(d->q, VectorX::Unit(space.dimension(), i) * -h, 0, 0, minus));
    EXPECT_LT(((plus - minus) / (2 * h) - P.col(i)).lpNorm<Eigen::Infinity>(), 1e-8);
  }
}

INSTANTIATE_TEST_SUITE_P(All, JointsOfAllKinds,
                         ::testing::Values(JointKind::Revolute, JointKind::Prismatic, JointKind::Cylindrical, JointKind::Spherical,
                                           JointKind::Universal, JointKind::Planar, JointKind::Distance, JointKind::AngleDrive,
                                           JointKind::LengthDrive),
                         [](const auto& tried) {
                           std::string name(nameOf(tried.param));
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// ---- six-body linkage ------------------------------------------------------------------------------------------------------------------

TEST(NullSpace, SixBodyLinkageHasOneFreedomThoughItsConstraintsAreAsManyAsItsCoordinates) {
  Mechanism m;
  addSixBodyLinkage(m);
  const Directors d(m.builder);
  const NullSpace space(d.system, d.q, 0);
  EXPECT_EQ(d.system.size(), 72);
  EXPECT_EQ(d.system.constraints(), 72);
  EXPECT_EQ(space.tree().dimension(), 5);
  EXPECT_EQ(space.dimension(), 1);
  EXPECT_EQ(d.system.size() - space.dimension(), 71);
  ASSERT_EQ(space.redundantRows().size(), 1u);
  EXPECT_EQ(d.model->constraintName(space.redundantRows()[0]), "joint 'J0'");
  EXPECT_EQ(rankOf(d.constraintGradient(d.q, 0), 1e-9), 71);
}

/// The linkage is turned inside out once. Neither angle runs all the way, but the coordinate nu does: its basis never changes its sign.
TEST(NullSpace, SixBodyLinkageFollowsItsClosedFormAllTheWay) {
  Mechanism m;
  addSixBodyLinkage(m);
  const Directors d(m.builder);
  NullSpace space(d.system, d.q, 0);
  const Joints& joints = *d.model->term<Joints>();
  State state = d.model->initialState();
  VectorX q = d.q, next, basis = space.basis();
  constexpr double step = 0.05;
  double worstRelation = 0, worstClosure = 0, widest = 0, back = 1e9, fromStart = 0;
  int steps = 0;
  for (bool isAway = false; steps < 1000; ++steps) {
    space.update(q, 0);
    EXPECT_FALSE(space.jump());
    EXPECT_GT(basis.dot(space.basis().col(0)), 0.99);
    basis = space.basis();
    ASSERT_TRUE(space.retract(q, VectorX::Constant(1, step), 0, 0, next));
    q.swap(next);
    state.q = q;
    const double a = std::numbers::pi / 2 + joints.angle(state, joints.find("J1")),
                 b = std::numbers::pi / 2 + joints.angle(state, joints.find("J2"));
    worstRelation = std::max(worstRelation, std::abs(std::cos(a) + std::cos(b) + std::cos(a) * std::cos(b)));
    worstClosure = std::max(worstClosure, d.constraint(q, 0).lpNorm<Eigen::Infinity>());
    widest = std::max(widest, std::cos(a) < 0 ? std::abs(std::sin(a)) : 0);
    fromStart = (q - d.q).norm();
    isAway = isAway || fromStart > 1;
    if (isAway) back = std::min(back, fromStart);
    if (isAway && fromStart < step) break;
  }
  EXPECT_LT(worstRelation, 1e-10);
  EXPECT_LT(worstClosure, 1e-12);
  EXPECT_LT(back, 2 * step) << "the path is closed";
  EXPECT_GT(steps, 50);
  RecordProperty("steps", steps);
  RecordProperty("relation", std::to_string(worstRelation * 1e10));
}

// ---- singular configurations -----------------------------------------------------------------------------------------------------------

TEST(NullSpace, ParallelogramIsRedundantInSpace) {
  Mechanism m;
  addFourBar(m, 1);
  const Directors d(m.builder);
  const NullSpace space(d.system, d.q, 0);
  EXPECT_EQ(space.dimension(), 1);
  EXPECT_EQ(space.redundantRows().size(), 3u); // out of the plane
  for (int row : space.redundantRows()) EXPECT_EQ(d.model->constraintName(row), "joint 'D'");
}

TEST(NullSpace, FlatParallelogramIsReportedAndPassed) {
  const auto configuration = [](double angle) {
    Mechanism m;
    addFourBar(m, angle);
    return Directors(m.builder).q;
  };
  Mechanism m;
  addFourBar(m, 1);
  const Directors d(m.builder);
  NullSpace space(d.system, d.q, 0);
  space.update(configuration(0.01), 0);
  const VectorX before = space.basis();
  EXPECT_FALSE(space.jump());
  space.update(configuration(0), 0);
  ASSERT_TRUE(space.jump());
  EXPECT_EQ(space.jump()->extra, 1);
  EXPECT_GT(space.jump()->smallestKept, 0.1);
  EXPECT_LT(space.jump()->largestDropped, 1e-12);
  // On the branch of the parallelograms the coupler does not turn.
  EXPECT_NEAR(before.dot(space.basis().col(0)), 1, 1e-12);
  EXPECT_LT(space.twists().middleRows(6, 6).bottomRows(3).norm(), 1e-12);

  VectorX q = configuration(0), next;
  ASSERT_TRUE(space.retract(q, VectorX::Constant(1, 0.05), 0, 0, next));
  EXPECT_LT(d.constraint(next, 0).lpNorm<Eigen::Infinity>(), 1e-12);
  EXPECT_GT(std::abs(angleOf(next, 0)), 0.01);
  EXPECT_NEAR(angleOf(next, 1), 0, 1e-12);
}

TEST(NullSpace, PathsCrossFlatConfigurationsOnTheirBranch) {
  Mechanism m;
  addFourBar(m, 1);
  const Directors d(m.builder);
  NullSpace space(d.system, d.q, 0);
  VectorX q = d.q, next;
  double turned = 0, before = 1;
  for (int step = 0; std::abs(turned) < 2 * std::numbers::pi; ++step) { // a whole turn crosses two flat configurations
    ASSERT_LT(step, 1000);
    space.update(q, 0);
    ASSERT_TRUE(space.retract(q, VectorX::Constant(1, -0.0837), 0, 0, next));
    q.swap(next);
    const double angle = angleOf(q, 0);
    turned += std::remainder(angle - before, 2 * std::numbers::pi);
    before = angle;
    ASSERT_NEAR(angleOf(q, 1), 0, 1e-10) << "the coupler turns: another branch, at " << angle;
    ASSERT_LT(d.constraint(q, 0).lpNorm<Eigen::Infinity>(), 1e-12);
  }
}

/// At a crossing there are two freedoms, but no motion beside it has two: it fails rather than leave the loop open.
TEST(NullSpace, StartInAFlatConfigurationHasMoreFreedomThanTheMotion) {
  Mechanism m;
  addFourBar(m, 0);
  const Directors d(m.builder);
  NullSpace space(d.system, d.q, 0);
  EXPECT_EQ(space.dimension(), 2);
  VectorX q;
  EXPECT_FALSE(space.retract(d.q, Eigen::Vector2d(0.2, 0.1), 0, 0, q));
  EXPECT_GT(space.closureResidual(), 1e-6);
}

/// Branches cross where the parallelogram is flat, and nowhere else, however redundant the loop is.
TEST(NullSpace, StartWhereBranchesCrossIsTold) {
  for (double angle : {0.0, std::numbers::pi, 0.01, 0.3, 1.0, 3.0}) {
    Mechanism m;
    addFourBar(m, angle);
    const Directors d(m.builder);
    const NullSpace space(d.system, d.q, 0);
    const bool isFlat = angle == 0 || angle == std::numbers::pi;
    EXPECT_EQ(space.singularAtStart(), isFlat ? "joint 'D'" : "") << angle;
    EXPECT_EQ(space.redundantRows().size(), isFlat ? 4u : 3u);
  }
  Mechanism m;
  addSixBodyLinkage(m);
  const Directors d(m.builder);
  EXPECT_EQ(NullSpace(d.system, d.q, 0).singularAtStart(), "") << "one row is redundant everywhere";
}

// ---- contradictions, units -------------------------------------------------------------------------------------------------------------

TEST(NullSpace, ContradictionsNameTheirJoints) {
  const auto withDrives = [](double first, double second) {
    Mechanism m;
    const int a = m.body("a");
    m.hinge("hinge", -1, a, {0, 0, 0}, {0, 0, 1});
    const auto drive = [&](const std::string& name, double rate) {
      JointParameters parameters;
      parameters.motion = {name, [rate](double t) { return Jet{rate * t, rate, 0}; }};
      m.join(JointKind::AngleDrive, name, -1, a, {}, parameters);
    };
    drive("slow", first), drive("fast", second);
    const Directors d(m.builder);
    const NullSpace space(d.system, d.q, 0);
    EXPECT_EQ(space.dimension(), 0);
    EXPECT_EQ(space.redundantRows(), std::vector<int>{6});
  };
  withDrives(0.3, 0.3);
  const std::string message = messageOf([&] { withDrives(0.3, 0.4); });
  EXPECT_NE(message.find("joint 'slow'"), std::string::npos) << message;
  EXPECT_NE(message.find("joint 'fast'"), std::string::npos) << message;
}

TEST(NullSpace, LoopsThatNoConfigurationClosesAreRefused) {
  Mechanism m;
  addFourBar(m, 1);
  // A fifth hinge out of the plane of the loop, within what the joint accepts as a misfit.
  JointParameters loose;
  loose.tolerance = 1e-3;
  const Marker& ground = m.builder.groundMarker("", frameAlong({2, 0, 1e-4}, {0, 0, 1}));
  m.builder.term<Joints>().add(JointKind::Revolute, "crooked", ground, m.marker(2, frameAlong({2, 0, 0}, {0, 0, 1})), loose);
  const Directors d(m.builder);
  const std::string message = messageOf([&] { NullSpace(d.system, d.q, 0); });
  EXPECT_NE(message.find("joint 'crooked'"), std::string::npos) << message;
}

/// What is open by less than the joints accept is closed before the rank is judged.
TEST(NullSpace, RankSurvivesSmallMisfits) {
  Mechanism m;
  addFourBar(m, 1);
  const Directors d(m.builder);
  const KinematicTree tree(d.system);
  VectorX open;
  tree.retract(d.q, VectorX::Constant(tree.dimension(), 1e-6), 0, 0, open);
  NullSpace space(d.system, open, 0);
  EXPECT_EQ(space.dimension(), 1);
  EXPECT_FALSE(space.jump());
  VectorX q;
  ASSERT_TRUE(space.retract(open, VectorX::Zero(1), 0, 0, q));
  EXPECT_LT(d.constraint(q, 0).lpNorm<Eigen::Infinity>(), 1e-12);
}

/// A slider crank has lengths and angles among its coordinates. In millimetres it moves as in metres.
TEST(NullSpace, DoesNotDependOnUnits) {
  const auto slider = [](double unit) {
    Mechanism m;
    const int crank = m.body("crank"), rod = m.body("rod"), slide = m.body("slide", {Matrix3::Identity(), Vector3(1.8, 0, 0) * unit});
    m.join(JointKind::Prismatic, "guide", -1, slide, frameAlong(Vector3(1.8, 0, 0) * unit, {1, 0, 0}));
    m.hinge("A", -1, crank, {0, 0, 0}, {0, 0, 1});
    m.hinge("B", crank, rod, Vector3(0.6, 0.8, 0) * unit, {0, 0, 1});
    m.hinge("C", rod, slide, Vector3(1.8, 0, 0) * unit, {0, 0, 1});
    const Directors d(m.builder);
    NullSpace space(d.system, d.q, 0);
    EXPECT_EQ(space.dimension(), 1);
    EXPECT_EQ(space.redundantRows().size(), 3u);
    VectorX q = d.q, next;
    for (int i = 0; i < 10; ++i) {
      space.update(q, 0);
      const double turn = space.twists().col(0)[5];
      EXPECT_TRUE(space.retract(q, VectorX::Constant(1, 0.1 / turn), 0, 0, next));
      q.swap(next);
    }
    return Vector3(angleOf(q, 0), angleOf(q, 1), q[12 * slide] / unit);
  };
  EXPECT_LT((slider(1) - slider(1000)).norm(), 1e-11);
}

TEST(NullSpace, TreesAreTheirOwnNullSpace) {
  Mechanism m;
  m.hinge("A", -1, m.body("a"), {0, 0, 0}, {0, 0, 1});
  const Directors d(m.builder);
  NullSpace space(d.system, d.q, 0);
  EXPECT_EQ(space.basis(), MatrixX::Identity(1, 1));
  EXPECT_TRUE(space.redundantRows().empty());
  VectorX q;
  EXPECT_TRUE(space.retract(d.q, VectorX::Constant(1, 0.3), 0, 0, q));
  EXPECT_NEAR(angleOf(q, 0), 0.3, 1e-15);
}
