#pragma once
#include "tendril/lie/so3.h"
#include "tendril/lie/types.h"

namespace tendril {

using Screws = Eigen::Matrix<double, 6, 3>;

/// A quantity along a motion: its value and two derivatives in time.
template <class T> struct Moving { T value, rate, acceleration; };

template <class M> auto operator*(const Moving<double>& a, const Moving<M>& b) {
  using Result = typename M::PlainObject;
  return Moving<Result>{a.value * b.value, a.rate * b.value + a.value * b.rate,
                        a.acceleration * b.value + 2 * a.rate * b.rate + a.value * b.acceleration};
}
template <class A, class B> auto operator*(const Moving<A>& a, const Moving<B>& b) {
  using Result = typename Eigen::Product<A, B>::PlainObject;
  return Moving<Result>{a.value * b.value, a.rate * b.value + a.value * b.rate,
                        a.acceleration * b.value + 2 * a.rate * b.rate + a.value * b.acceleration};
}
template <class M> Moving<M> operator+(const Moving<M>& a, const Moving<M>& b) {
  return {a.value + b.value, a.rate + b.rate, a.acceleration + b.acceleration};
}

/// Screws of the end of a helix of length l, reckoned from its begin, for its strain u: with w = l u and e the tangent at the begin,
///
///     S = [dp/du + S(p) R; R],     R = l f(w),     p = l f(w) e,     f(w) = T_SO3(-w) = I + c2 S(w) + c3 S(w)^2,
///
/// a motion du turns the end by R du about where it is, and moves it by dp. c2 and c3 are Stumpff functions of w.w.
Moving<Screws> helixScrews(double length, const Vector3& u, const Vector3& rate, const Vector3& acceleration);

}
