#include "dynamics/condition_number.h"

#include <Eigen/SVD>

namespace tendril {

double conditionNumber(const MatrixX& A) {
  if (A.size() == 0) return 1; // nothing moves
  const VectorX values = Eigen::BDCSVD<MatrixX>(A).singularValues();
  return values[0] / values[values.size() - 1];
}

}
