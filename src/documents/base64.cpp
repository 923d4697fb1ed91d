#include "tendril/documents/base64.h"

#include <array>
#include <cstdint>

namespace tendril {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::array<int, 256> valuesOfDigits() {
  std::array<int, 256> values;
  values.fill(-1);
  for (std::size_t i = 0; i < digits.size(); ++i) values[static_cast<unsigned char>(digits[i])] = int(i);
  return values;
}

}

std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '=');
  char* out = text.data();
  for (std::size_t i = 0; i < bytes.size(); i += 3, out += 4) {
    const std::size_t count = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k <= count; ++k) out[k] = digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

std::string fromBase64(std::string_view text) {
  static const std::array<int, 256> values = valuesOfDigits();
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  int bits = 0;
  for (const char letter : text) {
    const int digit = values[static_cast<unsigned char>(letter)];
    if (digit < 0) break;
    group = group << 6 | std::uint32_t(digit);
    if ((bits += 6) >= 8) bytes += char(group >> (bits -= 8) & 255);
  }
  return bytes;
}

}
