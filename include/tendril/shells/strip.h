#pragma once
#include "tendril/shells/shell_patches.h"

#include <string>
#include <vector>

namespace tendril {

/// A patch of a strip (StripSheet) at the start: slopes of its rulings, and the angle by which it bends from one
/// to the other over its length.
struct StripPatch {
  double begin = 0, end = 0;         ///< eta0, eta1
  double bend = 0;                   ///< beta / h [1/m]
  Vector3 natural = Vector3::Zero(); ///< curvatures (b11, b22, b12) without load, of a sheet that does not stretch
};

struct StripOptions {
  PatchProperties properties;      ///< of the whole strip; its natural curvatures are not looked at
  std::vector<StripPatch> patches; ///< in order along e1, of equal lengths
  bool turns = true;               ///< whether the rulings turn; else they stay where they are
  int columns = 2, rows = 4;       ///< of material points in a patch
  Pose frame{};                    ///< of s = 0, the middle of the first end, with d1 along the strip and d2 across
  Vector6 twist = Vector6::Zero(); ///< its velocity at the start, in its own axes
  double thickness = 1e-3;         ///< in pictures
  AirDrag air{};
};

/// Adds a rectangular strip of patches that neighbours share rulings with. Both ends are rulings, of the slope 0, always: as if a batten
/// were glued to them. The frame of a patch sits where its first ruling crosses the middle line; it follows the patch before it
/// (AttachedFrames), so that the tangent plane is common along the ruling (C1), and a tie makes their slopes one. The strip floats until
/// joints hold it.
///
/// Curvatures jump from patch to patch; energies converge from above, and shapes, with the square of the length of a patch. Slopes of
/// rulings have neither stiffness nor inertia where a strip is flat. Statics by MinimumEnergy leaves them there; a motion needs some
/// curvature all along, or turns = false.
///
/// InputError for ends that are no rulings, rulings that cross within the width, neighbours without a ruling in common, natural curvatures
/// off the cone.
ShellPart addStrip(ModelBuilder& builder, const std::string& name, const StripOptions& options);

}
