#pragma once
#include "tendril/contact/contact_motion.h"
#include "tendril/contact/contact_report.h"
#include "tendril/equations/contact_memory.h"
#include "tendril/equations/contact_newton.h"

#include <optional>

namespace tendril {

/// Equilibrium with contact at a fixed load parameter: f(q, t) - G^T lambda - B(q)^T F = 0, g(q, t) = 0, the laws of contact in gaps and in
/// slips since the last equilibrium. Friction remembers nothing else of the path.
class ContactEquilibrium final : public ContactProblem {
 public:
  /// All but the options must outlive this; the state is that of the iterates.
  ContactEquilibrium(KktSystem& kkt, State& state, const ContactModel& parts, ContactConstraints& contacts,
                     const ContactNewtonOptions& options, double gapTolerance);

  /// Solves from the present state; `accepted` is the last equilibrium. Contacts are looked for as far as the structure moves.
  const ContactNewtonReport& solve(const State& accepted);
  /// The forces found are those from which the next step starts.
  void accept();
  void report(ContactReport& report) const;

  /// Also forgets what the solver has learnt, which a restored run does not know.
  std::vector<double> save();
  void restore(std::span<const double> saved);

  KktSystem& kkt() override { return kkt_; }
  bool evaluate() override;
  const State& state() const override { return state_; }
  std::span<const ContactConstraint> constraints() const override { return contacts_.constraints(); }
  std::span<const GradientEntry> gradient(const ContactConstraint& c) const override { return contacts_.gradient(c); }
  void stiffness(const Eigen::Matrix3Xd& forces, std::vector<StiffnessBlock>& blocks) const override {
    contacts_.stiffness(forces, blocks);
  }
  double gapTolerance() const override;
  double longestFactor(const VectorX& delta) const override;
  void applyStep(const VectorX& delta, const VectorX& deltaLambda, double factor) override;
  void restart() override;
  std::string describe(const ContactConstraint& c) const override { return contacts_.describe(c); }

 private:
  KktSystem& kkt_;
  State& state_;
  ContactConstraints& contacts_;
  ContactMotion motion_;
  ContactNewtonOptions options_;
  std::optional<ContactNewton> newton_;
  ContactMemory memory_;
  Eigen::Matrix3Xd F_;
  State first_;
  VectorX q_, scaled_;
  double gapTolerance_; ///< in the size of what touches
  double reach_;
  double residual_ = 0;
};

}
