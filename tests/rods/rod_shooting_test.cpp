#include "tendril/rods/rod_shooting.h"

#include "elastica.h"
#include "rods/negative_directions.h"
#include "tendril/model/error.h"
#include "tendril/rods/elastica.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace tendril {
namespace {

constexpr double pi = M_PI;
/// d3 along x, d2 along y: kappa_1 bends about -z, in the plane of x and y.
const Matrix3 alongX = (Matrix3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished();
const RodProperties isotropic{.length = 1, .stiffness = {1, 1, 0.7}};

const RodProperties& wild() {
  static const RodProperties rod{.length = 1.3, .stiffness = {1.2, 0.7, 0.9}, .weight = {1, -3, 2}, .natural = [](double s) {
                                   return Vector3(2 + std::sin(3 * s), s, -1);
                                 }};
  return rod;
}

RodPoint endOf(const RodProperties& rod, const RodPoint& begin) {
  ShotRod shot;
  shot.nodes = {begin, begin};
  return shapeOf(rod, shot, 2).back();
}

TEST(RodShooting, VariationsAreThoseOfDifferences) {
  const RodPoint begin{0, {so3::exp(Vector3(0.3, 1, -0.4)), {0.1, 0.2, 0.3}}, {2, -1, 3}, {1, 2, -0.5}};
  const Matrix6 V = endVariations(wild(), begin, {wild().length}).back();
  const double L = wild().length, unit = 1.2, h = 1e-4;
  for (int c = 0; c < 6; ++c) {
    const auto moved = [&](double by) {
      RodPoint at = begin;
      if (c < 3)
        at.moment[c] += by * unit / L;
      else
        at.force[c - 3] += by * unit / (L * L);
      return endOf(wild(), at);
    };
    const RodPoint more = moved(h), less = moved(-h), here = moved(0);
    Vector6 difference;
    difference << (more.frame.x - less.frame.x) / L,
        here.frame.R * so3::log(here.frame.R.transpose() * more.frame.R) - here.frame.R * so3::log(here.frame.R.transpose() * less.frame.R);
    EXPECT_LT((V.col(c) - difference / (2 * h)).norm(), 1e-7 * (1 + V.col(c).norm())) << c;
  }
}

TEST(RodShooting, WithoutLoadARodIsItsNaturalHelix) {
  const Vector3 u(3, -1, 4);
  const RodProperties rod{.length = 2, .stiffness = {1, 2, 3}, .natural = [u](double) { return u; }};
  const ShotRod shot = shootRod(rod, {}, Vector3(0.1, 0.2, 0), Vector3(0.1, 0, 0.2));
  ASSERT_TRUE(shot.isSolved) << shot.message;
  Vector6 twist;
  twist << 0, 0, 2, 2 * u;
  EXPECT_LT((shot.nodes.back().frame.x - se3::exp(twist).x).norm(), 1e-11);
  EXPECT_LT(shot.nodes[0].moment.norm() + shot.nodes[0].force.norm(), 1e-9);
}

/// Clamped at both ends and pressed together: the closed form by elliptic functions, in scales of half of the length.
TEST(RodShooting, PressedRodIsTheElastica) {
  for (const int segments : {1, 5})
    for (const double eps2 : {0.05, 0.3, 0.6}) {
      const Elastica exact = elasticaWaves(eps2, 1);
      const RodEnds ends{.begin = {alongX, Vector3::Zero()}, .position = Vector3(2 - 2 * eps2, 0, 0), .orientation = alongX};
      const double a = 2 * std::sqrt(eps2) * pi;
      const ShotRod shot = shootRod({.length = 2, .stiffness = {1, 1, 0.7}}, ends, Vector3(-pi * pi * (1 + eps2 / 2), 0, 0),
                                    Vector3(0, 0, a), {.segments = segments});
      ASSERT_TRUE(shot.isSolved) << eps2 << ", " << segments << ": " << shot.message;
      EXPECT_NEAR(shot.nodes[0].moment.z(), exact.curvature, 1e-8);
      EXPECT_NEAR(shot.nodes[0].force.x(), -exact.forceX, 1e-8);
      EXPECT_NEAR(2 * energyOf({.length = 2, .stiffness = {1, 1, 0.7}}, shapeOf({.length = 2}, shot, 400)), exact.energy, 1e-6);
    }
}

/// M . F, the Hamiltonian and the torsion are constant along the rod, and frames are rotations.
void expectInvariants(const RodProperties& rod, const ShotRod& shot) {
  const std::vector<RodPoint> shape = shapeOf(rod, shot, 20);
  const RodPoint& first = shape.front();
  const double product = first.moment.dot(first.force), H = hamiltonian(rod, first), twist = first.moment.dot(first.frame.R.col(2));
  for (const RodPoint& p : shape) {
    EXPECT_NEAR(p.moment.dot(p.force), product, 1e-8 * (1 + std::abs(product)));
    EXPECT_NEAR(hamiltonian(rod, p), H, 1e-8 * (1 + std::abs(H)));
    EXPECT_NEAR(p.moment.dot(p.frame.R.col(2)), twist, 1e-8 * (1 + std::abs(twist)));
    EXPECT_LT((p.frame.R.transpose() * p.frame.R - Matrix3::Identity()).norm(), 1e-10);
  }
}

/// Ends at a distance of 0.8 L, parallel, from random forces and curvatures at the begin, in a plane (Blumentals 2017, 6.2.2): most starts
/// converge and stay in it; all that converge are equilibria to 1e-8.
TEST(RodShooting, RandomStartsLeadToEquilibria) {
  constexpr int starts = 25;
  const RodEnds ends{.begin = {}, .position = Vector3(0, 0, 0.8), .orientation = Matrix3::Identity()};
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(-2, 2);
  int solved = 0;
  for (int start = 0; start < starts; ++start) {
    const double curvature = uniform(random), across = uniform(random), along = uniform(random);
    const ShotRod shot = shootRod(isotropic, ends, Vector3(across, 0, along), isotropic.stiffness.cwiseProduct(Vector3(0, curvature, 0)));
    if (!shot.isSolved) continue;
    ++solved;
    EXPECT_LT((shot.nodes.back().frame.x - *ends.position).norm(), 1e-8);
    EXPECT_LT(so3::log(shot.nodes.back().frame.R).norm(), 1e-8);
    expectInvariants(isotropic, shot);
    for (const RodPoint& p : shapeOf(isotropic, shot, 20)) EXPECT_LT(std::abs(p.frame.x.y()), 1e-8);
  }
  EXPECT_GE(solved, 0.47 * starts);
}

/// The heavy elastica by single shooting where that is possible and by multiple shooting where it is not; tips from an independent
/// solution, curvatures at the clamp from the source's digest.
TEST(RodShooting, HeavyElastica) {
  struct Row {
    double beta, root;
  };
  for (const auto [beta, root] : {Row{1, -0.496933}, Row{5, -2.226893}, Row{10, -3.742191}, Row{150, -16.879244}}) {
    const RodProperties rod{.length = 1, .stiffness = {1, 1, 0.7}, .weight = {0, -beta, 0}};
    const RodEnds ends{.begin = {alongX, Vector3::Zero()}};
    StrainRod guess(rod, 30);
    ASSERT_TRUE(solveEquilibrium(guess, ends).isMinimum);
    const ShotRod shot = shootRod(guess, ends, rod.weight, {.segments = beta > 50 ? 8 : 1});
    ASSERT_TRUE(shot.isSolved) << beta << ": " << shot.message;
    EXPECT_LT((shot.nodes.back().frame.x.head<2>() - oracles::heavyElasticaTip(beta)).norm(), 1e-7) << beta;
    EXPECT_NEAR(shot.nodes[0].moment.z(), root, 2e-6 * std::abs(root)) << beta;
  }
}

/// Nodes of the strain rod approach a solution by shooting with the square of the size of the elements, and so does the support's force.
/// The first guess of the finest is the same strain all along, that of the others the finest.
void expectSecondOrder(const RodProperties& rod, const RodEnds& ends, const Vector3& start, double accuracy, int segments) {
  constexpr int fine = 200;
  StrainRod finest(rod, fine);
  finest.place(ends.begin, start.replicate(fine, 1));
  const RodEquilibrium guess = solveEquilibrium(finest, ends);
  ASSERT_TRUE(guess.isSolved && guess.isMinimum) << guess.message;
  const ShotRod shot = shootRod(finest, ends, guess.end.force + rod.weight * rod.length, {.segments = segments});
  ASSERT_TRUE(shot.isSolved) << shot.message;
  const Vector3 force = shot.nodes.back().force;
  std::vector<double> errors;
  for (const int n : {25, 50, 100}) {
    StrainRod discrete(rod, n);
    VectorX strains(3 * n);
    for (int i = 0; i < n; ++i) strains.segment<3>(3 * i) = finest.strains().segment<3>(3 * (i * fine / n));
    discrete.place(ends.begin, strains);
    const RodEquilibrium found = solveEquilibrium(discrete, ends);
    ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
    const std::vector<RodPoint> exact = shapeOf(rod, shot, n);
    double worst = 0;
    for (int i = 0; i <= n; ++i) worst = std::max(worst, (exact[std::size_t(i)].frame.x - discrete.frame(i).x).norm());
    errors.push_back(worst / rod.length);
    EXPECT_LT((found.end.force - force).norm(), 1e-9 + 0.1 * force.norm() * 2500 / (n * n)) << n;
  }
  EXPECT_LT(errors[1], accuracy);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.2) << errors[0] << " " << errors[1] << " " << errors[2];
}

/// A naturally helical rod of silicone that hangs from a clamp (Blumentals 2017, 6.4.2).
TEST(RodShooting, SiliconeHelix) {
  constexpr double EI = 1.94227e-5, L = 0.2, beta = 75.751;
  const RodProperties rod{.length = L,
                          .stiffness = EI * Vector3(1, 1, 2.0 / 3),
                          .weight = {0, 0, -beta * EI / (L * L * L)},
                          .natural = [](double) { return Vector3(66.67, 0, -24.79); }};
  const Matrix3 down = (Matrix3() << 1, 0, 0, 0, -1, 0, 0, 0, -1).finished();
  for (const Matrix3& clamp : {down, Matrix3(Matrix3::Identity()), alongX})
    expectSecondOrder(rod, {.begin = {clamp, Vector3::Zero()}}, Vector3(66.67, 0, -24.79), 0.01, 8);
}

/// Clamped at both ends at a distance of 0.8 L, the end turned by a quarter about its axis.
TEST(RodShooting, TwistedRodBetweenClamps) {
  const RodEnds ends{.begin = {}, .position = Vector3(0, 0, 0.8), .orientation = so3::exp(Vector3(0, 0, pi / 2))};
  expectSecondOrder({.length = 1, .stiffness = {1, 1.3, 0.7}}, ends, Vector3(1, 1, 1), 1e-2, 1);
}

TEST(RodShooting, WhatCannotBeIntegratedIsTold) {
  const RodEnds ends{.begin = {}, .position = Vector3(0, 0, 0.8), .orientation = Matrix3::Identity()};
  for (const double huge : {1e150, 1e300}) {
    for (const int segments : {1, 4}) {
      const ShotRod shot = shootRod(isotropic, ends, Vector3(0, 0, 1), Vector3(huge, 0, 0), {.segments = segments});
      EXPECT_FALSE(shot.isSolved);
      EXPECT_NE(shot.message.find("than can be integrated"), std::string::npos);
      EXPECT_NE(shot.message.find("residual"), std::string::npos);
    }
  }
  EXPECT_THROW(shootRod(isotropic, {.begin = {}, .position = Vector3(0, 0, 1.1)}, Vector3::Zero(), Vector3::Zero()), InputError);
  EXPECT_THROW(shootRod(isotropic, {.begin = {}, .orientation = 2 * Matrix3::Identity()}, Vector3::Zero(), Vector3::Zero()), InputError);
  EXPECT_THROW(shootRod(isotropic, {}, Vector3::Zero(), Vector3::Zero(), {.segments = 0}), InputError);
  EXPECT_THROW(shootRod({.length = -1}, {}, Vector3::Zero(), Vector3::Zero()), InputError);
}

}
}
