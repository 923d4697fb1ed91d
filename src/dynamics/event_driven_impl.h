#pragma once
#include "dynamics/event_driven_bodies.h"
#include "dynamics/event_driven_contacts.h"
#include "dynamics/event_driven_integrator.h"
#include "tendril/dynamics/event_driven.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tendril {

/// A quantity that became negative between two times of a step.
struct Crossing {
  enum class Watch { Gap, NormalForce, Cone, Slip };

  Watch watch = Watch::Gap;
  std::uint64_t key = 0;
  double low = 0, high = 0; ///< since the begin of the step
};

/// The work of EventDriven; every group of functions has a source of its own. The motion is `y` at the time `t`; `work` is the state that
/// was last looked at, `a` its accelerations, and `closed` holds the contacts and the forces in them there.
struct EventDriven::Impl {
  using Kind = ContactEvent::Kind;
  using Mode = ClosedContact::Mode;
  using Watch = Crossing::Watch;

  /// Lengths are relative to the smallest shape, speeds to the fastest motion so far, forces to those that hold the contacts.
  static constexpr double touching = 1e-12;
  static constexpr double noise = 1e-13;      ///< of gaps
  static constexpr double around = 0.1;       ///< gaps up to this are watched
  static constexpr double atRest = 1e-9;      ///< slip that passes zero this close has come to rest
  static constexpr double nearlyStill = 1e-7; ///< slip left by a jump that held a contact
  static constexpr double young = 1e-6;       ///< slip that begins follows the acceleration up to this
  static constexpr double negligibleForce = 1e-9;
  static constexpr int maxPasses = 100; ///< impacts at one instant

  /// What a contact did during the step of output.
  struct Account {
    Vector3 impulse = Vector3::Zero(); ///< inertial frame
  };
  /// An open contact, at the state last looked at.
  struct Near {
    std::uint64_t key;
    double gap, rate;
  };

  Impl(const Model& model_, const ContactModel& contacts, const EventDrivenOptions& options_);

  // ---- start, snapshots: event_driven.cpp -----------------------------------------------------------------------------------------------
  void start(std::vector<std::string>& told);
  void takeOverlapsOut(std::vector<std::string>& told);
  void restoreClosed(const std::vector<double>& numbers);
  /// Pairs that may meet nearby, at the state `at`.
  void findPairsAround(const State& at);

  // ---- smooth motion: event_driven_smooth.cpp -------------------------------------------------------------------------------------------
  /// Smooth motion and events up to a time of output.
  void advanceTo(double end);
  /// Speeds by which others are judged: of the fastest body so far, or what the forces bring about within the smallest shape.
  void setScales();
  void beginStep();
  /// The longest step within the error; leaves its end in yEnd.
  double takeStep(double rest);
  void takeEvent(const Crossing& crossing, double shortest);
  /// Impulses by Simpson's rule; the step that ends here was the last one of the integrator.
  void accept(double h, const VectorX& end);
  void account(double weight);
  /// Holds closed contacts where they are: gaps, normal velocities, and the slip of those that stick.
  void project();
  /// Contact forces and accelerations at a state. False if some contact is lost there.
  bool look(double time, const VectorX& numbers);
  void slope(double time, const VectorX& numbers, VectorX& dy);

  // ---- finding events and their times: event_driven_location.cpp ------------------------------------------------------------------------
  /// The first quantity that turns negative within the step.
  std::optional<Crossing> findCrossing(double h);
  void findReach(double h);
  /// Positive as long as a contact slides as it did at the begin of the step: slip along its direction there; of young slip what it can
  /// grow yet.
  double slipLeft(const ClosedContact& c) const;
  void watchClosed(double at, double from, std::vector<Crossing>& found);
  /// Gaps at the state last looked at; where one was approaching and now is leaving, its least value in between is looked at too.
  void watchGaps(double at, double h, double from, std::vector<Crossing>& found);
  /// The quantity at a time since the begin of the step, by the method itself; negative where it cannot be told.
  double value(const Crossing& crossing, double h);
  double locate(const Crossing& crossing);

  // ---- what an event changes, and the modes of contacts after it: event_driven_modes.cpp ------------------------------------------------
  void handle(const Crossing& crossing);
  /// Takes what is left of slip that has come to rest to zero.
  void stopSlip();
  /// The features of a contact no longer meet (a corner left an edge): what touches is looked for anew.
  void dropLost();
  /// Everything that touches is decided anew: first impacts, then what stays closed and how. `opened` leaves, `slipping` starts to slide,
  /// `stopped` came to rest.
  void decide(std::uint64_t opened = 0, std::uint64_t slipping = 0, std::uint64_t stopped = 0);
  /// False if no accelerations agree with the laws.
  bool chooseClosed(std::uint64_t opened, std::uint64_t slipping, std::uint64_t stopped);
  /// What touches without leaving, with the forces and directions it had before.
  void gatherClosed(const std::vector<ClosedContact>& before, std::uint64_t opened);
  /// The mode that the velocity of a contact gives it; `released` are those that may do anything.
  void presetMode(ClosedContact& c, std::uint64_t slipping, const std::vector<std::uint64_t>& released) const;
  /// Adds to `released` what is at its bound without slip and would be pushed back. False if there is nothing.
  bool releasePushedBack(std::uint64_t slipping, std::vector<std::uint64_t>& released) const;

  // ---- jumps of velocity: event_driven_impacts.cpp --------------------------------------------------------------------------------------
  /// Impacts of all that touches and approaches, in one problem with what touches already. False if nothing does.
  bool hit();
  /// The friction problem of the contacts in `blocks` for impulses, solved and applied.
  const FrictionReport& solveImpulses(const VectorX& q);
  /// What wedges a body, as the end of a message; empty if nothing does.
  std::string wedge() const;
  /// The limit of the times of impact: T = 2 v / (|a| (1 - e)) from the last rebound at speed v, a the acceleration while it is open.
  void noteAccumulation(const ClosedContact& c);
  /// Without accelerations that agree with the laws the velocities jump: the limit of a step of vanishing length.
  void jam();
  /// The velocities at the end of a step so short that only the jump remains, as q of the friction problem.
  VectorX velocitiesOfVanishingStep();
  /// Keeps closed the contacts whose impulses held them. False if none of them is one that jammed.
  bool keepHeld();

  // ---- what is told: event_driven_report.cpp --------------------------------------------------------------------------------------------
  /// What the laws leave open, once per step and contact.
  void addNote();
  void addEvent(Kind kind, const Contact& contact, double speed);
  void beginReport();
  void fillReport(double step, double seconds);
  ContactRecord record(const Contact& contact, const ClosedContact* c, const Account* account);
  [[noreturn]] void fail(const std::string& why) const;

  const Model& model;
  EventDrivenOptions options;
  BodyMotion motion;
  ContactDetection detection;
  ImpulseResponse response;
  ClosedContacts closed;
  FrictionSolver solver;
  FrictionProblem problem;
  std::vector<ContactBlock> blocks;
  VectorX impulses, noMultipliers;
  std::optional<DormandPrince> integrator;

  double begin = 0, t = 0, nextStep = 0, size = 1, speedScale = 0;
  VectorX y, yEnd, yLook, a;
  State state, work;
  bool isLost = false;
  std::vector<double> reach; ///< of the parts, within which pairs are found
  std::vector<Near> near, nearBefore;
  std::map<std::uint64_t, double> largestImpact;
  std::map<std::uint64_t, Account> accounts;
  std::vector<ContactEvent> events;
  ContactReport contactReport;
  StepReport report;
  long stuckEvents = 0, attempts = 0;
};

}
