#pragma once
#include "tendril/analysis/random_stream.h"
#include "tendril/lie/types.h"

#include <string>
#include <vector>

namespace tendril {

/// Distribution of a real number within a bounded range. Quantiles are the inverse of the distribution function, so that a number is drawn
/// from one uniform number. Makers throw InputError for parameters that make no distribution.
class Distribution {
 public:
  static Distribution constant(double value);
  static Distribution uniform(double lower, double upper);
  /// Density rising from 0 at `lower` to its mode and falling to 0 at `upper`.
  static Distribution triangular(double lower, double mode, double upper);
  /// The normal distribution with this mean and standard deviation, given that the number lies in the range.
  static Distribution truncatedNormal(double mean, double deviation, double lower, double upper);
  /// Density proportional to (x - lower)^(a-1) (upper - x)^(b-1).
  static Distribution beta(double a, double b, double lower, double upper);
  /// Finitely many values with these weights (equal ones if empty), in any order.
  static Distribution discrete(const std::vector<double>& values, const std::vector<double>& weights = {});

  double lower() const { return lower_; }
  double upper() const { return upper_; }
  double width() const { return upper_ - lower_; }
  bool isDiscrete() const { return kind_ == Kind::Discrete; }
  /// The values of a discrete distribution, rising.
  const std::vector<double>& values() const { return values_; }

  /// Smallest x with P[X <= x] >= share, share in (0, 1).
  double quantile(double share) const;
  /// P[X <= x].
  double probability(double x) const;
  double mean() const;
  double variance() const;

 private:
  enum class Kind { Uniform, Triangular, TruncatedNormal, Beta, Discrete };
  Kind kind_ = Kind::Uniform;
  double lower_ = 0, upper_ = 0;
  double first_ = 0, second_ = 0;       ///< mode; mean and deviation; a and b
  std::vector<double> values_, shares_; ///< discrete: P[X <= value]
};

/// Independent random inputs X_1 ... X_M.
struct UncertainInputs {
  struct Input {
    std::string name;
    Distribution distribution;
  };
  std::vector<Input> inputs;

  int size() const { return int(inputs.size()); }
  VectorX lower() const;
  VectorX upper() const;
  VectorX mean() const;
  /// Samples first ... first + count - 1 of a stream, one a column. The same rows of the same stream are the same numbers: common random
  /// numbers for whatever is compared.
  MatrixX samples(const RandomStream& stream, long count, long first = 0) const;
};

}
