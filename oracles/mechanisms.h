#pragma once

#include "numerics.h"

#include <Eigen/Geometry>
#include <array>

namespace tendril::oracles {

/// Position and velocity of a point, with the mechanical energy of the mechanism.
struct PointMotion {
  Vector3d position, velocity;
  double energy;
};

/// The N four-bar mechanism (benchmark A02 of the library of Gonzalez, Dopico, Lugris & Cuadrado 2006): N + 1 vertical links A_i B_i hinged
/// to the ground at A_i = (i, 0) and N horizontal links B_(i-1) B_i; every link is a uniform rod of 1 m and 1 kg. It starts upright, B_0 =
/// (0, 1), with speed 1 m/s of B_0 along x; gravity 9.81 m/s^2 along -y. At the horizontal position the number of degrees of freedom jumps
/// from 1 to N + 1.
///
/// On the motion in which the windows stay parallelograms, phi the angle from the vertical (x = sin phi, y = cos phi):
///     [(N + 1)/3 + N] phi'' = [(N + 1)/2 + N] g sin phi.
/// Returns the motion of B_0 at time t; potential energy is zero at the height of the ground hinges.
inline PointMotion fourBar(int windows, double t, double speed = 1, double g = 9.81) {
  const double inertia = (windows + 1) / 3.0 + windows, weight = ((windows + 1) / 2.0 + windows) * g;
  const Slope f = [&](double, const VectorXd& y, VectorXd& dy) { dy << y[1], weight / inertia * std::sin(y[0]); };
  const VectorXd y = rungeKutta(f, 0, t, Vector2d(0, speed), std::max(1, int(std::ceil(t * 4000))));
  const double s = std::sin(y[0]), c = std::cos(y[0]);
  return {{s, c, 0}, {c * y[1], -s * y[1], 0}, inertia * y[1] * y[1] / 2 + weight * c};
}

/// Bricard's mechanism (benchmark A04 of the same library): five uniform rods of 1 m and 1 kg in a loop with six revolute joints, the sixth
/// side being the ground. Initially the joints sit on six corners of a cube, P0 = (0,0,0), P1 = (1,0,0), P2 = (1,-1,0), P3 = (1,-1,1), P4 =
/// (0,-1,1), P5 = (0,0,1); rod i joins P_(i-1) and P_i, the ground holds P0 and P5. The axes of the joints are y, z, x, y, z, x in the
/// initial position: each is perpendicular to both sides that it joins. Gravity 9.81 m/s^2 along -y, start from rest.
///
/// The loop has threefold symmetry: with the joint angles a (P0, P2, P4) and b (P1, P3, P5) between consecutive sides, it closes if
/// (1 + cos a)(1 + cos b) = 1. In u = tan(a/2), v = tan(b/2) this is the smooth closed curve u^2 + v^2 + u^2 v^2 = 3, here written with its
/// polar angle phi. phi serves a full turn without singularity, whereas neither a nor b does. The equation of motion is M(phi) phi'' +
/// M'(phi) phi'^2 / 2 + V'(phi) = 0.
class Bricard {
 public:
  /// `sectionWidth`: side of a square section that adds its rotary inertia (0: thin rods, the benchmark's "uniformly distributed mass").
  explicit Bricard(double sectionWidth = 0, double g = 9.81) : width_(sectionWidth), g_(g) {
    for (double branch : {1.0, -1.0})
      for (double order : {1.0, -1.0}) {
        signA_ = branch;
        signB_ = order;
        if (closure(M_PI / 4) < 1e-12 && closure(0.3) < 1e-12) return;
      }
    throw std::logic_error("oracle: the Bricard loop does not close");
  }

  /// Joints P0 ... P5 in the configuration phi; phi = pi/4 is the cube.
  std::array<Vector3d, 6> joints(double phi) const { return place(phi).joint; }

  /// Distance of the end of the fifth rod from the ground joint P5 = (0, 0, 1).
  double closure(double phi) const { return (joints(phi)[5] - Vector3d(0, 0, 1)).norm(); }

