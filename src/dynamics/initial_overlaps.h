#pragma once
#include "tendril/contact/contact_detection.h"

#include <span>
#include <string>

namespace tendril {

/// Overlaps that a configuration starts with.
struct InitialOverlaps {
  double deepest = 0; ///< [m]
  std::string names;  ///< "'a' and 'b' by 0.01 m, ..."

  /// What the start tells once the bodies were moved apart.
  std::string removed() const { return "overlaps at the start were taken out by moving bodies: " + names; }
};

/// Looks at the start of an analysis with contacts. Throws InputError for plane shapes that do not lie in one plane, and for overlaps
/// deeper than `allowed`, unless they may be projected. The pairs found are those within reach.
InitialOverlaps findInitialOverlaps(ContactDetection& detection, const State& state, std::span<const double> reach, double allowed,
                                    bool mayProject);

}
