#include "solvers/barrier_iterate.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tendril {

double BarrierIterate::infeasibility() const { return values.equality.lpNorm<1>() + (values.inequality - s).lpNorm<1>(); }

double BarrierIterate::largestInfeasibility() const {
  double most = 0;
  if (values.equality.size() > 0) most = values.equality.lpNorm<Eigen::Infinity>();
  if (s.size() > 0) most = std::max(most, (values.inequality - s).lpNorm<Eigen::Infinity>());
  return most;
}

double BarrierIterate::barrierFunction(double mu) const {
  double logarithms = 0;
  for (const Eigen::VectorXd* gaps : {&gapLower, &gapUpper})
    for (double gap : *gaps)
      if (!std::isinf(gap)) logarithms += std::log(gap);
  return values.objective - mu * logarithms;
}

double BarrierIterate::lagrangian(double mu) const {
  return barrierFunction(mu) + y.equality.dot(values.equality) + y.inequality.dot(values.inequality - s);
}

bool notAbove(double a, double b, double size) { return a - b <= 10 * std::numeric_limits<double>::epsilon() * std::abs(size); }

bool Filter::accepts(double theta, double phi) const {
  return theta <= largest_ && std::all_of(entries_.begin(), entries_.end(),
                                          [&](const Entry& e) { return notAbove(theta, e.theta, e.theta) || notAbove(phi, e.phi, e.phi); });
}

}
