#pragma once
#include "tendril/scenes/work_sharing.h"

#include <functional>

namespace tendril {

class Ranks;

/// Shares the points of a certification out among the workers of a Scheduler: processes here, and those of all ranks. The numbers are those
/// of one worker. A point at which the process of a worker dies has no performance (NaN, gradient zero), the others are not touched.
/// The evaluator throws Interrupted once `stop` says so, and the exceptions of workers as NumericalFailure. The ranks must outlive it.
///
/// On the root, to be called before anything that may fail: from here on the other ranks are served, and released when what is returned
/// ends, also by an exception.
WorkSharing onWorkers(Ranks& ranks, int workers = 0, std::function<bool()> stop = {});
/// Ranks but the root: works for it until that.
void servePoints(Ranks& ranks, const WorkerMaker& make, int workers = 0);

}
