#include "tendril/solvers/nearest_point.h"

#include "tendril/solvers/lcp.h"

#include <gtest/gtest.h>

#include <random>

namespace tendril {
namespace {

struct Problem {
  Eigen::VectorXd w0, a, b;
  Eigen::MatrixXd A, B;
};

Problem randomProblem(unsigned seed, int n, int equations, int inequalities) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  const auto draw = [&](Eigen::Index, Eigen::Index = 0) { return normal(random); };
  Problem p;
  p.w0 = Eigen::VectorXd::NullaryExpr(n, [&] { return draw(0); });
  p.A = Eigen::MatrixXd::NullaryExpr(equations, n, [&] { return draw(0); });
  p.B = Eigen::MatrixXd::NullaryExpr(inequalities, n, [&] { return draw(0); });
  const Eigen::VectorXd inside = Eigen::VectorXd::NullaryExpr(n, [&] { return draw(0); }); // so that there are points at all
  p.a = p.A * inside;
  p.b = p.B * inside - Eigen::VectorXd::NullaryExpr(inequalities, [&] { return std::abs(draw(0)); });
  return p;
}

/// Stationarity, and complementarity of multipliers and slacks.
void expectOptimal(const Problem& p, const NearestPoint& found, double tolerance) {
  const Eigen::VectorXd force = p.A.transpose() * found.equality() + p.B.transpose() * found.inequality();
  EXPECT_LT((found.point() - p.w0 - force).norm(), tolerance);
  EXPECT_LT((p.A * found.point() - p.a).norm(), tolerance);
  const Eigen::VectorXd slack = p.B * found.point() - p.b;
  for (Eigen::Index j = 0; j < slack.size(); ++j) EXPECT_LT(std::abs(std::min(slack[j], found.inequality()[j])), tolerance) << j;
}

TEST(NearestPoint, AgreesWithTheMethodOfGoldfarbAndIdnani) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    const Problem p = randomProblem(seed, 12, int(seed % 4), 25);
    NearestPoint nearest;
    ASSERT_TRUE(nearest.solve(p.w0, p.A, p.a, p.B, p.b));
    expectOptimal(p, nearest, 1e-9);
    QuadraticProgram same{.A = Eigen::MatrixXd::Identity(12, 12), .v0 = p.w0, .N = {}, .b = {}, .equalities = int(p.a.size())};
    same.N.resize(p.A.rows() + p.B.rows(), 12), same.b.resize(same.N.rows());
    same.N << p.A, p.B;
    same.b << p.a, p.b;
    EXPECT_LT((solveProximal(same).v - nearest.point()).norm(), 1e-9) << seed;
    const std::vector<int> active = nearest.active();
    ASSERT_TRUE(nearest.solve(p.w0, p.A, p.a, p.B, p.b, active));
    expectOptimal(p, nearest, 1e-9);
    ASSERT_TRUE(nearest.solve(p.w0, p.A, p.a, p.B, p.b, {0, 1, 2, 3, 4, 5})); // a wrong guess
    expectOptimal(p, nearest, 1e-9);
  }
}

/// Every inequality three times, once exactly and once nearly.
TEST(NearestPoint, DependentRowsDoNotMatter) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    Problem p = randomProblem(seed, 12, 2, 20), thrice = p;
    thrice.B.resize(60, 12), thrice.b.resize(60);
    thrice.B << p.B, p.B, p.B + 1e-9 * Eigen::MatrixXd::Random(20, 12);
    thrice.b << p.b, p.b, p.b;
    NearestPoint once, again;
    ASSERT_TRUE(once.solve(p.w0, p.A, p.a, p.B, p.b));
    ASSERT_TRUE(again.solve(thrice.w0, thrice.A, thrice.a, thrice.B, thrice.b));
    EXPECT_LT((once.point() - again.point()).norm(), 1e-7);
  }
}

TEST(NearestPoint, TellsThatThereIsNone) {
  Eigen::MatrixXd B(2, 2);
  B << 1, 0, -1, 0;
  NearestPoint nearest;
  EXPECT_FALSE(nearest.solve(Eigen::Vector2d::Zero(), Eigen::MatrixXd(0, 2), Eigen::VectorXd(0), B, Eigen::Vector2d(1, 1)));
}

}
}
