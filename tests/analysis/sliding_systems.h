#pragma once
#include "tendril/analysis/contact_problem.h"

#include <cmath>
#include <numbers>
#include <random>

/// The systems of the source, as matrices in their own coordinates (Blumentals 2017, with the signs that follow from the derivation).
namespace tendril::test {

constexpr double degree = std::numbers::pi / 180;

inline AccelerationProblem emptyProblem(const MatrixX& M, const VectorX& F) {
  const Eigen::Index n = F.size();
  AccelerationProblem p;
  p.M = M, p.F = F;
  p.G = p.N = p.H = MatrixX(0, n);
  p.jointBias = p.normalBias = p.friction = VectorX(0);
  return p;
}

inline void addJoint(AccelerationProblem& p, const VectorX& row, double bias) {
  p.G.conservativeResize(p.G.rows() + 1, p.size());
  p.G.bottomRows(1) = row.transpose();
  p.jointBias.conservativeResize(p.G.rows());
  p.jointBias.tail(1)[0] = bias;
}

inline void addContact(AccelerationProblem& p, bool isBilateral, const VectorX& normal, double bias, const VectorX& tangent, double mu) {
  const Eigen::Index m = p.normalBias.size() + 1;
  p.N.conservativeResize(m, p.size()), p.H.conservativeResize(m, p.size());
  p.N.bottomRows(1) = normal.transpose(), p.H.bottomRows(1) = tangent.transpose();
  p.normalBias.conservativeResize(m), p.friction.conservativeResize(m);
  p.normalBias[m - 1] = bias, p.friction[m - 1] = mu;
  p.isBilateral.push_back(isBilateral);
}

inline VectorX numbers(std::initializer_list<double> x) { return Eigen::Map<const VectorX>(x.begin(), Eigen::Index(x.size())); }

struct Rod {
  double m = 1, l = 1, g = 9.81, theta = 45 * degree, rate = 0;
  double s() const { return std::sin(theta); }
  double c() const { return std::cos(theta); }
  AccelerationProblem free() const { return emptyProblem(numbers({m, m, m * l * l / 12}).asDiagonal(), numbers({0, m * g, 0})); }
  VectorX lowerNormal() const { return numbers({0, 1, -l / 2 * c()}); }
  VectorX upperNormal() const { return numbers({0, 1, l / 2 * c()}); }
  VectorX lowerTangent() const { return numbers({1, 0, l / 2 * s()}); }
  VectorX upperTangent() const { return numbers({1, 0, -l / 2 * s()}); }
  double bias() const { return l / 2 * s() * rate * rate; } ///< of the lower tip; the opposite at the upper one
};

/// Lower tip on a guide or on the ground, sliding along xi.
inline AccelerationProblem guidedRod(const Rod& rod, bool isBilateral, double mu = 0, double xi = 1) {
  AccelerationProblem p = rod.free();
  addContact(p, isBilateral, rod.lowerNormal(), rod.bias(), xi * rod.lowerTangent(), mu);
  return p;
}

/// Both tips in horizontal guides, pulled by a horizontal force at its centre and turned by a moment.
inline AccelerationProblem painleveKlein(const Rod& rod, double mu1, double mu2, double moment) {
  AccelerationProblem p = rod.free();
  p.F = numbers({0, 0, -moment});
  addContact(p, true, rod.lowerNormal(), rod.bias(), rod.lowerTangent(), mu1);
  addContact(p, true, rod.upperNormal(), -rod.bias(), rod.upperTangent(), mu2);
  return p;
}

/// Lower tip in a guide, upper one below a ceiling, pulled at both tips.
inline AccelerationProblem twoSidedRod(const Rod& rod, double lowerPull, double upperPull) {
  AccelerationProblem p = rod.free();
  p.F = numbers({-lowerPull - upperPull, 0, -rod.l / 2 * (lowerPull - upperPull) * rod.s()});
  addContact(p, true, rod.lowerNormal(), rod.bias(), rod.lowerTangent(), 0);
  addContact(p, false, -rod.upperNormal(), rod.bias(), rod.upperTangent(), 0);
  return p;
}

/// Two aligned half rods on a spring of extension d; coordinates: lower tip, d, angle.
inline AccelerationProblem flexiblePainleveKlein(double d, double theta) {
  const double m = 1, l = 1, s = std::sin(theta), c = std::cos(theta);
  // Centres at l/4 and 3l/4 + d along the axis from the lower tip, inertia of either half about its centre (m/2) (l/2)^2 / 12.
  MatrixX M = MatrixX::Zero(4, 4);
  for (const double r : {l / 4, 3 * l / 4 + d}) {
    MatrixX J(2, 4);
    const double slides = r > l / 2 ? 1 : 0;
    J << 1, 0, slides * c, -r * s, 0, 1, slides * s, r * c;
    M += m / 2 * J.transpose() * J;
    M(3, 3) += m / 2 * l * l / 48;
  }
  AccelerationProblem p = emptyProblem(M, numbers({0, 0, 0, 0}));
  addContact(p, true, numbers({0, 1, 0, 0}), 0, numbers({1, 0, 0, 0}), 1);
  addContact(p, true, numbers({0, 1, s, (l + d) * c}), 0, numbers({1, 0, c, -(l + d) * s}), 1);
  return p;
}

/// Two half rods with a hinge; coordinates: lower tip, both angles.
inline AccelerationProblem articulated(double theta1, double theta2) {
  const double m = 1, l = 1, s1 = std::sin(theta1), c1 = std::cos(theta1), s2 = std::sin(theta2), c2 = std::cos(theta2);
  MatrixX M = MatrixX::Zero(4, 4), J(2, 4);
  J << 1, 0, -l / 4 * s1, 0, 0, 1, l / 4 * c1, 0;
  M += m / 2 * J.transpose() * J;
  J << 1, 0, -l / 2 * s1, -l / 4 * s2, 0, 1, l / 2 * c1, l / 4 * c2;
  M += m / 2 * J.transpose() * J;
  M(2, 2) += m / 2 * l * l / 48, M(3, 3) += m / 2 * l * l / 48;
  AccelerationProblem p = emptyProblem(M, numbers({0, 0, 0, 0}));
  addContact(p, true, numbers({0, 1, 0, 0}), 0, numbers({1, 0, 0, 0}), 1);
  addContact(p, true, numbers({0, 1, l / 2 * c1, l / 2 * c2}), 0, numbers({1, 0, -l / 2 * s1, -l / 2 * s2}), 1);
  return p;
}

/// Top held by a rough wall on the left, foot on rough ground; sliding down means xiWall = -1, xiGround = +1.
inline AccelerationProblem ladder(double theta, double mu = 1, double xiWall = -1, double xiGround = 1) {
  const double m = 1, l = 2, s = std::sin(theta), c = std::cos(theta);
  AccelerationProblem p = emptyProblem(numbers({m, m, m * l * l / 12}).asDiagonal(), numbers({0, m * 9.81, 0}));
  addContact(p, true, numbers({1, 0, l / 2 * s}), 0, xiWall * numbers({0, 1, l / 2 * c}), mu);
  addContact(p, false, numbers({0, 1, -l / 2 * c}), 0, xiGround * numbers({1, 0, -l / 2 * s}), mu);
  return p;
}

inline SlidingProblem sliding(const AccelerationProblem& p) {
  const ConstrainedResponse response(p);
  return eliminate(p, response);
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double operator()() { return normal_(engine_); }
  int upTo(int n) { return std::uniform_int_distribution<int>(1, n)(engine_); }
  MatrixX matrix(Eigen::Index rows, Eigen::Index columns) {
    return MatrixX::NullaryExpr(rows, columns, [this](Eigen::Index, Eigen::Index) { return (*this)(); });
  }
  VectorX vector(Eigen::Index n) { return matrix(n, 1); }
  MatrixX metric(Eigen::Index n) {
    const MatrixX B = matrix(n, n);
    return B * B.transpose() + 0.1 * MatrixX::Identity(n, n);
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<double> normal_;
};

}
