#include "support/dense.h"
#include "tendril/solvers/friction_reduction.h"
#include "tendril/solvers/lcp.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <stdexcept>

namespace tendril {
namespace {

using Eigen::MatrixXd;
using Eigen::Vector2d;
using Eigen::VectorXd;

class Random {
 public:
  explicit Random(unsigned seed) : engine(seed) {}
  double operator()() { return normal(engine); }
  MatrixXd matrix(int rows, int columns) {
    return MatrixXd::NullaryExpr(rows, columns, [this](Eigen::Index, Eigen::Index) { return (*this)(); });
  }
  VectorXd vector(int size) { return matrix(size, 1); }
  MatrixXd metric(int size) {
    const MatrixXd B = matrix(size, size);
    return B * B.transpose() + 0.1 * MatrixXd::Identity(size, size);
  }

 private:
  std::mt19937 engine;
  std::normal_distribution<double> normal;
};

/// All solutions of an LCP by trying every set of positive z.
std::vector<VectorXd> enumerateLcp(const MatrixXd& M, const VectorXd& q) {
  const int n = int(q.size());
  std::vector<VectorXd> found;
  for (int set = 0; set < 1 << n; ++set) {
    std::vector<int> basic;
    for (int i = 0; i < n; ++i)
      if (set >> i & 1) basic.push_back(i);
    VectorXd z = VectorXd::Zero(n);
    if (!basic.empty()) {
      const MatrixXd block = M(basic, basic);
      const VectorXd part = test::leastNorm(block, -q(basic));
      if ((block * part + q(basic)).norm() > 1e-10) continue;
      z(basic) = part;
    }
    if (z.minCoeff() >= -1e-10 && (M * z + q).minCoeff() >= -1e-10) found.push_back(z);
  }
  return found;
}

/// The projection by trying every set of rows that hold with equality.
std::optional<VectorXd> enumerateProjection(const QuadraticProgram& p) {
  const int m = int(p.b.size());
  double best = std::numeric_limits<double>::infinity();
  std::optional<VectorXd> point;
  const MatrixXd inverse = test::inverse(p.A);
  for (int set = 0; set < 1 << m; ++set) {
    std::vector<int> held;
    for (int i = 0; i < m; ++i)
      if (i < p.equalities || set >> i & 1) held.push_back(i);
    VectorXd v = p.v0;
    if (!held.empty()) {
      const MatrixXd N = p.N(held, Eigen::all);
      v += inverse * N.transpose() * test::leastNorm(N * inverse * N.transpose(), p.b(held) - N * p.v0);
    }
    const VectorXd slack = p.N * v - p.b;
    if (slack.size() > 0 && slack.minCoeff() < -1e-9) continue;
    if (p.equalities > 0 && slack.head(p.equalities).cwiseAbs().maxCoeff() > 1e-9) continue;
    if (const double cost = (v - p.v0).dot(p.A * (v - p.v0)); cost < best) best = cost, point = v;
  }
  return point;
}

void expectOptimal(const QuadraticProgram& p, const ProximalPoint& x, double tolerance) {
  ASSERT_EQ(x.status, PivotStatus::Solved) << x.message;
  EXPECT_LE((p.A * (x.v - p.v0) - p.N.transpose() * x.lambda).norm(), tolerance * (1 + x.lambda.norm()));
  const VectorXd slack = p.N * x.v - p.b;
  for (int i = 0; i < slack.size(); ++i) {
    if (i < p.equalities) {
      EXPECT_LE(std::abs(slack[i]), tolerance);
      continue;
    }
    EXPECT_GE(slack[i], -tolerance);
    EXPECT_GE(x.lambda[i], 0);
    EXPECT_LE(std::min(slack[i], x.lambda[i]), tolerance);
  }
}

TEST(Lemke, FindsTheOneSolutionOfDefiniteProblems) {
  Random random(1);
  for (int n = 1; n <= 7; ++n) {
    for (int trial = 0; trial < 20; ++trial) {
      const MatrixXd M = random.metric(n);
      const VectorXd q = random.vector(n);
      const std::vector<VectorXd> expected = enumerateLcp(M, q);
      ASSERT_FALSE(expected.empty());
      const LcpResult result = solveLcp(M, q);
      ASSERT_EQ(result.status, PivotStatus::Solved) << result.message;
      EXPECT_LE((result.z - expected[0]).norm(), 1e-10 * (1 + expected[0].norm()));
      EXPECT_LE(result.residual, 1e-13);
      EXPECT_LE((result.w - (M * result.z + q)).norm(), 1e-14);
    }
  }
}

TEST(Lemke, SemidefiniteProblemsEndInASolutionOrProveThatThereIsNone) {
  Random random(2);
  int solved = 0, rays = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const int n = 2 + trial % 5;
    const MatrixXd B = random.matrix(n, 1 + trial % 2);
    const MatrixXd M = B * B.transpose();
    const VectorXd q = random.vector(n);
    const LcpResult result = solveLcp(M, q);
    const bool solvable = !enumerateLcp(M, q).empty();
    EXPECT_EQ(result.status, solvable ? PivotStatus::Solved : PivotStatus::Infeasible) << trial;
    if (solvable) {
      EXPECT_LE(result.residual, 1e-10) << trial;
    } else {
      EXPECT_NE(result.message.find("ray"), std::string::npos);
    }
    (solvable ? solved : rays) += 1;
  }
  EXPECT_GT(solved, 20);
  EXPECT_GT(rays, 20);
}

TEST(Lemke, DegenerateTiesDoNotCycle) {
  // Every ratio ties: equal columns and equal loads.
  for (int n = 2; n <= 12; ++n) {
    const LcpResult result = solveLcp(MatrixXd::Ones(n, n), -VectorXd::Ones(n));
    ASSERT_EQ(result.status, PivotStatus::Solved);
    EXPECT_NEAR(result.z.sum(), 1, 1e-14);
    EXPECT_LE(result.pivots, 3 * n);
  }
}

TEST(Lemke, MoreThanOneSolutionAndUnsymmetricMatrices) {
  // Murty's example, for which the number of pivots grows, is solved: M upper triangular with 2 above the diagonal.
  const int n = 6;
  MatrixXd M = MatrixXd::Identity(n, n);
  for (int i = 0; i < n; ++i) M.row(i).tail(n - 1 - i).setConstant(2);
  const LcpResult result = solveLcp(M, -VectorXd::Ones(n));
  ASSERT_EQ(result.status, PivotStatus::Solved);
  VectorXd expected = VectorXd::Zero(n);
  expected[n - 1] = 1;
  EXPECT_LE((result.z - expected).norm(), 1e-14);
  EXPECT_EQ(enumerateLcp(M, -VectorXd::Ones(n)).size(), 1u); // a P-matrix
}

TEST(Lemke, DoesNotDependOnUnits) {
  Random random(3);
  const int n = 6;
  const MatrixXd M = random.metric(n);
  const VectorXd q = random.vector(n), s = random.vector(n).unaryExpr([](double x) { return std::pow(10.0, 4 * x); });
  const LcpResult plain = solveLcp(M, q), scaled = solveLcp(s.asDiagonal() * M * s.asDiagonal(), 1e6 * s.cwiseProduct(q));
  ASSERT_EQ(scaled.status, PivotStatus::Solved);
  EXPECT_LE((1e-6 * s.cwiseProduct(scaled.z) - plain.z).norm(), 1e-12 * plain.z.norm());
}

TEST(Lemke, RefusesBadInput) {
  EXPECT_THROW(solveLcp(MatrixXd::Identity(2, 2), VectorXd::Zero(3)), std::invalid_argument);
  EXPECT_THROW(solveLcp(MatrixXd::Constant(1, 1, std::nan("")), -VectorXd::Ones(1)), std::invalid_argument);
  EXPECT_EQ(solveLcp(MatrixXd(0, 0), VectorXd(0)).status, PivotStatus::Solved);
}

TEST(Proximal, ProjectsInTheMetric) { // M-04
  const MatrixXd N = MatrixXd::Identity(2, 2);
  const VectorXd b = VectorXd::Zero(2);
  const ProximalPoint plain = solveProximal({MatrixXd::Identity(2, 2), Vector2d(-1, 2), N, b});
  EXPECT_LE((plain.v - Vector2d(0, 2)).norm(), 1e-14);
  MatrixXd A(2, 2);
  A << 2, 1, 1, 2;
  const ProximalPoint point = solveProximal({A, Vector2d(-1, 2), N, b});
  EXPECT_LE((point.v - Vector2d(0, 1.5)).norm(), 1e-14);
  EXPECT_LE((point.lambda - Vector2d(1.5, 0)).norm(), 1e-14);
  EXPECT_EQ(point.active, std::vector<int>{0});
}

TEST(Proximal, AgreesWithEveryActiveSet) {
  Random random(4);
  int infeasible = 0;
  for (int trial = 0; trial < 300; ++trial) {
    const int n = 1 + trial % 5, m = trial % 8;
    QuadraticProgram p{random.metric(n), random.vector(n), random.matrix(m, n), random.vector(m)};
    if (trial % 3 == 0) p.equalities = std::min(m, trial % 2 + 1);
    if (trial % 4 == 0 && m > 2) p.N.row(m - 1) = p.N.row(0) + p.N.row(1), p.b[m - 1] = p.b[0] + p.b[1]; // dependent
    const std::optional<VectorXd> expected = enumerateProjection(p);
    const ProximalPoint point = solveProximal(p);
    ASSERT_EQ(point.status, expected ? PivotStatus::Solved : PivotStatus::Infeasible) << trial << " " << point.message;
    if (!expected) {
      ++infeasible;
      EXPECT_FALSE(point.conflict.empty());
      continue;
    }
    EXPECT_LE((point.v - *expected).norm(), 1e-9 * (1 + expected->norm())) << trial;
    expectOptimal(p, point, 1e-8);
  }
  EXPECT_GT(infeasible, 10);
}

TEST(Proximal, DoesNotDependOnCoordinates) { // M-05
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    const int n = 5, m = 4;
    const QuadraticProgram p{random.metric(n), random.vector(n), random.matrix(m, n), random.vector(m)};
    const MatrixXd B = random.matrix(n, n) + 2 * MatrixXd::Identity(n, n);
    const QuadraticProgram changed{B.transpose() * p.A * B, test::solve(B, p.v0), p.N * B, p.b};
    const ProximalPoint u = solveProximal(p), y = solveProximal(changed);
    ASSERT_EQ(u.status, PivotStatus::Solved);
    ASSERT_EQ(y.status, PivotStatus::Solved);
    EXPECT_LE((u.v - B * y.v).norm(), 1e-10 * u.v.norm());
    EXPECT_LE((u.lambda - y.lambda).norm(), 1e-10 * (1 + u.lambda.norm()));
  }
}

