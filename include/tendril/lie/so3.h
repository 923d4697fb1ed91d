#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <stdexcept>

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "tendril/lie/types.h"

/// Rotations: SO(3) and its algebra of skew matrices S(w), S(w) v = w x v, theta = |w|.
///
/// A rotation vector w is in radians. Tangent operators are left-trivialised: d exp(w) = exp(w) S(T(w) dw), hence
///   T(w) = sum_k (-S)^k / (k+1)!,   T(w)^T = T(-w) = exp(w) T(w).
///
/// Every operator of this room is an analytic function f of S(w). Since S^3 = -theta^2 S, splitting f into its even and odd part,
///   f(z) = constant + z odd(z^2) + z^2 even(z^2)   gives   f(S) = constant I + odd(-theta^2) S + even(-theta^2) S^2.
/// SkewFunction holds the constant and, as functions of x = theta^2, the two coefficients with two derivatives. From these numbers
/// evaluate(), directional() and derivative() give f(S), its directional derivative and the derivative of f(S(w)) b for any f; the
/// functions of SE(3) need nothing else (see se3.h). No coefficient is singular at theta = 0: a power series in x serves small
/// angles and closed forms the others, with the switch where both are exact to round-off.
///
/// Sources: Selig, "Geometric Fundamentals of Robotics"; Sonneville, Cardona & Bruls, CMAME 268 (2014); Stumpff functions as in
/// celestial mechanics.
namespace tendril::so3 {

/// Value and first two derivatives with respect to x = theta^2.
struct Jet {
  double value = 0, first = 0, second = 0;
};

/// The first terms of the polynomial sum_j c_j x^j and its derivatives.
template <std::size_t N> constexpr Jet powerSeries(const std::array<double, N>& c, double x, std::size_t terms = N) {
  Jet sum{c[terms - 1]};
  for (std::size_t j = terms - 1; j-- > 0;) {
    sum.second = sum.second * x + sum.first;
    sum.first = sum.first * x + sum.value;
    sum.value = sum.value * x + c[j];
  }
  sum.second *= 2;
  return sum;
}

/// A series in x whose radius of convergence is 4 pi^2 (that of 1 / (1 - exp(-z)) in z = i theta) reaches round-off up to x = 2 with so
/// many terms, and with fewer for the half radian that a beam element usually turns.
inline constexpr std::size_t bernoulliTerms = 15;
constexpr std::size_t bernoulliTermsFor(double x) { return x < 0.25 ? 10 : bernoulliTerms; }

/// Coefficients of f(S(w)) = constant I + odd S + even S^2.
struct SkewFunction {
  double constant = 1;
  Jet odd, even;

