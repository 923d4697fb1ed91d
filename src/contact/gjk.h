#pragma once
#include "contact/shape_data.h"

namespace tendril {

/// Direction, from b to a, along which the cores of two convex shapes are separated most or overlap least, good to a few digits: a start
/// for refinement. Distances by Gilbert, Johnson & Keerthi (1988), overlaps by expanding a polytope within the Minkowski difference (van
/// den Bergen 2001). `isBeyond` says that the cores are farther apart than `reach`.
struct Approach {
  Vector3 normal = Vector3::UnitZ();
  bool isBeyond = false;
};
Approach approach(const PlacedShape& a, const PlacedShape& b, double reach);

/// Separation of the cores along a unit vector from b to a: negative where they overlap along it.
double separation(const PlacedShape& a, const PlacedShape& b, const Vector3& normal);

}
