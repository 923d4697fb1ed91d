#include "tendril/analysis/concentration.h"

#include "analysis/special_functions.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// P[at most k of n], each with probability p.
double binomialProbability(long k, long n, double p) {
  if (k < 0) return 0;
  return k >= n ? 1 : incompleteBeta(double(n - k), double(k + 1), 1 - p);
}

/// Smallest k with binomialProbability(k) above a share.
long binomialQuantile(long n, double p, double share) {
  long low = -1, high = n;
  while (high - low > 1) {
    const long middle = low + (high - low) / 2;
    (binomialProbability(middle, n, p) > share ? high : low) = middle;
  }
  return high;
}

}

double samplingMargin(double diameter, long samples, double epsilon) { return diameter * std::sqrt(-std::log(epsilon) / double(samples)); }

double confidenceFactor(double threshold, double mean, double diameter) {
  const double margin = threshold - mean;
  return margin > 0 ? margin / diameter : 0;
}

double failureBound(double confidenceFactor) { return std::exp(-2 * confidenceFactor * confidenceFactor); }

double requiredConfidence(double probability) { return std::sqrt(-std::log(probability) / 2); }

double hoeffdingBound(long failures, long samples, double epsilon) {
  return std::min(1.0, double(failures) / double(samples) + std::sqrt(-std::log(epsilon) / (2 * double(samples))));
}

double hoeffdingSamples(double probability, double epsilon) { return -std::log(epsilon) / (2 * probability * probability); }

Interval clopperPearson(long events, long samples, double confidence) {
  const double tail = (1 - confidence) / 2, k = double(events), m = double(samples);
  return {events == 0 ? 0 : inverseIncompleteBeta(k, m - k + 1, tail),
          events == samples ? 1 : inverseIncompleteBeta(k + 1, m - k, 1 - tail)};
}

Interval wilson(long events, long samples, double confidence) {
  const double z = -normalQuantile((1 - confidence) / 2), m = double(samples), p = double(events) / m;
  const double centre = p + z * z / (2 * m), half = z * std::sqrt(p * (1 - p) / m + z * z / (4 * m * m)), whole = 1 + z * z / m;
  return {std::max(0.0, (centre - half) / whole), std::min(1.0, (centre + half) / whole)};
}

/// Of m samples, K ~ Bin(m, p) lie below the quantile. That of rank i lies above it only if K < i, that of rank j below it only if K >= j.
SampledQuantile sampledQuantile(const VectorX& rising, double share, double confidence) {
  const long m = long(rising.size());
  if (m == 0) throw InputError("a quantile of no samples does not exist; take some");
  const double tail = (1 - confidence) / 2;
  const long below = binomialQuantile(m, share, tail);         // P[K < below] <= tail
  const long above = binomialQuantile(m, share, 1 - tail) + 1; // P[K >= above] <= tail
  const long rank = std::clamp(long(std::ceil(share * double(m))), 1L, m);
  return {rising[rank - 1], {below >= 1 ? rising[below - 1] : -infinity, above <= m ? rising[above - 1] : infinity}};
}

}
