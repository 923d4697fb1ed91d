#pragma once
#include <cstddef>
#include <vector>

namespace tendril {

/// Points and weights of the Gauss-Legendre rule with n points on [-1, 1].
struct GaussRule {
  explicit GaussRule(int n);
  std::vector<double> x, w;
};

/// The product of two rules, point by point; filled up to whole eights with points of no weight, for those who take several at a time.
struct ProductRule {
  ProductRule(const GaussRule& first, const GaussRule& second);
  std::size_t points; ///< with weight
  std::vector<double> x1, x2, w;
};

/// A product rule that integrates functions that turn by these angles [rad] over the rectangle, times polynomials of degree 4, to
/// round-off; made once. Null if none has so many points.
const ProductRule* productRule(double angle1, double angle2);

}
