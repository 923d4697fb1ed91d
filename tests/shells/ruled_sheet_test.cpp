#include "tendril/shells/ruled_sheet.h"

#include "shape_checks.h"
#include "shells/gauss_rule.h"
#include "support/validator.h"
#include "tendril/model/error.h"
#include "tendril/shells/developable_sheet.h"
#include "tendril/shells/sheet_motion.h"
#include "tendril/shells/shell_patches.h"

#include <gtest/gtest.h>

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
  EXPECT_LT((c.x - d.x).norm() + (c.R - d.R).norm(), 1e-11);
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
}

/// Soft, and close to its natural shape: turning rulings carry little mass, and move fast.
ShellOptions sheet() {
  ShellOptions o;
  o.properties.domain = {-0.2, 0.8, -0.3, 0.4};
  o.properties.areaDensity = 1.3, o.properties.rigidity = 0.05;
  o.shape = std::make_shared<RuledSheet>(std::vector<double>{0.4}, std::vector<double>{0.5});
  o.natural = Vector3(1.25, 0.6, 0.22), o.initial = Vector3(1.2, 0.6, 0.2), o.rates = Vector3(0.1, -0.05, 0.02);
  o.frame = {so3::exp(Vector3(0.3, 0.6, -0.2)), Vector3(0.2, -0.1, 0.4)};
  return o;
}

TEST(FullRuledSheet, PassesTheValidatorWhereItFloats) {
  ModelBuilder builder;
  addShell(builder, "leaf", sheet());
  validate(*builder.build(), {.amplitude = 0.02, .internal = true});
}

TEST(FullRuledSheet, KeepsEnergyAndMomentumToTheFourthOrder) {
  const auto drift = [](double step) {
    ModelBuilder builder;
    ShellOptions options = sheet();
    options.twist << 0.3, 0.2, 1.0, 0.2, -0.3, 0.2;
    const ShellPart shell = addShell(builder, "leaf", options);
    const auto model = builder.build();
    SheetMotion motion(*model, {.duration = 0.32, .step = step, .shells = {shell}, .held = {}});
    motion.start();
    const double energy = model->energy(motion.state()).total();
    const Momentum first = model->momentum(motion.state());
    while (!motion.finished()) motion.advance();
    const Momentum last = model->momentum(motion.state());
    return std::pair(std::abs(model->energy(motion.state()).total() - energy),
                     (last.linear - first.linear).norm() + (last.angular - first.angular).norm());
  };
  const auto [e1, p1] = drift(3.2e-2);
  const auto [e2, p2] = drift(1.6e-2);
  EXPECT_GT(std::log2(e1 / e2), 3.5);
  EXPECT_NEAR(std::log2(p1 / p2), 4, 0.5);
}

}
}
