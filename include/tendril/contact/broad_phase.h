#pragma once
#include "tendril/contact/collision_shape.h"

#include <span>
#include <utility>
#include <vector>

namespace tendril {

/// Pairs of bounds that meet, found without comparing all with all. The pairs come sorted, (i, j) with i < j, whatever the order in which
/// they were found; equal input gives equal output. Keeps its memory between calls. A tree over the boxes, halved at the median of their
/// centres, is built anew each time: O(n log n), whatever the sizes of the boxes.
class BroadPhase {
 public:
  /// Bounds that are infinite in some direction (half-spaces) are compared with all.
  const std::vector<std::pair<int, int>>& find(std::span<const Bounds> bounds);

 private:
  struct Item {
    Bounds bounds;
    int index = 0;
  };
  struct Node {
    Bounds bounds;
    int first = 0, count = 0; ///< items of a leaf; none otherwise
    int next = 0;             ///< node that follows its subtree
  };
  void build(int first, int count);
  void pairLeaf(int leaf);
  void sortPairs(std::size_t count);

  std::vector<std::pair<int, int>> pairs_, scratch_;
  std::vector<Item> items_;
  std::vector<Node> nodes_;
  std::vector<int> order_, unbounded_, start_;
};

}
