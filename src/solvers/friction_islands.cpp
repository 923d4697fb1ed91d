#include "friction_islands.h"

#include <algorithm>
#include <numeric>

namespace tendril {

int FrictionIslands::leader(int i) {
  while (leader_[i] != i) i = leader_[i] = leader_[leader_[i]];
  return i;
}

void FrictionIslands::join(int i, int j) {
  i = leader(i);
  j = leader(j);
  leader_[std::max(i, j)] = std::min(i, j);
}

void FrictionIslands::joinByBodies(const FrictionBodies& bodies) {
  firstContact_.assign(bodies.inverseInertia.size(), -1);
  for (int i = 0; i < int(bodies.touched.size()); ++i)
    for (const int body : bodies.touched[i]) {
      if (body < 0) continue;
      if (firstContact_[body] < 0)
        firstContact_[body] = i;
      else
        join(firstContact_[body], i);
    }
}

void FrictionIslands::joinByBlocks(const FrictionProblem& problem) {
  const BlockMatrix& W = problem.W;
  for (int i = 0; i < problem.contacts(); ++i)
    for (int b = W.start[i]; b < W.start[i + 1]; ++b) {
      const int j = W.blocks[b].column;
      const double* entry = W.values.data() + W.blocks[b].offset;
      if (std::any_of(entry, entry + problem.laws[i].size * problem.laws[j].size, [](double x) { return x != 0; })) join(i, j);
    }
}

void FrictionIslands::find(const FrictionProblem& problem) {
  const int n = problem.contacts();
  leader_.resize(std::size_t(n));
  std::iota(leader_.begin(), leader_.end(), 0);
  problem.hasBodies() ? joinByBodies(problem.bodies) : joinByBlocks(problem);
  islandOf_.assign(std::size_t(n), -1);
  count_ = 0;
  for (int i = 0; i < n; ++i) {
    int& island = islandOf_[leader(i)];
    if (island < 0) {
      island = count_++;
      if (int(members_.size()) < count_) members_.emplace_back();
      members_[island].clear();
    }
    members_[island].push_back(i);
  }
}

}
