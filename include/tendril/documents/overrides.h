#pragma once
#include "tendril/documents/document.h"

#include <span>
#include <string>
#include <string_view>

namespace tendril {

/// The override that gives a value of a scene exactly this number.
std::string assignment(std::string_view path, double value);

/// For overrides that are given side by side. Throws InputError if one puts its value where an earlier one put another, whatever names they
/// go by (`mu` and `parameters.mu`; `bodies[0].mass`, `bodies.block.mass` and `bodies[0]`), since nothing would be left of the earlier one;
/// and what Document throws.
void refuseLostOverrides(const DocumentSource& source, std::span<const std::string> overrides);

}
