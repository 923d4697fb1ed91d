#include "tendril/analysis/annealing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {
namespace {

template <typename Energy> Annealer anneal(const Energy& energy, const AnnealingOptions& options = {}, std::uint64_t seed = 1) {
  Annealer search(VectorX::Constant(2, 0.5), options, RandomStream(seed));
  while (!search.finished()) search.take(energy(search.trial()));
  return search;
}

TEST(Annealing, EndsByEachOfItsRules) {
  EXPECT_EQ(anneal([](const VectorX&) { return 0.0; }).evaluations(), 2000) << "everything is accepted, nothing improves";
  double rising = 0;
  EXPECT_EQ(anneal([&](const VectorX&) { return rising += 1e9; }).evaluations(), 302) << "the first is accepted, then 301 are rejected";
  double falling = 0;
  const Annealer cold = anneal([&](const VectorX&) { return falling -= 1; });
  // 0.8^83 < 1e-8, after 20 improvements each.
  EXPECT_EQ(cold.evaluations(), 83 * 20);
  EXPECT_LE(cold.temperature(), 1e-8);
}

// The start lies in the shallower of two valleys, which a search that only descends does not leave. Between them lies a pass of 0.9, which
// one in exp(-0.9/T) neighbours is allowed to climb: many at T = 0.3, almost none at 0.05. The schedule of the source falls from one to the
// other in 8 temperatures, 240 neighbours, and misses the way more often than not; one that cools by 3 % takes 59 temperatures and misses
// it one time in ten, so that four searches together hardly ever do.
TEST(Annealing, LeavesAValley) {
  const auto energy = [](const VectorX& x) {
    const auto valley = [&](double a, double b) { return std::exp(-30 * ((x[0] - a) * (x[0] - a) + (x[1] - b) * (x[1] - b))); };
    return -0.9 * valley(0.4, 0.5) - valley(0.9, 0.9);
  };
  const AnnealingOptions descending{.temperature = 1e-6, .cooling = 1}, patient{.cooling = 0.97, .maxEvaluations = 10000};
  int fast = 0, slow = 0, descended = 0;
  for (std::uint64_t four = 0; four < 40; four += 4) {
    double best = 0;
    for (std::uint64_t seed = four + 1; seed <= four + 4; ++seed) {
      best = std::min(best, anneal(energy, patient, seed).value());
      fast += anneal(energy, {}, seed).value() < -0.99;
      descended += anneal(energy, descending, seed).value() < -0.99;
    }
    slow += best < -0.99;
  }
  EXPECT_EQ(descended, 0);
  EXPECT_GT(fast, 0);
  EXPECT_EQ(slow, 10);
}

TEST(Annealing, StaysInTheBoxAndRepeatsItself) {
  const auto energy = [](const VectorX& x) {
    EXPECT_TRUE((x.array() >= 0).all() && (x.array() <= 1).all());
    return x[0] > 0.9 ? std::numeric_limits<double>::quiet_NaN() : -x.sum();
  };
  const Annealer a = anneal(energy), b = anneal(energy), c = anneal(energy, {}, 2);
  EXPECT_EQ(a.best(), b.best());
  EXPECT_NE(a.best(), c.best());
  EXPECT_LE(a.best()[0], 0.9);
  EXPECT_NEAR(a.best()[1], 1, 1e-2);
}

}
}
