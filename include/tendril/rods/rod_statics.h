#pragma once
#include "tendril/rods/rod_equilibrium.h"
#include "tendril/rods/shown_rod.h"

#include <vector>

namespace tendril {

struct RodStaticsOptions {
  RodProperties rod;
  int elements = 50;
  se3::StepMap map = se3::StepMap::Exponential;
  RodWeight weight = RodWeight::Trapezoid;
  RodStrains strains = RodStrains::Constant;
  RodEnds ends;
  VectorX start; ///< strains of the first guess; empty: the natural ones
  /// Quasi-static steps, each from the equilibrium before, while a load parameter goes from 0 to 1; with one step it is 1.
  int steps = 1;
  bool growsNaturalStrain = false; ///< in proportion to the load parameter
  bool growsWeight = false;
  RodEquilibriumOptions equilibrium;
  std::vector<int> blocks; ///< pose blocks of a model that show the nodes of the rod
};

/// Equilibria of a strain rod as an analysis, whose steps are those of the load parameter. A step that ends in no certified minimum throws
/// NumericalFailure. monitor(): `energy`, `elastic energy`, `gravitational energy` [J], `turns`, `torsion spread` (largest less least
/// torsion [1/m]), `stability` (RodEquilibrium), `end force` [N], `end moment` [N m], `force slope` (growth of the internal force against
/// the weight by the arclength [N/m]; in mixed form from the forces themselves, else from the moments).
class RodStatics final : public ShownRod {
 public:
  RodStatics(const Model& model, RodStaticsOptions options);

  void start() override;
  bool finished() const override;
  const StepReport& advance() override;
  Energy energy(const Model& model) const override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

 private:
  StrainRod rodAt(double t) const;
  void showFrames();
  double forceSlope() const;
  double largestTurn() const; ///< of an element from end to end [rad]

  RodStaticsOptions options_;
  StrainRod rod_;
  RodEquilibrium found_;
};

}
