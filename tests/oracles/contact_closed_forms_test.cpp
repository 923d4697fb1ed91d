#include "contact_closed_forms.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

constexpr double degree = std::numbers::pi / 180;

TEST(ContactClosedForms, BouncingBallAgreesWithFlightsAddedOneByOne) {
  const BouncingBall ball{1, 0.5};
  double t = ball.firstImpact(), v = earthGravity * t, path = 1;
  EXPECT_NEAR(t, 0.4515236410, 1e-10);
  for (int n = 1; n < 60; ++n) {
    EXPECT_NEAR(ball.impact(n), t, 1e-14);
    v *= ball.restitution;
    EXPECT_NEAR(ball.apex(n), v * v / (2 * earthGravity), 1e-15);
    path += 2 * ball.apex(n);
    t += 2 * v / earthGravity;
  }
  EXPECT_NEAR(ball.zeno(), t, 1e-14);
  EXPECT_NEAR(ball.zeno(), 1.3545709, 1e-7);
  EXPECT_NEAR(ball.path(), path, 1e-14);
}

TEST(ContactClosedForms, TableIsLeftWhereItsAccelerationPassesGravity) {
  const VibratingTable table;
  ASSERT_TRUE(table.leaves());
  EXPECT_FALSE((VibratingTable{0.01, 30}).leaves());
  EXPECT_NEAR(table.leaveTime(), 0.01650026, 1e-8);
  EXPECT_NEAR(table.leaveSpeed(), 0.3159944, 1e-7);
  EXPECT_NEAR(-0.01 * 1600 * std::sin(40 * table.leaveTime()), -earthGravity, 1e-12);
}

TEST(ContactClosedForms, SlidingAndRollingAgreeWithPublishedNumbers) {
  EXPECT_NEAR(SlidingBlock{}.time(), 0.67957866, 1e-8);
  EXPECT_NEAR(SlidingBlock{}.distance(), 0.67957866, 1e-8);
  EXPECT_TRUE((InclinedBlock{25 * degree, 0.5}).sticks());
  EXPECT_NEAR((InclinedBlock{30 * degree, 0.5}).acceleration(), 0.6571454, 1e-7);
  EXPECT_NEAR(RoundBody::disc().acceleration(30 * degree, 0.3), 3.27, 1e-12);
  EXPECT_NEAR(RoundBody::disc().acceleration(30 * degree, 0.1), 4.0554290, 1e-7);
  EXPECT_NEAR(RoundBody::disc().spinAcceleration(30 * degree, 0.1), 1.6991419, 1e-7);
  EXPECT_NEAR(RoundBody::disc().rollingTime(1, 0, 0.2), 0.16989, 1e-5);
  EXPECT_NEAR(RoundBody::disc().rollingSpeed(1, 0), 2.0 / 3, 1e-15);
  EXPECT_NEAR(RoundBody::disc().rollingSpeed(0, 3), 1, 1e-15);
  EXPECT_NEAR(RoundBody::sphere().rollingTime(1, 0, 0.2), 0.14562, 1e-5);
  EXPECT_NEAR(RoundBody::sphere().rollingSpeed(1, 0), 5.0 / 7, 1e-15);
  EXPECT_NEAR(RoundBody::disc().speedAfter(1, 1, 0.1, 0.5), 0.85, 1e-15);
  EXPECT_NEAR(RoundBody::disc().speedAfter(1, 1, 0.3, 0.5), 2.0 / 3, 1e-15);
  EXPECT_NEAR(SpinningDisc{}.stopOnRim(), 0.16989, 1e-5);
  EXPECT_NEAR(SpinningDisc{}.stopOnFace(), 0.25484, 1e-5);
}

TEST(ContactClosedForms, CradleKeepsMomentumAndSatisfiesTheLawOfImpact) {
  for (int N : {2, 3, 5}) {
    for (double e : {0.0, 0.5, 1.0}) {
      const Cradle cradle{N, e};
      double momentum = 0, energy = 0;
      for (int k = 0; k < N; ++k) {
        const double v = cradle.speedAfter(k);
        momentum += v, energy += v * v;
        const double before = k == 0 ? 1 : 0;
        const double impulse = (k > 0 ? cradle.impulse(k) : 0) - (k < N - 1 ? cradle.impulse(k + 1) : 0);
        EXPECT_NEAR(v, before + impulse, 1e-15);
      }
      EXPECT_NEAR(momentum, 1, 1e-14);
      if (e == 1) {
        EXPECT_NEAR(energy, 1, 1e-14);
      }
      EXPECT_NEAR(cradle.speedAfter(1) - cradle.speedAfter(0), e, 1e-15);
    }
  }
  EXPECT_TRUE((BinaryImpact{1, 1, 0.5}).speedsAfter(1, 0).isApprox(Vector2d(0.25, 0.75), 1e-15));
}

