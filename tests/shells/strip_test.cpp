#include "tendril/shells/strip.h"

#include "support/validator.h"
#include "tendril/elements/joints.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/statics/minimum_energy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tendril::test {
namespace {

/// A strip with bends and slopes of rulings by functions of the share of its length.
template <class Bend, class Slope> StripOptions strip(double length, double width, int patches, const Bend& bend, const Slope& slope) {
  StripOptions o;
  o.properties.domain = {0, length, 0, width};
  for (int i = 0; i < patches; ++i)
    o.patches.push_back({.begin = slope(double(i) / patches), .end = slope(double(i + 1) / patches), .bend = bend((i + 0.5) / patches)});
  return o;
}

StripOptions wavyStrip() {
  StripOptions o = strip(
      1.2, 0.3, 3, [](double x) { return 2.5 - x; }, [](double x) { return 0.6 * std::sin(std::numbers::pi * x); });
  o.properties.areaDensity = 1.3, o.properties.rigidity = 2.1;
  o.frame = {so3::exp({0.3, 0.6, -0.2}), {0.2, -0.1, 0.4}};
  for (StripPatch& p : o.patches) p.natural = ConePoint::toCurvatures(0.7 * p.bend, 0.2);
  return o;
}

}

TEST(StripSheet, IsIsometricAndBoundedByRulings) {
  const StripSheet sheet(0.2);
  const double q[3]{0.4, 0.25, 0.34};
  const auto at = [&](double s1, double s2) { return sheet.frame(q, {s1, s2}); };
  for (const double s2 : {-0.4, 0.1, 0.5}) {
    for (const double s1 : {-0.1, 0.07, 0.25}) {
      const Pose H = at(s1, s2);
      const double e = 1e-4;
      const auto slope = [&](double d1, double d2) -> Vector3 {
        return (8 * (at(s1 + d1, s2 + d2).x - at(s1 - d1, s2 - d2).x) - (at(s1 + 2 * d1, s2 + 2 * d2).x - at(s1 - 2 * d1, s2 - 2 * d2).x)) /
               (12 * e);
      };
      EXPECT_LT((slope(e, 0) - H.R.col(0)).norm() + (slope(0, e) - H.R.col(1)).norm(), 1e-11);
      const std::array<double, 3> k = sheet.at(q, {s1, s2}).k;
      EXPECT_NEAR(k[0] * k[1], k[2] * k[2], 1e-15);
    }
    // Along both rulings the sheet is straight and its frame the same.
    for (const double begin : {0., 0.2}) {
      const double eta = begin == 0 ? q[0] : q[1];
      const Pose H = at(begin, 0).relative(at(begin + eta * s2, s2));
      EXPECT_LT((H.x - Vector3(eta * s2, s2, 0)).norm() + (H.R - Matrix3::Identity()).norm(), 1e-13);
    }
  }
}

TEST(StripSheet, HasTheEnergyOfItsCurvatures) {
  PatchProperties p;
  p.domain = {0, 0.2, -0.4, 0.4}, p.rigidity = 1.7;
  p.natural = ConePoint::toCurvatures(0.8, 0.4);
  const StripSheet sheet(0.2);
  for (const double end : {0.4, 0.25, 0.1, 0.75, 0.85}) {
    const double q[3]{0.4, end, 0.34};
    constexpr int n = 100; // of the midpoint rule between the rulings, with its error in h^2 taken out
    const auto energy = [&](int points) {
      double sum = 0;
      for (int i = 0; i < points; ++i) {
        for (int j = 0; j < points; ++j) {
          const Vector2 shares((i + 0.5) / points, (j + 0.5) / points), s = sheet.meshPoint(q, p.domain, shares);
          const Vector3 strain = Vector3(sheet.at(q, s).k.data()) - p.natural;
          sum += (1 + (q[1] - q[0]) / 0.2 * s[1]) * p.domain.area() / (points * points) * strain.dot(p.stiffness() * strain) / 2;
        }
      }
      return sum;
    };
    EXPECT_NEAR(sheet.bending(q, p)->energy.value(), (4 * energy(n) - energy(n / 2)) / 3, 1e-6);
  }
}

TEST(Strip, PassesTheValidatorWhereItFloats) {
  ModelBuilder builder;
  addStrip(builder, "ribbon", wavyStrip());
  validate(*builder.build(), {.amplitude = 0.02, .internal = true});
}

TEST(Strip, PassesTheValidatorWithWeightAndDampingWhereItIsHeld) {
  ModelBuilder builder;
  builder.setGravity({{1, 2, -9.81}, TimeFunction::proportional()});
  StripOptions options = wavyStrip();
  options.properties.dampingTime = 0.1;
  const ShellPart ribbon = addStrip(builder, "ribbon", options);
  builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("ground", builder.pose(ribbon.frame)),
                             builder.bodyMarker("begin", ribbon.frame));
  validate(*builder.build(), {.amplitude = 0.02, .conservative = false});
}

TEST(Strip, RefusesWhatIsNoStrip) {
  const auto refuses = [](const StripOptions& o, const std::string& word) {
    ModelBuilder builder;
    try {
      addStrip(builder, "ribbon", o);
      ADD_FAILURE() << "took: " << word;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  StripOptions o = wavyStrip();
  o.patches[1].begin += 0.1;
  refuses(o, "no ruling in common");
  o = wavyStrip();
  o.patches[0].begin = 0.2;
  refuses(o, "ends are rulings");
  o = wavyStrip();
  o.patches[0].end = o.patches[1].begin = 2.9;
  refuses(o, "cross within the width");
  o = wavyStrip();
  o.patches[2].natural = {1, 1, 0};
  refuses(o, "natural");
  o = wavyStrip();
  o.properties.poissonRatio = 0.6;
  refuses(o, "Poisson");
  EXPECT_THROW(PatchProperties::of({0, 1, 0, 0.1}, 0, {}), InputError);
}

}
