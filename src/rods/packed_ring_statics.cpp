#include "tendril/rods/packed_ring_statics.h"

#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tendril {

PackedRingStatics::PackedRingStatics(const Model& model, PackedRingStaticsOptions options)
    : ShownRod(model, options.blocks, std::size_t(options.ring.elements) + 1), options_(std::move(options)) {}

const StepReport& PackedRingStatics::advance() {
  PackedRing best;
  int solved = 0;
  for (int k = 0; k < options_.starts; ++k) {
    PackedRingOptions o = options_.ring;
    o.seed += unsigned(k);
    o.stops = [this] { return isStopAsked(); };
    PackedRing ring = packRing(o);
    step_.iterations += ring.iterations;
    solved += ring.isSolved;
    if (k == 0 || (ring.isSolved && (!best.isSolved || ring.energy < best.energy))) best = std::move(ring);
  }
  if (!best.isSolved) throw NumericalFailure("packed ring: " + best.message);
  ring_ = std::move(best);
  shareSolved_ = double(solved) / options_.starts;
  step_.step = 1, step_.t = state_.t = 1, step_.h = 1;
  const Matrix3& R = options_.begin.R;
  for (std::size_t i = 0; i < nodes(); ++i) {
    const Eigen::Vector3d& node = ring_.nodes[i];
    const double c = std::cos(node[2]), s = std::sin(node[2]);
    show(i, options_.begin.x + options_.length * (R * Vector3(node[0], node[1], 0)), R * Vector3(c, s, 0), R * Vector3(-s, c, 0), R.col(2));
  }
  return step_;
}

bool PackedRingStatics::monitor(std::string_view name, const Marker*, double* values) {
  if (name == "energy" || name == "elastic energy")
    *values = ring_.energy;
  else if (name == "index")
    *values = ring_.index;
  else if (name == "max_radius")
    *values = ring_.largestRadius;
  else if (name == "largest pressure")
    *values = ring_.pressure.empty() ? 0 : 2 * ring_.largestRadius * *std::max_element(ring_.pressure.begin(), ring_.pressure.end());
  else if (name == "least pressure")
    *values = ring_.pressure.empty() ? 0 : 2 * ring_.largestRadius * *std::min_element(ring_.pressure.begin(), ring_.pressure.end());
  else if (name == "complementarity")
    *values = ring_.complementarity;
  else if (name == "asymmetry")
    *values = ring_.asymmetry;
  else if (name == "share solved")
    *values = shareSolved_;
  else
    return false;
  return true;
}

void PackedRingStatics::restore(const Snapshot& snapshot) {
  if (snapshot.at("step")[0] > 0) advance();
}

}
