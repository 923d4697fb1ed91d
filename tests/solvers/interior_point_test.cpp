#include "tendril/solvers/interior_point.h"

#include <random>

#include <Eigen/Dense>
#include <gtest/gtest.h>

#include "allocation_count.h"
#include "hock_schittkowski.h"

namespace tendril {
namespace {

using test::hockSchittkowskiCase;
using test::Jet;
using test::TermProgram;
using test::variables;
using Jets = TermProgram::Jets;
using Status = InteriorPointReport::Status;
constexpr double infinity = TermProgram::infinity;

class HockSchittkowski : public ::testing::TestWithParam<test::HockSchittkowskiCase> {};
INSTANTIATE_TEST_SUITE_P(All, HockSchittkowski, ::testing::ValuesIn(test::hockSchittkowskiCases()));

TEST_P(HockSchittkowski, FindsTheOptimum) {
  TermProgram program;
  GetParam().build(program);
  InteriorPoint solver;
  const InteriorPointReport& report = solver.solve(program);
  EXPECT_TRUE(report.converged() || (GetParam().tolerance > 1e-8 && report.status == Status::Acceptable))
      << name(report.status) << ": " << report.message;
  EXPECT_NEAR(report.objective, GetParam().optimum, GetParam().tolerance * std::max(1.0, std::abs(GetParam().optimum)));
  EXPECT_LE(report.worstViolation, 1e-8);
  EXPECT_LE(report.iterations, 80);
  RecordProperty("iterations", report.iterations);
}

/// A symmetric start on a long flat ridge, whose gradient has no part along the direction in which it falls to both sides.
TEST(InteriorPoint, LeavesARidge) {
  TermProgram program;
  variables(program, {30, 0});
  program.minimise({0, 1}, [](const Jets& x) { return 1e-3 * sqr(x[0] - 1) + sqr(sqr(x[1]) - 1); });
  InteriorPoint solver;
  const InteriorPointReport& report = solver.solve(program);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.objective, 0, 1e-9); // on the ridge: 1
  EXPECT_TRUE(report.strictMinimum);
  EXPECT_LE(report.iterations, 60);
}

/// Near a saddle that is nearly flat residuals are small for many iterations, and rise where the method leaves it: rounding does not stop
/// it there.
TEST(InteriorPoint, DoesNotTakeASaddleForTheEndOfItsDigits) {
  TermProgram program;
  variables(program, {5, 3e-3});
  program.minimise({0, 1}, [](const Jets& x) { return sqr(x[0] - 1) + 1e-6 * sqr(sqr(x[1]) - 1); });
  const InteriorPointReport report = InteriorPoint().solve(program);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_TRUE(report.strictMinimum);
  EXPECT_NEAR(program.x[1], 1, 1e-3);
}

// ---- what a solver must say when there is no solution

TEST(InteriorPoint, NamesTheConstraintsThatCannotBeMet) {
  struct Named : TermProgram {
    std::string nameOfEquality(int i) const override { return i == 0 ? "circle" : "line"; }
  } program;
  variables(program, {3, 1});
  program.minimise({0, 1}, [](const Jets& x) { return x[0] + x[1]; });
  program.equality({0, 1}, [](const Jets& x) { return sqr(x[0]) + sqr(x[1]) - 1; });
  program.equality({0, 1}, [](const Jets& x) { return x[0] + x[1] - 10; });
  InteriorPoint solver;
  const InteriorPointReport& report = solver.solve(program);
  EXPECT_EQ(report.status, Status::LocallyInfeasible) << report.message;
  ASSERT_EQ(report.worst.size(), 2u);
  EXPECT_NE(report.message.find("'" + report.worst[0].row + "'"), std::string::npos);
  // On the diagonal x = y = a the least of (2 a^2 - 1)^2 + (2 a - 10)^2 is where 8 a (2 a^2 - 1) + 4 (2 a - 10) = 0, that is 2 a^3 = 5.
  const double a = std::cbrt(2.5);
  EXPECT_NEAR(program.x[0], a, 1e-6);
  EXPECT_NEAR(program.x[1], a, 1e-6);
  EXPECT_EQ(report.worst[0].row, "line");
  EXPECT_NEAR(report.worst[0].amount, 10 - 2 * a, 1e-6);
  EXPECT_NEAR(report.worst[1].amount, 2 * a * a - 1, 1e-6);
}

TEST(InteriorPoint, NamesInequalitiesThatContradictEachOther) {
  TermProgram program;
  variables(program, {0, 0});
  program.minimise({0, 1}, [](const Jets& x) { return sqr(x[0]) + sqr(x[1]); });
  program.inequality(
      2, {0, 1}, [](const Jets& x) { return x[0] + x[1]; }, infinity);
  program.inequality(
      -infinity, {0}, [](const Jets& x) { return x[0]; }, 0.5);
  program.inequality(
      -infinity, {1}, [](const Jets& x) { return x[0]; }, 0.5);
  InteriorPoint solver;
  const InteriorPointReport& report = solver.solve(program);
  EXPECT_EQ(report.status, Status::LocallyInfeasible) << report.message;
  ASSERT_EQ(report.worst.size(), 3u);
  for (const auto& row : report.worst) EXPECT_NEAR(row.amount, 1.0 / 3, 1e-6); // the least squares share of 1
}

TEST(InteriorPoint, LeavesASaddleOfTheViolation) {
  TermProgram program;
  program.variable(0); // the violation of x^2 = 1 has a maximum here
  program.minimise({0}, [](const Jets& x) { return sqr(x[0] - 3); });
  program.equality({0}, [](const Jets& x) { return sqr(x[0]) - 1; });
  const InteriorPointReport report = InteriorPoint().solve(program);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(std::abs(program.x[0]), 1, 1e-9);
}

TEST(InteriorPoint, SaysThatTheObjectiveIsUnbounded) {
  for (const bool curved : {false, true}) {
    TermProgram program;
    variables(program, {1, 1}, 0, infinity);
    program.minimise({0, 1}, [=](const Jets& x) { return curved ? -1.0 * sqr(x[0]) + x[1] : -1.0 * x[0] + x[1]; });
    program.inequality(
        -5, {0, 1}, [](const Jets& x) { return x[0] - x[1]; }, infinity);
    const InteriorPointReport report = InteriorPoint().solve(program);
    EXPECT_EQ(report.status, Status::Unbounded) << name(report.status) << " " << report.message;
    EXPECT_LE(report.iterations, 200);
    EXPECT_NE(report.message.find("variable 0"), std::string::npos) << report.message;
  }
}

TEST(InteriorPoint, RefusesAStartWhereTheFunctionsDoNotExist) {
  TermProgram program;
  program.variable(-1);
  program.minimise({0}, [](const Jets& x) { return x[0] - log(x[0]); });
  EXPECT_EQ(InteriorPoint().solve(program).status, Status::NotFinite);
  program.x[0] = 0.01; // from here a full Newton step would leave the domain
  const InteriorPointReport report = InteriorPoint().solve(program);
  EXPECT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(program.x[0], 1, 1e-8);
}

TEST(InteriorPoint, KeepsTheBestIterateWhenIterationsRunOut) {
  const auto build = [](TermProgram& program) { hockSchittkowskiCase("HS71").build(program); };
  TermProgram program;
  build(program);
  InteriorPointOptions options;
  options.maxIterations = 4;
  const InteriorPointReport report = InteriorPoint(options).solve(program);
  EXPECT_EQ(report.status, Status::MaxIterations);
  EXPECT_EQ(report.iterations, 4);
  ASSERT_EQ(report.history.size(), 5u);
  double least = infinity;
  for (const auto& iterate : report.history) least = std::min(least, iterate.violation);
  EXPECT_DOUBLE_EQ(report.violation, least);
  ProgramValues values{0, Eigen::VectorXd(1), Eigen::VectorXd(5)};
  program.evaluate(values);
  EXPECT_DOUBLE_EQ(values.objective, report.objective);
}

TEST(InteriorPoint, CanBeWatchedAndInterrupted) {
  TermProgram program;
  hockSchittkowskiCase("HS71").build(program);
  InteriorPoint solver;
  int calls = 0;
  solver.watch([&](const InteriorPointReport::Iterate&) { return ++calls < 3; });
  EXPECT_EQ(solver.solve(program).status, Status::Interrupted);
  EXPECT_EQ(calls, 3);
}

TEST(InteriorPoint, RefusesStructuresThatContradictThemselves) {
  TermProgram apart;
  apart.variable(0, 0);
  apart.variable(0, 2);
  apart.equality(
      {0, 1}, [](const Jets& x) { return x[0] + x[1]; }, 1);
  apart.minimise({0, 1}, [](const Jets& x) { return x[0] * x[1]; });
  EXPECT_THROW(InteriorPoint().solve(apart), std::invalid_argument);
  TermProgram crossed;
  crossed.bounded(0, 1, 1);
  EXPECT_THROW(InteriorPoint().solve(crossed), std::invalid_argument);
}

TEST(InteriorPoint, TellsAMinimumFromASaddle) {
  for (const double start : {0.0, 0.1}) {
    TermProgram program;
    program.variable(start);
    program.variable(0);
    program.minimise({0, 1}, [](const Jets& x) { return pow(x[0], 4) - sqr(x[0]) + sqr(x[1]); });
    const InteriorPointReport report = InteriorPoint().solve(program);
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.strictMinimum, start != 0);
    EXPECT_NEAR(program.x[0], start == 0 ? 0 : std::sqrt(0.5), 1e-9);
  }
}

