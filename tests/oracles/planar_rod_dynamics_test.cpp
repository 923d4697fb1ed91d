#include "planar_rod_dynamics.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(PlanarRodMotion, FallingCableMatchesThePublishedTip) {
  PlanarRodMotion cable = fallingCable(100);
  const double energy = cable.energy();
  cable.advanceTo(0.5);
  EXPECT_LT((cable.position(1) - Vector2d(-0.2209, -0.9346)).norm(), 5e-4);
  cable.advanceTo(1);
  EXPECT_LT((cable.position(1) - Vector2d(-0.9626, 0.0417)).norm(), 5e-4);
  EXPECT_NEAR(cable.energy(), energy, 1e-8);
}

TEST(PlanarRodMotion, ConvergesWithOrderTwo) {
  const auto tip = [](int cells) {
    PlanarRodMotion cable = fallingCable(cells);
    cable.advanceTo(0.25);
    return cable.position(1);
  };
  const Vector2d fine = tip(160);
  const double ratio = (tip(20) - fine).norm() / (tip(40) - fine).norm();
  EXPECT_GT(ratio, 3.2);
  EXPECT_LT(ratio, 5.5);
}

TEST(PlanarRodMotion, PinnedBeamDeflectsToTwiceTheStaticValue) {
  // Suddenly applied uniform load: all odd modes are in phase half a period of the first one later, where the deflection is twice 5 w L^4 /
  // (384 EI).
  PlanarRod rod = PlanarRod::circular(1, 0.005, 1e7, 0, 1000);
  rod.gravity = {0, -1e-3};
  PlanarEnds ends = pinnedAtOrigin();
  ends.rightOnAxis = true;
  PlanarRodMotion beam(rod, ends, 50, {0, 0}, 0);
  beam.advanceTo(M_PI / (M_PI * M_PI * std::sqrt(rod.EI / rod.rhoA)));
  EXPECT_NEAR(beam.midDeflection() / (-2 * 5 * rod.rhoA * 1e-3 / (384 * rod.EI)), 1, 2e-3);
}

TEST(PlanarRodMotion, FreeFlightKeepsTheMomentumOfItsLoads) {
  PlanarRodMotion flight = freeFlight(32);
  flight.advanceTo(2.5);
  const Vector3d momentum = flight.momentum();
  EXPECT_NEAR(momentum[0], 20, 1e-9);
  EXPECT_NEAR(momentum[1], 0, 1e-9);
  flight.advanceTo(6);
  EXPECT_LT((flight.momentum() - momentum).norm(), 1e-5);
}

TEST(PlanarRodMotion, SliderCrankFollowsRigidKinematics) {
  PlanarRodMotion mechanism = flexibleSliderCrank(16);
  double largest = 0;
  const double period = 2 * M_PI / 150;
  for (int k = 1; k <= 100; ++k) {
    mechanism.advanceTo(period * k / 100);
    const double angle = 2 * M_PI * k / 100, y = 0.15 * std::sin(angle);
    EXPECT_NEAR(mechanism.position(1)[0], 0.15 * std::cos(angle) + std::sqrt(0.09 - y * y), 3e-4);
    EXPECT_NEAR(mechanism.position(1)[1], 0, 1e-12);
    largest = std::max(largest, std::abs(mechanism.midDeflection()) / 0.3);
  }
  EXPECT_GT(largest, 0.010); // Jonker 1989 shows deflections of the order of one hundredth of the length
  EXPECT_LT(largest, 0.020);
}

}
}
