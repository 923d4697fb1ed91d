#include "solvers/front_kernels.h"

#include "solvers/function_clones.h"

#include <algorithm>
#include <cmath>

namespace tendril {

namespace {

// Fronts are small: loops over four numbers and a remainder cost less than what a compiler makes of a loop of unknown length.
using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
inline __attribute__((always_inline)) Four& four(double* a) { return *reinterpret_cast<Four*>(a); }
inline __attribute__((always_inline)) const Four& four(const double* a) { return *reinterpret_cast<const Four*>(a); }

/// y -= a s
inline __attribute__((always_inline)) void subtractOne(double* __restrict y, const double* __restrict a, double s, int n) {
  int i = 0;
  for (; i + 4 <= n; i += 4) four(y + i) -= four(a + i) * s;
  for (; i < n; ++i) y[i] -= a[i] * s;
}
/// y -= a s + b t
inline __attribute__((always_inline)) void subtractTwo(double* __restrict y, const double* __restrict a, double s,
                                                       const double* __restrict b, double t, int n) {
  int i = 0;
  for (; i + 4 <= n; i += 4) four(y + i) -= four(a + i) * s + four(b + i) * t;
  for (; i < n; ++i) y[i] -= a[i] * s + b[i] * t;
}

/// C -= A B^T for two columns of C, which keep their sums in registers.
inline __attribute__((always_inline)) void subtractFromPair(double* C, int ldc, const double* A, int lda, const double* B, int depth,
                                                            int rows) {
  double *c = C, *d = C + ldc;
  const double *first = B, *second = B + depth;
  int i = 0;
  for (; i + 4 <= rows; i += 4) {
    Four p = four(c + i), q = four(d + i);
    const double* a = A + i;
    for (int t = 0; t < depth; ++t, a += lda) {
      p -= four(a) * first[t];
      q -= four(a) * second[t];
    }
    four(c + i) = p;
    four(d + i) = q;
  }
  for (; i < rows; ++i) {
    double p = c[i], q = d[i];
    const double* a = A + i;
    for (int t = 0; t < depth; ++t, a += lda) {
      p -= *a * first[t];
      q -= *a * second[t];
    }
    c[i] = p;
    d[i] = q;
  }
}

/// The fully summed columns while pivots are sought in them.
struct Elimination {
  const FrontView& front;
  double threshold, zeroTolerance;

  double* column(int j) const { return front.columns + std::ptrdiff_t(j) * front.m; }
  double& at(int i, int j) const { return column(j)[i]; }
  double& magnitude(int j) const { return front.magnitude[front.rows[j]]; }

  struct Peak {
    double summed = 0; ///< largest magnitude off the diagonal among fully summed rows
    int row = -1;      ///< where
    double all = 0;    ///< largest magnitude off the diagonal
  };
  /// Of column j, the first that is left.
  Peak peakOfFirst(int j) const {
    Peak peak;
    const double* c = column(j);
    for (int i = j + 1; i < front.p; ++i)
      if (std::abs(c[i]) > peak.summed) {
        peak.summed = std::abs(c[i]);
        peak.row = i;
      }
    peak.all = peak.summed;
    for (int i = front.p; i < front.m; ++i) peak.all = std::max(peak.all, std::abs(c[i]));
    return peak;
  }
  /// Largest magnitude in column r without rows r and `first`, the first that is left.
  double largestBut(int r, int first) const {
    double most = 0;
    for (int t = first + 1; t < r; ++t) most = std::max(most, std::abs(at(r, t)));
    const double* c = column(r);
    for (int i = r + 1; i < front.m; ++i) most = std::max(most, std::abs(c[i]));
    return most;
  }
  double largestBelowBut(int j, int r) const {
    double most = 0;
    const double* c = column(j);
    for (int i = j + 1; i < front.m; ++i)
      if (i != r) most = std::max(most, std::abs(c[i]));
    return most;
  }
  bool negligible(int j, const Peak& peak) const {
    if (std::abs(at(j, j)) > zeroTolerance * magnitude(j)) return false;
    const double partner = peak.row < 0 ? 0 : std::sqrt(magnitude(j) * magnitude(peak.row));
    return peak.all <= zeroTolerance * partner || peak.all == 0;
  }

