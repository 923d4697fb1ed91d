#include "tendril/rods/shown_rod.h"

#include "tendril/model/error.h"

#include <string>

namespace tendril {

ShownRod::ShownRod(const Model& model, const std::vector<int>& blocks, std::size_t nodes) : state_(model.initialState()) {
  if (blocks.size() != nodes)
    throw InputError("rod: the model that shows it needs " + std::to_string(nodes) + " nodes, not " + std::to_string(blocks.size()));
  for (const int block : blocks) places_.push_back(model.blocks()[std::size_t(block)].q);
}

}
