#include "support/dense.h"
#include "tendril/rods/elastica.h"
#include "tendril/rods/rod_equilibrium.h"

#include "elastica.h"
#include "jacobi.h"
#include "rods/rod_program.h"
#include "tendril/model/error.h"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <tuple>

namespace tendril {
namespace {

using se3::StepMap;
constexpr double pi = M_PI;

/// d3 along x, d2 along y: kappa_1 bends about -z, in the plane of x and y.
const Matrix3 alongX = (Matrix3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished();

VectorX randomVector(Eigen::Index size, unsigned seed, double scale) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorX::NullaryExpr(size, [&](Eigen::Index) { return uniform(random); });
}

/// Names as in Blumentals (2017): single or multiple shooting, map, order of the strains.
struct Method {
  const char* name;
  RodForm form;
  StepMap map;
  RodStrains strains;
  StrainRod rod(RodProperties properties, int n) const { return {std::move(properties), n, map, RodWeight::Trapezoid, strains}; }
};
constexpr std::array methods{Method{"ss-exp1", RodForm::Strains, StepMap::Exponential, RodStrains::Constant},
                             Method{"ss-cay1", RodForm::Strains, StepMap::Cayley, RodStrains::Constant},
                             Method{"ss-cay2", RodForm::Strains, StepMap::Cayley, RodStrains::Linear},
                             Method{"ms-exp1", RodForm::Mixed, StepMap::Exponential, RodStrains::Constant},
                             Method{"ms-cay1", RodForm::Mixed, StepMap::Cayley, RodStrains::Constant},
                             Method{"ms-cay2", RodForm::Mixed, StepMap::Cayley, RodStrains::Linear}};

template <class Program> void checkProgram(const StrainRod& rod, const RodEnds& ends) {
  Program program(rod, ends);
  requireConsistent(program);
  program.retract(randomVector(program.structure().variables(), 3, 0.3));
  EXPECT_LT(checkDerivatives(program).worst(), 1e-7) << checkDerivatives(program).describe();
}

/// Where elements do not yet meet, too.
TEST(RodProgram, DerivativesAreExact) {
  const RodEnds held{.begin = {alongX, {0.1, 0.2, 0.3}}, .position = Vector3(1, 0.4, 0.2), .orientation = so3::exp(Vector3(1, 0.3, 0.2))};
  const RodProperties properties{.length = 2, .stiffness = {1.2, 0.7, 0.9}, .weight = {1, -3, 2}};
  RodProperties stretching = properties;
  stretching.stretchStiffness = Vector3(30, 40, 50);
  for (const Method& method : methods) {
    SCOPED_TRACE(method.name);
    const auto check = method.form == RodForm::Mixed ? checkProgram<MixedProgram> : checkProgram<StrainProgram>;
    for (const RodEnds& ends : {held, RodEnds{.begin = held.begin}, RodEnds{.begin = held.begin, .orientation = held.orientation}})
      check(method.rod(properties, 5), ends);
    if (method.strains == RodStrains::Constant) check(method.rod(stretching, 5), held);
  }
}

/// The heavy elastica, clamped horizontally: tip and root curvature from an independent solution; second order in the element size.
TEST(RodEquilibrium, HeavyElasticaConvergesWithOrderTwo) {
  for (const Method& method : methods)
    for (const double beta : {1.0, 10.0, 150.0}) {
      SCOPED_TRACE(method.name);
      const Eigen::Vector2d exact = oracles::heavyElasticaTip(beta);
      std::vector<double> errors;
      for (const int n : {20, 40, 80}) {
        StrainRod rod = method.rod({.length = 1, .stiffness = {1, 1, 0.7}, .weight = {0, -beta, 0}}, n);
        const RodEquilibrium found = solveEquilibrium(rod, {.begin = {alongX, Vector3::Zero()}}, {.form = method.form});
        ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
        errors.push_back((rod.frame(n).x.head<2>() - exact).norm());
        EXPECT_LT(std::abs(rod.frame(n).x.z()), 1e-9);
      }
      EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.15) << beta;
      EXPECT_LT(errors[2], 1e-3);
    }
}

/// Clamped at both ends and pressed together by a share eps^2 of its length: E(k)/K(k) = 1 - eps^2/2, energy by integration of kappa^2 of
/// the elliptic solution; its minimum in the plane is a saddle in space for large compression only.
TEST(RodEquilibrium, PressedElasticaIsTheClosedForm) {
  const auto energyOf = [](double eps2) {
    double low = 1e-6, high = 0.99;
    for (int i = 0; i < 200; ++i) {
      const double k = 0.5 * (low + high);
      (std::comp_ellint_2(k) / std::comp_ellint_1(k) > 1 - eps2 / 2 ? low : high) = k;
    }
    const double k = low, K = std::comp_ellint_1(k), root = 2 * K; // sqrt(F) on s in [-1, 1]
    // (1/2) int kappa^2 ds, kappa = -2 k root cn(root s), int cn^2 over two periods = 4 (E - (1 - k^2) K) / (k^2 root) ... by E and K.
    const double integral = (std::comp_ellint_2(k) - (1 - k * k) * K) / (k * k) * 4 / root;
    return 2 * 0.5 * 4 * k * k * root * root * integral;
  };
  EXPECT_NEAR(energyOf(0.1), 4.050409, 1e-6); // the table of the source's digest
  EXPECT_NEAR(energyOf(0.5), 22.802367, 1e-6);
  std::vector<double> errors;
  for (const int n : {20, 40, 80}) {
    StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, n);
    VectorX start = VectorX::Zero(rod.size());
    for (int i = 0; i < n; ++i) start[3 * i] = 4 * std::cos(2 * pi * (i + 0.5) / n);
    rod.place({alongX, Vector3::Zero()}, start);
    const RodEquilibrium found =
        solveEquilibrium(rod, {.begin = {alongX, Vector3::Zero()}, .position = Vector3(0.9, 0, 0), .orientation = alongX});
    ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
    errors.push_back(std::abs(found.energy / energyOf(0.1) - 1));
  }
  EXPECT_NEAR(errors[0] / 8.3e-3, 1, 0.3); // as computed independently for 20 elements
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.1);
}

