#pragma once
#include "contact/support.h"

namespace tendril {

/// Gives a pair the points, each with a ball about it, and the rims of a solid that has no vertices to go through: `Pair` has
/// add(point, ball, feature) and addRim(rim, feature). False, and nothing is given, if the shape is of another kind.
template <class Pair> bool addRoundParts(const PlacedShape& a, Pair& pair) {
  switch (a.data.shape.kind) {
  case Shape::Kind::Sphere:
    pair.add(a.pose.x, a.data.radius, 0);
    return true;
  case Shape::Kind::Capsule:
    pair.add(a.pose * Vector3(0, 0, -a.data.half), a.data.radius, 0);
    pair.add(a.pose * Vector3(0, 0, a.data.half), a.data.radius, 1);
    return true;
  case Shape::Kind::Cylinder:
  case Shape::Kind::Tube:
    pair.addRim(rimOf(a, a.data.low), 100);
    pair.addRim(rimOf(a, a.data.high), 200);
    return true;
  case Shape::Kind::Cone:
    pair.addRim(rimOf(a, a.data.low), 100);
    pair.add(a.pose * Vector3(0, 0, a.data.high), 0, 0);
    return true;
  default:
    return false;
  }
}

}
