#pragma once
#include "tendril/contact/contact_report.h"
#include "tendril/equations/analysis.h"
#include "tendril/io/checkpoint.h"
#include "tendril/io/summary.h"
#include "tendril/scenes/outputs.h"

#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace tendril {

/// Where the time of a run goes. The phases exclude one another; a resumed run adds to the time of the runs before it.
class PhaseClock {
 public:
  enum Phase { Reading, Building, Solving, Writing, Count };
  static constexpr std::array<const char*, Count> names{"reading", "building", "solving", "writing"};

  void enter(Phase phase);
  /// Seconds of a phase, up to now.
  double seconds(Phase phase);

  void store(Checkpoint& checkpoint);
  void load(const Checkpoint& checkpoint);

 private:
  using Clock = std::chrono::steady_clock;
  std::array<double, Count> seconds_{};
  Phase current_ = Reading;
  Clock::time_point since_ = Clock::now();
};

/// What a summary says about the contacts of all steps.
struct ContactTotals {
  double penetration = 0, residual = 0;
  double dissipation = 0; ///< energy that the contacts took
  double work = 0;        ///< of moving obstacles
  double projection = 0;  ///< energy that came by moving bodies out of overlaps
  long steps = 0, sweeps = 0, worstSweeps = 0, newtonSteps = 0, worstNewtonSteps = 0, mostContacts = 0, ambiguousSteps = 0;

  void add(const ContactReport& report);
  Summary::Contact summary() const;
  void store(Checkpoint& checkpoint) const;
  void load(const Checkpoint& checkpoint);
};

/// What a summary says about all steps together, with the memory that a resumed run needs to go on counting.
struct RunTotals {
  long step = 0;
  long iterations = 0;
  long worstIterations = 0;
  double residual = 0;
  double initialEnergy = 0;
  double work = 0;  ///< of what has no potential, by the trapezoidal rule
  double t = 0;     ///< of the last step
  double power = 0; ///< at the last step
  ContactTotals contact;
  ControlEnergy control; ///< no part of a checkpoint: the analysis tells it anew
  /// Stability of the last equilibrium: 1, 0, or -1 while unknown.
  int stable = -1;
  /// What the steps told, at most `maxNotes`; the rest is counted.
  std::vector<std::string> notes;
  long notesDropped = 0;
  static constexpr std::size_t maxNotes = 100;

  /// Of loads, drives and dampers, moving obstacles and controls.
  double totalWork() const { return work + contact.work + control.work; }
  /// What contacts have taken.
  double totalLoss() const { return contact.dissipation + control.lost; }
  void note(std::string text);
  /// Takes the initial state of an analysis that has started, and each of its steps.
  void begin(Analysis& analysis, const Model& model);
  void add(const StepReport& report, Analysis& analysis, const Model& model, bool isDynamic);
  void tellSteps(Summary& summary) const;
  void tellEnergy(Analysis& analysis, const Model& model, bool isDynamic, Summary& summary) const;
  void store(Checkpoint& checkpoint) const;
  void load(const Checkpoint& checkpoint);

 private:
  void noteStability(const StepReport& report);
};

/// The results of outputs that have observed a run.
void tellOutputs(const Outputs& outputs, Summary& summary);

}
