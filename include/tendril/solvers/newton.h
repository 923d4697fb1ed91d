#pragma once
#include <span>
#include <string>
#include <vector>

namespace tendril {

/// One kind of residual with its own unit: force, moment, constraint length, constraint angle, ...
///
/// It passes when it is small in one of two senses,
///
///     value <= relativeTolerance * reference   or   value <= absoluteTolerance
///
/// with `reference` the size of the terms that cancel in the residual, e.g. the mean norm of the unassembled element residuals.
struct ResidualGroup {
  const char* name = "";
  double value = 0;
  double reference = 0;
  double relativeTolerance = 1e-7;
  double absoluteTolerance = 0;
  /// What rounding alone makes of this residual, e.g. 4 eps times the sum of the magnitudes of its terms; 0 if not known.
  double roundOff = 0;

  /// The value that just passes. If it is 0, only 0 passes, and the merit takes the value as it is.
  double threshold() const;
  bool passes() const { return value <= threshold(); }
};

/// What Newton's method needs to know of a nonlinear problem r(x) = 0 with a state x that may live on a manifold.
/// The problem holds state, residual, tangent and step; the iteration holds none of them. Nothing here may allocate but the descriptions.
class NewtonProblem {
 public:
  virtual ~NewtonProblem() = default;

  virtual int groupCount() const = 0;
  /// Evaluates the residual at the current state and measures it. Every field of every group is set. False if the residual does not exist
  /// at this state (an inverted element, a rotation beyond the chart): the step is then shortened. A NaN ends the iteration instead.
  virtual bool evaluate(std::span<ResidualGroup> groups) = 0;
  /// Builds and factorises the tangent at the current state. False if it is singular.
  virtual bool factorise() = 0;
  /// Computes the step -T^-1 r from the last factorisation and the last evaluated residual. False if the step is not finite.
  virtual bool solve() = 0;
  /// Largest factor of the step just computed that the problem allows, e.g. so that no node turns by more than a given angle.
  virtual double longestFactor() { return 1; }
  /// Moves the current state by factor times the step.
  virtual void applyStep(double factor) = 0;
  /// Returns to the state before the last applyStep().
  virtual void undoStep() = 0;

  /// Where the last evaluated residual is largest, e.g. "force on node 12 of beam 'mast'".
  virtual std::string describeWorst() const = 0;
  /// Why the tangent is singular, as far as known.
  virtual std::string describeSingular() const { return {}; }
};

struct NewtonOptions {
  int maxIterations = 50;
  /// Steps taken even if the first residual passes.
  int minIterations = 0;

  /// Backtracking on the merit theta = sqrt(sum_g (value_g / threshold_g)^2): a factor is accepted when
  ///     theta(factor) <= (1 - sufficientDecrease * factor) * allowedGrowth * max of theta over the last `window` iterates   (solvers.1).
  /// Slender structures raise the residual in a good first step (bending turns into stretch): give them a large allowedGrowth or no line
  /// search.
  bool lineSearch = true;
  double sufficientDecrease = 1e-4;
  int window = 1;
  double allowedGrowth = 1;
  double shortestFactor = 1e-6;

  /// Modified Newton: the factorisation is kept while theta falls at least by this factor per step, or enough to pass in the next one
  /// (0: a new factorisation in each iteration).
  /// A step with a kept factorisation that raises theta is undone and repeated with a new one.
  double reuseContraction = 0;
  /// The problem enters with a factorisation worth trying, e.g. of the last time step.
  bool startFromHeld = false;

  /// Stagnated when the best theta of the last so many iterates is no better than the best of as many before them.
  int patience = 12;
  /// Diverged when theta exceeds this times the larger of 1 and its first value.
  double divergence = 1e12;
};

struct NewtonReport {
  enum class Outcome { Converged, MaxIterations, Stagnated, NotFinite, SingularTangent, Diverged };

  struct Iterate {
    double merit = 0;        ///< theta with the thresholds at this iterate
    double factor = 0;       ///< of the step that led here; 0 for the start
    bool factorised = false; ///< the step that led here used a new tangent
  };

  Outcome outcome = Outcome::MaxIterations;
  int iterations = 0;
  int factorisations = 0;
  int evaluations = 0;
  /// Converged because nothing but rounding is left: a group passes only by its round-off.
  bool atRoundOff = false;
  /// One entry per iterate, the start first: iterations + 1 in all.
  std::vector<Iterate> history;
  /// Groups at the final state.
  std::vector<ResidualGroup> groups;
  /// Empty on success; else what happened, where, and what to do.
  std::string message;

  bool converged() const { return outcome == Outcome::Converged; }
  /// Largest residual at the final state, relative to what its group may have (its threshold or, at round-off, that): at most 1 if
  /// converged.
  double residual() const;
};

const char* name(NewtonReport::Outcome outcome);

/// Newton's method with a bounded step, backtracking and reuse of the tangent.
///
/// Ends in Converged or a named failure; the state is then the last one with a finite residual, and `groups` belongs to it. All memory is
/// taken at construction and at the first solve() with more groups than before; iterating allocates nothing, only a failure's message does.
class Newton {
 public:
  explicit Newton(const NewtonOptions& options = {});
  const NewtonOptions& options() const { return options_; }
  /// Takes the memory for so many groups beforehand.
  void reserve(int groups);
  /// The report lives until the next call.
  const NewtonReport& solve(NewtonProblem& problem);
  const NewtonReport& report() const { return report_; }

 private:
  enum class Trial { Accepted, Rejected, NotFinite };

  bool evaluate(NewtonProblem& problem);
  bool step(NewtonProblem& problem);
  Trial search(NewtonProblem& problem, bool fresh);
  void accept(double factor, bool fresh);
  bool converged();
  bool negligible() const;
  bool stagnates() const;
  double merit(const ResidualGroup* measured) const;
  double referenceMerit() const;
  bool fail(const NewtonProblem& problem, NewtonReport::Outcome outcome);

  NewtonOptions options_;
  NewtonReport report_;
  std::vector<ResidualGroup> recent_; ///< groups of the last `window` accepted iterates, a ring
  int newest_ = 0, remembered_ = 0;
  double contraction_ = 0;
  bool held_ = false;
};

}
