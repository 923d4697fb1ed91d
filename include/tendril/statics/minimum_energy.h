#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/equations/kkt_system.h"

#include <memory>

namespace tendril {

struct MinimumEnergyOptions {
  int steps = 1;           ///< of the load parameter, each from the equilibrium before
  double tolerance = 1e-9; ///< of the conditions of optimality, in the units of the model (EnergyProgram)
  int maxIterations = 300; ///< of a step
  int escapes = 10;        ///< how often a point that is no minimum is left
};

/// Stable equilibria of a model whose forces have a potential, as minima of its energy under its constraints,
///
///     min V(q, t)    subject to    g(q, t) = 0,
///
/// by InteriorPoint with exact second derivatives: the gradient of V is r, the Hessian of V - lambda . g the symmetric part of the static
/// tangent. It comes from far and through configurations where the tangent is singular or indefinite, where Newton's method on forces stops
/// or ends at a saddle: a ribbon that is bent to a band, a sheet whose rulings cost no energy while it is flat.
///
/// Steps raise the load parameter t to 1. A stationary point from which the energy falls (negative signs of the tangent on the constraints)
/// is left by a small pseudo-random displacement and solved anew. InputError for forces without a potential: loads that follow, applied
/// forces (their work is no energy of the model). NumericalFailure where the solver or the escapes fail.
class MinimumEnergy final : public Analysis {
 public:
  MinimumEnergy(const Model& model, const MinimumEnergyOptions& options);
  ~MinimumEnergy() override;

  void start() override;
  bool finished() const override { return report_.step >= options_.steps; }
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return kkt_.minimumNorm(state_); }
  double progress() const override { return double(report_.step) / options_.steps; }
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  void requirePotential();
  void disturb(double size, unsigned seed);

  MinimumEnergyOptions options_;
  KktSystem kkt_;
  State state_;
  StepReport report_;
};

}