/// A ring that is closed with n turns of twist: circle, tau = 2 pi n / L, and the force along its axis is 4 pi^2 gamma n EI / L^2.
TEST(RodEquilibrium, TwistedRingCarriesAForceAlongItsAxis) {
  constexpr double gamma = 0.7;
  constexpr int n = 80;
  StrainRod rod({.length = 1, .stiffness = {1, 1, gamma}}, n);
  const double turns = 1;
  const VectorX start = Vector3(2 * pi, 0, 2 * pi * turns).replicate(n, 1);
  // Bent about d1 while it twists about d3, the natural start is bent about a fixed axis: kappa turns with -tau s.
  VectorX u = start;
  for (int i = 0; i < n; ++i) {
    const double angle = -2 * pi * turns * (i + 0.5) / n;
    u.segment<2>(3 * i) = 2 * pi * Eigen::Vector2d(std::cos(angle), std::sin(angle));
  }
  rod.place({}, u);
  const RodEquilibrium found = solveEquilibrium(rod, {.begin = {}, .position = Vector3::Zero(), .orientation = Matrix3::Identity()});
  ASSERT_TRUE(found.isSolved) << found.message;
  EXPECT_TRUE(found.isMinimum) << found.stability; // n below sqrt(3) / gamma
  EXPECT_NEAR(found.energy, 2 * pi * pi * (1 + gamma), 0.01 * found.energy);
  // F = gamma tau kappa b on what lies before the end: along the binormal of the circle, by the angular velocity of its tangent.
  const Vector3 axis = rod.frame(0).R.col(2).cross(rod.frame(1).R.col(2)).normalized();
  EXPECT_NEAR(found.end.force.dot(axis), 4 * pi * pi * gamma * turns, 0.01 * found.end.force.norm());
  for (int i = 0; i < n; ++i) EXPECT_NEAR(rod.strains()[3 * i + 2], 2 * pi * turns, 0.01);
  EXPECT_NEAR(rod.turns(), turns, 1e-3);
}

double torsionSpread(const StrainRod& rod) {
  double least = rod.strains()[2], most = least;
  for (int i = 1; i < rod.elements(); ++i)
    least = std::min(least, rod.strains()[3 * i + 2]), most = std::max(most, rod.strains()[3 * i + 2]);
  return most - least;
}

