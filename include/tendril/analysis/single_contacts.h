#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/contact/contact_report.h"
#include "tendril/model/model.h"

#include <vector>

namespace tendril {

/// The margin of every sliding contact by itself in a system of free bodies, cheap enough for thousands of them in every step. With f the
/// generalized force of a unit normal force and g that of a unit force along the slip, both on both bodies,
///
///     A = f . M^-1 f,   T = f . M^-1 g,   bound = A / |T|:
///
/// where the coefficient of friction reaches the bound, the contact can jam or lift off by itself. Necessary for uniqueness, not
/// sufficient.
class SingleContacts {
 public:
  /// Both must outlive this.
  SingleContacts(const Model& model, const ContactModel& contacts);
  /// Bodies move freely: no joints, no elasticity that couples them.
  bool areBodiesFree() const { return areBodiesFree_; }
  /// Looks at the sliding contacts of a report at a state. Allocates nothing.
  void look(const State& state, const ContactReport& report);

  double factor() const { return factor_; } ///< by which friction may grow before some contact reaches its bound; infinite if none slides
  int worst() const { return worst_; }      ///< contact of the report; -1 if none slides
  double bound() const { return bound_; }   ///< of the worst
  int sliding() const { return sliding_; }

 private:
  double answer(const ContactRecord& contact, const Vector3& along, double& normal) const;

  const ContactModel& contacts_;
  bool areBodiesFree_ = false;
  std::vector<Matrix6> inverse_; ///< of the inertia of each block, in its frame
  const State* state_ = nullptr;
  double factor_ = 0, bound_ = 0;
  int worst_ = -1, sliding_ = 0;
};

}
