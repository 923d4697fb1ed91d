#pragma once
#include "tendril/rods/packed_ring.h"
#include "tendril/rods/shown_rod.h"

namespace tendril {

struct PackedRingStaticsOptions {
  PackedRingOptions ring;
  int starts = 1; ///< random first guesses, by the seeds that follow the first one; the least energy stays
  Pose begin;     ///< the disc lies about the origin of this frame, in the plane of its first two axes
  double length = 1;
  std::vector<int> blocks; ///< pose blocks of a model that show the nodes
};

/// A packed ring as an analysis of one step. monitor(), scaled by the length and EI: `energy`, `index`, `max_radius`, `largest pressure`
/// and `least pressure` (of the disc on a node, times the square of the length over EI), `complementarity` (largest product of multiplier
/// and slack), `asymmetry` (PackedRing), `share solved` of the first guesses.
class PackedRingStatics final : public ShownRod {
 public:
  PackedRingStatics(const Model& model, PackedRingStaticsOptions options);

  void start() override {}
  bool finished() const override { return step_.step > 0; }
  const StepReport& advance() override;
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return double(step_.step); }
  Snapshot save() override { return {{"step", {double(step_.step)}}}; }
  void restore(const Snapshot& snapshot) override;

 private:
  PackedRingStaticsOptions options_;
  PackedRing ring_;
  double shareSolved_ = 0;
};

}
