#include "tendril/analysis/annealing.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

Annealer::Annealer(const VectorX& start, const AnnealingOptions& options, const RandomStream& random)
    : options_(options), random_(random), x_(start.cwiseMax(0).cwiseMin(1)), trial_(x_), best_(x_),
      energy_(std::numeric_limits<double>::infinity()), bestEnergy_(energy_), temperature_(options.temperature) {}

void Annealer::take(double energy) {
  ++evaluations_, ++atTemperature_;
  if (isAccepted(energy)) {
    if (energy < energy_) ++improvements_;
    x_ = trial_, energy_ = energy, rejections_ = 0;
    if (energy < bestEnergy_) best_ = trial_, bestEnergy_ = energy;
  } else {
    ++rejections_;
  }
  cool();
  isFinished_ = temperature_ <= options_.lastTemperature || evaluations_ >= options_.maxEvaluations || rejections_ > options_.maxRejections;
  if (!isFinished_) propose();
}

bool Annealer::isAccepted(double energy) const {
  if (!std::isfinite(energy)) return false;
  if (energy <= energy_) return true;
  return random_.uniform(std::uint64_t(evaluations_), std::uint32_t(x_.size())) < std::exp(-(energy - energy_) / temperature_);
}

void Annealer::cool() {
  if (atTemperature_ < options_.evaluationsPerTemperature && improvements_ < options_.improvementsPerTemperature) return;
  temperature_ *= options_.cooling;
  atTemperature_ = improvements_ = 0;
}

void Annealer::propose() {
  for (Eigen::Index i = 0; i < x_.size(); ++i) {
    const double move = options_.reach * (2 * random_.uniform(std::uint64_t(evaluations_), std::uint32_t(i)) - 1);
    trial_[i] = std::clamp(x_[i] + move, 0.0, 1.0);
  }
}

}
