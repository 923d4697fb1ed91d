#include "tendril/control/replay.h"

#include "control/arms.h"

#include <cmath>
#include <gtest/gtest.h>

namespace tendril {
namespace {

double replayed(const Mechanism& m, const OptimalControlOptions& o) {
  OptimalControl control(*m.model, o);
  control.start();
  EXPECT_TRUE(control.report().converged()) << control.report().message;
  double difference = 0;
  EXPECT_TRUE(control.monitor("replay difference", nullptr, &difference));
  EXPECT_EQ(difference, replayDifference(*m.model, control.path()));
  return difference;
}

TEST(Replay, NodesOfDiscreteMechanicsComeBack) {
  const Mechanism arm = twoLink(), loop = fourBar();
  for (const Quadrature quadrature : {Quadrature::Midpoint, Quadrature::Trapezoidal}) {
    OptimalControlOptions ofArm = swing(arm, {"base", "elbow"}, {{"base", one(0.8)}, {"elbow", one(-0.5)}}, 30);
    ofArm.quadrature = quadrature;
    EXPECT_LT(replayed(arm, ofArm), 1e-10);
    OptimalControlOptions ofLoop = swing(loop, {"left foot"}, {{"left foot", one(0.4)}, {"right foot", one(0.4)}}, 20);
    ofLoop.quadrature = quadrature;
    EXPECT_LT(replayed(loop, ofLoop), 1e-10);
  }
}

TEST(Replay, OtherMethodsComeBackToTheirOrder) {
  const Mechanism arm = twoLink();
  for (const TranscriptionMethod method :
       {TranscriptionMethod::Dmoc, TranscriptionMethod::CollocationQp, TranscriptionMethod::CollocationQv}) {
    std::array<double, 2> differences;
    for (int level = 0; level < 2; ++level) {
      OptimalControlOptions o = swing(arm, {"base", "elbow"}, {{"base", one(0.8)}, {"elbow", one(-0.5)}}, 40 << level);
      o.method = method;
      differences[std::size_t(level)] = replayed(arm, o);
    }
    EXPECT_NEAR(std::log2(differences[0] / differences[1]), 2, 0.2) << nameOf(method);
  }
}

TEST(Replay, IsNotDefinedForWhatNoInitialStateGives) {
  const Mechanism arm = twoLink();
  OptimalControlOptions o = swing(arm, {"base", "elbow"}, {{"base", one(0.8)}, {"elbow", one(-0.5)}}, 10);
  o.beginIsFree = true;
  OptimalControl control(*arm.model, o);
  control.start();
  double difference = 0;
  EXPECT_TRUE(control.monitor("replay difference", nullptr, &difference));
  EXPECT_TRUE(std::isnan(difference));
}

}
}
