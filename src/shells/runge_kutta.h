#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Core>

namespace tendril {

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
  static constexpr double A[7][6]{{},
                                  {1. / 5},
                                  {3. / 40, 9. / 40},
                                  {44. / 45, -56. / 15, 32. / 9},
                                  {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
                                  {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
                                  {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}};
  static constexpr double E[7]{71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40};
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
      for (int j = 0; j < i; ++j) qs += step * A[i][j] * kq[j], vs += step * A[i][j] * kv[j];
      kq[i] = vs, kv[i] = a(qs, vs);
    }
    Vector eq = Vector::Zero(), ev = Vector::Zero();
    for (int j = 0; j < 7; ++j) eq += step * E[j] * kq[j], ev += step * E[j] * kv[j];
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
