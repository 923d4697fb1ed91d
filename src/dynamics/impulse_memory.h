#pragma once
#include "dynamics/impulse_response.h"
#include "tendril/contact/contact_report.h"
#include "tendril/equations/analysis.h"
#include "tendril/solvers/friction_solver.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// What a time-stepper keeps of its contacts from one step to the next: where the next friction problem starts.
class ImpulseMemory {
 public:
  struct Entry {
    std::uint64_t key = 0;
    Vector3 impulse = Vector3::Zero(), moment = Vector3::Zero(); ///< in the inertial frame
    double expected = 0;                                         ///< gap that the velocity at the end of the step led to expect
    double curvature = 0;                                        ///< what came on top, over the square of the time: paths are curved
    /// Friction that the spring of a compliant contact holds, in the inertial frame; of a rigid one all friction.
    Vector3 held = Vector3::Zero();
  };

  /// Of the last step; null if the contact was not there.
  Entry* find(std::uint64_t key);
  /// Of the step at hand.
  void add(const Entry& entry) { next_.push_back(entry); }
  /// The step at hand becomes the last one.
  void turnOver();
  void clear() { entries_.clear(), next_.clear(); }
  /// Impulses of the last step, as unknowns of the problem; zero where there is no contact to remember.
  void warmStart(std::span<const ContactBlock> contacts, const FrictionProblem& problem, VectorX& r);

  std::vector<double> save() const;
  void restore(const std::vector<double>& numbers);

 private:
  std::vector<Entry> entries_, next_; ///< sorted by key
};

/// Impulse (n, t, s) and moment (n, t, s) of a contact from its rows in r.
Vector6 impulseOf(const ContactBlock& contact, const Eigen::Ref<const VectorX>& r);

/// How a contact moved in a step: relative velocities before it, without the impulses, and at its end; `drift` is the share of parts in
/// prescribed motion.
struct ContactSlip {
  Vector6 before, free, after, drift;
  Vector3 yielding = Vector3::Zero(); ///< share of the velocity at the end that is not slip: e' of a compliant contact
};

/// Appends the contact to the report and adds what it dissipates and what prescribed motion does through it. `r` are its rows, among which
/// the law holds, `impulse` is what acts: they differ by cohesion.
void recordContact(const ContactBlock& contact, const ContactSlip& slip, const Eigen::Ref<const VectorX>& r, const Vector6& impulse,
                   ContactReport& report);

/// Adds what the solver did to the report.
void recordSolution(const FrictionReport& solution, std::span<const ContactBlock> contacts, const ContactDetection& detection,
                    ContactReport& report);

/// "step 7, t = 0.1: the contacts were not solved: ...", with the residual, the worst contact and what wedges.
std::string describeUnsolved(long step, double t, const FrictionResidual& residual, double tolerance, const std::string& why,
                             std::span<const ContactBlock> contacts, const ContactDetection& detection);

}
