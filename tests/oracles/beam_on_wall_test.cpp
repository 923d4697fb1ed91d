#include "beam_on_wall.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

TEST(BeamOnWall, FreeLengthAndForcesOfPublishedCases) {
  EXPECT_NEAR(BeamOnWall(0).delta, 2.912951, 1e-6);
  EXPECT_NEAR(BeamOnWall(0).layerForce(), 0.970984, 1e-6);
  EXPECT_NEAR(BeamOnWall(0.0227620).delta, 2.889569, 1e-6);
  EXPECT_NEAR(BeamOnWall(0.0227620).layerForce(), 0.948135, 1e-5);
  EXPECT_NEAR(BeamOnWall(0.091048).delta, 2.812154, 1e-6);
  EXPECT_NEAR(BeamOnWall(0.091048).layerForce(), 0.878647, 1e-6);
}

TEST(BeamOnWall, DeflectionSatisfiesTheBoundaryConditions) {
  for (const double eps : {0.0, 0.05, 0.2}) {
    const BeamOnWall beam(eps);
    EXPECT_NEAR(beam.deflection(0), 0, 1e-14);
    EXPECT_NEAR(beam.deflection(beam.delta * (1 - 1e-12)), 1, 1e-9);
    // v'''' = 1 between, by differences
    const double h = 0.05, x = 1.3;
    const double fourth = (beam.deflection(x - 2 * h) - 4 * beam.deflection(x - h) + 6 * beam.deflection(x) - 4 * beam.deflection(x + h) +
                           beam.deflection(x + 2 * h)) /
                          (h * h * h * h);
    EXPECT_NEAR(fourth, 1, 1e-6);
  }
}

}
}
