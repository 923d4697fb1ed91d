#pragma once
#include "tendril/analysis/contact_problem.h"

#include <string>
#include <vector>

namespace tendril {

/// Whether accelerations and contact forces exist and are unique as long as nothing rubs (Blumentals 2017, Prop. 2.1.1, 2.2.2, 2.3.1). With
/// J the gradients of joints and bilateral contacts and N those of the unilateral ones:
///
///  - bilateral constraints alone: solvable for every F iff -c lies in Im J and Ker M and Ker J meet in zero only, and then the
///  accelerations
///    and the constraint force J^T lambda are unique;
///  - with unilateral contacts: solvable if some acceleration is admissible and {v : J v = 0, N v >= 0} meets Ker M in zero only;
///  - multipliers are unique iff the gradients are independent of each other.
struct Solvability {
  int degreesOfFreedom = 0;   ///< velocities less the rank of J
  int rank = 0;               ///< of J
  int rows = 0;               ///< of J
  std::vector<int> redundant; ///< rows of joints that follow from others before them
  /// Contacts whose gradients follow from those of joints and other contacts: the distribution of their forces is open.
  std::vector<int> redundantContacts;
  double smallestKept = 0, largestDropped = 0; ///< on both sides of the decision on the rank of J, relative
  double rankTolerance = 0, massTolerance = 0;
  int freeModes = 0; ///< dimension of Ker M and Ker J together
  std::vector<std::string> freeMotions;
  int kktRank = 0; ///< of [M -J^T; J 0]

  bool isCompatible = true; ///< -c in Im J
  bool isAdmissible = true; ///< some acceleration satisfies all constraints
  bool isSolvable = true;   ///< a solution exists, for every F; false: for some F there is none, or it could not be shown
  bool isAccelerationUnique = true;
  bool isForceUnique = true;
  bool areMultipliersUnique = true;

  /// The verdict in words, one sentence each; names joints, contacts and bodies.
  std::vector<std::string> sentences;
};

Solvability judge(const AccelerationProblem& problem);

}
