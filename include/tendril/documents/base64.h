#pragma once
#include <string>
#include <string_view>

namespace tendril {

/// Bytes as text of 64 letters, padded with '=' (RFC 4648).
std::string base64(std::string_view bytes);
/// The bytes of such a text, up to its end or its first letter that is none of the 64.
std::string fromBase64(std::string_view text);

}
