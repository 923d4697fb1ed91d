#include "tendril/statics/load_stepping.h"

#include "elastica.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/se3.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>

namespace tendril::test {
namespace {

constexpr double pi = std::numbers::pi;
constexpr std::array models{BeamModel::SimoReissner, BeamModel::KirchhoffLove, BeamModel::InextensibleKirchhoff};

/// Square cantilever of side 1e-4 m and length 1 m under an end moment: curvature k, any slenderness must do.
Mechanism bentCantilever(double k, int elements, BeamModel model) {
  const double side = 1e-4, E = 210e9;
  const auto section = SectionProperties::of(Section::rectangle(side, side), {.youngsModulus = E, .poissonRatio = 0.3, .density = 7800});
  MechanismBuilder b;
  const auto beam = b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = elements, .model = model});
  b.clamp("root", beam.start());
  b.moment("tip moment", beam.end(), {0, 0, E * std::pow(side, 4) / 12 * k}, LoadDirection::Follower, TimeFunction::proportional());
  return b.build();
}

Pose tip(const Mechanism& m, const State& s) { return loadPose(s.q.data() + m.model->blocks()[m.beams[0].nodes.back()].q); }

TEST(LoadStepping, PureBendingIsExactOnAnyMesh) {
  const double k = pi / 8;
  for (BeamModel model : models) {
    for (int elements : {1, 2, 5}) {
      SCOPED_TRACE(std::to_string(elements) + " elements, model " + std::to_string(int(model)));
      const Mechanism m = bentCantilever(k, elements, model);
      LoadStepping statics(*m.model, {.steps = 1});
      statics.start();
      const StepReport& report = statics.advance();
      const Pose end = tip(m, statics.state());
      EXPECT_NEAR(end.x.x(), std::sin(k) / k, 1e-9);
      EXPECT_NEAR(end.x.y(), (1 - std::cos(k)) / k, 1e-9);
      EXPECT_LE(report.iterations, 8);
      EXPECT_TRUE(report.stable());
      const Vector6 strain = m.model->term<Beams>()->strain(statics.state(), 0);
      EXPECT_LT(strain.head<3>().norm(), 1e-10);
      EXPECT_NEAR(strain[5], k, 1e-8);
    }
  }
}

TEST(LoadStepping, EndMomentRollsACantileverIntoACircle) {
  for (BeamModel model : models) {
    const Mechanism m = bentCantilever(2 * pi, 8, model);
    LoadStepping statics(*m.model, {.steps = 10});
    statics.start();
    while (!statics.finished()) statics.advance();
    EXPECT_LT(tip(m, statics.state()).x.norm(), 1e-8);
  }
}

TEST(LoadStepping, HeavyCantileverFollowsTheElastica) {
  const double R = 0.01, E = 5e6, rho = 1100, gamma = 10;
  for (BeamModel model : models) {
    MechanismBuilder b;
    b.gravity({0, -gamma * E * R * R / (4 * rho), 0}, TimeFunction::proportional());
    const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = E, .poissonRatio = 0.5, .density = rho});
    const auto beam = b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 50, .model = model});
    b.clamp("root", beam.start());
    const Mechanism m = b.build();
    LoadStepping statics(*m.model, {.steps = 5});
    statics.start();
    while (!statics.finished()) EXPECT_TRUE(statics.advance().stable());
    const Vector3 x = tip(m, statics.state()).x;
    const double reference = -oracles::heavyElasticaTip(gamma).y() / oracles::heavyElasticaTip(gamma).x();
    EXPECT_NEAR(-x.y() / x.x(), reference, 0.01 * reference);
  }
}

}
}
