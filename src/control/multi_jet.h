#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>

namespace tendril {

/// A number or matrix with its derivatives along independent directions: component k belongs to the set of directions whose bits k has, so
/// that K = 1 is the value alone, K = 2 adds the derivative along s, and K = 4 holds value, d/ds, d/dr, d2/ds dr. Products follow Leibniz'
/// rule over subsets, exactly (Griewank & Walther 2008, ch. 13).
template <class M, std::size_t K> struct MultiJet {
  static_assert(std::has_single_bit(K));
  std::array<M, K> part;
};

/// result += a o b, with any bilinear o.
template <class A, class B, class C, std::size_t K, class Product>
void addProduct(const MultiJet<A, K>& a, const MultiJet<B, K>& b, MultiJet<C, K>& result, Product product) {
  for (std::size_t k = 0; k < K; ++k)
    for (std::size_t i = 0; i <= k; ++i)
      if ((i & k) == i) result.part[k] += product(a.part[i], b.part[k ^ i]);
}

/// f(x) from its value and first two derivatives.
template <std::size_t K> MultiJet<double, K> compose(const MultiJet<double, K>& x, double f, double df, double ddf) {
  static_assert(K <= 4);
  MultiJet<double, K> y;
  y.part[0] = f;
  for (std::size_t k = 1; k < K; ++k) y.part[k] = df * x.part[k];
  if constexpr (K == 4) y.part[3] += ddf * x.part[1] * x.part[2];
  return y;
}

}
