#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <Eigen/Core>

#include "tendril/solvers/newton.h"
#include "tendril/solvers/sparse_ldlt.h"

namespace tendril {

/// Equations r(x, t) = 0 with a parameter t, x on a manifold and moved by increments: what a PathFollower needs to know. The problem holds
/// the present point (x, t) and one that was kept. Nothing here may allocate but the descriptions.
class PathProblem {
 public:
  virtual ~PathProblem() = default;

  virtual int size() const = 0; ///< of an increment of x
  virtual double parameter() const = 0;
  virtual int groupCount() const = 0;
  /// Evaluates r, its tangent and dr/dt at the present point and measures r, as NewtonProblem::evaluate.
  virtual bool evaluate(std::span<ResidualGroup> groups) = 0;
  virtual bool factorise() = 0;
  /// step = -T^-1 r; false if it is not finite.
  virtual bool solve(Eigen::VectorXd& step) = 0;
  /// along = -T^-1 dr/dt.
  virtual bool solveRate(Eigen::VectorXd& along) = 0;
  /// A product of two increments that measures how far they lead, free of units.
  virtual double inner(const Eigen::VectorXd& a, const Eigen::VectorXd& b) const = 0;
  virtual double longestFactor(const Eigen::VectorXd& /*step*/) { return 1; }
  /// x <- R_x(factor step), t <- t + factor dt.
  virtual void move(const Eigen::VectorXd& step, double dt, double factor) = 0;
  /// Takes the last move back.
  virtual void undo() = 0;
  /// The present point was found to be a solution: forgets what the iteration predicted of it.
  virtual void settle() {}
  virtual void keep() = 0;         ///< the present point
  virtual void returnToKept() = 0; ///< and forgets what else the iteration left

  virtual std::string describeWorst() const = 0;
  virtual std::string describeSingular() const { return {}; }
};

struct PathOptions {
  double firstStep = 0.01;      ///< of the parameter: fixes the first increment of arclength
  double largestGrowth = 10;    ///< the step may grow to this times the first
  double smallestShrink = 1e-5; ///< and shrink to this times the first
  int targetIterations = 5;     ///< of Newton's method per step
  int maxIterations = 25;
};

/// Follows a path of solutions through its turning points, with the parameter as an unknown (Riks 1979, Crisfield 1991; bordering as in
/// Keller):
///
///     r(x, t) = 0,   tau . (sum of increments since the last point) = ds,      (solvers.2)
///
/// tau the unit tangent of the path in the inner product of the problem. The step follows the number of iterations.
class PathFollower {
 public:
  explicit PathFollower(const PathOptions& options);

  struct Step {
    int iterations = 0, factorisations = 0; ///< over all attempts
    int cuts = 0;                           ///< attempts that failed
    double residual = 0;                    ///< relative to its threshold
    bool turned = false;                    ///< the parameter turns at a point of this step
  };
  /// Finds the tangent at the present point, a solution, towards growing t, and keeps the point. False if the tangent is singular or the
  /// equations do not depend on t.
  bool start(PathProblem& problem);
  /// The next point of the path; false when no step is small enough, with Newton's last report in failure(). accept() makes it the point
  /// to go on from.
  bool advance(PathProblem& problem);
  void accept(PathProblem& problem);
  const Step& step() const { return step_; }
  const std::string& failure() const { return failure_; }

  /// Between advance() and accept(): the parameter at which the number of negative signs of the tangent leaves `negativeBefore`, within the
  /// step, along the tangent that led here (locateSignChange). signs() tells those of the present point. The problem is left anywhere.
  std::optional<double> locateChange(PathProblem& problem, int negativeBefore, const std::function<std::optional<Inertia>()>& signs);

  // ---- to be saved and taken up again, at a kept point ---------------------------------------------------------------------------------
  struct Tangent {
    Eigen::VectorXd x; ///< increment of x for a unit of arclength
    double t = 1;      ///< of the parameter
  };
  const Tangent& tangent() const { return tangent_; }
  double arclengthStep() const { return ds_; }
  double firstArclengthStep() const { return firstDs_; }
  void restore(PathProblem& problem, Tangent tangent, double ds, double firstDs);

 private:
  class Bordered;
  bool attempt(PathProblem& problem, double ds);
  bool findTangent(PathProblem& problem);

  PathOptions options_;
  Newton newton_;
  std::vector<ResidualGroup> groups_;
  Tangent tangent_, before_;
  double ds_ = 0, firstDs_ = 0;
  Step step_;
  int lastIterations_ = 0; ///< of the attempt that succeeded
  std::string failure_;
};

}
