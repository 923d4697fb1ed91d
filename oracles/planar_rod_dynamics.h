#pragma once

#include "numerics.h"

namespace tendril::oracles {

/// Plane motion of a straight, uniform, geometrically exact rod (Reissner's strains), by finite differences and an explicit method.
///
/// Staggered grid with N cells of size h = L/N: positions r_i at the N + 1 nodes, section angles theta_j at the N cell centres. Energies
///     h/2 (EA gamma1^2 + GA gamma2^2),  gamma = R(theta_j)^T (r_(j+1) - r_j)/h - e1,      h/2 EI ((theta_j - theta_(j-1))/h)^2,
/// lumped masses rho A h (half at the ends) and rotary inertias rho I h. Both ends are free of moment. Order 2 in h; Runge-Kutta of order 4
/// in time with a step below the stability limit, so that the error in time is negligible. Nothing here is shared with a beam element on a
/// Lie group: no rotations are interpolated.
struct PlanarRod {
  double length = 1, EA = 1, GA = 1, EI = 1, rhoA = 1, rhoI = 1;
  Vector2d gravity = Vector2d::Zero();

  /// Circular section of the given radius, without shear correction.
  static PlanarRod circular(double length, double radius, double E, double nu, double rho) {
    const double A = M_PI * radius * radius, I = A * radius * radius / 4;
    return {length, E * A, E * A / (2 * (1 + nu)), E * I, rho * A, rho * I, {0, 0}};
  }
};

/// How the ends of the rod are held and loaded. Node 0 is the left end.
struct PlanarEnds {
  std::function<void(double t, Vector2d& position, Vector2d& velocity)> left; ///< prescribed motion of the left end; free when empty
  bool rightOnAxis = false;                                                   ///< the right end slides along the x axis
  double rightMass = 0;                                                       ///< point mass at the right end
  std::function<Vector3d(double t)> leftLoad;                                 ///< force (x, y) and moment at the left end; none when empty
};

class PlanarRodMotion {
 public:
  using State = Eigen::VectorXd;

  /// The rod starts straight from `origin` along the angle `direction` (radian) in the rigid motion given by the velocity of its left end
  /// and its angular velocity.
  PlanarRodMotion(const PlanarRod& rod, PlanarEnds ends, int cells, Vector2d origin, double direction, Vector2d velocity = Vector2d::Zero(),
                  double angularVelocity = 0)
      : rod_(rod), ends_(std::move(ends)), n_(cells), h_(rod.length / cells), y_(2 * unknowns()) {
    const Vector2d axis(std::cos(direction), std::sin(direction)), normal(-axis[1], axis[0]);
    for (int i = 0; i <= n_; ++i) {
      y_.segment<2>(2 * i) = origin + i * h_ * axis;
      y_.segment<2>(unknowns() + 2 * i) = velocity + angularVelocity * i * h_ * normal;
    }
    y_.segment(2 * (n_ + 1), n_).setConstant(direction);
    y_.segment(unknowns() + 2 * (n_ + 1), n_).setConstant(angularVelocity);
    for (State& k : k_) k.resize(y_.size());
    const double axial = 4 * rod.EA / (rod.rhoA * h_ * h_), shear = rod.GA / rod.rhoI + 4 * rod.GA / (rod.rhoA * h_ * h_);
    const double bending = 4 * rod.EI / (rod.rhoI * h_ * h_);
    largestStep_ = 1.4 / std::sqrt(std::max(axial, shear + bending));
  }

  void advanceTo(double t) {
    const int steps = std::max(1, int(std::ceil((t - time_) / largestStep_)));
    const double dt = (t - time_) / steps;
    for (int i = 0; i < steps; ++i) step(dt);
    time_ = t;
  }

  /// Position of the point at the fraction `xi` of the length; xi * N must be whole.
  Vector2d position(double xi) const { return y_.segment<2>(2 * std::lround(xi * n_)); }
  Vector2d velocity(double xi) const { return y_.segment<2>(unknowns() + 2 * std::lround(xi * n_)); }

  /// Deflection of the middle from the chord, positive to the left of the direction from the left end to the right end.
  double midDeflection() const {
    const Vector2d chord = (position(1) - position(0)).normalized(), offset = position(0.5) - position(0);
    return chord[0] * offset[1] - chord[1] * offset[0];
  }

