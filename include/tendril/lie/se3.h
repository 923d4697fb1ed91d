#pragma once
#include <array>
#include <cmath>
#include <cstddef>

#include "tendril/lie/so3.h"
#include "tendril/lie/types.h"

/// Rigid motions: SE(3) and its algebra of twists pi = (u, w), translation u in metres first, rotation w in radians second, both
/// resolved in the moving frame: dH = H S(pi), S(pi) = [S(w) u; 0 0].
///
/// Tangent operators are left-trivialised, d exp(a) = exp(a) S(T(a) da). T, its inverse and the interpolation operator of the helicoidal
/// beam are analytic functions f of the matrix ad(a). Because ad(u, w) = [S(w) S(u); 0 S(w)], each of them has the block form
///   f(ad(u, w)) = [F  D F[u]; 0 F],   F = f(S(w)),   D F[u] its derivative along u,
/// and a directional derivative along b = (p, q) has the blocks D F[q] and D^2 F[u, q] + D F[p]. So the three coefficients of F with two
/// derivatives (so3::SkewFunction) give every operator here, and no 6x6 product is ever formed. Identities:
///   T(-a) = Ad(exp a) T(a),   T^-1(a) - T^-1(-a) = ad(a),   Ad(exp -a) = I - ad(a) T(a).
///
/// Sources: Sonneville, Cardona & Bruls, CMAME 268 (2014); Arnold & Bruls, Multibody Syst. Dyn. 18 (2007); Bauchau, "Flexible Multibody
/// Dynamics" (2011).
namespace tendril::se3 {

/// [upperLeft upperRight; 0 lowerRight].
inline Matrix6 upperBlocks(const Matrix3& upperLeft, const Matrix3& upperRight, const Matrix3& lowerRight) {
  Matrix6 M;
  M.topLeftCorner<3, 3>() = upperLeft;
  M.topRightCorner<3, 3>() = upperRight;
  M.bottomLeftCorner<3, 3>().setZero();
  M.bottomRightCorner<3, 3>() = lowerRight;
  return M;
}

/// The matrix of the Lie bracket: ad(a) b = [a, b].
inline Matrix6 ad(const Vector6& pi) {
  const Matrix3 W = so3::hat(pi.tail<3>());
  return upperBlocks(W, so3::hat(pi.head<3>()), W);
}

/// [a, b] without the matrix.
inline Vector6 adProduct(const Vector6& a, const Vector6& b) {
  const Vector3 u = a.head<3>(), w = a.tail<3>(), p = b.head<3>(), q = b.tail<3>();
  Vector6 bracket;
  bracket << w.cross(p) + u.cross(q), w.cross(q);
  return bracket;
}

/// For a wrench (f, m): ad(delta)^T (f, m) = coad(f, m) delta, coad(f, m) = [0 S(f); S(f) S(m)].
inline Matrix6 coad(const Vector6& wrench) {
  const Matrix3 F = so3::hat(wrench.head<3>());
  Matrix6 M;
  M.topLeftCorner<3, 3>().setZero();
  M.topRightCorner<3, 3>() = F;
  M.bottomLeftCorner<3, 3>() = F;
  M.bottomRightCorner<3, 3>() = so3::hat(wrench.tail<3>());
  return M;
}

/// ad(u, w)^T (f, m) = -(w x f, u x f + w x m) without the matrix.
inline Vector6 adTransposed(const Vector6& pi, const Vector6& wrench) {
  const Vector3 u = pi.head<3>(), w = pi.tail<3>(), f = wrench.head<3>(), m = wrench.tail<3>();
  Vector6 result;
  result << f.cross(w), f.cross(u) + m.cross(w);
  return result;
}

/// S(Ad(H) pi) = H S(pi) H^-1, Ad(H) = [R S(x) R; 0 R], (lie.7).
inline Matrix6 Ad(const Pose& H) { return upperBlocks(H.R, so3::hat(H.x) * H.R, H.R); }

/// Ad(H^-1) = Ad(H)^-1.
inline Matrix6 AdInverse(const Pose& H) {
  const Matrix3 Rt = H.R.transpose();
  return upperBlocks(Rt, Rt * so3::hat(-H.x), Rt);
}

/// Ad(H^-1)^T w, the wrench w = (force, moment) of the frame H seen from where H is measured: (R f, x x R f + R m).
inline Vector6 transported(const Pose& H, const Vector6& wrench) {
  const Vector3 force = H.R * wrench.head<3>();
  Vector6 w;
  w << force, H.x.cross(force) + H.R * wrench.tail<3>();
  return w;
}

/// A function f of ad(d) is a SkewFunction of the rotation part of d; this class holds what all functions of one d share, so that an
/// element that needs T^-1(d) and the interpolation operator at several points computes it once:
///   const AdPowers powers(d);
///   const auto inverse = so3::tangentInverseFunction(powers.angleSquared());
///   Matrix6 Tinv = powers.evaluate(inverse);          // T^-1(d); T^-1(-d) is Tinv - ad(d)
///   Matrix6 Tstar = powers.evaluate(series.at(powers.angleSquared()));
class AdPowers {
 public:
  explicit AdPowers(const Vector6& d)
      : u_(d.head<3>()), w_(d.tail<3>()), angleSquared_(w_.squaredNorm()), pitch_(2 * u_.dot(w_)), square_(so3::hatSquared(w_)),
        mixed_(so3::anticommutator(u_, w_)) {}

