#pragma once

#include "numerics.h"

#include <Eigen/Geometry>

namespace tendril::oracles {

/// The heavy top of Geradin & Cardona (2001) and Bruls & Cardona (2010): mass 15 kg, principal inertias (0.234375, 0.46875, 0.234375) kg
/// m^2 about the centre of mass, which starts at X = (0, 1, 0) m from the fixed point with the body frame along the axes; angular velocity
/// (0, 150, -4.61538) rad/s; gravity 9.81 m/s^2 along -z.
struct HeavyTop {
  double mass = 15;
  Vector3d inertia{0.234375, 0.46875, 0.234375};
  Vector3d centre{0, 1, 0};
  Vector3d angularVelocity{0, 150, -4.61538};
  Vector3d gravity{0, 0, -9.81};
};

/// Position of the centre of mass, body frame, body angular velocity and energy (potential zero at the height of the fixed point).
struct TopMotion {
  Vector3d position;
  Matrix3d frame;
  Vector3d angularVelocity;
  double energy;
};

/// Motion at time t from Euler's equations about the fixed point, J W' + W x J W = X x R^T m g with J = J_c + m (|X|^2 - X X^T), and the
/// quaternion's kinematics, by the Runge-Kutta method of order 4 with the step 1e-5 s (0.0015 rad).
inline TopMotion heavyTop(double t, const HeavyTop& top = {}, int stepsPerSecond = 100000) {
  const Matrix3d J = Matrix3d(top.inertia.asDiagonal()) +
                     top.mass * (top.centre.squaredNorm() * Matrix3d::Identity() - top.centre * top.centre.transpose());
  const Matrix3d inverse = J.inverse();
  const Vector3d weight = top.mass * top.gravity;
  using State = Eigen::Matrix<double, 7, 1>; // quaternion (x, y, z, w), body angular velocity
  const auto slope = [&](const State& y) {
    const Eigen::Quaterniond q(y[3], y[0], y[1], y[2]);
    const Vector3d W = y.tail<3>(), torque = top.centre.cross(q.conjugate() * weight) - W.cross(J * W);
    State dy;
    dy << (q * Eigen::Quaterniond(0, W[0] / 2, W[1] / 2, W[2] / 2)).coeffs(), inverse * torque;
    return dy;
  };
  State y;
  y << 0, 0, 0, 1, top.angularVelocity;
  const int steps = std::max(1, int(std::ceil(t * stepsPerSecond)));
  const double h = t / steps;
  for (int i = 0; i < steps; ++i) {
    const State k1 = slope(y), k2 = slope(y + h / 2 * k1), k3 = slope(y + h / 2 * k2), k4 = slope(y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    y.head<4>().normalize();
  }
  const Matrix3d R = Eigen::Quaterniond(y[3], y[0], y[1], y[2]).toRotationMatrix();
  const Vector3d x = R * top.centre, W = y.tail<3>();
  return {x, R, W, W.dot(J * W) / 2 - weight.dot(x)};
}

}