  /// Kinetic, elastic and gravitational energy.
  double energy() const {
    double sum = 0;
    for (int i = 0; i <= n_; ++i)
      sum +=
          mass(i) * (y_.segment<2>(unknowns() + 2 * i).squaredNorm() / 2) - rodMass(i) * rod_.gravity.dot(Vector2d(y_.segment<2>(2 * i)));
    for (int j = 0; j < n_; ++j) {
      const Vector2d gamma = strain(y_, j);
      sum += h_ / 2 * (rod_.EA * gamma[0] * gamma[0] + rod_.GA * gamma[1] * gamma[1]) +
             rod_.rhoI * h_ / 2 * std::pow(y_[unknowns() + 2 * (n_ + 1) + j], 2);
      if (j > 0) sum += rod_.EI / (2 * h_) * std::pow(angle(y_, j) - angle(y_, j - 1), 2);
    }
    return sum;
  }

  /// Linear momentum (x, y) and angular momentum about the origin.
  Vector3d momentum() const {
    Vector3d p = Vector3d::Zero();
    for (int i = 0; i <= n_; ++i) {
      const Vector2d r = y_.segment<2>(2 * i), v = y_.segment<2>(unknowns() + 2 * i);
      p += mass(i) * Vector3d(v[0], v[1], r[0] * v[1] - r[1] * v[0]);
    }
    for (int j = 0; j < n_; ++j) p[2] += rod_.rhoI * h_ * y_[unknowns() + 2 * (n_ + 1) + j];
    return p;
  }

 private:
  Eigen::Index unknowns() const { return 3 * n_ + 2; }
  double rodMass(int i) const { return rod_.rhoA * h_ * (i == 0 || i == n_ ? 0.5 : 1.0); }
  double mass(int i) const { return rodMass(i) + (i == n_ ? ends_.rightMass : 0); }
  double angle(const State& y, int j) const { return y[2 * (n_ + 1) + j]; }

  Vector2d strain(const State& y, int j) const {
    const Vector2d d = (y.segment<2>(2 * j + 2) - y.segment<2>(2 * j)) / h_;
    const double c = std::cos(angle(y, j)), s = std::sin(angle(y, j));
    return {c * d[0] + s * d[1] - 1, -s * d[0] + c * d[1]};
  }

  void slope(double t, const Vector3d& load, State& y, State& dy) const {
    if (ends_.left) {
      Vector2d r, v;
      ends_.left(t, r, v);
      y.segment<2>(0) = r;
      y.segment<2>(unknowns()) = v;
    }
    dy.head(unknowns()) = y.tail(unknowns());
    auto a = dy.tail(unknowns());
    a.setZero();
    for (int j = 0; j < n_; ++j) {
      const Vector2d gamma = strain(y, j);
      const double c = std::cos(angle(y, j)), s = std::sin(angle(y, j)), N = rod_.EA * gamma[0], Q = rod_.GA * gamma[1];
      const Vector2d n(c * N - s * Q, s * N + c * Q), d = y.segment<2>(2 * j + 2) - y.segment<2>(2 * j);
      a.segment<2>(2 * j) += n;
      a.segment<2>(2 * j + 2) -= n;
      a[2 * (n_ + 1) + j] += d[0] * n[1] - d[1] * n[0];
      if (j == 0) continue;
      const double m = rod_.EI * (angle(y, j) - angle(y, j - 1)) / h_;
      a[2 * (n_ + 1) + j - 1] += m;
      a[2 * (n_ + 1) + j] -= m;
    }
    a.segment<2>(0) += load.head<2>();
    a[2 * (n_ + 1)] += load[2];
    for (int i = 0; i <= n_; ++i) a.segment<2>(2 * i) = (a.segment<2>(2 * i) + rodMass(i) * rod_.gravity) / mass(i);
    a.tail(n_) /= rod_.rhoI * h_;
    if (ends_.left) a.segment<2>(0).setZero(); // the motion is imposed, see above
    if (ends_.rightOnAxis) a[2 * n_ + 1] = 0;
  }

