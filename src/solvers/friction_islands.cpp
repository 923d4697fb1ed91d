#include "friction_islands.h"

#include <algorithm>
#include <numeric>

namespace tendril {

namespace {

/// Disjoint sets, each led by its smallest member.
class Sets {
 public:
  explicit Sets(int count) : leader_(count) { std::iota(leader_.begin(), leader_.end(), 0); }
  int find(int i) {
    while (leader_[i] != i) i = leader_[i] = leader_[leader_[i]];
    return i;
  }
  void join(int i, int j) {
    i = find(i);
    j = find(j);
    leader_[std::max(i, j)] = std::min(i, j);
  }

 private:
  std::vector<int> leader_;
};

void joinByBodies(const FrictionBodies& bodies, Sets& sets) {
  std::vector<int> firstContact(bodies.inverseInertia.size(), -1);
  for (int i = 0; i < int(bodies.touched.size()); ++i)
    for (const int body : bodies.touched[i]) {
      if (body < 0) continue;
      if (firstContact[body] < 0)
        firstContact[body] = i;
      else
        sets.join(firstContact[body], i);
    }
}

void joinByBlocks(const FrictionProblem& problem, Sets& sets) {
  const BlockMatrix& W = problem.W;
  for (int i = 0; i < problem.contacts(); ++i)
    for (int b = W.start[i]; b < W.start[i + 1]; ++b) {
      const int j = W.blocks[b].column;
      const double* entry = W.values.data() + W.blocks[b].offset;
      if (std::any_of(entry, entry + problem.laws[i].size * problem.laws[j].size, [](double x) { return x != 0; })) sets.join(i, j);
    }
}

}

std::vector<std::vector<int>> findIslands(const FrictionProblem& problem) {
  const int n = problem.contacts();
  Sets sets(n);
  problem.hasBodies() ? joinByBodies(problem.bodies, sets) : joinByBlocks(problem, sets);
  std::vector<std::vector<int>> islands;
  std::vector<int> islandOf(n, -1);
  for (int i = 0; i < n; ++i) {
    int& island = islandOf[sets.find(i)];
    if (island < 0) {
      island = int(islands.size());
      islands.emplace_back();
    }
    islands[island].push_back(i);
  }
  return islands;
}

}
