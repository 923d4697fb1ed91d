#pragma once
#include "tendril/contact/collision_shape.h"
#include "tendril/contact/contact_curve.h"

#include <vector>

namespace tendril {

/// Smallest distance of the surfaces of parts in one configuration, near or far; negative: overlap [m]. Infinite if the two can never
/// touch.
///
/// Of curves all places count, their ends included, as balls of the curve's radius, so that a gap has a value where nothing faces the other
/// along a normal and no contact is looked for. A piece of a segment from xi to xi + w lies within |d_u| |d_Omega| w^2 / 8 of its chord,
/// which bounds its distance from both sides; pieces whose lower bound lies under the best upper one are halved until these bounds are
/// within 1e-6 of the radii. Straight curves are exact at once.
double gapOf(const CurveConfiguration& first, const CurveConfiguration& second);
double gapOf(const CurveConfiguration& curve, const CollisionShape& shape, const Pose& part);
double gapOf(const CollisionShape& first, const Pose& firstPart, const CollisionShape& second, const Pose& secondPart);

/// Where a curve is nearest to a point, to 1e-6 of its radius in distance.
CurvePlace nearestPlace(const CurveConfiguration& curve, const Vector3& point);

}
