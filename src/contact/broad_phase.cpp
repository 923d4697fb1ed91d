#include "tendril/contact/broad_phase.h"

#include <algorithm>

namespace tendril {

const std::vector<std::pair<int, int>>& BroadPhase::find(std::span<const Bounds> bounds) {
  pairs_.clear();
  order_.clear();
  unbounded_.clear();
  for (int i = 0; i < int(bounds.size()); ++i) {
    const Bounds& b = bounds[std::size_t(i)];
    const bool isBounded = b.low.allFinite() && b.high.allFinite();
    (isBounded ? order_ : unbounded_).push_back(i);
  }
  // Positions are sorted many times over; the boxes travel with them so that memory is read in order.
  nodes_.clear();
  items_.clear();
  for (const int i : order_) items_.push_back({bounds[std::size_t(i)], i});
  if (!items_.empty()) {
    build(0, int(items_.size()));
    for (int node = 0; node < int(nodes_.size()); ++node) {
      if (nodes_[std::size_t(node)].count > 0) pairLeaf(node);
    }
  }
  for (const int i : unbounded_) {
    for (int j = 0; j < int(bounds.size()); ++j) {
      const bool isOther = bounds[std::size_t(j)].low.allFinite() && bounds[std::size_t(j)].high.allFinite();
      if ((isOther || j > i) && bounds[std::size_t(i)].meets(bounds[std::size_t(j)])) pairs_.emplace_back(std::min(i, j), std::max(i, j));
    }
  }
  sortPairs(bounds.size());
  return pairs_;
}

/// Halves at the median of the centres along the longest extent; leaves hold a few boxes, nodes follow in depth-first order.
void BroadPhase::build(int first, int count) {
  constexpr int leafSize = 6;
  const auto begin = items_.begin() + first;
  Bounds all = begin->bounds;
  Vector3 low = begin->bounds.low + begin->bounds.high, high = low;
  for (auto item = begin; item != begin + count; ++item) {
    all.low = all.low.cwiseMin(item->bounds.low);
    all.high = all.high.cwiseMax(item->bounds.high);
    const Vector3 centre = item->bounds.low + item->bounds.high;
    low = low.cwiseMin(centre);
    high = high.cwiseMax(centre);
  }
  const std::size_t own = nodes_.size();
  nodes_.push_back({all, first, count <= leafSize ? count : 0, 0});
  if (count > leafSize) {
    int axis = 0;
    (high - low).maxCoeff(&axis);
    const int half = count / 2;
    std::nth_element(begin, begin + half, begin + count, [axis](const Item& a, const Item& b) {
      const double x = a.bounds.low[axis] + a.bounds.high[axis], y = b.bounds.low[axis] + b.bounds.high[axis];
      return x < y || (x == y && a.index < b.index);
    });
    build(first, half);
    build(first + half, count - half);
  }
  nodes_[own].next = int(nodes_.size());
}

/// Pairs within a leaf, and of its boxes with those of the leaves after it.
void BroadPhase::pairLeaf(int leaf) {
  const Node own = nodes_[std::size_t(leaf)];
  const auto add = [this](const Item& a, const Item& b) {
    if (a.bounds.meets(b.bounds)) pairs_.emplace_back(std::min(a.index, b.index), std::max(a.index, b.index));
  };
  for (int i = own.first; i < own.first + own.count; ++i) {
    for (int j = i + 1; j < own.first + own.count; ++j) add(items_[std::size_t(i)], items_[std::size_t(j)]);
  }
  for (int n = leaf + 1; n < int(nodes_.size());) {
    const Node& node = nodes_[std::size_t(n)];
    if (!node.bounds.meets(own.bounds)) {
      n = node.next;
      continue;
    }
    for (int j = node.first; j < node.first + node.count; ++j) {
      const Item& other = items_[std::size_t(j)];
      if (!other.bounds.meets(own.bounds)) continue;
      for (int i = own.first; i < own.first + own.count; ++i) add(items_[std::size_t(i)], other);
    }
    ++n;
  }
}

/// By the first index by counting, by the second one within.
void BroadPhase::sortPairs(std::size_t count) {
  start_.assign(count + 1, 0);
  for (const auto& pair : pairs_) ++start_[std::size_t(pair.first) + 1];
  for (std::size_t i = 0; i < count; ++i) start_[i + 1] += start_[i];
  scratch_.resize(pairs_.size());
  for (const auto& pair : pairs_) scratch_[std::size_t(start_[std::size_t(pair.first)]++)] = pair;
  pairs_.swap(scratch_);
  std::size_t first = 0;
  for (std::size_t i = 0; i < count; ++i) { // start_[i] has become the end of row i
    std::sort(pairs_.begin() + std::ptrdiff_t(first), pairs_.begin() + start_[i]);
    first = std::size_t(start_[i]);
  }
}

}
