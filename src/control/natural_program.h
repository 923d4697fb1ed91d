#pragma once
#include "tendril/solvers/nonlinear_program.h"

namespace tendril {

/// A program in units of its own: variable i is measured in variableUnit[i], and so on. What a solver takes for small or large then does
/// not depend on the units of whoever states the problem. Multipliers are those of the program in units.
class NaturalProgram final : public NonlinearProgram {
 public:
  struct Units {
    double objective = 1;
    Eigen::VectorXd variable, equality, inequality;
  };

  NaturalProgram(NonlinearProgram& program, Units units);

  const ProgramStructure& structure() const override { return structure_; }
  int pointSize() const override { return program_.pointSize(); }
  void getPoint(Eigen::Ref<Eigen::VectorXd> numbers) const override { program_.getPoint(numbers); }
  void setPoint(const Eigen::Ref<const Eigen::VectorXd>& numbers) override { program_.setPoint(numbers); }
  void retract(const Eigen::Ref<const Eigen::VectorXd>& increment) override;
  double longestFactor(const Eigen::Ref<const Eigen::VectorXd>& increment) const override;
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  std::string nameOfVariable(int i) const override { return program_.nameOfVariable(i); }
  std::string nameOfEquality(int i) const override { return program_.nameOfEquality(i); }
  std::string nameOfInequality(int i) const override { return program_.nameOfInequality(i); }

 private:
  NonlinearProgram& program_;
  Units units_;
  ProgramStructure structure_;
  mutable Eigen::VectorXd increment_;
  ProgramMultipliers multipliers_;
};

}
