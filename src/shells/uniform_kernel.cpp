#include "shells/uniform_kernel.h"

#include "tendril/lie/so3.h"

#include <array>
#include <cstddef>
#include <type_traits>

// Compiled for processors with and without fused multiplication and addition; the one that fits is chosen at the first call. The address
// sanitizer does not bear it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TENDRIL_FUSED
#endif

namespace tendril {

namespace {

// Four points at a time.
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));

constexpr int mostTerms = 13;

/// Coefficients of the series of c_k in X, k! times smaller than 1 at the begin.
constexpr std::array<double, mostTerms> seriesOf(int k) {
  double first = 1;
  for (int i = 2; i <= k; ++i) first /= i;
  std::array<double, mostTerms> c{first};
  for (int j = 1; j < mostTerms; ++j) c[std::size_t(j)] = -c[std::size_t(j) - 1] / (double(k + 2 * j - 1) * (k + 2 * j));
  return c;
}
constexpr std::array<double, mostTerms> series4 = seriesOf(4), series5 = seriesOf(5), series6 = seriesOf(6), series7 = seriesOf(7);

/// Terms after which c_6 and c_7, and what c_4 and c_5 add to c_2 and c_3, are exact to round-off; 0 where the series does not serve.
int termsFor(double x) { return x < 0.3 ? 6 : x < 1.5 ? 8 : x < 4 ? 10 : x < 10 ? mostTerms : 0; }

}

