#pragma once
#include <array>
#include <vector>

namespace tendril {

/// The directed edges of polygons or triangles, one after the other.
using EdgeUses = std::vector<std::array<int, 2>>;
EdgeUses edgeUses(const std::vector<std::array<int, 3>>& triangles);

/// For each use of an edge the place of the first use between the same two vertices, in either direction; O(n log n).
std::vector<int> firstUses(const EdgeUses& uses);

}