/// Ends at a distance of 0.2 L, from a hundred random starts: certified minima, none above the buckled elastica in the plane, 40.88 EI/L.
TEST(RodEquilibrium, FixedEndsHaveCertifiedMinima) {
  constexpr int n = 20, starts = 100;
  int minima = 0;
  for (unsigned seed = 1; seed <= starts; ++seed) {
    StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, n);
    rod.place({}, randomVector(rod.size(), seed, 3));
    const RodEquilibrium found = solveEquilibrium(rod, {.begin = {}, .position = Vector3(0, 0, 0.2), .orientation = Matrix3::Identity()});
    if (!found.isSolved || !found.isMinimum) continue;
    ++minima;
    EXPECT_LT(found.energy, 40.88) << seed;
    EXPECT_GT(found.energy, 15) << seed;
  }
  EXPECT_GE(minima, int(0.95 * starts));
}

/// Where both stiffnesses in bending are the same the torsion of the rod is the same all along; that of elements to second order.
TEST(RodEquilibrium, TorsionIsConstantToSecondOrder) {
  std::vector<double> spreads;
  for (const int n : {20, 40, 80}) {
    StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, n);
    rod.place({}, VectorX::Ones(rod.size()));
    const RodEquilibrium found = solveEquilibrium(rod, {.begin = {}, .position = Vector3(0, 0, 0.2), .orientation = Matrix3::Identity()});
    ASSERT_TRUE(found.isMinimum) << found.message;
    EXPECT_GT(std::abs(rod.strains()[2]), 5); // a spatial one
    spreads.push_back(torsionSpread(rod));
  }
  for (int i = 0; i < 2; ++i) EXPECT_NEAR(std::log2(spreads[std::size_t(i)] / spreads[std::size_t(i) + 1]), 2, 0.2);
}

/// A rod clamped horizontally whose natural curvature, in the plane of the weight, grows: the equilibrium in the plane loses its stability
/// at about 40.7 /m and the rod leaves the plane, continuously. Energies and the critical curvature are those of the second variation,
/// computed independently (data of Blumentals 2017, 6.4.6).
TEST(RodEquilibrium, NaturalCurvatureThrowsARodOutOfItsPlane) {
  constexpr double L = 0.3, EI = 5.16890e-6, beta = 434.658;
  constexpr int n = 100;
  VectorX strains;
  const auto solveAt = [&](double k) {
    StrainRod rod({.length = L,
                   .stiffness = EI * Vector3(1, 1, 2.0 / 3),
                   .weight = {0, -beta * EI / (L * L * L), 0},
                   .natural = [k](double) { return Vector3(k, 0, 0); }},
                  n);
    const RodEnds ends{.begin = {alongX, Vector3::Zero()}};
    rod.place(ends.begin, strains.size() > 0 ? strains : rod.strains());
    const RodEquilibrium found = solveEquilibrium(rod, ends, {.measuresStability = true});
    EXPECT_TRUE(found.isSolved && found.isMinimum) << k << ": " << found.message;
    strains = rod.strains();
    return std::tuple(found.energy * L / EI, found.stability, rod.turns());
  };
  EXPECT_NEAR(std::get<0>(solveAt(0)), -193.203, 2e-3);
  for (const double k : {10.0, 20.0, 30.0, 36.0}) EXPECT_NEAR(std::get<2>(solveAt(k)), 0, 1e-6);
  const double before = std::get<1>(solveAt(38)), after = std::get<1>(solveAt(40));
  EXPECT_NEAR(40 + 2 * after / (before - after), 40.7, 0.2);
  for (const double k : {44.0, 50.0, 60.0, 75.0}) EXPECT_GT(std::abs(std::get<2>(solveAt(k))), 0.3);
  EXPECT_NEAR(std::get<0>(solveAt(90)), -63.764, 2e-3);
}

