#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

/// Number of insertions, deletions, substitutions and swaps of neighbours between two names (optimal string alignment), ignoring case.
int editDistance(std::string_view a, std::string_view b);

/// The candidate closest to a name, if close enough to be a likely slip (at most a third of its length, and 2 for short ones); else empty.
std::string nearestName(std::string_view name, std::span<const std::string> candidates);

/// Advice for an unknown name: "did you mean 'x'?" if one is near, else "use one of a, b, c" (shortened when long).
std::string adviceForName(std::string_view name, std::span<const std::string> candidates);

/// "a, b, c", shortened after `most` names.
std::string listNames(std::span<const std::string> names, std::size_t most = 12);

}
