#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <vector>

/// The plane friction problem by trying all modes: exact, exponential, independent of any solver.
namespace tendril::oracles {

/// One solution of u = W r + q with, per contact (normal, tangent), 0 <= u_n _|_ r_n >= 0 and Coulomb's law.
struct PlaneContactSolution {
  Eigen::VectorXd r, u;
  std::vector<int> modes; ///< 0 open, 1 stick, 2 slides forwards (u_t > 0), 3 slides backwards
};

/// All solutions among the modes open, stick, slide forwards, slide backwards of up to a handful of contacts; rows (n, t) per contact. A
/// mode with dependent rows is solved in the sense of least squares and kept if it satisfies the laws, so that at least one of the impulses
/// of a hyperstatic problem is found. Solutions with equal velocities are counted once.
inline std::vector<PlaneContactSolution> enumeratePlaneContacts(const Eigen::MatrixXd& W, const Eigen::VectorXd& q,
                                                                const std::vector<double>& friction, double tolerance = 1e-9) {
  const int n = int(friction.size());
  std::vector<PlaneContactSolution> solutions;
  const double speed = std::max(q.lpNorm<Eigen::Infinity>(), 1e-300), impulse = speed / W.diagonal().mean();
  int count = 1;
  for (int i = 0; i < n; ++i) count *= 4;
  for (int code = 0; code < count; ++code) {
    PlaneContactSolution s;
    for (int i = 0, rest = code; i < n; ++i, rest /= 4) s.modes.push_back(rest % 4);
    Eigen::MatrixXd F = Eigen::MatrixXd::Zero(2 * n, 2 * n), E = F; // r = F x, E u = 0; unused unknowns and rows stay zero
    for (int i = 0; i < n; ++i) {
      if (s.modes[i] == 0) continue;
      F(2 * i, 2 * i) = E(2 * i, 2 * i) = 1;
      if (s.modes[i] == 1)
        F(2 * i + 1, 2 * i + 1) = E(2 * i + 1, 2 * i + 1) = 1;
      else
        F(2 * i + 1, 2 * i) = s.modes[i] == 2 ? -friction[i] : friction[i];
    }
    const Eigen::MatrixXd system = E * W * F;
    s.r = F * system.completeOrthogonalDecomposition().solve(-(E * q));
    s.u = W * s.r + q;
    bool holds = true;
    for (int i = 0; i < n; ++i) {
      const double rn = s.r[2 * i], rt = s.r[2 * i + 1], un = s.u[2 * i], ut = s.u[2 * i + 1];
      const double du = tolerance * speed, dr = tolerance * impulse;
      const bool isClosed = s.modes[i] != 0;
      holds = holds && un >= -du && rn >= -dr && std::abs(rt) <= friction[i] * rn + dr && (!isClosed || un <= du);
      if (s.modes[i] == 1) holds = holds && std::abs(ut) <= du;
      if (s.modes[i] == 2) holds = holds && ut >= -du;
      if (s.modes[i] == 3) holds = holds && ut <= du;
    }
    for (const PlaneContactSolution& other : solutions) {
      holds = holds && (other.u - s.u).lpNorm<Eigen::Infinity>() > 100 * tolerance * speed;
    }
    if (holds) solutions.push_back(s);
  }
  return solutions;
}

}