// ---- convergence

TEST(InteriorPoint, ConvergesQuadraticallyWithoutInequalities) {
  TermProgram program;
  hockSchittkowskiCase("HS7").build(program);
  InteriorPointOptions options;
  options.tolerance = 1e-12;
  const InteriorPointReport report = InteriorPoint(options).solve(program);
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.objective, -std::sqrt(3.0), 2e-12);
  const auto& history = report.history;
  ASSERT_GE(history.size(), 4u);
  const auto error = [&](std::size_t back) {
    return std::max(history[history.size() - back].stationarity, history[history.size() - back].violation);
  };
  EXPECT_LE(error(2), 10 * error(3) * error(3));
  EXPECT_LE(error(1), std::max(1e-14, 10 * error(2) * error(2)));
}

TEST(InteriorPoint, PolishesASolutionToItsLastDigits) {
  const auto residual = [](int steps) {
    TermProgram program;
    hockSchittkowskiCase("HS7").build(program);
    InteriorPointOptions options;
    options.tolerance = 1e-4, options.polishingSteps = steps;
    const InteriorPointReport report = InteriorPoint(options).solve(program);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_EQ(std::size_t(report.iterations) + 1, report.history.size());
    return std::max(report.stationarity, report.violation);
  };
  EXPECT_GT(residual(0), 1e-9);
  EXPECT_LT(residual(3), 1e-14);
}

