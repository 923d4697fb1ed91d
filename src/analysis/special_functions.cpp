#include "analysis/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace tendril {

namespace {

double continuedFraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr int most = 100000; // terms grow like the square root of the larger parameter
  const auto awayFromZero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1, d = 1 / awayFromZero(1 - (a + b) * x / (a + 1)), result = d;
  const auto apply = [&](double coefficient) {
    d = 1 / awayFromZero(1 + coefficient * d);
    c = awayFromZero(1 + coefficient / c);
    result *= c * d;
    return std::abs(c * d - 1);
  };
  for (int m = 1; m <= most; ++m) {
    apply(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)));
    if (apply(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))) < std::numeric_limits<double>::epsilon()) break;
  }
  return result;
}

/// Halving until nothing lies between: where a rising function reaches a share.
template <typename Function> double solveRising(const Function& function, double share, double low, double high) {
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return high;
    (function(middle) < share ? low : high) = middle;
  }
}

}

double incompleteBeta(double a, double b, double x) {
  if (!(x > 0)) return 0;
  if (!(x < 1)) return 1;
  // The fraction converges fast below the mean of the distribution; above it, the other tail does.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, 1 - x);
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  return front * continuedFraction(a, b, x) / a;
}

double inverseIncompleteBeta(double a, double b, double share) {
  return solveRising([&](double x) { return incompleteBeta(a, b, x); }, share, 0, 1);
}

double normalProbability(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }

double normalQuantile(double share) {
  if (share > 0.5) return -normalQuantile(1 - share);
  constexpr double farthest = 40; // beyond it the probability is zero in double precision
  return solveRising(normalProbability, share, -farthest, 0);
}

}
