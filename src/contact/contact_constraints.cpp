#include "tendril/contact/contact_constraints.h"

#include <array>
#include <cstdio>

namespace tendril {

Overlap deepestOverlap(const ContactConstraints& contacts) {
  Overlap overlap;
  const ContactConstraint* deepest = nullptr;
  for (const ContactConstraint& c : contacts.constraints()) {
    if (c.isPresent && -c.gap > overlap.depth) overlap.depth = -c.gap, deepest = &c;
  }
  if (!deepest) return overlap;
  std::array<char, 32> depth{};
  std::snprintf(depth.data(), depth.size(), " by %.3g m", overlap.depth);
  overlap.place = contacts.describe(*deepest) + depth.data();
  return overlap;
}

}
