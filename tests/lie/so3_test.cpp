#include "lie/series_oracle.h"

#include "tendril/lie/so3.h"

#include <limits>
#include <numbers>

#include <gtest/gtest.h>

namespace tendril {
namespace {

using oracle::relativeError;
constexpr double pi = std::numbers::pi;
constexpr double angles[] = {0, 1e-9, 1e-4, 1e-2, 0.1, 0.5, 2, 3};

oracle::Matrix skew(const Vector3& w) { return so3::hat(w).cast<oracle::Real>(); }

TEST(So3, HatIsTheCrossProductAndVeeItsInverse) {
  oracle::Random random;
  const Vector3 a = random.vector3(), b = random.vector3();
  EXPECT_EQ(so3::hat(a) * b, a.cross(b));
  EXPECT_EQ(so3::vee(so3::hat(a)), a);
  EXPECT_LT(relativeError(so3::anticommutator(a, b), so3::hat(a) * so3::hat(b) + so3::hat(b) * so3::hat(a)), 1e-15);
  EXPECT_LT(relativeError(so3::hatSquared(a), so3::hat(a) * so3::hat(a)), 1e-15);
}

TEST(So3, OperatorsMatchTheirSeries) {
  oracle::Random random;
  for (double angle : angles) {
    const Vector3 w = angle * random.direction();
    EXPECT_LT(relativeError(so3::exp(w), oracle::evaluate(oracle::exponentialSeries(), skew(w), 40)), 1e-15) << angle;
    EXPECT_LT(relativeError(so3::tangent(w), oracle::evaluate(oracle::tangentSeries(), skew(w), 40)), 1e-15) << angle;
    EXPECT_LT(relativeError(so3::tangentInverse(w), oracle::evaluate(oracle::tangentInverseSeries(), skew(w))), 1e-15) << angle;
    EXPECT_LT(relativeError(so3::tangent(w) * so3::tangentInverse(w), Matrix3::Identity()), 2e-15) << angle;
  }
}

TEST(So3, CoefficientsAreExactOnBothSidesOfEverySwitch) {
  const auto exponential = oracle::exponentialSeries(), tangent = oracle::tangentSeries(), inverse = oracle::tangentInverseSeries();
  for (double x : {0., 1e-18, 1e-8, 1e-3, 0.249999999, 0.25, 0.5, 0.999, 1.5, 1.999999999, 2., 2.000000001, 3., 3.999999999, 4.,
                   4.000000001, 6., 9.8}) {
    oracle::expectCoefficients(so3::exponentialFunction(x).odd, exponential, 1, x);
    oracle::expectCoefficients(so3::exponentialFunction(x).even, exponential, 2, x);
    oracle::expectCoefficients(so3::tangentFunction(x).odd, tangent, 1, x);
    oracle::expectCoefficients(so3::tangentFunction(x).even, tangent, 2, x);
    oracle::expectCoefficients(so3::tangentInverseFunction(x).even, inverse, 2, x);
  }
}

TEST(So3, LogInvertsExpAtEveryAngle) {
  oracle::Random random;
  double worst = 0, worstRotation = 0;
  for (int i = 0; i < 100000; ++i) {
    const Vector3 w = random.uniform(0, 3.1) * random.direction();
    const Matrix3 R = so3::exp(w);
    worst = std::max(worst, (so3::log(R) - w).norm());
    worstRotation = std::max(worstRotation, (so3::exp(so3::log(R)) - R).norm());
  }
  EXPECT_LT(worst, 1e-14);
  EXPECT_LT(worstRotation, 1e-14);
}

TEST(So3, LogIsRelativelyAccurateForSmallAngles) {
  oracle::Random random;
  for (double angle : {1e-300, 1e-160, 1e-20, 1e-9, 1e-4}) {
    const Vector3 w = angle * random.direction();
    EXPECT_LT(relativeError(so3::log(so3::exp(w)), w), 1e-15) << angle;
  }
  EXPECT_EQ(so3::log(Matrix3::Identity()), Vector3::Zero());
}

TEST(So3, LogIsAccurateUpToPi) {
  oracle::Random random;
  for (int i = 0; i < 1000; ++i) {
    const Vector3 axis = random.direction(), w = (pi - 1e-6) * axis;
    EXPECT_LT((so3::log(so3::exp(w)) - w).norm(), 1e-14);
    // At pi the axis is defined up to its sign.
    const Matrix3 halfTurn = 2 * axis * axis.transpose() - Matrix3::Identity();
    const Vector3 rotation = so3::log(halfTurn);
    EXPECT_NEAR(rotation.norm(), pi, 1e-14);
    EXPECT_LT(rotation.cross(axis).norm(), 1e-14);
  }
  for (const Vector3 axis : {Vector3::UnitX(), Vector3::UnitY(), Vector3::UnitZ()}) {
    const Matrix3 halfTurn = 2 * axis * axis.transpose() - Matrix3::Identity();
    EXPECT_NEAR(std::abs(so3::log(halfTurn).dot(axis)), pi, 1e-15);
  }
}

TEST(So3, TangentIsTheLeftTrivialisedDerivativeOfExp) {
  oracle::Random random;
  for (double angle : angles) {
    const Vector3 w = angle * random.direction();
    const auto increment = [&](const Vector3& v) { return so3::log(so3::exp(w).transpose() * so3::exp(v)); };
    EXPECT_LT(relativeError(so3::tangent(w), oracle::centralDifferences<3, 3>(increment, w)), 1e-9) << angle;
  }
}

TEST(So3, DerivativesMatchTheSeriesAndCentralDifferences) {
  oracle::Random random;
  for (double angle : angles) {
    const Vector3 w = angle * random.direction(), b = random.vector3(), q = random.vector3();
    const double x = w.squaredNorm();
    const auto exact = oracle::directional(oracle::tangentSeries(), skew(w), skew(q));
    const auto exactInverse = oracle::directional(oracle::tangentInverseSeries(), skew(w), skew(q));
    EXPECT_LT(relativeError(so3::directional(so3::tangentFunction(x), w, q), exact), 3e-15) << angle;
    EXPECT_LT(relativeError(so3::directional(so3::tangentInverseFunction(x), w, q), exactInverse), 3e-15) << angle;
    const oracle::Vector bLong = b.cast<oracle::Real>();
    EXPECT_LT(relativeError(so3::tangentDerivative(w, b) * q, exact * bLong), 5e-15) << angle;
    EXPECT_LT(relativeError(so3::tangentInverseDerivative(w, b) * q, exactInverse * bLong), 5e-15) << angle;
    const auto T = [&](const Vector3& v) -> Vector3 { return so3::tangent(v) * b; };
    const auto inverse = [&](const Vector3& v) -> Vector3 { return so3::tangentInverse(v) * b; };
    EXPECT_LT(relativeError(so3::tangentDerivative(w, b), oracle::centralDifferences<3, 3>(T, w)), 1e-9) << angle;
    EXPECT_LT(relativeError(so3::tangentInverseDerivative(w, b), oracle::centralDifferences<3, 3>(inverse, w)), 1e-9) << angle;
    const Vector3 u = random.vector3();
    const auto f = so3::exponentialFunction(x);
    const auto first = [&](const Vector3& v) -> Vector3 { return so3::derivative(so3::exponentialFunction(v.squaredNorm()), v, b) * u; };
    EXPECT_LT(relativeError(so3::secondDerivative(f, w, u, b), oracle::centralDifferences<3, 3>(first, w)), 1e-9) << angle;
    EXPECT_LT(relativeError(so3::evaluate(f.transposed(), w), so3::exp(w).transpose()), 1e-15) << angle;
    EXPECT_LT(relativeError(so3::apply(f, w, b), so3::exp(w) * b), 1e-15) << angle;
  }
}

TEST(So3, CayleyMapItsInverseAndTangent) {
  oracle::Random random;
  for (double size : {0., 1e-9, 1e-3, 0.5, 2., 20.}) {
    const Vector3 w = size * random.direction();
    const Matrix3 S = so3::hat(w), I = Matrix3::Identity();
    const Matrix3 R = so3::cayley(w);
    EXPECT_LT(relativeError(R, (I - S / 2).inverse() * (I + S / 2)), 1e-14) << size;
    EXPECT_NEAR(so3::log(R).norm(), 2 * std::atan(size / 2), 1e-14);
    EXPECT_LT((so3::cayleyInverse(R) - w).norm(), 1e-13 * (1 + size * size)) << size;
    const auto increment = [&](const Vector3& v) { return so3::log(R.transpose() * so3::cayley(v)); };
    EXPECT_LT(relativeError(so3::cayleyTangent(w), oracle::centralDifferences<3, 3>(increment, w)), 1e-8) << size;
    EXPECT_LT(relativeError(so3::cayleyTangent(w) * so3::cayleyTangentInverse(w), I), 1e-14) << size;
    const Vector3 q = random.vector3(), b = random.vector3();
    const auto f = so3::cayleyFunction(w.squaredNorm());
    const auto along = [&](const Eigen::Matrix<double, 1, 1>& t) -> Vector3 { return so3::cayley(w + t[0] * q) * b; };
    EXPECT_LT(relativeError(so3::directional(f, w, q) * b, oracle::centralDifferences<3, 1>(along, Eigen::Matrix<double, 1, 1>(0.))), 1e-8);
  }
}

TEST(So3, ShortestRotationMeetsItsTargetAtEveryAngle) {
  oracle::Random random;
  for (double angle : {0., 1e-17, 1e-12, 1e-7, 1e-3, 1., 2., pi - 1e-3, pi - 1e-7, pi - 1e-12, pi - 1e-15, pi}) {
    for (int i = 0; i < 50; ++i) {
      const Vector3 a = random.direction(), normal = a.unitOrthogonal(), b = so3::exp(angle * normal) * a;
      const Matrix3 R = so3::shortestRotation(3 * a, 0.2 * b);
      EXPECT_LT((R * a - b).norm(), 1e-15) << angle;
      EXPECT_LT((R.transpose() * R - Matrix3::Identity()).norm(), 2e-15) << angle;
      EXPECT_NEAR(so3::log(R).norm(), std::atan2(a.cross(b).norm(), a.dot(b)), 2e-15) << angle;
      if (angle > 1e-7 && angle < pi - 1e-7) {
        EXPECT_LT((R * normal - normal).norm(), 1e-8) << angle;
      }
    }
  }
}

TEST(So3, OrthonormalisedIsThePolarFactor) {
  oracle::Random random;
  for (double noise : {0., 1e-15, 1e-12, 9e-7, 1e-6, 1e-3, 0.3, 3.}) {
    for (int i = 0; i < 20; ++i) {
      Matrix3 R = so3::exp(3 * random.direction());
      for (double& entry : R.reshaped()) entry += noise * random.uniform(-1, 1);
      if (R.determinant() <= 0.01) continue;
      const Eigen::JacobiSVD<Matrix3> svd(R, Eigen::ComputeFullU | Eigen::ComputeFullV);
      const Matrix3 nearest = so3::orthonormalised(R);
      EXPECT_LT((nearest - svd.matrixU() * svd.matrixV().transpose()).norm(), 1e-12) << noise;
      EXPECT_LT((nearest.transpose() * nearest - Matrix3::Identity()).cwiseAbs().maxCoeff(), 1e-15) << noise;
    }
  }
}

TEST(So3, OrthonormalisedRefusesWhatHasNoNearestRotation) {
  const Matrix3 reflection = Vector3(1, 1, -1).asDiagonal();
  EXPECT_THROW(so3::orthonormalised(reflection), std::invalid_argument);
  EXPECT_THROW(so3::orthonormalised(-Matrix3::Identity()), std::invalid_argument);
  EXPECT_THROW(so3::orthonormalised(Matrix3::Zero()), std::invalid_argument);
  EXPECT_THROW(so3::orthonormalised(Matrix3::Constant(std::numeric_limits<double>::quiet_NaN())), std::invalid_argument);
  EXPECT_LT((so3::orthonormalised(1e-9 * Matrix3::Identity()) - Matrix3::Identity()).norm(), 1e-15);
}

}
}