TEST(InteriorPoint, MultipliersHaveTheSignsOfTheLagrangian) {
  TermProgram program; // min (x - 2)^2 + (y + 3)^2,  x <= 1 (multiplier 2), y >= -1 (multiplier -4), z = 5 with min z (multiplier -1)
  program.bounded(0, -infinity, 1);
  program.bounded(0, -1, infinity);
  program.variable(0);
  program.minimise({0, 1, 2}, [](const Jets& x) { return sqr(x[0] - 2) + sqr(x[1] + 3) + x[2]; });
  program.equality({2}, [](const Jets& x) { return 1000 * (x[0] - 5); }); // scaled inside
  const InteriorPointReport report = InteriorPoint().solve(program);
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.multipliers.inequality[0], 2, 1e-7);
  EXPECT_NEAR(report.multipliers.inequality[1], -4, 1e-7);
  EXPECT_NEAR(report.multipliers.equality[0], -1e-3, 1e-10);
}

TEST(InteriorPoint, StartsWarm) {
  const auto build = [](TermProgram& p, double a) {
    variables(p, {1, 5, 5, 1}, 1, 5);
    p.minimise({0, 1, 2, 3}, [](const Jets& x) { return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]; });
    p.inequality(
        a, {0, 1, 2, 3}, [](const Jets& x) { return x[0] * x[1] * x[2] * x[3]; }, infinity);
    p.equality({0, 1, 2, 3}, [](const Jets& x) { return sqr(x[0]) + sqr(x[1]) + sqr(x[2]) + sqr(x[3]) - 40; });
  };
  TermProgram first, second, cold;
  build(first, 25);
  build(second, 25.01);
  build(cold, 25.01);
  const InteriorPointReport before = InteriorPoint().solve(first), reference = InteriorPoint().solve(cold);
  second.x = first.x;
  const WarmStart warm{before.multipliers, 1e-5};
  const InteriorPointReport report = InteriorPoint().solve(second, &warm);
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.objective, reference.objective, 1e-8);
  EXPECT_LE(report.iterations, 6);
  EXPECT_LT(report.iterations, reference.iterations);
}

