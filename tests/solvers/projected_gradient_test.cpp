#include "tendril/solvers/projected_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tendril {
namespace {

using Eigen::VectorXd;
using Function = std::function<double(const VectorXd&, VectorXd&)>;

ProjectedGradient minimise(const Function& f, const VectorXd& start, const ProjectedGradientOptions& options = {}) {
  ProjectedGradient search(start, options);
  VectorXd gradient = VectorXd::Zero(start.size());
  while (!search.finished()) {
    const double value = f(search.trial(), gradient);
    search.take(value, gradient);
  }
  return search;
}

TEST(ProjectedGradient, LinearFunctionsEndInTheirCornerAtOnce) {
  const VectorXd slope = (VectorXd(4) << 1, -2, 1e-6, -1e5).finished();
  const ProjectedGradient search = minimise(
      [&](const VectorXd& x, VectorXd& g) {
        g = slope;
        return slope.dot(x);
      },
      VectorXd::Constant(4, 0.5));
  EXPECT_TRUE(search.isStationary());
  EXPECT_LE(search.evaluations(), 2);
  EXPECT_EQ(search.best(), (VectorXd(4) << 0, 1, 0, 1).finished());
}

// Minimum of a convex quadratic in the box, where the gradient has the signs of the conditions of optimality.
TEST(ProjectedGradient, QuadraticMeetsTheConditionsOfOptimality) {
  const int n = 12;
  Eigen::MatrixXd A = Eigen::MatrixXd::Identity(n, n);
  VectorXd free(n); // where it would be without the box
  for (int i = 0; i < n; ++i) {
    free[i] = 0.5 + std::sin(3.0 * i);
    for (int j = 0; j < n; ++j) A(i, j) += 0.2 * std::cos(double(i * j)) / (1 + std::abs(i - j));
  }
  const Eigen::MatrixXd H = A.transpose() * A;
  const VectorXd b = H * free;
  VectorXd gradient;
  const Function f = [&](const VectorXd& x, VectorXd& g) {
    g = H * x - b;
    return 0.5 * x.dot(H * x) - b.dot(x);
  };
  const ProjectedGradient search = minimise(f, VectorXd::Constant(n, 0.5), {.tolerance = 1e-12, .maxEvaluations = 1000});
  EXPECT_TRUE(search.isStationary());
  f(search.best(), gradient);
  int inside = 0;
  for (int i = 0; i < n; ++i) {
    const double x = search.best()[i];
    if (x > 1e-5 && x < 1 - 1e-5) {
      EXPECT_NEAR(gradient[i], 0, 1e-5);
      ++inside;
    } else {
      EXPECT_GE(x < 0.5 ? gradient[i] : -gradient[i], -1e-8);
    }
  }
  EXPECT_GT(inside, 0);
  EXPECT_LT(inside, n);
}

TEST(ProjectedGradient, FollowsACurvedValley) {
  const Function rosenbrock = [](const VectorXd& z, VectorXd& g) {
    const double x = 4 * z[0] - 2, y = 4 * z[1] - 2, e = y - x * x;
    g = 4 * (VectorXd(2) << -400 * x * e - 2 * (1 - x), 200 * e).finished();
    return 1 + 100 * e * e + (1 - x) * (1 - x);
  };
  const ProjectedGradient search = minimise(rosenbrock, (VectorXd(2) << 0.2, 0.75).finished(), {.tolerance = 1e-8, .maxEvaluations = 2000});
  EXPECT_TRUE(search.isStationary());
  EXPECT_NEAR((search.best() - VectorXd::Constant(2, 0.75)).norm(), 0, 1e-3);
}

TEST(ProjectedGradient, StepsBackFromWhereTheFunctionDoesNotExist) {
  const Function f = [](const VectorXd& x, VectorXd& g) {
    g = VectorXd::Constant(1, -1);
    return x[0] > 0.8 ? std::numeric_limits<double>::quiet_NaN() : -x[0];
  };
  const ProjectedGradient search = minimise(f, VectorXd::Zero(1));
  EXPECT_LE(search.best()[0], 0.8);
  EXPECT_GT(search.best()[0], 0.7);
}

}
}
