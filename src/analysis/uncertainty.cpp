#include "tendril/analysis/uncertainty.h"

#include "analysis/special_functions.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace tendril {

namespace {

void require(bool isMet, const char* message) {
  if (!isMet) throw InputError(message);
}

double normalDensity(double x) { return std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi); }

/// Standardised bounds of a truncated normal distribution, and the share of the whole between them.
struct Truncation {
  double a, b, share;
  Truncation(double mean, double deviation, double lower, double upper)
      : a((lower - mean) / deviation), b((upper - mean) / deviation), share(normalProbability(b) - normalProbability(a)) {}
};

}

Distribution Distribution::constant(double value) { return discrete({value}); }

Distribution Distribution::uniform(double lower, double upper) {
  require(std::isfinite(lower) && std::isfinite(upper) && lower < upper && std::isfinite(upper - lower),
          "a range needs a lower end below its upper end, both finite");
  Distribution d;
  d.lower_ = lower, d.upper_ = upper;
  return d;
}

Distribution Distribution::triangular(double lower, double mode, double upper) {
  Distribution d = uniform(lower, upper);
  require(lower <= mode && mode <= upper, "the mode of a triangular distribution lies in its range");
  d.kind_ = Kind::Triangular, d.first_ = mode;
  return d;
}

Distribution Distribution::truncatedNormal(double mean, double deviation, double lower, double upper) {
  Distribution d = uniform(lower, upper);
  require(std::isfinite(mean) && std::isfinite(deviation) && deviation > 0, "a standard deviation is positive and finite");
  require(Truncation(mean, deviation, lower, upper).share > 1e-6,
          "the range lies so far out in the tail of the normal distribution that hardly any of it is left");
  d.kind_ = Kind::TruncatedNormal, d.first_ = mean, d.second_ = deviation;
  return d;
}

Distribution Distribution::beta(double a, double b, double lower, double upper) {
  Distribution d = uniform(lower, upper);
  constexpr double largest = 1e6;
  require(a > 0 && b > 0 && a <= largest && b <= largest, "the exponents of a beta distribution lie above 0, up to 1e6");
  d.kind_ = Kind::Beta, d.first_ = a, d.second_ = b;
  return d;
}

Distribution Distribution::discrete(const std::vector<double>& values, const std::vector<double>& weights) {
  require(!values.empty(), "a list of values has at least one");
  require(weights.empty() || weights.size() == values.size(), "a list has as many weights as values");
  Distribution d;
  d.kind_ = Kind::Discrete;
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
  double total = 0;
  for (std::size_t i : order) {
    const double weight = weights.empty() ? 1 : weights[i];
    require(std::isfinite(values[i]) && std::isfinite(weight) && weight > 0, "values are finite, their weights positive");
    total += weight;
    d.values_.push_back(values[i]), d.shares_.push_back(total);
  }
  require(std::isfinite(total), "the weights have no finite sum");
  for (double& share : d.shares_) share /= total;
  d.shares_.back() = 1;
  d.lower_ = d.values_.front(), d.upper_ = d.values_.back();
  require(std::isfinite(d.width()), "the values of a list lie within a finite range");
  return d;
}

double Distribution::quantile(double share) const {
  switch (kind_) {
  case Kind::Uniform:
    return lower_ + share * width();
  case Kind::Triangular: {
    const double left = first_ - lower_, right = upper_ - first_;
    return share * width() < left ? lower_ + std::sqrt(share * width() * left) : upper_ - std::sqrt((1 - share) * width() * right);
  }
  case Kind::TruncatedNormal: {
    const Truncation t(first_, second_, lower_, upper_);
    return std::clamp(first_ + second_ * normalQuantile(normalProbability(t.a) + share * t.share), lower_, upper_);
  }
  case Kind::Beta:
    return lower_ + width() * inverseIncompleteBeta(first_, second_, share);
  default:
    return values_[std::size_t(std::lower_bound(shares_.begin(), shares_.end(), share) - shares_.begin())];
  }
}

double Distribution::probability(double x) const {
  if (x < lower_) return 0;
  if (x >= upper_) return 1;
  switch (kind_) {
  case Kind::Uniform:
    return (x - lower_) / width();
  case Kind::Triangular:
    return x < first_ ? (x - lower_) / width() * (x - lower_) / (first_ - lower_)
                      : 1 - (upper_ - x) / width() * (upper_ - x) / (upper_ - first_);
  case Kind::TruncatedNormal: {
    const Truncation t(first_, second_, lower_, upper_);
    return (normalProbability((x - first_) / second_) - normalProbability(t.a)) / t.share;
  }
  case Kind::Beta:
    return incompleteBeta(first_, second_, (x - lower_) / width());
  default:
    return shares_[std::size_t(std::upper_bound(values_.begin(), values_.end(), x) - values_.begin()) - 1];
  }
}

double Distribution::mean() const {
  switch (kind_) {
  case Kind::Uniform:
    return lower_ + width() / 2;
  case Kind::Triangular:
    return (lower_ + first_ + upper_) / 3;
  case Kind::TruncatedNormal: {
    const Truncation t(first_, second_, lower_, upper_);
    return first_ + second_ * (normalDensity(t.a) - normalDensity(t.b)) / t.share;
  }
  case Kind::Beta:
    return lower_ + width() * first_ / (first_ + second_);
  default: {
    double sum = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) sum += values_[i] * (shares_[i] - (i > 0 ? shares_[i - 1] : 0));
    return sum;
  }
  }
}

double Distribution::variance() const {
  switch (kind_) {
  case Kind::Uniform:
    return width() * width() / 12;
  case Kind::Triangular: {
    const double left = first_ - lower_, right = upper_ - first_;
    return (left * left + left * right + right * right) / 18;
  }
  case Kind::TruncatedNormal: {
    const Truncation t(first_, second_, lower_, upper_);
    const double shift = (normalDensity(t.a) - normalDensity(t.b)) / t.share;
    return second_ * second_ * (1 + (t.a * normalDensity(t.a) - t.b * normalDensity(t.b)) / t.share - shift * shift);
  }
  case Kind::Beta: {
    const double sum = first_ + second_;
    return width() * width() * first_ * second_ / (sum * sum * (sum + 1));
  }
  default: {
    const double middle = mean();
    double sum = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      sum += (values_[i] - middle) * (values_[i] - middle) * (shares_[i] - (i > 0 ? shares_[i - 1] : 0));
    }
    return sum;
  }
  }
}

VectorX UncertainInputs::lower() const {
  VectorX ends(size());
  for (int k = 0; k < size(); ++k) ends[k] = inputs[std::size_t(k)].distribution.lower();
  return ends;
}

VectorX UncertainInputs::upper() const {
  VectorX ends(size());
  for (int k = 0; k < size(); ++k) ends[k] = inputs[std::size_t(k)].distribution.upper();
  return ends;
}

VectorX UncertainInputs::mean() const {
  VectorX means(size());
  for (int k = 0; k < size(); ++k) means[k] = inputs[std::size_t(k)].distribution.mean();
  return means;
}

MatrixX UncertainInputs::samples(const RandomStream& stream, long count, long first) const {
  MatrixX points(size(), count);
  for (long i = 0; i < count; ++i) {
    for (int k = 0; k < size(); ++k) {
      points(k, i) = inputs[std::size_t(k)].distribution.quantile(stream.uniform(std::uint64_t(first + i), std::uint32_t(k)));
    }
  }
  return points;
}

}
