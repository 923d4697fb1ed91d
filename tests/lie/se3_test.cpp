#include "lie/series_oracle.h"

#include "tendril/lie/se3.h"

#include <functional>
#include <numbers>

#include <gtest/gtest.h>

namespace tendril {
namespace {

using oracle::relativeError;
constexpr double pi = std::numbers::pi;
constexpr double angles[] = {0, 1e-9, 1e-4, 1e-2, 0.1, 0.5, 1.41, 1.42, 1.99, 2, 2.01, 3};
constexpr double points[] = {0, 0.2113248654051871, 0.5, 0.7886751345948129, 1};

oracle::Matrix adLong(const Vector6& a) { return se3::ad(a).cast<oracle::Real>(); }

double poseError(const Pose& a, const Pose& b) { return (a.R - b.R).norm() + (a.x - b.x).norm(); }

Vector6 increment(const Pose& from, const Pose& to) { return se3::log(from.relative(to)); }

/// One function of ad by its three routes: matrix, directional derivative, vector-applied derivatives and their transposes.
struct Operator {
  oracle::Series series;
  std::function<Matrix6(const Vector6&)> value;
  std::function<Matrix6(const Vector6&, const Vector6&)> directional, derivative, transposeDerivative;
};

void expectConsistent(const Operator& f, double tolerance) {
  oracle::Random random;
  for (double angle : angles) {
    const Vector6 a = random.twist(angle), b = random.twist(1), c = random.twist(1);
    const oracle::Matrix exact = oracle::directional(f.series, adLong(a), adLong(b));
    const oracle::Vector cLong = c.cast<oracle::Real>();
    EXPECT_LT(relativeError(f.value(a), oracle::evaluate(f.series, adLong(a))), tolerance) << angle;
    EXPECT_LT(relativeError(f.directional(a, b), exact), tolerance) << angle;
    EXPECT_LT(relativeError(f.derivative(a, c) * b, exact * cLong), tolerance) << angle;
    EXPECT_LT(relativeError(f.transposeDerivative(a, c) * b, exact.transpose() * cLong), tolerance) << angle;

    const auto applied = [&](const Vector6& v) -> Vector6 { return f.value(v) * c; };
    const auto transposed = [&](const Vector6& v) -> Vector6 { return f.value(v).transpose() * c; };
    EXPECT_LT(relativeError(f.derivative(a, c), oracle::centralDifferences<6, 6>(applied, a)), 1e-8) << angle;
    EXPECT_LT(relativeError(f.transposeDerivative(a, c), oracle::centralDifferences<6, 6>(transposed, a)), 1e-8) << angle;
  }
}

TEST(Se3, AdjointRepresentationOfTheAlgebra) {
  oracle::Random random;
  const Vector6 a = random.twist(1), b = random.twist(2), f = random.twist(1);
  EXPECT_LT((se3::ad(a) * b + se3::ad(b) * a).norm(), 1e-15);
  EXPECT_LT(relativeError(se3::ad(a).transpose() * f, se3::coad(f) * a), 1e-15);
  // The bracket is the commutator of 4x4 matrices.
  const auto matrix = [](const Vector6& p) {
    Eigen::Matrix4d S = Eigen::Matrix4d::Zero();
    S.topLeftCorner<3, 3>() = so3::hat(p.tail<3>());
    S.topRightCorner<3, 1>() = p.head<3>();
    return S;
  };
  EXPECT_LT(relativeError(matrix(se3::ad(a) * b), matrix(a) * matrix(b) - matrix(b) * matrix(a)), 1e-15);
}

TEST(Se3, AdjointRepresentationOfTheGroup) {
  oracle::Random random;
  const Pose H = se3::exp(random.twist(2)), G = se3::exp(random.twist(1));
  const Vector6 a = random.twist(0.7);
  EXPECT_LT(poseError(se3::exp(se3::Ad(H) * a), H * se3::exp(a) * H.inverse()), 1e-14);
  EXPECT_LT(relativeError(se3::Ad(H * G), se3::Ad(H) * se3::Ad(G)), 1e-15);
  EXPECT_LT(relativeError(se3::AdInverse(H), se3::Ad(H.inverse())), 1e-15);
  EXPECT_LT(relativeError(se3::AdInverse(H) * se3::Ad(H), Matrix6::Identity()), 2e-15);
  EXPECT_LT(relativeError(se3::Ad(se3::exp(a)), oracle::evaluate(oracle::exponentialSeries(), adLong(a), 40)), 1e-15);
}

TEST(Se3, ClosedFormsMatchFortyTermSeries) {
  oracle::Random random;
  const auto tangent = oracle::tangentSeries(), inverse = oracle::tangentInverseSeries();
  for (double angle : {0., 1e-9, 1e-4, 1e-2, 0.1, 0.5, 2., 3.}) {
    const Vector6 a = random.twist(angle);
    EXPECT_LT(relativeError(se3::tangent(a), oracle::evaluate(tangent, adLong(a), 40)), 1e-14) << angle;
    EXPECT_LT(relativeError(se3::tangentInverse(a), oracle::evaluate(inverse, adLong(a))), 1e-14) << angle;
    EXPECT_LT(relativeError(se3::tangent(a) * se3::tangentInverse(a), Matrix6::Identity()), 1e-14) << angle;
  }
}

TEST(Se3, ExpIsTheMatrixExponential) {
  oracle::Random random;
  for (double angle : angles) {
    const Vector6 a = random.twist(angle);
    oracle::Matrix S = oracle::Matrix::Zero(4, 4);
    S.topLeftCorner(3, 3) = so3::hat(a.tail<3>()).cast<oracle::Real>();
    S.topRightCorner(3, 1) = a.head<3>().cast<oracle::Real>();
    const oracle::Matrix exact = oracle::evaluate(oracle::exponentialSeries(), S, 40);
    const Pose H = se3::exp(a);
    EXPECT_LT(relativeError(H.R, exact.topLeftCorner(3, 3)), 1e-15) << angle;
    EXPECT_LT(relativeError(H.x, exact.topRightCorner(3, 1)), 1e-15) << angle;
  }
}

TEST(Se3, RoundTripsOfExpAndLog) {
  oracle::Random random;
  double worstTwist = 0, worstPose = 0;
  for (int i = 0; i < 100000; ++i) {
    const Vector6 a = random.twist(random.uniform(0, 3.1));
    const Pose H = se3::exp(a);
    worstTwist = std::max(worstTwist, (se3::log(H) - a).norm());
    worstPose = std::max(worstPose, poseError(se3::exp(se3::log(H)), H));
  }
  EXPECT_LT(worstTwist, 2e-14);
  EXPECT_LT(worstPose, 2e-14);
  for (int i = 0; i < 1000; ++i) {
    const Vector6 a = random.twist(pi - 1e-6);
    EXPECT_LT((se3::log(se3::exp(a)) - a).norm(), 1e-13);
    const Pose halfTurn = se3::exp(random.twist(pi));
    EXPECT_LT(poseError(se3::exp(se3::log(halfTurn)), halfTurn), 1e-14);
  }
}

TEST(Se3, TangentIsTheLeftTrivialisedDerivativeOfExp) {
  oracle::Random random;
  for (double angle : angles) {
    const Vector6 a = random.twist(angle);
    const auto difference = [&](const Vector6& v) { return increment(se3::exp(a), se3::exp(v)); };
    EXPECT_LT(relativeError(se3::tangent(a), oracle::centralDifferences<6, 6>(difference, a)), 1e-9) << angle;
  }
}

TEST(Se3, IdentitiesOfTheTangent) {
  oracle::Random random;
  for (double angle : angles) {
    const Vector6 a = random.twist(angle);
    const Matrix6 T = se3::tangent(a);
    EXPECT_LT(relativeError(se3::tangent(-a), se3::Ad(se3::exp(a)) * T), 1e-14) << angle;
    EXPECT_LT(relativeError(se3::tangentInverse(a) - se3::tangentInverse(-a), se3::ad(a)), 1e-14) << angle;
    EXPECT_LT(relativeError(se3::Ad(se3::exp(-a)), Matrix6::Identity() - se3::ad(a) * T), 1e-14) << angle;
  }
}

TEST(Se3, TangentAndItsDerivatives) {
  expectConsistent(
      {oracle::tangentSeries(), se3::tangent, se3::tangentDirectional, se3::tangentDerivative, se3::tangentTransposeDerivative}, 1e-14);
}

TEST(Se3, InverseTangentAndItsDerivatives) {
  expectConsistent({oracle::tangentInverseSeries(), se3::tangentInverse, se3::tangentInverseDirectional, se3::tangentInverseDerivative,
                    se3::tangentInverseTransposeDerivative},
                   1e-14);
}

TEST(Se3, InterpolationAndItsDerivatives) {
  using std::placeholders::_1, std::placeholders::_2;
  for (double xi : points) {
    SCOPED_TRACE(xi);
    expectConsistent({oracle::interpolationSeries(xi), std::bind(se3::interpolation, xi, _1),
                      std::bind(se3::interpolationDirectional, xi, _1, _2), std::bind(se3::interpolationDerivative, xi, _1, _2),
                      std::bind(se3::interpolationTransposeDerivative, xi, _1, _2)},
                     1e-14);
  }
}

TEST(Se3, InterpolationIsTheProductOfTangents) {
  oracle::Random random;
  for (double angle : angles)
    for (double xi : points) {
      const Vector6 d = random.twist(angle);
      const Matrix6 product = xi * se3::tangent(xi * d) * se3::tangentInverse(d);
      EXPECT_LT((se3::interpolation(xi, d) - product).cwiseAbs().maxCoeff(), 1e-14) << angle << " at " << xi;
    }
}

TEST(Se3, InterpolationGivesTheVariationOfTheHelix) {
  oracle::Random random;
  for (double angle : {0., 0.3, 1.4, 2.5})
    for (double xi : points) {
      const Pose A = se3::exp(random.twist(1)), B = A * se3::exp(random.twist(angle));
      const auto frame = [&](const Vector6& atA, const Vector6& atB) {
        const Pose a = A * se3::exp(atA), b = B * se3::exp(atB);
        return a * se3::exp(xi * increment(a, b));
      };
      const Vector6 zero = Vector6::Zero();
      const Pose H = frame(zero, zero);
      const Matrix6 star = se3::interpolation(xi, increment(A, B));
      const auto moveA = [&](const Vector6& v) { return increment(H, frame(v, zero)); };
      const auto moveB = [&](const Vector6& v) { return increment(H, frame(zero, v)); };
      EXPECT_LT((oracle::centralDifferences<6, 6>(moveA, zero) - (Matrix6::Identity() - star)).cwiseAbs().maxCoeff(), 1e-9);
      EXPECT_LT((oracle::centralDifferences<6, 6>(moveB, zero) - star).cwiseAbs().maxCoeff(), 1e-9);
    }
}

TEST(Se3, InterpolationCoefficientsAreExactOnBothSidesOfTheSwitch) {
  for (double xi : points) {
    const se3::InterpolationSeries series(xi);
    const auto reference = oracle::interpolationSeries(xi);
    EXPECT_EQ(series.xi(), xi);
    for (double x : {0., 1e-18, 1e-8, 1e-3, 0.249999999, 0.25, 0.5, 0.999, 1.5, 1.999999999, 2., 2.000000001, 3., 6., 9.8}) {
      const auto f = series.at(x);
      EXPECT_EQ(f.constant, xi);
      oracle::expectCoefficients(f.odd, reference, 1, x);
      oracle::expectCoefficients(f.even, reference, 2, x);
    }
  }
}

TEST(Se3, CayleyMapItsInverseAndTangent) {
  oracle::Random random;
  for (double size : {0., 1e-9, 1e-3, 0.5, 2., 10.}) {
    const Vector6 a = random.twist(size);
    Eigen::Matrix4d S = Eigen::Matrix4d::Zero();
    S.topLeftCorner<3, 3>() = so3::hat(a.tail<3>());
    S.topRightCorner<3, 1>() = a.head<3>();
    const Eigen::Matrix4d I = Eigen::Matrix4d::Identity(), exact = (I - S / 2).inverse() * (I + S / 2);
    const Pose H = se3::cayley(a);
    EXPECT_LT(relativeError(H.R, exact.topLeftCorner<3, 3>()), 1e-14) << size;
    EXPECT_LT(relativeError(H.x, exact.topRightCorner<3, 1>()), 1e-14) << size;
    EXPECT_LT((se3::cayleyInverse(H) - a).norm(), 1e-13 * (1 + size * size)) << size;
    const auto difference = [&](const Vector6& v) { return increment(H, se3::cayley(v)); };
    EXPECT_LT(relativeError(se3::cayleyTangent(a), oracle::centralDifferences<6, 6>(difference, a)), 1e-8) << size;
    EXPECT_LT(relativeError(se3::cayleyTangent(a) * se3::cayleyTangentInverse(a), Matrix6::Identity()), 1e-13) << size;
  }
}

TEST(Se3, NothingAllocates) {
  oracle::Random random;
  const Vector6 a = random.twist(1.1), b = random.twist(2.2);
  Eigen::internal::set_is_malloc_allowed(false);
  EXPECT_THROW(MatrixX(3, 3), std::logic_error); // the check itself works
  const Pose H = se3::exp(a) * se3::cayley(b);
  const se3::AdPowers powers(a);
  const se3::InterpolationSeries series(0.5);
  const auto f = series.at(powers.angleSquared());
  const Matrix6 sum = powers.evaluate(f) + powers.directional(f, b) + powers.derivative(f, b) + powers.transposeDerivative(f, b) +
                      se3::ad(a) * se3::coad(b) + se3::Ad(H) * se3::AdInverse(H) + se3::tangent(a) + se3::tangentInverse(b) +
                      se3::cayleyTangent(a) * se3::cayleyTangentInverse(b);
  const Vector6 back = se3::log(H) + se3::cayleyInverse(H);
  const Matrix3 R = so3::orthonormalised(1.1 * H.R) + so3::tangentDerivative(a.tail<3>(), back.head<3>()) +
                    so3::tangentInverseDerivative(a.tail<3>(), back.head<3>());
  Eigen::internal::set_is_malloc_allowed(true);
  EXPECT_TRUE(sum.allFinite() && R.allFinite());
}

}
}
