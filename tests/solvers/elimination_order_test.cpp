#include "solvers/elimination_order.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace tendril {
namespace {

/// A matrix in which groups meet as `edges` say, every group of `size` rows full, and its groups.
struct Grouped {
  Eigen::SparseMatrix<double> A;
  std::vector<int> groups;
};

Grouped matrixOf(int count, int size, const std::vector<std::pair<int, int>>& edges) {
  Grouped result;
  std::vector<Eigen::Triplet<double>> entries;
  const auto fill = [&](int a, int b) {
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) entries.emplace_back(size * a + i, size * b + j, a == b && i == j ? 100.0 : 1.0);
  };
  for (int g = 0; g < count; ++g) fill(g, g), result.groups.insert(result.groups.end(), std::size_t(size), g);
  for (const auto& [a, b] : edges) fill(a, b), fill(b, a);
  result.A.resize(size * count, size * count);
  result.A.setFromTriplets(entries.begin(), entries.end());
  return result;
}

/// Entries and operations of elimination without pivoting, counted in a dense pattern.
std::pair<double, double> countDense(const Grouped& matrix, const std::vector<int>& order) {
  const int n = int(order.size());
  Eigen::MatrixXi pattern(n, n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) pattern(i, j) = matrix.A.coeff(order[std::size_t(i)], order[std::size_t(j)]) != 0;
  double operations = 0;
  for (int k = 0; k < n; ++k)
    for (int i = k + 1; i < n; ++i) {
      if (!pattern(i, k)) continue;
      for (int j = k + 1; j < n; ++j)
        if (pattern(k, j)) pattern(i, j) = 1, operations += 2;
    }
  return {double(pattern.sum()), operations};
}

std::vector<std::pair<int, int>> lattice(int length, int width) {
  std::vector<std::pair<int, int>> edges;
  for (int i = 0; i < length; ++i)
    for (int j = 0; j < width; ++j) {
      if (i + 1 < length) edges.push_back({i * width + j, (i + 1) * width + j});
      if (j + 1 < width) edges.push_back({i * width + j, i * width + j + 1});
      if (i + 1 < length && j + 1 < width) edges.push_back({i * width + j, (i + 1) * width + j + 1});
    }
  return edges;
}

TEST(EliminationOrder, HoldsEveryRowOnceAndGroupsTogether) {
  const Grouped matrix = matrixOf(24, 3, lattice(8, 3));
  const EliminationOrder order = cheapestOrder(matrix.A, matrix.groups);
  std::vector<int> sorted = order.rows, all(72);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all);
  for (std::size_t k = 0; k < order.rows.size(); ++k) {
    EXPECT_EQ(matrix.groups[std::size_t(order.rows[k])], matrix.groups[std::size_t(order.rows[k - k % 3])]);
    if (k % 3 > 0) {
      EXPECT_GT(order.rows[k], order.rows[k - 1]);
    }
  }
}

TEST(EliminationOrder, CostIsThatOfElimination) {
  for (const auto& [length, width] : {std::pair{6, 1}, {8, 3}, {5, 5}}) {
    const Grouped matrix = matrixOf(length * width, 1, lattice(length, width));
    const EliminationOrder order = cheapestOrder(matrix.A, matrix.groups);
    const auto [entries, operations] = countDense(matrix, order.rows);
    EXPECT_EQ(order.entries, entries);
    // The cost of a full block of one row is counted as 2/3 and one division for each entry below it.
    EXPECT_NEAR(order.operations, operations + 2.0 / 3 * length * width + (entries - length * width), 1e-9 * operations);
  }
}

/// A tree has an order without fill, which a front does not find.
TEST(EliminationOrder, TreesDoNotFill) {
  std::vector<std::pair<int, int>> edges;
  for (int k = 1; k < 127; ++k) edges.push_back({(k - 1) / 2, k});
  const Grouped matrix = matrixOf(127, 2, edges);
  EXPECT_EQ(cheapestOrder(matrix.A, matrix.groups).entries, double(matrix.A.nonZeros()));
}

/// Along a bundle a front costs no more than its width, whatever the order in which nodes are counted.
TEST(EliminationOrder, BundlesAreEliminatedAlongTheirLength) {
  constexpr int length = 200, width = 6;
  std::vector<std::pair<int, int>> edges = lattice(length, width);
  const auto scatter = [](int g) { return int((long(g) * 7919) % (length * width)); };
  for (auto& [a, b] : edges) a = scatter(a), b = scatter(b);
  const Grouped matrix = matrixOf(length * width, 1, edges);
  const EliminationOrder order = cheapestOrder(matrix.A, matrix.groups);
  const double front = width + 2;
  EXPECT_LE(order.entries, length * width * (1 + 2 * front));
}

TEST(EliminationOrder, PartsThatDoNotMeetAreAllOrdered) {
  const Grouped matrix = matrixOf(9, 2, {{0, 8}, {8, 4}, {1, 2}, {2, 3}, {3, 1}});
  const EliminationOrder order = cheapestOrder(matrix.A, matrix.groups);
  EXPECT_EQ(order.rows.size(), 18u);
  EXPECT_EQ(order.entries, double(matrix.A.nonZeros())) << "nothing fills";
}

}
}
