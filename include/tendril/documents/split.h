#pragma once
#include <string>
#include <vector>

namespace tendril {

/// The texts between separators: always one more than there are separators, so that an empty one shows.
inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

}
