#pragma once
#include "tendril/lie/types.h"
#include "tendril/solvers/p_matrix.h"

#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// Sliding contacts of a system as seen from the contacts alone, joints and inertia eliminated:
///
///     a_n = A lambda - T [mu] |lambda| + w,   bilateral: a_n = 0,   unilateral: 0 <= a_n  _|_  lambda >= 0      (analysis.1).
///
/// lambda are the normal forces, a_n the normal accelerations; friction of the size mu |lambda| acts against the sliding, which happens
/// along the tangent. A = N W N^T is the Delassus matrix and T = N W H^T, with N the normal rows, H the rows of the tangents in the
/// direction of sliding, and W the accelerations per force that the frictionless joints admit. Stands for all of bilateral, unilateral and
/// mixed contact, with and without frictionless constraints beside it (Blumentals 2017, 3.3, 3.9, 3.17, 3.22, 3.27).
struct SlidingProblem {
  MatrixX A, T;
  VectorX w;
  VectorX friction;              ///< mu of each contact
  std::vector<char> isBilateral; ///< both sides touch: the normal force may have either sign
  std::vector<std::string> names;
  double mass = 1; ///< makes a force of an acceleration where both stand in one matrix: bounds by norms depend on it, no solution does

  int contacts() const { return int(w.size()); }
  const std::string& name(int contact) const { return names[std::size_t(contact)]; }
};

/// The problem as P x+ - N x- + w = 0 with complementary x+, x- >= 0: the positive and negative part of lambda for bilateral, lambda and
/// a_n for unilateral contacts.
HorizontalLcp horizontalForm(const SlidingProblem& problem);

/// 0 <= z _|_ M z + q >= 0 for z = (lambda-, lambda): the negative part of bilateral and the unilateral normal forces, contact by contact;
/// what belongs to z is the positive part and `mass` times the normal acceleration. Rows are forces. Exists where friction leaves the
/// bilateral contacts determined; otherwise isDefined is false.
struct StandardForm {
  bool isDefined = true;
  MatrixX M;
  VectorX q;
};
StandardForm standardForm(const SlidingProblem& problem);

/// What can be said of existence and uniqueness of the forces.
enum class Verdict {
  Unique,    ///< exactly one solution, for this load
  None,      ///< no solution
  Multiple,  ///< several solutions
  Certified, ///< too large to look through; a friction bound proves that there is exactly one, whatever the load
  Undecided  ///< too large to look through, and above the friction bounds
};
const char* toString(Verdict verdict);

/// Solutions lambda of the problem. Up to `maxEnumeratedContacts` contacts all are found; a larger problem is solved by Lemke's method, and
/// `isComplete` is false.
struct SlidingSolutions {
  bool isComplete = true;
  std::vector<VectorX> lambda;
  bool isContinuum = false;                      ///< infinitely many: a distribution of forces that does not matter, or jamming
  std::optional<bool> isUniqueForEveryLoad = {}; ///< exact; known if complete
  Verdict verdict() const;
};
inline constexpr int maxEnumeratedContacts = 12;
SlidingSolutions solveSliding(const SlidingProblem& problem);

/// lambda = A^-1 (T [mu] |lambda| - w) for bilateral contacts alone, repeated until it changes by no more than `tolerance`; a contraction
/// below the bound of Prop. 3.1.1. Independent of enumeration and pivoting.
struct FixedPoint {
  bool isConverged = false;
  int iterations = 0;
  double contraction = 0; ///< |A^-1 T [mu]|_2: below 1 it converges
  VectorX lambda;
};
FixedPoint iterateBilateral(const SlidingProblem& problem, double tolerance = 1e-13, int maxIterations = 10000);

/// A lambda - T [mu] |lambda| + w: normal accelerations for given normal forces.
VectorX normalAccelerations(const SlidingProblem& problem, const VectorX& lambda);

}
