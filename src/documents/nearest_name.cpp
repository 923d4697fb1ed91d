#include "tendril/documents/nearest_name.h"

#include <algorithm>
#include <cctype>

namespace tendril {

int editDistance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  const int n = static_cast<int>(b.size());
  std::vector<int> beforeLast(n + 1), last(n + 1), row(n + 1);
  for (int j = 0; j <= n; ++j) row[j] = j;
  for (int i = 1; i <= static_cast<int>(a.size()); ++i) {
    std::swap(beforeLast, last);
    std::swap(last, row);
    row[0] = i;
    for (int j = 1; j <= n; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], beforeLast[j - 2] + 1);
    }
  }
  return row[n];
}

std::string nearestName(std::string_view name, std::span<const std::string> candidates) {
  std::string best;
  int least = name.size() <= 2 ? 1 : std::max(2, static_cast<int>(name.size()) / 3);
  least += 1;
  for (const std::string& candidate : candidates) {
    const int distance = editDistance(name, candidate);
    // A candidate that shares no letter with the name is no help, however short both are.
    if (distance < least && distance < static_cast<int>(std::max(name.size(), candidate.size()))) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string adviceForName(std::string_view name, std::span<const std::string> candidates) {
  const std::string nearest = nearestName(name, candidates);
  if (!nearest.empty()) return "did you mean '" + nearest + "'?";
  if (candidates.empty()) return "there are none to choose from";
  return "use one of " + listNames(candidates);
}

std::string listNames(std::span<const std::string> names, std::size_t most) {
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) list += (i ? ", " : "") + names[i];
  if (names.size() > most) list += ", ... (" + std::to_string(names.size() - most) + " more)";
  return list;
}

}
