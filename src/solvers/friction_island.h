#pragma once
#include "friction_admm.h"
#include "friction_equations.h"
#include "friction_interior.h"
#include "friction_neighbourhood.h"
#include "friction_path.h"
#include "friction_sweeps.h"

#include <limits>
#include <memory>
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
  double relative = std::numeric_limits<double>::infinity(); ///< the scaled residual over |q| of the island
};

/// What was spent on an island; of its parts only their number.
struct FrictionEffort {
  long sweeps = 0, newtonSteps = 0, factorisations = 0, admmSteps = 0, interiorSteps = 0, pathSteps = 0, parts = 0;
  FrictionEffort& operator+=(const FrictionEffort& other);
  bool operator==(const FrictionEffort&) const = default;
  std::string text() const; ///< "12 sweeps of Gauss-Seidel, 3 Newton steps"
};

/// How sweeps get on, and what to try when they do not.
struct SweepProgress {
  bool momentum = true;
  bool searched = false;                                 ///< for a part that keeps the rest from its rest, since momentum was changed
  int partSize = 100;                                    ///< contacts
  double mark = std::numeric_limits<double>::infinity(); ///< the ratio from which progress is measured
  long stale = 0;                                        ///< sweeps since

  /// After some sweeps more that ended at `ratio`: true if many have gained little.
  bool standsStill(double ratio, long sweeps);
};

/// One island of contacts and its solvers; the memory is kept between problems.
class FrictionIsland {
 public:
  FrictionIsland() = default;
  FrictionIsland(const FrictionIsland&) = delete; ///< the solvers point to the system
  FrictionIsland& operator=(const FrictionIsland&) = delete;

  void load(const FrictionProblem& problem, const std::vector<int>& contacts);
  /// Solves from the impulses in `r` (of the problem) and leaves the best ones there. Touches the rows of the island only.
  void solve(const FrictionOptions& options, double threshold, Eigen::VectorXd& r);

  bool converged() const { return best_.ratio <= 1; }
  const FrictionEffort& effort() const { return effort_; }
  /// Contacts, by their number in the problem, whose block alone is ambiguous.
  void findAmbiguous(std::vector<int>& contacts) const;

 private:
  void evaluate(FrictionIterate& iterate);
  void moveIntoCones(FrictionIterate& iterate) const;
  void keepBest();
  void prepare();
  void begin(const FrictionGoal& goal);
  void run(const FrictionOptions& options);
  void cascade(long limit, long pathSteps);
  void sweep(long limit, bool backward = false);
  void acceleratedSweeps(long limit);
  void breakStandstill(SweepProgress& progress);
  bool solveParts(int size);
  bool solvePart(FrictionIterate& whole, const FrictionSystem& system, const std::vector<int>& contacts);
  bool findStep(double epsilon);
  bool regularisedNewton();
  long sweepsPerNewtonStep();
  void smoothTrial(int sweeps);
  double newtonStep(double epsilon, int smoothing);
  void semismoothNewton(long limit);
  void proximalNewton(long limit);
  void admm(long limit);
  void interior(long limit, double weight);
  bool followPath(long limit, double kappa);
  void polish();

  FrictionSystem system_;
  LocalSolvers locals_;
  FrictionSweeps sweeper_;
  AcceleratedSweeps accelerated_;
  FrictionEquations equations_;
  FrictionAdmm admm_;
  FrictionInterior interior_;
  FrictionPath path_;
  FrictionGoal goal_;
  FrictionIterate now_, best_, trial_, smooth_;
  Eigen::VectorXd step_;
  double size_ = 1; ///< |q| of the island, one if that is zero
  FrictionEffort effort_;
  FrictionNeighbourhood neighbourhood_;
  std::unique_ptr<FrictionIsland> part_; ///< where parts are solved; parts have none
};

}
