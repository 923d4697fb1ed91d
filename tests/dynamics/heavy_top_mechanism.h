#pragma once
#include "heavy_top.h"
#include "tendril/elements/mechanism.h"

namespace tendril::test {

/// The top of the oracle.
inline Mechanism heavyTop() {
  const oracles::HeavyTop data;
  MechanismBuilder b;
  b.gravity(data.gravity);
  const MassProperties mass{data.mass, Vector3::Zero(), data.inertia.asDiagonal()};
  const Vector3 speed = data.angularVelocity.cross(data.centre);
  const auto top = b.body("top", mass, {Matrix3::Identity(), data.centre}, speed, data.angularVelocity);
  b.joint(JointKind::Spherical, "tip", b.ground(), top.at({Matrix3::Identity(), -data.centre}));
  return b.build();
}

}