// ---- many

/// Random staged programs: quartic objective with indefinite quadratic parts, quadratic equalities and inequalities between neighbours,
/// bounds.
void randomProgram(TermProgram& p, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  const int stages = 1 + int(seed % 4), kind = int(seed / 4 % 4), n = 3;
  std::vector<std::vector<int>> x(stages);
  for (int k = 0; k < stages; ++k)
    for (int i = 0; i < n; ++i)
      x[k].push_back(kind > 0 && i > 0 ? p.bounded(2 * value(engine), -1 - 0.5 * value(engine), 2 + value(engine), k)
                                       : p.variable(3 * value(engine), k));
  const auto quadratic = [&](int size, double curvature) -> TermProgram::Function {
    Eigen::MatrixXd A = Eigen::MatrixXd::NullaryExpr(size, size, [&] { return curvature * value(engine); });
    Eigen::VectorXd b = Eigen::VectorXd::NullaryExpr(size, [&] { return value(engine); });
    return [A = (A + A.transpose()).eval(), b](const Jets& v) {
      Jet sum = 0 * v[0];
      for (int i = 0; i < int(b.size()); ++i) {
        sum = sum + b[i] * v[i];
        for (int j = 0; j < int(b.size()); ++j) sum = sum + 0.5 * A(i, j) * (v[i] * v[j]);
      }
      return sum;
    };
  };
  for (int k = 0; k < stages; ++k) {
    std::vector<int> reached = x[k];
    if (k + 1 < stages) reached.insert(reached.end(), x[k + 1].begin(), x[k + 1].end());
    const int size = int(reached.size());
    p.minimise(reached, quadratic(size, 0.5));
    for (int i : reached) p.minimise({i}, [](const Jets& v) { return 0.1 * pow(v[0], 4); });
    const double right = value(engine);
    p.equality(
        reached, [f = quadratic(size, 0.3), right](const Jets& v) { return f(v) - right; }, k);
    if (kind >= 2) p.inequality(-1 + 0.5 * value(engine), reached, quadratic(size, 0.4), kind == 3 ? 1 + 0.5 * value(engine) : infinity, k);
  }
}

/// Largest residual of the first-order conditions, from the program itself and the multipliers of the report.
double firstOrderResidual(TermProgram& p, const ProgramMultipliers& y) {
  const ProgramStructure& s = p.structure();
  const auto zeros = [](auto n) -> Eigen::VectorXd { return Eigen::VectorXd::Zero(Eigen::Index(n)); };
  ProgramValues v{0, zeros(s.equalities()), zeros(s.inequalities())};
  ProgramDerivatives d{zeros(s.variables()), zeros(s.equalityJacobian.size()), zeros(s.inequalityJacobian.size()), zeros(s.hessian.size())};
  EXPECT_TRUE(p.evaluate(v) && p.differentiate(nullptr, d));
  Eigen::VectorXd gradient = d.gradient;
  for (std::size_t k = 0; k < s.equalityJacobian.size(); ++k)
    gradient[s.equalityJacobian[k].column] += d.equalityJacobian[Eigen::Index(k)] * y.equality[s.equalityJacobian[k].row];
  for (std::size_t k = 0; k < s.inequalityJacobian.size(); ++k)
    gradient[s.inequalityJacobian[k].column] += d.inequalityJacobian[Eigen::Index(k)] * y.inequality[s.inequalityJacobian[k].row];
  double worst = std::max(gradient.lpNorm<Eigen::Infinity>(), v.equality.lpNorm<Eigen::Infinity>());
  for (int i = 0; i < s.inequalities(); ++i) {
    worst = std::max({worst, s.lower[i] - v.inequality[i], v.inequality[i] - s.upper[i]});
    const double gap = y.inequality[i] > 0 ? s.upper[i] - v.inequality[i] : v.inequality[i] - s.lower[i]; // on the side of its sign
    if (std::abs(y.inequality[i]) > 1e-7) worst = std::max(worst, std::abs(gap * y.inequality[i]));
  }
  return worst;
}

