#pragma once
#include "tendril/analysis/examination.h"
#include "tendril/analysis/single_contacts.h"
#include "tendril/equations/analysis.h"
#include "tendril/equations/compliant_contacts.h"

#include <memory>

namespace tendril {

struct SolvabilityMonitorOptions {
  /// What happens when the forces of a step are not unique or do not exist: the run goes on with what its integrator takes, or fails.
  bool stops = false;
  /// With it, the contacts at risk are given this tangential compliance, which is said, and the run goes on. Their pairs of parts keep it.
  std::optional<TangentialCompliance> compliance{};
  /// Integrators leave gaps and rates of closed contacts near zero only, so these are wider than for a state that is given.
  ModelContactOptions tolerances{.gapTolerance = 1e-4, .rateTolerance = 1e-3};
};

/// An analysis of motion that is watched: after every step the sliding contacts are examined, and loss of uniqueness or existence is
/// reported with the contact, in the note of the step. Everything else is that of the analysis within. monitor() adds the quantities of
/// SolvabilityCheck at the present state, always of rigid contacts.
///
/// With few contacts the statement is exact. Models of more than `mostExamined` velocities are too large to be examined in every step, and
/// contacts along beams are not: the margin is then that of single contacts (SingleContacts), a paradox of which is reported though
/// uniqueness is not proved.
class SolvabilityMonitor final : public Analysis {
 public:
  /// Model and contacts must outlive this. Throws InputError if contacts are to be softened that the analysis only knows as rigid.
  SolvabilityMonitor(std::unique_ptr<Analysis> watched, const Model& model, const ContactModel& contacts,
                     const SolvabilityMonitorOptions& options = {});

  void start() override;
  bool finished() const override { return watched_->finished(); }
  const StepReport& advance() override;
  const State& state() const override { return watched_->state(); }
  VectorX reactions() override { return watched_->reactions(); }
  const ContactReport* contacts() const override { return watched_->contacts(); }
  Energy energy(const Model& model) const override { return watched_->energy(model); }
  bool monitor(std::string_view name, const Marker* on, double* values) override;
  double progress() const override { return watched_->progress(); }
  Snapshot save() override { return watched_->save(); }
  void restore(const Snapshot& snapshot) override { watched_->restore(snapshot); }

 private:
  /// `friction margin` is what a watch of single contacts knows; all else is NaN there.
  static constexpr int mostExamined = 240;

  /// Contacts by their parts.
  using Pairs = std::vector<std::pair<int, int>>;
  struct Loss {
    std::string text; ///< empty: nothing is lost
    Pairs at;         ///< contacts of shapes at risk
  };

  void look();
  Loss loss() const;
  std::string react();

  std::unique_ptr<Analysis> watched_;
  CompliantContacts* compliant_; ///< the same; null if it knows rigid contacts alone
  const SolvabilityMonitorOptions options_;
  ModelContacts contacts_;
  const ContactModel& parts_;
  SingleContacts single_;
  const bool watchesSingles_;
  Examination examination_;
  StepReport step_;
  bool wasLost_ = false;
};

}