  double angleSquared() const { return angleSquared_; }

  /// f(ad(d)).
  Matrix6 evaluate(const so3::SkewFunction& f) const {
    Matrix3 F = so3::hat(f.odd.value * w_) + f.even.value * square_;
    F.diagonal().array() += f.constant;
    return upperBlocks(F, alongTranslation(f), F);
  }

  /// f(ad(d)) b = (F p + D F[u] q, F q), b = (p, q), without the matrix.
  Vector6 apply(const so3::SkewFunction& f, const Vector6& b) const {
    const Vector3 p = b.head<3>(), q = b.tail<3>(), wq = w_.cross(q);
    const auto& [g, g1, g2] = f.odd;
    const auto& [h, h1, h2] = f.even;
    const Vector3 wp = w_.cross(p), uq = u_.cross(q), twist = w_.cross(h * (wp + uq) + (pitch_ * h1) * wq);
    Vector6 result;
    result << f.constant * p + g * (wp + uq) + (pitch_ * g1) * wq + twist + h * u_.cross(wq), //
        f.constant * q + g * wq + h * w_.cross(wq);
    return result;
  }
  /// f(ad(d))^T w = (F^T f, D F[u]^T f + F^T m), w = (f, m), without the matrix.
  Vector6 applyTransposed(const so3::SkewFunction& f, const Vector6& wrench) const {
    Vector6 swapped; // the transposed blocks act on the wrench as those of f(-z) act on a twist, with force and moment exchanged
    swapped << wrench.tail<3>(), wrench.head<3>();
    const Vector6 image = apply(f.transposed(), swapped);
    Vector6 result;
    result << image.tail<3>(), image.head<3>();
    return result;
  }

  /// D f(ad(d))[b], the derivative of the matrix along b.
  Matrix6 directional(const so3::SkewFunction& f, const Vector6& b) const {
    const Vector3 p = b.head<3>(), q = b.tail<3>();
    const double wq = 2 * w_.dot(q), uq = 2 * u_.dot(q), wp = 2 * w_.dot(p);
    const auto& [g, g1, g2] = f.odd;
    const auto& [h, h1, h2] = f.even;
    const Matrix3 mixedW = so3::anticommutator(w_, q);
    const Matrix3 rotation = so3::hat(g * q + (wq * g1) * w_) + h * mixedW + (wq * h1) * square_;
    const double toW = (uq + wp) * g1 + pitch_ * wq * g2, toSquare = (uq + wp) * h1 + pitch_ * wq * h2;
    const Matrix3 coupling = so3::hat(g * p + (wq * g1) * u_ + (pitch_ * g1) * q + toW * w_) + (wq * h1) * mixed_ + (pitch_ * h1) * mixedW +
                             toSquare * square_ + h * (so3::anticommutator(u_, q) + so3::anticommutator(w_, p));
    return upperBlocks(rotation, coupling, rotation);
  }

