#pragma once

#include <cmath>
#include <vector>

namespace tendril::oracles {

struct Jacobi {
  double sn = 0, cn = 1, dn = 1;
};

/// Jacobi's elliptic functions of u with the modulus k < 1 (parameter m = k^2), by descending Landen transformations, that is, the
/// arithmetic-geometric mean (Abramowitz & Stegun 16.4).
inline Jacobi jacobi(double u, double k) {
  std::vector<double> a{1}, c{k};
  double b = std::sqrt(1 - k * k);
  while (std::abs(c.back()) > 1e-16) {
    a.push_back((a.back() + b) / 2);
    c.push_back((a[a.size() - 2] - b) / 2);
    b = std::sqrt(a[a.size() - 2] * b);
  }
  double phi = std::ldexp(a.back() * u, int(a.size()) - 1);
  for (std::size_t n = a.size() - 1; n > 0; --n) phi = (phi + std::asin(c[n] / a[n] * std::sin(phi))) / 2;
  const double sn = std::sin(phi);
  return {sn, std::cos(phi), std::sqrt(1 - k * k * sn * sn)};
}

}
