#pragma once

#include "numerics.h"

#include <Eigen/Geometry>

namespace tendril::oracles {

/// The thin right-angle frame of Argyris et al. (1979): two legs of equal length in the x-y plane; the wide side of the section lies in the
/// plane, so that the frame is stiff in its plane and buckles out of it (z). Section axes: e1 along the leg, e2 in the plane, e3 = z.
/// Units: N, mm. Published data: legs 240, section 30 x 0.6, E = 71240, nu = 0.31.
struct RightAngleFrame {
  double leg = 240, width = 30, thickness = 0.6, E = 71240, nu = 0.31;
  bool thinStripTorsion = true; ///< J = b t^3 / 3, the published choice; else Saint-Venant's J of the rectangle (1.26 % less)

  double torsionConstant() const {
    const double thin = width * std::pow(thickness, 3) / 3;
    return thinStripTorsion ? thin : thin * (1 - 0.630249 * thickness / width);
  }
  double torsion() const { return E / (2 * (1 + nu)) * torsionConstant(); }         ///< GJ
  double lateralBending() const { return E * width * std::pow(thickness, 3) / 12; } ///< EI about e2: out of the plane
  double inPlaneBending() const { return E * thickness * std::pow(width, 3) / 12; } ///< EI about e3
};

/// Critical end moment of the hinged frame. Supports: both ends slide along x (the line through them) and turn about z only; the moments
/// act about z.
///
/// No force acts, so the moment is a constant vector (0, m_y, M) in each leg and the linearised equations GJ theta1' = m1 - M theta2,
/// EI theta2' = m2 + M theta1 turn (theta1, theta2) harmonically with the wave number M / sqrt(GJ EI). The end is clamped out of the plane;
/// at the corner mirror symmetry leaves the rotation about x only. The conditions meet when the wave number is pi / leg:
///
///     M_cr = (pi / leg) sqrt(EI GJ)      (rigid in the plane; +-622.2 N mm with the published data).
inline double hingedFrameCriticalMoment(const RightAngleFrame& frame) {
  return M_PI / frame.leg * std::sqrt(frame.lateralBending() * frame.torsion());
}

/// A point of the path of the hinged frame: end moment, turn of the corner's section about the line of the supports (radian), and the
/// position of the corner relative to the left support.
struct HingedFramePoint {
  double moment, revolution;
  Vector3d corner;
};

namespace detail {

/// Position, quaternion (x, y, z, w) at the corner of the left leg, which starts at the support with the section turned by psi about z.
/// The leg is inextensible and unshearable: it is a Kirchhoff rod under a constant moment vector.
inline Eigen::Matrix<double, 7, 1> hingedLeg(const RightAngleFrame& frame, double psi, double my, double M, int steps = 400) {
  const Vector3d moment(0, my, M), compliance(1 / frame.torsion(), 1 / frame.lateralBending(), 1 / frame.inPlaneBending());
  const Slope f = [&](double, const VectorXd& y, VectorXd& dy) {
    const Eigen::Quaterniond q(y[6], y[3], y[4], y[5]);
    const Vector3d kappa = compliance.cwiseProduct(q.conjugate() * moment);
    dy << q * Vector3d::UnitX(), (q * Eigen::Quaterniond(0, kappa[0] / 2, kappa[1] / 2, kappa[2] / 2)).coeffs();
  };
  VectorXd start(7);
  start << 0, 0, 0, Eigen::Quaterniond(Eigen::AngleAxisd(M_PI / 4 + psi, Vector3d::UnitZ())).coeffs();
  return rungeKutta(f, 0, frame.leg, start, steps);
}

}

/// Path of the hinged frame from its bifurcation through one full revolution about the line of its supports: the corner's section must be
/// the reference section turned about x by the angle `revolution`, by mirror symmetry of the two legs. Unknowns: turn of the support, m_y,
/// M; parameter: the revolution. Positive end moment M opens or closes the frame with the sign of the rotation of the left support.
inline std::vector<HingedFramePoint> hingedFrameRevolution(const RightAngleFrame& frame, int points = 72) {
  const double unit = hingedFrameCriticalMoment(frame);
  const Eigen::Quaterniond reference(Eigen::AngleAxisd(M_PI / 4, Vector3d::UnitZ()));
  std::vector<HingedFramePoint> path;
  VectorXd z = Vector3d(0, 0, 1), previous = z;
  for (int k = 1; k <= points; ++k) {
    const double revolution = 2 * M_PI * k / points;
    const Eigen::Quaterniond target = Eigen::Quaterniond(Eigen::AngleAxisd(revolution, Vector3d::UnitX())) * reference;
    const auto mismatch = [&](const VectorXd& v) -> VectorXd {
      const Eigen::Quaterniond corner(detail::hingedLeg(frame, v[0], unit * v[1], unit * v[2]).segment<4>(3));
      return 2 * (target.conjugate() * corner).vec();
    };
    VectorXd start = 2 * z - previous;
    if (k == 1) start = Vector3d(0, revolution / 2, 1);
    previous = z;
    z = solveNewton(mismatch, start, Vector3d::Ones(), 1e-10);
    const auto corner = detail::hingedLeg(frame, z[0], unit * z[1], unit * z[2]);
    path.push_back({unit * z[2], revolution, corner.head<3>()});
  }
  return path;
}

/// Critical tip force of the cantilever frame: the first leg is clamped at the origin and runs along +x, the second runs along +y from the
/// corner, and a dead force `direction * P` along x acts at its free end. direction = +1: away from the clamp; -1: towards it.
///
/// Linearised about the undeformed plane frame (rigid in its plane): with the in-plane force n = (direction P, 0, 0) and moment M(s),
///   theta' = compliance (delta m + m x theta in section axes), w' = (theta x e1)_z, delta m' = -(theta x e1) x n, clamped at the foot,
///   delta m = 0 at the tip.
/// The determinant of the 2 x 2 map (m_x, m_y at the foot) -> (m_x, m_y at the tip) vanishes at the critical force.
inline double cantileverFrameCriticalForce(const RightAngleFrame& frame, int direction, double highest = 10) {
  const auto determinant = [&](double P) {
    const Vector3d n(direction * P, 0, 0);
    Matrix2d map;
    for (int column = 0; column < 2; ++column) {
      VectorXd y = VectorXd::Zero(4); // theta_x, theta_y, delta m_x, delta m_y
      y[2 + column] = 1;
      for (int leg = 0; leg < 2; ++leg) {
        const Vector3d axis = leg == 0 ? Vector3d::UnitX() : Vector3d::UnitY(), across = Vector3d::UnitZ().cross(axis);
        const Slope f = [&](double s, const VectorXd& v, VectorXd& dv) {
          // in-plane moment that the part after s exerts: (tip - r) x n
          const Vector3d lever = leg == 0 ? Vector3d(frame.leg - s, frame.leg, 0) : Vector3d(0, frame.leg - s, 0);
          const Vector3d theta(v[0], v[1], 0), m = Vector3d(v[2], v[3], 0) - theta.cross(lever.cross(n));
          const Vector3d rate = axis * (axis.dot(m) / frame.torsion()) + across * (across.dot(m) / frame.lateralBending());
          const Vector3d dm = -(theta.cross(axis)).cross(n);
          dv << rate[0], rate[1], dm[0], dm[1];
        };
        y = rungeKutta(f, 0, frame.leg, y, 200);
      }
      map.col(column) = y.tail<2>();
    }
    return map.determinant();
  };
  double low = 1e-6;
  const double step = 0.05, sign = determinant(low);
  for (double P = low + step; P < highest; P += step) {
    if (determinant(P) * sign < 0) return bisect(determinant, low, P);
    low = P;
  }
  throw std::runtime_error("oracle: no critical force below the bound");
}

namespace detail {

/// State (position, quaternion, spatial moment) at the tip of the inextensible, unshearable cantilever frame under the dead tip force n,
/// for the moment at the clamp.
inline VectorXd cantileverFrameTip(const RightAngleFrame& frame, const Vector3d& n, const Vector3d& clampMoment) {
  const Vector3d compliance(1 / frame.torsion(), 1 / frame.lateralBending(), 1 / frame.inPlaneBending());
  const Slope f = [&](double, const VectorXd& y, VectorXd& dy) {
    const Eigen::Quaterniond q(y[6], y[3], y[4], y[5]);
    const Vector3d tangent = q * Vector3d::UnitX(), moment = y.tail<3>(), kappa = compliance.cwiseProduct(q.conjugate() * moment);
    dy << tangent, (q * Eigen::Quaterniond(0, kappa[0] / 2, kappa[1] / 2, kappa[2] / 2)).coeffs(), -tangent.cross(n);
  };
  VectorXd y(10);
  y << 0, 0, 0, 0, 0, 0, 1, clampMoment;
  y = rungeKutta(f, 0, frame.leg, y, 100);
  const Eigen::Quaterniond corner(y[6], y[3], y[4], y[5]), turned = corner * Eigen::AngleAxisd(M_PI / 2, Vector3d::UnitZ());
  y.segment<4>(3) = turned.coeffs();
  return rungeKutta(f, 0, frame.leg, y, 100);
}

}

/// The same critical force with the in-plane bending before buckling: the bifurcation of the nonlinear rod. At each P the plane state is
/// solved for its clamp moment; the map from the out-of-plane clamp moments to the out-of-plane tip moments, by difference quotients about
/// it, becomes singular.
inline double cantileverFrameBifurcation(const RightAngleFrame& frame, int direction) {
  const auto determinant = [&](double P) {
    const Vector3d n(direction * P, 0, 0);
    const double unit = P * frame.leg;
    const auto inPlane = [&](const VectorXd& m) -> VectorXd {
      return VectorXd::Constant(1, detail::cantileverFrameTip(frame, n, {0, 0, unit * m[0]})[9] / unit);
    };
    const double mz = unit * solveNewton(inPlane, VectorXd::Constant(1, -direction), VectorXd::Ones(1), 1e-12)[0];
    const auto outOfPlane = [&](const VectorXd& m) -> VectorXd {
      return detail::cantileverFrameTip(frame, n, {unit * m[0], unit * m[1], mz}).segment<2>(7) / unit;
    };
    return differenceJacobian(outOfPlane, VectorXd::Zero(2), VectorXd::Ones(2), 1e-5).determinant();
  };
  const double guess = cantileverFrameCriticalForce(frame, direction);
  double low = 0.98 * guess, high = 1.02 * guess;
  const bool negative = determinant(low) < 0;
  for (int k = 0; k < 30; ++k) ((determinant((low + high) / 2) < 0) == negative ? low : high) = (low + high) / 2;
  return (low + high) / 2;
}

}
