#pragma once
#include <array>
#include <cstdint>

namespace tendril {

/// Philox 4x32-10, the counter-based generator of Salmon et al. (2011): four words as a function of counter and key.
std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// Random numbers as a function of where they belong: no state, so that the numbers of a sample do not depend on who draws them, in which
/// order and how many workers there are. Rows are samples, columns inputs; streams with different numbers are independent.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint32_t stream = 0) : seed_(seed), stream_(stream) {}

  /// Uniform in the open interval (0, 1): odd multiples of 2^-53.
  double uniform(std::uint64_t row, std::uint32_t column) const;

 private:
  std::uint64_t seed_;
  std::uint32_t stream_;
};

}
