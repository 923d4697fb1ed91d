#pragma once
#include "friction_newton.h"
#include "friction_sweeps.h"

#include <string>

namespace tendril {

/// The point at which a solver stops: residuals of one island, in the units of the problem.
struct FrictionGoal {
  FrictionOptions::Measure measure = FrictionOptions::Measure::Both;
  double threshold = 0; ///< tolerance x |q| x the island's share

  /// The residual over the threshold: at most 1 where the goal is reached.
  double ratio(const FrictionSystem::Squares& squares) const;
};

/// Impulses with all that belongs to them.
struct FrictionIterate {
  Eigen::VectorXd r, w, u;
  double ratio = std::numeric_limits<double>::infinity();
};

/// One island of contacts and its solvers; the memory is kept between problems.
class FrictionIsland {
 public:
  void load(const FrictionProblem& problem, const std::vector<int>& contacts);
  /// Solves from the impulses in `r` (of the problem) and leaves the best ones there.
  void solve(const FrictionOptions& options, double threshold, Eigen::VectorXd& r);

  bool converged() const { return best_.ratio <= 1; }
  long sweeps() const { return sweeps_; }
  long newtonSteps() const { return newtonSteps_; }
  long factorisations() const { return factorisations_; }
  const std::string& method() const { return method_; }

 private:
  void evaluate(FrictionIterate& iterate);
  void keepBest();
  void sweep(long limit);
  double newtonStep(double epsilon, int smoothing);
  void newton(long limit, double epsilon);
  void alternate(long limit);
  void polish();

  FrictionSystem system_;
  LocalSolvers locals_;
  FrictionSweeps sweeper_;
  FrictionNewton newton_;
  FrictionGoal goal_;
  FrictionIterate now_, best_, trial_;
  Eigen::VectorXd step_;
  long sweeps_ = 0, newtonSteps_ = 0, factorisations_ = 0;
  std::string method_;
};

}
