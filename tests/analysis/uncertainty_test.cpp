#include "tendril/analysis/uncertainty.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tendril {
namespace {

// Known answers of the authors' distribution, Random123.
TEST(RandomStream, PhiloxGivesTheKnownAnswers) {
  using Counter = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Counter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}), (Counter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Counter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, NumbersAreUniformAndStreamsIndependent) {
  const RandomStream a(7), b(7, 1);
  constexpr int count = 20000;
  double mean = 0, square = 0, product = 0;
  for (int i = 0; i < count; ++i) {
    const double x = a.uniform(std::uint64_t(i), 3) - 0.5, y = b.uniform(std::uint64_t(i), 3) - 0.5;
    mean += x / count, square += x * x / count, product += x * y / count;
  }
  const double five = 5 / std::sqrt(double(count)); // standard deviations of means of numbers of size one
  EXPECT_NEAR(mean, 0, five * std::sqrt(1 / 12.0));
  EXPECT_NEAR(square, 1 / 12.0, five * std::sqrt(1 / 180.0));
  EXPECT_NEAR(product, 0, five / 12);
}

std::vector<Distribution> allKinds() {
  return {Distribution::constant(3),
          Distribution::uniform(-2, 1),
          Distribution::triangular(-2, 0.5, 1),
          Distribution::triangular(0, 0, 2),
          Distribution::truncatedNormal(0.3, 0.8, -1, 2),
          Distribution::truncatedNormal(-2, 1, 0, 2),
          Distribution::beta(2, 3.5, 1, 4),
          Distribution::discrete({5, 1, 2}, {1, 2, 1})};
}

TEST(Distribution, QuantilesInvertTheDistributionFunction) {
  for (const Distribution& d : allKinds()) {
    for (const double share : {1e-6, 0.01, 0.2, 0.49999, 0.5, 0.77, 0.999}) {
      const double x = d.quantile(share);
      ASSERT_GE(x, d.lower());
      ASSERT_LE(x, d.upper());
      if (d.isDiscrete()) {
        EXPECT_GE(d.probability(x), share);
        EXPECT_LT(d.probability(x - 1e-9), share);
      } else {
        EXPECT_NEAR(d.probability(x), share, 1e-12);
      }
    }
  }
}

/// Integral of weight(x) P[X <= x] over the range, by Gauss's rule of four points in equal panels; jumps and kinks of these distributions
/// lie between panels.
template <typename Weight> double integral(const Distribution& d, const Weight& weight) {
  constexpr int panels = 480;
  constexpr double nodes[] = {0.3399810435848563, 0.8611363115940526}, weights[] = {0.6521451548625461, 0.3478548451374538};
  const double half = d.width() / (2 * panels);
  double sum = 0;
  for (int i = 0; i < panels; ++i) {
    for (int k = 0; k < 2; ++k) {
      for (const int side : {-1, 1}) {
        const double x = d.lower() + half * (2 * i + 1 + side * nodes[k]);
        sum += half * weights[k] * weight(x) * d.probability(x);
      }
    }
  }
  return sum;
}

// By parts: E X = b - int F dx, E (X - m)^2 = (b - m)^2 - int 2 (x - m) F dx, b the upper end.
TEST(Distribution, MomentsAreThoseOfTheDistributionFunction) {
  for (const Distribution& d : allKinds()) {
    const double b = d.upper(), m = d.mean();
    EXPECT_NEAR(m, b - integral(d, [](double) { return 1.0; }), 1e-9 * d.width());
    EXPECT_NEAR(d.variance(), (b - m) * (b - m) - integral(d, [&](double x) { return 2 * (x - m); }), 1e-9 * d.width() * d.width());
  }
}

TEST(Distribution, RefusesWhatIsNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  EXPECT_THROW(Distribution::uniform(1, 1), InputError);
  EXPECT_THROW(Distribution::uniform(nan, 1), InputError);
  EXPECT_THROW(Distribution::uniform(-1e308, 1e308), InputError);
  EXPECT_THROW(Distribution::triangular(0, 2, 1), InputError);
  EXPECT_THROW(Distribution::truncatedNormal(0, 0, 0, 1), InputError);
  EXPECT_THROW(Distribution::truncatedNormal(0, 1, 50, 51), InputError);
  EXPECT_THROW(Distribution::beta(0, 1, 0, 1), InputError);
  EXPECT_THROW(Distribution::discrete({}), InputError);
  EXPECT_THROW(Distribution::discrete({1, infinity}), InputError);
  EXPECT_THROW(Distribution::discrete({1, 2}, {1}), InputError);
  EXPECT_THROW(Distribution::discrete({1, 2}, {1e308, 1e308}), InputError); // their sum is infinite
}

TEST(UncertainInputs, SamplesDependOnSeedAndPlaceAlone) {
  const UncertainInputs inputs{{{"a", Distribution::uniform(0, 1)}, {"b", Distribution::triangular(2, 3, 4)}}};
  const RandomStream stream(42);
  const MatrixX all = inputs.samples(stream, 10);
  EXPECT_EQ(inputs.samples(stream, 4, 6), MatrixX(all.rightCols(4)));
  EXPECT_NE(inputs.samples(RandomStream(43), 10), all);
}

}
}
