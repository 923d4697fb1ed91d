#pragma once
#include <cstdint>
#include <string_view>

namespace tendril {

/// A 64-bit fingerprint (FNV-1a) of a text, by which a checkpoint knows the scene it belongs to, and a journal whether its lines are whole.
std::uint64_t fingerprint(std::string_view text);

}
