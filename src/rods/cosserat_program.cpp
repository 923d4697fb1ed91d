#include "rods/cosserat_program.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tendril {

VectorX unitsOf(const CosseratRod& rod) {
  VectorX unit = VectorX::Ones(rod.size());
  for (Eigen::Index u = 0; u < Eigen::Index(rod.unknowns().size()); ++u)
    if (rod.unknowns()[std::size_t(u)].isPosition) unit.segment<3>(3 * u).setConstant(rod.properties().length);
  return unit;
}

double longestTurn(const CosseratRod& rod, const Eigen::Ref<const VectorX>& increment) {
  constexpr double most = 0.5;
  double turn = 0;
  for (Eigen::Index u = 0; u < Eigen::Index(rod.unknowns().size()); ++u)
    if (!rod.unknowns()[std::size_t(u)].isPosition) turn = std::max(turn, increment.segment<3>(3 * u).norm());
  return turn > most ? most / turn : 1;
}

std::string nameOfUnknown(const CosseratRod& rod, int increment) {
  const CosseratRod::Unknown& unknown = rod.unknowns()[std::size_t(increment) / 3];
  return fmt::format("{} {} of the rod, {}", unknown.isPosition ? "vertex" : "frame", unknown.index, "xyz"[increment % 3]);
}

CosseratProgram::CosseratProgram(CosseratRod& rod)
    : rod_(rod), energyUnit_(rod.properties().bending.maxCoeff() / rod.properties().length), unit_(unitsOf(rod)), moved_(rod.size()) {
  for (const CosseratRod::Unknown& unknown : rod.unknowns())
    for (int i = 0; i < 3; ++i) structure_.addVariable(unknown.stage);
  for (const CosseratRod::Coupling& c : rod.couplings())
    for (int j = 0; j < 3; ++j)
      for (int i = c.row == c.column ? j : 0; i < 3; ++i) structure_.hessian.push_back({3 * c.row + i, 3 * c.column + j});
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
  rod_.hessian(blocks_);
  const double weight = multipliers->weight / energyUnit_;
  Eigen::Index place = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    const CosseratRod::Coupling& c = rod_.couplings()[b];
    const double scale = weight * unit_[3 * c.row] * unit_[3 * c.column];
    for (int j = 0; j < 3; ++j)
      for (int i = c.row == c.column ? j : 0; i < 3; ++i) d.hessian[place++] = scale * blocks_[b](i, j);
  }
  return d.gradient.allFinite() && d.hessian.allFinite();
}

std::string CosseratProgram::nameOfVariable(int i) const { return nameOfUnknown(rod_, i); }

}