TEST(InteriorPoint, EndsRandomProgramsWithASolutionOrNamesTheConstraints) {
  int solved = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    TermProgram program;
    randomProgram(program, seed);
    const InteriorPointReport report = InteriorPoint().solve(program);
    EXPECT_LE(report.iterations, 250) << seed;
    if (report.converged()) {
      ++solved;
      EXPECT_LE(firstOrderResidual(program, report.multipliers), 1e-6) << seed;
    } else {
      EXPECT_EQ(report.status, Status::LocallyInfeasible) << seed << ": " << report.message;
      EXPECT_FALSE(report.worst.empty());
    }
  }
  EXPECT_GE(solved, 48);
}

// ---- stages

/// sum 100 (x_{k+1} - x_k^2)^2 + (1 - x_k)^2, minimum 0 at x = 1.
TEST(InteriorPoint, SolvesAChainOfRosenbrocks) {
  TermProgram program;
  const int n = 200;
  for (int k = 0; k < n; ++k) program.variable(0.5, k);
  for (int k = 0; k + 1 < n; ++k) program.minimise({k, k + 1}, [](const Jets& x) { return 100 * sqr(x[1] - sqr(x[0])) + sqr(1 - x[0]); });
  const InteriorPointReport report = InteriorPoint().solve(program);
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_TRUE(program.x.isOnes(1e-8));
}

/// min a . x on the unit sphere, with the retraction x <- (x + B xi) / |x + B xi|, B a basis of the tangent plane: minimum -|a|.
class Sphere : public NonlinearProgram {
 public:
  Sphere() {
    structure_.addVariable(0);
    structure_.addVariable(0);
    structure_.hessian = {{0, 0}, {1, 0}, {1, 1}};
  }
  const ProgramStructure& structure() const override { return structure_; }
  int pointSize() const override { return 3; }
  void getPoint(Eigen::Ref<Eigen::VectorXd> numbers) const override { numbers = x; }
  void setPoint(const Eigen::Ref<const Eigen::VectorXd>& numbers) override { x = numbers; }
  void retract(const Eigen::Ref<const Eigen::VectorXd>& xi) override { x = (x + basis() * xi).normalized(); }
  double longestFactor(const Eigen::Ref<const Eigen::VectorXd>& xi) const override {
    return std::min(1.0, 0.5 / std::max(xi.norm(), 1e-300));
  }
  bool evaluate(ProgramValues& values) override {
    values.objective = a.dot(x);
    return true;
  }
  bool differentiate(const ProgramMultipliers* m, ProgramDerivatives& d) override {
    d.gradient = basis().transpose() * a;
    // (x + B xi) / sqrt(1 + |xi|^2) = x + B xi - x |xi|^2 / 2 + ...
    if (m) d.hessian << -m->weight * a.dot(x), 0, -m->weight * a.dot(x);
    return true;
  }
  Eigen::Vector3d a{1, -2, 2}, x{0.6, 0, 0.8};

 private:
  Eigen::Matrix<double, 3, 2> basis() const {
    Eigen::Matrix<double, 3, 2> B;
    Eigen::Index least = 0;
    x.cwiseAbs().minCoeff(&least);
    B.col(0) = x.cross(Eigen::Vector3d::Unit(least)).normalized();
    B.col(1) = x.cross(B.col(0));
    return B;
  }
  ProgramStructure structure_;
};

