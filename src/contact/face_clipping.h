#pragma once
#include "contact/shape_data.h"

#include <array>

namespace tendril {

/// Corner of a polygon, or of a line of two corners, with numbers that tell it and the edge to the next corner from others.
struct PatchCorner {
  Vector3 x = Vector3::Zero();
  std::uint32_t id = 0, edge = 0;
};

/// What a shape offers to another in some direction: a plane polygon, a line, or a point; counter-clockwise about `normal`.
struct Patch {
  static constexpr int most = 64; ///< larger faces are thinned out
  std::array<PatchCorner, most> corners;
  int count = 0;
  Vector3 normal = Vector3::Zero(); ///< outward, of a polygon
  std::uint32_t id = 0;
  double radius = 0; ///< of the ball that rounds the line
  void add(const Vector3& x, std::uint32_t cornerId, std::uint32_t edgeId) {
    if (count < most) corners[std::size_t(count++)] = {x, cornerId, edgeId};
  }
};

/// The part of `patch` that lies over the polygon `face`, seen along its normal. Corners within `tolerance` of its border stay as they are,
/// so that shapes of equal size rest corner on corner.
std::uint32_t crossing(std::uint32_t patchEdge, std::uint32_t faceEdge); ///< number of the corner where these cross
void clipToFace(const Patch& face, Patch& patch, double tolerance);

/// The place of least gap of a pair, found exactly: other contacts are measured along its normal, and none of them lies deeper.
struct KnownContact {
  Vector3 position = Vector3::Zero();
  Vector3 normal = Vector3::UnitZ();                    ///< from b to a
  Vector3 onA = Vector3::Zero(), onB = Vector3::Zero(); ///< of the cores
  double apart = 0;                                     ///< contacts closer than this add nothing to it
  std::uint32_t same = ~0u; ///< corner of the clipped patch that is this contact again, where the edges that meet in it cross
};

/// Adds the contacts of a patch over a face that belongs to b or to a. Returns the smallest gap, whether or not it was added.
double addOverFace(const Patch& face, const Patch& clipped, bool isFaceOfB, ContactSink& sink);
/// The same beside a known contact.
void addBeside(const KnownContact& known, const Patch& face, const Patch& clipped, bool isFaceOfB, ContactSink& sink);

}
