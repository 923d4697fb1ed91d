#include "tendril/model/pattern.h"

#include <algorithm>

namespace tendril {

int Pattern::addUnknowns(int size) {
  blocks_.push_back({size_, size});
  size_ += size;
  return int(blocks_.size()) - 1;
}

int Pattern::couple(int row, int column) {
  const long long key = (static_cast<long long>(row) << 32) | column;
  const auto [entry, isNew] = numbers_.try_emplace(key, int(pairs_.size()));
  if (isNew) pairs_.push_back({row, column});
  return entry->second;
}

void Pattern::freeze() {
  std::vector<int> order(pairs_.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = int(i);
  std::sort(order.begin(), order.end(), [this](int a, int b) {
    const Pair &p = pairs_[a], &r = pairs_[b];
    return std::pair{p.column, p.row} < std::pair{r.column, r.row};
  });

  std::vector<int> height(blocks_.size(), 0);
  for (const Pair& p : pairs_) height[p.column] += blocks_[p.row].size;

  prototype_.resize(size_, size_);
  int* outer = prototype_.outerIndexPtr();
  int values = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    for (int c = 0; c < blocks_[b].size; ++c, values += height[b]) outer[blocks_[b].offset + c] = values;
  }
  outer[size_] = values;
  prototype_.resizeNonZeros(values);

  slots_.resize(pairs_.size());
  std::vector<int> filled(blocks_.size(), 0);
  int* inner = prototype_.innerIndexPtr();
  for (int number : order) {
    const Pair& p = pairs_[number];
    const UnknownBlock &rows = blocks_[p.row], &columns = blocks_[p.column];
    slots_[number] = {outer[columns.offset] + filled[p.column], height[p.column]};
    for (int c = 0; c < columns.size; ++c) {
      for (int r = 0; r < rows.size; ++r) inner[slots_[number].offset + c * height[p.column] + r] = rows.offset + r;
    }
    filled[p.column] += rows.size;
  }
  std::fill_n(prototype_.valuePtr(), values, 0.0);
  numbers_.clear();
}

}
