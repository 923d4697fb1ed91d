#include "tendril/solvers/projected_gradient.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

namespace {

constexpr double largestStep = 1e20; // times the largest slope: whatever is not flat goes to its end of the box

Eigen::VectorXd projected(const Eigen::VectorXd& x) { return x.cwiseMax(0).cwiseMin(1); }

}

ProjectedGradient::ProjectedGradient(const Eigen::VectorXd& start, const ProjectedGradientOptions& options)
    : options_(options), trial_(projected(start)), best_(trial_), bestValue_(std::numeric_limits<double>::infinity()) {}

void ProjectedGradient::take(double value, const Eigen::VectorXd& gradient) {
  ++evaluations_;
  const bool isFinite = std::isfinite(value) && gradient.allFinite();
  if (isFinite && value < bestValue_) bestValue_ = value, best_ = trial_;
  const bool isFirst = values_.empty();
  constexpr double sufficient = 1e-4, shortest = 1e-8;
  if (isFirst && !isFinite) {
    isFinished_ = true; // there is nothing to step back to
  } else if (isFirst || (isFinite && value <= *std::max_element(values_.begin(), values_.end()) + sufficient * share_ * slope_)) {
    accept(value, gradient);
  } else {
    const double parabola = isFinite ? -0.5 * share_ * share_ * slope_ / (value - value_ - share_ * slope_) : 0;
    share_ = std::isfinite(parabola) ? std::clamp(parabola, 0.1 * share_, 0.5 * share_) : 0.5 * share_;
    isFinished_ = share_ < shortest;
    trial_ = x_ + share_ * direction_;
  }
  isFinished_ = isFinished_ || evaluations_ >= options_.maxEvaluations;
}

/// sum_i of g_i times the way to the end of the box that lies downhill.
double ProjectedGradient::promise() const {
  const auto g = gradient_.array();
  return (g > 0).select(g * x_.array(), g * (x_.array() - 1)).sum();
}

void ProjectedGradient::accept(double value, const Eigen::VectorXd& gradient) {
  double sigma = largestStep;
  if (!values_.empty()) {
    const Eigen::VectorXd s = trial_ - x_, y = gradient - gradient_;
    if (s.dot(y) > 0) sigma = s.squaredNorm() / s.dot(y);
  }
  x_ = trial_, gradient_ = gradient, value_ = value;
  values_.push_back(value);
  if (int(values_.size()) > options_.memory) values_.pop_front();
  isStationary_ = promise() <= options_.tolerance * std::abs(value_);
  isFinished_ = isStationary_;
  if (!isFinished_) setOut(sigma);
}

void ProjectedGradient::setOut(double sigma) {
  const double scale = gradient_.lpNorm<Eigen::Infinity>();
  direction_ = projected(x_ - std::min(sigma, largestStep / scale) * gradient_) - x_;
  slope_ = gradient_.dot(direction_);
  share_ = 1;
  trial_ = x_ + direction_;
}

}
