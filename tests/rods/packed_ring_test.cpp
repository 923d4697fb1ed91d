#include "tendril/rods/packed_ring.h"

#include "rods/ring_program.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace tendril {
namespace {

/// Least energy of some starts.
PackedRing bestOf(PackedRingOptions o, int starts) {
  PackedRing best;
  for (int seed = 1; seed <= starts; ++seed) {
    o.seed = unsigned(seed);
    PackedRing ring = packRing(o);
    if (ring.isSolved && (!best.isSolved || ring.energy < best.energy)) best = ring;
  }
  return best;
}

TEST(PackedRing, DerivativesAreExact) {
  for (const int index : {0, 1}) {
    RingProgram program({.elements = 9, .radius = 0.15, .index = index});
    requireConsistent(program);
    program.x.array() += 0.1;
    EXPECT_LT(checkDerivatives(program).worst(), 1e-7) << checkDerivatives(program).describe();
    for (int k = 0; k < 9; ++k) program.x[4 * k + 3] = 1e-3 * k; // where the chord is a series
    EXPECT_LT(checkDerivatives(program).worst(), 1e-7) << checkDerivatives(program).describe();
  }
}

/// A container that does not touch: the circle, and the figure eight, E = 56.2198 exactly.
TEST(PackedRing, FreeRingsAreTheCircleAndTheFigureEight) {
  const PackedRing circle = bestOf({.elements = 60, .radius = 0.5, .index = 1}, 3);
  ASSERT_TRUE(circle.isSolved) << circle.message;
  EXPECT_NEAR(circle.energy, 2 * M_PI * M_PI, 1e-7);
  const PackedRing eight = bestOf({.elements = 120, .radius = 0.5, .index = 0}, 3);
  ASSERT_TRUE(eight.isSolved) << eight.message;
  EXPECT_NEAR(eight.energy, 56.2198, 0.002 * 56.2198);
}

/// Energies for 60 elements from an independent solver.
TEST(PackedRing, PackedRingsHaveTheKnownEnergies) {
  struct Known {
    int index;
    double radius, energy;
  };
  for (const Known& k : {Known{1, 0.15, 90.589}, Known{1, 0.13, 111.319}, Known{0, 0.15, 73.438}, Known{0, 0.12, 98.834}}) {
    const PackedRing ring = bestOf({.elements = 60, .radius = k.radius, .index = k.index}, 12);
    ASSERT_TRUE(ring.isSolved) << ring.message;
    EXPECT_NEAR(ring.energy, k.energy, 0.01 * k.energy) << k.index << ", " << k.radius;
    EXPECT_LE(ring.largestRadius, k.radius * (1 + 1e-8));
    EXPECT_NEAR(ring.index, k.index, 1e-10);
    EXPECT_LT(ring.closure, 1e-8);
    for (std::size_t i = 0; i < ring.pressure.size(); ++i) {
      EXPECT_GE(ring.pressure[i], -1e-9);
      EXPECT_LT(std::abs(ring.pressure[i] * (k.radius * k.radius - ring.nodes[i].head<2>().squaredNorm())), 1e-6);
    }
  }
}

/// Second order in the elements: what two pairs of meshes extrapolate to agrees, and has the least energy of some starts as well as its
/// mirror image.
TEST(PackedRing, MeshesConvergeToOneSymmetricShape) {
  for (const int index : {0, 1}) {
    std::vector<double> energies;
    for (const int n : {60, 120, 240}) {
      const PackedRing ring = bestOf({.elements = n, .radius = 0.15, .index = index}, 10);
      ASSERT_TRUE(ring.isSolved) << ring.message;
      energies.push_back(ring.energy);
      EXPECT_LT(ring.asymmetry, 0.05) << index << ", " << n;
      EXPECT_LT(ring.complementarity, 1e-6);
    }
    const double coarse = energies[1] + (energies[1] - energies[0]) / 3, fine = energies[2] + (energies[2] - energies[1]) / 3;
    EXPECT_NEAR(coarse, fine, 2e-3 * fine) << index;
  }
}

TEST(PackedRing, MostRandomStartsEndInAMinimum) {
  int solved = 0, minima = 0, iterations = 0;
  constexpr int starts = 100;
  for (unsigned seed = 1; seed <= starts; ++seed) {
    const PackedRing ring = packRing({.elements = 100, .radius = 0.14, .index = 1, .seed = seed});
    solved += ring.isSolved, minima += ring.isSolved && ring.isMinimum, iterations += ring.iterations;
  }
  EXPECT_GE(solved, int(0.95 * starts));
  EXPECT_GE(minima, int(0.95 * starts));
  RecordProperty("iterations", iterations / starts);
}

TEST(PackedRing, RefusesWhatMakesNoRing) {
  EXPECT_THROW(packRing({.elements = 3}), InputError);
  EXPECT_THROW(packRing({.radius = -1}), InputError);
  EXPECT_THROW(packRing({.radius = 1e-3}), InputError);
  EXPECT_THROW(packRing({.index = 50}), InputError);
}

}
}
