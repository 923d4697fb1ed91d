#include "tendril/contact/contact_motion.h"

#include "tendril/model/marker.h"
#include "tendril/model/model.h"

#include <algorithm>

namespace tendril {

ContactMotion::ContactMotion(const Model& model, const ContactModel& parts) : model_(model), parts_(parts) {
  for (const ContactModel::Part& part : parts.parts()) {
    double farthest = 0;
    for (const CollisionShape& shape : part.shapes) {
      if (!shape.isBounded()) continue;
      const Bounds b = shape.bounds({});
      farthest = std::max(farthest, b.low.cwiseAbs().cwiseMax(b.high.cwiseAbs()).norm());
    }
    radius_.push_back(farthest);
    if (part.curve) sectionRadius_ = std::max(sectionRadius_, part.curve->radius);
  }
}

double ContactMotion::farthest(const State& from, const State& to) const {
  double farthest = 0;
  const auto compare = [&](const Pose& a, const Pose& b, double r) {
    farthest = std::max(farthest, (b.x - a.x).norm() + r * (b.R - a.R).norm());
  };
  for (const Block& b : model_.blocks()) {
    if (b.kind == Block::Kind::Pose) compare(loadPose(from.q.data() + b.q), loadPose(to.q.data() + b.q), sectionRadius_);
  }
  for (std::size_t p = 0; p < radius_.size(); ++p) {
    if (const Marker* marker = parts_.parts()[p].marker) compare(marker->frame(from), marker->frame(to), radius_[p]);
  }
  return farthest;
}

}
