#include "shells/uniform_kernel.h"

#include "tendril/lie/so3.h"

#include <array>
#include <cstddef>
#include <type_traits>

// Compiled for processors with fused multiplication and addition of eight or four numbers at once, and for those without; the one that fits
// is chosen at the first call. The address sanitizer does not bear it.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TENDRIL_FUSED
#endif

namespace tendril {

namespace {

/// So many points at a time.
template <int lanes> struct Points;
template <> struct Points<4> { using type = double __attribute__((vector_size(32), aligned(8), may_alias)); };
template <> struct Points<8> { using type = double __attribute__((vector_size(64), aligned(8), may_alias)); };

constexpr int mostTerms = 14;

/// Coefficients of the series of c_k in X, k! times smaller than 1 at the begin.
constexpr std::array<double, mostTerms> seriesOf(int k) {
  double first = 1;
  for (int i = 2; i <= k; ++i) first /= i;
  std::array<double, mostTerms> c{first};
  for (int j = 1; j < mostTerms; ++j) c[std::size_t(j)] = -c[std::size_t(j) - 1] / (double(k + 2 * j - 1) * (k + 2 * j));
  return c;
}
constexpr std::array<double, mostTerms> series5 = seriesOf(5), series6 = seriesOf(6), series7 = seriesOf(7);

/// Terms after which the functions by series, and what they add to the others, are exact to round-off; 0 where the series does not serve.
int termsFor(double x) { return x < 0.3 ? 6 : x < 1.5 ? 8 : x < 4 ? 10 : x < 10 ? mostTerms : 0; }

/// A series: even and odd powers apart, which do not wait for one another.
template <int terms, class Many>
inline __attribute__((always_inline)) void sumSeries(const std::array<double, mostTerms>& a, const Many& x, const Many& square, Many& sum) {
  Many even = Many{} + a[terms - 2], odd = Many{} + a[terms - 1];
  for (int j = terms - 4; j >= 0; j -= 2) even = even * square + a[std::size_t(j)], odd = odd * square + a[std::size_t(j) + 1];
  sum = even + x * odd;
}

/// Two neighbouring Stumpff functions by their series, and those before them by c_k = 1 / k! - X c_{k+2}; or all of them one by one.
template <int terms, int first, class Many> inline __attribute__((always_inline)) void stumpffOf(const Many& x, Many (&c)[8]) {
  if constexpr (terms > 0) {
    const Many square = x * x;
    sumSeries<terms>(first == 5 ? series5 : series6, x, square, c[first]);
    sumSeries<terms>(first == 5 ? series6 : series7, x, square, c[first + 1]);
    constexpr double start[6]{1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120};
    for (int k = first - 1; k >= 2; --k) c[k] = start[k] - x * c[k + 2];
  } else {
    for (std::size_t lane = 0; lane < sizeof(Many) / sizeof(double); ++lane) {
      const std::array<double, 8> all = so3::stumpff(x[lane]);
      for (int k = 2; k <= first + 1; ++k) c[k][lane] = all[std::size_t(k)];
    }
  }
}

template <class Many> inline __attribute__((always_inline)) const Many& at(const std::vector<double>& x, std::size_t i) {
  return *reinterpret_cast<const Many*>(&x[i]);
}
/// The sum of all, by halves.
template <class Many> inline __attribute__((always_inline)) double total(const Many& x) {
  constexpr std::size_t lanes = sizeof(Many) / sizeof(double);
  double sum[lanes];
  for (std::size_t lane = 0; lane < lanes; ++lane) sum[lane] = x[lane];
  for (std::size_t half = lanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane) sum[lane] += sum[lane + half];
  return sum[0];
}

/// See uniform_patch.h and air_drag.h. A point depends on q through w = b s alone: with f = c3 sigma and z = c2 sigma
///
///     r = (s - f w, z),      dr/dw_i = (-(a_i w + f e_i), z_i),      a_i = 2 c3' sigma w_i + c3 s_i,      z_i = 2 c2' sigma w_i + c2 s_i,
///
/// c_k' by X, and dw/dq = [s1 0 s2; 0 s2 s1]. Minus the first two components of the acceleration along v, where w' = b(v) s, are
/// f'' w + 2 f' w' with f' = a . w'.
template <int terms, int lanes>
inline __attribute__((always_inline)) void sumPoints(const UniformIntegrand& of, const ProductRule& rule, UniformSums& sums) {
  using Many = typename Points<lanes>::type;
  const double q0 = of.q[0], q1 = of.q[1], q2 = of.q[2], v0 = of.v[0], v1 = of.v[1], v2 = of.v[2];
  Many m00{}, m01{}, m02{}, m11{}, m12{}, m22{}, h0{}, h1{}, h2{};
  for (std::size_t i = 0; i < rule.points; i += lanes) {
    const Many s1 = of.middle[0] + of.half[0] * at<Many>(rule.x1, i), s2 = of.middle[1] + of.half[1] * at<Many>(rule.x2, i);
    const Many w1 = q0 * s1 + q2 * s2, w2 = q2 * s1 + q1 * s2, sigma = s1 * w1 + s2 * w2, x = w1 * w1 + w2 * w2;
    Many c[8];
    stumpffOf<terms, 6>(x, c);
    const Many c2x = 2 * c[4] - c[3], c3x = 3 * c[5] - c[4];                          // twice the derivatives by X
    const Many c2xx = 8 * c[6] - 5 * c[5] + c[4], c3xx = 15 * c[7] - 7 * c[6] + c[5]; // four times the second ones
    const Many f = c[3] * sigma, fx = c3x * sigma, zx = c2x * sigma, fw1 = f * w1, fw2 = f * w2;
    const Many a1 = fx * w1 + c[3] * s1, a2 = fx * w2 + c[3] * s2, z1 = zx * w1 + c[2] * s1, z2 = zx * w2 + c[2] * s2;

    const Many w1v = v0 * s1 + v2 * s2, w2v = v2 * s1 + v1 * s2, sigmav = s1 * w1v + s2 * w2v;
    const Many half = w1 * w1v + w2 * w2v, square = w1v * w1v + w2v * w2v, mixed = 2 * half * sigmav, fv = a1 * w1v + a2 * w2v;
    const Many bend = half * half * sigma, fvv = c3xx * bend + fx * square + c3x * mixed;
    Many r1 = fvv * w1 + 2 * fv * w1v + of.g[0], r2 = fvv * w2 + 2 * fv * w2v + of.g[1];
    Many r3 = c2xx * bend + zx * square + c2x * mixed - of.g[2];
    if (of.drag > 0) { // along the normal (-c1 w1, -c1 w2, 1 - c2 x)
      const Many c1 = 1 - x * c[3], n1 = c1 * w1, n2 = c1 * w2, n3 = 1 - x * c[2];
      const Many through =
          n1 * (fv * w1 + f * w1v + of.wind[0]) + n2 * (fv * w2 + f * w2v + of.wind[1]) + n3 * (z1 * w1v + z2 * w2v - of.wind[2]);
      const Many pressure = of.drag * through * (through < 0 ? -through : through);
      r1 += pressure * n1, r2 += pressure * n2, r3 += pressure * n3;
    }
    const Many weight = at<Many>(rule.w, i), u1 = weight * s1, u2 = weight * s2;
    const Many rw = r1 * w1 + r2 * w2, p1 = a1 * rw + f * r1 + z1 * r3, p2 = a2 * rw + f * r2 + z2 * r3;
    h0 += u1 * p1, h1 += u2 * p2, h2 += u2 * p1 + u1 * p2;

    const Many b1 = a1 * x + fw1, b2 = a2 * x + fw2, ff = f * f;
    const Many g11 = a1 * (b1 + fw1) + ff + z1 * z1, g12 = a2 * b1 + a1 * fw2 + z1 * z2, g22 = a2 * (b2 + fw2) + ff + z2 * z2;
    const Many u11 = u1 * s1, u12 = u1 * s2, u22 = u2 * s2;
    m00 += u11 * g11, m01 += u12 * g12, m02 += u12 * g11 + u11 * g12;
    m11 += u22 * g22, m12 += u22 * g12 + u12 * g22, m22 += u22 * g11 + 2 * u12 * g12 + u11 * g22;
  }
  sums.mass[0] = total(m00), sums.mass[1] = total(m01), sums.mass[2] = total(m02);
  sums.mass[3] = total(m11), sums.mass[4] = total(m12), sums.mass[5] = total(m22);
  sums.force[0] = total(h0), sums.force[1] = total(h1), sums.force[2] = total(h2);
}

/// In the basis (t, b, e3) of a cylinder, with Stumpff functions of X = x^2, x = kappa u, cos x = 1 - X c2 and sin x = x c1,
///
///     r = (u c1, w, u x c2),      r_kappa = u^2 (x (c3 - c2), 0, c1 - c2),        r_phi = (w X c2, u X c3, -w sin x).
///
/// Products of these and of second derivatives lose their sines and cosines:
///
///     r_kappa . r_kappa = 2 u^4 (c3 - c4),    r_kappa . r_phi = -kappa w u^3 c2,    r_phi . r_phi = kappa^2 u^2 (2 w^2 c2 + u^2 X c3^2),
///     r_kappa . r_kappakappa = kappa u^6 (4 c5 - 4 c6 - c4),                        r_phi . r_kappakappa = kappa^2 w u^5 (c3 - 2 c4),
///     r_kappa . r_kappaphi = -w u^3 c2,                                             r_phi . r_kappaphi = kappa u^2 (w^2 c1 - e),
///     r_kappa . r_phiphi = kappa u^2 ((w^2 - u^2) c2 + e),      r_phi . r_phiphi = kappa^2 w u (u^2 c2 (1 + c1) - w^2 c1),
///
/// e = u^2 X c3 (c3 - c2).
template <int terms, int lanes, class Sums>
inline __attribute__((always_inline)) void sumPoints(const ConeIntegrand& of, const ProductRule& rule, Sums& sums) {
  using Many = typename Points<lanes>::type;
  constexpr bool isEnergy = std::is_same_v<Sums, ConeEnergySums>;
  const double k = of.kappa, kk = k * k;
  const double u0 = of.cosine * of.middle[0] + of.sine * of.middle[1], w0 = of.sine * of.middle[0] - of.cosine * of.middle[1];
  const double u1 = of.cosine * of.half[0], u2 = of.sine * of.half[1], w1 = of.sine * of.half[0], w2 = -of.cosine * of.half[1];
  const double gravity[5]{k * of.g[0], of.g[2], kk * of.g[0], k * of.g[2], kk * of.g[1]};
  Many m00{}, m01{}, m11{}, k00{}, kpp{}, p00{}, pkp{}, ppp{}, h0{}, h1{}, height{}, power{};
  for (std::size_t i = 0; i < rule.points; i += lanes) {
    const Many x1 = at<Many>(rule.x1, i), x2 = at<Many>(rule.x2, i), weight = at<Many>(rule.w, i);
    const Many u = u0 + u1 * x1 + u2 * x2, w = w0 + w1 * x1 + w2 * x2, uu = u * u, ww = w * w, square = kk * uu;
    Many c[8];
    stumpffOf<terms, 5>(square, c);
    const Many c1 = 1 - square * c[3], lag = square * c[3], c32 = c[3] - c[2], bend = uu * c[2];
    const Many a = weight * uu, b = weight * w * u, aa = a * uu, bb = b * uu;
    m00 += aa * (c[3] - c[4]);
    m01 += bb * c[2];
    m11 += a * (2 * ww * c[2] + uu * lag * c[3]);
    if constexpr (isEnergy) {
      height += weight * (of.g[0] * u * c1 + of.g[1] * w + k * of.g[2] * bend);
    } else {
      const Many e = uu * lag * c32;
      k00 += aa * uu * (4 * (c[5] - c[6]) - c[4]);
      kpp += a * (ww * c[2] - bend + e);
      p00 += bb * uu * (c[3] - 2 * c[4]);
      pkp += a * (ww * c1 - e);
      ppp += b * (bend * (1 + c1) - ww * c1);
      h0 -= a * (gravity[0] * u * c32 + gravity[1] * (c1 - c[2]));
      h1 -= b * (gravity[2] * u * c[2] - gravity[3] * c1) + a * u * (gravity[4] * c[3]);
    }
    if (of.drag > 0) { // along the normal (-sin x, 0, cos x)
      const Many x = k * u, sine = x * c1, cosine = 1 - square * c[2];
      const Many byKappa = uu * (cosine * (c1 - c[2]) - sine * x * c32), byPhi = -w * (cosine * sine + sine * square * c[2]);
      const Many own = of.v[0] * byKappa + of.v[1] * byPhi, through = own - cosine * of.wind[2] + sine * of.wind[0];
      const Many pressure = weight * of.drag * through * (through < 0 ? -through : through);
      if constexpr (isEnergy)
        power -= pressure * own;
      else
        h0 += pressure * byKappa, h1 += pressure * byPhi;
    }
  }
  const double across = total(m01);
  sums.mass[0] = 2 * total(m00), sums.mass[1] = -k * across, sums.mass[2] = kk * total(m11);
  if constexpr (isEnergy) {
    sums.weight = total(height), sums.power = total(power);
  } else {
    const double along = of.v[0] * of.v[0], mixed = 2 * of.v[0] * of.v[1], turning = of.v[1] * of.v[1];
    sums.force[0] = total(h0) + along * k * total(k00) - mixed * across + turning * k * total(kpp);
    sums.force[1] = total(h1) + along * kk * total(p00) + mixed * k * total(pkp) + turning * kk * total(ppp);
  }
}

/// The number of terms is known to the compiler, which unrolls the series.
template <int lanes, class Integrand, class Sums>
inline __attribute__((always_inline)) void sumPatch(const Integrand& of, const ProductRule& rule, Sums& sums) {
  switch (termsFor(of.largest)) {
  case 6:
    return sumPoints<6, lanes>(of, rule, sums);
  case 8:
    return sumPoints<8, lanes>(of, rule, sums);
  case 10:
    return sumPoints<10, lanes>(of, rule, sums);
  case mostTerms:
    return sumPoints<mostTerms, lanes>(of, rule, sums);
  default:
    return sumPoints<0, lanes>(of, rule, sums);
  }
}

#ifdef TENDRIL_FUSED
const bool hasFused = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
const bool hasWide = hasFused && __builtin_cpu_supports("avx512f");

template <class Integrand, class Sums>
__attribute__((target("avx2,fma"))) void sumPatchFused(const Integrand& of, const ProductRule& rule, Sums& sums) {
  sumPatch<4>(of, rule, sums);
}
template <class Integrand, class Sums>
__attribute__((target("avx512f,avx2,fma"))) void sumPatchWide(const Integrand& of, const ProductRule& rule, Sums& sums) {
  sumPatch<8>(of, rule, sums);
}
#endif

template <class Integrand, class Sums> void sumOnThisProcessor(const Integrand& of, const ProductRule& rule, Sums& sums) {
#ifdef TENDRIL_FUSED
  if (hasWide) return sumPatchWide(of, rule, sums);
  if (hasFused) return sumPatchFused(of, rule, sums);
#endif
  sumPatch<4>(of, rule, sums);
}

}

void sumConePatch(const ConeIntegrand& of, const ProductRule& rule, ConeSums& sums) { sumOnThisProcessor(of, rule, sums); }
void sumConeEnergies(const ConeIntegrand& of, const ProductRule& rule, ConeEnergySums& sums) { sumOnThisProcessor(of, rule, sums); }
void sumUniformPatch(const UniformIntegrand& of, const ProductRule& rule, UniformSums& sums) { sumOnThisProcessor(of, rule, sums); }

}
