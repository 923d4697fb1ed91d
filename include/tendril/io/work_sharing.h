#pragma once
#include "tendril/lie/types.h"

#include <functional>

namespace tendril {

/// What is asked for: values, or also gradients, by the controls alone (which come first in a point) or by all.
enum class Wanted { Values, ByControls, Gradients };
/// Performances (first row) of points, one a column, and below them, if asked for, the gradients.
using PointEvaluator = std::function<MatrixX(const MatrixX& points, Wanted wanted)>;
/// Makes what one worker evaluates with. May be called in any thread or process.
using WorkerMaker = std::function<PointEvaluator()>;
/// Makes an evaluator that shares points out among workers. The numbers must not depend on how.
using WorkSharing = std::function<PointEvaluator(const WorkerMaker&)>;
/// Threads of this process; 0: one per core.
WorkSharing onThreads(int workers = 0);

}
