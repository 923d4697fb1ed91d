#include "tendril/elements/beam_elements.h"

#include "tendril/elements/super_helix.h"
#include "tendril/model/error.h"

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
  const bool isMeshed = part.elements() >= 1 && arclength_.size() == part.nodes.size();
  const bool isThere = rods_ ? rod_ < rods_->size() : beams_ && first_ >= 0 && first_ + part.elements() <= beams_->elements();
  if (!isMeshed || !isThere) throw InputError("the beam '" + part.name + "' is none of this model");
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
