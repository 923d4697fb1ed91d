#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/statics/equilibrium.h"

#include <memory>

namespace tendril {

struct LoadSteppingOptions {
  int steps = 10;            ///< the first step is 1/steps of the way
  bool grow = true;          ///< easy steps make the next one larger, up to largestStep; false keeps to 1/steps unless a step fails
  double largestStep = 0.25; ///< of the load parameter
  double smallestStep = 1e-6;
  int maxIterations = 40;
  bool stability = true; ///< count the signs of the tangent at each equilibrium, and find the loads at which they change
  KktTolerances tolerances;
};

/// A sequence of equilibria under a load parameter t that runs from 0 to 1. A step that fails is halved, down to smallestStep; one that
/// converges in few iterations lets the next grow by half. Loads without a time function of their own grow in proportion to t.
class LoadStepping final : public Analysis {
 public:
  LoadStepping(const Model& model, const LoadSteppingOptions& options);

  void start() override;
  bool finished() const override { return state_.t >= 1; }
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return kkt_.minimumNorm(state_); }
  double progress() const override { return state_.t; }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;
  KktSystem& kkt() { return kkt_; }

 private:
  bool attempt(double t);
  void judgeStability();

  LoadSteppingOptions options_;
  KktSystem kkt_;
  State state_, accepted_;
  EquilibriumProblem problem_;
  Newton newton_;
  double h_ = 0;
  int negative_ = 0; ///< negative signs at the accepted equilibrium
  StepReport report_;
};

}
