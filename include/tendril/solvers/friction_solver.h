#pragma once
#include "tendril/solvers/friction_problem.h"

#include <memory>
#include <string>
#include <vector>

namespace tendril {

/// Automatic is the cascade; the others are its members, each on its own:
///
/// GaussSeidel       every contact in turn is solved exactly (Jean & Moreau 1992). Cheap, slow in stacks, may cycle.
/// SemismoothNewton  Newton's method on the map of Alart & Curnier (1991), with sweeps where it does not descend.
/// ProximalNewton    the same with a pull towards the present impulses, raised where a step fails and lowered where it succeeds, every step
///                   smoothed by a few sweeps. W may be singular. The workhorse.
/// Admm              multipliers with alternating directions; few factorisations, linear convergence.
/// InteriorPoint     primal-dual on the cones; finds its way from anywhere, ends by Newton steps.
///
/// Automatic sweeps, on bodies with momentum and with regularised Newton steps between, goes on by ProximalNewton, and where that stalls
/// follows the central path of the law from far away (InteriorPoint for laws with several discs), then Admm.
enum class FrictionMethod { Automatic, GaussSeidel, SemismoothNewton, ProximalNewton, Admm, InteriorPoint };

struct FrictionOptions {
  FrictionMethod method = FrictionMethod::Automatic;
  double tolerance = 1e-8; ///< of the residual, see `measure`
  /// Which residual must pass: that of published comparisons, the one without units, or both.
  enum class Measure { Published, Scaled, Both } measure = Measure::Both;
  /// Of the method's outer loop (sweeps, Newton, ADMM or interior-point steps; for Automatic, of each of its attempts); 0: a limit that it
  /// chooses itself.
  long maxIterations = 0;
  int threads = 1; ///< islands of contacts are solved side by side; the result does not depend on this
  /// Once the residual passes, go on by Newton steps on the set of sticking and sliding contacts found, down to round-off where that is
  /// cheap: what sticks then does not move at all.
  bool polish = true;
};

/// What a solver did and how well it ended.
struct FrictionReport {
  bool converged = false;
  FrictionResidual residual;
  std::string method; ///< what the cascade used, in the order of use: "12 sweeps of Gauss-Seidel, 3 Newton steps"
  long sweeps = 0;
  long newtonSteps = 0;
  long factorisations = 0;
  int islands = 0;
  double seconds = 0;
  /// Contacts whose own block allows several solutions or none: W_nn < mu |W_nt| in some direction of sliding (Painleve).
  std::vector<int> ambiguous;
  std::string failure; ///< why it did not converge, with contact and residual; empty if it did
};

/// Solves discrete friction problems. Keeps its memory between calls: a sequence of problems of like size allocates nothing.
class FrictionSolver {
 public:
  FrictionSolver();
  ~FrictionSolver();
  FrictionSolver(FrictionSolver&&) noexcept;
  FrictionSolver& operator=(FrictionSolver&&) noexcept;

  /// r on entry: where to start (zero, or the impulses of the last step); on return: the best impulses found, also without convergence.
  const FrictionReport& solve(const FrictionProblem& problem, const FrictionOptions& options, Eigen::VectorXd& r);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
