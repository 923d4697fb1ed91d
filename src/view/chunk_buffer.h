#pragma once
#include "tendril/lie/types.h"
#include "tendril/view/film.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tendril {

/// The numbers of some frames of a channel, gathered and stored: byte plane by byte plane, deflated.
class ChunkBuffer {
 public:
  void addPose(const Vector3& position, const Matrix3& rotation);
  void add(double value) { values_.push_back(float(value)); }
  void add(const Vector3& value) {
    for (const double component : value) add(component);
  }
  /// Of a list: number of lines of the next frame.
  void addCount(std::size_t lines) { counts_.push_back(std::uint32_t(lines)); }

  const std::vector<float>& positions() const { return positions_; }
  const std::vector<float>& values() const { return values_; }
  void clear();
  std::string stored(ChunkPacking packing);

 private:
  std::vector<float> positions_, values_;
  std::vector<std::int16_t> rotations_;
  std::vector<std::uint32_t> counts_;
  std::string plain_; ///< scratch
};

}
