#include "tendril/shells/sheet_shape.h"

#include "shape_checks.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"
#include "tendril/shells/developable_sheet.h"
#include "tendril/shells/uniform_patch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>

namespace tendril {
namespace {

TEST(Taylor, CarriesDerivativesThroughFunctions) {
  const double x = 0.7, y = -0.4, z = 1.3;
  const auto f = [](auto a, auto b, auto c) { return sin(a * b) * sqrt(c + a * a) + cos(b) * (1.0 / 3) * c * c; };
  using T = Taylor<3>;
  const T t = f(T::variable(0, x), T::variable(1, y), T::variable(2, z));
  EXPECT_NEAR(t.value(), std::sin(x * y) * std::sqrt(z + x * x) + std::cos(y) * z * z / 3, 1e-15);
  const auto gradient = [&](double dx, double dy, double dz) {
    const Taylor<2> p = f(Taylor<2>::variable(0, x + dx), Taylor<2>::variable(1, y + dy), Taylor<2>::variable(2, z + dz));
    return p;
  };
  const double h = 1e-4;
  for (int k = 0; k < 3; ++k) {
    const Vector3 e = h * Vector3::Unit(k);
    const Taylor<2> ahead = gradient(e[0], e[1], e[2]), behind = gradient(-e[0], -e[1], -e[2]);
    EXPECT_NEAR((ahead.value() - behind.value()) / (2 * h), t.first(k), 1e-7);
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR((ahead.first(i) - behind.first(i)) / (2 * h), t.second(i, k), 1e-7);
      for (int j = 0; j < 3; ++j) EXPECT_NEAR((ahead.second(i, j) - behind.second(i, j)) / (2 * h), t.third(i, j, k), 1e-6);
    }
  }
}

TEST(SheetShape, KeepsLengthsAndHasExactDerivatives) { // T-III.3, T-III.15
  const Vector2 s(0.6, -0.35);
  for (const double kappa : {1.7, -0.8, 1e-3, 5.0}) {
    checkShape(CircularSheet(), {kappa, 0.6, 0}, s);
    checkShape(ClothoidSheet(), {kappa, 1.9, 0.6}, s);
    checkShape(ClothoidSheet(), {kappa, -0.7, 1.8}, s);
    for (const double epsilon : {0.0, 0.3, -0.6, 1e-4}) checkShape(ConicalSheet(), {kappa, 0.6, epsilon}, s);
  }
}

TEST(SheetShape, IsTheUniformPatchWhereItIsOne) {
  const Vector2 s(0.6, -0.35);
  for (const double kappa : {1.7, -0.8, 1e-9, 7.0}) {
    const Pose uniform = uniform_patch::frame(ConePoint::toCurvatures(kappa, 0.6), s);
    const auto expectSame = [&](const SheetShape& shape, const Vector3& q) {
      const Pose H = shape.frame(q.data(), s);
      EXPECT_LT((H.x - uniform.x).norm() + (H.R - uniform.R).norm(), 2e-14);
    };
    expectSame(CircularSheet(), {kappa, 0.6, 0});
    expectSame(ClothoidSheet(), {kappa, 0, 0.6});
    expectSame(ConicalSheet(), {kappa, 0.6, 0});
    expectSame(ThreeCurvatureSheet(), ConePoint::toCurvatures(kappa, 0.6));
  }
}

TEST(SheetShape, KnowsTheClothoidOfTheTable) { // T-III.15, T-III.16
  const Vector2 s(0.8, 0.6);
  const double alpha = 0.7, beta = 1.3, gamma = 0.4;
  const Vector3 q = ClothoidSheet::fromSource(alpha, beta, gamma), exact(0.53535128, 0.41474589, 0.54722217);
  EXPECT_LT((ClothoidSheet().frame(q.data(), s).x - exact).norm(), 1e-8);
  EXPECT_LT((ClothoidSheet::toSource(q) - Vector3(alpha, beta, gamma)).norm(), 1e-15);
  const SheetPoint<double> p = ClothoidSheet().at(q.data(), s);
  const double b11 = beta * (s[0] + alpha * s[1]) + gamma;
  EXPECT_LT((Vector3(p.k.data()) - b11 * Vector3(1, alpha * alpha, alpha)).norm(), 1e-14);

  const DevelopableSheet sheet({[&](double) { return alpha; }, [](double) { return 0.0; }}, [&](double psi) { return beta * psi + gamma; });
  const Vector3 reference = ClothoidSheet().frame(q.data(), s).x;
  const std::map<int, std::pair<double, double>> errors{
      {10, {3.40e-3, 2.59e-3}}, {20, {8.52e-4, 6.27e-4}}, {40, {2.14e-4, 1.54e-4}}, {80, {5.35e-5, 3.83e-5}}};
  for (const auto& [steps, error] : errors) {
    EXPECT_NEAR((sheet.frameAlongRay(s, steps).x - reference).norm() / error.first, 1, 0.05) << steps;
    EXPECT_NEAR((sheet.frameAlongRay(s, steps, 2, se3::StepMap::Cayley).x - reference).norm() / error.second, 1, 0.05) << steps;
  }
  EXPECT_LT((sheet.frame(s).x - reference).norm(), 1e-8);
  EXPECT_LT((sheet.frameAlongRay(s, 200, 4).x - reference).norm(), 1e-9);
  // Along s1, then along s2.
  const auto along = [&](int axis) {
    return [&, axis](double share) {
      const Vector3 b = sheet.curvatures(axis == 0 ? Vector2(share * s[0], 0) : Vector2(s[0], share * s[1]));
      Vector6 xi = Vector6::Zero();
      xi[axis] = 1, xi[3] = axis == 0 ? b[2] : b[1], xi[4] = axis == 0 ? -b[0] : -b[2];
      return Vector6(s[axis] * xi);
    };
  };
  const Pose first = se3::reconstruct<2>(se3::StepMap::Exponential, along(0), 1, 400);
  EXPECT_LT(((first * se3::reconstruct<2>(se3::StepMap::Exponential, along(1), 1, 400)).x - reference).norm(), 1e-5);
}

TEST(SheetShape, ClothoidsRollUp) { // against Simpson's rule with 400000 intervals
  const Vector3 q = ClothoidSheet::fromSource(0.7, 1000, 0.4), exact(-0.0024334826, 0.0382965622, 0.0210343897);
  EXPECT_LT((ClothoidSheet().frame(q.data(), {0.8, 0.6}).x - exact).norm(), 1e-8);
  const double endless[3]{0, 1e300, 0.5};
  EXPECT_NE(ClothoidSheet().refusal(endless, {0, 1, 0, 1}).find("rolled up"), std::string::npos);
}

TEST(SheetShape, ConesMeetInTheirApex) {
  // All rulings end in the apex, at the distance 1 / epsilon along b.
  const Vector3 q(0.9, 0.5, 0.8);
  const Vector2 apex = Vector2(std::sin(q[1]), -std::cos(q[1])) / q[2];
  const Vector3 in3(apex[0], apex[1], 0);
  for (const Vector2& s : {Vector2(0.4, 0.1), Vector2(-0.3, 0.6), Vector2(0.2, 0.9)}) {
    const Pose H = ConicalSheet().frame(q.data(), s);
    const Vector2 way = apex - s;
    EXPECT_LT((H.x + H.R.leftCols<2>() * way - in3).norm(), 1e-13);
  }
  EXPECT_FALSE(ConicalSheet().accepts(q.data(), {0, 2, -2, 2}));
  EXPECT_NE(ConicalSheet().refusal(q.data(), {0, 2, -2, 2}).find("rulings meet"), std::string::npos);
  EXPECT_TRUE(ConicalSheet().accepts(q.data(), {0, 0.5, 0, 0.5}));
  const double flat[3]{0, 0.5, 0};
  EXPECT_FALSE(CircularSheet().accepts(flat, {}));
  const double straight[3]{0, 0, 0.5};
  EXPECT_FALSE(ClothoidSheet().accepts(straight, {}));
}

TEST(DevelopableSheet, SolvesTheCompatibilityConditions) { // T-III.18
  const double c0 = 0.3, c1 = 0.5;
  const DevelopableSheet sheet({[=](double x) { return c0 + c1 * x; }, [=](double) { return c1; }},
                               [](double x) { return 1 + 0.4 * std::sin(3 * x); });
  const double h = 3e-4; // differences err by h^4, rounding by 1 / h
  for (const Vector2& s : {Vector2(0.2, 0.3), Vector2(0.8, -0.4), Vector2(0.5, 1.2)}) {
    EXPECT_NEAR(sheet.foot(s), s[0] + s[1] * (c0 + c1 * s[0]) / (1 - c1 * s[1]), 1e-14);
    const auto b = [&](double a1, double a2) { return sheet.curvatures(s + Vector2(a1, a2)); };
    const Vector3 d1 = (8 * (b(h, 0) - b(-h, 0)) - b(2 * h, 0) + b(-2 * h, 0)) / (12 * h), here = b(0, 0);
    const Vector3 d2 = (8 * (b(0, h) - b(0, -h)) - b(0, 2 * h) + b(0, -2 * h)) / (12 * h);
    EXPECT_NEAR(d2[0], d1[2], 1e-8);
    EXPECT_NEAR(d2[2], d1[1], 1e-8);
    EXPECT_NEAR(gaussianCurvature(here), 0, 1e-14);
    // The frame by rulings, along the ray, and of its neighbours agree.
    const Pose H = sheet.frame(s, 200), ray = sheet.frameAlongRay(s, 400, 4);
    EXPECT_LT((H.x - ray.x).norm() + (H.R - ray.R).norm(), 1e-8);
    const auto x = [&](double t) { return Vector3(sheet.frame(s + Vector2(0, t), 200).x); };
    EXPECT_LT(((8 * (x(h) - x(-h)) - x(2 * h) + x(-2 * h)) / (12 * h) - H.R.col(1)).norm(), 1e-8);
  }
  EXPECT_NO_THROW(sheet.check({0, 1, -1, 1.5}));
  EXPECT_THROW(sheet.check({0, 1, 0, 2.5}), InputError);
  EXPECT_THROW(sheet.foot({0.5, 2}), InputError);
}

TEST(DevelopableSheet, IsAConeWhereTheDirectionIsLinear) {
  // F = c1 psi: the apex lies at s = (0, 1 / c1); a circular cone has k = kappa (1 + (c1 psi)^2)^(-3/2) on the line.
  const double kappa = 0.8, c1 = -0.6;
  const DevelopableSheet sheet({[=](double x) { return c1 * x; }, [=](double) { return c1; }},
                               [=](double x) { return kappa * std::pow(1 + c1 * c1 * x * x, -1.5); });
  const Vector3 q(kappa, 0, -c1); // b = (0, -1): the apex in the direction of -e2
  for (const Vector2& s : {Vector2(0.3, 0.4), Vector2(-0.5, 0.2)}) {
    const Pose H = ConicalSheet().frame(q.data(), s), G = sheet.frame(s, 200);
    EXPECT_LT((H.x - G.x).norm() + (H.R - G.R).norm(), 1e-9);
  }
}

}
}