TEST(Proximal, DependentRowsAreHeldOnceAndNamed) {
  // A table on four legs of which three would do.
  const MatrixXd A = Vector2d(1, 1).asDiagonal();
  MatrixXd N(4, 2);
  N << 1, 1, 1, -1, 1, 0.5, 1, 0;
  const ProximalPoint point = solveProximal({A, Vector2d(-1, 0.2), N, VectorXd::Zero(4)});
  ASSERT_EQ(point.status, PivotStatus::Solved);
  EXPECT_LE(point.v.norm(), 1e-15);
  EXPECT_LE((N.transpose() * point.lambda - Vector2d(1, -0.2)).norm(), 1e-14);
  EXPECT_EQ(point.active.size(), 2u);
  EXPECT_EQ(point.dependent.size(), 2u);
}

TEST(Proximal, NamesTheWallsThatCloseOnABody) {
  MatrixXd N(3, 2);
  N << 0, 1, 1, 0, -1, 0;
  const ProximalPoint point = solveProximal({MatrixXd::Identity(2, 2), VectorXd::Zero(2), N, Eigen::Vector3d(0, 0.1, 0.1)});
  EXPECT_EQ(point.status, PivotStatus::Infeasible);
  std::vector<int> conflict = point.conflict;
  std::sort(conflict.begin(), conflict.end());
  EXPECT_EQ(conflict, (std::vector<int>{1, 2}));
  EXPECT_NE(point.message.find("no velocity satisfies"), std::string::npos);
  const ProximalPoint zero = solveProximal({MatrixXd::Identity(2, 2), VectorXd::Zero(2), MatrixXd::Zero(1, 2), VectorXd::Ones(1)});
  EXPECT_EQ(zero.status, PivotStatus::Infeasible);
}

