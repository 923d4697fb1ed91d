#include "tendril/elements/motors.h"

#include "tendril/elements/joints.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>

namespace tendril {

namespace {

Vector6 wrench(const Vector3& force, const Vector3& moment) {
  Vector6 w;
  w << force, moment;
  return w;
}

}

std::vector<Actuator> motorsOf(const Model& model, const std::string& name) {
  const Joints* joints = model.term<Joints>();
  const int number = joints ? joints->find(name) : -1;
  if (number < 0) throw InputError("no joint is named '" + name + "'; a motor needs one");
  const Marker &first = joints->firstMarker(number), &second = joints->marker(number);
  // Joints with an axis keep it, and the line that it lies on, in both frames.
  const State state = model.initialState();
  const Pose relative = first.frame(state).relative(second.frame(state));
  const Vector3 axis = relative.R.col(2), none = Vector3::Zero();
  const auto torque = [&](const std::string& label) {
    return Actuator{label, {{&second, true, wrench(none, Vector3::UnitZ())}, {&first, true, wrench(none, -axis)}}};
  };
  const auto force = [&](const std::string& label) {
    return Actuator{label, {{&second, true, wrench(Vector3::UnitZ(), none)}, {&first, true, wrench(-axis, -relative.x.cross(axis))}}};
  };
  switch (joints->kind(number)) {
  case JointKind::Revolute:
    return {torque(name)};
  case JointKind::Prismatic:
    return {force(name)};
  case JointKind::Cylindrical:
    return {force(name + " 1"), torque(name + " 2")};
  case JointKind::Spherical: {
    std::vector<Actuator> motors;
    for (int i = 0; i < 3; ++i)
      motors.push_back({name + " " + std::to_string(i + 1),
                        {{&second, false, wrench(none, Vector3::Unit(i))}, {&first, false, wrench(none, -Vector3::Unit(i))}}});
    return motors;
  }
  default:
    throw InputError("joint '" + name + "' is " + std::string(nameOf(joints->kind(number))) +
                     "; motors drive revolute, prismatic, cylindrical and spherical joints");
  }
}

}