  /// directional(f, b) c without the matrix.
  Vector6 applyDirectional(const so3::SkewFunction& f, const Vector6& b, const Vector6& c) const {
    const Vector3 p = b.head<3>(), q = b.tail<3>(), r = c.head<3>(), s = c.tail<3>();
    const double wq = 2 * w_.dot(q), uq = 2 * u_.dot(q), wp = 2 * w_.dot(p);
    const auto& [g, g1, g2] = f.odd;
    const auto& [h, h1, h2] = f.even;
    const double toW = (uq + wp) * g1 + pitch_ * wq * g2, toSquare = (uq + wp) * h1 + pitch_ * wq * h2;
    const Vector3 axis = g * q + (wq * g1) * w_;
    const Vector3 ws = w_.cross(s), qs = q.cross(s), us = u_.cross(s), ps = p.cross(s), wr = w_.cross(r), qr = q.cross(r);
    Vector6 result;
    result << axis.cross(r) + (g * p + (wq * g1) * u_ + (pitch_ * g1) * q + toW * w_).cross(s) +
                  w_.cross(h * (qr + ps) + (wq * h1) * (wr + us) + (pitch_ * h1) * qs + toSquare * ws) +
                  q.cross(h * (wr + us) + (pitch_ * h1) * ws) + u_.cross(h * qs + (wq * h1) * ws) + h * p.cross(ws),
        axis.cross(s) + w_.cross(h * qs + (wq * h1) * ws) + h * q.cross(ws);
    return result;
  }

  /// d( f(ad(d)) b ) / dd; its product with c equals directional(f, c) b.
  Matrix6 derivative(const so3::SkewFunction& f, const Vector6& b) const {
    const Vector3 p = b.head<3>(), q = b.tail<3>();
    const Matrix3 J = so3::derivative(f, w_, q);
    return upperBlocks(J, so3::derivative(f, w_, p) + so3::secondDerivative(f, w_, u_, q), J);
  }

  /// d( f(ad(d))^T wrench ) / dd; its product with c equals directional(f, c)^T wrench.
  Matrix6 transposeDerivative(const so3::SkewFunction& f, const Vector6& wrench) const {
    const Vector3 force = wrench.head<3>(), moment = wrench.tail<3>();
    const so3::SkewFunction ft = f.transposed();
    const Matrix3 J = so3::derivative(ft, w_, force);
    Matrix6 M;
    M.topLeftCorner<3, 3>().setZero();
    M.topRightCorner<3, 3>() = J;
    M.bottomLeftCorner<3, 3>() = J;
    M.bottomRightCorner<3, 3>() = so3::derivative(ft, w_, moment) + so3::secondDerivative(ft, w_, u_, force);
    return M;
  }

 private:
  /// D F[u] of the class comment of this file.
  Matrix3 alongTranslation(const so3::SkewFunction& f) const {
    return so3::hat(f.odd.value * u_ + (pitch_ * f.odd.first) * w_) + f.even.value * mixed_ + (pitch_ * f.even.first) * square_;
  }

