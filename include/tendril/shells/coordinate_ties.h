#pragma once
#include "tendril/model/term.h"

#include <string>
#include <vector>

namespace tendril {

/// A coordinate of a vector block.
struct BlockCoordinate {
  int block = -1, index = 0;
};

/// Coordinates of vector blocks that are the same, or stay what they are: one row each,
///
///     q_a - q_b = 0      or      q_a - value = 0,
///
/// as of sheets that have a ruling in common. The multiplier is the force on the first that goes with it.
class CoordinateTies final : public Term {
 public:
  /// Ties two coordinates of different blocks.
  void tie(const std::string& name, const BlockCoordinate& first, const BlockCoordinate& second);
  /// Holds a coordinate at a value.
  void hold(const std::string& name, const BlockCoordinate& coordinate, double value);

  int size() const { return int(ties_.size()); }

  void declare(Layout& layout) override;
  void evaluate(const State& state, Assembly& assembly) const override;
  /// InputError: vector blocks are no points of frames.
  void embed(DirectorSystem& system) const override;

 private:
  struct Tie {
    std::string name;
    std::vector<BlockCoordinate> coordinates; ///< the first with plus, the second with minus
    double value = 0;
    int constraint = -1, row = 0;
    std::vector<int> q, sizes, rows, columns; ///< of each coordinate: place in State::q, size of its block, (c, block) and (block, c)
  };
  std::vector<Tie> ties_;
};

}