TEST(InteriorPoint, MovesAlongAManifold) {
  Sphere sphere;
  EXPECT_LE(checkDerivatives(sphere).worst(), 1e-7) << checkDerivatives(sphere).describe();
  InteriorPointOptions options;
  options.tolerance = 1e-12;
  const InteriorPointReport report = InteriorPoint(options).solve(sphere);
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.objective, -3, 1e-14);
  EXPECT_LE((sphere.x + sphere.a / 3).norm(), 1e-12);
  EXPECT_LE(report.iterations, 15);
}

/// Rest to rest of an inertia I through the angle D in time T, N intervals: minimise h sum tau^2 subject to the forced discrete
/// Euler-Lagrange equations I (u_{n+1} - 2 u_n + u_{n-1}) / h^2 = (tau_{n-1} + tau_n) / 2 and the discrete Legendre transforms at the ends.
/// Minimum: 12 I^2 D^2 / (T^3 (1 - 1/N^2)), unless |tau| is limited.
class DoubleIntegrator : public VectorProgram {
 public:
  DoubleIntegrator(int intervals, double inertia, double angle, double duration, double strongest = 0)
      : N(intervals), I(inertia), D(angle), T(duration), h(duration / intervals) {
    for (int n = 0; n <= N; ++n) {
      structure_.addVariable(n);
      structure_.addEquality(n); // motion
      if (n < N) structure_.addVariable(n);
      if (n == 0 || n == N) structure_.addEquality(n); // place
    }
    for (int n = 0; n <= N; ++n) {
      const int row = n == 0 ? 0 : n + 1, at = 2 * n;
      if (n > 0) structure_.equalityJacobian.insert(structure_.equalityJacobian.end(), {{row, at - 2}, {row, at - 1}});
      structure_.equalityJacobian.push_back({row, at});
      if (n < N) structure_.equalityJacobian.insert(structure_.equalityJacobian.end(), {{row, at + 1}, {row, at + 2}});
      if (n < N) structure_.hessian.push_back({at + 1, at + 1});
      if (n < N && strongest > 0) structure_.inequalityJacobian.push_back({structure_.addInequality(n, -strongest, strongest), at + 1});
    }
    structure_.equalityJacobian.push_back({1, 0});
    structure_.equalityJacobian.push_back({N + 2, 2 * N});
    x.setZero(2 * N + 1);
  }
  const ProgramStructure& structure() const override { return structure_; }
  bool evaluate(ProgramValues& values) override {
    values.objective = 0;
    for (int n = 0; n <= N; ++n) {
      double momentum = 0; // that arrives at the node
      if (n > 0) momentum += h / 2 * tau(n - 1) + I / h * (u(n) - u(n - 1));
      if (n < N) momentum += h / 2 * tau(n) - I / h * (u(n + 1) - u(n));
      values.equality[n == 0 ? 0 : n + 1] = momentum;
      if (n < N) values.objective += h * tau(n) * tau(n);
    }
    for (int n = 0; n < structure_.inequalities(); ++n) values.inequality[n] = tau(n);
    values.equality[1] = u(0);
    values.equality[N + 2] = u(N) - D;
    return true;
  }
  bool differentiate(const ProgramMultipliers* m, ProgramDerivatives& d) override {
    int k = 0;
    d.gradient.setZero();
    for (int n = 0; n <= N; ++n) {
      if (n > 0) d.equalityJacobian[k++] = -I / h, d.equalityJacobian[k++] = h / 2;
      d.equalityJacobian[k++] = (n == 0 || n == N ? 1 : 2) * I / h;
      if (n < N) d.equalityJacobian[k++] = h / 2, d.equalityJacobian[k++] = -I / h;
      if (n < N) d.gradient[2 * n + 1] = 2 * h * tau(n);
      if (n < N && m) d.hessian[n] = 2 * h * m->weight;
    }
    d.equalityJacobian[k++] = 1;
    d.equalityJacobian[k++] = 1;
    d.inequalityJacobian.setOnes();
    return true;
  }
  double optimum() const { return 12 * I * I * D * D / (T * T * T * (1 - 1.0 / (N * N))); }
  double tau(int n) const { return x[2 * n + 1]; }

