#include "solvers/friction_sweeps.h"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "allocation_count.h"
#include "friction_problems.h"

namespace tendril {
namespace {

/// A column of bodies, packed, with what the sweeps need; it starts from nothing.
struct Swept {
  explicit Swept(int bodies) {
    const FrictionProblem problem = test::column(bodies);
    std::vector<int> all(problem.contacts());
    std::iota(all.begin(), all.end(), 0);
    system.pack(problem, all);
    locals.set(system.laws, system.D, system.diagonalOffset);
    sweeps.set(system, locals);
    r.setZero(system.rows());
    system.velocities(r, w, u);
  }
  double residual() {
    system.velocities(r, w, u);
    return std::sqrt(system.residual(r, u).scaled);
  }

  FrictionSystem system;
  LocalSolvers locals;
  FrictionSweeps sweeps;
  Eigen::VectorXd r, w, u;
};

TEST(AcceleratedSweeps, AColumnNeedsFarFewerOfThem) {
  Swept plain(60), fast(60);
  const int count = 400;
  for (int k = 0; k < count; ++k) plain.sweeps.sweep(plain.r, plain.w);
  AcceleratedSweeps accelerated;
  accelerated.start(fast.sweeps, fast.r, fast.w);
  for (int k = 0; k < count; ++k) accelerated.step();
  fast.r = accelerated.impulses();
  EXPECT_LT(fast.residual(), 1e-2 * plain.residual());
}

TEST(AcceleratedSweeps, ASweepAllocatesNothing) {
  if (!allocationsCounted()) GTEST_SKIP() << "the sanitizer owns the allocator";
  Swept swept(60);
  AcceleratedSweeps accelerated;
  accelerated.start(swept.sweeps, swept.r, swept.w);
  const long before = allocationCount();
  for (int k = 0; k < 20; ++k) accelerated.step();
  for (int k = 0; k < 20; ++k) swept.sweeps.sweep(swept.r, swept.w, k % 2 == 1);
  EXPECT_EQ(allocationCount(), before);
}

}
}
