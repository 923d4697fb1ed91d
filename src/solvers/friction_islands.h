#pragma once
#include "tendril/solvers/friction_problem.h"

#include <vector>

namespace tendril {

/// Sets of contacts that have no influence on one another, each ascending, ordered by their first contact. Contacts are joined by bodies,
/// or by blocks of W that are not zero; what does not move joins nothing. Keeps its memory between problems.
class FrictionIslands {
 public:
  void find(const FrictionProblem& problem);
  int count() const { return count_; }
  const std::vector<int>& contacts(int island) const { return members_[std::size_t(island)]; }

 private:
  int leader(int contact);
  void join(int i, int j);
  void joinByBodies(const FrictionBodies& bodies);
  void joinByBlocks(const FrictionProblem& problem);

  std::vector<int> leader_; ///< disjoint sets, each led by its smallest member
  std::vector<int> firstContact_, islandOf_;
  std::vector<std::vector<int>> members_;
  int count_ = 0;
};

}
