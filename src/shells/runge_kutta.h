#pragma once
#include "tendril/model/error.h"
#include "tendril/solvers/dormand_prince.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

#include <Eigen/Core>
#include <fmt/format.h>

namespace tendril {

/// Largest product of step and frequency, or rate of decay, that the classical Runge-Kutta method bears, with a margin.
inline constexpr double stableStep = 2.5;

/// Refuses (InputError) steps that are too large for the fastest motion [1/s] of what `name` calls, and says which would do.
inline void checkStableStep(const std::string& name, double h, double fastest) {
  if (h * fastest > stableStep)
    throw InputError(fmt::format("{}: steps of {:g} s are too large for its stiffness, whose fastest motion has {:.4g} 1/s; take at most "
                                 "{:.2g} s",
                                 name, h, fastest, 0.8 * stableStep / fastest));
}

/// One step of the classical Runge-Kutta method for q'' = a(q, q').
template <class Vector, class Acceleration> void rungeKuttaStep(Vector& q, Vector& v, double h, const Acceleration& a) {
  const Vector a1 = a(q, v);
  const Vector v2 = v + h / 2 * a1, a2 = a(Vector(q + h / 2 * v), v2);
  const Vector v3 = v + h / 2 * a2, a3 = a(Vector(q + h / 2 * v2), v3);
  const Vector v4 = v + h * a3, a4 = a(Vector(q + h * v3), v4);
  q += h / 6 * (v + 2 * v2 + 2 * v3 + v4);
  v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
}

/// The pair of Dormand & Prince of orders 5 and 4, over the time h in as many steps as the tolerance asks for. `measure` gives the relative
/// size of errors in q and q' at q, q'; `seen` is called with q after each step. Returns the number of steps, or 0 if these became too
/// small.
template <class Vector, class Acceleration, class Measure, class Seen>
long dormandPrince(Vector& q, Vector& v, double h, double tolerance, const Acceleration& a, const Measure& measure, const Seen& seen) {
  namespace pair = dormand_prince;
  double done = 0, step = h;
  long steps = 0;
  Vector kq[7], kv[7];
  kq[0] = v, kv[0] = a(q, v);
  while (done < h) {
    step = std::min(step, h - done);
    if (step < 64 * std::numeric_limits<double>::epsilon() * h && h - done > step) return 0;
    Vector qs, vs;
    for (int i = 1; i < 7; ++i) {
      qs = q, vs = v;
      for (int j = 0; j < i; ++j) qs += step * pair::weights[i][j] * kq[j], vs += step * pair::weights[i][j] * kv[j];
      kq[i] = vs, kv[i] = a(qs, vs);
    }
    Vector eq = Vector::Zero(), ev = Vector::Zero();
    for (int j = 0; j < 7; ++j) eq += step * pair::error[std::size_t(j)] * kq[j], ev += step * pair::error[std::size_t(j)] * kv[j];
    const double error = measure(qs, vs, eq, ev);
    if (error <= tolerance) { // else, or where a stage went astray, the step is shortened
      done += step, ++steps;
      seen(qs);
      q = qs, v = vs, kq[0] = kq[6], kv[0] = kv[6]; // first same as last
    }
    step *= std::isfinite(error) ? std::clamp(0.9 * std::pow(tolerance / std::max(error, 1e-300), 0.2), 0.2, 5.0) : 0.2;
  }
  return steps;
}

}