 private:
  double u(int n) const { return x[2 * n]; }
  int N;
  double I, D, T, h;
  ProgramStructure structure_;
};

TEST(InteriorPoint, SwingsADoubleIntegratorFromRestToRest) {
  for (const int N : {10, 100, 1000}) {
    DoubleIntegrator program(N, 2, 0.7, 1.5);
    if (N == 10) {
      EXPECT_LE(checkDerivatives(program).worst(), 1e-7) << checkDerivatives(program).describe();
    }
    InteriorPointOptions options;
    options.tolerance = 1e-12;
    const InteriorPointReport report = InteriorPoint(options).solve(program);
    ASSERT_TRUE(report.converged()) << N << ": " << report.message;
    EXPECT_NEAR(report.objective, program.optimum(), 1e-10 * program.optimum()) << N;
    EXPECT_LE(report.iterations, 2) << N; // a quadratic program
    const double h = 1.5 / N, slope = 12 * 2 * 0.7 / (h * h * N * (double(N) * N - 1));
    for (int n = 0; n < N; ++n) EXPECT_NEAR(program.tau(n), slope * (0.5 * (N - 1) - n), 1e-8);
  }
}

TEST(InteriorPoint, IteratesWithoutAllocation) {
  if (!allocationsCounted()) GTEST_SKIP();
  for (const double strongest : {0.0, 3.0}) { // 3.7 without a limit
    DoubleIntegrator program(30, 2, 0.7, 1.5, strongest);
    InteriorPoint solver;
    long first = -1, last = 0;
    solver.watch([&](const InteriorPointReport::Iterate&) {
      last = allocationCount();
      if (first < 0) first = last;
      return true;
    });
    const InteriorPointReport& report = solver.solve(program);
    EXPECT_TRUE(report.converged()) << report.message;
    EXPECT_GE(report.iterations, strongest > 0 ? 5 : 1);
    EXPECT_EQ(last - first, 0) << strongest;
  }
}

/// With |tau| <= m the torque in continuous time is cut off at m: tau = m for t < a, then linear to -m. At t = T/2 - s m / k with slope k
/// the cut ends; D I = m T^2/4 - m^3/(3 k^2) gives k, and int tau^2 = m^2 (T - 4 m / (3 k)). Converges with order 2.
TEST(InteriorPoint, SwingsADoubleIntegratorWithLimitedTorque) {
  const double I = 2, D = 0.7, T = 1.5, m = 3;
  const double k = std::sqrt(m * m * m / (3 * (m * T * T / 4 - D * I)));
  const double exact = m * m * (T - 4 * m / (3 * k));
  double before = 0;
  for (const int N : {50, 100, 200}) {
    DoubleIntegrator program(N, I, D, T, m);
    const InteriorPointReport report = InteriorPoint().solve(program);
    ASSERT_TRUE(report.converged()) << report.message;
    EXPECT_LE(report.iterations, 20);
    for (int n = 0; n < N; ++n) EXPECT_LE(std::abs(program.tau(n)), m + 1e-9);
    const double error = std::abs(report.objective - exact);
    EXPECT_LE(error, 10 * exact / (N * N));
    EXPECT_TRUE(before == 0 || error <= before / 2) << error;
    before = error;
  }
}