TEST(Proximal, RefusesBadInput) {
  const MatrixXd I = MatrixXd::Identity(2, 2);
  EXPECT_THROW(solveProximal({-I, VectorXd::Zero(2), I, VectorXd::Zero(2)}), std::invalid_argument);
  EXPECT_THROW(solveProximal({I, VectorXd::Zero(3), I, VectorXd::Zero(2)}), std::invalid_argument);
  EXPECT_THROW(solveProximal({I, VectorXd::Zero(2), I, VectorXd::Constant(2, std::nan(""))}), std::invalid_argument);
}

/// The velocity of the catching-up algorithm: the wanted one, or none, projected on {v : df/dt + grad f . v <= -f/h}.
Vector2d catchUp(const Vector2d& x, double f, const Vector2d& gradient) {
  const ProximalPoint point =
      solveProximal({MatrixXd::Identity(2, 2), x, -gradient.transpose(), VectorXd::Constant(1, f - gradient.dot(x))});
  EXPECT_EQ(point.status, PivotStatus::Solved);
  return point.v;
}

TEST(Sweeping, HalfLinePushesThePoint) { // M-02
  const double c = 1;
  for (const double h : {0.1, 0.01}) {
    double x = 0.3;
    for (int k = 1; k * h <= 1 + 1e-12; ++k) {
      const ProximalPoint point =
          solveProximal({MatrixXd::Identity(1, 1), VectorXd::Constant(1, x), MatrixXd::Identity(1, 1), VectorXd::Constant(1, c * k * h)});
      x = point.v[0];
      EXPECT_NEAR(x, std::max(0.3, c * k * h), 1e-12);
    }
  }
}

