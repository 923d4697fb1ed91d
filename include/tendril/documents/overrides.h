#pragma once
#include "tendril/documents/document.h"

#include <span>
#include <string>

namespace tendril {

/// For overrides that are given side by side. Throws InputError if one puts its value where an earlier one put another, whatever names they
/// go by (`mu` and `parameters.mu`; `bodies[0].mass`, `bodies.block.mass` and `bodies[0]`), since nothing would be left of the earlier one;
/// and what Document throws.
void refuseLostOverrides(const DocumentSource& source, std::span<const std::string> overrides);

}