  void step(double dt) {
    // the load is held at its value in the middle of the step: the impulse of a piecewise linear load is exact if the steps meet its kinks
    const Vector3d load = ends_.leftLoad ? ends_.leftLoad(time_ + dt / 2) : Vector3d(0, 0, 0);
    stage_ = y_;
    slope(time_, load, stage_, k_[0]);
    stage_ = y_ + dt / 2 * k_[0];
    slope(time_ + dt / 2, load, stage_, k_[1]);
    stage_ = y_ + dt / 2 * k_[1];
    slope(time_ + dt / 2, load, stage_, k_[2]);
    stage_ = y_ + dt * k_[2];
    slope(time_ + dt, load, stage_, k_[3]);
    y_ += dt / 6 * (k_[0] + 2 * k_[1] + 2 * k_[2] + k_[3]);
    time_ += dt;
    if (ends_.left) {
      Vector2d r, v;
      ends_.left(time_, r, v);
      y_.segment<2>(0) = r;
      y_.segment<2>(unknowns()) = v;
    }
  }

  PlanarRod rod_;
  PlanarEnds ends_;
  int n_;
  double h_, time_ = 0, largestStep_ = 0;
  State y_, stage_;
  State k_[4];
};

/// The left end rests at the origin and turns freely.
inline PlanarEnds pinnedAtOrigin() {
  PlanarEnds ends;
  ends.left = [](double, Vector2d& r, Vector2d& v) { r.setZero(), v.setZero(); };
  return ends;
}

/// A cable of 1 m, diameter 1 cm, E = 10 MPa, nu = 0, rho = 1000 kg/m^3, pinned at the origin and released at rest along +x; gravity 9.81
/// m/s^2 along -y.
inline PlanarRodMotion fallingCable(int cells) {
  PlanarRod rod = PlanarRod::circular(1, 0.005, 1e7, 0, 1000);
  rod.gravity = {0, -9.81};
  return {rod, pinnedAtOrigin(), cells, {0, 0}, 0};
}

/// The rubber pendulum of Lang, Linn & Arnold (2011): 1 m, radius 5 mm, E = 5 MPa, nu = 0.5, rho = 1100 kg/m^3, released at rest along +x.
inline PlanarRodMotion flexiblePendulum(int cells) {
  PlanarRod rod = PlanarRod::circular(1, 0.005, 5e6, 0.5, 1100);
  rod.gravity = {0, -9.81};
  return {rod, pinnedAtOrigin(), cells, {0, 0}, 0};
}

/// The slider-crank with flexible connecting rod of Jonker (1989): rigid crank 0.15 m turning at 150 rad/s, steel rod 0.3 m of 6 mm
/// diameter (E = 200 GPa, rho = 7870 kg/m^3; nu = 0.3 here), slider 0.033 kg on the x axis, no gravity. It starts stretched out along +x,
/// the rod straight and in rigid motion.
inline PlanarRodMotion flexibleSliderCrank(int cells) {
  static constexpr double crank = 0.15, length = 0.3, omega = 150;
  PlanarEnds ends;
  ends.left = [](double t, Vector2d& r, Vector2d& v) {
    r = crank * Vector2d(std::cos(omega * t), std::sin(omega * t));
    v = omega * Vector2d(-r[1], r[0]);
  };
  ends.rightOnAxis = true;
  ends.rightMass = 0.033;
  return {PlanarRod::circular(length, 0.003, 2e11, 0.3, 7870), ends, cells, {crank, 0}, 0, {0, crank * omega}, -crank * omega / length};
}

/// The free flight of a flexible beam in the plane (Simo & Vu-Quoc 1986): from (6, 0) to (0, 8), EA = GA = 1e4, EI = 500, rho A = 1, rho I
/// = 10 (scaled); during the first 2.5 s the force (8, 0) and the moment -80 act on the lower end. Afterwards the momentum is (20, 0) and
/// the angular momentum constant. Let advanceTo meet 2.5 s. The energy of the free flight is of order 1 only, because the cells do not see
/// the half cell under the end moment.
inline PlanarRodMotion freeFlight(int cells) {
  PlanarEnds ends;
  ends.leftLoad = [](double t) -> Vector3d { return t < 2.5 ? Vector3d(8, 0, -80) : Vector3d::Zero(); };
  return {PlanarRod{10, 1e4, 1e4, 500, 1, 10, {0, 0}}, ends, cells, {6, 0}, std::atan2(8.0, -6.0)};
}

}