/// Pressed to 0.9 of its length in the plane, with all methods, against the closed form: errors of positions at the nodes and of the energy
/// as computed independently (digest of the source), of second order, none stagnating.
TEST(RodEquilibrium, AllMethodsConvergeToThePressedElastica) {
  struct Expected {
    std::array<double, 4> position, energy; // N = 10, 20, 40, 80
  };
  const std::map<std::string, Expected> expected{{"exp1", {{2.1e-4, 2.1e-5, 3.4e-6, 7e-7}, {3.3e-2, 8.3e-3, 2.1e-3, 5.1e-4}}},
                                                 {"cay1", {{7.1e-3, 1.8e-3, 4.4e-4, 1.1e-4}, {1.3e-2, 3.2e-3, 7.8e-4, 2.0e-4}}},
                                                 {"cay2", {{3.3e-3, 8.8e-4, 2.2e-4, 0}, {4.0e-2, 1.1e-2, 2.7e-3, 0}}}};
  const std::vector<Eigen::Vector3d> exact = shapeOf(elasticaWaves(0.1, 1), 80); // of a rod of length 2
  for (const Method& method : methods) {
    SCOPED_TRACE(method.name);
    const Expected& known = expected.at(method.name + 3);
    for (int level = 0; level < 4; ++level) {
      const int n = 10 << level;
      StrainRod rod = method.rod({.length = 1, .stiffness = {1, 1, 0.7}}, n);
      VectorX start = VectorX::Zero(rod.size());
      for (int i = 0; 3 * i < rod.size(); ++i) start[3 * i] = 4 * std::cos(2 * pi * (i + 0.5) / n);
      rod.place({alongX, Vector3::Zero()}, start);
      const RodEquilibrium found = solveEquilibrium(
          rod, {.begin = {alongX, Vector3::Zero()}, .position = Vector3(0.9, 0, 0), .orientation = alongX}, {.form = method.form});
      ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
      double error = 0;
      for (int i = 0; i <= n; ++i) {
        const Eigen::Vector2d at = rod.frame(i).x.head<2>(), p = exact[std::size_t(i) * (80 / std::size_t(n))].head<2>() / 2;
        error = std::max(error, std::hypot(at.x() - p.x(), std::abs(at.y()) - p.y()));
      }
      const double energy = std::abs(found.energy / 4.050409 - 1);
      const double position = known.position[std::size_t(level)], ofEnergy = known.energy[std::size_t(level)];
      EXPECT_NEAR(position > 0 ? std::log(error / position) : 0, 0, std::log(1.5)) << n;
      EXPECT_NEAR(ofEnergy > 0 ? std::log(energy / ofEnergy) : 0, 0, std::log(1.5)) << n;
    }
  }
}

/// Single and multiple shooting: the same strains and energies.
TEST(RodEquilibrium, BothFormsAreTheSame) {
  const RodEnds ends{.position = Vector3(0, 0.1, 0.4), .orientation = so3::exp(Vector3(0.3, 0, 1))};
  for (std::size_t k = 0; k < 3; ++k) {
    SCOPED_TRACE(methods[k].name);
    StrainRod one = methods[k].rod({.length = 1, .stiffness = {1, 1.4, 0.7}, .weight = {0, 10, 0}}, 30), other = one;
    one.place({}, VectorX::Ones(one.size()));
    const RodEquilibrium strains = solveEquilibrium(one, ends, {.form = RodForm::Strains});
    ASSERT_TRUE(strains.isMinimum) << strains.message;
    other.place({}, one.strains() + randomVector(one.size(), 1, 0.3));
    const RodEquilibrium mixed = solveEquilibrium(other, ends, {.form = RodForm::Mixed, .measuresStability = true});
    ASSERT_TRUE(mixed.isMinimum) << mixed.message;
    EXPECT_LT((one.strains() - other.strains()).cwiseAbs().maxCoeff(), 1e-6);
    EXPECT_NEAR(strains.energy / mixed.energy, 1, 1e-9);
    EXPECT_LT((strains.end.force - mixed.end.force).norm() + (strains.end.moment - mixed.end.moment).norm(), 1e-6);
    EXPECT_GT(mixed.stability, 0);
    EXPECT_LT(mixed.stability, 1);
  }
}

/// The measure of stability against all eigenvalues of the dense matrices.
TEST(RodEquilibrium, StabilityIsTheLeastOfTheSecondVariation) {
  const RodEnds ends{.position = Vector3(0, 0.1, 0.6)};
  StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, 12);
  rod.place({}, VectorX::Ones(rod.size()));
  const RodEquilibrium found = solveEquilibrium(rod, ends, {.measuresStability = true});
  ASSERT_TRUE(found.isMinimum) << found.message;
  MatrixX H, J(3, rod.size());
  rod.hessian(1, {.y = -found.end.force}, H);
  VectorX g;
  for (int k = 0; k < 3; ++k) {
    g.setZero(rod.size());
    rod.addEndGradient({.y = Vector3::Unit(k)}, 1, g);
    J.row(k) = g;
  }
  const MatrixX kernel = J.fullPivLu().kernel();
  const MatrixX elastic = kernel.transpose() * rod.elasticity().asDiagonal() * kernel;
  EXPECT_NEAR(found.stability, test::eigenvalues(kernel.transpose() * H * kernel, elastic)[0], 1e-8);
}

