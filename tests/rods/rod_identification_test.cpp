#include "support/places.h"
#include "tendril/rods/rod_identification.h"

#include "rods/rod_identification.h"
#include "tendril/model/error.h"
#include "tendril/rods/rod_shooting.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sstream>

namespace tendril {
namespace {

const Matrix3 down = (Matrix3() << 1, 0, 0, 0, -1, 0, 0, 0, -1).finished();
const Vector3 helix(66.67, 0, -24.79);

/// Blumentals 2017, 6.4.2.
RodProperties silicone(const Vector3& natural) {
  constexpr double r = 2.23e-3, E = 1e6, rho = 1200, g = 9.81, EI = E * M_PI * r * r * r * r / 4;
  return {.length = 0.2, .stiffness = EI * Vector3(1, 1, 1 / 1.5), .weight = {0, 0, -rho * g * M_PI * r * r}, .natural = [natural](double) {
            return natural;
          }};
}

/// Points of the centreline by shooting, which knows of no elements.
std::vector<Vector3> measured(const RodProperties& rod, const RodEnds& ends, int intervals) {
  StrainRod guess(rod, 100);
  EXPECT_TRUE(solveEquilibrium(guess, ends).isMinimum);
  const ShotRod shot = shootRod(guess, ends, rod.weight * rod.length, {.segments = 8});
  EXPECT_TRUE(shot.isSolved) << shot.message;
  std::vector<Vector3> points;
  for (const RodPoint& p : shapeOf(rod, shot, intervals)) points.push_back(p.frame.x);
  return points;
}

TEST(RodIdentification, PointsMoveAsTheirJacobianSays) {
  StrainRod rod({.length = 2}, 7);
  const VectorX u = VectorX::NullaryExpr(rod.size(), [](Eigen::Index i) { return std::sin(3.0 * double(i)); });
  const Pose begin{so3::exp(Vector3(1, 2, 0.3)), {1, 2, 3}};
  for (const double s : {0.0, 0.3, 1.234, 2.0}) {
    rod.place(begin, u);
    MatrixX J = MatrixX::Zero(3, rod.size());
    addPointJacobian(rod, s, J);
    for (int i = 0; i < rod.size(); ++i) {
      constexpr double h = 1e-5;
      rod.place(begin, u + h * VectorX::Unit(rod.size(), i));
      const Vector3 more = pointAt(rod, s);
      rod.place(begin, u - h * VectorX::Unit(rod.size(), i));
      EXPECT_LT((J.col(i) - (more - pointAt(rod, s)) / (2 * h)).norm(), 1e-9) << s << ", " << i;
    }
  }
}

TEST(RodIdentification, PlacesAndStrainsOfAHelix) {
  StrainRod rod({.length = 0.2, .natural = [](double) { return helix; }}, 10);
  rod.place({down, Vector3::Zero()}, rod.natural());
  std::vector<Vector3> points;
  std::vector<double> exact;
  for (int i = 0; i <= 50; ++i) {
    const double x = i / 50.0;
    exact.push_back(0.2 * (x + 0.02 * std::sin(8 * M_PI * x)));
    points.push_back(pointAt(rod, exact.back()));
  }
  const std::vector<double> places = placesOf(points, 0.2);
  for (std::size_t i = 0; i <= 50; ++i) EXPECT_NEAR(places[i], exact[i], 4e-4) << i;
  points.clear();
  for (int i = 0; i <= 100; ++i) points.push_back(pointAt(rod, 0.002 * i));
  const Vector3 u = strainsOf(points, placesOf(points, 0.2), down);
  EXPECT_LT((u - helix).norm(), 0.03 * helix.norm()) << u.transpose();
}

/// The committed points are those of the independent solution, and give its natural strains back.
TEST(RodIdentification, SiliconeHelixIsFoundFromItsPoints) {
  const RodEnds ends{.begin = {down, Vector3::Zero()}};
  const std::vector<Vector3> points = measured(silicone(helix), ends, 60);
  std::ifstream file(test::sourceFolder() + "/scenes/rods/inverse-helix.csv");
  std::ostringstream committed, made;
  committed << file.rdbuf();
  made << "# made by tests/rods/rod_identification_test.cpp from a solution by shooting\nx,y,z\n";
  for (const Vector3& p : points) {
    std::array<char, 80> line{};
    std::snprintf(line.data(), line.size(), "%.7f,%.7f,%.7f\n", p.x(), p.y(), p.z());
    made << line.data();
  }
  if (committed.str() != made.str()) {
    std::ofstream(::testing::TempDir() + "inverse-helix.csv") << made.str();
    ADD_FAILURE() << "the points of scenes/rods/inverse-helix.csv differ from those of " << ::testing::TempDir() << "inverse-helix.csv";
  }
  RodProperties rod = silicone(helix);
  rod.natural = nullptr;
  const RodIdentification found = identifyNaturalStrains({.rod = rod, .elements = 60, .ends = ends, .points = points});
  ASSERT_TRUE(found.isSolved) << found.message;
  EXPECT_LT((found.natural - helix).norm(), 0.01 * helix.norm()) << found.natural.transpose();
  EXPECT_LT(found.misfit, 1e-3 * rod.length);
  EXPECT_EQ(found.unidentified, 0);
}

/// Errors fall with the square of the size of the elements; what is left is the places of the points along the rod.
TEST(RodIdentification, ConvergesWithTheElements) {
  const RodEnds ends{.begin = {down, Vector3::Zero()}};
  const std::vector<Vector3> points = measured(silicone(helix), ends, 200);
  std::vector<double> errors;
  for (const int n : {20, 40, 80}) {
    const RodIdentification found =
        identifyNaturalStrains({.rod = silicone(Vector3::Zero()), .elements = n, .ends = ends, .points = points});
    ASSERT_TRUE(found.isSolved) << found.message;
    errors.push_back((found.natural - helix).norm() / helix.norm());
  }
  EXPECT_LT(errors[2], 0.01);
  EXPECT_GT(errors[0] / errors[1], 3);
}

/// A rod of two natural curvatures: each piece by itself.
TEST(RodIdentification, PiecesHaveStrainsOfTheirOwn) {
  RodProperties rod = silicone(Vector3::Zero());
  rod.natural = [](double s) { return s < 0.1 ? Vector3(20, 0, 0) : Vector3(40, 0, 5); };
  const RodEnds ends{.begin = {down, Vector3::Zero()}};
  const std::vector<Vector3> exact = measured(rod, ends, 80);
  const RodIdentificationOptions options{.rod = silicone(Vector3::Zero()), .elements = 40, .ends = ends, .points = exact, .groups = 2};
  const RodIdentification found = identifyNaturalStrains(options);
  ASSERT_TRUE(found.isSolved) << found.message;
  EXPECT_LT((found.natural.head<3>() - Vector3(20, 0, 0)).norm(), 0.5) << found.natural.transpose();
  EXPECT_LT((found.natural.tail<3>() - Vector3(40, 0, 5)).norm(), 0.5) << found.natural.transpose();
}

/// The centreline of a straight rod that hangs down tells nothing of its natural torsion.
TEST(RodIdentification, WhatCannotBeIdentifiedIsTold) {
  std::vector<Vector3> points;
  for (int i = 0; i <= 10; ++i) points.emplace_back(0, 0, -0.02 * i);
  const RodIdentification found = identifyNaturalStrains(
      {.rod = silicone(Vector3::Zero()), .elements = 20, .ends = {.begin = {down, Vector3::Zero()}}, .points = points});
  ASSERT_TRUE(found.isSolved) << found.message;
  EXPECT_EQ(found.unidentified, 1);
  ASSERT_EQ(found.undetermined.size(), 1U);
  EXPECT_EQ(found.undetermined[0], "torsion of group 1");
  EXPECT_LT(found.natural.head<2>().norm(), 1e-6);
}

void expectRefused(const std::vector<Vector3>& points, const std::string& part, int groups = 1) {
  try {
    identifyNaturalStrains(
        {.rod = silicone(Vector3::Zero()), .elements = 20, .ends = {.begin = {down, Vector3::Zero()}}, .points = points, .groups = groups});
    ADD_FAILURE() << part;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(RodIdentification, RefusesWhatIsNoCentreline) {
  std::vector<Vector3> points;
  for (int i = 0; i <= 10; ++i) points.emplace_back(0, 0, -0.02 * i);
  expectRefused({points.begin(), points.begin() + 3}, "3 points");
  expectRefused(points, "groups", 9);
  std::vector<Vector3> bad = points;
  for (Vector3& p : bad) p *= 1000;
  expectRefused(bad, "millimetres");
  bad = points;
  bad[4] = bad[3];
  expectRefused(bad, "points 4 and 5 are the same");
  expectRefused({points.begin(), points.begin() + 6}, "0.1 m long");
  bad = points;
  for (Vector3& p : bad) p.x() += 0.1;
  expectRefused(bad, "the first point");
  bad = points;
  bad[2].y() = std::nan("");
  expectRefused(bad, "point 3");
}

}
}
