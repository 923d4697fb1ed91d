#include "tendril/rods/rod_reconstruction.h"

#include "tendril/model/error.h"

#include <utility>

namespace tendril {

RodReconstruction::RodReconstruction(const Model& model, RodReconstructionOptions options)
    : ShownRod(model, options.blocks, options.blocks.size()), options_(std::move(options)) {
  if (nodes() < 2) throw InputError("rod: the model that shows it needs two nodes at least");
  if (options_.order != 1 && options_.order != 2 && options_.order != 4)
    throw InputError("rod: methods of reconstruction have the order 1, 2 or 4");
}

const StepReport& RodReconstruction::advance() {
  const int steps = int(nodes()) - 1;
  const double h = options_.length / steps;
  const auto strains = [this](double s) {
    Vector6 xi;
    xi << Vector3::UnitZ(), options_.strains(s);
    return xi;
  };
  Pose H = options_.begin;
  for (int i = 0; i <= steps; ++i) {
    show(std::size_t(i), H);
    const double s = i * h;
    const Vector6 twist = options_.order == 1   ? se3::rkmkTwist<1>(options_.map, strains, s, h)
                          : options_.order == 2 ? se3::rkmkTwist<2>(options_.map, strains, s, h)
                                                : se3::rkmkTwist<4>(options_.map, strains, s, h);
    if (i < steps) H = H * se3::step(options_.map, twist);
    if (!H.x.allFinite())
      throw NumericalFailure("rod: its curve cannot be reconstructed beyond node " + std::to_string(i) +
                             ": the strains there are not finite, or turn too far in a step");
  }
  step_.step = 1, step_.t = state_.t = 1, step_.h = 1;
  return step_;
}

void RodReconstruction::restore(const Snapshot& snapshot) {
  if (snapshot.at("step")[0] > 0) advance();
}

}