  Vector3 u_, w_;
  double angleSquared_, pitch_; // w.w and 2 u.w
  Matrix3 square_, mixed_;      // S(w)^2 and S(u) S(w) + S(w) S(u)
};

/// exp(u, w) = (exp(w), T_SO3(w)^T u), the helical motion with constant twist.
inline Pose exp(const Vector6& pi) {
  const Vector3 w = pi.tail<3>();
  const auto c = so3::stumpff(w.squaredNorm());
  return {so3::evaluate({1, {c[1]}, {c[2]}}, w), so3::apply({1, {c[2]}, {c[3]}}, w, pi.head<3>())};
}

/// log(R, x) = (T_SO3(w)^-T x, w) with w = log R, |w| <= pi.
inline Vector6 log(const Pose& H) {
  const Vector3 w = so3::log(H.R);
  Vector6 pi;
  pi << so3::apply(so3::tangentInverseFunction(w.squaredNorm()).transposed(), w, H.x), w;
  return pi;
}

inline Matrix6 tangent(const Vector6& a) {
  const AdPowers powers(a);
  return powers.evaluate(so3::tangentFunction(powers.angleSquared()));
}
/// T(a)^-1; rotation below 2 pi, as for all inverse tangents.
inline Matrix6 tangentInverse(const Vector6& a) {
  const AdPowers powers(a);
  return powers.evaluate(so3::tangentInverseFunction(powers.angleSquared()));
}
/// D T(a)[b].
inline Matrix6 tangentDirectional(const Vector6& a, const Vector6& b) {
  const AdPowers powers(a);
  return powers.directional(so3::tangentFunction(powers.angleSquared()), b);
}
/// D T^-1(a)[b].
inline Matrix6 tangentInverseDirectional(const Vector6& a, const Vector6& b) {
  const AdPowers powers(a);
  return powers.directional(so3::tangentInverseFunction(powers.angleSquared()), b);
}
/// d( T(a) b ) / da.
inline Matrix6 tangentDerivative(const Vector6& a, const Vector6& b) {
  const AdPowers powers(a);
  return powers.derivative(so3::tangentFunction(powers.angleSquared()), b);
}
/// d( T(a)^-1 b ) / da.
inline Matrix6 tangentInverseDerivative(const Vector6& a, const Vector6& b) {
  const AdPowers powers(a);
  return powers.derivative(so3::tangentInverseFunction(powers.angleSquared()), b);
}
/// d( T(a)^T f ) / da.
inline Matrix6 tangentTransposeDerivative(const Vector6& a, const Vector6& f) {
  const AdPowers powers(a);
  return powers.transposeDerivative(so3::tangentFunction(powers.angleSquared()), f);
}
/// d( T(a)^-T f ) / da.
inline Matrix6 tangentInverseTransposeDerivative(const Vector6& a, const Vector6& f) {
  const AdPowers powers(a);
  return powers.transposeDerivative(so3::tangentInverseFunction(powers.angleSquared()), f);
}

/// cay(pi) = (I - S/2)^-1 (I + S/2) with the 4x4 matrix S(pi): cay(u, w) = (cay(w), (I - S(w)/2)^-1 u). It agrees with exp to second
/// order and turns by less than pi.
inline Pose cayley(const Vector6& pi) {
  const Vector3 w = pi.tail<3>();
  const double r = 4 / (4 + w.squaredNorm());
  return {so3::cayley(w), so3::apply({1, {r / 2}, {r / 4}}, w, pi.head<3>())};
}

/// The inverse of cayley(); unbounded as the angle of rotation approaches pi.
inline Vector6 cayleyInverse(const Pose& H) {
  const Vector3 w = so3::cayleyInverse(H.R);
  Vector6 pi;
  pi << H.x - 0.5 * w.cross(H.x), w;
  return pi;
}

/// The left-trivialised tangent of cayley(): d cay(a) = cay(a) S(T da), T = [(I + S(w)/2)^-1  -S(u) T_SO3/2; 0 T_SO3], T_SO3 the
/// Cayley tangent of SO(3).
inline Matrix6 cayleyTangent(const Vector6& a) {
  const Vector3 w = a.tail<3>();
  const double r = 4 / (4 + w.squaredNorm());
  const Matrix3 T = so3::cayleyTangent(w);
  return upperBlocks(so3::evaluate({1, {-r / 2}, {r / 4}}, w), so3::hat(-0.5 * a.head<3>()) * T, T);
}

/// The inverse of cayleyTangent(): [I + S(w)/2  (I + S(w)/2) S(u)/2; 0 T_SO3^-1].
inline Matrix6 cayleyTangentInverse(const Vector6& a) {
  const Matrix3 C = Matrix3::Identity() + so3::hat(0.5 * a.tail<3>());
  return upperBlocks(C, C * so3::hat(0.5 * a.head<3>()), so3::cayleyTangentInverse(a.tail<3>()));
}

/// The interpolation operator of a two-node helicoidal beam at the fixed point xi (0 and 1 are its nodes). The frame at xi is
/// H(xi) = H_A exp(xi d), d = log(H_A^-1 H_B), and its variation is delta pi(xi) = (I - T*) delta pi_A + T* delta pi_B with
///   T*(xi, d) = xi T(xi d) T^-1(d),
/// the function (1 - exp(-xi z)) / (1 - exp(-z)) of z = ad(d), regular for rotations below 2 pi. The constructor computes the power
/// series for this xi, once per quadrature point of a program; at() is what an element pays. With phi = theta/2 and eta = 1 - 2 xi
/// the closed forms of the coefficients are
///   constant = xi,   odd = (cos(eta phi) - cos(phi)) / (2 theta sin(phi)),   even = (sin(eta phi) / sin(phi) - eta) / (2 theta^2).
class InterpolationSeries {
 public:
  explicit constexpr InterpolationSeries(double xi) : xi_(xi) {
    // Power series in x of the closed forms: numerators over sin(phi) / phi = sum_j a_j x^j.
    const double eta = 1 - 2 * xi;
    std::array<double, size + 1> a{1}, ratio{eta}; // ratio = sin(eta phi) / sin(phi)
    double power = eta * eta, scale = 0.125;       // eta^(2j+2) and (-1/4)^j / (4 (2j+2)!)
    for (int j = 0; j < size; ++j) {
      a[j + 1] = -a[j] / (4 * (2 * j + 2) * (2 * j + 3));
      ratio[j + 1] = power * eta * a[j + 1];
      odd_[j] = scale * (1 - power);
      for (int k = 0; k <= j; ++k) ratio[j + 1] -= ratio[k] * a[j + 1 - k];
      for (int k = 0; k < j; ++k) odd_[j] -= odd_[k] * a[j - k];
      even_[j] = 0.5 * ratio[j + 1];
      power *= eta * eta;
      scale /= -4 * (2 * j + 3) * (2 * j + 4);
    }
  }

