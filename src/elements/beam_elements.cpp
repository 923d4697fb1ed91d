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

BeamElements::BeamElements(const Model& model, const BeamPart& part) : part_(&part) {
  if (part.rod >= 0)
    rods_ = model.term<SuperHelices>();
  else
    beams_ = model.term<Beams>();
}

Vector6 BeamElements::strain(const State& state, int element) const {
  if (rods_) return bending(rods_->strain(state, part_->rod, element));
  return beams_->strain(state, part_->firstElement + element, part_->interpolation);
}

Vector6 BeamElements::sectionForce(const State& state, int element) const {
  if (rods_) return bending(rods_->sectionMoment(state, part_->rod, element));
  return beams_->sectionForce(state, part_->firstElement + element, part_->interpolation);
}

Vector6 BeamElements::relativeVector(const State& state, int element) const {
  if (rods_) return rods_->relativeVector(state, part_->rod, element);
  return beams_->relativeVector(state, part_->firstElement + element);
}

}
