#include "shells/gauss_rule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace tendril {

namespace {

constexpr std::array<int, 14> sizes{4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 30, 38};

/// Number among the sizes, or -1. So many points bring mass matrices, whose integrands oscillate twice as fast as the patch turns, to
/// round-off.
int sizeFor(double angle) {
  if (!(angle < sizes.back())) return -1; // nor can it be rounded if it is huge or no number
  const int points = angle < 0.01 ? 4 : angle < 0.15 ? 5 : angle < 0.3 ? 6 : int(std::ceil(5.7 + 1.05 * angle));
  const auto found = std::lower_bound(sizes.begin(), sizes.end(), points);
  return found == sizes.end() ? -1 : int(found - sizes.begin());
}

std::vector<ProductRule> makeRules() {
  std::vector<ProductRule> rules;
  for (const int first : sizes)
    for (const int second : sizes) rules.emplace_back(GaussRule(first), GaussRule(second));
  return rules;
}

}

GaussRule::GaussRule(int n) {
  for (int i = 0; i < n; ++i) {
    double z = -std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 100; ++iteration) {
      double p = 1, before = 0;
      for (int j = 1; j <= n; ++j) {
        const double next = ((2 * j - 1) * z * p - (j - 1) * before) / j;
        before = p, p = next;
      }
      slope = n * (z * p - before) / (z * z - 1);
      const double step = p / slope;
      z -= step;
      if (std::abs(step) < 1e-15) break;
    }
    x.push_back(z), w.push_back(2 / ((1 - z * z) * slope * slope));
  }
}

ProductRule::ProductRule(const GaussRule& first, const GaussRule& second) {
  for (std::size_t i = 0; i < first.x.size(); ++i)
    for (std::size_t j = 0; j < second.x.size(); ++j)
      x1.push_back(first.x[i]), x2.push_back(second.x[j]), w.push_back(first.w[i] * second.w[j]);
  while (w.size() % 4 != 0) x1.push_back(0), x2.push_back(0), w.push_back(0);
}

const ProductRule* productRule(double angle1, double angle2) {
  static const std::vector<ProductRule> rules = makeRules();
  const int first = sizeFor(angle1), second = sizeFor(angle2);
  return first < 0 || second < 0 ? nullptr : &rules[std::size_t(first) * sizes.size() + std::size_t(second)];
}

}
