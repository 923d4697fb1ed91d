#include "tendril/lie/rkmk.h"

#include "jacobi.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace tendril {
namespace {

using se3::StepMap;
constexpr std::array bothMaps{StepMap::Exponential, StepMap::Cayley};

Vector6 strains(double k1, double k2, double twist) {
  Vector6 xi;
  xi << 0, 0, 1, k1, k2, twist;
  return xi;
}

double tipError(const Pose& H, const Vector3& tip) { return (H.x - tip).norm(); }

/// kappa_1 = k0 cn(k0 s / (2 p), p), an elastica with inflections; reference tip from a fine integration (Blumentals 2017, fig. 6.8).
TEST(Rkmk, ErrorsOfAnElasticaAreThoseOfTheMethods) {
  constexpr double k0 = 1, p = 0.8, length = 100;
  const auto elastica = [](double s) { return strains(k0 * oracles::jacobi(k0 * s / (2 * p), p).cn, 0, 0); };
  const Vector3 tip(0, -1.55301375, 27.4251222);
  const std::vector<int> steps{100, 200, 1000, 2000};
  const auto expect = [&](const std::vector<double>& errors, auto reconstruct) {
    for (std::size_t k = 0; k < steps.size(); ++k)
      EXPECT_NEAR(tipError(reconstruct(steps[k]), tip) / errors[k], 1, errors[k] < 1e-6 ? 0.2 : 0.05) << steps[k];
  };
  using se3::reconstruct;
  expect({14.37, 7.124, 1.421, 0.7106}, [&](int n) { return reconstruct<1>(StepMap::Exponential, elastica, length, n); });
  expect({14.81, 7.188, 1.420, 0.7103}, [&](int n) { return reconstruct<1>(StepMap::Cayley, elastica, length, n); });
  expect({3.266, 1.050, 4.551e-2, 1.140e-2}, [&](int n) { return reconstruct<2>(StepMap::Cayley, elastica, length, n); });
  expect({2.251, 0.5808, 2.347e-2, 5.870e-3}, [&](int n) { return reconstruct<2>(StepMap::Exponential, elastica, length, n); });
  expect({7.9e-3, 6.3e-4, 1.1e-6, 6.8e-8}, [&](int n) { return reconstruct<4>(StepMap::Exponential, elastica, length, n); });
  EXPECT_NEAR(reconstruct<4>(StepMap::Exponential, elastica, length, 4000).R(2, 2), -0.08194896, 1e-8);
}

/// Bending and twist in space.
TEST(Rkmk, OrdersInSpace) {
  const auto xi = [](double s) { return strains(std::cos(0.7 * s), 0.5 * std::sin(s), 0.4 + 0.2 * std::cos(0.3 * s)); };
  constexpr double length = 20;
  const Vector3 tip(-1.99338817, -6.03194821, 2.40794572);
  const Pose fine = se3::reconstruct<4>(StepMap::Exponential, xi, length, 8000);
  EXPECT_LT(tipError(fine, tip), 1e-8);
  const auto order = [&](auto reconstruct, int n) {
    return std::log2(tipError(reconstruct(n), fine.x) / tipError(reconstruct(2 * n), fine.x));
  };
  for (const StepMap map : bothMaps) {
    EXPECT_NEAR(order([&](int n) { return se3::reconstruct<1>(map, xi, length, n); }, 1600), 1, 0.1);
    EXPECT_NEAR(order([&](int n) { return se3::reconstruct<2>(map, xi, length, n); }, 400), 2, 0.1);
    EXPECT_NEAR(order([&](int n) { return se3::reconstruct<4>(map, xi, length, n); }, 200), 4, 0.15);
  }
}

/// A rational map whose translation lacks w w^T u / 4 is no Cayley map of SE(3): with its tangent the method of order 4 falls to order 2.
TEST(Rkmk, AMapWithAnotherTangentLosesItsOrder) {
  const auto xi = [](double s) { return strains(std::cos(0.7 * s), 0.5 * std::sin(s), 0.4 + 0.2 * std::cos(0.3 * s)); };
  constexpr double length = 20;
  const Vector3 exact = se3::reconstruct<4>(StepMap::Exponential, xi, length, 8000).x;
  const auto misprinted = [&](int steps) {
    Pose H;
    const double h = length / steps;
    for (int i = 0; i < steps; ++i) {
      const Vector6 theta = se3::rkmkTwist<4>(StepMap::Cayley, xi, i * h, h);
      const Vector3 u = theta.head<3>(), w = theta.tail<3>();
      H = H * Pose{so3::cayley(w), 2 / (4 + w.squaredNorm()) * (2 * u + w.cross(u))};
    }
    return (H.x - exact).norm();
  };
  EXPECT_NEAR(std::log2(misprinted(400) / misprinted(800)), 2, 0.2);
}

/// Constant strains: radius kappa / (kappa^2 + tau^2), pitch 2 pi tau / (kappa^2 + tau^2), whatever the step.
TEST(Rkmk, OneStepIsTheHelix) {
  const double k1 = 0.6, k2 = -0.8, twist = 0.7, length = 4.3;
  const Pose end = se3::reconstruct<1>(
      StepMap::Exponential, [&](double) { return strains(k1, k2, twist); }, length, 1);
  // About the axis along w through the centre: the end is turned by |w| L and moved by (v . w/|w|) L along it.
  const Vector3 w(k1, k2, twist), v = Vector3::UnitZ(), axis = w.normalized();
  const double turn = w.norm() * length, kappa = std::hypot(k1, k2), radius = kappa / w.squaredNorm();
  const Vector3 centre = w.cross(v) / w.squaredNorm();
  EXPECT_NEAR(centre.norm(), radius, 1e-15);
  const Vector3 arm = -centre;
  const Vector3 expected = centre + std::cos(turn) * arm + std::sin(turn) * axis.cross(arm) + axis * axis.dot(v) * length;
  EXPECT_LT((end.x - expected).norm(), 1e-13);
  EXPECT_NEAR(axis.dot(v) * 2 * M_PI / w.norm(), 2 * M_PI * twist / w.squaredNorm(), 1e-13); // pitch
}

TEST(Rkmk, StaysOnTheGroup) {
  const auto xi = [](double s) { return strains(std::cos(0.7 * s), 0.5 * std::sin(s), 0.4); };
  for (const StepMap map : bothMaps) {
    const Pose end = se3::reconstruct<2>(map, xi, 1000, 100000);
    EXPECT_LT((end.R.transpose() * end.R - Matrix3::Identity()).norm(), 1e-10);
  }
}

}
}