/// A disc of radius 1 whose centre moves along x with speed 1 drags a point.
double tractrixError(double h) {
  Vector2d x(std::cos(2.0), std::sin(2.0));
  const int steps = int(std::lround(1 / h));
  for (int k = 1; k <= steps; ++k) {
    const Vector2d arm = x - Vector2d(k * h, 0);
    x = catchUp(x, arm.norm() - 1, arm.normalized());
  }
  const double psi = 2 * std::atan(std::tan(1.0) * std::exp(1.0));
  return (x - Vector2d(1 + std::cos(psi), std::sin(psi))).norm();
}

TEST(Sweeping, MovingDiscDragsAPointAlongTheTractrix) { // M-03
  const double coarse = tractrixError(0.1), middle = tractrixError(0.01), fine = tractrixError(0.001);
  EXPECT_NEAR(coarse, 1.51e-2, 0.01e-2);
  EXPECT_NEAR(middle, 1.58e-3, 0.01e-3);
  EXPECT_NEAR(fine, 1.59e-4, 0.01e-4);
  EXPECT_NEAR(std::log10(middle / fine), 1, 0.05);
}

/// A moving half-space f = c t - n.x <= 0 and a bounded velocity that is wanted; `everywhere`: the condition is asked for f >= 0, not only
/// where f = 0 exactly. Returns the largest f.
double largestPenetration(unsigned seed, bool everywhere, double roundOff) {
  Random random(seed);
  const Vector2d n = random.vector(2).normalized();
  const double c = 0.5 * random(), h = 1e-3;
  Vector2d x = -0.01 * n;
  double f = c * 0 + n.dot(x), largest = -1;
  for (int k = 0; k < 4000; ++k) {
    const Vector2d wanted(std::sin(0.01 * k) + 0.8 * n.x(), std::cos(0.013 * k) + 0.8 * n.y());
    const bool asked = everywhere ? f >= 0 : f == 0;
    Vector2d v = wanted;
    if (asked) v = solveProximal({MatrixXd::Identity(2, 2), wanted, -n.transpose(), VectorXd::Constant(1, c)}).v;
    x += h * v;
    f = c * (k + 1) * h + n.dot(x);
    if (f > 0 && f < 3 * h) f += roundOff; // what rounding may do
    largest = std::max(largest, f);
  }
  return largest;
}

