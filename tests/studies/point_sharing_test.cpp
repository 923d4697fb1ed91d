#include "tendril/studies/point_sharing.h"

#include "tendril/model/error.h"
#include "tendril/studies/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <unistd.h>

namespace tendril {
namespace {

Ranks& ranks() {
  static Ranks alone;
  return alone;
}

/// x + 2 y, with its gradient; the worker dies where x is negative.
WorkerMaker maker() {
  return []() -> PointEvaluator {
    return [](const MatrixX& points, Wanted wanted) {
      if (points.row(0).minCoeff() < 0) kill(getpid(), SIGKILL);
      if (points.row(0).maxCoeff() > 1e6) throw NumericalFailure("too far");
      MatrixX results(wanted == Wanted::Values ? 1 : 3, points.cols());
      results.row(0) = points.row(0) + 2 * points.row(1);
      if (wanted != Wanted::Values) results.bottomRows(2).colwise() = Eigen::Vector2d(1, 2);
      return results;
    };
  };
}

TEST(PointSharing, WorkersGiveTheNumbersOfOne) {
  const MatrixX points = MatrixX::Random(2, 301).cwiseAbs();
  for (const int workers : {1, 3}) {
    const PointEvaluator shared = onWorkers(ranks(), workers)(maker());
    for (const Wanted wanted : {Wanted::Values, Wanted::Gradients}) EXPECT_EQ(shared(points, wanted), maker()()(points, wanted));
    EXPECT_EQ(shared(MatrixX(2, 0), Wanted::Values).cols(), 0);
  }
}

TEST(PointSharing, AWorkerThatDiesCostsItsPointAlone) {
  MatrixX points = MatrixX::Ones(2, 100);
  points(0, 17) = -1;
  const MatrixX results = onWorkers(ranks(), 2)(maker())(points, Wanted::Gradients);
  for (Eigen::Index i = 0; i < points.cols(); ++i) EXPECT_EQ(std::isnan(results(0, i)), i == 17) << i;
  EXPECT_EQ(results.col(17).tail(2), Eigen::Vector2d::Zero());
}

TEST(PointSharing, TellsOfExceptionsAndStops) {
  EXPECT_THROW(onWorkers(ranks(), 2)(maker())(MatrixX::Constant(2, 4, 1e7), Wanted::Values), NumericalFailure);
  EXPECT_THROW(onWorkers(ranks(), 2, [] { return true; })(maker())(MatrixX::Ones(2, 5000), Wanted::Values), Interrupted);
}

}
}
