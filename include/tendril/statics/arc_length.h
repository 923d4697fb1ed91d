#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/statics/equilibrium.h"

#include <limits>
#include <memory>

namespace tendril {

struct ArcLengthOptions {
  double firstStep = 0.01; ///< of the load parameter: fixes the first increment of arclength
  int maxSteps = 200;
  double largestGrowth = 10;                                ///< the step may grow to this times the first
  double smallestShrink = 1e-5;                             ///< and shrink to this times the first
  double lowest = -std::numeric_limits<double>::infinity(); ///< the path ends when the load parameter leaves [lowest, highest]
  double highest = std::numeric_limits<double>::infinity();
  int targetIterations = 5;
  int maxIterations = 25;
  bool stability = true; ///< count the signs of the tangent at each equilibrium, and find the loads at which they change
  KktTolerances tolerances;
};

/// Path of equilibria through limit points, with the load parameter t as an unknown (Riks 1979, Crisfield 1991; bordering as in Keller):
///
///     r(q, lambda, t) = 0,   g(q, t) = 0,   tau . (sum of increments since the last equilibrium) = ds
///
/// tau is the unit tangent of the path, in the mean square of translations (relative to the size of the model) and rotations of all
/// blocks. Limit points (the load parameter turns) and bifurcations (the number of negative signs of the tangent changes without one)
/// are noted in the step's report.
class ArcLength final : public Analysis {
 public:
  ArcLength(const Model& model, const ArcLengthOptions& options);

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return kkt_.minimumNorm(state_); }
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  class Problem;
  bool attempt(double ds);
  void findTangent();
  double inner(const VectorX& a, const VectorX& b) const;

  ArcLengthOptions options_;
  KktSystem kkt_;
  State state_, accepted_;
  /// Unit tangent of the path at the accepted equilibrium.
  struct Tangent {
    VectorX delta, lambda;
    double load = 1;
  } tangent_;
  void judgeStability(Tangent before);
  double ds_ = 0, firstDs_ = 0;
  int negative_ = 0; ///< negative signs at the accepted equilibrium
  Newton newton_;
  StepReport report_;
};

}