TEST(ContactClosedForms, RockingBlockAgreesWithIntegratedMotionAndWithBalanceOfMoments) {
  const RockingBlock slender{0.1, 0.5};
  EXPECT_NEAR(slender.frequency(), 3.7985846, 1e-7);
  EXPECT_NEAR(slender.quarterPeriod(0.5 * slender.slenderness()), 0.3466970, 1e-7);
  const double theta0 = 0.5 * slender.slenderness(), p2 = std::pow(slender.frequency(), 2);
  const auto slope = [&](double, const VectorXd& y, VectorXd& dy) {
    dy[0] = y[1];
    dy[1] = -p2 * std::sin(slender.slenderness() - y[0]);
  };
  const double T = slender.quarterPeriodExact(theta0);
  const VectorXd end = rungeKutta(slope, 0, T, Vector2d(theta0, 0), 4000);
  EXPECT_NEAR(end[0], 0, 1e-11);
  EXPECT_NEAR(-end[1], slender.speedAtImpact(theta0), 1e-11);
  EXPECT_NEAR(T / slender.quarterPeriod(theta0), 1, 0.02);

  const RockingBlock block{1, 2}; // angular momentum about the new corner: of the spin, and of the centre moving about the old one
  const double I = (1 + 4) / 3.0, before = I + 4 - 1, after = I + 5;
  EXPECT_NEAR(block.ratio(), before / after, 1e-15);
  EXPECT_NEAR(block.ratio(), 0.7, 1e-15);
  EXPECT_NEAR(block.frictionNeeded(), 6.0 / 17, 1e-15);
  EXPECT_NEAR(block.frictionlessRatio(), 0.25, 1e-15);
}

TEST(ContactClosedForms, PyramidIsInBalance) {
  // Upper disc: two forces (n, t) along +-30 degrees of the vertical. Lower disc: moments about its centre, and its horizontal balance.
  const double c = std::cos(30 * degree), s = std::sin(30 * degree);
  const double n = DiscPyramid::forceBetweenDiscs(), t = DiscPyramid::frictionBetweenDiscs() * n;
  EXPECT_NEAR(2 * (n * c + t * s), 1, 1e-15);
  EXPECT_NEAR(1 + n * c + t * s, DiscPyramid::forceOnFloor(), 1e-15);
  EXPECT_NEAR(n * s - t * c, DiscPyramid::frictionOnFloor() * DiscPyramid::forceOnFloor(), 1e-15);
  EXPECT_NEAR(DiscPyramid::frictionOnFloor() * DiscPyramid::forceOnFloor(), t, 1e-15);
}

TEST(ContactClosedForms, LadderLeavesTheWallWhereItsForceVanishes) {
  const Ladder ladder;
  EXPECT_NEAR(std::sin(ladder.leaveAngle()), 0.577350, 1e-6);
  EXPECT_NEAR(ladder.spin(ladder.leaveAngle()), 2.06103, 1e-5);
  // theta'' = -(3 g / 4 l) cos(theta); the centre at l cos(theta) is pushed by the wall alone.
  const auto slope = [&](double, const VectorXd& y, VectorXd& dy) {
    dy[0] = y[1];
    dy[1] = -0.75 * earthGravity / ladder.l * std::cos(y[0]);
  };
  const VectorXd end = rungeKutta(slope, 0, ladder.leaveTime(), Vector2d(ladder.theta0, 0), 4000);
  EXPECT_NEAR(end[0], ladder.leaveAngle(), 1e-11);
  const double rate = -0.75 * earthGravity / ladder.l * std::cos(end[0]);
  EXPECT_NEAR(-std::sin(end[0]) * rate - std::cos(end[0]) * end[1] * end[1], 0, 1e-10);
}

TEST(ContactClosedForms, RodJamsWithTheImpulseThatStopsItsTip) {
  const SlidingRod rod;
  EXPECT_NEAR(rod.criticalFriction(), 4.0 / 3, 1e-15);
  EXPECT_EQ(rod.branch(0, 1.2), SlidingRod::Branch::Unique);
  EXPECT_EQ(rod.branch(0, 1.5), SlidingRod::Branch::None);
  EXPECT_EQ(rod.branch(5, 1.5), SlidingRod::Branch::Several);
  EXPECT_EQ(rod.branch(5, 1.2), SlidingRod::Branch::Leaves);
  EXPECT_NEAR(rod.p(1.2), 0.16, 1e-15);
  Matrix2d W;
  W << rod.Wnn(), rod.Wnt(), rod.Wnt(), rod.Wtt();
  EXPECT_NEAR(W.determinant(), 4, 1e-14);
  const Vector2d P(rod.jamNormal(1), rod.jamTangential(1)), tip(0, -1);
  EXPECT_NEAR((W * P + tip).norm(), 0, 1e-15);
  EXPECT_NEAR(-P.dot(tip) - 0.5 * P.dot(W * P), rod.jamLoss(1), 1e-15);
  EXPECT_NEAR(rod.jamSpin(1), 0.670820, 1e-6);
}

TEST(ContactClosedForms, TractrixIsPushedAlongTheNormalOnly) {
  const Tractrix tractrix;
  EXPECT_NEAR(tractrix.angle(1), 2.6776709389, 1e-10);
  EXPECT_TRUE(tractrix.position(1).isApprox(Vector2d(0.1056954, 0.4474588), 1e-6));
  for (double t : {0.2, 0.7, 1.5}) {
    const double h = 1e-5;
    const Vector2d velocity = (tractrix.position(t + h) - tractrix.position(t - h)) / (2 * h);
    const Vector2d outward = (tractrix.position(t) - Vector2d(t, 0)) / tractrix.R;
    EXPECT_NEAR(velocity.x() * outward.y() - velocity.y() * outward.x(), 0, 1e-9);
    EXPECT_NEAR(outward.norm(), 1, 1e-14);
  }
}

}
}
