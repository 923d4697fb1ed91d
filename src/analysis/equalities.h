#pragma once
#include "analysis/pick.h"
#include "tendril/analysis/contact_problem.h"

#include <vector>

namespace tendril {

/// What holds with equality in an acceleration problem, J a + c = 0: joints first, then bilateral contacts.
struct Equalities {
  explicit Equalities(const AccelerationProblem& p) {
    for (int i = 0; i < p.contacts(); ++i) (p.isBilateral[std::size_t(i)] ? bilateral : unilateral).push_back(i);
    J = stacked(p.G, pickRows(p.N, bilateral));
    c = stacked(p.jointBias, pick(p.normalBias, bilateral));
  }

  std::vector<int> bilateral, unilateral; ///< contacts
  MatrixX J;
  VectorX c;
};

}
