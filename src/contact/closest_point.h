#pragma once
#include "contact/shape_data.h"
#include "tendril/contact/segments.h"

namespace tendril {

/// Where the surface of a solid is closest to a point.
struct SurfacePoint {
  double distance = 0;               ///< of the point from the surface; negative inside
  Vector3 normal = Vector3::UnitZ(); ///< outward, unit: surface = point - distance * normal
  std::uint32_t feature = 0;
};

/// In the shape's frame; for all bounded solids (sphere, capsule, polyhedra, cylinder, cone, ellipsoid). In closed form but for
/// ellipsoids, whose one scalar equation is solved to round-off. Where the closest point is not unique one of them is taken, always the
/// same.
SurfacePoint closestSurfacePoint(const ShapeData& shape, const Vector3& point);

/// The point of an ellipsoid with the given semi-axes farthest from y.
Vector3 farthestOnEllipsoid(const Vector3& semiAxes, const Vector3& y);

}
