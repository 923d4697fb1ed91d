#pragma once
#include "tendril/lie/types.h"

#include <functional>

namespace tendril {

struct LeastCurvature {
  double least;
  VectorX direction; ///< strains
};

/// Least of (H d . d) / (D d . d) for the directions d with J^T d = 0, D > 0 diagonal, the elastic energy: by the method of Lanczos, since
/// H D^-1 is the identity plus what is compact, in a few dozen products with H. An eigenvalue of them is nearer to what is found than
/// `accuracy`.
LeastCurvature leastCurvature(const VectorX& D, const MatrixX& J, const std::function<void(const VectorX&, VectorX&)>& H,
                              double accuracy = 1e-10);

}
