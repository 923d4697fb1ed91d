#pragma once
#include <Eigen/Core>

#include <deque>

namespace tendril {

struct ProjectedGradientOptions {
  /// The largest decrease that the slope promises within the box, relative to the function, below which a point is stationary.
  double tolerance = 1e-6;
  int maxEvaluations = 200;
  int memory = 10; ///< values of which a new one must be below the largest
};

/// Minimises a smooth function within a box by the spectral projected gradient method (Birgin, Martinez & Raydan 2000),
///
///     d = P(x - sigma g) - x,      sigma = s^T s / s^T y,      x <- x + t d,
///
/// with a nonmonotone line search. The first step aims at the corner that the gradient points to: functions that are nearly linear are
/// done at once. The box is the unit cube; who uses it scales.
///
/// Whoever drives it evaluates, so that many searches can share a batch of evaluations:
///
///     ProjectedGradient search(start, options);
///     while (!search.finished()) search.take(f(search.trial(), g), g);
///
/// A function that is not finite at a trial has the step halved.
class ProjectedGradient {
 public:
  explicit ProjectedGradient(const Eigen::VectorXd& start, const ProjectedGradientOptions& options = {});

  bool finished() const { return isFinished_; }
  /// Where function and gradient are asked for next.
  const Eigen::VectorXd& trial() const { return trial_; }
  void take(double value, const Eigen::VectorXd& gradient);

  /// The best point so far.
  const Eigen::VectorXd& best() const { return best_; }
  double value() const { return bestValue_; }
  int evaluations() const { return evaluations_; }
  bool isStationary() const { return isStationary_; }
  /// The largest decrease that the slope promises within the box, from where the search is.
  double promise() const;

 private:
  void accept(double value, const Eigen::VectorXd& gradient);
  void setOut(double sigma);

  ProjectedGradientOptions options_;
  Eigen::VectorXd x_, gradient_, direction_, trial_, best_;
  double value_ = 0, bestValue_ = 0, slope_ = 0, share_ = 1;
  std::deque<double> values_;
  int evaluations_ = 0;
  bool isFinished_ = false, isStationary_ = false;
};

}
