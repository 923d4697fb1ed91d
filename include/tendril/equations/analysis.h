#pragma once
#include "tendril/contact/contact_report.h"
#include "tendril/model/model.h"
#include "tendril/solvers/sparse_ldlt.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tendril {

/// What one accepted step of an analysis says of itself.
struct StepReport {
  long step = 0;      ///< number of the step, from 1; 0 is the initial state
  double t = 0;       ///< time or load parameter reached
  double h = 0;       ///< size of the step
  int iterations = 0; ///< of Newton's method, over all attempts at this step
  int factorisations = 0;
  int cuts = 0;        ///< attempts that failed before this size of step succeeded
  double residual = 0; ///< largest residual, relative to its threshold (at most 1)
  /// Statics: signs of the tangent on the constraint manifold. Stable when none is negative or zero.
  std::optional<Inertia> tangent;
  /// Statics: the load parameter within this step at which the number of negative signs changed (a limit point or a bifurcation).
  std::optional<double> critical;
  bool stable() const { return tangent && tangent->negative == 0 && tangent->zero == 0; }
  std::string note; ///< a limit point passed, redundancy found anew, ...
};

/// Numbers from which an analysis goes on exactly as if it had never stopped.
using Snapshot = std::map<std::string, std::vector<double>>;

/// A computation that advances a state step by step. Whoever drives it decides what to record between steps, when to save, and when to
/// stop; every analysis can therefore be watched, interrupted and resumed in the same way.
class Analysis {
 public:
  virtual ~Analysis() = default;

  /// Brings the initial state into agreement with the constraints. Called once, before the first advance(), unless restore() is.
  virtual void start() = 0;
  virtual bool finished() const = 0;
  /// One step. Throws NumericalFailure, with the last accepted state still in place.
  virtual const StepReport& advance() = 0;
  virtual const State& state() const = 0;
  /// Multipliers for reactions: those of the state or, where joints are redundant, the ones of least norm with the same effect.
  virtual VectorX reactions() = 0;
  /// The contacts of the last step; null where the analysis knows none.
  virtual const ContactReport* contacts() const { return nullptr; }
  /// Energies of the state in the sense of the analysis: those of the model, unless its coordinates make other elements of the same beams.
  virtual Energy energy(const Model& model) const { return model.energy(state()); }
  /// A quantity that the analysis alone knows of the state it shows (energies and momenta of a discrete path, condition numbers), by the
  /// name that scenes use; `on` is the marker it is of, if any. False, and nothing written, if it does not know it.
  virtual bool monitor(std::string_view /*name*/, const Marker* /*on*/, double* /*values*/) { return false; }
  /// Share of the whole that is done, 0 to 1.
  virtual double progress() const = 0;
  /// Saves what restore() needs, and forgets everything that would make the continued run differ from a restored one (factorisations).
  virtual Snapshot save() = 0;
  virtual void restore(const Snapshot& snapshot) = 0;
  /// Asked within steps that take long: once true, the step is given up and Interrupted thrown, with the last accepted state in place.
  void stopWhen(std::function<bool()> asked) { stop_ = std::move(asked); }
  /// What the start found worth telling: redundant constraints, projected initial values.
  const std::vector<std::string>& messages() const { return messages_; }

 protected:
  bool isStopAsked() const { return stop_ && stop_(); }
  std::vector<std::string> messages_;

 private:
  std::function<bool()> stop_;
};

/// A state as named arrays, for snapshots.
void store(const State& state, Snapshot& snapshot);
void load(const Snapshot& snapshot, State& state);

}
