#pragma once
#include "tendril/contact/collision_shape.h"

#include <span>
#include <utility>
#include <vector>

namespace tendril {

/// Pairs of bounds that meet, found without comparing all with all. The pairs come sorted, (i, j) with i < j, whatever the order in which
/// they were found; equal input gives equal output. Keeps its memory between calls.
class BroadPhase {
 public:
  /// Bounds that are infinite in some direction (half-spaces) are compared with all.
  const std::vector<std::pair<int, int>>& find(std::span<const Bounds> bounds);

 private:
  std::vector<std::pair<int, int>> pairs_;
  std::vector<int> order_;
};

}
