#pragma once

#include <Eigen/Dense>
#include <cmath>

namespace tendril::oracles {

/// An inextensible strip of length 1 and width w as plane pieces of equal length, folded along slanted lines: fold i by the angle theta_i
/// about (eta_i, 1) in the flat strip, i = 0 ... N, with the slope 0 at both ends. A fold stands for the bending of half a piece on either
/// side, with the energy of Wunderlich per rigidity, slopes changing evenly from fold to fold:
///
///     E_i = (w / 2 h) (1 + eta_i^2) theta_i^2 (f(x_{i-1,i}) + f(x_{i,i+1})) / 2,      f(x) = atanh(x) / x,      x_ij = w (eta_j - eta_i) /
///     (2 h),
///
/// and twice that for the ends, which have one side. Minimises it with the end turned about the tangent of a closed ring, by Newton's
/// method on the conditions of optimality, all derivatives by differences: slow, and shares nothing with the program's strips but the
/// mechanics.
class FoldedBand {
 public:
  FoldedBand(int pieces, double width) : N_(pieces), w_(width), z_(VectorXd::Zero(2 * pieces)), lambda_(VectorXd::Zero(6)) {
    z_.head(N_ + 1).setConstant(2 * M_PI / N_);
    z_[0] = z_[N_] = M_PI / N_;
  }

  /// The least energy when the end has been turned by the angle, in so many steps.
  double turn(double angle, int steps) {
    for (int i = 1; i <= steps; ++i) {
      angle_ = angle * i / steps;
      for (int iteration = 0; iteration < 30 && !improve(); ++iteration) {
      }
    }
    return energy(z_);
  }

 private:
  using VectorXd = Eigen::VectorXd;
  using Matrix3d = Eigen::Matrix3d;
  using Vector3d = Eigen::Vector3d;

  double slope(const VectorXd& z, int i) const { return i == 0 || i == N_ ? 0 : z[N_ + i]; }

  double energy(const VectorXd& z) const {
    const double h = 1. / N_;
    const auto side = [&](int i, int j) {
      const double x = w_ * (slope(z, j) - slope(z, i)) / (2 * h);
      return std::abs(x) < 1e-4 ? 1 + x * x / 3 : std::atanh(x) / x;
    };
    double sum = 0;
    for (int i = 0; i <= N_; ++i) {
      const double eta = slope(z, i), fold = w_ / (2 * h) * (1 + eta * eta) * z[i] * z[i];
      if (i == 0)
        sum += 2 * fold * side(0, 1);
      else if (i == N_)
        sum += 2 * fold * side(N_ - 1, N_);
      else
        sum += fold * (side(i - 1, i) + side(i, i + 1)) / 2;
    }
    return sum;
  }

  VectorXd gap(const VectorXd& z) const {
    Matrix3d R = Matrix3d::Identity();
    Vector3d x = Vector3d::Zero();
    for (int i = 0; i <= N_; ++i) {
      R = R * Eigen::AngleAxisd(-z[i], Vector3d(slope(z, i), 1, 0).normalized()).toRotationMatrix();
      if (i < N_) x += R.col(0) / N_;
    }
    const Matrix3d left = Eigen::AngleAxisd(-angle_, Vector3d::UnitX()).toRotationMatrix() * R;
    VectorXd g(6);
    g << x, left(2, 1) - left(1, 2), left(0, 2) - left(2, 0), left(1, 0) - left(0, 1);
    return g;
  }

  double lagrangian(const VectorXd& z) const { return energy(z) + lambda_.dot(gap(z)); }

  bool improve() {
    const Eigen::Index n = z_.size();
    constexpr double e = 1e-4;
    Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n + 6, n + 6);
    VectorXd rhs(n + 6), moved = z_;
    const auto at = [&](Eigen::Index i, double a, Eigen::Index j, double b) {
      moved = z_;
      moved[i] += a, moved[j] += b;
      return lagrangian(moved);
    };
    for (Eigen::Index i = 0; i < n; ++i) {
      moved = z_, moved[i] += e;
      const VectorXd up = gap(moved);
      const double upEnergy = energy(moved);
      moved[i] -= 2 * e;
      K.block(n, i, 6, 1) = (up - gap(moved)) / (2 * e);
      rhs[i] = -(upEnergy - energy(moved)) / (2 * e);
      for (Eigen::Index j = 0; j <= i; ++j)
        K(i, j) = K(j, i) = (at(i, e, j, e) - at(i, e, j, -e) - at(i, -e, j, e) + at(i, -e, j, -e)) / (4 * e * e);
    }
    K.topRightCorner(n, 6) = K.bottomLeftCorner(6, n).transpose();
    rhs.tail(6) = -gap(z_);
    const VectorXd step = K.partialPivLu().solve(rhs);
    z_ += step.head(n), lambda_ = step.tail(6);
    return step.head(n).lpNorm<Eigen::Infinity>() < 1e-6;
  }

  int N_;
  double w_, angle_ = 0;
  VectorXd z_; ///< theta_0 ... theta_N, eta_1 ... eta_{N-1}
  VectorXd lambda_;
};

}
