#include "tendril/solvers/newton.h"

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "allocation_count.h"

namespace tendril {
namespace {

using Outcome = NewtonReport::Outcome;

/// r(x) = 0 with dense tangent, up to four unknowns: nothing here allocates.
struct Algebraic : NewtonProblem {
  using Vector = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, 4, 1>;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>;

  Vector x, before, r, step;
  Matrix factor;
  std::function<void(const Vector& x, Vector& r)> residual;
  std::function<void(const Vector& x, Matrix& T)> tangent;
  std::function<bool(const Vector& x)> exists = [](const Vector&) { return true; };
  double tolerance = 1e-12, roundOff = 0, longest = 1;
  int tangents = 0;

  int groupCount() const override { return 1; }
  bool evaluate(std::span<ResidualGroup> groups) override {
    if (!exists(x)) return false;
    residual(x, r);
    groups[0] = {"force", r.norm(), 0, 0, tolerance, roundOff};
    return true;
  }
  bool factorise() override {
    ++tangents;
    tangent(x, factor);
    return std::abs(factor.determinant()) > 1e-300;
  }
  bool solve() override {
    step = -(factor.inverse() * r);
    return step.allFinite();
  }
  double longestFactor() override { return longest; }
  void applyStep(double by) override {
    before = x;
    x += by * step;
  }
  void undoStep() override { x = before; }
  std::string describeWorst() const override { return "force on the only node"; }
  std::string describeSingular() const override { return "row 0 is free"; }
};

Algebraic scalar(double start, double (*f)(double), double (*derivative)(double)) {
  Algebraic problem;
  problem.x = problem.r = Algebraic::Vector::Constant(1, start);
  problem.factor = Algebraic::Matrix::Zero(1, 1);
  problem.residual = [f](const Algebraic::Vector& x, Algebraic::Vector& r) { r[0] = f(x[0]); };
  problem.tangent = [derivative](const Algebraic::Vector& x, Algebraic::Matrix& T) { T(0, 0) = derivative(x[0]); };
  return problem;
}

double arctangent(double x) { return std::atan(x); }
double arctangentSlope(double x) { return 1 / (1 + x * x); }
double parabola(double x) { return x * x - 2; }
double parabolaSlope(double x) { return 2 * x; }

TEST(Newton, ConvergesQuadratically) {
  Algebraic problem = scalar(1, parabola, parabolaSlope);
  Newton newton;
  const NewtonReport& report = newton.solve(problem);
  ASSERT_TRUE(report.converged());
  EXPECT_NEAR(problem.x[0], std::sqrt(2), 1e-15);
  EXPECT_EQ(report.iterations, 5);
  EXPECT_EQ(report.factorisations, 5);
  EXPECT_EQ(report.history.size(), 6u);
  EXPECT_TRUE(report.message.empty());
  // r_{k+1} / r_k^2 -> f''/(2 f'^2) = 1/8 for x^2 - 2 at sqrt 2.
  const double r2 = report.history[2].merit * 1e-12, r3 = report.history[3].merit * 1e-12;
  EXPECT_NEAR(r3 / (r2 * r2), 0.125, 1e-3);
}

TEST(Newton, LineSearchRescuesTheArctangent) {
  // Plain steps diverge beyond |x| = 1.3917.
  NewtonOptions plain;
  plain.lineSearch = false;
  Algebraic wild = scalar(3, arctangent, arctangentSlope);
  const NewtonReport failed = Newton(plain).solve(wild);
  EXPECT_FALSE(failed.converged());

  Algebraic problem = scalar(3, arctangent, arctangentSlope);
  Newton newton;
  const NewtonReport& report = newton.solve(problem);
  ASSERT_TRUE(report.converged());
  EXPECT_NEAR(problem.x[0], 0, 1e-12);
  EXPECT_LT(report.history[1].factor, 1);
  for (std::size_t k = 1; k < report.history.size(); ++k) EXPECT_LT(report.history[k].merit, report.history[k - 1].merit);
}

TEST(Newton, AllowedGrowthLetsTheResidualRise) {
  // A stiff direction bent by a soft one: r = (x - 1, 100 (y - x^2)). The full first step raises r and the second one ends.
  Algebraic problem;
  problem.x = problem.r = Eigen::Vector2d(0, 0);
  problem.factor = Eigen::Matrix2d::Zero();
  problem.residual = [](const Algebraic::Vector& x, Algebraic::Vector& r) { r = Eigen::Vector2d(x[0] - 1, 1e2 * (x[1] - x[0] * x[0])); };
  problem.tangent = [](const Algebraic::Vector& x, Algebraic::Matrix& T) { T << 1, 0, -2e2 * x[0], 1e2; };
  Algebraic again = problem;
  NewtonOptions options;
  options.allowedGrowth = 1e6;
  const NewtonReport free = Newton(options).solve(problem);
  ASSERT_TRUE(free.converged());
  EXPECT_EQ(free.iterations, 2);
  options.allowedGrowth = 1;
  options.maxIterations = 1000;
  const NewtonReport monotone = Newton(options).solve(again);
  ASSERT_TRUE(monotone.converged()) << monotone.message;
  EXPECT_GT(monotone.iterations, 10);
}

TEST(Newton, KeptTangentConvergesLinearlyAndIsRenewedWhenSlow) {
  NewtonOptions options;
  options.reuseContraction = 0.2;
  Algebraic problem = scalar(1.5, parabola, parabolaSlope);
  Newton newton(options);
  const NewtonReport& report = newton.solve(problem);
  ASSERT_TRUE(report.converged());
  // From 1.5 the tangent 3 contracts by 1 - 2 sqrt(2) / 3 = 0.0572 per step.
  EXPECT_EQ(report.factorisations, 1);
  EXPECT_EQ(problem.tangents, 1);
  EXPECT_NEAR(report.history[6].merit / report.history[5].merit, 1 - 2 * std::sqrt(2.0) / 3, 1e-3);

  Algebraic far = scalar(100, parabola, parabolaSlope); // contracts by about 3/4 until near
  const NewtonReport& renewed = newton.solve(far);
  ASSERT_TRUE(renewed.converged());
  EXPECT_GT(renewed.factorisations, 2);
  EXPECT_LT(renewed.factorisations, renewed.iterations);
}

TEST(Newton, HeldTangentThatFailsIsReplaced) {
  NewtonOptions options;
  options.reuseContraction = 0.5;
  options.startFromHeld = true;
  Algebraic problem = scalar(1.5, parabola, parabolaSlope);
  problem.factor(0, 0) = -3; // leads away
  options.lineSearch = false;
  const NewtonReport report = Newton(options).solve(problem);
  ASSERT_TRUE(report.converged());
  EXPECT_EQ(report.factorisations, 1);
  EXPECT_TRUE(report.history[1].factorised);
  EXPECT_NEAR(problem.x[0], std::sqrt(2), 1e-12);
}

TEST(Newton, StopsAtOnceOnNaN) {
  Algebraic problem = scalar(
      1, [](double x) { return x > 0.5 ? 2 * x : std::numeric_limits<double>::quiet_NaN(); }, [](double) { return 2.0; });
  const NewtonReport report = Newton().solve(problem);
  EXPECT_EQ(report.outcome, Outcome::NotFinite);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(problem.x[0], 1); // back at the last finite state
  EXPECT_EQ(report.groups[0].value, 2);
  EXPECT_NE(report.message.find("force on the only node"), std::string::npos);

  Algebraic bad = scalar(std::numeric_limits<double>::quiet_NaN(), parabola, parabolaSlope);
  EXPECT_EQ(Newton().solve(bad).outcome, Outcome::NotFinite);
  EXPECT_EQ(bad.tangents, 0);
}

TEST(Newton, ShortensStepsToWhereTheResidualExists) {
  // log x from 4: the full step leads to 4 (1 - log 4) < 0.
  Algebraic problem = scalar(
      4, [](double x) { return std::log(x); }, [](double x) { return 1 / x; });
  problem.exists = [](const Algebraic::Vector& x) { return x[0] > 0; };
  NewtonOptions options;
  options.lineSearch = false;
  const NewtonReport report = Newton(options).solve(problem);
  ASSERT_TRUE(report.converged());
  EXPECT_EQ(report.history[1].factor, 0.5);
  EXPECT_NEAR(problem.x[0], 1, 1e-12);
}

TEST(Newton, NamesASingularTangent) {
  Algebraic problem = scalar(
      0, [](double x) { return x * x + 1; }, [](double x) { return 2 * x; });
  const NewtonReport report = Newton().solve(problem);
  EXPECT_EQ(report.outcome, Outcome::SingularTangent);
  EXPECT_NE(report.message.find("row 0 is free"), std::string::npos);
}

TEST(Newton, DetectsACycle) {
  // x^3 - 2x + 2 from 0: full steps go 0, 1, 0, 1, ...
  Algebraic problem = scalar(
      0, [](double x) { return x * x * x - 2 * x + 2; }, [](double x) { return 3 * x * x - 2; });
  NewtonOptions options;
  options.lineSearch = false;
  options.maxIterations = 1000;
  options.patience = 6;
  const NewtonReport report = Newton(options).solve(problem);
  EXPECT_EQ(report.outcome, Outcome::Stagnated);
  EXPECT_EQ(report.iterations, 11);
}

TEST(Newton, StagnatesWhereNoStepLowersTheResidual) {
  // x^2 + 1 has its least value at 0 and no root.
  Algebraic problem = scalar(
      2, [](double x) { return x * x + 1; }, [](double x) { return 2 * x; });
  const NewtonReport report = Newton().solve(problem);
  EXPECT_FALSE(report.converged());
  EXPECT_NE(report.outcome, Outcome::NotFinite);
  EXPECT_LE(report.groups[0].value, 5); // not worse than the start
}

TEST(Newton, Diverges) {
  Algebraic problem = scalar(3, arctangent, [](double x) { return 1e-8 / (1 + x * x); });
  problem.residual = [](const Algebraic::Vector& x, Algebraic::Vector& r) { r[0] = x[0] * x[0] * x[0]; };
  problem.tolerance = 1e-3;
  NewtonOptions options;
  options.lineSearch = false;
  EXPECT_EQ(Newton(options).solve(problem).outcome, Outcome::Diverged);
}

TEST(Newton, RoundOffIsAnExcuseOnlyWhenStepsStopHelping) {
  // 1e8 (x^2 - 2) cannot fall below about 1e8 eps; the tolerance asks for less.
  Algebraic problem = scalar(
      1, [](double x) { return 1e8 * (x * x - 2); }, [](double x) { return 2e8 * x; });
  problem.tolerance = 1e-12;
  Algebraic strict = problem;
  problem.roundOff = 4e8 * std::numeric_limits<double>::epsilon();
  const NewtonReport report = Newton().solve(problem);
  ASSERT_TRUE(report.converged());
  EXPECT_TRUE(report.atRoundOff);
  EXPECT_NEAR(problem.x[0], std::sqrt(2), 5e-16);
  EXPECT_LE(report.residual(), 1);
  Algebraic plain = strict;
  const NewtonReport stagnated = Newton().solve(strict);
  EXPECT_EQ(stagnated.outcome, Outcome::Stagnated);
  EXPECT_GT(stagnated.residual(), 1);

  NewtonOptions options;
  options.lineSearch = false;
  plain.roundOff = problem.roundOff;
  const NewtonReport full = Newton(options).solve(plain);
  EXPECT_TRUE(full.converged() && full.atRoundOff);
  EXPECT_LE(full.iterations, report.iterations + 2);
}

TEST(Newton, ReportsTheWorstOfTheGroupsNotTheirSum) {
  NewtonReport report;
  EXPECT_EQ(report.residual(), 0);
  report.groups = {{"force", 0.9, 1, 1, 0, 0}, {"moment", 8, 0, 0, 10, 0}, {"length", 3, 1, 1, 0, 4}};
  EXPECT_EQ(report.residual(), 3);
  report.atRoundOff = true;
  EXPECT_EQ(report.residual(), 0.9);
}

TEST(Newton, CapsTheStep) {
  Algebraic problem = scalar(
      0, [](double x) { return x - 1; }, [](double) { return 1.0; });
  problem.longest = 0.25;
  NewtonOptions options;
  options.maxIterations = 3;
  const NewtonReport report = Newton(options).solve(problem);
  EXPECT_EQ(report.outcome, Outcome::MaxIterations);
  EXPECT_NEAR(problem.x[0], 1 - std::pow(0.75, 3), 1e-15);
}

/// Two groups in units that differ by 1e6.
struct TwoGroups : Algebraic {
  double reference = 0;
  int groupCount() const override { return 2; }
  bool evaluate(std::span<ResidualGroup> groups) override {
    residual(x, r);
    groups[0] = {"force", std::abs(r[0]), reference, 1e-3, 1e-9, 0};
    groups[1] = {"gap", std::abs(r[1]), 0, 1e-3, 1e-3, 0};
    return true;
  }
};

TEST(Newton, EveryGroupMustPassOneOfItsTests) {
  TwoGroups problem;
  problem.x = problem.r = Eigen::Vector2d(2, 1);
  problem.factor = Eigen::Matrix2d::Zero();
  problem.residual = [](const Algebraic::Vector& x, Algebraic::Vector& r) { r = Eigen::Vector2d(1e6 * (x[0] * x[0] - 1), x[1]); };
  problem.tangent = [](const Algebraic::Vector& x, Algebraic::Matrix& T) { T << 2e6 * x[0], 0, 0, 1; };
  TwoGroups relative = problem;
  const NewtonReport absolute = Newton().solve(problem);
  ASSERT_TRUE(absolute.converged());
  EXPECT_LE(absolute.groups[0].value, 1e-9);
  EXPECT_LE(absolute.groups[1].value, 1e-3);
  relative.reference = 1e6; // forces of 1e6 cancel: 1e3 is good enough
  const NewtonReport early = Newton().solve(relative);
  ASSERT_TRUE(early.converged());
  EXPECT_LT(early.iterations, absolute.iterations);
  EXPECT_LE(early.groups[0].value, 1e3);
}

TEST(Newton, TakesTheStepsItIsToldToTake) {
  Algebraic problem = scalar(
      1, [](double x) { return x - 1; }, [](double) { return 1.0; });
  EXPECT_EQ(Newton().solve(problem).iterations, 0);
  NewtonOptions options;
  options.minIterations = 1;
  const NewtonReport report = Newton(options).solve(problem);
  EXPECT_TRUE(report.converged());
  EXPECT_EQ(report.iterations, 1);
}

TEST(Newton, IteratingAllocatesNothing) {
  if (!allocationsCounted()) GTEST_SKIP();
  NewtonOptions options;
  options.window = 3;
  Newton newton(options);
  newton.reserve(1);
  Algebraic problem = scalar(3, arctangent, arctangentSlope);
  const long before = allocationCount();
  newton.solve(problem);
  EXPECT_EQ(allocationCount(), before);
  EXPECT_TRUE(newton.report().converged());
}

TEST(Newton, RefusesContradictoryOptions) {
  NewtonOptions options;
  options.maxIterations = -1;
  EXPECT_THROW(Newton{options}, std::invalid_argument);
  options = {};
  options.window = 0;
  EXPECT_THROW(Newton{options}, std::invalid_argument);
}

}
}
