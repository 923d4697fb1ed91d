#pragma once
#include "tendril/lie/types.h"

#include <functional>

namespace tendril {

/// What is asked for: values; values above their gradients, by the controls alone (which come first in a point) or by all; or, of
/// performances that are lengths |e|, the vectors e above their derivatives by the controls, one coordinate after the other.
enum class Wanted { Values, ByControls, Gradients, Residuals };
/// Number of rows of what is wanted of a point with so many coordinates.
inline Eigen::Index rowsOf(Wanted wanted, Eigen::Index coordinates) {
  return wanted == Wanted::Values ? 1 : (wanted == Wanted::Residuals ? 3 : 1) * (1 + coordinates);
}
/// What is wanted of points, one a column. Where a performance does not exist, the first row is NaN.
using PointEvaluator = std::function<MatrixX(const MatrixX& points, Wanted wanted)>;
/// Makes what one worker evaluates with. May be called in any thread or process.
using WorkerMaker = std::function<PointEvaluator()>;
/// Makes an evaluator that shares points out among workers. The numbers must not depend on how.
using WorkSharing = std::function<PointEvaluator(const WorkerMaker&)>;
/// Threads of this process; 0: one per core.
WorkSharing onThreads(int workers = 0);

}
