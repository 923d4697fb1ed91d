#include "tendril/analysis/random_stream.h"

namespace tendril {

std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  constexpr std::uint64_t multipliers[2]{0xD2511F53, 0xCD9E8D57};
  constexpr std::uint32_t weyl[2]{0x9E3779B9, 0xBB67AE85};
  constexpr int rounds = 10;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t a = multipliers[0] * counter[0], b = multipliers[1] * counter[2];
    const auto high = [](std::uint64_t product) { return std::uint32_t(product >> 32); };
    counter = {high(b) ^ counter[1] ^ key[0], std::uint32_t(b), high(a) ^ counter[3] ^ key[1], std::uint32_t(a)};
    key = {key[0] + weyl[0], key[1] + weyl[1]};
  }
  return counter;
}

double RandomStream::uniform(std::uint64_t row, std::uint32_t column) const {
  const auto words =
      philox({std::uint32_t(row), std::uint32_t(row >> 32), column, stream_}, {std::uint32_t(seed_), std::uint32_t(seed_ >> 32)});
  const std::uint64_t bits = (std::uint64_t(words[0]) << 32 | words[1]) >> 11;
  // Half a unit above a multiple of 2^-53 is rounded to even, and then reaches 1 at the largest: one bit less is exact.
  return (double(bits >> 1) + 0.5) * 0x1p-52;
}

}
