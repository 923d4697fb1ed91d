#include "rods/cosserat_program.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tendril {

VectorX unitsOf(const CosseratRod& rod) {
  VectorX unit = VectorX::Ones(rod.size());
  for (const CosseratRod::Unknown& u : rod.unknowns())
    if (u.isPosition) unit.segment<3>(u.offset).setConstant(rod.properties().length);
  return unit;
}

double longestTurn(const CosseratRod& rod, const Eigen::Ref<const VectorX>& increment) {
  constexpr double most = 0.5;
  double turn = 0;
  for (const CosseratRod::Unknown& u : rod.unknowns())
    if (!u.isPosition) turn = std::max(turn, increment.segment(u.offset, u.size).norm());
  return turn > most ? most / turn : 1;
}

std::string nameOfUnknown(const CosseratRod& rod, int increment) {
  const auto found = std::find_if(rod.unknowns().begin(), rod.unknowns().end(), [&](const auto& u) { return increment < u.end(); });
  const std::string axis = found->size == 1 ? "hinge" : std::string(1, "xyz"[increment - found->offset]);
  return fmt::format("{} {} of the rod, {}", found->isPosition ? "vertex" : "frame", found->index, axis);
}

CosseratProgram::CosseratProgram(CosseratRod& rod)
    : rod_(rod), energyUnit_(rod.properties().bending.maxCoeff() / rod.properties().length), unit_(unitsOf(rod)), moved_(rod.size()) {
  for (const CosseratRod::Unknown& u : rod.unknowns())
    for (int i = 0; i < u.size; ++i) structure_.addVariable(u.stage);
  structure_.hessian = rod.hessianPattern();
}

void CosseratProgram::retract(const Eigen::Ref<const VectorX>& increment) {
  moved_ = increment.cwiseProduct(unit_);
  rod_.move(moved_);
}

double CosseratProgram::longestFactor(const Eigen::Ref<const VectorX>& increment) const { return longestTurn(rod_, increment); }

bool CosseratProgram::evaluate(ProgramValues& values) {
  values.objective = rod_.energy() / energyUnit_;
  return std::isfinite(values.objective);
}

bool CosseratProgram::differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& d) {
  rod_.gradient(d.gradient);
  d.gradient.array() *= unit_.array() / energyUnit_;
  if (!multipliers) return d.gradient.allFinite();
  rod_.hessian(d.hessian);
  const double weight = multipliers->weight / energyUnit_;
  for (std::size_t i = 0; i < structure_.hessian.size(); ++i)
    d.hessian[Eigen::Index(i)] *= weight * unit_[structure_.hessian[i].row] * unit_[structure_.hessian[i].column];
  return d.gradient.allFinite() && d.hessian.allFinite();
}

std::string CosseratProgram::nameOfVariable(int i) const { return nameOfUnknown(rod_, i); }

}
