#pragma once
#include "tendril/contact/contact_model.h"
#include "tendril/equations/analysis.h"

#include <memory>
#include <string>
#include <vector>

namespace tendril {

class Model;

struct EventDrivenOptions {
  double duration = 1;      ///< [s]
  double step = 1e-2;       ///< [s] between outputs; the integrator chooses its own steps within
  double tolerance = 1e-10; ///< to which the times of events are located, relative to the time in which a motion changes
  long maxEvents = 100000;
  bool projectInitial = false; ///< accept overlap at the start and take it out by moving the bodies apart
};

/// What changed between two stretches of smooth motion.
struct ContactEvent {
  enum class Kind {
    Impact,
    Accumulation, ///< infinitely many impacts that end at `time`: the contact is closed from there on
    Detachment,   ///< the normal force fell to zero
    Stick,        ///< the slip came to rest
    Slip,         ///< the tangential force reached its bound
    Reversal,     ///< the slip came to rest and goes on against its direction
    Jam           ///< impact without collision: no acceleration agrees with Coulomb's law (Painleve)
  };
  double time = 0;
  Kind kind = Kind::Impact;
  int first = 0, second = 0; ///< parts of the contact model
  double speed = 0;          ///< of approach before an impact, of rebound at an accumulation [m/s]
};

const char* toString(ContactEvent::Kind kind);

/// Motion of a few rigid bodies with contacts, from event to event: between events every closed contact sticks or slides, and accelerations
/// and contact forces solve
///
///     A a = F + H^T P,   a_n = 0 for closed contacts;   stick: a_t = 0;   slip: P_t = -mu P_n u_t / |u_t|,      (dynamics.6)
///
/// which is integrated by the method of Dormand & Prince of order 5(4) in the poses of the centres of mass. Impacts (by the same law as in
/// Moreau's scheme), detachment (P_n -> 0), the end of slip (u_t -> 0) and its begin (|P_t| -> mu P_n) are found on the dense output and
/// located by root finding on the method itself. At an event all that touches is decided anew: impacts by the friction problem in
/// velocities; then the complementarity problem in accelerations,
///
///     0 <= a_n  _|_  P_n >= 0 with Coulomb's law between P_t and a_t where a contact is at rest, P_t known from P_n where it slides.
///
/// After every step gaps of closed contacts, their normal velocities and the slip of those that stick are projected to zero. The
/// distribution of forces in hyperstatic contacts, which rigid bodies leave open, is that of least norm where the laws admit it, and
/// changes as little as possible between events.
///
/// Impacts that accumulate (Zeno) end once the speed of rebound is below 1e-6 of the largest impact of that contact: it is then closed, and
/// the event carries the limit of the geometric series. Where sliding contacts allow several or no accelerations (Painleve), the report's
/// note says so; without solution the limit of a small step is taken, an impact without collision.
///
/// It is an oracle for time-stepping, exact for few contacts; piles are for Moreau. Accepted are models whose blocks are all free rigid
/// bodies, moved by forces of any kind, with friction and restitution; joints, beams, rolling and pivoting friction and cohesion are
/// refused (InputError). NumericalFailure, with time and contact: events that accumulate otherwise, no solution at an event, bodies that
/// pass beyond what the shapes can tell.
class EventDriven final : public Analysis {
 public:
  /// Model and contacts must outlive the analysis.
  EventDriven(const Model& model, const ContactModel& contacts, const EventDrivenOptions& options);
  ~EventDriven() override;

  void start() override;
  bool finished() const override;
  /// To the next time of output.
  const StepReport& advance() override;
  const State& state() const override;
  VectorX reactions() override;
  const ContactReport* contacts() const override;
  double progress() const override;
  Snapshot save() override;
  void restore(const Snapshot& snapshot) override;

  /// All events so far, in the order of time.
  const std::vector<ContactEvent>& events() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
