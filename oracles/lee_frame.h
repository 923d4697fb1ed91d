#pragma once

#include "numerics.h"

namespace tendril::oracles {

/// Lee's frame: a column and a beam, rigidly joined at a right angle, both ends pinned, a dead load on the beam that points down.
/// Published data (Lee, Manuel & Rossow 1968; Simo & Vu-Quoc 1986): legs 120, E = 7.2e6, A = 6, I = 2, load 24 from the corner; shear
/// stiffness as given.
struct LeeFrame {
  double leg = 120;   ///< length of both legs; the column stands on the origin
  double loadAt = 24; ///< distance of the load from the corner, on the beam
  double EA = 43.2e6;
  double GA = 16.62e6;
  double EI = 14.4e6;
  double forceUnit = 1e3; ///< the load is forceUnit * lambda
  int steps = 48;         ///< Runge-Kutta steps per leg (order 4)
};

/// A point of the equilibrium path: load parameter and the displacement of the loaded point.
struct LeeFramePoint {
  double lambda, ux, uy;
};

namespace detail {

/// Section state (x, y, theta, m) after `length` of a straight leg under the constant spatial force (nx, ny):
/// r' = (1 + N/EA) t + (Q/GA) t_perp, theta' = m/EI, m' = -(r' x n).
inline VectorXd planarLeg(const LeeFrame& frame, const VectorXd& start, double nx, double ny, double length, int steps) {
  const Slope f = [&](double, const VectorXd& y, VectorXd& dy) {
    const double c = std::cos(y[2]), s = std::sin(y[2]), N = c * nx + s * ny, Q = -s * nx + c * ny;
    const double stretch = 1 + N / frame.EA, shear = Q / frame.GA;
    dy << stretch * c - shear * s, stretch * s + shear * c, y[3] / frame.EI, 0;
    dy[3] = -(dy[0] * ny - dy[1] * nx);
  };
  return rungeKutta(f, 0, length, start, steps);
}

/// Unknowns z = (slope of the foot, reactions H, V of the foot in force units, lambda); the state at the loaded point and at the far end.
inline std::pair<VectorXd, VectorXd> leeFrameStates(const LeeFrame& frame, const VectorXd& z) {
  const double nx = -frame.forceUnit * z[1], ny = -frame.forceUnit * z[2]; // force in the section = -(reaction at the foot)
  const int first = std::max(4, int(frame.steps * frame.loadAt / frame.leg));
  VectorXd y = planarLeg(frame, Eigen::Vector4d(0, 0, z[0], 0), nx, ny, frame.leg, frame.steps);
  y[2] -= M_PI / 2;
  const VectorXd loaded = planarLeg(frame, y, nx, ny, frame.loadAt, first);
  const double above = ny + frame.forceUnit * z[3]; // the load (0, -lambda) is balanced by a jump of n
  return {loaded, planarLeg(frame, loaded, nx, above, frame.leg - frame.loadAt, frame.steps)};
}

}

/// Limit loads (first maximum, following minimum of lambda) of the continuous frame: shooting from the foot for its slope and reactions, so
/// that the far end is at (leg, leg) without moment, and pseudo-arclength continuation in (slope, H, V, lambda). `path`, if given, receives
/// the points passed.
inline std::pair<LeeFramePoint, LeeFramePoint> leeFrameLimits(const LeeFrame& frame = {}, std::vector<LeeFramePoint>* path = nullptr,
                                                              double arcStep = 0.1) {
  const auto equations = [&](const VectorXd& z) -> VectorXd {
    const VectorXd end = detail::leeFrameStates(frame, z).second;
    return Vector3d(end[0] / frame.leg - 1, end[1] / frame.leg - 1, end[3] * frame.leg / frame.EI);
  };
  const auto describe = [&](const VectorXd& z) {
    const VectorXd loaded = detail::leeFrameStates(frame, z).first;
    return LeeFramePoint{z[3], loaded[0] - frame.loadAt, loaded[1] - frame.leg};
  };
  const Continuation curve(equations, 1e-10);
  std::vector<LeeFramePoint> limits;
  VectorXd last, lastTangent;
  curve.walk(Eigen::Vector4d(M_PI / 2, 0, 0, 0), Eigen::Vector4d(0, 0, 0, 1), arcStep, 5000, [&](const VectorXd& z, const VectorXd& t) {
    if (path) path->push_back(describe(z));
    if (last.size() && lastTangent[3] * t[3] < 0) limits.push_back(describe(curve.turningPoint(last, lastTangent, arcStep, 3)));
    last = z;
    lastTangent = t;
    return limits.size() < 2 && std::abs(z[3]) < 100;
  });
  if (limits.size() < 2) throw std::runtime_error("oracle: Lee's frame shows fewer than two limit points");
  return {limits[0], limits[1]};
}

}
