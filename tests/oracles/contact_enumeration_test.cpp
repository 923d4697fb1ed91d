#include "contact_enumeration.h"

#include "contact_closed_forms.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(ContactEnumeration, FindsTheModesOfOneContact) {
  const MatrixXd W = Vector2d(1, 3).asDiagonal(); // a disc of unit mass
  const auto solve = [&](const Vector2d& q, double mu) { return enumeratePlaneContacts(W, q, {mu}); };
  auto open = solve({1, 2}, 0.3);
  ASSERT_EQ(open.size(), 1u);
  EXPECT_TRUE(open[0].r.isZero());
  auto stick = solve({-1, 0.5}, 0.3);
  ASSERT_EQ(stick.size(), 1u);
  EXPECT_TRUE(stick[0].r.isApprox(Vector2d(1, -0.5 / 3)));
  auto slip = solve({-1, -2}, 0.3);
  ASSERT_EQ(slip.size(), 1u);
  EXPECT_EQ(slip[0].modes[0], 3);
  EXPECT_TRUE(slip[0].r.isApprox(Vector2d(1, 0.3)));
  EXPECT_NEAR(slip[0].u[1], -1.1, 1e-15);
}

TEST(ContactEnumeration, PainlevesRodHasNoneOneOrSeveralSolutions) {
  const SlidingRod rod;
  MatrixXd W(2, 2);
  W << rod.Wnn(), -rod.Wnt(), -rod.Wnt(), rod.Wtt(); // tangent along the motion of the tip
  const double h = 1e-6;
  const auto jam = enumeratePlaneContacts(W, Vector2d(-h * 9.81, 1), {1.5});
  ASSERT_EQ(jam.size(), 1u);
  EXPECT_EQ(jam[0].modes[0], 1);
  EXPECT_NEAR(jam[0].r[0], rod.jamNormal(1), 1e-4);
  const auto slip = enumeratePlaneContacts(W, Vector2d(-h * 9.81, 1), {1.2});
  ASSERT_EQ(slip.size(), 1u);
  EXPECT_EQ(slip[0].modes[0], 2);
  EXPECT_NEAR(slip[0].r[0], 6.131e-5, 1e-8);
  EXPECT_GE(enumeratePlaneContacts(W, Vector2d(h * 9.81, 1), {1.5}).size(), 2u);
}

TEST(ContactEnumeration, HyperstaticBlockOnTwoCornersStops) {
  // Unit mass, half width 1, half height 2: rows (n, t) at both lower corners.
  const double I = 5.0 / 3;
  MatrixXd H(4, 3);
  H << 0, 1, -1, 1, 0, 2, 0, 1, 1, 1, 0, 2;
  const MatrixXd W = H * Vector3d(1, 1, 1 / I).asDiagonal() * H.transpose();
  const auto solutions = enumeratePlaneContacts(W, H * Vector3d(0.1, -1, 0), {0.5, 0.5});
  ASSERT_EQ(solutions.size(), 1u);
  EXPECT_NEAR(solutions[0].u.norm(), 0, 1e-12);
  EXPECT_NEAR(solutions[0].r[0] + solutions[0].r[2], 1, 1e-12);
}

}
}
