#include "tendril/shells/uniform_patch.h"

#include "cylinder_patch.h"
#include "shells/gauss_rule.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <numbers>
#include <random>

namespace tendril {
namespace {

using uniform_patch::position;

PatchProperties unit(double width = 1) { return {.domain = {0, 1, 0, width}}; }
Vector3 cone(double kappa, double phi) { return ConePoint::toCurvatures(kappa, phi); }

TEST(UniformPatch, IsTheCylinderOfTheTable) { // D-01, T-III.2
  const Vector3 q(1, 1, 1);
  EXPECT_LT((position(q, {1, 1}) - Vector3(0.1089198091, 0.1089198091, 0.9756815641)).norm(), 1e-10);
  EXPECT_LT((position(q, {1, 0}) - Vector3(0.8492279993, -0.1507720007, 0.4220281526)).norm(), 1e-10);
  EXPECT_LT((position(q, {0, 1}) - Vector3(-0.1507720007, 0.8492279993, 0.4220281526)).norm(), 1e-10);
  for (double s = 0; s <= 1; s += 0.25) {
    const Vector3 x = position(q, {s, 1 - s * s}), axis = Vector3(1, -1, 0).normalized(), off = x - Vector3(0, 0, 0.5);
    EXPECT_NEAR((off - off.dot(axis) * axis).norm(), 0.5, 1e-14);
  }
}

TEST(UniformPatch, IsAProductOfExponentialsOnTheConeAlone) { // T-III.2, D-03
  const auto products = [](const Vector3& q) {
    Vector6 x1, x2;
    x1 << 0.8, 0, 0, 0.8 * Vector3(q[2], -q[0], 0);
    x2 << 0, 0.6, 0, 0.6 * Vector3(q[1], -q[2], 0);
    return std::pair<Pose, Pose>(se3::exp(x1) * se3::exp(x2), se3::exp(x2) * se3::exp(x1));
  };
  const auto [on1, on2] = products({1, 1, 1});
  const Pose H = uniform_patch::frame({1, 1, 1}, {0.8, 0.6});
  EXPECT_LT((on1.x - H.x).norm() + (on2.x - H.x).norm() + (on1.R - H.R).norm() + (on2.R - H.R).norm(), 1e-13);
  const auto [off1, off2] = products({1, 1, 0});
  EXPECT_GT((off1.x - off2.x).norm(), 0.02);
  EXPECT_EQ(gaussianCurvature({1, 1, 0}), 1);
}

TEST(UniformPatch, KeepsLengthsAndIsWhatItsFramesSay) { // D-02, T-III.3
  std::mt19937 random(3);
  std::uniform_real_distribution<double> kappa(-6, 6), phi(0, std::numbers::pi), at(-1, 1);
  const double h = 1e-5;
  double first = 0, exact = 0, second = 0;
  for (int i = 0; i < 1000; ++i) {
    const Vector3 q = cone(kappa(random), phi(random));
    const Vector2 s(at(random), at(random));
    const Pose H = uniform_patch::frame(q, s);
    const Vector2 e1(h, 0), e2(0, h);
    const Vector3 r1 = (position(q, s + e1) - position(q, s - e1)) / (2 * h), r2 = (position(q, s + e2) - position(q, s - e2)) / (2 * h);
    first = std::max({first, (r1 - H.R.col(0)).norm(), (r2 - H.R.col(1)).norm()});
    const Vector3 n1 = (uniform_patch::frame(q, s + e1).R.col(2) - uniform_patch::frame(q, s - e1).R.col(2)) / (2 * h);
    second = std::max({second, std::abs(-n1.dot(H.R.col(0)) - q[0]), std::abs(-n1.dot(H.R.col(1)) - q[2])});
    // Along a ruling the frame is constant and the line straight, to round-off.
    const Vector2 ruling = Vector2(std::sin(ConePoint::of(q).phi), -std::cos(ConePoint::of(q).phi));
    const Pose beyond = uniform_patch::frame(q, s + 0.7 * ruling);
    exact = std::max({exact, (H.R.transpose() * H.R - Matrix3::Identity()).norm(), (beyond.R - H.R).norm(),
                      (beyond.x - H.x - 0.7 * H.R.leftCols<2>() * ruling).norm()});
  }
  EXPECT_LT(first, 1e-7);
  EXPECT_LT(second, 1e-7);
  EXPECT_LT(exact, 1e-12);
  // Off the cone lengths change.
  const Vector3 stretched = (position({1, 1, 0}, {1 + h, 1}) - position({1, 1, 0}, {1 - h, 1})) / (2 * h);
  EXPECT_GT((stretched - uniform_patch::frame({1, 1, 0}, {1, 1}).R.col(0)).norm(), 0.1);
}

TEST(UniformPatch, BendsInAPlane) { // D-04, T-III.1
  for (const double k : {0.3, 1.0, 4.0}) {
    const Vector3 r = position({k, 0, 0}, {0.9, 0.4});
    EXPECT_LT((r - Vector3(std::sin(0.9 * k) / k, 0.4, (1 - std::cos(0.9 * k)) / k)).norm(), 1e-14);
  }
  EXPECT_LT(position({2 * std::numbers::pi, 0, 0}, {1, 0}).norm(), 1e-14);
}

TEST(UniformPatch, LosesNoDigitNearTheFlatState) { // D-05, T-III.4
  const double phi = 0.4;
  const Vector3 q = cone(1e-6, phi);
  const Vector2 s(0.7, 0.5);
  const double bow = 0.5 * (q[0] * 0.49 + 2 * q[2] * 0.35 + q[1] * 0.25);
  const Vector3 r = position(q, s);
  EXPECT_NEAR(r[2] / bow, 1, 1e-11);
  EXPECT_NEAR(r[0], 0.7, 1e-12);
  Matrix3 flat = Matrix3::Zero();
  flat.row(2) << 0.245, 0.125, 0.35;
  EXPECT_LT((uniform_patch::jacobian(Vector3::Zero(), s) - flat).norm(), 1e-15);
  for (double e = 1e-1; e > 1e-13; e /= 10) EXPECT_LT((uniform_patch::jacobian(cone(e, phi), s) - flat).norm(), e);
  // Where the series of Stumpff functions ends.
  const Vector2 along(1, 0);
  const Vector3 before = position({2 - 1e-15, 0, 0}, along), after = position({2 + 1e-15, 0, 0}, along);
  EXPECT_LT((before - after).norm(), 1e-14);
}

TEST(UniformPatch, HasExactDerivatives) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(-2, 2);
  for (int i = 0; i < 20; ++i) {
    const Vector3 q(any(random), any(random), any(random)), v(any(random), any(random), any(random)); // off the cone, too
    const Vector2 s(any(random) / 2, any(random) / 2);
    const double h = 1e-3;
    const auto along = [&](double t) -> Vector3 { return position(q + t * v, s); };
    const Vector3 first = (8 * (along(h) - along(-h)) - along(2 * h) + along(-2 * h)) / (12 * h);
    const Vector3 second = (-along(2 * h) + 16 * along(h) - 30 * along(0) + 16 * along(-h) - along(-2 * h)) / (12 * h * h);
    EXPECT_LT((uniform_patch::jacobian(q, s) * v - first).norm(), 1e-9 * (1 + first.norm()));
    EXPECT_LT((uniform_patch::acceleration(q, v, s) - second).norm(), 1e-7 * (1 + second.norm()));
  }
}

TEST(UniformPatch, MatchesTheCylinderOfTheOracle) {
  for (const double kappa : {-5.0, -0.7, 1e-3, 0.4, 2.0}) {
    for (const double phi : {0.0, 0.3, 1.2, 2.5}) {
      const Vector2 s(0.8, 0.45);
      const double u = s[0] * std::cos(phi) + s[1] * std::sin(phi), w = s[0] * std::sin(phi) - s[1] * std::cos(phi);
      const auto d = oracles::CylinderPatch::derivatives(kappa, u, w);
      const Matrix3 B = oracles::CylinderPatch::basis(phi);
      EXPECT_LT((position(cone(kappa, phi), s) - B * d[0]).norm(), 1e-13);
      const Eigen::Matrix<double, 3, 2> J = uniform_patch::jacobian(cone(kappa, phi), s) * ConePoint{kappa, phi}.tangent();
      EXPECT_LT((J.col(0) - B * d[1]).norm() + (J.col(1) - B * d[2]).norm(), 1e-12);
    }
  }
}

TEST(UniformPatch, HasTheMassOfTheTables) { // D-06, D-07, T-III.5, T-III.6
  Matrix3 flat;
  flat << 1. / 20, 1. / 36, 1. / 16, 1. / 36, 1. / 20, 1. / 16, 1. / 16, 1. / 16, 1. / 9;
  EXPECT_LT((UniformPatch(unit()).mass(Vector3::Zero()) - flat).norm(), 1e-15);
  Matrix3 narrow;
  narrow << .025, 1. / 288, 1. / 64, 1. / 288, 1. / 640, 1. / 256, 1. / 64, 1. / 256, 1. / 72;
  EXPECT_LT((UniformPatch(unit(0.5)).mass(Vector3::Zero()) - narrow).norm(), 1e-15);
  Matrix3 bent;
  bent << .049487208828, .012430441170, .047599397830, .012430441170, .049487208828, .047599397830, .047599397830, .047599397830,
      .091046173254;
  const Matrix3 M = UniformPatch(unit()).mass({1, 1, 1});
  EXPECT_LT((M - bent).cwiseAbs().maxCoeff(), 1e-11);
  const Vector3 values = Eigen::SelfAdjointEigenSolver<Matrix3>(M).eigenvalues();
  EXPECT_LT((values - Vector3(.007608672525, .037056767658, .145355150728)).norm(), 1e-10);
  const Eigen::Matrix<double, 3, 2> T = ConePoint::of({1, 1, 1}).tangent();
  const Eigen::Matrix2d tangent = T.transpose() * M * T;
  EXPECT_NEAR(tangent(0, 0), .1013197661, 1e-10);
  EXPECT_NEAR(tangent(1, 1), .2964541413, 1e-10);
  EXPECT_NEAR(tangent(0, 1), 0, 1e-14);
}

TEST(UniformPatch, IntegratesToRoundOffWhateverItsSize) { // D-08, T-III.7
  for (const double kappa : {0.01, 0.15, 0.9, 1.3, 2.5, 6.0, 14.0, -4.0}) {
    for (const double phi : {0.0, 0.4, 1.3, 2.2}) {
      const oracles::CylinderPatch oracle{.length = 1, .width = 0.5};
      const UniformPatch patch(unit(0.5));
      const Eigen::Matrix<double, 3, 2> T = ConePoint{kappa, phi}.tangent();
      const Eigen::Matrix2d M = T.transpose() * patch.mass(cone(kappa, phi)) * T, expected = oracle.mass(kappa, phi);
      EXPECT_LT((M - expected).norm(), 1e-13 * expected.norm()) << kappa << " " << phi;
    }
  }
  EXPECT_NEAR(UniformPatch(unit()).moment({1, 1, 1})[2], .4341873706, 1e-10);
  EXPECT_NEAR(UniformPatch(unit()).moment({1, 0, 0})[2], 1 - std::sin(1.0), 1e-15);
  EXPECT_NEAR(UniformPatch(unit(0.5)).moment(cone(1.3, 0.4))[2], .1144059814, 1e-10);
  EXPECT_THROW(UniformPatch(unit()).mass({90, 0, 0}), NumericalFailure);
  // A planar patch in closed form.
  const double X = 1.7, planar = 0.5 * std::pow(X, -5) * (X * X * X / 3 + 2 * X + 2 * X * std::cos(X) - 4 * std::sin(X));
  EXPECT_NEAR(UniformPatch(unit(0.5)).mass({X, 0, 0})(0, 0), planar, 1e-15);
}

/// Relative error of the mass matrix by n x n points; sums are taken in numbers of more digits, so that what is left is that of the rule.
double quadratureError(const Vector3& q, int n) {
  using Long3 = Eigen::Matrix<long double, 3, 3>;
  const auto mass = [&q](int points) {
    const GaussRule rule(points);
    Long3 M = Long3::Zero();
    for (std::size_t i = 0; i < rule.x.size(); ++i)
      for (std::size_t j = 0; j < rule.x.size(); ++j) {
        const Long3 J = uniform_patch::jacobian(q, {(1 + rule.x[i]) / 2, (1 + rule.x[j]) / 2}).cast<long double>();
        M += (long double)(rule.w[i]) * rule.w[j] / 4 * J.transpose() * J;
      }
    return M;
  };
  const Long3 exact = mass(20);
  return double((mass(n) - exact).cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff());
}

TEST(UniformPatch, NeedsAsManyPointsAsItTurns) { // T-III.7
  const auto within = [](double value, double expected) { return value < 2 * expected && value > expected / 2; };
  EXPECT_TRUE(within(quadratureError({1, 1, 1}, 5), 4.8e-9)) << quadratureError({1, 1, 1}, 5);
  EXPECT_TRUE(within(quadratureError({3, 3, 3}, 5), 3.2e-6)) << quadratureError({3, 3, 3}, 5);
  EXPECT_TRUE(within(quadratureError({8, 2, 4}, 5), 5.4e-4)) << quadratureError({8, 2, 4}, 5);
  EXPECT_LT(quadratureError({1, 1, 1}, 10), 1e-15);
  EXPECT_LT(quadratureError({3, 3, 3}, 10), 2e-15);
  EXPECT_TRUE(within(quadratureError({8, 2, 4}, 10), 1.9e-9)) << quadratureError({8, 2, 4}, 10);
}

TEST(UniformPatch, IsARodWhereItIsNarrow) { // D-18
  const double X = 1.7, W = 1e-4;
  PatchProperties p{.domain = {0, 1, -W / 2, W / 2}, .areaDensity = 3, .rigidity = 2};
  const UniformPatch patch(p);
  const double planar = 3 * std::pow(X, -5) * (X * X * X / 3 + 2 * X + 2 * X * std::cos(X) - 4 * std::sin(X));
  EXPECT_NEAR(patch.mass({X, 0, 0})(0, 0) / W, planar, 1e-14);
  EXPECT_NEAR(patch.elasticEnergy({X, 0, 0}) / W, X * X, 1e-14);
}

/// The equations on the cone are those of the three curvatures, pulled back; with wind and weight.
TEST(UniformPatch, HasTheSameDynamicsOnTheCone) {
  PatchProperties p = unit(0.5);
  p.natural = cone(-0.8, 0.9), p.dampingTime = 0.3, p.rigidity = 2;
  const UniformPatch patch(p);
  const Vector3 g(0.3, -0.5, -1);
  const UniformPatch::Air air{.density = 0.7, .wind = {2, 1, -3}};
  for (const double kappa : {1e-4, 0.3, 1.3, -2.5, 6.0}) {
    for (const double phi : {0.2, 1.7}) {
      const ConePoint at{kappa, phi};
      const Vector2 rates(0.7, -1.1);
      const Eigen::Matrix<double, 3, 2> T = at.tangent();
      UniformPatch::Dynamics three;
      UniformPatch::ConeDynamics cone2;
      patch.evaluate(at.curvatures(), T * rates, g, air, three);
      patch.evaluate(at, rates, g, air, cone2);
      const Eigen::Matrix2d M = T.transpose() * three.M * T;
      EXPECT_LT((cone2.M - M).norm(), 1e-13 * M.norm());
      EXPECT_LT((cone2.elastic - T.transpose() * patch.elasticForce(at.curvatures(), T * rates)).norm(), 1e-13 * cone2.elastic.norm());
      EXPECT_LT((cone2.force - T.transpose() * (three.force + three.M * at.curve(rates))).norm(), 1e-12 * cone2.force.norm());
    }
  }
}

TEST(UniformPatch, HasKoitersBendingEnergy) { // D-08, D-18, D-19, D-20, T-III.8
  PatchProperties p = unit(0.5);
  p.rigidity = 2, p.poissonRatio = 0.3;
  const Vector3 values = Eigen::SelfAdjointEigenSolver<Matrix3>(p.stiffness()).eigenvalues();
  EXPECT_LT((values - 2 * Vector3(0.7, 1.3, 1.4)).norm(), 1e-15);
  EXPECT_NEAR(UniformPatch(p).elasticEnergy({1, 0.25, 0.5}), 0.5 * 0.5 * 2 * 1.5625, 1e-15);
  const PatchProperties of = PatchProperties::of(p.domain, 0.01, {.youngsModulus = 3e9, .poissonRatio = 0.3, .density = 1200});
  const double torsion = 2 * (1 - 0.3) * of.rigidity, GJ = 3e9 / 2.6 * 1e-6 / 3;
  EXPECT_NEAR(torsion / GJ, 1, 1e-15);
  EXPECT_NEAR(of.rigidity / (3e9 * 1e-6 / 12), 1 / (1 - 0.09), 1e-15);
  EXPECT_EQ(of.areaDensity, 12);
  p.natural = cone(1, 0.3);
  const Vector3 q = cone(0.6, 0.5);
  EXPECT_NEAR(UniformPatch(p).elasticEnergy(q), 0.5 * 0.5 * 2 * (0.16 + 0.7 * 0.6 * (1 - std::cos(0.4))), 1e-15);
}

TEST(UniformPatch, HasAHelixAsCentreline) { // D-20
  const Vector3 q(1, 0.25, 0.5);
  const double turn = 2 * std::numbers::pi / std::sqrt(1.25); // the frame's rotation per length is |(q2, -q0)|
  const Pose H = uniform_patch::frame(q, {turn, 0});
  EXPECT_LT((H.R - Matrix3::Identity()).norm(), 1e-14);
  EXPECT_NEAR(H.x.norm(), 2 * std::numbers::pi * 0.5 / 1.25, 1e-14);
  // Half a turn away lies the other side of a cylinder of radius 0.8, and half the rise.
  EXPECT_NEAR(uniform_patch::position(q, {turn / 2, 0}).norm(), std::hypot(2 * 0.8, H.x.norm() / 2), 1e-14);
  // It is a super-helix element of bending q0 and twist q2.
  Vector6 screw;
  screw << 0.7, 0, 0, 0.7 * q[2], -0.7 * q[0], 0;
  const Pose element = se3::exp(screw), sheet = uniform_patch::frame(q, {0.7, 0});
  EXPECT_LT((element.x - sheet.x).norm() + (element.R - sheet.R).norm(), 1e-14);
}

TEST(UniformPatch, RefusesWhatIsNoPatch) {
  PatchProperties p = unit();
  p.poissonRatio = 0.6;
  EXPECT_THROW(p.check(), InputError);
  p.poissonRatio = -1;
  EXPECT_THROW(p.check(), InputError);
  p.poissonRatio = 0.5;
  EXPECT_NO_THROW(p.check());
  p.natural = {1, 1, 0};
  EXPECT_THROW(p.check(), InputError);
  p = unit(0);
  EXPECT_THROW(p.check(), InputError);
  EXPECT_THROW(PatchProperties::of({}, 0, {.youngsModulus = 1, .poissonRatio = 0.3, .density = 1}), InputError);
}

TEST(ConePoint, KnowsBothNappes) {
  for (const double kappa : {2.0, -2.0}) {
    for (double phi = 0.1; phi < 3.1; phi += 0.5) {
      const ConePoint back = ConePoint::of(cone(kappa, phi), phi);
      EXPECT_NEAR(back.kappa, kappa, 1e-15);
      EXPECT_NEAR(back.phi, phi, 1e-14);
      EXPECT_NEAR(ConePoint::of(cone(kappa, phi), phi + 7 * std::numbers::pi).phi, phi + 7 * std::numbers::pi, 1e-13);
    }
  }
  const ConePoint p{1.3, 0.7};
  const Vector2 v(0.4, -0.9);
  const double h = 1e-4;
  const auto along = [&](double t) { return cone(p.kappa + t * v[0], p.phi + t * v[1]); };
  EXPECT_LT((p.tangent() * v - (along(h) - along(-h)) / (2 * h)).norm(), 1e-7);
  EXPECT_LT((p.curve(v) - (along(h) - 2 * along(0) + along(-h)) / (h * h)).norm(), 1e-6);
}

TEST(ConePoint, ProjectsOntoTheCone) {
  const Vector3 q(1, 1, 0.2), near = projectedOnCone(q);
  EXPECT_LT(std::abs(gaussianCurvature(near)), 1e-15);
  // No point of the cone is nearer.
  const auto distance = [&](const Vector3& p) { return (p - q).cwiseAbs2().dot(Vector3(1, 1, 2)); };
  for (double kappa = -3; kappa < 3; kappa += 0.01)
    for (double phi = 0; phi < 3.2; phi += 0.01) EXPECT_GE(distance(cone(kappa, phi)), distance(near) - 1e-12);
  const Vector3 on = cone(1.2, 0.5), rates = projectedRates(on, {0.3, -1, 0.7});
  EXPECT_NEAR(gaussianGradient(on).dot(rates), 0, 1e-15);
}

}
}
