#include "dynamics/initial_overlaps.h"

#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace tendril {

InitialOverlaps findInitialOverlaps(ContactDetection& detection, const State& state, std::span<const double> reach, double allowed,
                                    bool mayProject) {
  constexpr int most = 6; // names in a message
  detection.refuseTiltedPlanes(state);
  detection.findPairs(state, reach);
  InitialOverlaps overlaps;
  int count = 0;
  for (const Contact& contact : detection.findContacts(state, 0)) {
    const double depth = -contact.point.gap;
    if (depth <= allowed) continue;
    overlaps.deepest = std::max(overlaps.deepest, depth);
    if (++count <= most) overlaps.names += fmt::format("{}{} by {:.3g} m", count > 1 ? ", " : "", detection.names(contact), depth);
  }
  if (count > most) overlaps.names += fmt::format(" and {} more", count - most);
  if (count > 0 && !mayProject) {
    throw InputError("bodies overlap at the start: " + overlaps.names +
                     "; move them apart, or set project_initial: true to have that done");
  }
  return overlaps;
}

}
