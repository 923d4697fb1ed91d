#pragma once
#include "tendril/analysis/concentration.h"
#include "tendril/analysis/diameter.h"
#include "tendril/analysis/uncertainty.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace tendril {

struct CertificateOptions {
  double threshold = 0;   ///< a: failure is Y > a
  long samples = 100;     ///< of the mean
  std::uint64_t seed = 1; ///< of the samples
  double epsilon = 1e-3;  ///< eps': 1 - eps' is the confidence in the samples
  /// The exact mean, if it is known: the bound then needs neither samples nor margin.
  std::optional<double> mean{};
  DiameterOptions diameter{};
};

/// What is known of P[Y > a].
struct Certificate {
  long samples = 0;
  long failures = 0;  ///< samples above the threshold
  long undefined = 0; ///< samples at which the performance does not exist
  double mean = 0, deviation = 0, alpha = 0;
  Diameter diameter;
  double confidenceFactor = 0;
  double bound = 1;          ///< with the margin alpha, or with the exact mean
  double exactMeanBound = 1; ///< as if the mean of the samples were the exact one
  double hoeffding = 1;
  Interval observed; ///< Clopper-Pearson, at 1 - eps', of the share of failures; what does not exist counts as failure
  VectorX values;    ///< of the samples, in their order
};

/// Watches long computations; true stops them: Interrupted is thrown.
using StopQuestion = std::function<bool()>;

/// Performances of samples 0 ... count - 1 of a stream, few at a time, so that memory does not grow with the number of inputs.
VectorX sampledValues(CountedPerformance& performance, const UncertainInputs& inputs, const RandomStream& stream, long count,
                      const StopQuestion& stop = {});

/// Samples, diameter and bounds. Where the performance does not exist in some samples, nothing is certified: the bounds are 1.
Certificate certify(CountedPerformance& performance, const UncertainInputs& inputs, const CertificateOptions& options,
                    const StopQuestion& stop = {});

}