  void exchange(int j, int r) const {
    if (j == r) return;
    for (int t = 0; t < j; ++t) std::swap(at(j, t), at(r, t));
    std::swap(at(j, j), at(r, r));
    for (int t = j + 1; t < r; ++t) std::swap(at(t, j), at(r, t));
    std::swap_ranges(column(j) + r + 1, column(j) + front.m, column(r) + r + 1);
    std::swap(front.rows[j], front.rows[r]);
  }

  void eliminateOne(int j) const {
    const double inverse = 1 / at(j, j);
    front.inverse[2 * j] = inverse;
    front.inverse[2 * j + 1] = 0;
    const double* a = column(j);
    for (int c = j + 1; c < front.p; ++c) {
      const double w = a[c];
      if (w == 0) continue;
      const double l = w * inverse;
      subtractOne(column(c) + c, a + c, l, front.m - c);
      magnitude(c) += std::abs(w * l);
    }
  }
  void eliminateTwo(int j) const {
    const double d11 = at(j, j), d21 = at(j + 1, j), d22 = at(j + 1, j + 1);
    // Divided by the largest entry first, so that the determinant neither overflows nor underflows.
    const double a11 = d11 / d21, a22 = d22 / d21, scale = 1 / (d21 * (a11 * a22 - 1));
    const double i11 = a22 * scale, i21 = -scale, i22 = a11 * scale;
    front.inverse[2 * j] = i11;
    front.inverse[2 * j + 1] = i21;
    front.inverse[2 * j + 2] = i22;
    front.inverse[2 * j + 3] = 0;
    const double *a = column(j), *b = column(j + 1);
    for (int c = j + 2; c < front.p; ++c) {
      const double wa = a[c], wb = b[c];
      if (wa == 0 && wb == 0) continue;
      const double la = i11 * wa + i21 * wb, lb = i21 * wa + i22 * wb;
      subtractTwo(column(c) + c, a + c, la, b + c, lb, front.m - c);
      magnitude(c) += std::abs(wa * la) + std::abs(wb * lb);
    }
  }

