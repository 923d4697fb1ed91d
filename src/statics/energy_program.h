#pragma once
#include "tendril/equations/kkt_system.h"
#include "tendril/solvers/nonlinear_program.h"

#include <vector>

namespace tendril {

/// The energy of a model under its constraints, as a nonlinear program. Increments are measured in the size of the model, in
/// radians, and coordinates in what moves a frame by as much (units), constraints likewise, energies in that of the stiffest motion at the
/// start.
/// Stages are the levels of a breadth-first search through the pattern of the matrix, from one of its ends: neighbours differ by one at
/// most, and a chain of bodies has many small stages.
class EnergyProgram final : public NonlinearProgram {
 public:
  /// Works on the state, at its load parameter.
  EnergyProgram(KktSystem& kkt, State& state);

  const ProgramStructure& structure() const override { return structure_; }
  int pointSize() const override { return int(state_.q.size()); }
  void getPoint(Eigen::Ref<VectorX> numbers) const override { numbers = state_.q; }
  void setPoint(const Eigen::Ref<const VectorX>& numbers) override { state_.q = numbers; }
  void retract(const Eigen::Ref<const VectorX>& increment) override;
  double longestFactor(const Eigen::Ref<const VectorX>& increment) const override;
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  std::string nameOfVariable(int i) const override { return model_.nameOfVelocity(i); }
  std::string nameOfEquality(int i) const override { return model_.nameOfConstraint(i); }

  /// What increments are measured in. Those of a vector block have one unit, that of the coordinate which moves most: others may move
  /// nothing where the model stands, such as the direction in which a flat sheet bends.
  static VectorX units(const KktSystem& kkt);

  /// Multipliers of the model from those of the program.
  void takeMultipliers(const VectorX& equality);

 private:
  void declare();
  /// += factor times the Hessian of V - lambda . g in the units of the program, lambda that of the state.
  void addHessian(double factor, VectorX& hessian);

  KktSystem& kkt_;
  const Model& model_;
  State& state_;
  double energyUnit_ = 1;
  VectorX unit_, rowUnit_, delta_;
  ProgramStructure structure_;
  std::vector<int> jacobian_;                ///< places of G among the values of the matrix
  std::vector<std::pair<int, int>> hessian_; ///< of an entry and its mirror image
};

}
