#pragma once
#include "tendril/documents/expression.h"
#include "tendril/documents/units.h"
#include "tendril/dynamics/event_driven.h"
#include "tendril/elements/measures.h"
#include "tendril/equations/analysis.h"
#include "tendril/model/error.h"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tendril {

class ContactModel;

/// Quantities that belong to a step rather than to a state.
enum class StepQuantity {
  StepSize,     ///< [s]; in statics, of the load parameter
  Iterations,   ///< of Newton's method
  CriticalLoad, ///< statics: the first load parameter at which stability changed (limit point or bifurcation); NaN before
  EnergyBalance ///< total energy - its initial value - work of the power (trapezoidal rule over the steps), of moving obstacles and of
                ///< taking overlaps out of positions + what contacts took [J]; zero for the exact motion
};

/// Quantities that belong to the contacts of a step: of all contacts, of those of one part (a body or obstacle), or of those between two.
struct ContactQuantity {
  enum class Kind {
    Force,           ///< on the first part, inertial frame, mean over the step [N]
    Moment,          ///< of rolling and pivoting friction, likewise [N m]
    Gap,             ///< smallest distance in the present state [m]
    NormalForce,     ///< sum, mean over the step [N]
    Impulse,         ///< sum of (P_n, P_t1, P_t2), each in the frame of its contact [N s]
    Status,          ///< highest of 0 open, 1 sticking, 2 sliding
    SlipVelocity,    ///< largest of the closed contacts [m/s]
    Slip,            ///< the same times the step: largest slip in the step [m]
    GapError,        ///< largest distance or overlap of the closed contacts [m]
    TangentialForce, ///< sum of the norms, mean over the step [N]
    LineLoad,        ///< normal force per reference length of the first part, a beam, at the arclength `at`, linear between contacts [N/m]
    PeakLineLoad,    ///< largest normal force per reference length [N/m]
    Extent,          ///< smallest and largest arclength of the first part, a beam, at which there is force [m]
    Peak,            ///< arclength of the first part, a beam, at which the force per length is largest [m]
    Count,           ///< of closed contacts
    // Of the step as a whole:
    Penetration, ///< largest overlap [m]
    Residual,    ///< of the friction problem, scaled
    Sweeps,      ///< of Gauss-Seidel
    NewtonSteps, ///< of the friction solver
    Dissipation, ///< energy that the contacts have taken since the start [J]
    StepTime     ///< by the clock [s]; differs from run to run
  };
  Kind kind = Kind::Count;
  int first = -1,
      second = -1; ///< numbers of parts in the ContactModel; -1: any. Force, moment, gap and what is along a beam need the first.
  double at = 0;   ///< arclength of LineLoad [m]

  bool needsFirst() const { return kind == Kind::Force || kind == Kind::Moment || kind == Kind::Gap || isAlongBeam(); }
  bool isAlongBeam() const { return kind == Kind::LineLoad || kind == Kind::Extent || kind == Kind::Peak; }
  bool isOfPair() const { return kind <= Kind::Count; }
};

/// Times of the events of an event-driven analysis, all of a kind or of all kinds, between two parts or any. The value over the steps is
/// the number of events so far, the result the array of their times; it takes no other reduction.
struct EventQuantity {
  std::optional<ContactEvent::Kind> kind{};
  int first = -1, second = -1; ///< numbers of parts in the ContactModel; -1: any
};

/// Quantities that the analysis alone knows (Analysis::monitor), by the name of the measure.
struct MonitorQuantity {
  std::string name;
  int columns = 1;
  std::string unit = "1";
  std::string description;
  std::string frame = {};
  const Marker* on = nullptr;
};

/// How the values of an output over a run become its result, component by component. The first five look at the steps at which the
/// condition of the output holds, if it has one.
enum class Reduction {
  Last,
  First,
  Max,
  Min,
  Mean,         ///< over the steps, without the initial state
  All,          ///< the values at every step at which the condition begins to hold: an array that grows
  FirstMaximum, ///< first local extremum along the path (an end of the path is none), refined by the parabola through the three steps
                ///< around it
  FirstMinimum,
  At ///< the value where time or the load parameter first reaches T: exact if a step ends there, else cubic through the four steps about it
};

/// Along what the extrema of an output are interpolated: time (or a load parameter that only grows), or the distance that the configuration
/// has moved, where the load parameter may turn back.
enum class PathParameter { Time, Distance };

