#include "tendril/analysis/certificate.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>

namespace tendril {

VectorX sampledValues(CountedPerformance& performance, const UncertainInputs& inputs, const RandomStream& stream, long count,
                      const StopQuestion& stop) {
  constexpr long together = 1024;
  VectorX values(count);
  for (long first = 0; first < count; first += together) {
    if (stop && stop()) throw Interrupted("the certification was stopped");
    const long part = std::min(together, count - first);
    values.segment(first, part) = performance.values(inputs.samples(stream, part, first));
  }
  return values;
}

Certificate certify(CountedPerformance& performance, const UncertainInputs& inputs, const CertificateOptions& options,
                    const StopQuestion& stop) {
  Certificate c;
  c.samples = options.samples;
  c.values = sampledValues(performance, inputs, RandomStream(options.seed), options.samples, stop);
  const auto exists = c.values.array().isFinite();
  c.undefined = c.samples - long(exists.count());
  c.failures = long((exists && c.values.array() > options.threshold).count());
  c.observed = clopperPearson(c.failures + c.undefined, c.samples, 1 - options.epsilon);
  c.hoeffding = hoeffdingBound(c.failures + c.undefined, c.samples, options.epsilon);
  const double defined = double(c.samples - c.undefined);
  c.mean = exists.select(c.values.array(), 0.0).sum() / defined;
  c.deviation = std::sqrt(exists.select(c.values.array() - c.mean, 0.0).square().sum() / std::max(1.0, defined - 1));
  if (c.undefined > 0) return c;
  c.diameter = findDiameter(performance, options.diameter);
  const double D = c.diameter.value();
  c.alpha = options.mean ? 0 : samplingMargin(D, c.samples, options.epsilon);
  const double mean = options.mean.value_or(c.mean);
  c.confidenceFactor = confidenceFactor(options.threshold, mean + c.alpha, D);
  c.bound = failureBound(c.confidenceFactor);
  c.exactMeanBound = failureBound(confidenceFactor(options.threshold, mean, D));
  return c;
}

}
