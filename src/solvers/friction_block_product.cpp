#include "friction_block_product.h"

#include "solvers/function_clones.h"

namespace tendril {

namespace {

using Four = double __attribute__((vector_size(32), aligned(8), may_alias));
using Two = double __attribute__((vector_size(16), aligned(8), may_alias));

}

TENDRIL_CLONES void subtractProduct6(double* C, const double* A, const double* B) {
  Four upper[6];
  Two lower[6];
  for (int k = 0; k < 6; ++k) {
    upper[k] = *reinterpret_cast<const Four*>(A + 6 * k);
    lower[k] = *reinterpret_cast<const Two*>(A + 6 * k + 4);
  }
  for (int j = 0; j < 6; ++j) {
    Four sumUpper = upper[0] * B[6 * j];
    Two sumLower = lower[0] * B[6 * j];
    for (int k = 1; k < 6; ++k) {
      sumUpper += upper[k] * B[6 * j + k];
      sumLower += lower[k] * B[6 * j + k];
    }
    *reinterpret_cast<Four*>(C + 6 * j) -= sumUpper;
    *reinterpret_cast<Two*>(C + 6 * j + 4) -= sumLower;
  }
}

}
