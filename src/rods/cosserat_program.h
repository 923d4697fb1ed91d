#pragma once
#include "tendril/rods/cosserat_rod.h"
#include "tendril/solvers/nonlinear_program.h"

#include <string>

namespace tendril {

/// The energy of a Cosserat rod as the objective of a nonlinear program without constraints, in natural units: energies by the largest
/// stiffness in bending over the length, positions by the length. Increments are those of the rod.
class CosseratProgram final : public NonlinearProgram {
 public:
  explicit CosseratProgram(CosseratRod& rod);

  const ProgramStructure& structure() const override { return structure_; }
  int pointSize() const override { return rod_.pointSize(); }
  void getPoint(Eigen::Ref<VectorX> numbers) const override { rod_.getPoint(numbers); }
  void setPoint(const Eigen::Ref<const VectorX>& numbers) override { rod_.setPoint(numbers); }
  void retract(const Eigen::Ref<const VectorX>& increment) override;
  double longestFactor(const Eigen::Ref<const VectorX>& increment) const override;
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  std::string nameOfVariable(int i) const override;

 private:
  CosseratRod& rod_;
  double energyUnit_;
  VectorX unit_, moved_;
  ProgramStructure structure_;
};

/// Per increment: the length of the rod for positions, 1 for frames.
VectorX unitsOf(const CosseratRod& rod);
/// Share of an increment by which no frame turns by more than half a radian: segments stay away from half a turn.
double longestTurn(const CosseratRod& rod, const Eigen::Ref<const VectorX>& increment);
std::string nameOfUnknown(const CosseratRod& rod, int increment);

}
