#pragma once
#include "tendril/analysis/sliding_problem.h"

#include <string>
#include <vector>

namespace tendril {

/// What becomes of the accelerations of a system at one state, as numbers:
///
///     M a + F = G^T lambda_G + N^T lambda - H^T [mu] |lambda|,     G a + g = 0,
///     bilateral contacts: N a + c = 0,     unilateral contacts: 0 <= N a + c  _|_  lambda >= 0.
///
/// G holds the rows of joints and of guides without friction; N and H one row per contact, normal and tangent, the tangent in the direction
/// of sliding. Unilateral contacts take part only if they are closed and do not open: gap = 0 and gap' = 0. M is symmetric and positive
/// semidefinite; matrices have as many columns as F has rows, also without rows. F stands on the left, so that weight appears as +m g
/// (Blumentals 2017, 3.1).
struct AccelerationProblem {
  MatrixX M;
  VectorX F;
  MatrixX G;
  VectorX jointBias; ///< g
  MatrixX N, H;
  VectorX normalBias; ///< c
  VectorX friction;   ///< mu of each contact
  std::vector<char> isBilateral;
  /// 1 where friction may act, 0 where a contact is smooth or at rest: the direction in which friction is bounded. Empty: all rub.
  VectorX roughness;
  /// What one unit of each velocity moves (rotations: the size of the model): rank decisions measure with it. Empty: all 1.
  VectorX unit;
  double mass = 1; ///< see SlidingProblem
  /// Empty: numbers are shown instead.
  std::vector<std::string> velocityNames, jointNames, contactNames;

  int size() const { return int(F.size()); }
  int joints() const { return int(jointBias.size()); }
  int contacts() const { return int(normalBias.size()); }
  std::string velocityName(int row) const;
  std::string jointName(int row) const;
  std::string contactName(int contact) const;
};

/// Throws std::invalid_argument that says what does not fit: sizes, numbers that are not finite, M that is not symmetric.
void checkProblem(const AccelerationProblem& problem);

/// A system with only so many unilateral contacts and no friction may be put in several ways, which must agree.
enum class Formulation {
  Kkt,              ///< [M -J^T; J 0] (a, lambda) = (-F, -c): no unilateral contacts
  NullSpace,        ///< a = a0 + Z z with Z a basis of Ker J: no unilateral contacts; M may be singular
  Schur,            ///< J M^-1 J^T lambda = J M^-1 F - c: no unilateral contacts, M regular
  QuadraticProgram, ///< min 1/2 a^T M a + F^T a under the constraints (Gauss): M regular
  Lcp               ///< 0 <= A lambda + w _|_ lambda >= 0 once bilateral constraints are eliminated
};

struct ContactSolution {
  bool isSolved = false;
  VectorX a;
  VectorX jointForce;  ///< lambda_G, of least norm
  VectorX lambda;      ///< normal forces of the contacts
  double residual = 0; ///< of the equations of motion and of the constraints, relative to their terms
};

/// Solves the problem without its friction. Errors: std::invalid_argument where the formulation does not serve.
ContactSolution solveWithoutFriction(const AccelerationProblem& problem, Formulation formulation);

/// How a system answers to forces while its frictionless bilateral constraints hold: a basis Z of Ker G and Z^T M Z, factorised.
///
///     a = a0 - W (F + M a0) + W f,     W = Z (Z^T M Z)^-1 Z^T.
///
/// Rows that depend on others take no part. Rank: by orthogonal elimination of rows scaled to unit length, relative pivots below
/// rankTolerance count as zero.
class ConstrainedResponse {
 public:
  static constexpr double rankTolerance = 1e-10;
  /// Smallest over largest eigenvalue of Z^T M Z (in units of `unit`) down to which it counts as regular.
  static constexpr double massTolerance = 1e-13;

  explicit ConstrainedResponse(const AccelerationProblem& problem);

  int rank() const { return rank_; }                ///< of G
  bool isCompatible() const { return compatible_; } ///< G a + g = 0 has a solution
  bool isRegular() const { return freeModes_.cols() == 0; }
  /// Ker M and Ker G have these motions in common: nothing resists them.
  const MatrixX& freeModes() const { return freeModes_; }
  /// W f, for every column.
  MatrixX answer(const MatrixX& forces) const;
  /// Accelerations without contact forces.
  const VectorX& free() const { return free_; }
  /// lambda_G of least norm that holds the accelerations, given the contact forces on the right-hand side of M a + F = G^T lambda_G + f.
  VectorX jointForces(const VectorX& a, const VectorX& f) const;

 private:
  const AccelerationProblem& problem_;
  int rank_ = 0;
  bool compatible_ = true;
  MatrixX Z_, freeModes_;
  MatrixX inverse_; ///< of Z^T M Z
  VectorX free_;
};

/// The contacts alone, joints and inertia eliminated. Throws NumericalFailure that names the motions without inertia if there are any, and
/// the constraints that contradict each other.
SlidingProblem eliminate(const AccelerationProblem& problem, const ConstrainedResponse& response);

/// Accelerations and joint forces that belong to normal forces.
ContactSolution motionOf(const AccelerationProblem& problem, const ConstrainedResponse& response, const VectorX& lambda);

}