  /// Size of the pivot that column j, the first that is left, leads to; it is then in place. 0 if none is stable.
  int bringPivot(int j) const {
    const Peak peak = peakOfFirst(j);
    if (negligible(j, peak)) return 0;
    const double a = std::abs(at(j, j));
    if (a >= threshold * peak.all) return 1;
    if (peak.row < 0) return 0;
    const int r = peak.row;
    const double b = peak.summed, c = std::abs(at(r, r)), mostR = largestBut(r, j);
    if (c >= threshold * std::max(b, mostR)) {
      exchange(j, r);
      return 1;
    }
    const double mostJ = largestBelowBut(j, r);
    const double determinant = std::abs(at(j, j) * at(r, r) - b * b) / threshold;
    if (c * mostJ + b * mostR <= determinant && b * mostJ + a * mostR <= determinant) {
      exchange(j + 1, r);
      return 2;
    }
    return 0;
  }
};

}

TENDRIL_CLONES int eliminateFront(const FrontView& front, const PivotTest& test, int mayWait) {
  Elimination e{front, test.threshold, test.zeroTolerance};
  int j = 0;
  for (;; e.threshold *= 0.1) {
    int refused = 0; // refused columns stand last
    while (j + refused < front.p) {
      const int size = e.bringPivot(j);
      if (size == 0) {
        ++refused;
        e.exchange(j, front.p - refused);
        continue;
      }
      refused = 0;
      if (size == 1)
        e.eliminateOne(j);
      else
        e.eliminateTwo(j);
      j += size;
    }
    if (front.p - j <= mayWait || !(e.threshold > test.leastThreshold)) return j;
  }
}

void takeRows(const FrontView& front, int eliminated, double* W) {
  for (int t = 0; t < eliminated; ++t) {
    const double* a = front.columns + std::ptrdiff_t(t) * front.m + front.p;
    for (int i = 0; i < front.m - front.p; ++i) W[std::ptrdiff_t(i) * eliminated + t] = a[i];
  }
}

TENDRIL_CLONES void divideByPivots(const FrontView& front, int eliminated) {
  for (int t = 0; t < eliminated; ++t) {
    double* a = front.columns + std::ptrdiff_t(t) * front.m;
    const double diagonal = front.inverse[2 * t], below = front.inverse[2 * t + 1];
    if (below == 0) {
      for (int i = t + 1; i < front.m; ++i) a[i] *= diagonal;
      continue;
    }
    double* b = a + front.m;
    const double second = front.inverse[2 * t + 2];
    a[t + 1] = 0;
    for (int i = t + 2; i < front.m; ++i) {
      const double wa = a[i], wb = b[i];
      a[i] = wa * diagonal + wb * below;
      b[i] = wa * below + wb * second;
    }
    ++t;
  }
}

TENDRIL_CLONES void subtractProduct(double* C, int ldc, const double* A, int lda, const double* B, int depth, int columns, int rows) {
  for (int j = 0; j + 2 <= columns; j += 2)
    subtractFromPair(C + std::ptrdiff_t(j) * ldc, ldc, A, lda, B + std::ptrdiff_t(j) * depth, depth, rows);
  if (columns % 2 == 0) return;
  const double* b = B + std::ptrdiff_t(columns - 1) * depth;
  double* c = C + std::ptrdiff_t(columns - 1) * ldc;
  for (int t = 0; t < depth; ++t)
    for (int i = 0; i < rows; ++i) c[i] -= A[std::ptrdiff_t(t) * lda + i] * b[t];
}

TENDRIL_CLONES void subtractTriangle(double* C, int ldc, const double* A, int lda, const double* B, int depth, int order,
                                     double* magnitude) {
  for (int j = 0; j < order; ++j) {
    const double* b = B + std::ptrdiff_t(j) * depth;
    double sum = 0, size = 0;
    for (int t = 0; t < depth; ++t) {
      const double product = A[std::ptrdiff_t(t) * lda + j] * b[t];
      sum += product;
      size += std::abs(product);
    }
    C[std::ptrdiff_t(j) * ldc + j] -= sum;
    magnitude[j] += size;
  }
  for (int j = 0; j + 2 <= order; j += 2) {
    const double* b = B + std::ptrdiff_t(j) * depth;
    double* c = C + std::ptrdiff_t(j) * ldc;
    double sum = 0;
    for (int t = 0; t < depth; ++t) sum += A[std::ptrdiff_t(t) * lda + j + 1] * b[t];
    c[j + 1] -= sum;
    subtractFromPair(c + j + 2, ldc, A + j + 2, lda, b, depth, order - j - 2);
  }
}

TENDRIL_CLONES void forward(const double* L, const double* inverse, int height, int eliminated, double* __restrict w) {
  for (int t = 0; t < eliminated; ++t) {
    const double* a = L + std::ptrdiff_t(t) * height;
    subtractOne(w + t + 1, a + t + 1, w[t], height - t - 1);
  }
  for (int t = 0; t < eliminated; ++t) {
    const double below = inverse[2 * t + 1];
    if (below == 0) {
      w[t] *= inverse[2 * t];
      continue;
    }
    const double first = w[t], second = w[t + 1];
    w[t] = inverse[2 * t] * first + below * second;
    w[t + 1] = below * first + inverse[2 * t + 2] * second;
    ++t;
  }
}

TENDRIL_CLONES void backward(const double* L, int height, int eliminated, double* w) {
  for (int t = eliminated - 1; t >= 0; --t) {
    const double* a = L + std::ptrdiff_t(t) * height;
    double sums[4] = {0, 0, 0, 0}; // a fixed order of summation, whatever the width of the vectors
    int i = t + 1;
    for (; i + 4 <= height; i += 4)
      for (int s = 0; s < 4; ++s) sums[s] += a[i + s] * w[i + s];
    for (; i < height; ++i) sums[0] += a[i] * w[i];
    w[t] -= (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
}

TENDRIL_CLONES double multiplyColumn(int n, const double* __restrict a, double xj, const double* __restrict x, double* __restrict y) {
  double sums[4] = {0, 0, 0, 0};
  int i = 0;
  for (; i + 4 <= n; i += 4)
    for (int s = 0; s < 4; ++s) {
      y[i + s] += a[i + s] * xj;
      sums[s] += a[i + s] * x[i + s];
    }
  for (; i < n; ++i) {
    y[i] += a[i] * xj;
    sums[0] += a[i] * x[i];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

TENDRIL_CLONES double largest(const double* a, std::size_t n) {
  double most = 0;
  for (std::size_t i = 0; i < n; ++i) most = std::max(most, std::abs(a[i]));
  return most;
}

TENDRIL_CLONES bool allFinite(const double* a, std::size_t n) {
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (std::size_t s = 0; s < 8; ++s) sums[s] += a[i + s] * 0; // NaN of NaN and of infinity
  for (; i < n; ++i) sums[0] += a[i] * 0;
  for (std::size_t s = 1; s < 8; ++s) sums[0] += sums[s];
  return sums[0] == 0;
}

}
