#include "contact/edge_uses.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace tendril {

EdgeUses edgeUses(const std::vector<std::array<int, 3>>& triangles) {
  EdgeUses uses;
  uses.reserve(3 * triangles.size());
  for (const auto& [a, b, c] : triangles) uses.insert(uses.end(), {{a, b}, {b, c}, {c, a}});
  return uses;
}

std::vector<int> firstUses(const EdgeUses& uses) {
  std::vector<std::pair<std::uint64_t, int>> sorted; // vertices of an edge, and the place of its use
  sorted.reserve(uses.size());
  for (const auto& [from, to] : uses)
    sorted.emplace_back(std::uint64_t(std::min(from, to)) << 32 | std::uint64_t(std::max(from, to)), int(sorted.size()));
  std::sort(sorted.begin(), sorted.end());
  std::vector<int> first(uses.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const bool isSame = i > 0 && sorted[i].first == sorted[i - 1].first;
    first[std::size_t(sorted[i].second)] = isSame ? first[std::size_t(sorted[i - 1].second)] : sorted[i].second;
  }
  return first;
}

}
