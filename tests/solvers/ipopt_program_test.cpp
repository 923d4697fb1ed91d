#include "tendril/solvers/ipopt_program.h"

#include <gtest/gtest.h>

#include "hock_schittkowski.h"

namespace tendril {
namespace {

using test::HockSchittkowskiCase;
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

TEST(IpoptProgram, SaysSoIfItIsNotInTheBuild) {
  if (ipoptAvailable()) GTEST_SKIP() << "it is";
  TermProgram program;
  EXPECT_THROW(solveByIpopt(program), std::logic_error);
}

}
}
