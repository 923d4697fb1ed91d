// Scenes of certification under other parameters than those of their files, against closed forms.
#include "gallery/scene_files.h"
#include "support/run_scene.h"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace tendril;
using namespace tendril::testing;

namespace {

using Results = std::map<std::string, VectorX>;

Results certified(const std::string& name, const std::vector<std::string>& overrides) {
  return resultsOf(runToEnd(Scene::fromFile(sceneFolder / ("certify/" + name + ".yaml"), overrides)));
}

std::string set(const std::string& name, double value) { return name + "=" + std::to_string(value); }

}

TEST(CertifyScenes, LinearPerformance) {
  for (const double a : {1.0, 1.5, 2.0, 3.0}) {
    for (const double c3 : {2.0, -3.0}) {
      const Results results = certified("linear", {set("a", a), set("c3", c3), "samples=20"});
      const double square = 1 + 0.25 + c3 * c3 + 0.0625, margin = std::max(0.0, a - (0.75 + c3) / 2);
      EXPECT_NEAR(results.at("diameter")[0], std::sqrt(square), 1e-9 * std::sqrt(square));
      EXPECT_NEAR(results.at("bound")[0], std::exp(-2 * margin * margin / square), 1e-8);
      EXPECT_EQ(results.at("certified")[0], 1);
    }
  }
}

/// P[5 T + T A + B/2 > a], A and B uniform in [-1, 1]: the mean over A of P[B/2 > a - 5 T - T A], which is linear between its kinks.
double thrownBeyond(double a) {
  const double T = std::sqrt(2 * 5 / 9.81), s = a - 5 * T;
  const auto beyond = [&](double A) { return std::clamp((1 - 2 * (s - T * A)) / 2, 0.0, 1.0); };
  const double kinks[] = {-1, std::clamp((s - 0.5) / T, -1.0, 1.0), std::clamp((s + 0.5) / T, -1.0, 1.0), 1};
  double sum = 0;
  for (int i = 0; i < 3; ++i) sum += (kinks[i + 1] - kinks[i]) * (beyond(kinks[i]) + beyond(kinks[i + 1])) / 4;
  return sum;
}

TEST(CertifyScenes, BallThrowAgreesWithItsClosedForm) {
  for (const double a : {5.5, 6.2, 6.5}) {
    const Results results = certified("ball-throw", {set("a", a), "samples=300", "seed=5"});
    const double exact = results.at("exact")[0];
    EXPECT_NEAR(exact, thrownBeyond(a), 1e-12);
    EXPECT_LE(results.at("interval")[0], exact);
    EXPECT_GE(results.at("interval")[1], exact);
    EXPECT_GE(results.at("bound")[0], exact);
    EXPECT_GE(results.at("hoeffding")[0], exact);
  }
}

TEST(CertifyScenes, SlidingBlockAgreesWithItsClosedForm) {
  const Results results = certified("sliding-block-mu", {"a=0.7", "samples=60", "seed=2"});
  const double exact = (4 / (2 * 0.7 * 9.81) - 0.25) / 0.1;
  EXPECT_NEAR(results.at("failure_probability")[0], exact, 1e-12);
  EXPECT_LE(results.at("interval")[0], exact);
  EXPECT_GE(results.at("interval")[1], exact);
  EXPECT_GE(results.at("bound")[0], exact);
}

// The bound of the optimum of the arm lies above what many samples show, and is that of its confidence factor.
TEST(FullCertifyScenes, BoundsOfTheArmAreAboveWhatIsObserved) {
  const Results few = certified("robot-arm-lengths", {}), many = certified("robot-arm-lengths", {"samples=2000", "seed=77"});
  for (const char* of : {"bound_start", "bound_best"}) EXPECT_GE(few.at(of)[0], many.at("interval_best")[0]) << of;
  for (const Results* all : {&few, &many}) EXPECT_LE(all->at("bound_best")[0], 0.1 * all->at("bound_start")[0]);
  EXPECT_NEAR(few.at("bound_best")[0], std::exp(-2 * few.at("confidence")[0] * few.at("confidence")[0]), 1e-12);
}
