#include "director_loads.h"

#include "tendril/lie/so3.h"
#include "tendril/model/model.h"

#include <memory>

namespace tendril {

void DirectorLoads::evaluate(int member, const DirectorFrames& Y, const DirectorFrames&, double t, Vector24& force, Matrix24* stiffness,
                             Matrix24* damping) const {
  const Member& load = members_[member];
  const bool follows = load.direction == LoadDirection::Follower;
  const Matrix3 D = follows ? Matrix3(Y[0].rightCols<3>()) : Matrix3::Identity();
  const Vector6 components = load.factor(t).value * load.components;
  const Vector3 F = D * components.head<3>(), m = D * components.tail<3>();
  force.setZero();
  force.head<3>() = F;
  for (int i = 1; i < 4; ++i) force.segment<3>(3 * i) = 0.5 * m.cross(Y[0].col(i));
  if (damping) damping->setZero();
  if (!stiffness) return;
  stiffness->setZero();
  for (int i = 1; i < 4; ++i) stiffness->block<3, 3>(3 * i, 3 * i) = 0.5 * so3::hat(m);
  if (!follows) return;
  for (int j = 1; j < 4; ++j) {
    stiffness->block<3, 3>(0, 3 * j).diagonal().setConstant(components[j - 1]);
    for (int i = 1; i < 4; ++i) stiffness->block<3, 3>(3 * i, 3 * j) -= 0.5 * components[2 + j] * so3::hat(Y[0].col(i));
  }
}

void Loads::embed(DirectorSystem& system) const {
  auto loads = std::make_unique<DirectorLoads>();
  for (const Load& load : loads_) loads->add(load.pair.second().directors(), load.direction, load.components, load.factor);
  system.add(std::move(loads));
}

}
