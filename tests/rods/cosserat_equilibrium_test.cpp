#include "tendril/rods/cosserat_equilibrium.h"

#include "cosserat_rod.h"
#include "lee_frame.h"
#include "tendril/lie/so3.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <utility>
#include <vector>

namespace tendril {
namespace {

// ---- T-7.1: a rod clamped at both ends (Leyendecker 2006, 7.6.1)
// -------------------------------------------------------------------------

Matrix3 clampFrame(const Vector3& d1, const Vector3& d2) {
  Matrix3 R;
  R << d1, d2, Vector3(-0.18070, 0.89768, 0.40187);
  return so3::orthonormalised(R);
}

const Vector3 a(0.21093, -0.36372, 0.90731), b(0.96065, 0.24872, -0.12363);
const Pose clampBegin{clampFrame(a, b), {0, -0.4, 0}}, clampEnd{clampFrame(b, -a), {0, 0.4, 0}};

CosseratRod clampedRod(int vertices, CosseratModel model) {
  CosseratRod rod({.length = 1, .bending = {1, 1, 1}, .shearing = {200, 200, 200}}, vertices, model);
  for (const RodEnd end : {RodEnd::Begin, RodEnd::End}) rod.hold(end, RodHold::Clamped);
  rod.placeBetween(clampBegin, clampEnd);
  return rod;
}

CosseratRod solvedClampedRod(int vertices, CosseratModel model) {
  CosseratRod rod = clampedRod(vertices, model);
  const CosseratEquilibrium found = solveEquilibrium(rod);
  EXPECT_TRUE(found.isSolved && found.isMinimum) << found.message;
  return rod;
}

struct ClampedReference {
  int vertices;
  double energy;
  Vector3 n, m;
  double isotropy;
};

class ClampedRod : public ::testing::TestWithParam<ClampedReference> {};

TEST_P(ClampedRod, HasTheValuesOfTheReference) {
  const ClampedReference& reference = GetParam();
  const CosseratRod rod = solvedClampedRod(reference.vertices, CosseratModel::Vertex);
  // To the digits that are printed: five after the point for n and m.
  EXPECT_NEAR(rod.energy(), reference.energy, 1e-6 * reference.energy);
  EXPECT_LT((rod.force(0) - reference.n).norm(), 1e-6 * reference.n.norm());
  EXPECT_LT((rod.angularMap(0) - reference.m).cwiseAbs().maxCoeff(), 5.1e-6);
  EXPECT_NEAR(rod.isotropyMap(0), reference.isotropy, 1e-6 * reference.isotropy);
}

INSTANTIATE_TEST_SUITE_P(
    CosseratEquilibrium, ClampedRod,
    ::testing::Values(ClampedReference{5, 6.335371216, {2.51960, -37.54859, -5.60350}, {0.46433, 2.16384, -1.03266}, 1.443550},
                      ClampedReference{11, 5.266095110, {0.73363, -29.15507, -1.63157}, {0.55347, 1.99401, -1.23089}, 1.195322},
                      ClampedReference{321, 5.032665794, {0.55308, -26.60344, -1.23004}, {0.54172, 1.94253, -1.20477}, 1.161735}));

TEST(CosseratEquilibrium, NoetherMapsAreConstantAlongTheRod) {
  for (const CosseratModel model : {CosseratModel::Vertex, CosseratModel::Edge}) {
    for (const int vertices : {5, 11, 321}) {
      const CosseratRod rod = solvedClampedRod(vertices, model);
      const Vector3 n = rod.force(0), m = rod.angularMap(0);
      for (int i = 1; i < rod.edges(); ++i) {
        EXPECT_LT((rod.force(i) - n).norm(), 1e-11 * n.norm());
        EXPECT_LT((rod.angularMap(i) - m).norm(), 1e-11 * m.norm());
        EXPECT_NEAR(rod.isotropyMap(i), rod.isotropyMap(0), 1e-11 * m.norm());
      }
    }
  }
}

TEST(CosseratEquilibrium, ClampedRodOfElevenVerticesStandsWhereTheReferenceDoes) {
  const CosseratRod rod = solvedClampedRod(11, CosseratModel::Vertex);
  EXPECT_LT((rod.position(5) - Vector3(0.0850859, 0, 0.0382586)).norm(), 1e-7);
  const std::array twist{1.22124, 1.21598, 1.21667, 1.22266, 1.22839};
  for (int i = 0; i < 5; ++i) {
    EXPECT_NEAR(rod.materialMoment(i)[2], twist[std::size_t(i)], 5.1e-6);
    EXPECT_NEAR(rod.materialMoment(9 - i)[2], twist[std::size_t(i)], 5.1e-6);
  }
}

struct Errors {
  double r = 0, R = 0;
};

Errors errorsAgainst(const CosseratRod& fine, const CosseratRod& rod) {
  Errors errors;
  const int stride = fine.edges() / rod.edges();
  for (int k = 0; k < rod.vertices(); ++k) {
    errors.r = std::max(errors.r, (rod.position(k) - fine.position(stride * k)).norm());
    errors.R = std::max(errors.R, (rod.frameAt(k) - fine.frameAt(stride * k)).norm());
  }
  return errors;
}

TEST(CosseratEquilibrium, BothModelsConvergeWithOrderTwoToTheSameLimit) {
  std::array<std::vector<Errors>, 2> errors;
  std::vector<CosseratRod> fine;
  for (const CosseratModel model : {CosseratModel::Vertex, CosseratModel::Edge}) {
    fine.push_back(solvedClampedRod(321, model));
    for (const int N : {5, 11, 41, 81}) errors[std::size_t(model)].push_back(errorsAgainst(fine.back(), solvedClampedRod(N, model)));
  }
  const auto& vertex = errors[0];
  EXPECT_NEAR(vertex[0].r, 4.439e-2, 1e-5);
  EXPECT_NEAR(vertex[0].R, 2.257e-1, 1e-4);
  EXPECT_NEAR(vertex[1].r, 7.151e-3, 1e-6);
  EXPECT_NEAR(vertex[1].R, 3.274e-2, 1e-5);
  // Errors C h^2, those of the reference among them: (1/40^2 - 1/320^2) / (1/80^2 - 1/320^2).
  constexpr double ratio = 63.0 / 15;
  for (const auto& e : errors) {
    EXPECT_NEAR(e[2].r / e[3].r, ratio, 0.05 * ratio);
    EXPECT_NEAR(e[2].R / e[3].R, ratio, 0.05 * ratio);
  }
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LT(errors[1][i].r, errors[0][i].r);
  // Extrapolated with order two from 81 and 321 vertices.
  const auto limit = [&](CosseratModel model) {
    const double coarse = solvedClampedRod(81, model).energy(), finest = fine[std::size_t(model)].energy();
    return finest + (finest - coarse) / 15;
  };
  EXPECT_NEAR(limit(CosseratModel::Edge), limit(CosseratModel::Vertex), 2e-6);
  EXPECT_NEAR(limit(CosseratModel::Edge), 5.0324, 1e-4);
}

// ---- other rods ------------------------------------------------------------------------------------------------------------------------

/// The 45 degree bend under a force at its tip: differences from a shooting solution vanish with order two.
TEST(CosseratEquilibrium, FollowsTheBendOfFortyFiveDegrees) {
  const oracles::CosseratCantilever exact = oracles::bend45(600);
  const Vector3 tip = oracles::solveCantilever(exact)[0].position;
  // Axes of the oracle's section (e1 the tangent) to those of the rod: d3 = e1, d1 = e2, d2 = e3.
  const auto reordered = [](const Vector3& x) { return Vector3(x[1], x[2], x[0]); };
  Matrix3 frame;
  frame << exact.clampFrame.col(1), exact.clampFrame.col(2), exact.clampFrame.col(0);
  for (const CosseratModel model : {CosseratModel::Vertex, CosseratModel::Edge}) {
    std::vector<double> errors;
    for (const int N : {33, 65}) {
      CosseratRod rod({.length = exact.length,
                       .bending = reordered(exact.momentCompliance).cwiseInverse(),
                       .shearing = reordered(exact.forceCompliance).cwiseInverse(),
                       .naturalCurvature = [&](double) { return reordered(exact.naturalCurvature); }},
                      N, model);
      rod.hold(RodEnd::Begin, RodHold::Clamped);
      rod.addForce(N - 1, exact.tipForce);
      rod.placeUnstrained({frame, Vector3::Zero()});
      const CosseratEquilibrium found = solveEquilibrium(rod);
      ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
      errors.push_back((rod.position(N - 1) - tip).norm());
    }
    EXPECT_LT(errors[1], 2e-3 * tip.norm());
    EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
  }
}

/// Results do not depend on units: the same rod in millimetres.
TEST(CosseratEquilibrium, IsTheSameInMillimetres) {
  const auto solve = [](double mm, double newton) {
    CosseratRod rod({.length = mm,
                     .bending = Vector3(1, 2, 0.7) * newton * mm * mm,
                     .shearing = Vector3(2e4, 2e4, 5e4) * newton,
                     .weight = Vector3(0, -8, 3) * newton / mm},
                    21);
    rod.hold(RodEnd::Begin, RodHold::Clamped);
    rod.placeUnstrained({});
    const CosseratEquilibrium found = solveEquilibrium(rod);
    EXPECT_TRUE(found.isSolved && found.isMinimum) << found.message;
    return Vector3(rod.position(20) / mm);
  };
  EXPECT_LT((solve(1000, 1) - solve(1, 1)).norm(), 1e-9);
  EXPECT_LT((solve(1, 1e-6) - solve(1, 1)).norm(), 1e-9);
}

/// A straight rod pressed beyond its buckling load: the straight state is an equilibrium, and is said to be no minimum.
TEST(CosseratEquilibrium, SaysThatItIsNoMinimum) {
  const auto pressed = [](double load) {
    CosseratRod rod({.length = 1, .bending = {1, 2, 1}, .shearing = {1e4, 1e4, 1e4}}, 41);
    rod.hold(RodEnd::Begin, RodHold::Clamped);
    rod.addForce(40, {0, 0, -load});
    rod.placeUnstrained({});
    return solveEquilibrium(rod, {.descends = false});
  };
  constexpr double first = M_PI * M_PI / 4; // Euler's load of the softer axis; that of the other is twice as large
  const CosseratEquilibrium below = pressed(0.98 * first), above = pressed(1.02 * first), farAbove = pressed(2.1 * first);
  EXPECT_TRUE(below.isSolved && below.isMinimum) << below.message;
  EXPECT_TRUE(above.isSolved && !above.isMinimum);
  EXPECT_EQ(above.signs.negative, 1);
  EXPECT_EQ(farAbove.signs.negative, 2);
  EXPECT_NE(above.message.find("no stable minimum"), std::string::npos);
}

// ---- T-7.2: Lee's frame (7.6.2)
// ----------------------------------------------------------------------------------------------------------

constexpr double leg = 120;

CosseratRod leeFrame(int vertices, CosseratModel model, RodCorner treatment) {
  constexpr double EI = 14.4e6, GJ = 11.08e6, GA = 16.62e6, EA = 43.2e6;
  CosseratRod rod({.length = 2 * leg, .bending = {EI, EI, GJ}, .shearing = {GA, GA, EA}}, vertices, model);
  const int corner = (vertices - 1) / 2;
  rod.addCorner(corner, so3::exp(Vector3(-M_PI / 2, 0, 0)), treatment);
  rod.addForce(corner + (vertices - 1) / 10, {0, -1000, 0});
  for (const RodEnd end : {RodEnd::Begin, RodEnd::End}) rod.hold(end, RodHold::Hinged, Vector3::UnitZ());
  Matrix3 up; // R(90 degrees): d1 = e3, d2 = (sin, -cos, 0), d3 = (cos, sin, 0)
  up << 0, 1, 0, 0, 0, 1, 1, 0, 0;
  rod.placeUnstrained({up, Vector3::Zero()});
  rod.loadFactor = 0;
  return rod;
}

/// First two limit loads, where the number of negative signs changes. `onStep` sees every equilibrium.
std::array<double, 2> limitLoads(CosseratRod& rod, const std::function<void()>& onStep = {}) {
  CosseratEquations equations(rod, 1e-12);
  PathFollower path({.firstStep = 0.5, .largestGrowth = 8});
  EXPECT_TRUE(path.start(equations)) << path.failure();
  int negative = equations.signs().negative;
  std::vector<double> limits;
  VectorX reached(rod.pointSize());
  for (int step = 0; step < 400 && limits.size() < 2; ++step) {
    if (!path.advance(equations)) {
      ADD_FAILURE() << path.failure();
      break;
    }
    if (onStep) onStep();
    const int before = std::exchange(negative, equations.signs().negative);
    if (path.step().turned) {
      rod.getPoint(reached);
      const double load = rod.loadFactor;
      const std::optional<double> critical = path.locateChange(equations, before, [&] { return equations.signs(); });
      limits.push_back(critical.value_or(NAN));
      rod.setPoint(reached);
      rod.loadFactor = load;
    }
    path.accept(equations);
  }
  limits.resize(2, NAN);
  return {limits[0], limits[1]};
}

struct LeeReference {
  int vertices;
  RodCorner treatment;
  double max, min;
};

class LeeFrameLimits : public ::testing::TestWithParam<LeeReference> {};

TEST_P(LeeFrameLimits, AreThoseOfTheReference) {
  CosseratRod rod = leeFrame(GetParam().vertices, CosseratModel::Edge, GetParam().treatment);
  const auto [max, min] = limitLoads(rod);
  EXPECT_NEAR(max, GetParam().max, 1e-3 * GetParam().max);
  EXPECT_NEAR(min, GetParam().min, 1e-3 * std::abs(GetParam().min));
}

INSTANTIATE_TEST_SUITE_P(CosseratEquilibrium, LeeFrameLimits,
                         ::testing::Values(LeeReference{21, RodCorner::NaturalCurvature, 19.552, -9.764},
                                           LeeReference{41, RodCorner::NaturalCurvature, 18.915, -9.350},
                                           LeeReference{81, RodCorner::NaturalCurvature, 18.701, -9.316},
                                           LeeReference{21, RodCorner::ReferenceRotation, 18.946, -10.243},
                                           LeeReference{41, RodCorner::ReferenceRotation, 18.645, -9.610},
                                           LeeReference{81, RodCorner::ReferenceRotation, 18.571, -9.450}));

/// Both models tend with order two to the limit loads of the continuous frame.
TEST(CosseratEquilibrium, LeeFrameTendsToTheContinuousOne) {
  const auto [top, bottom] = oracles::leeFrameLimits();
  for (const CosseratModel model : {CosseratModel::Vertex, CosseratModel::Edge}) {
    std::vector<std::array<double, 2>> limits;
    for (const int N : {41, 81}) {
      CosseratRod rod = leeFrame(N, model, RodCorner::ReferenceRotation);
      limits.push_back(limitLoads(rod));
    }
    const auto extrapolated = [&](std::size_t i) { return limits[1][i] + (limits[1][i] - limits[0][i]) / 3; };
    EXPECT_NEAR(extrapolated(0), top.lambda, 5e-4 * top.lambda);
    EXPECT_NEAR(extrapolated(1), bottom.lambda, 1e-3 * std::abs(bottom.lambda));
  }
}

TEST(CosseratEquilibrium, MapsOfLeeFrameJumpByTheLoadAlone) {
  for (const CosseratModel model : {CosseratModel::Vertex, CosseratModel::Edge}) {
    CosseratRod rod = leeFrame(21, model, RodCorner::ReferenceRotation);
    constexpr int loaded = 12;
    // What rounding of positions makes of the force in the stiffest segment.
    const double noise = 4 * std::numeric_limits<double>::epsilon() * rod.properties().shearing[2] * (1 + leg / rod.step());
    ASSERT_LT(noise, 1e-9 * rod.load(loaded).norm());
    limitLoads(rod, [&] {
      const Vector3 load = rod.loadFactor * rod.load(loaded);
      for (int i = 1; i < rod.edges(); ++i) {
        const Vector3 jump = i == loaded ? load : Vector3::Zero();
        EXPECT_LT((rod.force(i) - rod.force(i - 1) + jump).norm(), noise);
        EXPECT_LT((rod.angularMap(i) - rod.angularMap(i - 1) + rod.position(i).cross(jump)).norm(), noise * leg);
      }
    });
  }
}

}
}
