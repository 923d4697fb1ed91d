#include "tendril/analysis/concentration.h"

#include "tendril/analysis/random_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {
namespace {

TEST(Concentration, BoundAndConfidenceFactorAreOne) {
  for (const double P : {0.49, 0.013722, 4.7207e-4, 1e-12}) {
    const double CF = requiredConfidence(P);
    EXPECT_NEAR(failureBound(CF), P, 1e-12 * P + 1e-15);
    EXPECT_NEAR(CF, std::sqrt(std::log(std::sqrt(1 / P))), 1e-12);
  }
  // The pairs that Leyendecker (2011), 6.5 prints.
  EXPECT_NEAR(requiredConfidence(0.49), 0.5972, 1e-4);
  EXPECT_NEAR(requiredConfidence(0.013722), 1.4644, 1e-4);
  EXPECT_NEAR(requiredConfidence(4.7207e-4), 1.9568, 1e-4);
  EXPECT_NEAR(requiredConfidence(0.11581), 1.038, 1e-3);
}

TEST(Concentration, MarginsAndLimits) {
  EXPECT_NEAR(samplingMargin(3, 100, 1e-3), 3 * std::sqrt(std::log(1e3) / 100), 1e-14);
  EXPECT_EQ(failureBound(confidenceFactor(1, 1.2, 0.3)), 1);
  EXPECT_EQ(failureBound(confidenceFactor(1, 0.5, 0)), 0);
  EXPECT_EQ(failureBound(confidenceFactor(1, 1.5, 0)), 1);
  EXPECT_NEAR(confidenceFactor(1e300, 5e299, 1e300), 0.5, 1e-12) << "nothing is squared that may overflow";
  EXPECT_NEAR(hoeffdingSamples(1e-2, 1e-3), 0.5e4 * std::log(1e3), 1e-8);
  EXPECT_NEAR(hoeffdingBound(3, 100, 1e-3), 0.03 + std::sqrt(std::log(1e3) / 200), 1e-14);
  EXPECT_EQ(hoeffdingBound(99, 100, 1e-3), 1);
}

/// P[at most k of n], term by term.
double binomial(int k, int n, double p) {
  double sum = 0;
  for (int i = 0; i <= k; ++i)
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) + i * std::log(p) + (n - i) * std::log1p(-p));
  return sum;
}

TEST(Concentration, ClopperPearsonEndsAreWhereTailsBegin) {
  for (const int n : {1, 10, 237}) {
    for (const int k : {0, 1, n / 3, n - 1, n}) {
      const Interval interval = clopperPearson(k, n, 0.95);
      if (k > 0) {
        EXPECT_NEAR(1 - binomial(k - 1, n, interval.lower), 0.025, 1e-10);
      }
      if (k < n) {
        EXPECT_NEAR(binomial(k, n, interval.upper), 0.025, 1e-10);
      }
      EXPECT_TRUE(interval.contains(double(k) / n));
    }
  }
  EXPECT_NEAR(clopperPearson(0, 1000000, 0.95).upper, 1 - std::pow(0.025, 1e-6), 1e-15);
  EXPECT_NEAR(clopperPearson(500000, 1000000, 0.95).upper, 0.5 + 1.959964 * 0.5e-3, 2e-6);
}

TEST(Concentration, WilsonSolvesItsEquation) {
  const Interval interval = wilson(7, 60, 0.95);
  for (const double p : {interval.lower, interval.upper}) {
    EXPECT_NEAR(std::abs(7 / 60.0 - p) / std::sqrt(p * (1 - p) / 60), 1.959963985, 1e-8);
  }
}

TEST(Concentration, QuantilesLieInTheirIntervalsAsOftenAsStated) {
  constexpr int runs = 2000, m = 59;
  for (const double share : {0.1, 0.5, 0.95}) {
    int covered = 0;
    for (int run = 0; run < runs; ++run) {
      VectorX sample(m);
      for (int i = 0; i < m; ++i) sample[i] = RandomStream(11).uniform(std::uint64_t(run), std::uint32_t(i));
      std::sort(sample.begin(), sample.end());
      const SampledQuantile q = sampledQuantile(sample, share, 0.9);
      covered += q.interval.contains(share);
      ASSERT_TRUE(q.interval.contains(q.value));
    }
    EXPECT_GE(covered, runs * (0.9 - 3 * std::sqrt(0.09 / runs))) << share;
    EXPECT_LE(covered, runs * 0.97) << share << ": the interval is wider than ranks make it";
  }
}

TEST(Concentration, QuantilesBeyondTheSamplesHaveNoEnd) {
  const VectorX sample = VectorX::LinSpaced(10, 1, 10);
  const SampledQuantile q = sampledQuantile(sample, 0.99, 0.95);
  EXPECT_EQ(q.value, 10);
  EXPECT_EQ(q.interval.upper, std::numeric_limits<double>::infinity());
}

}
}
