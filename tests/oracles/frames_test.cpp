#include "lee_frame.h"
#include "right_angle_frame.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(LeeFrame, HasThePublishedLimitLoads) {
  const auto [maximum, minimum] = leeFrameLimits();
  EXPECT_NEAR(maximum.lambda, 18.547, 1e-3); // extrapolated from discrete rods of order 2
  EXPECT_NEAR(minimum.lambda, -9.396, 1e-3);
}

TEST(LeeFrame, DoesNotDependOnTheSteps) {
  LeeFrame coarse;
  coarse.steps = 40;
  EXPECT_NEAR(leeFrameLimits(coarse).first.lambda, leeFrameLimits({}, nullptr, 0.2).first.lambda, 1e-5);
}

TEST(LeeFrame, StartsWithTheLinearStiffness) {
  // Bending only: column and beam of length l, ends pinned, load P at a from the corner. Three-moment equation at the corner (Clapeyron):
  // corner moment M = P a b (l + b) / (4 l^2), deflection under the load P a^2 b^2 / (3 EI l) - M a b (l + b) / (6 EI l), b = l - a.
  LeeFrame frame;
  frame.EA = frame.GA = 1e14;
  std::vector<LeeFramePoint> path;
  leeFrameLimits(frame, &path);
  const double l = 120, a = 24, b = 96, P = 1e3, M = P * a * b * (l + b) / (4 * l * l);
  const double linear = P * a * a * b * b / (3 * frame.EI * l) - M * a * b * (l + b) / (6 * frame.EI * l);
  const double flexibility = 2 * path[1].uy / path[1].lambda - path[2].uy / path[2].lambda; // extrapolated to no load
  EXPECT_NEAR(-flexibility / linear, 1, 2e-3);
}

TEST(RightAngleFrame, HingedFrameBucklesAtThePublishedMoment) {
  const RightAngleFrame frame;
  EXPECT_NEAR(hingedFrameCriticalMoment(frame), 622.2, 0.05); // Timoshenko & Gere; Argyris et al. 1979: 624.77
}

TEST(RightAngleFrame, PathLeavesTheBifurcationAndCompletesARevolution) {
  const RightAngleFrame frame;
  const double critical = hingedFrameCriticalMoment(frame);
  const auto path = hingedFrameRevolution(frame);
  ASSERT_EQ(path.size(), 72u);
  EXPECT_NEAR(path.front().moment, critical, 1e-3 * critical);
  EXPECT_NEAR(path.back().moment, -critical, 1e-4 * critical); // back in its plane, at the opposite bifurcation
  EXPECT_NEAR(path.back().corner[2], 0, 1e-6);
  EXPECT_GT(path.back().corner[1], 0);
  double lowest = 0, highest = 0;
  for (const auto& point : path) {
    lowest = std::min(lowest, point.corner[1]);
    highest = std::max(highest, std::abs(point.corner[2]));
  }
  EXPECT_LT(lowest, -200); // the corner passes below the line of the supports
  EXPECT_NEAR(highest, 167.25, 0.1);
}

TEST(RightAngleFrame, CantileverFrameBucklesAtThePublishedForce) {
  const RightAngleFrame frame;
  EXPECT_NEAR(cantileverFrameCriticalForce(frame, 1), 1.088, 0.01 * 1.088); // Simo & Vu-Quoc 1986
  EXPECT_LT(cantileverFrameCriticalForce(frame, -1), cantileverFrameCriticalForce(frame, 1));
}

TEST(RightAngleFrame, BendingBeforeBucklingChangesTheForceLittle) {
  RightAngleFrame frame;
  EXPECT_NEAR(cantileverFrameBifurcation(frame, 1), 1.088, 1e-3);
  for (int direction : {1, -1})
    EXPECT_NEAR(cantileverFrameBifurcation(frame, direction) / cantileverFrameCriticalForce(frame, direction), 1, 1.5e-3);
}

}
}
