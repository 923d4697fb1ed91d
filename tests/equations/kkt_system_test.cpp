#include "support/dense.h"
#include "tendril/equations/kkt_system.h"

#include "tendril/dynamics/initial_conditions.h"
#include "tendril/elements/mechanism.h"
#include "tendril/model/error.h"
#include "tendril/statics/load_stepping.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <string>

namespace tendril::test {
namespace {

/// A square of rods with revolute joints about z: plane, but four revolute joints ask for 20 conditions where 17 are independent.
Mechanism square(const Vector3& gravity = {0, -9.81, 0}) {
  MechanismBuilder b;
  b.gravity(gravity);
  const MassProperties rod{1, Vector3::Zero(), Vector3(1e-3, 1.0 / 12, 1.0 / 12).asDiagonal()};
  Matrix3 upright;
  upright << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  const Pose low{Matrix3::Identity(), {-0.5, 0, 0}}, high{Matrix3::Identity(), {0.5, 0, 0}};
  const auto left = b.body("left", rod, {upright, {0, 0.5, 0}}, {0.5, 0, 0}, {0, 0, -1});
  const auto right = b.body("right", rod, {upright, {1, 0.5, 0}}, {0.5, 0, 0}, {0, 0, -1});
  const auto top = b.body("top", rod, {Matrix3::Identity(), {0.5, 1, 0}}, {1, 0, 0});
  b.joint(JointKind::Revolute, "left foot", b.ground(), left.at(low));
  b.joint(JointKind::Revolute, "right foot", b.ground({Matrix3::Identity(), {1, 0, 0}}), right.at(low));
  b.joint(JointKind::Revolute, "left corner", left.at(high), top.at(low));
  b.joint(JointKind::Revolute, "right corner", right.at(high), top.at(high));
  return b.build();
}

TEST(KktSystem, RedundantRowsOfAPlaneLoopAreFoundAndNamed) {
  const Mechanism m = square();
  KktSystem kkt(*m.model, {});
  EXPECT_TRUE(kkt.findRedundancy(m.model->initialState()));
  EXPECT_EQ(kkt.redundantRows().size(), 3u);
  EXPECT_NE(kkt.describeRedundancy().find("3 of 20"), std::string::npos);
  EXPECT_NE(kkt.describeRedundancy().find("right corner"), std::string::npos) << kkt.describeRedundancy();
  EXPECT_FALSE(kkt.findRedundancy(m.model->initialState()));
}

// The accelerations are unique though the reactions are not: the rods turn like a pendulum of one rod and a third of the top.
TEST(KktSystem, MotionIsRightAndReactionsAreOfLeastNorm) {
  for (Redundancy treatment : {Redundancy::SwitchOff, Redundancy::Share}) {
    const Mechanism m = square();
    KktSystem kkt(*m.model, {}, treatment);
    State state = m.model->initialState();
    makeConsistent(kkt, state);
    // Upright there is no moment of gravity: the angular velocity stays, each point has its centripetal acceleration alone.
    EXPECT_NEAR(state.a[5], 0, 1e-10);
    const Vector3 topAcceleration = state.a.segment<3>(12) + Vector3(state.v.segment<3>(15)).cross(Vector3(state.v.segment<3>(12)));
    EXPECT_NEAR((topAcceleration - Vector3(0, -1, 0)).norm(), 0, 1e-9);

    const VectorX least = kkt.minimumNorm(state);
    kkt.evaluate(state, {.motion = false, .tangent = true});
    const MatrixX Gt = MatrixX(kkt.assembly().gradient()).transpose();
    EXPECT_LT((Gt * least - Gt * state.lambda).norm(), 1e-9 * state.lambda.norm());
    // In moments over the size of the model the norm has one unit; the pseudo-inverse in that unit is the reference.
    VectorX unit = VectorX::Ones(m.model->nc());
    for (int i = 0; i < unit.size(); ++i) {
      if (m.model->constraintQuantities()[i] == RowQuantity::Angle) unit[i] = m.model->characteristicLength();
    }
    const MatrixX scaled = Gt * unit.asDiagonal();
    const VectorX reference = unit.cwiseProduct(test::leastNorm(scaled, Gt * state.lambda, 1e-9));
    EXPECT_LT((least - reference).norm(), 1e-7 * reference.norm());
  }
}

TEST(KktSystem, FreeMotionsAreNamed) {
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(0.01), {.youngsModulus = 2e11, .poissonRatio = 0.3, .density = 7800});
  const auto beam = b.beam("rod", Curve::straight({0, 0, 0}, {1, 0, 0}), section);
  b.joint(JointKind::Revolute, "hinge", b.ground({Matrix3::Identity(), {0, 0, 0}}),
          beam.start({beam.start().frame(b.model().state()).R.transpose(), {}}));
  const Mechanism m = b.build();
  KktSystem kkt(*m.model, {});
  kkt.evaluate(m.model->initialState(), {.motion = false});
  kkt.balance();
  const std::string text = kkt.describeFreeMotions(m.model->initialState());
  EXPECT_NE(text.find("free to move: beam 'rod'"), std::string::npos) << text;
  EXPECT_EQ(text.find(" (its reaction)"), std::string::npos);

  // The same rod clamped is free of them, however slender.
  MechanismBuilder c;
  const auto thin = SectionProperties::of(Section::circle(1e-5), {.youngsModulus = 2e11, .poissonRatio = 0.3, .density = 7800});
  const auto wire = c.beam("wire", Curve::straight({0, 0, 0}, {1, 0, 0}), thin, {.elements = 100});
  c.clamp("wall", wire.start());
  const Mechanism clamped = c.build();
  KktSystem regular(*clamped.model, {});
  EXPECT_EQ(regular.describeFreeMotions(clamped.model->initialState()), "");
}

// Clamped at the foot, free at the head, under a dead weight on top: P = pi^2 E I / (4 L^2).
TEST(KktSystem, EulerColumnLosesTwoSignsAtItsCriticalLoad) {
  const double E = 2e11, R = 0.005, L = 1, I = std::numbers::pi * std::pow(R, 4) / 4;
  const double euler = std::pow(std::numbers::pi, 2) * E * I / (4 * L * L);
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = E, .poissonRatio = 0.3, .density = 7800});
  const auto column = b.beam("column", Curve::straight({0, 0, 0}, {0, 0, L}), section, {.elements = 40});
  b.clamp("foot", column.start());
  b.force("weight", column.end(), {0, 0, -1.2 * euler}, LoadDirection::Dead, TimeFunction::proportional());
  const Mechanism m = b.build();
  LoadStepping statics(*m.model, {.steps = 5});
  statics.start();
  double critical = 0;
  int negative = 0;
  while (!statics.finished()) {
    const StepReport& report = statics.advance();
    if (report.critical) critical = *report.critical;
    negative = report.tangent->negative;
  }
  EXPECT_EQ(negative, 2);
  EXPECT_NEAR(1.2 * critical, 1, 1e-3);
}

// Nothing holds the square in its plane: statics says so and does not slide it away.
TEST(KktSystem, StaticsOfAMechanismIsRefused) {
  const Mechanism m = square({0, 0, -9.81});
  LoadStepping statics(*m.model, {.steps = 1});
  statics.start();
  try {
    statics.advance();
    FAIL() << "a mechanism has no unique equilibrium";
  } catch (const NumericalFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("free to move"), std::string::npos) << failure.what();
  }
}

}
}
