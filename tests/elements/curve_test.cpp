#include "tendril/elements/curve.h"

#include "tendril/model/error.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>

namespace tendril {
namespace {

constexpr double pi = std::numbers::pi;

Vector3 tangent(const Curve& curve, double s) { return curve.frame(s).R.col(0); }

/// The unit circle, run through with any speed.
CurvePoint onCircle(double angle, double rate) {
  return {{std::cos(angle), std::sin(angle), 0}, rate * Vector3(-std::sin(angle), std::cos(angle), 0)};
}

void expectArc(const Curve& curve, double angle, double tolerance) {
  EXPECT_NEAR(curve.length(), angle, tolerance);
  for (const double share : {0., 0.1, 0.37, 0.5, 0.831, 1.}) {
    const double s = share * curve.length();
    EXPECT_LT((curve.frame(s).x - onCircle(s, 1).x).norm(), tolerance) << share;
    EXPECT_LT((tangent(curve, s) - onCircle(s, 1).rate).norm(), tolerance) << share;
    EXPECT_NEAR(curve.turn(0, s), s, tolerance) << share;
  }
}

TEST(ParametricCurve, IsACircleHoweverFastItIsRunThrough) {
  expectArc(Curve::parametric([](double u) { return onCircle(u, 1); }, 0, 2, {}), 2, 1e-12);
  expectArc(Curve::parametric([](double u) { return onCircle(u * u, 2 * u); }, 0, 1.4, {}), 1.96, 1e-12); // it starts from rest
  expectArc(Curve::parametric([](double u) { return onCircle(-3 * u, -3); }, 0, -1, {}), 3, 1e-12);
}

TEST(ParametricCurve, IsAParabola) {
  // y = x^2/2: s = (x sqrt(1 + x^2) + asinh x)/2
  const Curve curve = Curve::parametric([](double x) { return CurvePoint{{x, x * x / 2, 0}, {1, x, 0}}; }, 0, 1, {});
  const auto arclength = [](double x) { return (x * std::sqrt(1 + x * x) + std::asinh(x)) / 2; };
  EXPECT_NEAR(curve.length(), arclength(1), 1e-12);
  for (const double x : {0.1, 0.3333, 0.77, 0.9999}) {
    EXPECT_LT((curve.frame(arclength(x)).x - Vector3(x, x * x / 2, 0)).norm(), 1e-11) << x;
    EXPECT_LT((tangent(curve, arclength(x)) - Vector3(1, x, 0).normalized()).norm(), 1e-7) << x; // second order between the frames
  }
}

TEST(ParametricCurve, KeepsTheDirectionFromWhichItEnds) {
  // What a formula says beyond its end is no matter: its derivative from the right is that of what follows.
  const auto bent = [](double u) { return CurvePoint{{u, std::min(u, 1.), 0}, {1, u < 1 ? 1. : 0., 0}}; };
  const Curve curve = Curve::parametric(bent, 0, 1, {});
  EXPECT_NEAR(curve.length(), std::sqrt(2.), 1e-12);
  EXPECT_LT((tangent(curve, curve.length()) - Vector3(1, 1, 0).normalized()).norm(), 1e-9);
}

// A piece of a coarse grid may turn by 360 degrees, and look straight.
TEST(ParametricCurve, HasAllItsTurns) {
  const double rise = 0.5; // in a radian
  for (const int turns : {1, 20, 125, 250, 500}) {
    const auto coil = [&](double u) {
      const double a = 2 * pi * turns * u;
      return CurvePoint{{std::cos(a), std::sin(a), rise * a}, 2 * pi * turns * Vector3(-std::sin(a), std::cos(a), rise)};
    };
    const double length = 2 * pi * turns * std::hypot(1., rise);
    EXPECT_NEAR(Curve::parametric(coil, 0, 1, {}).length(), length, (turns < 100 ? 1e-6 : 0.02) * length) << turns;
  }
}

TEST(ParametricCurve, SplineHasTheTangentOfItsWay) {
  const Curve curve = Curve::spline({{0, 0, 0}, {1, 0.5, 0}, {2, -0.3, 0.4}, {2.5, 1, 1}}, {});
  const double e = 1e-4 * curve.length();
  for (const double share : {0.05, 0.3, 0.5, 0.72, 0.95}) {
    const double s = share * curve.length();
    const Vector3 slope = (curve.frame(s + e).x - curve.frame(s - e).x) / (2 * e);
    EXPECT_NEAR(slope.norm(), 1, 1e-6) << share;
    EXPECT_LT((slope - tangent(curve, s)).norm(), 1e-6) << share;
  }
}

TEST(ParametricCurve, RefusesWhatIsNoCurve) {
  const auto still = [](double) { return CurvePoint{{1, 2, 3}, {0, 0, 0}}; };
  EXPECT_THROW(Curve::parametric(still, 0, 1, {}), InputError);
  EXPECT_THROW(Curve::parametric([](double u) { return onCircle(u, 1); }, 1, 1, {}), InputError);
  const auto gone = [](double u) { return CurvePoint{{u > 0.5 ? std::numeric_limits<double>::quiet_NaN() : u, 0, 0}, {1, 0, 0}}; };
  EXPECT_THROW(Curve::parametric(gone, 0, 1, {}), InputError);
}

}
}