  /// Coefficients of f(S)^T = f(-S).
  constexpr SkewFunction transposed() const { return {constant, {-odd.value, -odd.first, -odd.second}, even}; }
};

/// Stumpff functions c_k(x) = sum_j (-x)^j / (k+2j)!, k = 0..7: c_0 = cos theta, c_1 = sin theta / theta, c_2 = (1 - cos theta) / theta^2,
/// ... They satisfy c_k = 1/k! - x c_{k+2} and d c_k / dx = (k c_{k+2} - c_{k+1}) / 2. The recursion loses no digits downwards from a
/// series when x is small, nor upwards from cos and sin when x is large (lie.2).
inline std::array<double, 8> stumpff(double x) {
  static constexpr std::array<double, 6> inverseFactorial{1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120};
  static constexpr std::array<double, 10> series6 = [] {
    std::array<double, 10> c{1. / 720};
    for (int j = 1; j < 10; ++j) c[j] = -c[j - 1] / ((5. + 2 * j) * (6. + 2 * j));
    return c;
  }();
  static constexpr std::array<double, 10> series7 = [] {
    std::array<double, 10> c{1. / 5040};
    for (int j = 1; j < 10; ++j) c[j] = -c[j - 1] / ((6. + 2 * j) * (7. + 2 * j));
    return c;
  }();
  std::array<double, 8> c;
  if (x < 4) {
    c[6] = powerSeries(series6, x).value;
    c[7] = powerSeries(series7, x).value;
    for (int k = 5; k >= 0; --k) c[k] = inverseFactorial[k] - x * c[k + 2];
  } else {
    const double theta = std::sqrt(x);
    c[0] = std::cos(theta);
    c[1] = std::sin(theta) / theta;
    for (int k = 0; k <= 5; ++k) c[k + 2] = (inverseFactorial[k] - c[k]) / x;
  }
  return c;
}

/// exp(z), (lie.3).
inline SkewFunction exponentialFunction(double x) {
  const auto c = stumpff(x);
  return {1, {c[1], (c[3] - c[2]) / 2, (3 * c[5] - 3 * c[4] + c[3]) / 4}, {c[2], c[4] - c[3] / 2, 2 * c[6] - 1.25 * c[5] + 0.25 * c[4]}};
}

/// (1 - exp(-z)) / z, the tangent operator (lie.4).
inline SkewFunction tangentFunction(double x) {
  const auto c = stumpff(x);
  return {1,
          {-c[2], c[3] / 2 - c[4], 1.25 * c[5] - 2 * c[6] - 0.25 * c[4]},
          {c[3], (3 * c[5] - c[4]) / 2, 3.75 * c[7] - 1.75 * c[6] + 0.25 * c[5]}};
}

/// z / (1 - exp(-z)), the inverse tangent operator; regular for theta < 2 pi. With phi = theta / 2 its even coefficient is
/// (1 - phi cot phi) / x = sum_j b_{j+1} x^j, b_n = |B_2n| / (2n)!, and Euler's identity gives (2n+1) b_n = sum_{k<n} b_k b_{n-k}.
inline SkewFunction tangentInverseFunction(double x) {
  static constexpr std::array<double, bernoulliTerms> series = [] {
    std::array<double, bernoulliTerms> c{1. / 12};
    for (std::size_t n = 2; n <= bernoulliTerms; ++n) {
      double sum = 0;
      for (std::size_t k = 1; k < n; ++k) sum += c[k - 1] * c[n - k - 1];
      c[n - 1] = sum / static_cast<double>(2 * n + 1);
    }
    return c;
  }();
  const Jet odd{0.5, 0, 0};
  if (x < 2) return {1, odd, powerSeries(series, x, bernoulliTermsFor(x))};
  const double theta = std::sqrt(x), phi = theta / 2, cotangent = std::cos(phi) / std::sin(phi);
  const double h = 1 - phi * cotangent;
  const double hPhi = phi * (1 + cotangent * cotangent) - cotangent, hPhiPhi = 2 * h * (1 + cotangent * cotangent);
  const double hx = hPhi / (4 * theta), hxx = (hPhiPhi / 4 - hPhi / (2 * theta)) / (4 * x);
  const double value = h / x, first = (hx - value) / x;
  return {1, odd, {value, first, (hxx - 2 * first) / x}};
}

/// S(w), the matrix of the cross product w x.
inline Matrix3 hat(const Vector3& w) {
  Matrix3 S;
  S << 0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0;
  return S;
}

/// The vector of the skew part of S.
inline Vector3 vee(const Matrix3& S) { return 0.5 * Vector3(S(2, 1) - S(1, 2), S(0, 2) - S(2, 0), S(1, 0) - S(0, 1)); }

/// S(a) S(b) + S(b) S(a) = a b^T + b a^T - 2 (a.b) I.
inline Matrix3 anticommutator(const Vector3& a, const Vector3& b) {
  const Matrix3 ab = a * b.transpose();
  Matrix3 sum = ab + ab.transpose();
  sum.diagonal().array() -= 2 * a.dot(b);
  return sum;
}

/// S(w)^2.
inline Matrix3 hatSquared(const Vector3& w) {
  Matrix3 square = w * w.transpose();
  square.diagonal().array() -= w.squaredNorm();
  return square;
}

/// f(S(w)), (lie.1).
inline Matrix3 evaluate(const SkewFunction& f, const Vector3& w) {
  Matrix3 F = hat(f.odd.value * w) + f.even.value * hatSquared(w);
  F.diagonal().array() += f.constant;
  return F;
}

/// f(S(w)) b without the matrix.
inline Vector3 apply(const SkewFunction& f, const Vector3& w, const Vector3& b) {
  const Vector3 wb = w.cross(b);
  return f.constant * b + f.odd.value * wb + f.even.value * w.cross(wb);
}

/// D f(S(w))[q], the derivative of the matrix f(S(w)) along q.
inline Matrix3 directional(const SkewFunction& f, const Vector3& w, const Vector3& q) {
  const double wq = 2 * w.dot(q);
  return hat(f.odd.value * q + (wq * f.odd.first) * w) + f.even.value * anticommutator(w, q) + (wq * f.even.first) * hatSquared(w);
}

/// d( f(S(w)) b ) / dw, as a matrix: its product with q equals directional(f, w, q) b.
inline Matrix3 derivative(const SkewFunction& f, const Vector3& w, const Vector3& b) {
  const Vector3 wb = w.cross(b), wwb = w.cross(wb);
  const double h = f.even.value;
  Matrix3 J = hat(-f.odd.value * b) + (h * w) * b.transpose() + (2 * (f.odd.first * wb + f.even.first * wwb - h * b)) * w.transpose();
  J.diagonal().array() += h * w.dot(b);
  return J;
}

/// d^2( f(S(w)) b ) / dw^2 contracted with u: the matrix K with K q = D( derivative(f, w, b) u )[q]. It is linear in u and in b.
inline Matrix3 secondDerivative(const SkewFunction& f, const Vector3& w, const Vector3& u, const Vector3& b) {
  const Vector3 wb = w.cross(b), wwb = w.cross(wb);
  const auto& [g, g1, g2] = f.odd;
  const auto& [h, h1, h2] = f.even;
  const double wu = 2 * w.dot(u), wdotb = w.dot(b), ub = u.dot(b);
  const Vector3 alongW = 2 * (g1 * u.cross(b) + h1 * (wdotb * u + ub * w - (2 * wu) * b) + wu * (g2 * wb + h2 * wwb));
  const Vector3 alongU = 2 * (g1 * wb + h1 * wwb - h * b);
  const Vector3 alongB = h * u + (wu * h1) * w;
  Matrix3 K = hat((-wu * g1) * b) + alongW * w.transpose() + alongU * u.transpose() + alongB * b.transpose();
  K.diagonal().array() += h * ub + wu * h1 * wdotb;
  return K;
}

/// The rotation by the angle |w| about w.
inline Matrix3 exp(const Vector3& w) { return evaluate(exponentialFunction(w.squaredNorm()), w); }

/// The smallest rotation that takes the direction of a to that of b; of two opposite directions a half turn about any normal. For unit
/// vectors up to a right angle it is I + S(v) + S(v)^2 / (1 + a.b), v = a x b; beyond, a half turn about their normal, 2 n n^T - I, comes
/// first. The normal is that of a and a + b, which has no cancellation, so b is met to round-off at every angle.
inline Matrix3 shortestRotation(const Vector3& a, const Vector3& b) {
  const Vector3 from = a.normalized(), to = b.normalized();
  const auto turn = [&to](const Vector3& near) -> Matrix3 {
    const Vector3 v = near.cross(to);
    return Matrix3::Identity() + hat(v) + hatSquared(v) / (1 + near.dot(to));
  };
  if (from.dot(to) >= 0) return turn(from);
  const Vector3 sum = from + to, common = from.cross(sum);
  const bool isRounding = common.norm() <= 1e-4 * sum.norm();
  const Vector3 normal = isRounding ? from.unitOrthogonal() : Vector3(common.normalized());
  return turn(-from) * (2 * normal * normal.transpose() - Matrix3::Identity());
}

/// The rotation vector of R with |w| <= pi. It goes through the unit quaternion whose largest component is computed first and which is
/// turned to a non-negative scalar part, so it is accurate at every angle; at pi, where w and -w are the same rotation, it returns one.
inline Vector3 log(const Matrix3& R) {
  Eigen::Quaterniond q(R);
  if (q.w() < 0) q.coeffs() = -q.coeffs();
  const double sine = q.vec().norm();
  return (sine > 0 ? 2 * std::atan2(sine, q.w()) / sine : 2 / q.w()) * q.vec();
}

inline Matrix3 tangent(const Vector3& w) { return evaluate(tangentFunction(w.squaredNorm()), w); }
/// T(w)^-1; |w| < 2 pi.
inline Matrix3 tangentInverse(const Vector3& w) { return evaluate(tangentInverseFunction(w.squaredNorm()), w); }
/// d( T(w) b ) / dw.
inline Matrix3 tangentDerivative(const Vector3& w, const Vector3& b) { return derivative(tangentFunction(w.squaredNorm()), w, b); }
/// d( T(w)^-1 b ) / dw; |w| < 2 pi.
inline Matrix3 tangentInverseDerivative(const Vector3& w, const Vector3& b) {
  return derivative(tangentInverseFunction(w.squaredNorm()), w, b);
}

/// (1 + z/2) / (1 - z/2), the Cayley map.
inline SkewFunction cayleyFunction(double x) {
  const double r = 4 / (4 + x);
  return {1, {r, -r * r / 4, r * r * r / 8}, {r / 2, -r * r / 8, r * r * r / 16}};
}

/// cay(w) = (I - S/2)^-1 (I + S/2): the rotation about w by the angle 2 atan(|w|/2) < pi. It agrees with exp(w) to second order.
inline Matrix3 cayley(const Vector3& w) { return evaluate(cayleyFunction(w.squaredNorm()), w); }

/// The inverse of cayley(); w grows without bound as the angle of R approaches pi.
inline Vector3 cayleyInverse(const Matrix3& R) {
  const Eigen::Quaterniond q(R);
  return (2 / q.w()) * q.vec();
}

/// The left-trivialised tangent of cayley(): d cay(w) = cay(w) S(T dw), T = (I - S/2) / (1 + |w|^2/4).
inline Matrix3 cayleyTangent(const Vector3& w) {
  const double r = 4 / (4 + w.squaredNorm());
  Matrix3 T = hat((-r / 2) * w);
  T.diagonal().array() += r;
  return T;
}

/// The inverse of cayleyTangent(): I + S/2 + w w^T / 4.
inline Matrix3 cayleyTangentInverse(const Vector3& w) {
  Matrix3 T = hat(0.5 * w) + (0.25 * w) * w.transpose();
  T.diagonal().array() += 1;
  return T;
}

/// The rotation nearest to R in the Frobenius norm (the orthogonal polar factor), to remove drift. Close to a rotation one step of the
/// series R (R^T R)^-1/2 is exact to round-off and costs two products; farther away Newton's iteration R <- (R + R^-T) / 2 leads there.
/// Throws std::invalid_argument unless R has a positive, finite determinant.
inline Matrix3 orthonormalised(Matrix3 R) {
  while (true) {
    const double determinant = R.determinant();
    if (!(determinant > 0 && std::isfinite(determinant)))
      throw std::invalid_argument("so3::orthonormalised: the matrix has no nearest rotation, its determinant must be positive and finite");
    const Matrix3 defect = R.transpose() * R - Matrix3::Identity();
    if (defect.cwiseAbs().maxCoeff() < 1e-6) return R - R * (0.5 * defect - 0.375 * defect * defect);
    R = 0.5 * (R + R.inverse().transpose()).eval();
  }
}

}
