#include "shells/gauss_rule.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace tendril {

namespace {

/// A number of points, and the angle up to which it brings mass matrices, whose integrands oscillate twice as fast as the patch turns, to
/// round-off.
struct Size {
  int points;
  double angle;
};
constexpr Size turning(int points) { return {points, (points - 5.7) / 1.05}; }
constexpr std::array sizes{Size{4, 0.01}, Size{5, 0.2}, Size{6, 0.5}, turning(7),  turning(8),  turning(9),  turning(10),
                           turning(12),   turning(14),  turning(17),  turning(20), turning(24), turning(30), turning(38)};

/// Number among the sizes, or -1, for what is no number, too. Most angles are small, so that the search begins there.
int sizeFor(double angle) {
  if (!(angle <= sizes.back().angle)) return -1;
  int i = 0;
  while (angle > sizes[std::size_t(i)].angle) ++i;
  return i;
}

std::vector<ProductRule> makeRules() {
  std::vector<ProductRule> rules;
  for (const Size& first : sizes)
    for (const Size& second : sizes) rules.emplace_back(GaussRule(first.points), GaussRule(second.points));
  return rules;
}

}

/// Roots of the Legendre polynomial by Newton's method, in numbers of more digits where there are some, so that weights are exact to their
/// last digit.
GaussRule::GaussRule(int n) {
  using Long = long double;
  for (int i = 0; i < n; ++i) {
    Long z = -std::cos(std::numbers::pi * (i + 0.75) / (n + 0.5)), slope = 1;
    for (int iteration = 0; iteration < 100; ++iteration) {
      Long p = 1, before = 0;
      for (int j = 1; j <= n; ++j) {
        const Long next = ((2 * j - 1) * z * p - (j - 1) * before) / j;
        before = p, p = next;
      }
      slope = n * (z * p - before) / (z * z - 1);
      const Long step = p / slope;
      z -= step;
      if (std::abs(step) < 4 * std::numeric_limits<Long>::epsilon()) break;
    }
    x.push_back(double(z)), w.push_back(double(2 / ((1 - z * z) * slope * slope)));
  }
}

ProductRule::ProductRule(const GaussRule& first, const GaussRule& second) : points(first.x.size() * second.x.size()) {
  for (std::size_t i = 0; i < first.x.size(); ++i)
    for (std::size_t j = 0; j < second.x.size(); ++j)
      x1.push_back(first.x[i]), x2.push_back(second.x[j]), w.push_back(first.w[i] * second.w[j]);
  while (w.size() % 8 != 0) x1.push_back(0), x2.push_back(0), w.push_back(0);
}

const ProductRule* productRule(double angle1, double angle2) {
  static const std::vector<ProductRule> rules = makeRules();
  const int first = sizeFor(angle1), second = sizeFor(angle2);
  return first < 0 || second < 0 ? nullptr : &rules[std::size_t(first) * sizes.size() + std::size_t(second)];
}

}
