#include "tendril/shells/ruled_sheet.h"

#include "shape_checks.h"
#include "shells/gauss_rule.h"
#include "support/validator.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"
#include "tendril/shells/developable_sheet.h"
#include "tendril/shells/sheet_motion.h"
#include "tendril/shells/shell_patches.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace tendril::test {
namespace {

const RuledSheet general({0.4, -0.3}, {0.5, 0.2});

/// The general solution with the same free functions, in the axes of the line.
DevelopableSheet inItsAxes(const Vector3& q) {
  const auto f = [e = q[2]](double x) { return -e * (x + 0.5 * x * x + 0.2 * x * x * x); };
  const auto slope = [e = q[2]](double x) { return -e * (1 + x + 0.6 * x * x); };
  return {{f, slope}, [k = q[0]](double x) { return k * (1 + 0.4 * x - 0.3 * x * x); }};
}

TEST(RuledSheet, KeepsLengthsAndHasExactDerivatives) {
  const Vector2 s(0.4, -0.1);
  for (const double kappa : {1.7, -0.8, 1e-3})
    for (const double epsilon : {0.0, 0.3, -0.5}) checkShape(general, {kappa, 0.6, epsilon}, s);
}

TEST(RuledSheet, IsTheGeneralSolution) { // T-III.18
  const Vector3 q(1.3, 0.7, 0.4);
  const DevelopableSheet sheet = inItsAxes(q);
  const double c = std::cos(q[1]), n = std::sin(q[1]);
  Matrix3 axes;
  axes << c, -n, 0, n, c, 0, 0, 0, 1;
  for (const Vector2& s : {Vector2(0.5, 0.2), Vector2(-0.4, 0.6), Vector2(0.3, -0.7)}) {
    const Vector2 local(c * s[0] + n * s[1], -n * s[0] + c * s[1]);
    const Pose H = sheet.frame(local, 2000), own = general.frame(q.data(), s);
    EXPECT_LT((own.x - axes * H.x).norm(), 1e-9);
    EXPECT_LT((own.R - axes * H.R * axes.transpose()).norm(), 1e-9);
    const Vector3 b = sheet.curvatures(local);
    Matrix3 B = Matrix3::Zero();
    B.topLeftCorner<2, 2>() << b[0], b[2], b[2], b[1];
    const Matrix3 turned = axes * B * axes.transpose();
    const SheetPoint<double> p = general.at(q.data(), s);
    EXPECT_LT((Vector3(p.k.data()) - Vector3(turned(0, 0), turned(1, 1), turned(0, 1))).norm(), 1e-12);
  }
}

TEST(RuledSheet, IsACylinderWhereItsRulingsAreParallel) {
  const Vector2 s(0.6, -0.35);
  const Vector3 circle(1.7, 0.6, 0), clothoid(1.7, 0.85, 0.6);
  const Pose a = RuledSheet().frame(circle.data(), s), b = CircularSheet().frame(circle.data(), s);
  EXPECT_LT((a.x - b.x).norm() + (a.R - b.R).norm(), 1e-13);
  const Pose c = RuledSheet({0.5}).frame(circle.data(), s), d = ClothoidSheet().frame(clothoid.data(), s);
  EXPECT_LT((c.x - d.x).norm() + (c.R - d.R).norm(), 1e-13);
  // Rolled up by some turns, in many panels.
  const Vector3 roll(60, 0.6, 0);
  const Pose e = RuledSheet().frame(roll.data(), s), f = CircularSheet().frame(roll.data(), s);
  EXPECT_LT((e.x - f.x).norm() + (e.R - f.R).norm(), 1e-12);
}

TEST(RuledSheet, RefusesRulingsThatCross) {
  const PatchDomain domain{0, 1, -0.5, 0.5};
  const double wide[3]{1, 0, 0.5}, crossed[3]{1, 0, 2.5}, level[3]{0, 0, 0.1}, rolled[3]{1e3, 0, 0};
  EXPECT_TRUE(RuledSheet().accepts(wide, domain));
  EXPECT_NE(RuledSheet().refusal(crossed, domain).find("rulings meet"), std::string::npos);
  EXPECT_NE(RuledSheet().refusal(level, domain).find("flat"), std::string::npos);
  EXPECT_NE(RuledSheet().refusal(rolled, domain).find("rolled up"), std::string::npos);
  // Only the bend of the edge of regression brings it to the sheet.
  EXPECT_TRUE(RuledSheet({}, {}).accepts(wide, domain));
  EXPECT_FALSE(RuledSheet({}, {4.0}).accepts(wide, domain));
  EXPECT_THROW(RuledSheet(std::vector<double>(6, 0.1), std::vector<double>(6, 0.1)), InputError);
}

/// Frequencies of small motions about a natural shape, of a sheet that is held: stiffness against mass of its coordinates.
Vector3 frequencies(std::shared_ptr<const SheetShape> shape, const PatchProperties& properties, const Vector3& q) {
  ModelBuilder builder;
  ShellOptions options;
  options.properties = properties, options.shape = std::move(shape), options.natural = q;
  const ShellPart shell = addShell(builder, "sheet", options);
  const auto model = builder.build();
  Assembly assembly(*model);
  State state = model->initialState();
  state.a.setZero(model->nv()), state.lambda.setZero(0);
  const auto matrix = [&](const Request& request) {
    assembly.begin(request);
    model->evaluate(state, assembly);
    return Matrix3(MatrixX(assembly.matrix()).bottomRightCorner<3, 3>());
  };
  const Matrix3 K = matrix({.motion = false}), M = matrix({.stiffness = false, .inertia = 1});
  return Eigen::GeneralizedSelfAdjointEigenSolver<Matrix3>(K, M).eigenvalues().cwiseSqrt();
}

/// As it becomes flat, a sheet moves as a plate with the deflections u^2 / 2, u w and u^2 w / 2, whatever its curvature and the turning of
/// its rulings: no frequency grows without bound. The fastest is that of rulings that turn.
TEST(RuledSheet, HasTheModesOfAPlateWhereItIsNearlyFlat) {
  PatchProperties p;
  p.domain = {-0.2, 0.8, -0.3, 0.4}, p.areaDensity = 1.3, p.rigidity = 2.1;
  const GaussRule rule(4);
  Matrix3 K = Matrix3::Zero(), M = Matrix3::Zero();
  for (std::size_t i = 0; i < rule.x.size(); ++i)
    for (std::size_t j = 0; j < rule.x.size(); ++j) {
      const double u = 0.3 + 0.5 * rule.x[i], w = 0.05 + 0.35 * rule.x[j], area = 0.7 / 4 * rule.w[i] * rule.w[j];
      const Vector3 z(u * u / 2, u * w, u * u * w / 2);
      Matrix3 bend;
      bend << 1, 0, w, 0, 0, 0, 0, 1, u; // b11, b22, b12
      M += area * p.areaDensity * z * z.transpose(), K += area * bend.transpose() * p.stiffness() * bend;
    }
  const Vector3 plate = Eigen::GeneralizedSelfAdjointEigenSolver<Matrix3>(K, M).eigenvalues().cwiseSqrt();
  const std::shared_ptr<const SheetShape> shapes[]{std::make_shared<RuledSheet>(), std::make_shared<ConicalSheet>()};
  for (const double kappa : {1e-2, 1e-3}) {
    for (const double epsilon : {1e-2, -1e-5})
      for (const auto& shape : shapes)
        EXPECT_LT((frequencies(shape, p, {kappa, 0, epsilon}) - plate).norm() / plate.norm(), std::abs(epsilon) + kappa * kappa) << epsilon;
  }
}

ShellOptions sheet() {
  ShellOptions o;
  o.properties.domain = {-0.2, 0.8, -0.3, 0.4};
  o.properties.areaDensity = 1.3, o.properties.rigidity = 2.1;
  o.shape = std::make_shared<RuledSheet>(std::vector<double>{0.4}, std::vector<double>{0.5});
  o.natural = Vector3(1.25, 0.6, 0.22), o.initial = Vector3(1.2, 0.6, 0.2), o.rates = Vector3(0.1, -0.05, 0.02);
  o.frame = {so3::exp(Vector3(0.3, 0.6, -0.2)), Vector3(0.2, -0.1, 0.4)};
  return o;
}

/// Slowly, so that the stiff mode, whose accelerations are large, leaves the differences of the energy exact enough.
TEST(RuledSheet, PassesTheValidatorWhereItFloats) {
  ModelBuilder builder;
  addShell(builder, "leaf", sheet());
  validate(*builder.build(), {.amplitude = 0.02, .speed = 0.1, .internal = true});
}

TEST(RuledSheet, KeepsEnergyAndMomentumToTheFourthOrder) {
  const auto drift = [](double step) {
    ModelBuilder builder;
    ShellOptions options = sheet();
    options.twist << 0.3, 0.2, 1.0, 0.2, -0.3, 0.2;
    const ShellPart shell = addShell(builder, "leaf", options);
    const auto model = builder.build();
    SheetMotion motion(*model, {.duration = 0.08, .step = step, .shells = {shell}, .held = {}});
    motion.start();
    const double energy = model->energy(motion.state()).total();
    const Momentum first = model->momentum(motion.state());
    while (!motion.finished()) motion.advance();
    const Momentum last = model->momentum(motion.state());
    return std::pair(std::abs(model->energy(motion.state()).total() - energy),
                     (last.linear - first.linear).norm() + (last.angular - first.angular).norm());
  };
  const auto [e1, p1] = drift(8e-3);
  const auto [e2, p2] = drift(4e-3);
  EXPECT_GT(std::log2(e1 / e2), 3.5);
  EXPECT_NEAR(std::log2(p1 / p2), 4, 0.5);
}

}
}
