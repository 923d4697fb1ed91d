#include "tendril/studies/point_sharing.h"

#include "tendril/model/error.h"
#include "tendril/studies/ranks.h"
#include "tendril/studies/scheduler.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

namespace {

/// A matrix of known number of rows as bytes.
std::string bytesOf(const Eigen::Ref<const MatrixX>& numbers) {
  const MatrixX dense = numbers;
  return {reinterpret_cast<const char*>(dense.data()), std::size_t(dense.size()) * sizeof(double)};
}

MatrixX numbersOf(std::string_view bytes, Eigen::Index rows) {
  MatrixX numbers(rows, Eigen::Index(bytes.size() / sizeof(double)) / rows);
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

/// A task: what is wanted, the number of rows, then points.
struct Header {
  Wanted wanted = Wanted::Values;
  std::int32_t rows = 0;
};

std::string taskOf(const Eigen::Ref<const MatrixX>& points, Wanted wanted) {
  const Header header{wanted, std::int32_t(points.rows())};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + bytesOf(points);
}

Work workOf(std::shared_ptr<const WorkerMaker> make) {
  // Made in the worker's process when the first task comes.
  return [make = std::move(make), evaluator = std::make_shared<PointEvaluator>()](std::string_view task) {
    if (!*evaluator) *evaluator = (*make)();
    Header header;
    std::memcpy(&header, task.data(), sizeof header);
    return bytesOf((*evaluator)(numbersOf(task.substr(sizeof header), header.rows), header.wanted));
  };
}

class SharedEvaluator {
 public:
  SharedEvaluator(Ranks& ranks, int workers, std::function<bool()> stop)
      : scheduler_(ranks, workOf(make_), {.workers = workers, .stop = std::move(stop)}) {}

  /// Before the first point.
  void use(const WorkerMaker& make) { *make_ = make; }

  MatrixX operator()(const MatrixX& points, Wanted wanted) {
    MatrixX results(rowsOf(wanted, points.rows()), points.cols());
    constexpr Eigen::Index most = 32;
    const Eigen::Index together = std::clamp<Eigen::Index>(points.cols() / (4 * scheduler_.workers()), 1, most);
    std::vector<Eigen::Index> all;
    for (Eigen::Index first = 0; first < points.cols(); first += together) all.push_back(first);
    std::vector<Eigen::Index> alone; // of tasks whose worker died: which of their points is to blame?
    run(points, wanted, all, together, results, [&](Eigen::Index first, Eigen::Index count) {
      for (Eigen::Index i = first; i < first + count; ++i) alone.push_back(i);
    });
    run(points, wanted, alone, 1, results, [&](Eigen::Index at, Eigen::Index) {
      results.col(at).setZero();
      results(0, at) = std::numeric_limits<double>::quiet_NaN();
    });
    return results;
  }

 private:
  template <typename Killed>
  void run(const MatrixX& points, Wanted wanted, const std::vector<Eigen::Index>& firsts, Eigen::Index together, MatrixX& results,
           const Killed& killed) {
    const auto countAt = [&](std::size_t task) { return std::min(together, points.cols() - firsts[task]); };
    const bool isDone = scheduler_.run(
        firsts.size(), [&](std::size_t task) { return taskOf(points.middleCols(firsts[task], countAt(task)), wanted); },
        [&](std::size_t task, TaskEnd end, const std::string& bytes) {
          if (end == TaskEnd::Threw) throw NumericalFailure(bytes);
          if (end == TaskEnd::Killed)
            killed(firsts[task], countAt(task));
          else
            results.middleCols(firsts[task], countAt(task)) = numbersOf(bytes, results.rows());
        });
    if (!isDone) throw Interrupted("the certification was stopped");
  }

  const std::shared_ptr<WorkerMaker> make_ = std::make_shared<WorkerMaker>();
  Scheduler scheduler_;
};

}

WorkSharing onWorkers(Ranks& ranks, int workers, std::function<bool()> stop) {
  const auto evaluator = std::make_shared<SharedEvaluator>(ranks, workers, std::move(stop));
  return [evaluator](const WorkerMaker& make) -> PointEvaluator {
    evaluator->use(make);
    return [evaluator](const MatrixX& points, Wanted wanted) { return (*evaluator)(points, wanted); };
  };
}

void servePoints(Ranks& ranks, const WorkerMaker& make, int workers) {
  Scheduler(ranks, workOf(std::make_shared<WorkerMaker>(make)), {.workers = workers}).serve();
}

}
