#pragma once
#include "tendril/equations/kkt_system.h"
#include "tendril/model/model.h"

namespace tendril {

/// Equilibrium at a load parameter (statics.1): f(q, t) - G^T lambda = 0, g(q, t) = 0, q and lambda unknown, as Newton's method sees it.
/// The step is bounded so that no node turns by more than half a radian in one iteration: the helicoidal elements stay within their chart,
/// and slender structures converge from far without a line search, which would reject their best steps (bending first turns into stretch).
class EquilibriumProblem : public NewtonProblem {
 public:
  EquilibriumProblem(KktSystem& kkt, State& state);

  int groupCount() const override { return KktSystem::groupCount; }
  bool evaluate(std::span<ResidualGroup> groups) override;
  bool factorise() override { return kkt_.factorise(); }
  bool solve() override { return kkt_.solve(delta_, deltaLambda_); }
  double longestFactor() override;
  void applyStep(double factor) override;
  void undoStep() override;
  std::string describeWorst() const override { return kkt_.describeWorst(); }
  std::string describeSingular() const override { return kkt_.describeSingular(); }

 protected:
  KktSystem& kkt_;
  State& state_;
  VectorX delta_, deltaLambda_;

 private:
  VectorX scaled_, heldQ_, heldLambda_;
};

/// Velocities and accelerations are zero in statics.
void atRest(State& state);

}
