#include "tendril/elements/loads.h"

#include "tendril/lie/so3.h"
#include "tendril/model/assembly.h"
#include "tendril/model/error.h"
#include "tendril/model/model.h"

#include <algorithm>

namespace tendril {

int Loads::add(const std::string& name, const Marker& marker, LoadDirection direction, const Vector3& force, const Vector3& moment,
               TimeFunction factor) {
  MarkerPair pair(nullptr, marker);
  if (!force.allFinite() || !moment.allFinite()) throw InputError("load '" + name + "': force and moment must be finite");
  if (!pair.canMove()) throw InputError("load '" + name + "': its marker " + pair.names() + " is on the ground; put it on a body or beam");
  if (find(name) >= 0) throw InputError("two loads are named '" + name + "'; give each a name of its own");
  Vector6 components;
  components << force, moment;
  loads_.push_back({name, pair, direction, components, std::move(factor)});
  return size() - 1;
}

int Loads::find(const std::string& name) const {
  const auto found = std::find_if(loads_.begin(), loads_.end(), [&](const Load& load) { return load.name == name; });
  return found == loads_.end() ? -1 : int(found - loads_.begin());
}

Vector6 Loads::localWrench(const Load& load, const Matrix3& R) {
  if (load.direction == LoadDirection::Follower) return load.components;
  Vector6 local;
  local << R.transpose() * load.components.head<3>(), R.transpose() * load.components.tail<3>();
  return local;
}

Vector6 Loads::wrench(const State& state, int number) const {
  const Load& load = loads_[number];
  const Matrix3 R = load.pair.frame(state).R;
  const Vector6 local = load.factor(state.t).value * localWrench(load, R);
  Vector6 spatial;
  spatial << R * local.head<3>(), R * local.tail<3>();
  return spatial;
}

void Loads::declare(Layout& layout) {
  for (Load& load : loads_) load.pair.declare(layout);
}

void Loads::evaluate(const State& state, Assembly& assembly) const {
  RelativeMotion m;
  for (const Load& load : loads_) {
    load.pair.kinematics(state, m);
    const Jet factor = load.factor(state.t);
    const Vector6 local = localWrench(load, m.frame.R);
    PairWrench wrench;
    wrench.w = -factor.value * local;
    wrench.rate = -factor.rate * local;
    if (load.direction == LoadDirection::Dead) {
      wrench.stiffness.topRightCorner<3, 3>() = so3::hat(wrench.w.head<3>());
      wrench.stiffness.bottomRightCorner<3, 3>() = so3::hat(wrench.w.tail<3>());
    }
    load.pair.addWrench(state, m, wrench, assembly);
  }
}

void Loads::addEnergy(const State& state, Energy& energy) const {
  RelativeMotion m;
  for (const Load& load : loads_) {
    load.pair.kinematics(state, m);
    energy.power += load.factor(state.t).value * localWrench(load, m.frame.R).dot(m.twist);
  }
}

}
