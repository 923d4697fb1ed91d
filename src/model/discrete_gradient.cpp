#include "tendril/model/director_system.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

using Matrix38 = Eigen::Matrix<double, 3, 8>;
using Matrix37 = Eigen::Matrix<double, 3, 7>;
using Matrix87 = Eigen::Matrix<double, 8, 7>;
using Matrix7 = Eigen::Matrix<double, 7, 7>;

/// What is invariant under rigid motions: the dot products of W = Y E, the vector between the origins (over the length of the model) and
/// the directors of both frames.
Matrix87 invariantVectors(double length) {
  Matrix87 E = Matrix87::Zero();
  E(0, 0) = -1 / length, E(4, 0) = 1 / length;
  for (int i = 0; i < 3; ++i) E(1 + i, 1 + i) = E(5 + i, 4 + i) = 1;
  return E;
}

Matrix38 columnsOf(const DirectorFrames& Y) {
  Matrix38 columns;
  columns << Y[0], Y[1];
  return columns;
}

Vector24 stacked(const Matrix38& columns) { return Eigen::Map<const Vector24>(columns.data()); }

}

/// D V = dV/dy(middle) + c n,  n = 2 W(middle) dPi E^T,  c = (V1 - V0 - dV/dy . dy) / |dPi|^2: n has no moment and n . dy = |dPi|^2.
void DirectorPotential::discreteGradient(int member, const DirectorFrames& Y0, const DirectorFrames& Y1, double t, double length,
                                         Vector24& gradient, Matrix24* byEnd) const {
  const DirectorFrames middle{0.5 * (Y0[0] + Y1[0]), 0.5 * (Y0[1] + Y1[1])};
  Matrix24 H;
  evaluate(member, middle, t, &gradient, byEnd ? &H : nullptr);
  if (byEnd) *byEnd = 0.5 * H;
  const Matrix87 E = invariantVectors(length);
  const Matrix38 y0 = columnsOf(Y0), y1 = columnsOf(Y1);
  const Matrix37 W0 = y0 * E, W1 = y1 * E, W = 0.5 * (W0 + W1);
  const Matrix7 change = W1.transpose() * W1 - W0.transpose() * W0;
  const double S = change.squaredNorm();
  // Below, rounding of the energies would make a noise of forces, and the midpoint has the same energy to rounding.
  if (S < 1e-16 * (W.transpose() * W).squaredNorm()) return;

  const Vector24 dy = stacked(y1 - y0), atMiddle = gradient;
  Vector24 atEnd;
  const double V1 = evaluate(member, Y1, t, byEnd ? &atEnd : nullptr, nullptr), V0 = evaluate(member, Y0, t, nullptr, nullptr);
  const double c = (V1 - V0 - atMiddle.dot(dy)) / S;
  const Matrix38 U = W * E.transpose(), T = W1 * E.transpose();
  const Eigen::Matrix<double, 8, 8> A = E * change * E.transpose(), B = E * E.transpose();
  const Vector24 n = stacked(2 * W * change * E.transpose());
  gradient += c * n;
  if (!byEnd) return;
  const Vector24 dS = stacked(4 * W1 * change * E.transpose());
  const Vector24 dc = (atEnd - atMiddle - 0.5 * H * dy) / S - c / S * dS;
  *byEnd += n * dc.transpose();
  const Matrix3 WW = W * W1.transpose();
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j)
      byEnd->block<3, 3>(3 * i, 3 * j) += c * (A(j, i) * Matrix3::Identity() + 2 * U.col(j) * T.col(i).transpose() + 2 * B(j, i) * WW);
}

void DirectorSystem::addDiscreteGradient(const VectorX& q0, const VectorX& q1, double t0, double t1, double scale, VectorX& gradient,
                                         SparseMatrix* K) const {
  const double t = 0.5 * (t0 + t1), length = model_.characteristicLength();
  gradient -= scale * model_.gravity().factor(t).value * weight_;
  for (std::size_t kind = 0; kind < potentials_.size(); ++kind) {
    const DirectorPotential& potential = *potentials_[kind];
    for (int member = 0; member < potential.size(); ++member) {
      const std::array<DirectorFrame, 2>& frames = potential.frames(member);
      Vector24 force;
      Matrix24 stiffness;
      potential.discreteGradient(member, framesAt(frames, q0, t0), framesAt(frames, q1, t1), t, length, force, K ? &stiffness : nullptr);
      const Site& site = potentialSites_[kind][member];
      addGradient(site, force, scale, gradient);
      if (K) addHessian(site, stiffness, scale, *K);
    }
  }
}

}