TEST(Sweeping, ConditionOnTheClosedSideKeepsThePointIn) {                                                     // M-01
  for (unsigned seed = 1; seed <= 10; ++seed) EXPECT_LE(largestPenetration(seed, true, 1e-15), 5e-3) << seed; // O(h)
}

TEST(Sweeping, ConditionOnTheBoundaryAloneLosesThePoint) { // M-01, the variant that is wrong
  int lost = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) lost += largestPenetration(seed, false, 1e-15) > 0.1;
  EXPECT_GE(lost, 8);
}

TEST(Sweeping, ProjectionKeepsThePointInToRoundOff) { // M-01
  Random random(7);
  for (int trial = 0; trial < 10; ++trial) {
    const Vector2d n = random.vector(2).normalized();
    const double c = random(), h = 1e-3;
    Vector2d x = -0.01 * n;
    double largest = -1;
    for (int k = 1; k <= 1000; ++k) {
      x = catchUp(x + h * random.vector(2), c * k * h + n.dot(x), n);
      x = catchUp(x, c * k * h + n.dot(x), n);
      largest = std::max(largest, c * k * h + n.dot(x));
    }
    EXPECT_LE(largest, 1e-12);
  }
}

/// Frictionless contacts between masses on a line or a rod: gap velocities N v, impact with restitution e by Moreau's law.
VectorXd impact(const MatrixXd& A, const MatrixXd& N, const VectorXd& before, double e, VectorXd* impulses = nullptr) {
  const ProximalPoint point = solveProximal({A, before, N, VectorXd::Zero(N.rows())});
  EXPECT_EQ(point.status, PivotStatus::Solved);
  if (impulses) *impulses = (1 + e) * point.lambda;
  return -e * before + (1 + e) * point.v;
}

MatrixXd chainGaps(int balls) {
  MatrixXd N = MatrixXd::Zero(balls - 1, balls);
  for (int k = 0; k + 1 < balls; ++k) N(k, k) = -1, N(k, k + 1) = 1;
  return N;
}

TEST(Impact, CradleOfTouchingBalls) { // M-19
  for (const int balls : {2, 3, 5, 10}) {
    for (const double e : {0.0, 0.5, 1.0}) {
      VectorXd before = VectorXd::Zero(balls), impulses;
      before[0] = 1;
      const MatrixXd N = chainGaps(balls), A = MatrixXd::Identity(balls, balls);
      const VectorXd after = impact(A, N, before, e, &impulses);
      VectorXd expected = VectorXd::Constant(balls, (1 + e) / balls);
      expected[0] -= e;
      EXPECT_LE((after - expected).norm(), 1e-13);
      for (int k = 1; k < balls; ++k) EXPECT_NEAR(impulses[k - 1], (1 + e) * (balls - k) / balls, 1e-13);
      EXPECT_NEAR(after.squaredNorm(), 1 - (1 - e * e) * (1 - 1.0 / balls), 1e-13);
      const LcpResult dual = solveLcp(N * N.transpose(), (1 + e) * N * before);
      ASSERT_EQ(dual.status, PivotStatus::Solved);
      EXPECT_LE((dual.z - impulses).norm(), 1e-13);
    }
  }
}

TEST(Impact, TwoMasses) { // M-20
  const MatrixXd N = chainGaps(2);
  EXPECT_LE((impact(MatrixXd::Identity(2, 2), N, Vector2d(1, 0), 0.5) - Vector2d(0.25, 0.75)).norm(), 1e-15);
  for (const double e : {0.0, 0.3, 1.0}) {
    const Vector2d masses(1, 3), before(2, -1);
    const VectorXd after = impact(masses.asDiagonal(), N, before, e);
    EXPECT_NEAR(after[1] - after[0], -e * (before[1] - before[0]), 1e-14);
    EXPECT_NEAR(masses.dot(after), masses.dot(before), 1e-14);
  }
}

