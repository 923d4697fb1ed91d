#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/model/state.h"

#include <vector>

namespace tendril {

class Model;

/// How far what may touch moves: up to which distance contacts have to be looked for in a step. Rigid parts count with their farthest
/// point, also those in prescribed motion, sections of curves with their surface.
class ContactMotion {
 public:
  /// Both must outlive this.
  ContactMotion(const Model& model, const ContactModel& parts);
  /// Bound of the displacement of any point between two states [m].
  double farthest(const State& from, const State& to) const;

 private:
  const Model& model_;
  const ContactModel& parts_;
  std::vector<double> radius_; ///< of the rigid parts about their frames
  double sectionRadius_ = 0;   ///< largest one of curves
};

}
