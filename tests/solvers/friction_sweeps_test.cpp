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
  explicit Swept(int bodies) : Swept(test::column(bodies)) {}
  explicit Swept(const FrictionProblem& problem) {
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
  accelerated.start(fast.system, fast.sweeps, fast.r, fast.w);
  for (int k = 0; k < count; ++k) accelerated.step();
  fast.r = accelerated.impulses();
  EXPECT_LT(fast.residual(), 1e-2 * plain.residual());
}

/// Two columns side by side, the contacts of the first before those of the second.
FrictionProblem beside(const FrictionProblem& a, const FrictionProblem& b) {
  FrictionProblem both = a;
  both.laws.insert(both.laws.end(), b.laws.begin(), b.laws.end());
  both.layOut();
  both.q.resize(a.rows() + b.rows());
  both.q << a.q, b.q;
  both.bodies.H.resize(a.rows() + b.rows(), 12);
  both.bodies.H << a.bodies.H, b.bodies.H;
  const int bodies = int(a.bodies.inverseInertia.size());
  both.bodies.inverseInertia.insert(both.bodies.inverseInertia.end(), b.bodies.inverseInertia.begin(), b.bodies.inverseInertia.end());
  for (const auto& [first, second] : b.bodies.touched)
    both.bodies.touched.push_back({first < 0 ? first : first + bodies, second < 0 ? second : second + bodies});
  return both;
}

TEST(AcceleratedSweeps, WhatOscillatesInOnePlaceLeavesTheOthersTheirMomentum) {
  const FrictionProblem tall = test::column(60), small = test::column(5);
  Swept alone(tall), together(beside(tall, small));
  AcceleratedSweeps one, both;
  one.start(alone.system, alone.sweeps, alone.r, alone.w);
  both.start(together.system, together.sweeps, together.r, together.w);
  for (int k = 0; k < 200; ++k) {
    one.step();
    both.step();
  }
  EXPECT_EQ(both.impulses().head(alone.r.size()), one.impulses());
}

TEST(AcceleratedSweeps, WithoutMomentumTheyArePlain) {
  Swept plain(20), other(20);
  AcceleratedSweeps accelerated;
  accelerated.start(other.system, other.sweeps, other.r, other.w);
  for (int k = 0; k < 30; ++k) {
    plain.sweeps.sweep(plain.r, plain.w);
    accelerated.step(false);
  }
  EXPECT_LT((accelerated.impulses() - plain.r).norm(), 1e-12 * plain.r.norm());
}

TEST(AcceleratedSweeps, ASweepAllocatesNothing) {
  if (!allocationsCounted()) GTEST_SKIP() << "the sanitizer owns the allocator";
  Swept swept(60);
  AcceleratedSweeps accelerated;
  accelerated.start(swept.system, swept.sweeps, swept.r, swept.w);
  const long before = allocationCount();
  for (int k = 0; k < 20; ++k) accelerated.step();
  for (int k = 0; k < 20; ++k) swept.sweeps.sweep(swept.r, swept.w, k % 2 == 1);
  EXPECT_EQ(allocationCount(), before);
}

}
}
