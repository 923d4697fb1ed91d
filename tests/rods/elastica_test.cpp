#include "tendril/rods/elastica.h"

#include "jacobi.h"
#include "rods/negative_directions.h"
#include "tendril/model/error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <utility>

namespace tendril {
namespace {

struct Row {
  double eps2, force, curvature, height, angle, energy;
};
/// The first mode by elliptic functions, computed independently (scaled; angle in degrees).
constexpr std::array table{
    Row{0.01, 9.919232, 0.629501, 0.126925, 11.471, 0.395775},   Row{0.05, 10.123493, 1.418409, 0.280221, 25.759, 1.999068},
    Row{0.10, 10.392564, 2.025763, 0.389849, 36.624, 4.050409},  Row{0.20, 10.982291, 2.924788, 0.532637, 52.372, 8.322940},
    Row{0.50, 13.318528, 4.971892, 0.746613, 85.872, 22.802367}, Row{0.90, 19.087509, 7.642947, 0.800832, 122.018, 48.114257}};

TEST(Elastica, ClosedFormIsThatOfTheTable) {
  for (const Row& row : table) {
    const Elastica e = elasticaWaves(row.eps2, 1);
    EXPECT_NEAR(e.forceX, row.force, 1e-6);
    EXPECT_NEAR(e.curvature, row.curvature, 1e-6);
    EXPECT_NEAR(e.height, row.height, 1e-6);
    EXPECT_NEAR(e.largestAngle * 180 / M_PI, row.angle, 1e-3);
    EXPECT_NEAR(e.energy, row.energy, 2e-6);
  }
}

TEST(Elastica, ShootingMeetsTheClosedForm) {
  for (const double eps2 : {0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95})
    for (const int waves : {1, 2, 3}) {
      const Elastica exact = elasticaWaves(eps2, waves), found = elasticaMode(eps2, 2 * waves - 1);
      ASSERT_TRUE(found.isSolved) << found.message;
      EXPECT_NEAR(found.forceX, exact.forceX, 1e-8 * exact.forceX) << eps2 << ", " << waves;
      EXPECT_NEAR(found.forceY, 0, 1e-8);
      EXPECT_NEAR(std::abs(found.curvature), exact.curvature, 1e-8 * exact.curvature);
      EXPECT_NEAR(found.energy, exact.energy, 1e-8 * exact.energy);
      EXPECT_NEAR(found.height, exact.height, 1e-4);
      EXPECT_LT(found.residual, 1e-12);
    }
}

/// The series at a point against elliptic functions on the way.
TEST(Elastica, CurvatureAtTheEndIsThatAtTheBegin) {
  const double eps2 = 0.4;
  const Elastica e = elasticaWaves(eps2, 1);
  const double root = std::sqrt(e.forceX), k = std::sin(e.largestAngle / 2);
  EXPECT_NEAR(-2 * k * root * oracles::jacobi(root, k).cn, e.curvature, 1e-9);
}

TEST(Elastica, ModesAreFollowedFromTheirOnset) {
  // Loads at onset: pi, 4.4934, 2 pi, 7.7253, 3 pi, squared.
  const std::array onset{M_PI, 4.493409457909064, 2 * M_PI, 7.725251836937707, 3 * M_PI};
  for (int mode = 1; mode <= 5; ++mode) {
    const Elastica small = elasticaMode(1e-4, mode);
    ASSERT_TRUE(small.isSolved) << small.message;
    EXPECT_NEAR(std::sqrt(small.forceX) / onset[std::size_t(mode - 1)], 1, 1e-3) << mode;
    for (const double eps2 : {0.05, 0.3}) {
      const Elastica e = elasticaMode(eps2, mode);
      ASSERT_TRUE(e.isSolved) << mode << ": " << e.message;
      EXPECT_EQ(e.isStable(), mode == 1) << mode << ", " << eps2;
      EXPECT_EQ(e.unstable, mode - 1) << mode << ", " << eps2;
      EXPECT_EQ(std::abs(e.forceY) < 1e-8, mode % 2 == 1) << mode;
    }
  }
}

/// The first mode goes on to closed loops at 0.95.
TEST(Elastica, FirstModeConvergesFromItsOnsetInOneShot) {
  for (const double eps2 : {0.01, 0.1, 0.3}) {
    const Elastica e = shootElastica(eps2, 2 * std::sqrt(eps2) * M_PI, M_PI * M_PI * (1 + eps2 / 2), 0);
    EXPECT_TRUE(e.isStable()) << e.message;
    EXPECT_LE(e.iterations, 8);
    EXPECT_NEAR(e.energy, elasticaWaves(eps2, 1).energy, 1e-9);
  }
}

/// Directions of a fine strain rod at the same place in which the energy falls, ends held, less those in the plane.
int negativeAcross(const Elastica& e, double across, double torsion) {
  constexpr int n = 120;
  const Matrix3 along = (Matrix3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished();
  StrainRod rod({.length = 2, .stiffness = {1, across, torsion}}, n);
  const std::vector<Eigen::Vector3d> shape = shapeOf(e, n);
  VectorX strains = VectorX::Zero(3 * n);
  for (std::size_t i = 0; i < n; ++i) strains[3 * Eigen::Index(i)] = -(shape[i + 1][2] - shape[i][2]) * n / 2;
  const Pose begin{along, Vector3::Zero()};
  rod.place(begin, strains);
  const Pose end = rod.frame(n);
  StrainProgram program(rod, {.begin = begin, .position = end.x, .orientation = end.R});
  VectorX multipliers(6);
  const Vector3 force(-e.forceX, -e.forceY, 0), moment(0, 0, e.curvature + (end.x.x() * e.forceY - end.x.y() * e.forceX));
  multipliers << -2 * force, -end.R.transpose() * moment;
  multipliers /= program.energyUnit();
  return testing::negativeDirections(program, multipliers) - e.unstable;
}

/// A stiff ribbon stays in its plane; a rod that is weak across or against torsion does not, the more so the more it is pressed.
TEST(Elastica, StabilityOutOfThePlaneIsThatOfAFineStrainRod) {
  for (int mode = 1; mode <= 4; ++mode)
    for (const double eps2 : {0.05, 0.3, 0.6}) {
      const Elastica e = elasticaMode(eps2, mode);
      ASSERT_TRUE(e.isSolved) << e.message;
      for (const auto& [across, torsion] : {std::pair(30.0, 30.0), std::pair(1.3, 0.7), std::pair(0.8, 0.2)})
        EXPECT_EQ(unstableOutOfPlane(e, across, torsion), negativeAcross(e, across, torsion))
            << mode << ", " << eps2 << ", " << across << ", " << torsion;
    }
  EXPECT_EQ(unstableOutOfPlane(elasticaMode(0.3, 1), 30, 30), 0);
  EXPECT_GT(unstableOutOfPlane(elasticaMode(0.3, 1), 0.8, 0.2), 0);
}

TEST(Elastica, RefusesWhatCannotBe) {
  EXPECT_THROW(unstableOutOfPlane(Elastica{}, 1, 1), InputError);
  EXPECT_THROW(unstableOutOfPlane(elasticaWaves(0.1, 1), 1, 0), InputError);
  EXPECT_THROW(elasticaWaves(0, 1), InputError);
  EXPECT_THROW(elasticaMode(1, 1), InputError);
  EXPECT_THROW(elasticaMode(0.1, 0), InputError);
  EXPECT_THROW(elasticaWaves(0.1, 0), InputError);
}

}
}
