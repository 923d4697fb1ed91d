#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tendril/solvers/nonlinear_program.h"

namespace tendril {

struct InteriorPointOptions {
  /// Converged when stationarity, violation and complementarity are below this, in the scaled program.
  double tolerance = 1e-9;
  /// What counts as a solution when no further progress is possible.
  double acceptableTolerance = 1e-6;
  int maxIterations = 1000;
  /// At most so many further steps from a strict minimum, as long as each makes the residuals smaller: digits for those who amplify them.
  int polishingSteps = 0;
  /// Barrier parameter at the start, in units of the scaled objective. A warm start brings its own.
  double initialBarrier = 0.1;
  /// Unbounded when the scaled objective falls below minus this where the constraints are met.
  double unboundedObjective = 1e15;
};

struct InteriorPointReport {
  enum class Status {
    Converged,         ///< a point that meets the first-order conditions; see strictMinimum
    Acceptable,        ///< as far as rounding lets it come: within acceptableTolerance
    LocallyInfeasible, ///< the violation of the constraints has a minimum here that is not zero
    Unbounded,         ///< the objective falls without end along feasible points
    MaxIterations,
    Stalled,   ///< no acceptable step, though neither solved nor infeasible: wrong derivatives, or constraints without a regular point
    NotFinite, ///< functions or derivatives do not exist at the start
    Interrupted
  };
  struct Iterate {
    double objective = 0;
    double stationarity = 0, violation = 0, complementarity = 0; ///< of the scaled program
    double barrier = 0;
    double regularisation = 0; ///< added to the Hessian for the step that led here
    double factor = 0;         ///< of that step
    bool restoration = false;  ///< that step reduced the violation alone
  };
  struct Violation {
    std::string row;
    double amount = 0;
  };

  Status status = Status::NotFinite;
  int iterations = 0;
  int restorationIterations = 0; ///< of those
  double objective = 0;
  /// In the scaled program; violation is also given in the units of the rows.
  double stationarity = 0, violation = 0, complementarity = 0, worstViolation = 0;
  double barrier = 0;
  /// Converged, and the Hessian of the Lagrangian is positive along the constraints. Where not, the point may be a saddle (if the start was
  /// one) or one of a continuum of minima.
  bool strictMinimum = false;
  ProgramMultipliers multipliers;
  /// The rows that are violated most, in their own units, where that is above the tolerance.
  std::vector<Violation> worst;
  int evaluations = 0, differentiations = 0, factorisations = 0;
  double evaluationTime = 0, differentiationTime = 0, factorisationTime = 0, solutionTime = 0, totalTime = 0; ///< seconds
  /// One entry per iterate, the start first.
  std::vector<Iterate> history;
  /// Empty on success; else what happened, where, and what to do.
  std::string message;

  bool converged() const { return status == Status::Converged; }
};

const char* name(InteriorPointReport::Status status);

/// Where to start apart from the point: the solution of a neighbouring program, as a report gives it.
struct WarmStart {
  ProgramMultipliers multipliers;
  double barrier = 1e-6;
};

/// Primal-dual interior-point method with a filter line search (Waechter & Biegler 2006), for programs on manifolds with exact second
/// derivatives.
///
///     min f(x) - mu sum ln(s - lower) - mu sum ln(upper - s)  subject to  c(x) = 0,  d(x) - s = 0,    mu -> 0     (solvers.7)
///
/// Each iteration takes one Newton step of the first-order conditions; the matrix is factorised stage by stage (StagedLdlt), and where its
/// inertia shows that the step need not descend, the Hessian is shifted. A step is accepted when it reduces the violation or the barrier
/// function by enough, against a filter of what was reached before; second-order corrections keep full steps near curved constraints.
/// Where no step is acceptable, the violation alone is minimised by a damped Newton method with exact second derivatives, until the filter
/// accepts the point or the violation has a positive minimum. Without inequalities there is no barrier: the method is sequential quadratic
/// programming and converges quadratically.
///
/// On return the program stands at the solution or, after a failure, at the best iterate: the one with the least violation, or with the
/// smallest residual among those that violate no more than the acceptable tolerance. Iterating allocates nothing but where the method turns
/// to the violation alone. Throws std::invalid_argument if the structure contradicts itself.
class InteriorPoint {
 public:
  using Watch = std::function<bool(const InteriorPointReport::Iterate&)>;

  explicit InteriorPoint(const InteriorPointOptions& options = {});
  ~InteriorPoint();
  InteriorPoint(InteriorPoint&&) noexcept;
  InteriorPoint& operator=(InteriorPoint&&) noexcept;

  /// Called after every iteration; false interrupts.
  void watch(Watch watch);
  /// Starts at the program's point. The report lives until the next call.
  const InteriorPointReport& solve(NonlinearProgram& program, const WarmStart* warmStart = nullptr);
  const InteriorPointReport& report() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
