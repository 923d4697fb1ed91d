#pragma once
#include "tendril/lie/types.h"
#include "tendril/solvers/dormand_prince.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace tendril {

/// The explicit Runge-Kutta pair 5(4) of Dormand & Prince with its continuous extension (solvers/dormand_prince.h). Who drives it decides
/// on steps; it only takes them.
class DormandPrince {
 public:
  /// Writes y' at (t, y).
  using Slope = std::function<void(double t, const VectorX& y, VectorX& dy)>;

  DormandPrince(Eigen::Index size, Slope slope) : slope_(std::move(slope)), weight_(VectorX::Ones(size)) {
    for (VectorX& k : k_) k.setZero(size);
  }

  /// Sizes of the numbers in y by which errors are measured.
  VectorX& scale() { return weight_; }

  /// Sets where steps begin; evaluates the slope there.
  void begin(double t, const VectorX& y) {
    t_ = t, y_ = y;
    slope_(t_, y_, k_[0]);
  }

  /// The step from the begin by h. Returns the error of the embedded method, in units of scale().
  double step(double h, VectorX& end) {
    h_ = h;
    for (std::size_t i = 1; i < 7; ++i) {
      stage_ = y_;
      for (std::size_t j = 0; j < i; ++j) {
        if (dormand_prince::weights[i][j] != 0) stage_ += h * dormand_prince::weights[i][j] * k_[j];
      }
      if (i == 6) end_ = stage_;
      slope_(t_ + dormand_prince::nodes[i] * h, stage_, k_[i]);
    }
    end = end_;
    double error = 0;
    for (Eigen::Index n = 0; n < y_.size(); ++n) {
      double e = 0;
      for (std::size_t i = 0; i < 7; ++i) e += dormand_prince::error[i] * k_[i][n];
      error = std::max(error, std::abs(h * e) / weight_[n]);
    }
    return error;
  }

  /// Continuous extension of the last step at the fraction theta.
  void interpolate(double theta, VectorX& y) const {
    const double theta1 = 1 - theta;
    const VectorX difference = end_ - y_, bump = h_ * k_[0] - difference;
    y = y_ + theta * (difference + theta1 * (bump + theta * (difference - h_ * k_[6] - bump)));
    for (std::size_t i = 0; i < 7; ++i) y += (theta * theta1 * theta * theta1 * h_ * dormand_prince::dense[i]) * k_[i];
  }

  double time() const { return t_; }
  const VectorX& origin() const { return y_; }

 private:
  Slope slope_;
  double t_ = 0, h_ = 0;
  VectorX y_, stage_, end_, weight_;
  std::array<VectorX, 7> k_;
};

}
