#include "tendril/model/increment.h"

#include "tendril/model/model.h"

#include <algorithm>

namespace tendril {

double longestTurn(const Model& model, const VectorX& delta) {
  constexpr double cap = 0.5; // [rad]
  double largest = cap;
  for (const Block& b : model.blocks()) {
    if (b.kind == Block::Kind::Pose) largest = std::max(largest, delta.segment<3>(b.v + 3).norm());
  }
  return cap / largest;
}

}
