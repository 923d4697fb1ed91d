#include "tendril/discrete/momentum_units.h"

namespace tendril {

MomentumUnits::MomentumUnits(const DirectorSystem& system) : unit(VectorX::Ones(system.size() + system.constraints())) {
  const Model& model = system.model();
  const double length = model.characteristicLength();
  for (const Block& block : model.blocks())
    if (block.kind == Block::Kind::Pose) unit.segment<9>(block.q + 3).setConstant(1 / length);
  unit.segment(system.size(), system.internalConstraints()).setConstant(length);
  for (int i = 0; i < model.nc(); ++i)
    if (model.constraintQuantities()[i] == RowQuantity::Angle) unit[system.size() + system.internalConstraints() + i] = length;
  const VectorX masses = system.mass().diagonal();
  const double sum = masses.dot(unit.head(system.size()).cwiseAbs2());
  if (sum > 0) mass = sum / system.size();
}

}
