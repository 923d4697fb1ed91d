#pragma once
#include "solvers/scaled_program.h"

namespace tendril {

/// A point of the barrier problem: that of the program, with what belongs to it. Where d has no bound on a side, the gap is infinite and
/// its multiplier zero.
struct BarrierIterate {
  Eigen::VectorXd point;
  ProgramValues values;
  Eigen::VectorXd s;                  ///< slacks: d(x) - s = 0
  Eigen::VectorXd gapLower, gapUpper; ///< s - lower, upper - s; moved by themselves, so that small ones keep their digits
  ProgramMultipliers y;               ///< of c(x) = 0 and d(x) - s = 0
  Eigen::VectorXd zLower, zUpper;     ///< of the bounds of s, >= 0

  /// |c|_1 + |d - s|_1
  double infeasibility() const;
  double largestInfeasibility() const;
  /// f - mu sum ln(gaps)
  double barrierFunction(double mu) const;
  /// Barrier function + y . (c, d - s): near a solution exact but for products of distances from it.
  double lagrangian(double mu) const;
};

/// Entries (infeasibility, barrier function) that later iterates must improve upon in one of the two (Fletcher & Leyffer 2002).
class Filter {
 public:
  static constexpr double infeasibilityMargin = 1e-5, objectiveMargin = 1e-8;

  explicit Filter(int capacity) { entries_.reserve(std::size_t(capacity)); }
  void clear() { entries_.clear(); }
  void limit(double infeasibility) { largest_ = infeasibility; }
  /// Closes what does not improve on (theta, phi).
  void add(double theta, double phi) { entries_.push_back({(1 - infeasibilityMargin) * theta, phi - objectiveMargin * theta}); }
  bool accepts(double theta, double phi) const;

 private:
  struct Entry {
    double theta, phi;
  };
  std::vector<Entry> entries_;
  double largest_ = std::numeric_limits<double>::infinity();
};

/// a <= b but for rounding of numbers of size `size`.
bool notAbove(double a, double b, double size);

}
