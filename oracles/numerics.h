#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <vector>

namespace tendril::oracles {

using Eigen::Matrix2d;
using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// Right side of y' = f(s, y): writes the derivative into its last argument, which has the size of y.
using Slope = std::function<void(double s, const VectorXd& y, VectorXd& dy)>;

/// Classical Runge-Kutta method of order 4 with `steps` equal steps from s0 to s1 (s1 < s0 integrates backwards).
/// A fixed step keeps the result a smooth function of parameters and start values, which shooting with difference quotients needs.
inline VectorXd rungeKutta(const Slope& f, double s0, double s1, VectorXd y, int steps) {
  const double h = (s1 - s0) / steps;
  VectorXd k1(y.size()), k2(y.size()), k3(y.size()), k4(y.size());
  for (int i = 0; i < steps; ++i) {
    const double s = s0 + i * h;
    f(s, y, k1);
    f(s + h / 2, y + h / 2 * k1, k2);
    f(s + h / 2, y + h / 2 * k2, k3);
    f(s + h, y + h * k3, k4);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return y;
}

using Residual = std::function<VectorXd(const VectorXd&)>;

/// Jacobian of f by central differences with steps `relative * max(|x_j|, scale_j)`.
inline MatrixXd differenceJacobian(const Residual& f, const VectorXd& x, const VectorXd& scale, double relative = 1e-6) {
  MatrixXd jacobian;
  for (Eigen::Index j = 0; j < x.size(); ++j) {
    const double h = relative * std::max(std::abs(x[j]), scale[j]);
    VectorXd ahead = x, behind = x;
    ahead[j] += h;
    behind[j] -= h;
    const VectorXd column = (f(ahead) - f(behind)) / (2 * h);
    if (j == 0) jacobian.resize(column.size(), x.size());
    jacobian.col(j) = column;
  }
  return jacobian;
}

/// Newton's method with a difference Jacobian and step halving: solves f(x) = 0 from the start x. `scale` is the size of a typical
/// x_j; the residual counts as zero when its largest entry is below `tolerance`. Throws std::runtime_error when it stalls.
inline VectorXd solveNewton(const Residual& f, VectorXd x, const VectorXd& scale, double tolerance, int maxIterations = 50) {
  VectorXd r = f(x);
  for (int k = 0; k < maxIterations; ++k) {
    if (r.lpNorm<Eigen::Infinity>() < tolerance) return x;
    const VectorXd step = differenceJacobian(f, x, scale).partialPivLu().solve(-r);
    double fraction = 1;
    VectorXd trial = x + step, rTrial = f(trial);
    while (!(rTrial.norm() < r.norm()) && fraction > 1e-4) {
      fraction /= 2;
      trial = x + fraction * step;
      rTrial = f(trial);
    }
    x = trial;
    r = rTrial;
  }
  if (r.lpNorm<Eigen::Infinity>() < tolerance) return x;
  throw std::runtime_error("oracle: Newton's method stalls; start closer to the solution or take smaller load steps");
}

/// Root of a continuous scalar function between a and b, where its sign differs, by bisection to the last bit.
inline double bisect(const std::function<double(double)>& f, double a, double b) {
  const bool negative = f(a) < 0;
  if ((f(b) < 0) == negative) throw std::runtime_error("oracle: no change of sign in the bracket");
  for (int k = 0; k < 200; ++k) {
    const double c = (a + b) / 2;
    if (c == a || c == b) break;
    ((f(c) < 0) == negative ? a : b) = c;
  }
  return (a + b) / 2;
}

/// One-parameter curve of solutions of n equations in n + 1 scaled unknowns: pseudo-arclength continuation.
/// `observe` sees every point and its unit tangent, and ends the walk by returning false.
class Continuation {
 public:
  Continuation(Residual equations, double tolerance) : equations_(std::move(equations)), tolerance_(tolerance) {}

  /// Unit tangent of the curve at x, on the side of `direction`.
  VectorXd tangent(const VectorXd& x, const VectorXd& direction) const {
    const MatrixXd jacobian = differenceJacobian(equations_, x, VectorXd::Ones(x.size()));
    MatrixXd bordered(x.size(), x.size());
    bordered << jacobian, direction.transpose();
    VectorXd right = VectorXd::Zero(x.size());
    right[x.size() - 1] = 1;
    return bordered.partialPivLu().solve(right).normalized();
  }

  /// Point of the curve at the signed distance `length` along the tangent from x.
  VectorXd advance(const VectorXd& x, const VectorXd& along, double length) const {
    const auto bordered = [&](const VectorXd& y) {
      const VectorXd r = equations_(y);
      VectorXd all(r.size() + 1);
      all << r, along.dot(y - x) - length;
      return all;
    };
    return solveNewton(bordered, x + length * along, VectorXd::Ones(x.size()), tolerance_, 20);
  }

  void walk(VectorXd x, VectorXd direction, double length, int maxPoints,
            const std::function<bool(const VectorXd&, const VectorXd&)>& observe) const {
    for (int k = 0; k < maxPoints; ++k) {
      direction = tangent(x, direction);
      if (!observe(x, direction)) return;
      x = advance(x, direction, length);
    }
  }

  /// Point within one step after x at which the component j of the tangent vanishes: an extremum of x_j on the curve.
  VectorXd turningPoint(const VectorXd& x, const VectorXd& along, double length, Eigen::Index j) const {
    const double at = bisectLength([&](double l) { return tangent(advance(x, along, l), along)[j]; }, length);
    return advance(x, along, at);
  }

 private:
  // 40 halvings: an extremum is flat, so the value is exact long before the place is.
  static double bisectLength(const std::function<double(double)>& f, double length) {
    double a = 0, b = length;
    const bool negative = f(a) < 0;
    for (int k = 0; k < 40; ++k) ((f((a + b) / 2) < 0) == negative ? a : b) = (a + b) / 2;
    return (a + b) / 2;
  }

  Residual equations_;
  double tolerance_;
};

}
