#pragma once

#include "numerics.h"

#include <Eigen/Geometry>

namespace tendril::oracles {

/// A spatial cantilever in the special Cosserat theory (Antman), clamped at s = 0 and free at s = length.
///
/// Along the arclength s of the reference shape, with the section frame R, position r, spatial force n and moment m:
///
///     r' = R (e1 + C_f R^T n),   R' = R [kappa0 + C_m R^T m]_x,   n' = -q,   m' = -r' x n,
///
/// e1 the axis of the section; e2, e3 its principal axes. The force compliance C_f = diag(1/EA, 1/GA2, 1/GA3) has zeros for what does
/// not deform: (1/EA, 0, 0) is the Kirchhoff-Love rod, zero the inextensible Kirchhoff rod. C_m = diag(1/GJ, 1/EI2, 1/EI3).
/// Loads are dead: q per reference length, a tip force and a tip moment, all spatial.
struct CosseratCantilever {
  double length = 1;
  Vector3d forceCompliance = Vector3d::Zero();
  Vector3d momentCompliance = Vector3d::Ones();
  Vector3d naturalCurvature = Vector3d::Zero(); ///< kappa0 in section axes
  Matrix3d clampFrame = Matrix3d::Identity();
  Vector3d lineLoad = Vector3d::Zero();
  Vector3d tipForce = Vector3d::Zero();
  Vector3d tipMoment = Vector3d::Zero();
};

/// Position and frame of a section of the solved rod, with the spatial force and moment that the part after it exerts on the part before.
struct RodSection {
  Vector3d position;
  Matrix3d frame;
  Vector3d force, moment;
};

namespace detail {

using RodState = Eigen::Matrix<double, 10, 1>; // r, unit quaternion (x, y, z, w), m; n follows from statics

inline Vector3d rodForce(const CosseratCantilever& rod, double load, double s) {
  return load * (rod.tipForce + (rod.length - s) * rod.lineLoad);
}

inline RodState rodSlope(const CosseratCantilever& rod, double load, double s, const RodState& y) {
  const Eigen::Quaterniond q(y[6], y[3], y[4], y[5]);
  const Matrix3d R = q.toRotationMatrix();
  const Vector3d n = rodForce(rod, load, s), m = y.tail<3>();
  const Vector3d tangent = R * (Vector3d::UnitX() + rod.forceCompliance.cwiseProduct(R.transpose() * n));
  const Vector3d kappa = rod.naturalCurvature + rod.momentCompliance.cwiseProduct(R.transpose() * m);
  RodState dy;
  dy << tangent, (q * Eigen::Quaterniond(0, kappa[0] / 2, kappa[1] / 2, kappa[2] / 2)).coeffs(), -tangent.cross(n);
  return dy;
}

inline RodState integrateRod(const CosseratCantilever& rod, double load, const Vector3d& clampMoment, double to, int steps) {
  RodState y;
  y << Vector3d::Zero(), Eigen::Quaterniond(rod.clampFrame).coeffs(), clampMoment;
  const double h = to / steps;
  for (int i = 0; i < steps; ++i) {
    const double s = i * h;
    const RodState k1 = rodSlope(rod, load, s, y), k2 = rodSlope(rod, load, s + h / 2, y + h / 2 * k1);
    const RodState k3 = rodSlope(rod, load, s + h / 2, y + h / 2 * k2), k4 = rodSlope(rod, load, s + h, y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    y.segment<4>(3).normalize();
  }
  return y;
}

}

/// Equilibrium of the cantilever by shooting for the three clamp moments, the loads growing in `loadSteps` equal steps with
/// extrapolation. Returns the sections at the fractions `at` of the length. `steps` Runge-Kutta steps per rod (order 4).
inline std::vector<RodSection> solveCantilever(const CosseratCantilever& rod, const std::vector<double>& at = {1.0}, int loadSteps = 20,
                                               int steps = 400) {
  const double momentScale = 1 / (rod.momentCompliance.maxCoeff() * rod.length);
  VectorXd moment = VectorXd::Zero(3), previous = moment;
  for (int k = 1; k <= loadSteps; ++k) {
    const double load = double(k) / loadSteps;
    const auto tip = [&](const VectorXd& m) -> VectorXd {
      return (detail::integrateRod(rod, load, m, rod.length, steps).tail<3>() - load * rod.tipMoment) / momentScale;
    };
    const VectorXd start = 2 * moment - previous;
    previous = moment;
    moment = solveNewton(tip, start, VectorXd::Constant(3, momentScale), 1e-11);
  }
  std::vector<RodSection> sections;
  for (double fraction : at) {
    const int count = std::max(1, int(std::lround(fraction * steps)));
    const detail::RodState y = detail::integrateRod(rod, 1, moment, fraction * rod.length, count);
    sections.push_back({y.head<3>(), Eigen::Quaterniond(y[6], y[3], y[4], y[5]).toRotationMatrix(),
                        detail::rodForce(rod, 1, fraction * rod.length), y.tail<3>()});
  }
  return sections;
}

/// The 45 degree bend of Bathe & Bolourchi (1979) and Simo & Vu-Quoc (1986): an arc of radius 100 from the origin, which starts along y
/// and turns towards x, lies in the x-y plane and carries a dead tip force along z. Unit square section, E = 1e7, nu = 0, no shear
/// correction. `torsionConstant`: J of the unit square, 1/6 (polar moment) or 0.140577 (Saint-Venant).
inline CosseratCantilever bend45(double load, double torsionConstant = 1.0 / 6) {
  constexpr double E = 1e7, G = E / 2;
  CosseratCantilever rod;
  rod.length = 100 * M_PI / 4;
  rod.forceCompliance = {1 / E, 1 / G, 1 / G};
  rod.momentCompliance = {1 / (G * torsionConstant), 12 / E, 12 / E};
  rod.naturalCurvature = {0, 0, -0.01};
  rod.clampFrame << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  rod.tipForce = {0, 0, load};
  return rod;
}

/// What a rod can do besides bending and twisting: all (Simo-Reissner), no shear (Kirchhoff-Love), neither shear nor stretch (inextensible
/// Kirchhoff).
enum class RodModel { SimoReissner, KirchhoffLove, InextensibleKirchhoff };

/// Circular section of radius R without shear correction: EA, GA, GA and GJ = 2 G I, EI, EI.
inline void setCircularSection(CosseratCantilever& rod, double radius, double E, double nu, RodModel model) {
  const double A = M_PI * radius * radius, I = A * radius * radius / 4, G = E / (2 * (1 + nu));
  const bool stretches = model != RodModel::InextensibleKirchhoff, shears = model == RodModel::SimoReissner;
  rod.forceCompliance = {stretches ? 1 / (E * A) : 0.0, shears ? 1 / (G * A) : 0.0, shears ? 1 / (G * A) : 0.0};
  rod.momentCompliance = {1 / (2 * G * I), 1 / (E * I), 1 / (E * I)};
}

/// A rod of natural radius 0.05 m and length 1 m, a flat coil x = (r sin(s/r), r (1 - cos(s/r)), 0) clamped at s = 0, that hangs to a helix
/// under gravity 9.81 m/s^2 along -z: section radius 5 mm, rho = 750 kg/m^3, E = 6 MPa, nu = 0.25.
inline CosseratCantilever helixUnderGravity(RodModel model) {
  CosseratCantilever rod;
  setCircularSection(rod, 0.005, 6e6, 0.25, model);
  rod.naturalCurvature = {0, 0, 1 / 0.05};
  rod.lineLoad = {0, 0, -750 * M_PI * 0.005 * 0.005 * 9.81};
  return rod;
}

}