namespace {

/// See uniform_patch.h and air_drag.h. With f = c3 sigma the derivatives along q_j are
///
///     d_j r = -(f' w + f d_j w),  c2' d_j X sigma + c2 d_j sigma,        f' = c3' d_j X sigma + c3 d_j sigma,
///
/// and likewise along v twice, where the second derivative of X is 2 |w'|^2 and those of w and sigma vanish.
template <int terms>
inline __attribute__((always_inline)) void sumPoints(const UniformIntegrand& of, const ProductRule& rule, UniformSums& sums) {
  const double q0 = of.q[0], q1 = of.q[1], q2 = of.q[2], v0 = of.v[0], v1 = of.v[1], v2 = of.v[2];
  const double g0 = of.g[0], g1 = of.g[1], g2 = of.g[2];
  Four m00{}, m01{}, m02{}, m11{}, m12{}, m22{}, h0{}, h1{}, h2{};
  for (std::size_t i = 0; i < rule.w.size(); i += 4) {
    const Four s1 = of.middle[0] + of.half[0] * *reinterpret_cast<const Four*>(&rule.x1[i]);
    const Four s2 = of.middle[1] + of.half[1] * *reinterpret_cast<const Four*>(&rule.x2[i]);
    const Four weight = *reinterpret_cast<const Four*>(&rule.w[i]);
    const Four w1 = q0 * s1 + q2 * s2, w2 = q2 * s1 + q1 * s2, sigma = s1 * w1 + s2 * w2, x = w1 * w1 + w2 * w2;

    Four c2, c3, c4, c5, c6, c7;
    if constexpr (terms > 0) {
      c6 = c7 = Four{};
      for (int j = terms - 1; j >= 0; --j) c6 = c6 * x + series6[std::size_t(j)], c7 = c7 * x + series7[std::size_t(j)];
      c5 = 1. / 120 - x * c7, c4 = 1. / 24 - x * c6, c3 = 1. / 6 - x * c5, c2 = 0.5 - x * c4;
    } else {
      for (int lane = 0; lane < 4; ++lane) {
        const std::array<double, 8> c = so3::stumpff(x[lane]);
        c2[lane] = c[2], c3[lane] = c[3], c4[lane] = c[4], c5[lane] = c[5], c6[lane] = c[6], c7[lane] = c[7];
      }
    }
    const Four c2x = c4 - 0.5 * c3, c3x = 1.5 * c5 - 0.5 * c4;
    const Four c2xx = 0.25 * c4 - 1.25 * c5 + 2 * c6, c3xx = 0.25 * c5 - 1.75 * c6 + 3.75 * c7;

    const Four f = c3 * sigma, fx = c3x * sigma, zx = c2x * sigma;
    const Four square1 = s1 * s1, square2 = s2 * s2, product = 2 * s1 * s2;
    const Four x0 = 2 * w1 * s1, x1 = 2 * w2 * s2, x2 = 2 * (w1 * s2 + w2 * s1);
    const Four f0 = fx * x0 + c3 * square1, f1 = fx * x1 + c3 * square2, f2 = fx * x2 + c3 * product;
    const Four a0 = f0 * w1 + f * s1, b0 = f0 * w2, z0 = zx * x0 + c2 * square1; // minus the first two components
    const Four a1 = f1 * w1, b1 = f1 * w2 + f * s2, z1 = zx * x1 + c2 * square2;
    const Four a2 = f2 * w1 + f * s2, b2 = f2 * w2 + f * s1, z2 = zx * x2 + c2 * product;

    const Four w1v = v0 * s1 + v2 * s2, w2v = v2 * s1 + v1 * s2, sigmav = s1 * w1v + s2 * w2v;
    const Four xv = 2 * (w1 * w1v + w2 * w2v), xvv = 2 * (w1v * w1v + w2v * w2v);
    const Four fvv = (c3xx * xv * xv + c3x * xvv) * sigma + 2 * c3x * xv * sigmav, fv2 = 2 * (fx * xv + c3 * sigmav);
    Four r1 = fvv * w1 + fv2 * w1v + g0, r2 = fvv * w2 + fv2 * w2v + g1;
    Four r3 = (c2xx * xv * xv + c2x * xvv) * sigma + 2 * c2x * xv * sigmav - g2;
    if (of.drag > 0) { // along the normal (-c1 w1, -c1 w2, 1 - c2 x)
      const Four c1 = 1 - x * c3, n1 = c1 * w1, n2 = c1 * w2, n3 = 1 - x * c2;
      const Four through = n1 * (a0 * v0 + a1 * v1 + a2 * v2 + of.wind[0]) + n2 * (b0 * v0 + b1 * v1 + b2 * v2 + of.wind[1]) +
                           n3 * (z0 * v0 + z1 * v1 + z2 * v2 - of.wind[2]);
      const Four pressure = of.drag * through * (through < 0 ? -through : through);
      r1 += pressure * n1, r2 += pressure * n2, r3 += pressure * n3;
    }
    r1 *= weight, r2 *= weight, r3 *= weight;

    h0 += a0 * r1 + b0 * r2 + z0 * r3;
    h1 += a1 * r1 + b1 * r2 + z1 * r3;
    h2 += a2 * r1 + b2 * r2 + z2 * r3;
    const Four wa0 = weight * a0, wb0 = weight * b0, wz0 = weight * z0, wa1 = weight * a1, wb1 = weight * b1, wz1 = weight * z1;
    m00 += wa0 * a0 + wb0 * b0 + wz0 * z0;
    m01 += wa0 * a1 + wb0 * b1 + wz0 * z1;
    m02 += wa0 * a2 + wb0 * b2 + wz0 * z2;
    m11 += wa1 * a1 + wb1 * b1 + wz1 * z1;
    m12 += wa1 * a2 + wb1 * b2 + wz1 * z2;
    m22 += weight * (a2 * a2 + b2 * b2 + z2 * z2);
  }
  const Four mass[6]{m00, m01, m02, m11, m12, m22}, force[3]{h0, h1, h2};
  for (int k = 0; k < 6; ++k) sums.mass[k] = mass[k][0] + mass[k][1] + mass[k][2] + mass[k][3];
  for (int k = 0; k < 3; ++k) sums.force[k] = force[k][0] + force[k][1] + force[k][2] + force[k][3];
}

/// In the basis (t, b, e3) of a cylinder (oracles of the derivatives are the closed forms in cos x and sin x, x = kappa u), with Stumpff
/// functions of X = x^2, cos x = 1 - X c2 and sin x = x (1 - X c3):
///
///     r_kappa = u^2 (x (c3 - c2), 0, 1 - X c3 - c2),        r_phi = (w X c2, u X c3, -w sin x),
///
/// and their derivatives; r = (u (1 - X c3), w, u x c2).
template <int terms, class Sums>
inline __attribute__((always_inline)) void sumPoints(const ConeIntegrand& of, const ProductRule& rule, Sums& sums) {
  constexpr bool isEnergy = std::is_same_v<Sums, ConeEnergySums>;
  const double k = of.kappa, kk = of.v[0] * of.v[0], kp = 2 * of.v[0] * of.v[1], pp = of.v[1] * of.v[1];
  Four m00{}, m01{}, m11{}, h0{}, h1{}, height{}, power{};
  for (std::size_t i = 0; i < rule.w.size(); i += 4) {
    const Four s1 = of.middle[0] + of.half[0] * *reinterpret_cast<const Four*>(&rule.x1[i]);
    const Four s2 = of.middle[1] + of.half[1] * *reinterpret_cast<const Four*>(&rule.x2[i]);
    const Four weight = *reinterpret_cast<const Four*>(&rule.w[i]);
    const Four u = of.cosine * s1 + of.sine * s2, w = of.sine * s1 - of.cosine * s2, x = k * u, square = x * x;
    Four c2, c3, c4, c5;
    if constexpr (terms > 0) {
      c4 = c5 = Four{};
      for (int j = terms - 1; j >= 0; --j) c4 = c4 * square + series4[std::size_t(j)], c5 = c5 * square + series5[std::size_t(j)];
      c3 = 1. / 6 - square * c5, c2 = 0.5 - square * c4;
    } else {
      for (int lane = 0; lane < 4; ++lane) {
        const std::array<double, 8> c = so3::stumpff(square[lane]);
        c2[lane] = c[2], c3[lane] = c[3], c4[lane] = c[4];
      }
    }
    const Four uu = u * u, bow = square * c2, lag = square * c3, cosine = 1 - bow, sine = x * (1 - lag);
    const Four kt = uu * x * (c3 - c2), ke = uu * (1 - lag - c2);
    const Four pt = w * bow, pb = u * lag, pe = -w * sine;
    const Four wkt = weight * kt, wke = weight * ke, wpt = weight * pt, wpb = weight * pb, wpe = weight * pe;
    m00 += wkt * kt + wke * ke;
    m01 += wkt * pt + wke * pe;
    m11 += wpt * pt + wpb * pb + wpe * pe;
    if constexpr (isEnergy) {
      height += weight * (of.g[0] * u * (1 - lag) + of.g[1] * w + of.g[2] * u * x * c2);
      if (of.drag > 0) {
        const Four own = cosine * (of.v[0] * ke + of.v[1] * pe) - sine * (of.v[0] * kt + of.v[1] * pt);
        const Four through = own - cosine * of.wind[2] + sine * of.wind[0];
        power -= weight * of.drag * through * (through < 0 ? -through : through) * own;
      }
      continue;
    }
    const Four kkt = uu * u * (lag - 2 * c3 - 2 * square * c4), kke = uu * u * x * (2 * c3 - c2 - 2 * c4);
    const Four uw = u * w, kww = k * w * w;
    Four at = kk * kkt + kp * (uw * sine) + pp * (u * (bow + lag) - kww * sine) - of.g[0];
    Four ab = -kp * kt - (2 * pp) * pt - of.g[1];
    Four ae = kk * kke - kp * (uw * cosine) + pp * (kww * cosine - u * sine) - of.g[2];
    if (of.drag > 0) { // along the normal (-sin x, 0, cos x)
      const Four through = cosine * (of.v[0] * ke + of.v[1] * pe - of.wind[2]) - sine * (of.v[0] * kt + of.v[1] * pt - of.wind[0]);
      const Four pressure = of.drag * through * (through < 0 ? -through : through);
      at -= pressure * sine, ae += pressure * cosine;
    }
    h0 += wkt * at + wke * ae;
    h1 += wpt * at + wpb * ab + wpe * ae;
  }
  const auto total = [](const Four& x) { return x[0] + x[1] + x[2] + x[3]; };
  sums.mass[0] = total(m00), sums.mass[1] = total(m01), sums.mass[2] = total(m11);
  if constexpr (isEnergy)
    sums.weight = total(height), sums.power = total(power);
  else
    sums.force[0] = total(h0), sums.force[1] = total(h1);
}

/// The number of terms is known to the compiler, which unrolls the series.
template <class Integrand, class Sums>
inline __attribute__((always_inline)) void sumPatch(const Integrand& of, const ProductRule& rule, Sums& sums) {
  switch (termsFor(of.largest)) {
  case 6:
    return sumPoints<6>(of, rule, sums);
  case 8:
    return sumPoints<8>(of, rule, sums);
  case 10:
    return sumPoints<10>(of, rule, sums);
  case mostTerms:
    return sumPoints<mostTerms>(of, rule, sums);
  default:
    return sumPoints<0>(of, rule, sums);
  }
}

#ifdef TENDRIL_FUSED
const bool hasFused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");

template <class Integrand, class Sums>
__attribute__((target("avx2,fma"))) void sumPatchFused(const Integrand& of, const ProductRule& rule, Sums& sums) {
  sumPatch(of, rule, sums);
}
#endif

template <class Integrand, class Sums> void sumOnThisProcessor(const Integrand& of, const ProductRule& rule, Sums& sums) {
#ifdef TENDRIL_FUSED
  if (hasFused) return sumPatchFused(of, rule, sums);
#endif
  sumPatch(of, rule, sums);
}

}

void sumConePatch(const ConeIntegrand& of, const ProductRule& rule, ConeSums& sums) { sumOnThisProcessor(of, rule, sums); }
void sumConeEnergies(const ConeIntegrand& of, const ProductRule& rule, ConeEnergySums& sums) { sumOnThisProcessor(of, rule, sums); }
void sumUniformPatch(const UniformIntegrand& of, const ProductRule& rule, UniformSums& sums) { sumOnThisProcessor(of, rule, sums); }

}
