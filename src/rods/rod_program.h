#pragma once
#include "tendril/rods/rod_equilibrium.h"
#include "tendril/solvers/nonlinear_program.h"

namespace tendril {

/// The equilibrium of a strain rod as a nonlinear program in natural units: variables L u, objective E L / EI, positions over L.
class RodProgram final : public VectorProgram {
 public:
  RodProgram(StrainRod& rod, const RodEnds& ends);

  const ProgramStructure& structure() const override { return structure_; }
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  std::string nameOfEquality(int i) const override;
  std::string nameOfVariable(int i) const override;

  /// Hessian of the Lagrangian and gradients of the equations, dense.
  const MatrixX& hessian(const VectorX& multipliers);
  const MatrixX& jacobian();
  RodSupport support(const VectorX& multipliers) const;
  double energyUnit() const { return energyUnit_; }

 private:
  void place();
  /// Sum of the equations, each times its multiplier, as a function of the end.
  StrainRod::EndFunction functionOf(const VectorX& multipliers) const;
  Vector3 turn() const; ///< log(R*^T R_N)
  bool isPosition(int equation) const { return equation < positions_; }

  StrainRod& rod_;
  RodEnds ends_;
  double length_, energyUnit_;
  int positions_ = 0; ///< number of equations of the position, the first ones
  ProgramStructure structure_;
  VectorX placed_, gradient_;
  MatrixX H_, J_;
};

}
