#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/contact/contact_report.h"
#include "tendril/model/model.h"

#include <memory>

namespace tendril {

/// The margin of every sliding contact by itself, of bodies and along beams, cheap enough for thousands of them in every step. With f the
/// generalized force of a unit normal force and g that of a unit force along the slip, both on both parts,
///
///     A = f . W f,   T = f . W g,   bound = A / T:
///
/// where the coefficient of friction reaches the bound, the contact can jam or lift off by itself. Necessary for uniqueness, not
/// sufficient. W, the accelerations per force that inertia and joints admit, is [M -G^T; -G 0]^-1 of what inertia and joints couple: one
/// small matrix for every free body or fibre, factorised only where something slides.
class SingleContacts {
 public:
  /// Both must outlive this.
  SingleContacts(const Model& model, const ContactModel& contacts);
  ~SingleContacts();
  /// Every motion has inertia and joints are not redundant: else W is not known, and nothing slides as far as this can tell.
  bool isWatchable() const;
  /// Looks at the sliding contacts of a report at a state. Allocates nothing where all bodies are free.
  void look(const State& state, const ContactReport& report);

  double factor() const { return factor_; } ///< by which friction may grow before some contact reaches its bound; infinite if none slides
  int worst() const { return worst_; }      ///< contact of the report; -1 if none slides
  double bound() const { return bound_; }   ///< of the worst
  int sliding() const { return sliding_; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  double factor_ = 0, bound_ = 0;
  int worst_ = -1, sliding_ = 0;
};

}
