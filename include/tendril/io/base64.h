#pragma once
#include <string>
#include <string_view>

namespace tendril {

/// Bytes as text of 64 letters, padded with '=' (RFC 4648).
std::string base64(std::string_view bytes);

}