/// What an analysis of controls tells of the energy that the model does not know, up to the state it shows; zero in other analyses.
struct ControlEnergy {
  double work = 0; ///< of the controls [J]
  double lost = 0; ///< where contacts land [J]
};
ControlEnergy controlEnergy(Analysis& analysis);

/// In what units outputs are written, and what t is: a time, or in statics a pure number.
struct OutputUnits {
  UnitSystem system{};
  Dimension argument = dimension::time;
};

/// What one output measures and how it is reported.
struct OutputDefinition {
  /// Values in terms of other outputs: NAME of a scalar, NAME_x, NAME_y, NAME_z of a vector, NAME_1, NAME_2, ... of any; parameters of the
  /// scene; t, the time or load parameter of the step; h, its size. Over the steps it uses the values of the steps, for the result the
  /// results.
  struct Formula {
    std::string text;
    Location where;
    std::string key;
    std::string unit = "1";
  };
  /// Holds where the value, in the terms of a formula over the steps, is neither zero nor undefined.
  struct Condition {
    std::string text;
    Location where;
    std::string key;
  };
  /// Values of other outputs in a row: NAME of a scalar or of all numbers of an array, or a component as in formulas.
  struct Gather {
    std::vector<std::string> names;
    Location where;
    std::string key;
  };
  /// Integral of one output over another along the path, by the trapezoidal rule over the steps: the area of a loop, a work.
  struct Integral {
    std::string of, over; ///< NAME of a scalar, or a component as in formulas
    Location where;
    std::string key;
  };
  using Quantity = std::variant<Measure, StepQuantity, ContactQuantity, EventQuantity, MonitorQuantity, Formula, Gather, Integral>;
  /// One component (from 0), or the norm of all.
  struct Component {
    int index = 0;
    bool isNorm = false;
  };

  std::string name;
  Quantity quantity;
  std::string description; ///< replaces that of the measure
  std::optional<Component> component{};
  /// Subtracted from the measured value before a component is taken: a given vector, in the units of outputs, or the value at the start.
  std::vector<double> reference{};
  bool relativeToInitial = false;
  Reduction reduction = Reduction::Last;
  double at = 0; ///< in SI
  std::optional<Condition> where{};
  bool series = true; ///< also record the values over the steps
};

/// The outputs of a run. Give it the analysis after start() and after each step; ask for the current values at any time and for the results
/// at the end. All memory can be saved and restored bit for bit.
///
///     analysis->start();
///     outputs.observe(*analysis, {});
///     while (!analysis->finished()) outputs.observe(*analysis, analysis->advance());
///
/// Results that do not exist (an extremum that did not occur, a time not reached, a condition that never held) are NaN and explained by
/// messages().
class Outputs {
 public:
  struct Info {
    std::string name, unit, description, frame;
    int columns = 1;
    bool series = true;   ///< wanted in the results file, not only in the summary
    bool isArray = false; ///< the result is an array even if it has one element
    bool grows = false;   ///< the result has as many elements as were found
  };

  /// The models must outlive the outputs; that of contacts is needed for gaps alone. The parameters are what formulas may use beside
  /// outputs; throws InputError for cyclic or dangling names, for components and references that the measure does not have.
  Outputs(const Model& model, std::vector<OutputDefinition> definitions, const Scope& parameters, PathParameter path = PathParameter::Time,
          OutputUnits units = {}, const ContactModel* contacts = nullptr);
  Outputs(Outputs&&) noexcept;
  Outputs& operator=(Outputs&&) noexcept;
  ~Outputs();

  int size() const;
  const std::vector<Info>& infos() const;
  /// Takes the values of the step. Allocates nothing unless formulas or multipliers of redundant joints are asked for.
  void observe(Analysis& analysis, const StepReport& report);

  /// Current values of output i, and its result so far; valid until the next observe().
  std::span<const double> row(int i) const;
  std::span<const double> result(int i) const;
  /// Whether the result is written as an array (vectors) or as a number.
  bool isArray(int i) const { return infos()[i].columns > 1 || infos()[i].isArray; }
  /// Why results are missing.
  std::vector<std::string> messages() const;

  /// Entries are named "outputs/...".
  void save(Snapshot& snapshot) const;
  void restore(const Snapshot& snapshot);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

}