  /// Motion of the joint P_k at time t.
  PointMotion motion(double t, int k = 3, int stepsPerSecond = 1000) const {
    const Slope f = [&](double, const VectorXd& y, VectorXd& dy) {
      const double force = derivative([&](double p) { return potential(p); }, y[0]);
      const double growth = derivative([&](double p) { return inertia(p); }, y[0]);
      dy << y[1], -(force + growth * y[1] * y[1] / 2) / inertia(y[0]);
    };
    const VectorXd y = rungeKutta(f, 0, t, Vector2d(M_PI / 4, 0), std::max(1, int(std::ceil(t * stepsPerSecond))));
    const Configuration c = place(y[0]);
    return {c.joint[k], c.slope[k] * y[1], inertia(y[0]) * y[1] * y[1] / 2 + potential(y[0])};
  }

 private:
  /// Joints, their derivatives by phi, and the angular velocity of each rod for phi' = 1.
  struct Configuration {
    std::array<Vector3d, 6> joint, slope;
    std::array<Vector3d, 5> spin;
  };

  // Central difference of order 8: its error and the round-off are both below 1e-12 for the smooth functions of phi here.
  template <class Function> static double derivative(const Function& f, double x) {
    constexpr double h = 0.01, c[] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
    double sum = 0;
    for (int i = 0; i < 4; ++i) sum += c[i] * (f(x + (i + 1) * h) - f(x - (i + 1) * h));
    return sum / h;
  }

  Configuration place(double phi) const {
    const double c = std::cos(phi), s = std::sin(phi), root = std::sqrt(1 + 3 * std::pow(std::sin(2 * phi), 2));
    const double rho = std::sqrt(6 / (1 + root)), rootSlope = 6 * std::sin(2 * phi) * std::cos(2 * phi) / root;
    const double rhoSlope = -3 * rootSlope / (std::pow(1 + root, 2) * rho), u = rho * c, v = rho * s;
    const double angle[] = {2 * std::atan(u), 2 * std::atan(v)};
    const double rate[] = {2 * (rhoSlope * c - rho * s) / (1 + u * u), 2 * (rhoSlope * s + rho * c) / (1 + v * v)};
    const double sign[] = {signA_, signB_};
    const Vector3d side[] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {-1, 0, 0}, {0, 1, 0}};
    const Vector3d axis[] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    Configuration result;
    result.joint[0].setZero();
    result.slope[0].setZero();
    Matrix3d turn = Matrix3d::Identity(); // of the current rod from its place in the cube
    Vector3d spin = Vector3d::Zero();
    for (int i = 0; i < 5; ++i) {
      spin += sign[i % 2] * rate[i % 2] * (turn * axis[i]);
      turn = turn * Eigen::AngleAxisd(sign[i % 2] * (angle[i % 2] - M_PI / 2), axis[i]).toRotationMatrix();
      const Vector3d rod = turn * side[i];
      result.joint[i + 1] = result.joint[i] + rod;
      result.slope[i + 1] = result.slope[i] + spin.cross(rod);
      result.spin[i] = spin;
    }
    return result;
  }

  double potential(double phi) const {
    const auto p = joints(phi);
    double height = 0;
    for (int i = 0; i < 5; ++i) height += (p[i][1] + p[i + 1][1]) / 2;
    return g_ * height;
  }

  // Kinetic energy is inertia phi'^2 / 2. A thin rod with end velocities v, w has (v.v + v.w + w.w)/6; a square section of side b adds the
  // rotary inertia b^2/12 about its two axes and b^2/6 about the rod's own.
  double inertia(double phi) const {
    const Configuration c = place(phi);
    double sum = 0;
    for (int i = 0; i < 5; ++i) {
      const Vector3d &v = c.slope[i], &w = c.slope[i + 1], along = c.joint[i + 1] - c.joint[i];
      const double own = c.spin[i].dot(along);
      sum += (v.dot(v) + v.dot(w) + w.dot(w)) / 3 + width_ * width_ / 12 * (c.spin[i].squaredNorm() + own * own);
    }
    return sum;
  }

  double width_, g_, signA_ = 1, signB_ = 1;
};

}
