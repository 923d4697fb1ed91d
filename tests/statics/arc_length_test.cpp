#include "tendril/statics/arc_length.h"

#include "lee_frame.h"
#include "tendril/elements/mechanism.h"

#include <gtest/gtest.h>

#include <numbers>
#include <vector>

namespace tendril::test {
namespace {

/// Two legs of 120 joined rigidly at the corner, both ends hinged, dead load 24 from the corner.
Mechanism leeFrame(int elements) {
  Matrix6 K = Matrix6::Zero();
  K.diagonal() << 43.2e6, 16.62e6, 16.62e6, 11.08e6, 14.4e6, 14.4e6;
  const auto section = SectionProperties::general(K, Matrix6::Zero());
  MechanismBuilder b;
  const auto column = b.beam("column", Curve::straight({0, 0, 0}, {0, 120, 0}, Vector3::UnitZ()), section, {.elements = elements});
  const auto beam = b.beam("beam", Curve::straight({0, 120, 0}, {120, 120, 0}, Vector3::UnitZ()), section, {.elements = elements});
  JointParameters asBuilt;
  asBuilt.reference = JointReference::Pose;
  b.joint(JointKind::Fixed, "corner", column.end(), beam.start(), asBuilt);
  b.joint(JointKind::Revolute, "foot", b.ground(column.start().frame(b.model().state())), column.start());
  b.joint(JointKind::Revolute, "wall", b.ground(beam.end().frame(b.model().state())), beam.end());
  b.force("load", beam.at(24), {0, -1000, 0}, LoadDirection::Dead, TimeFunction::proportional());
  return b.build();
}

/// Limit loads of a path, by the parabola through the three points about each turn.
std::vector<double> limits(const std::vector<double>& t) {
  std::vector<double> found;
  for (std::size_t i = 1; i + 1 < t.size(); ++i) {
    const double before = t[i] - t[i - 1], after = t[i + 1] - t[i];
    if (before * after < 0) found.push_back(t[i] - (t[i + 1] - t[i - 1]) * (t[i + 1] - t[i - 1]) / (8 * (after - before)));
  }
  return found;
}

TEST(ArcLength, LeeFrameSnapsThroughAtThePublishedLoads) {
  const Mechanism m = leeFrame(20);
  ArcLength path(*m.model, {.path = {.firstStep = 0.3}, .maxSteps = 120, .highest = 25});
  path.start();
  std::vector<double> t{0};
  int limitPoints = 0;
  while (!path.finished()) {
    const StepReport& report = path.advance();
    t.push_back(report.t);
    if (report.note == "limit point") ++limitPoints;
  }
  const std::vector<double> turns = limits(t);
  ASSERT_GE(turns.size(), 2u);
  const auto [top, bottom] = oracles::leeFrameLimits();
  EXPECT_NEAR(turns[0], top.lambda, 0.01 * top.lambda);
  EXPECT_NEAR(turns[1], bottom.lambda, 0.01 * std::abs(bottom.lambda));
  EXPECT_EQ(limitPoints, int(turns.size()));
}

}
}
