#pragma once
// The allocation check of Eigen rests on its assertions, which a release build drops: all tests of this room turn them into exceptions.
#include <stdexcept>
#define EIGEN_RUNTIME_NO_MALLOC
#define eigen_assert(condition)                                                                                                            \
  do {                                                                                                                                     \
    if (!(condition)) throw std::logic_error("Eigen: " #condition);                                                                        \
  } while (false)

#include <random>
#include <vector>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "tendril/lie/so3.h"

/// Power series of matrices in extended precision, the independent reference of this room. The derivative needs no differencing:
/// f([A B; 0 A]) = [f(A) Df(A)[B]; 0 f(A)] for every analytic f.
namespace tendril::oracle {

using Real = long double;
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
using Series = std::vector<Real>; // coefficients of z^k

inline constexpr int seriesTerms = 200;

/// (1 - exp(-z)) / z.
inline Series tangentSeries() {
  Series c{1};
  for (int k = 1; k < seriesTerms; ++k) c.push_back(-c.back() / (k + 1));
  return c;
}

inline Series exponentialSeries() {
  Series c{1};
  for (int k = 1; k < seriesTerms; ++k) c.push_back(c.back() / k);
  return c;
}

/// numerator / denominator.
inline Series quotient(const Series& numerator, const Series& denominator) {
  Series c;
  for (std::size_t k = 0; k < numerator.size(); ++k) {
    Real sum = numerator[k];
    for (std::size_t j = 0; j < k; ++j) sum -= c[j] * denominator[k - j];
    c.push_back(sum / denominator[0]);
  }
  return c;
}

/// z / (1 - exp(-z)).
inline Series tangentInverseSeries() {
  Series one(seriesTerms, 0);
  one[0] = 1;
  return quotient(one, tangentSeries());
}

/// (1 - exp(-xi z)) / (1 - exp(-z)).
inline Series interpolationSeries(Real xi) {
  Series numerator = tangentSeries();
  Real power = xi;
  for (Real& c : numerator) c *= power, power *= xi;
  return quotient(numerator, tangentSeries());
}

/// f(A); 40 terms suffice for entire functions, all of them for the others.
inline Matrix evaluate(const Series& c, const Matrix& A, int terms = seriesTerms) {
  Matrix sum = Matrix::Zero(A.rows(), A.cols()), power = Matrix::Identity(A.rows(), A.cols());
  for (int k = 0; k < terms; ++k) sum += c[k] * power, power = power * A;
  return sum;
}

/// D f(A)[B].
inline Matrix directional(const Series& c, const Matrix& A, const Matrix& B, int terms = seriesTerms) {
  const auto n = A.rows();
  Matrix block = Matrix::Zero(2 * n, 2 * n);
  block << A, B, Matrix::Zero(n, n), A;
  return evaluate(c, block, terms).topRightCorner(n, n);
}

/// sum_j c_{offset+2j} (-x)^j and its first two derivatives in x: the even (offset 2) and odd (offset 1) coefficient of f.
inline Eigen::Matrix<Real, 3, 1> coefficient(const Series& c, int offset, Real x) {
  Real value = 0, first = 0, second = 0, sign = 1;
  for (int j = 0; offset + 2 * j < static_cast<int>(c.size()); ++j, sign = -sign) {
    const Real term = sign * c[offset + 2 * j];
    value += term * std::pow(x, Real(j));
    if (j > 0) first += j * term * std::pow(x, Real(j - 1));
    if (j > 1) second += Real(j) * (j - 1) * term * std::pow(x, Real(j - 2));
  }
  return {value, first, second};
}

/// Small angles demand relative accuracy; beyond them the coefficients multiply powers of w of order one and round-off is absolute.
inline void expectCoefficients(const so3::Jet& jet, const Series& series, int offset, double x) {
  const Eigen::Vector3d exact = coefficient(series, offset, x).cast<double>(), computed(jet.value, jet.first, jet.second);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(computed[i], exact[i], x < 1 ? 2e-15 * std::abs(exact[i]) + 1e-19 : 2e-16) << "derivative " << i << " at x = " << x;
}

/// Largest entry of computed - expected relative to the largest entry of expected.
template <typename Computed, typename Expected> double relativeError(const Computed& computed, const Expected& expected) {
  const Matrix reference = expected.template cast<Real>();
  const Real scale = reference.cwiseAbs().maxCoeff();
  return static_cast<double>((computed.template cast<Real>() - reference).cwiseAbs().maxCoeff() / (scale > 0 ? scale : 1));
}

/// Reproducible random vectors.
class Random {
 public:
  double uniform(double low, double high) { return std::uniform_real_distribution<double>(low, high)(generator_); }
  Vector3 vector3() { return {uniform(-1, 1), uniform(-1, 1), uniform(-1, 1)}; }
  Vector3 direction() {
    std::normal_distribution<double> normal;
    return Vector3(normal(generator_), normal(generator_), normal(generator_)).normalized();
  }
  Vector6 twist(double angle) {
    Vector6 pi;
    pi << vector3(), angle * direction();
    return pi;
  }

 private:
  std::mt19937_64 generator_{20240229};
};

/// Jacobian of a vector function by central differences of the second order.
template <int Rows, int Columns, typename Function>
Eigen::Matrix<double, Rows, Columns> centralDifferences(Function f, const Eigen::Matrix<double, Columns, 1>& x, double step = 1e-5) {
  Eigen::Matrix<double, Rows, Columns> J;
  for (int i = 0; i < Columns; ++i) {
    Eigen::Matrix<double, Columns, 1> plus = x, minus = x;
    plus[i] += step, minus[i] -= step;
    J.col(i) = (f(plus) - f(minus)) / (2 * step);
  }
  return J;
}

}
