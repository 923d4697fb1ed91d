#pragma once
#include "tendril/solvers/nonlinear_program.h"

namespace tendril {

/// A nonlinear program with objective and rows scaled so that no gradient at the start exceeds 100 (Waechter & Biegler 2006, 3.8), and
/// with its bounds moved outwards by a part of the tolerance, so that the feasible set has an interior.
///
/// Evaluations are counted and timed here. All numbers are scaled unless a name says otherwise.
class ScaledProgram {
 public:
  /// `widening`: by how much bounds move, relative to max(1, |bound|).
  ScaledProgram(NonlinearProgram& program, double widening);

  NonlinearProgram& program() { return program_; }
  const ProgramStructure& structure() const { return structure_; }
  const Eigen::VectorXd& lower() const { return lower_; }
  const Eigen::VectorXd& upper() const { return upper_; }

  /// Chooses the scales from the derivatives at the current point. False where the functions or their derivatives do not exist.
  bool chooseScales();

  /// At the current point. False where they do not exist or are not finite.
  bool evaluate(ProgramValues& values);
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives);

  double objectiveScale() const { return objectiveScale_; }
  double unscaledEquality(const ProgramValues& values, int i) const { return values.equality[i] / equalityScale_[i]; }
  /// How far d_i is outside the bounds as given.
  double unscaledViolation(const ProgramValues& values, int i) const;
  /// Largest violation of a row, in its own unit.
  double unscaledViolation(const ProgramValues& values) const;
  ProgramMultipliers unscaled(const ProgramMultipliers& multipliers) const;
  ProgramMultipliers scaled(const ProgramMultipliers& multipliers) const;

  ProgramValues makeValues() const;
  ProgramDerivatives makeDerivatives() const;
  ProgramMultipliers makeMultipliers() const;

  int evaluations = 0, differentiations = 0;
  double evaluationTime = 0, differentiationTime = 0;

 private:
  NonlinearProgram& program_;
  const ProgramStructure& structure_;
  double widening_;
  double objectiveScale_ = 1;
  Eigen::VectorXd equalityScale_, inequalityScale_, lower_, upper_;
  ProgramMultipliers handed_; ///< multipliers of the unscaled functions
};

}
