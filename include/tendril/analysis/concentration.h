#pragma once
#include "tendril/lie/types.h"

namespace tendril {

/// Bounds of the probability that a performance Y = F(X) of independent inputs is above a threshold, P[Y > a], by concentration of measure
/// (McDiarmid 1989; Lucas, Owhadi & Ortiz 2008; Leyendecker, Lucas, Owhadi & Ortiz 2010). D is the diameter of F,
///
///     D^2 = sum_k D_k^2,      D_k = sup |F(.., A_k, ..) - F(.., B_k, ..)|   over A_k, B_k and all others  (analysis.9).
///
/// With the exact mean
///
///     P[Y > a] <= exp(-2 (a - E Y)_+^2 / D^2)      (analysis.10),
///
/// and with the mean `<Y>` of m samples, at the confidence 1 - eps' in these samples,
///
///     P[Y > a] <= exp(-2 (a - <Y> - alpha)_+^2 / D^2),      alpha = D (log(1/eps') / m)^(1/2)      (analysis.11).
///
/// The confidence factor (analysis.12), `CF = (a - <Y> - alpha)_+ / D`, says the same: P <= exp(-2 CF^2), and a failure probability of at
/// most eps is certified where CF >= (log (1/eps)^(1/2))^(1/2). A diameter that is too small makes a bound that is none.
double samplingMargin(double diameter, long samples, double epsilon);
/// (threshold - mean)_+ / diameter; of a sampled mean, mean + alpha is the mean. A diameter of zero: infinite above the mean, else 0.
double confidenceFactor(double threshold, double mean, double diameter);
double failureBound(double confidenceFactor);
/// The confidence factor that certifies a failure probability.
double requiredConfidence(double probability);

/// P[Y > a] <= failures / m + (log(1/eps') / (2 m))^(1/2), at the confidence 1 - eps' (Hoeffding 1963) (analysis.13).
double hoeffdingBound(long failures, long samples, double epsilon);
/// Samples that Hoeffding's bound takes for a resolution of eps: log(1/eps') / (2 eps^2).
double hoeffdingSamples(double probability, double epsilon);

struct Interval {
  double lower = 0, upper = 1;
  bool contains(double x) const { return lower <= x && x <= upper; }
};
/// Confidence interval of a probability from the number of times that something came to pass: never less than the confidence stated
/// (Clopper & Pearson 1934), or about it, and narrower (Wilson 1927).
Interval clopperPearson(long events, long samples, double confidence);
Interval wilson(long events, long samples, double confidence);

/// Quantile of a distribution from samples of it, without any assumption on it: the sample of rank ceil(p m), and the interval between two
/// samples that holds the quantile at the confidence stated, by the binomial distribution of ranks. An end that the samples do not reach is
/// infinite.
struct SampledQuantile {
  double value = 0;
  Interval interval;
};
SampledQuantile sampledQuantile(const VectorX& rising, double share, double confidence);

}
