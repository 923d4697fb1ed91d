#pragma once

namespace tendril {

/// C -= A B for 6 x 6 blocks, column by column. On x86 there is a version for AVX2, chosen when the program starts; sums are formed in the
/// same order and without fused products, so that both give the same bits.
void subtractProduct6(double* C, const double* A, const double* B);

}
