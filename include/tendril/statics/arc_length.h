#pragma once
#include "tendril/equations/analysis.h"
#include "tendril/equations/kkt_system.h"
#include "tendril/solvers/path_follower.h"

#include <limits>
#include <memory>

namespace tendril {

struct ArcLengthOptions {
  PathOptions path;
  int maxSteps = 200;
  double lowest = -std::numeric_limits<double>::infinity(); ///< the path ends when the load parameter leaves [lowest, highest]
  double highest = std::numeric_limits<double>::infinity();
  bool stability = true; ///< count the signs of the tangent at each equilibrium, and find the loads at which they change
  KktTolerances tolerances;
};

/// Path of equilibria through limit points, with the load parameter t as an unknown (PathFollower):
///
///     r(q, lambda, t) = 0,   g(q, t) = 0,   tau . (sum of increments since the last equilibrium) = ds
///
/// tau is the unit tangent of the path, in the mean square of translations (relative to the size of the model) and rotations of all
/// blocks. Limit points (the load parameter turns) and bifurcations (the number of negative signs of the tangent changes without one)
/// are noted in the step's report.
class ArcLength final : public Analysis {
 public:
  ArcLength(const Model& model, const ArcLengthOptions& options);
  ~ArcLength() override;

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  const State& state() const override { return state_; }
  VectorX reactions() override { return kkt_.minimumNorm(state_); }
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  class Equilibria;
  void judgeStability();

  ArcLengthOptions options_;
  KktSystem kkt_;
  State state_, accepted_;
  std::unique_ptr<Equilibria> equilibria_;
  PathFollower follower_;
  int negative_ = 0; ///< negative signs at the accepted equilibrium
  StepReport report_;
};

}
