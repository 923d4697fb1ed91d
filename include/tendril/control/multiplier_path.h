#pragma once
#include "tendril/control/transcription.h"

namespace tendril {

/// The multiplier form of optimal control by discrete mechanics: forces of constraints are variables, constraints are rows, and points are
/// vectors, so that nothing is eliminated and every derivative keeps the sparsity of the system (Leyendecker 2011, chapter 5):
///
///     w_n - h G(q_n)^T lambda_n = 0,      w_n = D2 L_d(q_{n-1}, q_n) + D1 L_d(q_n, q_{n+1}) + (h/2) B(q_n)^T (tau_{n-1} + tau_n),
///     g(q_n) = 0,
///
/// at the ends with the momenta that are given, as in ControlledPath, whose solutions are the same. Of redundant constraints an independent
/// set is kept. Variables: q_n, lambda_n, tau_n node by node. InputError for what requirePlain (plain_problem.h) refuses.
class MultiplierPath final : public VectorProgram, public Transcription {
 public:
  /// `guess`: N + 1 configurations that the constraints allow.
  MultiplierPath(const DirectorSystem& system, ControlProblem problem, const std::vector<VectorX>& guess, const MatrixX& controls = {});
  ~MultiplierPath() override;

  /// lambda_n of the constraints of the system, internal ones first; zero for those left out as redundant, and at ends without balance.
  VectorX multipliers(int n) const;

  const ProgramStructure& structure() const override;
  bool evaluate(ProgramValues& values) override;
  bool differentiate(const ProgramMultipliers* multipliers, ProgramDerivatives& derivatives) override;
  double longestFactor(const Eigen::Ref<const VectorX>& increment) const override;
  std::string nameOfVariable(int i) const override;
  std::string nameOfEquality(int i) const override;
  std::string nameOfInequality(int i) const override;

  NonlinearProgram& program() override { return *this; }
  VectorProgram* vectorProgram() override { return this; }
  Units units() const override;
  const ControlProblem& problem() const override;
  double duration() const override;
  const VectorX& node(int n) const override;
  const MatrixX& controls() const override;
  Eigen::Ref<const VectorX> control(int interval) const override;
  void momenta(int interval, VectorX& left, VectorX& right) const override;
  VectorX unbalanced(int n) const override;
  VectorX velocity(int n) const override;
  double largestTurn() const override;
  double closure() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
