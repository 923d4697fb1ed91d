#pragma once

#include "numerics.h"

#include <Eigen/Eigenvalues>
#include <array>
#include <cmath>
#include <vector>

/// A uniform developable patch as the circular cylinder that it is, in its curvature kappa and the angle phi across its rulings: closed
/// forms of position and derivatives in the basis (t, b, e3), and the equations of motion as an ordinary differential equation without
/// constraint. Nothing is shared with the library: no exponential map, no three curvatures, quadrature after Golub & Welsch.
namespace tendril::oracles {

struct CylinderPatch {
  double length = 1, width = 1, nu = 0.3;
  double areaDensity = 1, rigidity = 1;
  Vector3d gravity = Vector3d::Zero(); ///< acceleration in the frame of the corner
  Vector2d natural = Vector2d::Zero(); ///< kappa, phi

  /// u and w are the coordinates of a point along t and b; derivatives in the order r, kappa, phi, kappa kappa, kappa phi, phi phi.
  static std::array<Vector3d, 6> derivatives(double kappa, double u, double w) {
    const double x = kappa * u, c = std::cos(x), s = std::sin(x);
    std::array<Vector3d, 6> d;
    if (std::abs(x) < 2e-2) {
      const double x2 = x * x;
      const double bow = u * (x / 2 - x * x2 / 24 + x * x2 * x2 / 720), lag = u * x2 * (1. / 6 - x2 / 120 + x2 * x2 / 5040);
      const double rise = u * u * (-x / 3 + x * x2 / 30 - x * x2 * x2 / 840);
      d[0] = {u - lag, w, bow};
      d[1] = {rise, 0, u * u * (0.5 - x2 / 8 + x2 * x2 / 144)};
      d[2] = {w * (1 - c), lag, -w * s};
      d[3] = {u * u * u * (-1. / 3 + x2 / 10 - x2 * x2 / 168), 0, u * u * u * (-x / 4 + x * x2 / 36 - x * x2 * x2 / 960)};
      d[4] = {w * u * s, -rise, -w * u * c};
      d[5] = {u * (1 - c) - kappa * w * w * s + lag, -2 * w * (1 - c), -u * s + kappa * w * w * c};
    } else {
      const double k2 = kappa * kappa;
      d[0] = {s / kappa, w, (1 - c) / kappa};
      d[1] = {(x * c - s) / k2, 0, (x * s - 1 + c) / k2};
      d[2] = {w * (1 - c), u - s / kappa, -w * s};
      d[3] = Vector3d(-x * x * s - 2 * x * c + 2 * s, 0, x * x * c - 2 * x * s + 2 - 2 * c) / (k2 * kappa);
      d[4] = {w * u * s, -(x * c - s) / k2, -w * u * c};
      d[5] = {u * (1 - c) - kappa * w * w * s + u - s / kappa, -2 * w * (1 - c), -u * s + kappa * w * w * c};
    }
    return d;
  }

  static Matrix3d basis(double phi) {
    Matrix3d B;
    B << std::cos(phi), std::sin(phi), 0, std::sin(phi), -std::cos(phi), 0, 0, 0, 1;
    return B.transpose(); // columns t, b, e3
  }

  /// Calls visit(weight, u, w) at 20 x 20 Gauss points.
  template <class Visit> void integrate(double phi, const Visit& visit) const {
    static const auto rule = [] {
      constexpr int n = 20;
      MatrixXd J = MatrixXd::Zero(n, n);
      for (int i = 1; i < n; ++i) J(i, i - 1) = J(i - 1, i) = i / std::sqrt(4.0 * i * i - 1);
      const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(J);
      return std::pair<VectorXd, VectorXd>(eigen.eigenvalues(), 2 * eigen.eigenvectors().row(0).transpose().array().square());
    }();
    const auto& [x, weight] = rule;
    for (int i = 0; i < x.size(); ++i) {
      for (int j = 0; j < x.size(); ++j) {
        const double s1 = length * (1 + x[i]) / 2, s2 = width * (1 + x[j]) / 2;
        visit(weight[i] * weight[j] * length * width / 4, s1 * std::cos(phi) + s2 * std::sin(phi), s1 * std::sin(phi) - s2 * std::cos(phi));
      }
    }
  }

  /// Columns: mass matrix in (kappa, phi).
  Eigen::Matrix2d mass(double kappa, double phi) const {
    Eigen::Matrix2d M = Eigen::Matrix2d::Zero();
    integrate(phi, [&](double dA, double u, double w) {
      const auto d = derivatives(kappa, u, w);
      M(0, 0) += areaDensity * dA * d[1].dot(d[1]), M(0, 1) += areaDensity * dA * d[1].dot(d[2]),
          M(1, 1) += areaDensity * dA * d[2].dot(d[2]);
    });
    M(1, 0) = M(0, 1);
    return M;
  }

  Vector2d acceleration(const Vector2d& y, const Vector2d& v) const {
    const double kappa = y[0], phi = y[1];
    const Vector3d g = basis(phi).transpose() * gravity;
    Vector2d force = Vector2d::Zero();
    integrate(phi, [&](double dA, double u, double w) {
      const auto d = derivatives(kappa, u, w);
      const Vector3d a = d[3] * (v[0] * v[0]) + d[4] * (2 * v[0] * v[1]) + d[5] * (v[1] * v[1]) - g;
      force -= areaDensity * dA * Vector2d(d[1].dot(a), d[2].dot(a));
    });
    const double area = length * width, turn = phi - natural[1];
    force[0] -= area * rigidity * (kappa - natural[0] + 0.5 * (1 - nu) * natural[0] * (1 - std::cos(2 * turn)));
    force[1] -= area * rigidity * (1 - nu) * kappa * natural[0] * std::sin(2 * turn);
    return mass(kappa, phi).inverse() * force;
  }

  double energy(const Vector2d& y, const Vector2d& v) const {
    const double area = length * width, change = y[0] - natural[0];
    double e = 0.5 * v.dot(mass(y[0], y[1]) * v);
    e += 0.5 * area * rigidity * (change * change + (1 - nu) * y[0] * natural[0] * (1 - std::cos(2 * (y[1] - natural[1]))));
    const Vector3d g = basis(y[1]).transpose() * gravity;
    integrate(y[1], [&](double dA, double u, double w) { e -= areaDensity * dA * g.dot(derivatives(y[0], u, w)[0]); });
    return e;
  }

  /// The motion from y and v in equal steps; returns (y, v).
  VectorXd motion(const Vector2d& y, const Vector2d& v, double duration, int steps) const {
    VectorXd start(4);
    start << y, v;
    return rungeKutta(
        [this](double, const VectorXd& z, VectorXd& dz) {
          dz.resize(4);
          dz << z.tail<2>(), acceleration(z.head<2>(), z.tail<2>());
        },
        0, duration, start, steps);
  }
};

}
