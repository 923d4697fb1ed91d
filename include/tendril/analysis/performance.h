#pragma once
#include "tendril/lie/types.h"

#include <functional>
#include <vector>

namespace tendril {

/// A performance Y = F(x) of which nothing but values, and perhaps gradients, is known. Asked for many points at once, one a column, so
/// that whoever evaluates may share them out; a value depends on its point alone. NaN where the performance does not exist.
struct Performance {
  std::function<VectorX(const MatrixX& points)> values;
  /// The same, with the gradients as columns; of their rows only those in `wanted` matter. Empty where only values are known.
  std::function<VectorX(const MatrixX& points, const std::vector<Eigen::Index>& wanted, MatrixX& gradients)> gradients{};
  /// Where Y = |e(x)| is the length of a vector in space: for every point a column with e and, below it, de/dx_1, de/dx_2, ..., by the
  /// controls; of other coordinates they do not matter. The first row is NaN where e does not exist. Empty for other performances.
  std::function<MatrixX(const MatrixX& points)> residuals{};
};

/// A box of points, and its coordinates from 0 to 1.
struct Box {
  VectorX lower, upper;

  Eigen::Index size() const { return lower.size(); }
  VectorX width() const { return upper - lower; }
  VectorX point(const VectorX& unit) const { return lower + unit.cwiseProduct(width()); }
  /// 0.5 in directions in which the box has no width.
  VectorX unit(const VectorX& point) const;
};

/// How often a performance was asked.
struct EvaluationCount {
  long values = 0;    ///< runs
  long gradients = 0; ///< gradients that the performance knows, runs not counted again
  EvaluationCount& operator+=(const EvaluationCount& other) {
    values += other.values, gradients += other.gradients;
    return *this;
  }
};

/// A performance whose evaluations are counted, and whose gradients, where it knows none, come from central differences over `share` of the
/// box, one-sided at its faces; every run that they take is counted. Along directions in which the box has no width there are none: zero.
class CountedPerformance {
 public:
  CountedPerformance(Performance performance, Box box, double share = 1e-3);

  const Box& box() const { return box_; }
  VectorX values(const MatrixX& points);
  VectorX gradients(const MatrixX& points, MatrixX& gradients);
  const EvaluationCount& count() const { return count_; }

 private:
  VectorX differences(const MatrixX& points, const std::vector<Eigen::Index>& free, MatrixX& gradients);
  Performance performance_;
  Box box_;
  double share_;
  EvaluationCount count_;
};

}