  constexpr double xi() const { return xi_; }

  /// T*(xi, d) as a function of ad(d); x is the square of the rotation angle of d, AdPowers(d).angleSquared().
  so3::SkewFunction at(double x) const {
    if (!(x < 2)) return closedForm(x);
    const std::size_t terms = so3::bernoulliTermsFor(x);
    return {xi_, so3::powerSeries(odd_, x, terms), so3::powerSeries(even_, x, terms)};
  }

 private:
  static constexpr int size = so3::bernoulliTerms;

  so3::SkewFunction closedForm(double x) const {
    const double theta = std::sqrt(x), phi = theta / 2, eta = 1 - 2 * xi_;
    const double sine = std::sin(phi), cotangent = std::cos(phi) / sine;
    // r = sin(eta phi) / sin(phi) and q = (cos(eta phi) - cos(phi)) / sin(phi) with their derivatives in phi.
    const double r = std::sin(eta * phi) / sine, q = 2 * std::sin((1 - xi_) * phi) * std::sin(xi_ * phi) / sine;
    const double r1 = eta * std::cos(eta * phi) / sine - r * cotangent, q1 = 1 - eta * r - q * cotangent;
    const double r2 = (1 - eta * eta) * r - 2 * r1 * cotangent, q2 = q / (sine * sine) - eta * r1 - q1 * cotangent;
    // odd = q / (2 theta): derivatives in theta, then in x = theta^2.
    const double odd = q / (2 * theta), oddTheta = (q1 / 4 - odd) / theta, oddTheta2 = (q2 / 8 - 2 * oddTheta) / theta;
    // x even = (r - eta) / 2.
    const double h = (r - eta) / 2, hx = r1 / (8 * theta), hxx = (r2 / 4 - r1 / (2 * theta)) / (8 * x);
    const double even = h / x, evenX = (hx - even) / x;
    return {xi_, {odd, oddTheta / (2 * theta), (oddTheta2 - oddTheta / theta) / (4 * x)}, {even, evenX, (hxx - 2 * evenX) / x}};
  }

  double xi_;
  std::array<double, size> odd_{}, even_{};
};

/// T*(xi, d) of InterpolationSeries, for a single use; keep an InterpolationSeries and AdPowers where speed matters.
inline Matrix6 interpolation(double xi, const Vector6& d) {
  const AdPowers powers(d);
  return powers.evaluate(InterpolationSeries(xi).at(powers.angleSquared()));
}
/// D T*(xi, d)[b].
inline Matrix6 interpolationDirectional(double xi, const Vector6& d, const Vector6& b) {
  const AdPowers powers(d);
  return powers.directional(InterpolationSeries(xi).at(powers.angleSquared()), b);
}
/// d( T*(xi, d) b ) / dd.
inline Matrix6 interpolationDerivative(double xi, const Vector6& d, const Vector6& b) {
  const AdPowers powers(d);
  return powers.derivative(InterpolationSeries(xi).at(powers.angleSquared()), b);
}
/// d( T*(xi, d)^T f ) / dd.
inline Matrix6 interpolationTransposeDerivative(double xi, const Vector6& d, const Vector6& f) {
  const AdPowers powers(d);
  return powers.transposeDerivative(InterpolationSeries(xi).at(powers.angleSquared()), f);
}

}
