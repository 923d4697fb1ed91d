#include "tendril/elements/beam_elements.h"

#include "tendril/elements/super_helix.h"

namespace tendril {

namespace {

Vector6 bending(const Vector3& values) {
  Vector6 result;
  result << Vector3::Zero(), values;
  return result;
}

}

BeamElements::BeamElements(const Model& model, const BeamPart& part)
    : first_(part.firstElement), rod_(part.rod), interpolation_(part.interpolation), arclength_(part.arclength) {
  if (part.rod >= 0)
    rods_ = model.term<SuperHelices>();
  else
    beams_ = model.term<Beams>();
}

Vector6 BeamElements::strain(const State& state, int element) const {
  if (rods_) return bending(rods_->strain(state, rod_, element));
  return beams_->strain(state, first_ + element, interpolation_);
}

Vector6 BeamElements::sectionForce(const State& state, int element) const {
  if (rods_) return bending(rods_->sectionMoment(state, rod_, element));
  return beams_->sectionForce(state, first_ + element, interpolation_);
}

Vector6 BeamElements::relativeVector(const State& state, int element) const {
  if (rods_) return rods_->relativeVector(state, rod_, element);
  return beams_->relativeVector(state, first_ + element);
}

}