TEST(Impact, CornerAndWedge) { // M-21
  const MatrixXd A = MatrixXd::Identity(2, 2), walls = MatrixXd::Identity(2, 2);
  EXPECT_LE(impact(A, walls, Vector2d(-1, -2), 0).norm(), 1e-15);
  EXPECT_LE((impact(A, walls, Vector2d(-1, -2), 0.5) - Vector2d(0.5, 1)).norm(), 1e-15);
  const double angle = std::numbers::pi / 3;
  MatrixXd wedge(2, 2);
  wedge << std::sin(angle), std::cos(angle), -std::sin(angle), std::cos(angle);
  for (const double e : {0.0, 0.4, 1.0}) {
    VectorXd impulses;
    EXPECT_LE((impact(A, wedge, Vector2d(0, -1), e, &impulses) - Vector2d(0, e)).norm(), 1e-14);
    EXPECT_NEAR(impulses[0], impulses[1], 1e-14);
  }
}

TEST(Impact, RodFallsFlat) {          // M-22
  const double m = 2, l = 1.5, v = 3; // half-length l
  const MatrixXd A = Vector2d(m, m * l * l / 3).asDiagonal();
  MatrixXd N(2, 2);
  N << 1, l, 1, -l;
  for (const double e : {0.0, 0.5, 1.0}) {
    VectorXd impulses;
    const VectorXd after = impact(A, N, Vector2d(-v, 0), e, &impulses);
    EXPECT_LE((after - Vector2d(e * v, 0)).norm(), 1e-14);
    EXPECT_LE((impulses - VectorXd::Constant(2, m * (1 + e) * v / 2)).norm(), 1e-13);
  }
}

/// Spheres (six velocities each, masses 1, 2, ...) above each other on the ground, hit from above; a joint of its row holds the first.
FrictionProblem column(int spheres, double mu, bool joint) {
  FrictionProblem problem;
  for (int i = 0; i < spheres; ++i) {
    problem.bodies.inverseInertia.push_back(Eigen::Matrix<double, 6, 6>::Identity() / (1 + i));
    problem.laws.push_back(FrictionLaw::coulomb(mu));
    problem.bodies.touched.push_back({i, i - 1});
  }
  if (joint) {
    problem.laws.push_back(FrictionLaw::bilateral(2)); // the same row twice
    problem.bodies.touched.push_back({0, -1});
  }
  problem.layOut();
  problem.bodies.H = FrictionBodies::Levers::Zero(problem.rows(), 12);
  problem.q = VectorXd::Zero(problem.rows());
  for (int i = 0; i < spheres; ++i) {
    problem.bodies.H.block<3, 3>(3 * i, 0).setIdentity();
    if (i > 0) problem.bodies.H.block<3, 3>(3 * i, 6) = -Eigen::Matrix3d::Identity();
  }
  if (joint) problem.bodies.H.block<2, 1>(3 * spheres, 1).setOnes();
  problem.q[0] = -1;
  problem.q[3 * (spheres - 1)] -= 0.5;
  if (joint) problem.q.tail(2).setConstant(0.25);
  return problem;
}

TEST(Frictionless, LemkeAndActiveSetGiveTheSameVelocities) {
  for (const bool joint : {false, true}) {
    for (int spheres = 1; spheres <= 6; ++spheres) {
      const FrictionProblem problem = column(spheres, 0, joint);
      VectorXd u[2], r;
      for (const FrictionlessMethod method : {FrictionlessMethod::Lemke, FrictionlessMethod::ActiveSet}) {
        const FrictionlessReport report = solveFrictionless(problem, method, r);
        ASSERT_EQ(report.status, PivotStatus::Solved) << report.message;
        VectorXd& mine = u[method == FrictionlessMethod::Lemke];
        velocities(problem, r, mine);
        EXPECT_LE(frictionResidual(problem, r, mine).scaled, 1e-12);
      }
      EXPECT_LE((u[0] - u[1]).norm(), 1e-12);
    }
  }
}

TEST(Frictionless, RefusesFriction) {
  VectorXd r;
  EXPECT_THROW(solveFrictionless(column(2, 0.1, false), FrictionlessMethod::Lemke, r), std::invalid_argument);
}

}
}
