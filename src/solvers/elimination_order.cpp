#include "solvers/elimination_order.h"

#include <algorithm>
#include <utility>

#include <Eigen/OrderingMethods>

namespace tendril {

namespace {

using Matrix = Eigen::SparseMatrix<double>;

/// Which groups meet, in either triangle of the matrix.
struct GroupGraph {
  std::vector<std::vector<int>> members;    ///< rows of each group
  std::vector<std::vector<int>> neighbours; ///< sorted, without the group itself

  GroupGraph(const Matrix& A, const std::vector<int>& groups) {
    const auto count = std::size_t(*std::max_element(groups.begin(), groups.end())) + 1;
    members.resize(count);
    neighbours.resize(count);
    for (int row = 0; row < int(groups.size()); ++row) members[std::size_t(groups[std::size_t(row)])].push_back(row);
    for (int column = 0; column < A.cols(); ++column) {
      const int a = groups[std::size_t(column)];
      for (Matrix::InnerIterator it(A, column); it; ++it) {
        const int b = groups[std::size_t(it.row())];
        if (a == b || (!neighbours[std::size_t(a)].empty() && neighbours[std::size_t(a)].back() == b)) continue;
        neighbours[std::size_t(a)].push_back(b);
        neighbours[std::size_t(b)].push_back(a);
      }
    }
    for (std::vector<int>& list : neighbours) {
      std::sort(list.begin(), list.end());
      list.erase(std::unique(list.begin(), list.end()), list.end());
    }
  }
  int count() const { return int(members.size()); }
};

std::vector<int> minimumDegree(const GroupGraph& graph) {
  // Eigen takes a node without a diagonal for a dense one.
  std::vector<int> begin{0}, met;
  for (int g = 0; g < graph.count(); ++g) {
    const std::vector<int>& list = graph.neighbours[std::size_t(g)];
    const auto middle = std::lower_bound(list.begin(), list.end(), g);
    met.insert(met.end(), list.begin(), middle);
    met.push_back(g);
    met.insert(met.end(), middle, list.end());
    begin.push_back(int(met.size()));
  }
  const std::vector<double> ones(met.size(), 1.0);
  const Matrix A = Eigen::Map<const Matrix>(graph.count(), graph.count(), Eigen::Index(met.size()), begin.data(), met.data(), ones.data());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> sequence;
  Eigen::AMDOrdering<int>()(A, sequence);
  return {sequence.indices().data(), sequence.indices().data() + graph.count()};
}

/// Appends what hangs together with `start`, level by level, and marks it.
void appendLevels(const GroupGraph& graph, int start, std::vector<char>& isTaken, std::vector<int>& sequence) {
  std::size_t next = sequence.size();
  const auto degree = [&](int g) { return graph.neighbours[std::size_t(g)].size(); };
  isTaken[std::size_t(start)] = 1;
  sequence.push_back(start);
  for (; next < sequence.size(); ++next) {
    const auto first = std::ptrdiff_t(sequence.size());
    for (const int g : graph.neighbours[std::size_t(sequence[next])]) {
      if (!std::exchange(isTaken[std::size_t(g)], 1)) sequence.push_back(g);
    }
    std::stable_sort(sequence.begin() + first, sequence.end(), [&](int a, int b) { return degree(a) < degree(b); });
  }
}

std::vector<int> reverseCuthillMcKee(const GroupGraph& graph) {
  constexpr int sweeps = 3; // after which the start is all but as far away as can be
  std::vector<int> sequence;
  std::vector<char> isTaken(std::size_t(graph.count()), 0);
  for (int g = 0; g < graph.count(); ++g) {
    if (isTaken[std::size_t(g)]) continue;
    const auto first = sequence.size();
    int start = g;
    for (int sweep = 0; sweep <= sweeps; ++sweep) {
      for (auto k = first; k < sequence.size(); ++k) isTaken[std::size_t(sequence[k])] = 0;
      sequence.resize(first);
      appendLevels(graph, start, isTaken, sequence);
      start = sequence.back();
    }
  }
  std::reverse(sequence.begin(), sequence.end());
  return sequence;
}

/// What remains to be eliminated of what a group meets is met by the first of it from then on (elimination tree).
EliminationOrder costOf(const GroupGraph& graph, const std::vector<int>& sequence) {
  const auto count = sequence.size();
  std::vector<int> place(count), seen(count, -1);
  for (std::size_t k = 0; k < count; ++k) place[std::size_t(sequence[k])] = int(k);
  std::vector<std::vector<int>> met(count), children(count);
  EliminationOrder order;
  for (int k = 0; k < int(count); ++k) {
    const int group = sequence[std::size_t(k)];
    std::vector<int>& list = met[std::size_t(k)];
    const auto take = [&](int other) {
      if (other > k && std::exchange(seen[std::size_t(other)], k) != k) list.push_back(other);
    };
    for (const int g : graph.neighbours[std::size_t(group)]) take(place[std::size_t(g)]);
    for (const int child : children[std::size_t(k)]) {
      for (const int other : met[std::size_t(child)]) take(other);
      std::vector<int>().swap(met[std::size_t(child)]);
    }
    if (!list.empty()) children[std::size_t(*std::min_element(list.begin(), list.end()))].push_back(k);
    const double own = double(graph.members[std::size_t(group)].size());
    double below = 0;
    for (const int other : list) below += double(graph.members[std::size_t(sequence[std::size_t(other)])].size());
    order.operations += own * (2.0 / 3 * own * own + 2 * own * below + 2 * below * below);
    order.entries += own * (own + 2 * below);
  }
  return order;
}

}

EliminationOrder cheapestOrder(const Matrix& A, const std::vector<int>& groups) {
  const GroupGraph graph(A, groups);
  std::vector<int> sequence = minimumDegree(graph), other = reverseCuthillMcKee(graph);
  EliminationOrder order = costOf(graph, sequence);
  const EliminationOrder otherOrder = costOf(graph, other);
  if (otherOrder.operations < order.operations) order = otherOrder, sequence.swap(other);
  for (const int g : sequence) {
    const std::vector<int>& rows = graph.members[std::size_t(g)];
    order.rows.insert(order.rows.end(), rows.begin(), rows.end());
  }
  return order;
}

}
