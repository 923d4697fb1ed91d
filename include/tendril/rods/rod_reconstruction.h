#pragma once
#include "tendril/lie/rkmk.h"
#include "tendril/rods/shown_rod.h"

#include <functional>

namespace tendril {

struct RodReconstructionOptions {
  std::function<Vector3(double)> strains; ///< curvatures and torsion at arclength s [1/m]
  double length = 1;                      ///< [m]
  Pose begin;
  int order = 4; ///< of the Runge-Kutta-Munthe-Kaas method: 1, 2 or 4
  se3::StepMap map = se3::StepMap::Exponential;
  std::vector<int> blocks; ///< pose blocks of a model that show the nodes, one more than steps
};

/// The curve of an inextensible rod from its strains, H' = H S(e3, u(s)), by the methods of lie/rkmk.h: an analysis of one step.
class RodReconstruction final : public ShownRod {
 public:
  RodReconstruction(const Model& model, RodReconstructionOptions options);

  void start() override {}
  bool finished() const override { return step_.step > 0; }
  const StepReport& advance() override;
  double progress() const override { return double(step_.step); }
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  void restore(const Snapshot& snapshot) override;

 private:
  RodReconstructionOptions options_;
};

}