/// Ring clamped at one place, heavy: internal forces are F = a + b s, node by node, b the weight per length (Blumentals 2017, 6.4.3).
TEST(RodEquilibrium, ForcesOfAHeavyRingGrowWithItsWeight) {
  constexpr int n = 50;
  constexpr double beta = 150;
  StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}, .weight = {0, 0, -beta}}, n);
  VectorX start = Vector3(2 * pi, 0, 0).replicate(n, 1);
  rod.place({}, start);
  const RodEquilibrium found = solveEquilibrium(rod, {.position = Vector3::Zero(), .orientation = Matrix3::Identity()});
  ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
  ASSERT_EQ(found.internalForces.size(), std::size_t(n));
  for (int i = 1; i < n; ++i) {
    const Vector3 change = found.internalForces[std::size_t(i)] - found.internalForces[std::size_t(i) - 1];
    EXPECT_LT((change - Vector3(0, 0, beta / n)).norm(), 1e-6 * beta) << i;
  }
}

/// Without weight forces are constant to the solver's tolerance; m . f and the Hamiltonian m . kappa / 2 + f . d3 of the elements wander
/// about a constant, less with N.
TEST(RodEquilibrium, InvariantsAreKeptToSecondOrder) {
  for (const Method& method : methods) {
    if (method.form != RodForm::Mixed) continue;
    SCOPED_TRACE(method.name);
    std::vector<double> hamiltonian, product;
    for (const int n : {40, 80, 160}) {
      StrainRod rod = method.rod({.length = 1, .stiffness = {1, 1, 0.7}}, n);
      rod.place({}, VectorX::Ones(rod.size()));
      const RodEquilibrium found =
          solveEquilibrium(rod, {.position = Vector3(0, 0, 0.8), .orientation = so3::exp(Vector3(0, 0, pi / 2))}, {.form = RodForm::Mixed});
      ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
      std::vector<double> H, mf;
      for (int i = 0; i < n; ++i) {
        const Vector3 kappa = rod.curvature(i), m = rod.stress(i).head<3>();
        const Vector3 f = (rod.frame(i).R * so3::exp(rod.step() / 2 * kappa)).transpose() * found.internalForces[std::size_t(i)];
        H.push_back(0.5 * m.dot(kappa) + f.z()), mf.push_back(m.dot(f));
        EXPECT_LT((found.internalForces[std::size_t(i)] - found.internalForces[0]).norm(), 1e-6);
      }
      const auto spread = [](const std::vector<double>& v) { return *std::ranges::max_element(v) - *std::ranges::min_element(v); };
      hamiltonian.push_back(spread(H)), product.push_back(spread(mf));
    }
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(std::log2(hamiltonian[k] / hamiltonian[k + 1]), 2, 0.3);
      EXPECT_NEAR(std::log2(product[k] / product[k + 1]), 2, 0.3);
    }
  }
}

/// Ends at half the length, linear strains: torsion constant, no more energy than the buckle in the plane, 22.802, and the same solution
/// with 20 elements as with 100.
TEST(RodEquilibrium, LinearStrainsBetweenFixedEnds) {
  std::vector<double> energies;
  for (const int n : {20, 100}) {
    StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, n, StepMap::Cayley, RodWeight::Trapezoid, RodStrains::Linear);
    rod.place({}, VectorX::Ones(rod.size()));
    const RodEquilibrium found = solveEquilibrium(rod, {.position = Vector3(0, 0, 0.5), .orientation = Matrix3::Identity()});
    ASSERT_TRUE(found.isMinimum) << found.message;
    EXPECT_LT(found.energy, 22.802 * 1.02);
    energies.push_back(found.energy);
  }
  EXPECT_NEAR(energies[0], energies[1], 0.03 * energies[1]);
}

