#include "tendril/analysis/friction_bound.h"

#include "analysis/sliding_systems.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/SVD>
#include <fmt/format.h>

#include <limits>

namespace tendril {
namespace {

using test::degree;
using test::numbers;
using test::Rod;

constexpr double infinity = std::numeric_limits<double>::infinity();

double norm(const MatrixX& A) { return Eigen::JacobiSVD<MatrixX>(A).singularValues()[0]; }
double smallest(const MatrixX& A) { return Eigen::JacobiSVD<MatrixX>(A).singularValues().tail(1)[0]; }

SlidingProblem withFriction(SlidingProblem p, const VectorX& mu) {
  p.friction = mu;
  return p;
}
SlidingProblem withFriction(const SlidingProblem& p, double mu) { return withFriction(p, VectorX::Constant(p.contacts(), mu)); }

std::size_t solutionsOf(SlidingProblem p, const VectorX& w) {
  p.w = w;
  return solveSliding(p).lambda.size();
}

// ---- P-matrices ------------------------------------------------------------------------------------------------------------------------

TEST(PMatrix, TestAgreesWithAllMinors) {
  test::Random random(1);
  int positive = 0;
  for (int draw = 0; draw < 400; ++draw) {
    const int n = random.upTo(4);
    const MatrixX M = MatrixX::Identity(n, n) + 0.7 * random.matrix(n, n);
    bool isP = true;
    for (int set = 1; set < 1 << n; ++set) {
      std::vector<int> rows;
      for (int i = 0; i < n; ++i) {
        if (set >> i & 1) rows.push_back(i);
      }
      isP = isP && M(rows, rows).determinant() > 0;
    }
    for (const PMatrixReport& report : {testPMatrix(M), testUniqueSolvability({M, MatrixX::Identity(n, n), VectorX::Zero(n)})}) {
      ASSERT_EQ(report.isP, isP);
      if (!isP) {
        EXPECT_LE(M(report.witness, report.witness).determinant(), 0);
      }
    }
    positive += isP;
  }
  EXPECT_GT(positive, 50);
  EXPECT_LT(positive, 350);
  EXPECT_THROW(testPMatrix(MatrixX::Identity(21, 21)), std::invalid_argument);
}

TEST(PMatrix, RadiusIsTheMaximumOverTheBox) {
  test::Random random(2);
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int draw = 0; draw < 40; ++draw) {
    const int n = 1 + random.upTo(3);
    MatrixX M = MatrixX::Identity(n, n) + 0.4 * random.matrix(n, n);
    if (!testPMatrix(M).isP) continue;
    const PMatrixRadius radius = radiusOfPMatrix(M);
    ASSERT_TRUE(radius.isCertified);
    double sampled = 0;
    for (int k = 0; k < 300; ++k) {
      const VectorX d = VectorX::NullaryExpr(n, [&](Eigen::Index) { return uniform(engine); });
      const MatrixX D = d.asDiagonal(), I = MatrixX::Identity(n, n);
      sampled = std::max(sampled, norm((I - D + D * M).inverse() * D));
    }
    EXPECT_GE(radius.upper, sampled);
    EXPECT_NEAR(radius.lower, 1 / smallest(M(radius.worst, radius.worst)), 1e-9 * radius.lower);
  }
  const MatrixX S = random.metric(5);
  EXPECT_NEAR(radiusOfPMatrix(S).lower, norm(S.inverse()), 1e-9 * norm(S.inverse())); // symmetric: |M^-1|
}

TEST(PMatrix, RadiusBoundsBoxesAndSaysWhenItIsNotCertified) {
  test::Random random(4);
  const int n = 24;
  const MatrixX easy = MatrixX::Identity(n, n) + 0.002 * random.matrix(n, n);
  const PMatrixRadius near = radiusOfPMatrix(easy, 1e-1);
  EXPECT_TRUE(near.isCertified); // 2^24 corners, but boxes can be bounded
  EXPECT_LT(near.nodes, 100000);
  const MatrixX hard = MatrixX::Identity(n, n) + 0.3 * random.matrix(n, n) / std::sqrt(n);
  const PMatrixRadius open = radiusOfPMatrix(hard, 1e-10, 200);
  EXPECT_FALSE(open.isCertified);
  EXPECT_GT(open.upper, open.lower);
}

// ---- T-I.5 -----------------------------------------------------------------------------------------------------------------------------

TEST(PainleveRod, BoundIsExact) {
  double least = infinity;
  for (int i = 1; i < 180; ++i) {
    const Rod rod{1.7, 0.6, 9.81, i * degree / 2};
    const double s = rod.s(), c = rod.c(), critical = (1 + 3 * c * c) / (3 * s * c);
    const FrictionBound bound = frictionBound(test::sliding(test::guidedRod(rod, false, 1, -1)));
    EXPECT_NEAR(bound.norm, critical, 1e-10 * critical);
    EXPECT_NEAR(bound.sharp, critical, 1e-10 * critical);
    ASSERT_TRUE(bound.exact);
    EXPECT_NEAR(*bound.exact, critical, 1e-10 * critical);
    EXPECT_EQ(*frictionBound(test::sliding(test::guidedRod(rod, false, 1, 1))).exact, infinity);
    least = std::min(least, bound.norm);
  }
  const Rod worst{1, 1, 9.81, std::atan(2.0)};
  EXPECT_NEAR(frictionBound(test::sliding(test::guidedRod(worst, false, 1, -1))).norm, 4.0 / 3, 1e-12);
  EXPECT_GE(least, 4.0 / 3 - 1e-12);
}

TEST(PainleveRod, CountOfSolutionsDoesNotDependOnTheSizeOfNumbers) {
  for (const double m : {1e-300, 1e-9, 1.0, 1e300}) {
    for (const double mu : {0.5, 2.0, 1e9, 1e300}) {
      if ((mu == 1e300 && m != 1) || (mu == 1e9 && m == 1e-300)) continue; // their quotient is no number
      const Rod rod{m, 1, 9.81, 60 * degree};
      const SlidingSolutions solutions = solveSliding(test::sliding(test::guidedRod(rod, false, mu, -1)));
      EXPECT_FALSE(solutions.isContinuum) << m << " " << mu;
      EXPECT_EQ(solutions.lambda.size(), mu < 1 ? 1u : 0u) << m << " " << mu;
    }
  }
}

TEST(PainleveRod, FourQuadrants) {
  const Rod rod{1, 1, 9.81, 60 * degree};
  const SlidingProblem p = test::sliding(test::guidedRod(rod, false, 1, -1));
  const double critical = frictionBound(p).norm;
  for (const double w : {1.0, -1.0}) EXPECT_EQ(solutionsOf(withFriction(p, 0.999 * critical), numbers({w})), 1u);
  EXPECT_EQ(solutionsOf(withFriction(p, 1.001 * critical), numbers({1})), 2u);
  EXPECT_EQ(solutionsOf(withFriction(p, 1.001 * critical), numbers({-1})), 0u);
}

// ---- T-I.6, 7, 8
// -------------------------------------------------------------------------------------------------------------------------

TEST(PainleveKlein, BoundFollowsClosedForm) {
  double before = infinity;
  for (int i = 1; i < 90; ++i) {
    const Rod rod{1, 1, 9.81, i * degree};
    const double s = rod.s(), c = rod.c();
    const double closed = 3 * c * c >= 1 ? 1 / (3 * s * c) : c / s;
    const FrictionBound bound = frictionBound(test::sliding(test::painleveKlein(rod, 1, 1, 0)));
    EXPECT_NEAR(bound.norm, closed, 1e-10 * closed);
    const double printed =
        2 / (3 * std::sqrt(1 - std::cos(4 * rod.theta))) * std::sqrt(1 + 9 * std::pow(c, 4) - (3 * c * c + 1) * std::abs(3 * c * c - 1));
    EXPECT_NEAR(bound.norm, printed, 1e-9 * closed);
    EXPECT_LT(bound.norm, 2 * c / s);
    EXPECT_NEAR(*bound.exact, c / s, 1e-9 * c / s); // mu1 + mu2 < 2 / tan
    EXPECT_LE(bound.norm, bound.sharp * (1 + 1e-12));
    EXPECT_LE(bound.sharp, *bound.exact * (1 + 1e-9));
    if (i <= 45 || i > 55) {
      EXPECT_LT(bound.norm, before);
    }
    before = bound.norm;
  }
  const double table[][2] = {{5, 3.83918}, {15, 4.0 / 3}, {30, 0.769800}, {45, 2.0 / 3}, {60, 0.577350}, {75, 0.267949}, {85, 0.0874887}};
  for (const auto& [angle, value] : table)
    EXPECT_NEAR(frictionBound(test::sliding(test::painleveKlein({1, 1, 0, angle * degree}, 1, 1, 0))).norm, value, 5e-6);
  const double kink = std::acos(1 / std::sqrt(3.0));
  EXPECT_NEAR(frictionBound(test::sliding(test::painleveKlein({1, 1, 0, kink}, 1, 1, 0))).norm, 0.707107, 1e-6);
}

TEST(PainleveKlein, ExactRegions) {
  test::Random random(5);
  std::mt19937 engine(6);
  std::uniform_real_distribution<double> angle(5, 85), friction(0, 4);
  int reachable = 0, arbitrary = 0;
  for (int draw = 0; draw < 4000; ++draw) {
    const Rod rod{1, 1, 0, angle(engine) * degree};
    const double mu1 = friction(engine), mu2 = friction(engine), limit = 2 * rod.c() / rod.s();
    if (std::abs(std::abs(mu1 - mu2) - limit) < 1e-3 || std::abs(mu1 + mu2 - limit) < 1e-3) continue;
    // Loads that the mechanism can bring about: no vertical load, no rotation.
    bool isUnique = true;
    for (const double moment : {1.0, -1.0}) {
      const SlidingSolutions solutions = solveSliding(test::sliding(test::painleveKlein(rod, mu1, mu2, moment)));
      isUnique = isUnique && solutions.verdict() == Verdict::Unique;
      EXPECT_EQ(solutions.isUniqueForEveryLoad.value(), mu1 + mu2 < limit);
    }
    ASSERT_EQ(isUnique, std::abs(mu1 - mu2) < limit) << rod.theta << " " << mu1 << " " << mu2;
    reachable += isUnique, arbitrary += mu1 + mu2 < limit;
  }
  EXPECT_GT(reachable, arbitrary);
}

// At mu1 + mu2 = 2/tan a piece is singular: uniqueness for every load, an open condition, ends there, also where rounding of the smallest
// pivot is of the right sign, and one of the coefficients is zero. The pull has its one solution as long as |mu1 - mu2| < 2/tan.
TEST(PainleveKlein, OnTheBoundaryUniquenessForEveryLoadIsLost) {
  for (const double angle : {20.0, 30.0, 45.0, 53.0, 60.0, 70.0}) {
    const Rod rod{1.3, 0.7, 0, angle * degree};
    const double limit = 2 * rod.c() / rod.s();
    for (const double share : {0.0, 0.05, 0.25, 0.5, 0.6, 1.0}) {
      for (const double factor : {1 - 1e-9, 1.0, 1 + 1e-9}) {
        const double mu1 = factor * share * limit, mu2 = factor * (1 - share) * limit;
        for (const double moment : {1.0, -1.0}) {
          const FrictionMargin margin = frictionMargin(test::sliding(test::painleveKlein(rod, mu1, mu2, moment)));
          const std::string at = fmt::format("{} degrees, share {}, factor {}", angle, share, factor);
          EXPECT_EQ(margin.solutions.isUniqueForEveryLoad.value(), factor < 1) << at;
          EXPECT_EQ(margin.isCertified(), factor < 1) << at;
          EXPECT_EQ(margin.endangered.empty(), factor < 1) << at;
          if (factor < 1 || std::abs(mu1 - mu2) < 0.95 * limit) {
            EXPECT_EQ(margin.verdict, Verdict::Unique) << at;
          }
        }
      }
    }
  }
}

TEST(PainleveKlein, OneSmoothGuide) {
  for (const double angle : {10.0, 30.0, 45.0, 60.0, 80.0}) {
    const Rod rod{1.3, 0.4, 0, angle * degree};
    AccelerationProblem p = test::guidedRod(rod, true, 1);
    test::addJoint(p, rod.upperNormal(), 0);
    p.F = numbers({0, 0, 0});
    const SlidingProblem s = test::sliding(p);
    const double c = rod.c(), sine = rod.s(), bound = 2 * c / sine;
    EXPECT_NEAR(s.A(0, 0), 12 * c * c / (rod.m * (1 + 3 * c * c)), 1e-11);
    EXPECT_NEAR(s.T(0, 0), -6 * sine * c / (rod.m * (1 + 3 * c * c)), 1e-11);
    EXPECT_NEAR(frictionBound(s).norm, bound, 1e-12 * bound);
    for (const double w : {1.0, -1.0}) EXPECT_EQ(solutionsOf(withFriction(s, 0.9999 * bound), numbers({w})), 1u);
    EXPECT_EQ(solutionsOf(withFriction(s, 1.0001 * bound), numbers({1})) + solutionsOf(withFriction(s, 1.0001 * bound), numbers({-1})), 2u);
    EXPECT_NE(solutionsOf(withFriction(s, 1.0001 * bound), numbers({1})), 1u);
  }
}

// ---- T-I.9, 10 -------------------------------------------------------------------------------------------------------------------------

TEST(FlexiblePainleveKlein, BoundsOfTheSource) {
  const double table[][3] = {{0, 15, 2},        {0, 30, 1.1547}, {0, 45, 1},      {0.2, 45, 1.3231}, {0.2, 30, 1.5278},
                             {0.5, 45, 1.8571}, {1, 45, 2.8},    {1, 30, 3.2332}, {1.2, 45, 3.1857}};
  const auto bound = [](double d, double angle) {
    return frictionBound(test::sliding(test::flexiblePainleveKlein(d, angle * degree))).norm;
  };
  for (const auto& [d, angle, value] : table) EXPECT_NEAR(bound(d, angle), value, 1e-4) << d << " " << angle;
  for (const double d : {0.0, 0.2, 1.2}) EXPECT_NEAR(bound(d, 25), bound(d, 65), 1e-9);
  EXPECT_LT(bound(0.1, 60), bound(0.4, 60));
  // Inertia about the lower tip.
  const double d = 0.3;
  EXPECT_NEAR(test::flexiblePainleveKlein(d, 1).M(3, 3), d * d / 2 + 3 * d / 4 + 1.0 / 3, 1e-14);
}

TEST(ArticulatedPainleveKlein, BoundsOfTheSource) {
  const auto bound = [](double a, double b) { return frictionBound(test::sliding(test::articulated(a, b))).norm; };
  for (const double angle : {5.0, 15.0, 30.0, 45.0, 60.0})
    EXPECT_NEAR(bound(angle * degree, angle * degree), 1 / std::tan(angle * degree), 1e-9);
  const double bent[][2] = {{30, 0.84827}, {45, 1.01935}, {75, 0.77088}};
  for (const auto& [angle, value] : bent) {
    const double theta = angle * degree;
    EXPECT_NEAR(bound(theta, std::asin(2 * 0.7 - std::sin(theta))), value, 1e-5);
  }
}

// ---- T-I.11 ----------------------------------------------------------------------------------------------------------------------------

TEST(FallingLadder, BoundOfMixedContact) {
  const FrictionBound bound = frictionBound(test::sliding(test::ladder(45 * degree)));
  ASSERT_TRUE(bound.beta2);
  EXPECT_TRUE(bound.beta2->isCertified);
  EXPECT_NEAR(bound.beta2->lower, 1.0990, 1e-4);
  EXPECT_EQ(bound.beta2->worst, (std::vector<int>{0, 1}));
  EXPECT_NEAR(bound.norm, 0.7519, 1e-4);
  const double byAngle[][2] = {{80, 0.505}, {60, 0.613}, {45, 0.752}, {30, 0.517}, {10, 0.277}};
  for (const auto& [angle, value] : byAngle)
    EXPECT_NEAR(frictionBound(test::sliding(test::ladder(angle * degree))).norm, value, 6e-4) << angle;
  std::vector<double> others;
  for (const auto& [wall, ground] : {std::pair{-1, -1}, {1, 1}, {1, -1}})
    others.push_back(frictionBound(test::sliding(test::ladder(45 * degree, 1, wall, ground))).norm);
  std::sort(others.begin(), others.end(), std::greater<>());
  EXPECT_NEAR(others[0], 0.561, 6e-4);
  EXPECT_NEAR(others[1], 0.456, 6e-4);
  EXPECT_NEAR(others[2], 0.408, 6e-4);
}

// beta_2 is the dear part: one that is known serves the bounds for every direction of friction.
TEST(FallingLadder, BoundTakesABeta2ThatIsKnown) {
  const SlidingProblem p = test::sliding(test::ladder(45 * degree));
  const FrictionBound bound = frictionBound(p);
  PMatrixRadius doubled = *bound.beta2;
  doubled.upper *= 2;
  EXPECT_EQ(frictionBound(p, {}, bound.beta2).norm, bound.norm);
  EXPECT_LT(frictionBound(p, {}, doubled).norm, 0.8 * bound.norm);
}

TEST(FallingLadder, RegionOfUniquenessHoldsTheSquare) {
  const SlidingProblem p = test::sliding(test::ladder(45 * degree));
  const double bound = frictionBound(p).norm;
  bool isLarger = false;
  for (int i = 0; i <= 30; ++i) {
    for (int k = 0; k <= 30; ++k) {
      const VectorX mu = numbers({i / 20.0 * bound, k / 20.0 * bound});
      const bool isP = testUniqueSolvability(horizontalForm(withFriction(p, mu))).isP;
      if (mu.maxCoeff() < bound) {
        EXPECT_TRUE(isP) << mu.transpose();
      }
      isLarger = isLarger || (isP && mu.maxCoeff() > 1.1 * bound);
    }
  }
  EXPECT_TRUE(isLarger);
}

TEST(FallingLadder, BoundDoesNotDependOnTheUnitOfMass) {
  AccelerationProblem p = test::ladder(50 * degree);
  const double bound = frictionBound(test::sliding(p)).norm;
  p.M *= 1e3, p.F *= 1e3, p.mass *= 1e3;
  EXPECT_NEAR(frictionBound(test::sliding(p)).norm, bound, 1e-10);
}

// ---- T-I.12 ----------------------------------------------------------------------------------------------------------------------------

enum class Draw { Bilateral, Unilateral, Mixed, BilateralJoints, MixedJoints };

SlidingProblem drawProblem(test::Random& random, Draw kind) {
  const int m = kind == Draw::Mixed ? 1 + random.upTo(3) : random.upTo(4);
  const int joints = kind == Draw::BilateralJoints || kind == Draw::MixedJoints ? random.upTo(2) : 0;
  const int n = m + joints + random.upTo(3);
  AccelerationProblem p = test::emptyProblem(random.metric(n), random.vector(n));
  for (int i = 0; i < joints; ++i) test::addJoint(p, random.vector(n), random());
  for (int i = 0; i < m; ++i) {
    const bool isBilateral = kind == Draw::Bilateral || kind == Draw::BilateralJoints || (kind == Draw::Mixed && i < m / 2);
    const VectorX tangent = random.vector(n) * (random() > 0 ? 1 : -1);
    test::addContact(p, isBilateral, random.vector(n), random(), tangent, 1);
  }
  return test::sliding(p);
}

/// Just below every bound the forces exist and are unique, for the load drawn and for all.
void expectSound(const SlidingProblem& p, double bound) {
  if (!(bound > 1e-6) || !(bound < 1e6)) return;
  const SlidingSolutions solutions = solveSliding(withFriction(p, 0.999 * bound));
  ASSERT_EQ(solutions.lambda.size(), 1u);
  ASSERT_TRUE(*solutions.isUniqueForEveryLoad);
}

void checkDraws(Draw kind, int draws, unsigned seed) {
  test::Random random(seed);
  for (int i = 0; i < draws && !testing::Test::HasFatalFailure(); ++i) {
    const SlidingProblem p = drawProblem(random, kind);
    const FrictionBound bound = frictionBound(p);
    ASSERT_TRUE(bound.exact);
    EXPECT_LE(bound.norm, bound.sharp * (1 + 1e-9));
    EXPECT_LE(bound.sharp, *bound.exact * (1 + 1e-6));
    expectSound(p, bound.norm);
    expectSound(p, bound.sharp);
    expectSound(p, *bound.exact);
  }
}

TEST(Soundness, Bilateral) { checkDraws(Draw::Bilateral, 2500, 11); }
TEST(Soundness, Unilateral) { checkDraws(Draw::Unilateral, 2500, 12); }
TEST(Soundness, Mixed) { checkDraws(Draw::Mixed, 2000, 13); }
TEST(Soundness, BilateralWithSmoothJoints) { checkDraws(Draw::BilateralJoints, 1500, 14); }
TEST(Soundness, UnilateralWithSmoothJoints) { checkDraws(Draw::MixedJoints, 1500, 15); }

TEST(Soundness, OneThirdOfTheBoundMakesTheHorizontalProblemPositiveDefinite) {
  test::Random random(16);
  for (int i = 0; i < 500; ++i) {
    const SlidingProblem p = drawProblem(random, Draw::Bilateral);
    const double bound = frictionBound(p).norm;
    if (!(bound < 1e6)) continue;
    const MatrixX M = standardForm(withFriction(p, 0.999 * bound / 3)).M;
    EXPECT_EQ(Eigen::LLT<MatrixX>(M + M.transpose()).info(), Eigen::Success);
  }
}

TEST(Soundness, BoundOfOneContactIsTight) {
  test::Random random(17);
  for (int i = 0; i < 500; ++i) {
    const SlidingProblem p = test::sliding([&] {
      AccelerationProblem q = test::emptyProblem(random.metric(3), random.vector(3));
      test::addContact(q, i % 2 == 0, random.vector(3), random(), random.vector(3), 1);
      return q;
    }());
    const double bound = *frictionBound(p).exact;
    if (!(bound < 1e6)) continue;
    const std::size_t up = solutionsOf(withFriction(p, 1.001 * bound), numbers({1})),
                      down = solutionsOf(withFriction(p, 1.001 * bound), numbers({-1}));
    EXPECT_TRUE(up != 1 || down != 1);
  }
}

TEST(Soundness, ExactBoundIsTight) {
  test::Random random(18);
  for (int i = 0; i < 500; ++i) {
    const SlidingProblem p = drawProblem(random, i % 2 ? Draw::Mixed : Draw::Bilateral);
    const double bound = *frictionBound(p).exact;
    if (!(bound < 1e3)) continue;
    EXPECT_FALSE(testUniqueSolvability(horizontalForm(withFriction(p, 1.0001 * bound))).isP);
  }
}

// ---- T-I.13, 14 ------------------------------------------------------------------------------------------------------------------------

TEST(StandardForm, ExpansionsInTheFriction) {
  test::Random random(19);
  const int b = 2, u = 2, n = 6;
  AccelerationProblem p = test::emptyProblem(random.metric(n), random.vector(n));
  for (int i = 0; i < b + u; ++i) test::addContact(p, i < b, random.vector(n), random(), random.vector(n), 1);
  const SlidingProblem s = test::sliding(p);
  const double bound = frictionBound(s).norm;
  const MatrixX A = s.A.topLeftCorner(b, b), Abu = s.A.topRightCorner(b, u), Aub = s.A.bottomLeftCorner(u, b),
                Au = s.A.bottomRightCorner(u, u);
  double before = 0;
  for (const double mu : {0.1 * bound, 0.05 * bound}) {
    const MatrixX Tb = mu * s.T.topLeftCorner(b, b), Tbu = mu * s.T.topRightCorner(b, u), Tub = mu * s.T.bottomLeftCorner(u, b),
                  Tu = mu * s.T.bottomRightCorner(u, u), I = MatrixX::Identity(b, b);
    const MatrixX inverse = A.inverse(), K = (I - inverse * Tb).inverse() - I, C = Aub - Tub;
    MatrixX P(b + u, b + u);
    P.topLeftCorner(b, b) = 2 * K;
    P.topRightCorner(b, u) = (I + K) * inverse * Tbu - K * inverse * Abu;
    P.bottomLeftCorner(u, b) = -2 * Tub + 2 * C * K;
    P.bottomRightCorner(u, u) = -Tu + Tub * inverse * Abu + C * (I + K) * inverse * Tbu - C * K * inverse * Abu;
    const MatrixX direct = standardForm(withFriction(s, mu)).M - standardForm(withFriction(s, 0)).M;
    EXPECT_LE((direct - P).norm(), 1e-11 * (1 + direct.norm()));
    if (before > 0) {
      EXPECT_NEAR(before / direct.norm(), 2, 0.25);
    }
    before = direct.norm();
  }
  const MatrixX M0 = standardForm(withFriction(s, 0)).M;
  EXPECT_LE((M0.topLeftCorner(b, b) - MatrixX::Identity(b, b)).norm(), 1e-12);
  EXPECT_LE(M0.bottomLeftCorner(u, b).norm(), 1e-11);
  EXPECT_LE((M0.bottomRightCorner(u, u) - (Au - Aub * A.inverse() * Abu)).norm(), 1e-10);
}

TEST(Sliding, WithoutFrictionItIsTheProblemWithoutFriction) {
  test::Random random(20);
  for (int i = 0; i < 50; ++i) {
    AccelerationProblem p = test::emptyProblem(random.metric(6), random.vector(6));
    for (int k = 0; k < 3; ++k) test::addContact(p, i % 2 == 0 && k == 0, random.vector(6), random(), random.vector(6), 0);
    const SlidingSolutions solutions = solveSliding(test::sliding(p));
    ASSERT_EQ(solutions.lambda.size(), 1u);
    const ContactSolution program = solveWithoutFriction(p, Formulation::QuadraticProgram);
    EXPECT_LE((solutions.lambda[0] - program.lambda).norm(), 1e-9 * (1 + program.lambda.norm()));
  }
}

TEST(Sliding, MethodsAgreeBelowTheBound) {
  test::Random random(21);
  for (int i = 0; i < 100; ++i) {
    SlidingProblem p = drawProblem(random, Draw::Bilateral);
    p = withFriction(p, 0.9 * std::min(frictionBound(p).norm, 10.0));
    const FixedPoint fixed = iterateBilateral(p);
    ASSERT_TRUE(fixed.isConverged);
    EXPECT_LT(fixed.contraction, 1);
    const SlidingSolutions all = solveSliding(p);
    ASSERT_EQ(all.lambda.size(), 1u);
    EXPECT_LE((all.lambda[0] - fixed.lambda).norm(), 1e-8 * (1 + fixed.lambda.norm()));
    EXPECT_LE(normalAccelerations(p, fixed.lambda).norm(), 1e-8 * (1 + p.w.norm()));
  }
}

TEST(Sliding, ManyContactsAreSolvedByPivotsAndProvedByTheBound) {
  test::Random random(22);
  AccelerationProblem p = test::emptyProblem(random.metric(30), random.vector(30));
  for (int k = 0; k < 14; ++k) test::addContact(p, k < 3, random.vector(30), random(), random.vector(30), 1);
  SlidingProblem s = test::sliding(p);
  s = withFriction(s, 0.5 * frictionBound(s).best());
  const FrictionMargin margin = frictionMargin(s);
  EXPECT_EQ(margin.verdict, Verdict::Certified);
  EXPECT_NEAR(margin.factor, 2, 1e-6);
  ASSERT_EQ(margin.solutions.lambda.size(), 1u);
  const VectorX a = normalAccelerations(s, margin.solutions.lambda[0]);
  EXPECT_LE(a.head(3).norm(), 1e-8);
  for (int k = 3; k < 14; ++k) EXPECT_NEAR(std::min(a[k], margin.solutions.lambda[0][k]), 0, 1e-8);
}

TEST(Sliding, MarginNamesTheContactAtRisk) {
  const Rod rod{1, 1, 9.81, 60 * degree};
  const FrictionMargin margin = frictionMargin(test::sliding(test::guidedRod(rod, false, 1.6, -1)));
  EXPECT_EQ(margin.endangered, std::vector<int>{0});
  EXPECT_LT(margin.factor, 1);
  const FrictionMargin safe = frictionMargin(test::sliding(test::guidedRod(rod, false, 0.5, -1)));
  EXPECT_TRUE(safe.endangered.empty());
  EXPECT_EQ(safe.verdict, Verdict::Unique);
  EXPECT_EQ(frictionMargin(test::sliding(test::guidedRod(rod, false, 0, -1))).factor, infinity);
}

TEST(FrictionBound, LimitsAndDirections) {
  const SlidingProblem p = test::sliding(test::painleveKlein({1, 1, 0, 30 * degree}, 1, 1, 0));
  SlidingProblem smooth = p;
  smooth.T.setZero();
  EXPECT_EQ(frictionBound(smooth).norm, infinity);
  EXPECT_NEAR(*frictionBound(p, numbers({1, 0})).exact, 2 / std::tan(30 * degree), 1e-9);
  SlidingProblem twice = p;
  twice.A.row(1) = twice.A.row(0), twice.A.col(1) = twice.A.col(0);
  EXPECT_EQ(frictionBound(twice).norm, 0);
  twice.T.setZero(); // friction presses on neither, but shares that are open leave its sum open
  EXPECT_EQ(frictionBound(twice).best(), 0);
  EXPECT_EQ(frictionBound(twice, numbers({0, 0})).best(), infinity);
  EXPECT_THROW(frictionBound(p, numbers({1, -1})), std::invalid_argument);
}

}
}
