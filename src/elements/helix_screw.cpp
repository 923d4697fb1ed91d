#include "helix_screw.h"

#include <array>

namespace tendril {

namespace {

/// c_0 to c_9 of so3::stumpff.
std::array<double, 10> stumpff(double x) {
  std::array<double, 10> c{};
  const std::array<double, 8> known = so3::stumpff(x);
  std::copy(known.begin(), known.end(), c.begin());
  if (x >= 4) {
    c[8] = (1. / 720 - c[6]) / x, c[9] = (1. / 5040 - c[7]) / x;
    return c;
  }
  double even = 1. / 40320, odd = 1. / 362880;
  for (int j = 0; j < 10; ++j) {
    c[8] += even, c[9] += odd;
    even *= -x / ((9 + 2 * j) * (10 + 2 * j)), odd *= -x / ((10 + 2 * j) * (11 + 2 * j));
  }
  return c;
}

/// c_2 or c_3 and their first derivative in x, along a motion of x.
struct Coefficient {
  Moving<double> value, slope;
};

/// By dc_k/dx = (k c_{k+2} - c_{k+1})/2, three times.
Coefficient coefficient(int k, const std::array<double, 10>& c, const Moving<double>& x) {
  std::array<std::array<double, 10>, 4> derivative{c};
  for (std::size_t order = 1; order < 4; ++order)
    for (std::size_t i = std::size_t(k); i + 2 < 10; ++i)
      derivative[order][i] = 0.5 * (double(i) * derivative[order - 1][i + 2] - derivative[order - 1][i + 1]);
  const std::size_t i = std::size_t(k);
  const auto along = [&](std::size_t order) -> Moving<double> {
    const double first = derivative[order + 1][i], second = order + 2 < 4 ? derivative[order + 2][i] : 0;
    return {derivative[order][i], first * x.rate, second * x.rate * x.rate + first * x.acceleration};
  };
  return {along(0), along(1)};
}

Moving<Matrix3> hat(const Moving<Vector3>& w) { return {so3::hat(w.value), so3::hat(w.rate), so3::hat(w.acceleration)}; }
template <class M> Moving<M> scaled(double a, const Moving<M>& b) { return {a * b.value, a * b.rate, a * b.acceleration}; }

}

Moving<Screws> helixScrews(double length, const Vector3& u, const Vector3& rate, const Vector3& acceleration) {
  const Moving<Vector3> w{length * u, length * rate, length * acceleration};
  const Moving<double> x{w.value.squaredNorm(), 2 * w.value.dot(w.rate), 2 * (w.rate.squaredNorm() + w.value.dot(w.acceleration))};
  const auto c = stumpff(x.value);
  const Coefficient c2 = coefficient(2, c, x), c3 = coefficient(3, c, x);
  const Moving<Matrix3> W = hat(w), WW = W * W;
  const Moving<Vector3> e{Vector3::UnitX(), Vector3::Zero(), Vector3::Zero()}, We = W * e, WWe = W * We;

  const Moving<Matrix3> identity{Matrix3::Identity(), Matrix3::Zero(), Matrix3::Zero()};
  const Moving<Matrix3> R = scaled(length, identity + c2.value * W + c3.value * WW);
  const Moving<Vector3> p = scaled(length, e + c2.value * We + c3.value * WWe);
  // d(f e)/dw = -c2 S(e) - c3 (S(w x e) + S(w) S(e)) + 2 (c2' w x e + c3' w x (w x e)) w^T
  const Moving<Eigen::RowVector3d> wT{w.value.transpose(), w.rate.transpose(), w.acceleration.transpose()};
  const Moving<Matrix3> fe =
      scaled(-1, c2.value * hat(e)) + scaled(-1, c3.value * (hat(We) + W * hat(e))) + scaled(2, (c2.slope * We + c3.slope * WWe) * wT);
  const Moving<Matrix3> top = scaled(length * length, fe) + hat(p) * R;
  const auto stacked = [](const Matrix3& upper, const Matrix3& lower) {
    Screws S;
    S << upper, lower;
    return S;
  };
  return {stacked(top.value, R.value), stacked(top.rate, R.rate), stacked(top.acceleration, R.acceleration)};
}

}