/// As stiffnesses against shear and tension grow, the rod that stretches becomes the one that does not, as their inverse; at the same
/// accuracy for any of them.
TEST(RodEquilibrium, StiffAgainstStretchIsInextensible) {
  const RodEnds ends{.position = Vector3(0, 0.1, 0.7), .orientation = Matrix3::Identity()};
  const auto solve = [&](std::optional<Vector3> stretch, int n, const StrainRod* near) {
    StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}, .stretchStiffness = stretch}, n);
    VectorX start = rod.natural();
    const int stride = rod.size() / n;
    for (int i = 0; i < n; ++i)
      start.segment<3>(stride * i) = near ? near->curvature(i * near->elements() / n) : Vector3(3 * std::cos(2 * pi * (i + 0.5) / n), 0, 0);
    rod.place({}, start);
    const RodEquilibrium found = solveEquilibrium(rod, ends);
    EXPECT_TRUE(found.isSolved && found.isMinimum) << found.message;
    return rod;
  };
  const StrainRod rigid = solve({}, 40, nullptr), fine = solve({}, 160, &rigid);
  std::vector<double> away;
  for (const double stiffness : {1e4, 1e6, 1e8}) {
    const StrainRod soft = solve(Vector3::Constant(stiffness), 40, &rigid);
    away.push_back((soft.frame(20).x - rigid.frame(20).x).norm());
    const StrainRod finer = solve(Vector3::Constant(stiffness), 160, &fine);
    EXPECT_NEAR((soft.frame(20).x - finer.frame(80).x).norm() / (rigid.frame(20).x - fine.frame(80).x).norm(), 1, 0.1) << stiffness;
  }
  EXPECT_NEAR(std::log10(away[0] / away[1]), 2, 0.1);
  EXPECT_NEAR(std::log10(away[1] / away[2]), 2, 0.1);
}

/// Multiple shooting: the numbers of its matrices grow with N, not with its square.
TEST(RodEquilibrium, MixedFormIsSparse) {
  const auto entries = [](int n) {
    const MixedProgram program(StrainRod({.length = 1}, n), {.position = Vector3(0, 0, 0.5), .orientation = Matrix3::Identity()});
    return double(program.structure().hessian.size() + program.structure().equalityJacobian.size());
  };
  EXPECT_NEAR(entries(800) / entries(100), 8, 0.1);
  StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}, .weight = {0, -30, 0}}, 20000);
  const RodEquilibrium found = solveEquilibrium(rod, {});
  ASSERT_TRUE(found.isSolved && found.isMinimum) << found.message;
  const Eigen::Vector2d tip = oracles::heavyElasticaTip(30); // horizontally, down
  EXPECT_LT(std::hypot(rod.frame(20000).x.z() - tip.x(), rod.frame(20000).x.y() - tip.y()), 1e-7);
}

/// The silicone helix that hangs from a clamp, N = 50: order two, and its natural shape without weight.
TEST(RodEquilibrium, HangingHelixConvergesWithOrderTwo) {
  constexpr double EI = 1.94227e-5, GJ = 1.29485e-5, L = 0.2, beta = 75.751;
  const auto tip = [&](int n, double share) {
    StrainRod rod({.length = L,
                   .stiffness = {EI, EI, GJ},
                   .weight = {0, 0, -share * beta * EI / (L * L * L)},
                   .natural = [](double) { return Vector3(66.67, 0, -24.79); }},
                  n);
    const RodEquilibrium found = solveEquilibrium(rod, {});
    EXPECT_TRUE(found.isSolved && found.isMinimum) << found.message;
    EXPECT_TRUE(share > 0 || found.energy < 1e-20);
    return rod.frame(n).x;
  };
  const Vector3 coarse = tip(25, 1), middle = tip(50, 1), fine = tip(100, 1);
  EXPECT_NEAR(std::log2((coarse - middle).norm() / (middle - fine).norm()), 2, 0.2);
  EXPECT_LT((middle - fine).norm(), 0.01 * L);
  EXPECT_LT((tip(50, 0) - tip(7, 0)).norm(), 1e-12); // helices are exact
}

TEST(RodEquilibrium, RefusesEndsThatCannotBe) {
  StrainRod rod({.length = 1}, 10);
  EXPECT_THROW(solveEquilibrium(rod, {.position = Vector3(0, 0, 1.1)}), InputError);
  EXPECT_THROW(solveEquilibrium(rod, {.orientation = 2 * Matrix3::Identity()}), InputError);
  StrainRod fine({.length = 1}, 2001);
  EXPECT_THROW(solveEquilibrium(fine, {}, {.form = RodForm::Strains}), InputError);
}

}
}
