#pragma once
#include <cstddef>
#include <vector>

namespace tendril {

/// The fully summed columns of a dense front of m rows, p of them fully summed: lower triangle, column by column.
struct FrontView {
  double* columns = nullptr;
  int* rows = nullptr;         ///< of the matrix, for the p fully summed ones
  double* inverse = nullptr;   ///< of D, two numbers per pivot: on the diagonal and below it
  double* magnitude = nullptr; ///< of the numbers summed in a diagonal entry, by row of the matrix
  int m = 0, p = 0;
};

/// What makes a pivot stable: its column exceeds it by no more than 1/threshold; and what makes it zero.
struct PivotTest {
  double threshold = 0.1, leastThreshold = 1e-8, zeroTolerance = 1.5e-14;
};

/// Eliminates as many of the p columns as have stable pivots; they come first, with rows and columns exchanged. On return the columns hold
/// L D (the unit block of a pivot excluded), D^-1 is in `inverse`. Where more than `mayWait` columns are left, the threshold is lowered.
int eliminateFront(const FrontView& front, const PivotTest& test, int mayWait);
/// Copies the rows of L D below the fully summed ones, row after row.
void takeRows(const FrontView& front, int eliminated, double* W);
/// Turns L D into L.
void divideByPivots(const FrontView& front, int eliminated);

/// C -= A B^T, C of `rows` x `columns`, A of `rows` x `depth`; C and A by columns, B by rows.
void subtractProduct(double* C, int ldc, const double* A, int lda, const double* B, int depth, int columns, int rows);
/// The same for the lower triangle of a symmetric C; adds the magnitudes of what its diagonal entries lose.
void subtractTriangle(double* C, int ldc, const double* A, int lda, const double* B, int depth, int order, double* magnitude);

/// w <- D^-1 L^-1 w in the pivots, w - L ... below them.
void forward(const double* L, const double* inverse, int height, int eliminated, double* w);
/// w <- L^-T w in the pivots.
void backward(const double* L, int height, int eliminated, double* w);

/// y += a x_j, returns a^T x.
double multiplyColumn(int n, const double* a, double xj, const double* x, double* y);
bool allFinite(const double* a, std::size_t n);
/// max |a_i|; NaN counts as nothing.
double largest(const double* a, std::size_t n);

template <class T> void growTo(std::vector<T>& storage, std::size_t size) {
  if (storage.size() < size) storage.resize(size + size / 2);
}

}
