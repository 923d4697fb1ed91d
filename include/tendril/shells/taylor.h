#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

namespace tendril {

/// A polynomial of total degree Order in the increments of three variables: value and all partial derivatives up to that order of a
/// function at a point, carried through sums, products and analytic functions exactly. Coefficients belong to monomials in the order of
/// their degree, 1; x, y, z; xx, xy, xz, yy, yz, zz; xxx, ...
template <int Order> class Taylor {
 public:
  static constexpr int variables = 3;
  static constexpr int count = (Order + 1) * (Order + 2) * (Order + 3) / 6;

  Taylor() = default;
  Taylor(double value) { c_[0] = value; } // numbers are constant polynomials
  /// Variable number i, at a value.
  static Taylor variable(int i, double value) {
    Taylor x(value);
    x.c_[1 + std::size_t(i)] = 1;
    return x;
  }

  double value() const { return c_[0]; }
  double first(int i) const { return c_[1 + std::size_t(i)]; }
  double second(int i, int j) const {
    static_assert(Order >= 2);
    return scaled(seconds[std::size_t(i)][std::size_t(j)]);
  }
  double third(int i, int j, int k) const {
    static_assert(Order >= 3);
    return scaled(thirds[std::size_t(i)][std::size_t(j)][std::size_t(k)]);
  }

  Taylor& operator+=(const Taylor& b) {
    for (std::size_t i = 0; i < count; ++i) c_[i] += b.c_[i];
    return *this;
  }
  Taylor& operator-=(const Taylor& b) {
    for (std::size_t i = 0; i < count; ++i) c_[i] -= b.c_[i];
    return *this;
  }
  Taylor& operator*=(double s) {
    for (double& c : c_) c *= s;
    return *this;
  }
  friend Taylor operator+(Taylor a, const Taylor& b) { return a += b; }
  friend Taylor operator-(Taylor a, const Taylor& b) { return a -= b; }
  friend Taylor operator-(Taylor a) { return a *= -1; }
  friend Taylor operator*(Taylor a, double s) { return a *= s; }
  friend Taylor operator*(double s, Taylor a) { return a *= s; }
  friend Taylor operator*(const Taylor& a, const Taylor& b) {
    Taylor product;
    multiply(a, b, product, std::make_index_sequence<productCount>());
    return product;
  }

  /// a times variable number i, which has this value: cheaper than a product.
  friend Taylor timesVariable(const Taylor& a, int i, double value) {
    Taylor product = a * value;
    for (std::size_t k = 0; k < lowerCount; ++k) product.c_[raised[std::size_t(i)][k]] += a.c_[k];
    return product;
  }
  /// sum += s a.
  friend void addScaled(Taylor& sum, double s, const Taylor& a) {
    for (std::size_t i = 0; i < count; ++i) sum.c_[i] += s * a.c_[i];
  }

  /// f(a) of a function with the given value and derivatives at a.value().
  friend Taylor composed(const Taylor& a, const std::array<double, 4>& f) {
    Taylor delta = a;
    delta.c_[0] = 0;
    Taylor sum(f[Order] / factorial(Order));
    for (int k = Order - 1; k >= 0; --k) {
      sum = sum * delta;
      sum.c_[0] += f[std::size_t(k)] / factorial(k);
    }
    return sum;
  }

 private:
  struct Triple {
    std::size_t first, second, to;
  };
  using Powers = std::array<int, 3>;
  /// Powers of the product of two monomials.
  static constexpr Powers times(const Powers& a, const Powers& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
  static constexpr double factorial(int k) { return k < 2 ? 1 : k * factorial(k - 1); }
  static constexpr std::array<Powers, std::size_t(count)> monomials = [] {
    std::array<Powers, std::size_t(count)> list{};
    std::size_t n = 0;
    for (int degree = 0; degree <= Order; ++degree)
      for (int x = degree; x >= 0; --x)
        for (int y = degree - x; y >= 0; --y) list[n++] = {x, y, degree - x - y};
    return list;
  }();
  static constexpr std::size_t placeOf(const Powers& p) {
    std::size_t i = 0;
    while (i + 1 < monomials.size() && monomials[i] != p) ++i;
    return i;
  }
  static constexpr std::size_t productCount = [] {
    std::size_t n = 0;
    for (const Powers& a : monomials)
      for (const Powers& b : monomials) n += a[0] + a[1] + a[2] + b[0] + b[1] + b[2] <= Order;
    return n;
  }();
  /// In the order of what they add to.
  static constexpr std::array<Triple, productCount> products = [] {
    std::array<Triple, productCount> list{};
    std::size_t n = 0;
    for (std::size_t to = 0; to < monomials.size(); ++to)
      for (std::size_t i = 0; i < monomials.size(); ++i)
        for (std::size_t j = 0; j < monomials.size(); ++j)
          if (times(monomials[i], monomials[j]) == monomials[to]) list[n++] = {i, j, to};
    return list;
  }();
  /// One after the other without a loop: most of the time of sheets goes here.
  template <std::size_t... n>
  __attribute__((noinline)) static void multiply(const Taylor& a, const Taylor& b, Taylor& product, std::index_sequence<n...>) {
    ((product.c_[products[n].to] += a.c_[products[n].first] * b.c_[products[n].second]), ...);
  }

  /// A derivative is a coefficient times factorials.
  struct Derivative {
    std::size_t place = 0;
    double factor = 1;
  };
  static constexpr Derivative derivative(const Powers& p) { return {placeOf(p), factorial(p[0]) * factorial(p[1]) * factorial(p[2])}; }
  static constexpr Powers unit(std::size_t i) { return {i == 0, i == 1, i == 2}; }
  static constexpr auto seconds = [] {
    std::array<std::array<Derivative, 3>, 3> table{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j) table[i][j] = derivative(times(unit(i), unit(j)));
    return table;
  }();
  static constexpr auto thirds = [] {
    std::array<std::array<std::array<Derivative, 3>, 3>, 3> table{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t k = 0; k < 3; ++k) table[i][j][k] = derivative(times(times(unit(i), unit(j)), unit(k)));
    return table;
  }();
  /// Monomials below the highest degree, and where they are times a variable.
  static constexpr std::size_t lowerCount = std::size_t(Order * (Order + 1) * (Order + 2) / 6);
  static constexpr auto raised = [] {
    std::array<std::array<std::size_t, lowerCount>, 3> table{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < lowerCount; ++k) table[i][k] = placeOf(times(monomials[k], unit(i)));
    return table;
  }();
  double scaled(const Derivative& d) const { return d.factor * c_[d.place]; }

  std::array<double, std::size_t(count)> c_{};
};

template <int Order> Taylor<Order> sin(const Taylor<Order>& a) {
  const double s = std::sin(a.value()), c = std::cos(a.value());
  return composed(a, {s, c, -s, -c});
}
template <int Order> Taylor<Order> cos(const Taylor<Order>& a) {
  const double s = std::sin(a.value()), c = std::cos(a.value());
  return composed(a, {c, -s, -c, s});
}
template <int Order> Taylor<Order> sqrt(const Taylor<Order>& a) {
  const double r = std::sqrt(a.value()), x = a.value();
  return composed(a, {r, r / (2 * x), -r / (4 * x * x), 3 * r / (8 * x * x * x)});
}
template <int Order> Taylor<Order> reciprocal(const Taylor<Order>& a) {
  const double y = 1 / a.value();
  return composed(a, {y, -y * y, 2 * y * y * y, -6 * y * y * y * y});
}
inline double reciprocal(double a) { return 1 / a; }
inline double timesVariable(double a, int, double value) { return a * value; }
inline void addScaled(double& sum, double s, double a) { sum += s * a; }
inline double valueOf(double a) { return a; }
template <int Order> double valueOf(const Taylor<Order>& a) { return a.value(); }

}
