#include "tendril/rods/rod_path.h"

#include "tendril/model/error.h"
#include "tendril/rods/elastica.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <map>

namespace tendril {
namespace {

constexpr double pi = M_PI;
/// d3 along x, d2 along y: kappa_1 bends about -z, in the plane of x and y.
const Matrix3 alongX = (Matrix3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished();

/// A rod of length 1 and EI_1 = 1 between clamps whose distance is the parameter.
RodFamily pressed(double stiff) {
  return {[stiff](double) {
            return RodProperties{.length = 1, .stiffness = {1, stiff, stiff}};
          },
          [](double distance) {
            return RodEnds{.begin = {alongX, Vector3::Zero()}, .position = Vector3(distance, 0, 0), .orientation = alongX};
          }};
}

/// Elements of constant curvature are too weak, and too stiff, by about (2 pi m / N)^2 / 12 for m waves: `accuracy` is a bit more for one.
/// From the straight rod through the first modes of buckling and along their branches, both halves, to a share of the compression.
void expectModes(int elements, int modes, double eps2, double accuracy) {
  const std::array onset{2 * pi, 8.986818915818128, 4 * pi, 15.450503673875414, 6 * pi};
  RodPath path(pressed(100), {.elements = elements, .from = 1, .to = 1 - eps2, .branchPoints = modes});
  std::map<int, RodPathPoint> ends;
  while (!path.finished()) {
    const RodPathPoint p = path.advance();
    EXPECT_LT(p.residual, 1e-9);
    if (p.branch == 0) {
      EXPECT_NEAR(p.parameter, 1, 1e-9); // inextensible
    }
    if (p.branch > 0) {
      EXPECT_EQ(p.unstable, (p.branch - 1) / 2) << p.branch << " at " << p.parameter; // modes above the first are unstable
    }
    if (p.isEnd) ends[p.branch] = p;
  }
  ASSERT_EQ(int(path.branchPoints().size()), modes);
  ASSERT_EQ(int(ends.size()), 2 * modes + 1);
  for (int mode = 1; mode <= modes; ++mode) {
    const double load = path.branchPoints()[std::size_t(mode - 1)].end.force.norm(), exact = std::pow(onset[std::size_t(mode - 1)], 2);
    EXPECT_NEAR(load / exact, 1, accuracy * mode * mode) << mode;
    const Elastica e = elasticaMode(eps2, mode);
    for (const int branch : {2 * mode - 1, 2 * mode}) {
      const RodPathPoint& p = ends[branch];
      EXPECT_NEAR(p.parameter, 1 - eps2, 1e-12);
      EXPECT_NEAR(p.energy / e.energy, 1, accuracy * mode * mode) << mode;
      EXPECT_NEAR(4 * e.forceX / -p.end.force.x(), 1, 2 * accuracy * mode * mode) << mode;
    }
    EXPECT_NEAR(ends[2 * mode - 1].energy, ends[2 * mode].energy, 1e-7 * e.energy);
  }
}

TEST(RodPath, StraightRodBucklesIntoModes) { expectModes(30, 2, 0.1, 5e-3); }

TEST(FullRodPath, FiveModesOfTheElastica) {
  expectModes(100, 5, 0.1, 5e-4);
  expectModes(100, 5, 0.3, 5e-4);
}

/// Loads of branch points approach those of linear buckling with the square of the size of the elements.
TEST(RodPath, LoadsConvergeWithOrderTwo) {
  std::vector<double> errors;
  for (const int n : {20, 40}) {
    RodPath path(pressed(100), {.elements = n, .from = 1, .to = 0.9, .branchPoints = 1, .follows = false});
    while (!path.finished()) path.advance();
    errors.push_back(std::abs(path.branchPoints().at(0).end.force.norm() - 4 * pi * pi));
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
}

/// The natural curvature at which a rod under its weight leaves its plane, as a branch point of the equilibria in the plane (data of
/// Blumentals 2017, 6.4.6; 40.7 /m by the second variation, computed independently).
TEST(RodPath, NaturalCurvatureThrowsARodOutOfItsPlane) {
  static constexpr double L = 0.3, EI = 5.16890e-6, beta = 434.658;
  const RodFamily family{[](double k) {
                           return RodProperties{.length = L,
                                                .stiffness = EI * Vector3(1, 1, 2.0 / 3),
                                                .weight = {0, -beta * EI / (L * L * L), 0},
                                                .natural = [k](double) { return Vector3(k, 0, 0); }};
                         },
                         [](double) {
                           return RodEnds{.begin = {alongX, Vector3::Zero()}};
                         }};
  RodPath path(family, {.elements = 50, .from = 20, .to = 50, .branchPoints = 1});
  while (!path.finished()) {
    const RodPathPoint p = path.advance();
    if (p.branch == 0) {
      EXPECT_NEAR(path.rod().turns(), 0, 1e-8);
      EXPECT_EQ(p.isStable(), p.branchPoint < 0) << p.parameter;
    } else {
      EXPECT_TRUE(p.isStable()) << p.parameter; // continuous: both halves are minima
    }
  }
  ASSERT_EQ(path.branchPoints().size(), 1U);
  EXPECT_NEAR(path.branchPoints()[0].parameter, 40.7, 0.2);
  EXPECT_EQ(path.point().branch, 2);
  EXPECT_GT(std::abs(path.rod().turns()), 0.3);
}

TEST(RodPath, DoubleBranchPointsAreTold) {
  RodPath path(pressed(1), {.elements = 20, .from = 1, .to = 0.9, .branchPoints = 0, .follows = false, .maxPoints = 60});
  bool isTold = false;
  while (!path.finished()) isTold |= path.advance().note.find("no simple branch point") != std::string::npos;
  EXPECT_TRUE(isTold);
}

TEST(RodPath, RefusesWhatIsNoPath) {
  EXPECT_THROW(RodPath(pressed(1), {.from = 1, .to = 1}), InputError);
  EXPECT_THROW(RodPath(pressed(1), {.elements = 1000, .from = 1, .to = 0.9}), InputError);
  EXPECT_THROW(RodPath({}, {}), InputError);
  EXPECT_THROW(RodPath(pressed(1), {.from = 1, .to = 0.9, .step = -1}), InputError);
  EXPECT_THROW(RodPath(pressed(1), {.from = 1, .to = 0.9, .start = VectorX::Zero(4)}), InputError);
}

}
}
