#include "elastica.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(HeavyElastica, MatchesTabulatedTips) {
  const double table[][3] = {
      {1, 0.991246, 0.124562}, {5, 0.846657, 0.585721}, {10, 0.656354, 1.066802}, {50, 0.245015, 3.705561}, {100, 0.159223, 5.888105}};
  for (const auto& [Gamma, x, ratio] : table) {
    const Vector2d tip = heavyElasticaTip(Gamma);
    EXPECT_NEAR(tip[0], x, 1e-6) << Gamma;
    EXPECT_NEAR(-tip[1] / tip[0], ratio, 1e-6) << Gamma;
  }
}

TEST(HeavyElastica, TendsToLinearBeam) {
  const Vector2d tip = heavyElasticaTip(1e-4);
  EXPECT_NEAR(-tip[1] / tip[0] / 1e-4, 1.0 / 8, 1e-7);
}

TEST(HeavyElastica, HangsStraightUnderLargeWeight) { EXPECT_NEAR(-heavyElasticaTip(1e5)[1], 1, 0.01); }

TEST(PureBending, IsAnArc) {
  const double k = M_PI / 8;
  const Vector2d tip = pureBendingTip(1, 2, 2 * k);
  EXPECT_NEAR(tip[0], std::sin(k) / k, 1e-15);
  EXPECT_NEAR(tip[0], 0.974495, 1e-6);
  EXPECT_NEAR(tip[1], 0.193839, 1e-6);
}

TEST(PureBending, SmallAngleSeriesMeetsTheFormula) {
  const Vector2d series = pureBendingTip(1, 1, 0.99999e-4), formula = pureBendingTip(1, 1, 1.00001e-4);
  EXPECT_NEAR(formula[1] - series[1], 1e-9, 1e-13);
  EXPECT_NEAR(formula[0] - series[0], 0, 1e-12);
}

TEST(PureBending, FullTurnsClose) {
  EXPECT_LT(rollUpTip(1).norm(), 1e-15);
  EXPECT_LT(rollUpTip(2).norm(), 1e-15);
  EXPECT_NEAR(rollUpTip(0.5)[1], 2 / M_PI, 1e-15);
}

}
}
