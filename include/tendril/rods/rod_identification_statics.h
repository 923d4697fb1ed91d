#pragma once
#include "tendril/rods/rod_identification.h"
#include "tendril/rods/shown_rod.h"

namespace tendril {

struct RodIdentificationStaticsOptions {
  RodIdentificationOptions identification;
  std::vector<int> blocks; ///< pose blocks of a model that show the nodes of the rod
};

/// Natural strains from measured points (identifyNaturalStrains) as an analysis of one step, whose state shows the rod in the equilibrium
/// that fits them. monitor(): `natural strains` and their `uncertainty` [1/m], three a group; `natural curvature` and `natural torsion`,
/// the size of the mean of (kappa_1, kappa_2) over the groups and the mean of tau [1/m]; `misfit`, `largest misfit` [m]; `unidentified`.
class RodIdentificationStatics final : public ShownRod {
 public:
  RodIdentificationStatics(const Model& model, RodIdentificationStaticsOptions options);

  void start() override {}
  bool finished() const override { return step_.step > 0; }
  const StepReport& advance() override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step); }
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  void restore(const Snapshot& snapshot) override;

 private:
  Vector3 mean() const;

  RodIdentificationStaticsOptions options_;
  RodIdentification found_;
};

}
