#pragma once
#include "tendril/lie/types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace tendril {

/// The explicit Runge-Kutta pair 5(4) of Dormand & Prince (1980) with the continuous extension of order 4 (Hairer, Norsett & Wanner,
/// "Solving Ordinary Differential Equations I", II.6). Who drives it decides on steps; it only takes them.
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
        if (a[i][j] != 0) stage_ += h * a[i][j] * k_[j];
      }
      if (i == 6) end_ = stage_;
      slope_(t_ + c[i] * h, stage_, k_[i]);
    }
    end = end_;
    double error = 0;
    for (Eigen::Index n = 0; n < y_.size(); ++n) {
      double e = 0;
      for (std::size_t i = 0; i < 7; ++i) e += d[i] * k_[i][n];
      error = std::max(error, std::abs(h * e) / weight_[n]);
    }
    return error;
  }

  /// Continuous extension of the last step at the fraction theta.
  void interpolate(double theta, VectorX& y) const {
    const double theta1 = 1 - theta;
    const VectorX difference = end_ - y_, bump = h_ * k_[0] - difference;
    y = y_ + theta * (difference + theta1 * (bump + theta * (difference - h_ * k_[6] - bump)));
    for (std::size_t i = 0; i < 7; ++i) y += (theta * theta1 * theta * theta1 * h_ * dense[i]) * k_[i];
  }

  double time() const { return t_; }
  const VectorX& origin() const { return y_; }

 private:
  static constexpr std::array<double, 7> c{0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1};
  static constexpr double a[7][6] = {{},
                                     {1. / 5},
                                     {3. / 40, 9. / 40},
                                     {44. / 45, -56. / 15, 32. / 9},
                                     {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                     {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                     {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
  static constexpr std::array<double, 7> d{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
  static constexpr std::array<double, 7> dense{-12715105075. / 11282082432,  0,
                                               87487479700. / 32700410799,   -10690763975. / 1880347072,
                                               701980252875. / 199316789632, -1453857185. / 822651844,
                                               69997945. / 29380423};

  Slope slope_;
  double t_ = 0, h_ = 0;
  VectorX y_, stage_, end_, weight_;
  std::array<VectorX, 7> k_;
};

}
