#include "heavy_top.h"
#include "mechanisms.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(FourBar, TwoWindowsMatchThePublishedEnd) {
  const PointMotion end = fourBar(2, 10);
  EXPECT_NEAR(end.position[0], 0.328458, 2e-6); // limit of published runs of a redundant-coordinate code with decreasing step
  EXPECT_NEAR(end.position[1], 0.944519, 2e-6);
  EXPECT_NEAR(end.velocity[0], 1.423051, 2e-6);
  EXPECT_NEAR(end.energy, 1.5 + 3.5 * 9.81, 1e-9);
}

TEST(FourBar, ReturnsToTheTopAfterTheEllipticPeriod) {
  // phi'^2 = v^2 + 2 c (1 - cos phi): period of the running pendulum 4 K(k) / sqrt(v^2 + 4 c), k^2 = 4 c / (v^2 + 4 c).
  for (int windows : {1, 2, 40}) {
    const double c = ((windows + 1) / 2.0 + windows) * 9.81 / ((windows + 1) / 3.0 + windows), top = 1 + 4 * c;
    const double period = 2 * 2 * std::comp_ellint_1(std::sqrt(4 * c / top)) / std::sqrt(top);
    const PointMotion end = fourBar(windows, period);
    EXPECT_NEAR(end.position[0], 0, 1e-9);
    EXPECT_NEAR(end.position[1], 1, 1e-9);
  }
}

TEST(Bricard, LoopClosesForAllAngles) {
  const Bricard bricard;
  for (double phi = 0; phi < 6.3; phi += 0.1) {
    EXPECT_LT(bricard.closure(phi), 1e-14);
    for (const Vector3d& joint : bricard.joints(phi)) EXPECT_TRUE(joint.allFinite());
  }
}

TEST(Bricard, LastAxisStaysFixed) {
  // the sixth joint turns about x in the cube: the fifth rod must stay perpendicular to the ground's axis x
  const Bricard bricard;
  for (double phi = 0; phi < 6.3; phi += 0.1) {
    const auto joint = bricard.joints(phi);
    EXPECT_NEAR((joint[5] - joint[4])[0], 0, 1e-14);
  }
}

TEST(Bricard, KeepsItsEnergyAndStartsFromRest) {
  const Bricard bricard;
  const double start = bricard.motion(0).energy;
  EXPECT_NEAR(start, -3 * 9.81, 1e-12);
  for (double t : {0.5, 1.0, 2.5}) EXPECT_NEAR(bricard.motion(t, 3, 500).energy, start, 1e-8);
  EXPECT_LT((bricard.joints(M_PI / 4)[3] - Vector3d(1, -1, 1)).norm(), 1e-14);
}

TEST(Bricard, VelocityIsTheDerivativeOfThePosition) {
  const Bricard bricard(0.1);
  const double h = 1e-3;
  const Vector3d slope = (bricard.motion(0.7 + h).position - bricard.motion(0.7 - h).position) / (2 * h);
  EXPECT_LT((slope - bricard.motion(0.7).velocity).norm(), 1e-4);
}

TEST(HeavyTop, KeepsItsIntegrals) {
  const TopMotion start = heavyTop(0), end = heavyTop(0.5, {}, 40000);
  EXPECT_NEAR(end.energy / start.energy, 1, 1e-9);
  EXPECT_NEAR(end.angularVelocity[1], 150, 1e-9); // symmetric top: the spin stays
  const Vector3d J(15.234375, 0.46875, 15.234375);
  const auto vertical = [&](const TopMotion& m) { return (m.frame * J.cwiseProduct(m.angularVelocity))[2]; };
  EXPECT_NEAR(vertical(end), vertical(start), 1e-6);
}

TEST(HeavyTop, ConvergesWithOrderFour) {
  const Vector3d fine = heavyTop(0.2, {}, 80000).position;
  const double ratio = (heavyTop(0.2, {}, 5000).position - fine).norm() / (heavyTop(0.2, {}, 10000).position - fine).norm();
  EXPECT_GT(ratio, 12);
  EXPECT_LT(ratio, 20);
}

}
}
