#pragma once
#include "tendril/analysis/random_stream.h"
#include "tendril/lie/types.h"

namespace tendril {

/// Defaults are those of Leyendecker (2011), 6.5; of neighbours she says that they are random and projected into the box.
struct AnnealingOptions {
  double temperature = 1, cooling = 0.8, lastTemperature = 1e-8;
  int maxEvaluations = 2000, maxRejections = 300;                      ///< rejections one after the other
  int evaluationsPerTemperature = 30, improvementsPerTemperature = 20; ///< after either the temperature is lowered
  double reach = 0.1; ///< neighbours: every coordinate moves uniformly within +-reach of the width of the box
};

/// Simulated annealing in the unit cube, without derivatives: a neighbour that raises the energy by dE is accepted with the probability
/// exp(-dE/T) (Metropolis). Finds no bound: what it returns has been seen, better may exist.
///
/// Whoever drives it evaluates: while (!search.finished()) search.take(energy(search.trial())). An energy that is not finite is rejected.
class Annealer {
 public:
  Annealer(const VectorX& start, const AnnealingOptions& options, const RandomStream& random);

  bool finished() const { return isFinished_; }
  const VectorX& trial() const { return trial_; }
  void take(double energy);

  const VectorX& best() const { return best_; }
  double value() const { return bestEnergy_; }
  int evaluations() const { return evaluations_; }
  double temperature() const { return temperature_; }

 private:
  bool isAccepted(double energy) const;
  void cool();
  void propose();

  AnnealingOptions options_;
  RandomStream random_;
  VectorX x_, trial_, best_;
  double energy_, bestEnergy_, temperature_;
  int evaluations_ = 0, rejections_ = 0, atTemperature_ = 0, improvements_ = 0;
  bool isFinished_ = false;
};

}
