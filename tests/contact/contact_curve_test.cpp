#include "tendril/contact/contact_curve.h"

#include "contact/curve_rig.h"

#include "support/allocation_counter.h"

#include <numbers>

namespace tendril {

namespace {

using namespace test;

struct ContactCurveTest : ::testing::Test {
  std::mt19937 random{11};
  CurveRig rig{disturbedLine(random, Pose{}, 3, 3, 0.4), disturbedLine(random, Pose{}, 1, 1, 0.4)};
  const CurveConfiguration& curve = rig.onFirst;
  const CurvePlace place{1, 0.3};
  const double step = 2e-3, tolerance = 1e-9;
};

TEST_F(ContactCurveTest, PassesThroughItsNodes) {
  for (int s = 0; s < curve.segments(); ++s) {
    EXPECT_TRUE(curve.frame({s, 0}).R.isApprox(curve.node(s).R, 1e-15));
    EXPECT_TRUE(curve.frame({s, 1}).R.isApprox(curve.node(s + 1).R, 1e-14));
    EXPECT_TRUE(curve.frame({s, 1}).x.isApprox(curve.node(s + 1).x, 1e-14));
  }
}

/// A segment whose tangents turn by pi/2 is a quarter of a circle.
TEST_F(ContactCurveTest, FollowsACircle) {
  const double angle = std::numbers::pi / 2;
  const Pose end{so3::exp(Vector3(0, 0, angle)), Vector3(1, 1, 0)};
  const CurveRig circle({Pose{}, end}, {Pose{}, end});
  for (const double xi : {-0.1, 0.2, 0.5, 0.9, 1.1}) {
    const Vector3 expected(std::sin(xi * angle), 1 - std::cos(xi * angle), 0);
    EXPECT_LE((circle.onFirst.frame({0, xi}).x - expected).norm(), 1e-15) << "xi " << xi;
  }
  EXPECT_NEAR(circle.first.segments[0].length, angle, 1e-14);
}

TEST_F(ContactCurveTest, RelativeIsTheTwistAlongXi) {
  const Pose here = curve.frame(place);
  const Vector6 twist = differentiate([&](double h) { return se3::log(here.relative(curve.frame({place.segment, place.xi + h}))); }, step);
  EXPECT_LE((twist - curve.relative(place.segment)).norm(), tolerance);
}

TEST_F(ContactCurveTest, CarrierGivesTheMotionOfTheFrame) {
  const Carrier carrier = curve.carrier(place);
  const Pose here = carrier.frame;
  ASSERT_EQ(carrier.count, 2);
  EXPECT_TRUE(here.x.isApprox(curve.frame(place).x, 1e-15));
  for (int k = 0; k < 2; ++k) {
    ASSERT_EQ(carrier.block[k], rig.first.segments[place.segment].blocks[k]);
    for (int j = 0; j < 6; ++j) {
      const Vector6 twist = differentiate(
          [&](double h) {
            CurveConfiguration other = curve;
            other.set(rig.moved(h * VectorX::Unit(rig.model->nv(), rig.model->blocks()[carrier.block[k]].v + j)));
            return se3::log(here.relative(other.frame(place)));
          },
          step);
      EXPECT_LE((twist - carrier.J[k].col(j)).norm(), tolerance) << "node " << k << ", column " << j;
    }
  }
}

TEST_F(ContactCurveTest, JacobianRateIsTheDerivativeAlongXi) {
  const Matrix6 rate = curve.jacobianRate(place);
  for (int k = 0; k < 2; ++k) {
    const Matrix6 slope = differentiate([&](double h) { return curve.carrier({place.segment, place.xi + h}).J[k]; }, step);
    EXPECT_LE((slope - (k == 0 ? -1 : 1) * rate).norm(), tolerance) << "node " << k;
  }
}

TEST_F(ContactCurveTest, HessianIsTheDerivativeOfTheNodalForces) {
  const Vector6 wrench = randomVector(random, 6, 1);
  const Eigen::Matrix<double, 12, 12> H = curve.hessian(place, wrench);
  for (int j = 0; j < 12; ++j) {
    const int block = rig.first.segments[place.segment].blocks[j / 6];
    const VectorX slope = differentiate(
        [&](double h) {
          CurveConfiguration other = curve;
          other.set(rig.moved(h * VectorX::Unit(rig.model->nv(), rig.model->blocks()[block].v + j % 6)));
          const Carrier carrier = other.carrier(place);
          VectorX force(12);
          force << carrier.J[0].transpose() * wrench, carrier.J[1].transpose() * wrench;
          return force;
        },
        step);
    EXPECT_LE((slope - H.col(j)).norm(), tolerance) << "column " << j;
  }
}

TEST_F(ContactCurveTest, ArclengthAndPlaceAreInverse) {
  double length = 0;
  for (const ContactCurve::Segment& segment : rig.first.segments) length += segment.length;
  const double before = rig.first.segments[0].length;
  EXPECT_DOUBLE_EQ(curve.arclength({1, 0.25}), before + 0.25 * rig.first.segments[1].length);
  for (const double fraction : {0.0, 0.1, 0.33, 0.5, 0.77, 1.0}) {
    EXPECT_NEAR(curve.arclength(curve.place(fraction * length)), fraction * length, 1e-14);
  }
  EXPECT_EQ(curve.place(before).segment, 1);
  EXPECT_EQ(curve.place(-1).xi, 0);
  EXPECT_EQ(curve.place(-1).segment, 0);
  EXPECT_EQ(curve.place(length + 1).xi, 1);
  EXPECT_EQ(curve.place(length + 1).segment, 2);
}

TEST_F(ContactCurveTest, TakesNoMemoryWhenSet) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "allocations are not counted here";
  const long before = allocationCount;
  rig.onFirst.set(rig.state);
  EXPECT_EQ(allocationCount, before);
}

}

}
