#include "tendril/solvers/ipopt_program.h"

#include <cmath>

#include <gtest/gtest.h>

#include "hock_schittkowski.h"

namespace tendril {
namespace {

using test::HockSchittkowskiCase;
using test::Jet;
using test::TermProgram;

class IpoptAgrees : public ::testing::TestWithParam<HockSchittkowskiCase> {};
INSTANTIATE_TEST_SUITE_P(All, IpoptAgrees, ::testing::ValuesIn(test::hockSchittkowskiCases()));

/// An independent implementation of the same method, fed with the same functions, finds the same optimum and multipliers.
TEST_P(IpoptAgrees, OnTheOptimum) {
  if (!ipoptAvailable()) GTEST_SKIP() << "no Ipopt in this build";
  if (!GetParam().solvedByIpopt || GetParam().tolerance > 1e-8) GTEST_SKIP() << "nothing to compare with";
  TermProgram theirs, ours;
  GetParam().build(theirs);
  GetParam().build(ours);
  const InteriorPointReport reference = solveByIpopt(theirs), report = InteriorPoint().solve(ours);
  ASSERT_TRUE(reference.converged()) << reference.message;
  const double size = std::max(1.0, std::abs(reference.objective));
  EXPECT_NEAR(report.objective, reference.objective, 1e-6 * size);
  RecordProperty("iterations", report.iterations);
  RecordProperty("iterationsOfIpopt", reference.iterations);
}

TEST(IpoptProgram, GivesTheSameMultipliers) {
  if (!ipoptAvailable()) GTEST_SKIP() << "no Ipopt in this build";
  TermProgram theirs, ours;
  test::hockSchittkowskiCase("HS71").build(theirs);
  test::hockSchittkowskiCase("HS71").build(ours);
  const InteriorPointReport reference = solveByIpopt(theirs), report = InteriorPoint().solve(ours);
  EXPECT_LE((reference.multipliers.equality - report.multipliers.equality).norm(), 1e-6);
  EXPECT_LE((reference.multipliers.inequality - report.multipliers.inequality).norm(), 1e-6);
  EXPECT_LE((theirs.x - ours.x).norm(), 1e-6);
}

/// Swing-up of a pendulum (m = l = g = 1) whose motor cannot lift it at once: |tau| <= 0.6, from rest below to rest above in time T, least
/// integral of tau^2, by midpoint discrete mechanics. Many stages, nonconvex, bounds that hold.
void swingUp(TermProgram& p, int N, double T) {
  const double h = T / N;
  std::vector<int> q, tau;
  for (int n = 0; n <= N; ++n) {
    q.push_back(p.variable(M_PI * n / N, n));
    if (n < N) tau.push_back(p.bounded(0, -0.6, 0.6, n));
  }
  for (int n = 0; n < N; ++n) p.minimise({tau[n]}, [=](const TermProgram::Jets& x) { return h * sqr(x[0]); });
  // Momenta at both ends of an interval, forces of motor and gravity included.
  const auto left = [=](const Jet& a, const Jet& b, const Jet& t) {
    return (1 / h) * (b - a) + (h / 2) * sin(0.5 * (a + b)) - (h / 2) * t;
  };
  const auto right = [=](const Jet& a, const Jet& b, const Jet& t) {
    return (1 / h) * (b - a) - (h / 2) * sin(0.5 * (a + b)) + (h / 2) * t;
  };
  p.equality(
      {q[0]}, [](const TermProgram::Jets& x) { return x[0]; }, 0);
  p.equality(
      {q[N]}, [](const TermProgram::Jets& x) { return x[0] - M_PI; }, N);
  for (int n = 0; n <= N; ++n) {
    const int row = p.equality(
        {}, [](const TermProgram::Jets&) { return Jet(0, 0); }, n);
    if (n > 0) p.addToEquality(row, {q[n - 1], q[n], tau[n - 1]}, [=](const TermProgram::Jets& x) { return right(x[0], x[1], x[2]); });
    if (n < N) p.addToEquality(row, {q[n], q[n + 1], tau[n]}, [=](const TermProgram::Jets& x) { return -left(x[0], x[1], x[2]); });
  }
}

TEST(IpoptProgram, SwingsAPendulumUpAsWell) {
  if (!ipoptAvailable()) GTEST_SKIP() << "no Ipopt in this build";
  for (const int N : {40, 160}) {
    TermProgram theirs, ours;
    swingUp(theirs, N, 8);
    swingUp(ours, N, 8);
    const InteriorPointReport reference = solveByIpopt(theirs), report = InteriorPoint().solve(ours);
    ASSERT_TRUE(report.converged()) << report.message;
    ASSERT_TRUE(reference.converged()) << reference.message;
    EXPECT_TRUE(report.strictMinimum);
    EXPECT_NEAR(report.objective, reference.objective, 1e-7 * reference.objective);
    EXPECT_LE(report.iterations, 2 * reference.iterations);
    RecordProperty("iterations" + std::to_string(N), report.iterations);
    RecordProperty("iterationsOfIpopt" + std::to_string(N), reference.iterations);
  }
}

TEST(IpoptProgram, SaysSoIfItIsNotInTheBuild) {
  if (ipoptAvailable()) GTEST_SKIP() << "it is";
  TermProgram program;
  EXPECT_THROW(solveByIpopt(program), std::logic_error);
}

}
}