/// Double integrator with |tau| <= 1 in free time: x'' = tau, from 0 to D at rest; minimise T. With N even the optimum is bang-bang with
/// its switch at a node: T = 2 sqrt(D).
TEST(InteriorPoint, FindsTheShortestTimeAsAGlobalVariable) {
  TermProgram program;
  const int N = 20;
  const double D = 4;
  const int T = program.variable(3, ProgramStructure::global);
  std::vector<int> u, v, tau;
  for (int n = 0; n <= N; ++n) {
    u.push_back(program.variable(D * n / N, n));
    v.push_back(program.variable(0, n));
    if (n < N) tau.push_back(program.bounded(0, -1, 1, n));
  }
  program.minimise({T}, [](const Jets& x) { return x[0]; });
  program.inequality(
      0.1, {T}, [](const Jets& x) { return x[0]; }, infinity, ProgramStructure::global);
  for (int n = 0; n < N; ++n) { // exact for piecewise constant tau
    program.equality(
        {v[n], v[n + 1], tau[n], T}, [=](const Jets& x) { return x[1] - x[0] - x[3] * x[2] * (1.0 / N); }, n);
    program.equality(
        {u[n], u[n + 1], v[n], v[n + 1], T}, [=](const Jets& x) { return x[1] - x[0] - x[4] * (x[2] + x[3]) * (0.5 / N); }, n);
  }
  const auto fix = [&](int variable, double value, int stage) {
    program.equality(
        {variable}, [=](const Jets& x) { return x[0] - value; }, stage);
  };
  fix(u[0], 0, 0);
  fix(v[0], 0, 0);
  fix(u[N], D, N);
  fix(v[N], 0, N);
  const InteriorPointReport report = InteriorPoint().solve(program);
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_NEAR(report.objective, 2 * std::sqrt(D), 1e-7);
  EXPECT_LE(checkDerivatives(program).worst(), 1e-7) << checkDerivatives(program).describe();
}

/// min sum (x_n - a_n)^2 + c (x_{n+1} - x_n)^2 with x_0 = x_N, a linking constraint; against the circulant equations, solved densely.
TEST(InteriorPoint, ClosesAPeriodicChain) {
  TermProgram program;
  const int N = 12;
  const double c = 3;
  Eigen::MatrixXd A = Eigen::MatrixXd::Identity(N, N);
  Eigen::VectorXd a(N);
  for (int n = 0; n < N; ++n) {
    a[n] = std::sin(1.0 + n * n);
    A(n, n) += 2 * c;
    A(n, (n + 1) % N) -= c;
    A((n + 1) % N, n) -= c;
  }
  for (int n = 0; n <= N; ++n) program.variable(0, n);
  for (int n = 0; n < N; ++n) program.minimise({n, n + 1}, [=, a = a[n]](const Jets& x) { return sqr(x[0] - a) + c * sqr(x[1] - x[0]); });
  program.equality(
      {0, N}, [](const Jets& x) { return x[0] - x[1]; }, ProgramStructure::global, true);
  const InteriorPointReport report = InteriorPoint().solve(program);
  ASSERT_TRUE(report.converged()) << report.message;
  EXPECT_LE((program.x.head(N) - A.ldlt().solve(a)).norm(), 1e-9);
}

/// An inequality over all stages, and one over three, cannot be eliminated into the Hessian without coupling stages that are no neighbours.
TEST(InteriorPoint, BoundsASumOverAllStages) {
  TermProgram program;
  const int N = 9;
  std::vector<int> all;
  for (int n = 0; n < N; ++n) {
    all.push_back(program.variable(0, n));
    program.minimise({n}, [=](const Jets& x) { return sqr(x[0] - double(n)); });
  }
  program.inequality(
      -infinity, all,
      [](const Jets& x) {
        Jet sum = x[0];
        for (std::size_t i = 1; i < x.size(); ++i) sum = sum + x[i];
        return sum;
      },
      18, ProgramStructure::global, true); // 36 without the bound: all move by -2
  program.inequality(
      -infinity, {3, 4, 5}, [](const Jets& x) { return x[0] + x[1] + x[2]; }, 3, 4, true); // 6 without: these three by -1 more
  const InteriorPointReport report = InteriorPoint().solve(program);
  ASSERT_TRUE(report.converged()) << report.message;
  // Multipliers from the equations 9 a + 3 b = 18, 3 a + 3 b = 9 of the shifts a and a + b.
  for (int n = 0; n < N; ++n) EXPECT_NEAR(program.x[n], n - 1.5 - (n >= 3 && n <= 5 ? 1.5 : 0), 1e-7);
}

}
}
