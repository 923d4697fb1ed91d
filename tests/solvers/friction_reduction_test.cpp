#include "support/dense.h"
#include "tendril/solvers/friction_reduction.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include <cmath>
#include <random>
#include <stdexcept>

namespace tendril {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Sparse = GlobalFrictionProblem::Matrix;

class Random {
 public:
  explicit Random(unsigned seed) : engine(seed) {}
  double operator()() { return normal(engine); }
  MatrixXd matrix(int rows, int columns) {
    return MatrixXd::NullaryExpr(rows, columns, [this](Eigen::Index, Eigen::Index) { return (*this)(); });
  }
  MatrixXd metric(int size) {
    const MatrixXd B = matrix(size, size);
    return B * B.transpose() + MatrixXd::Identity(size, size);
  }

 private:
  std::mt19937 engine;
  std::normal_distribution<double> normal;
};

/// `bodies` bodies of six velocities, contacts between neighbours and the ground.
GlobalFrictionProblem chain(int bodies, int joints, Random& random) {
  const int n = 6 * bodies;
  MatrixXd M = MatrixXd::Zero(n, n), H = MatrixXd::Zero(n, 3 * bodies), G = MatrixXd::Zero(n, joints);
  GlobalFrictionProblem global;
  for (int i = 0; i < bodies; ++i) {
    M.block<6, 6>(6 * i, 6 * i) = random.metric(6);
    H.block<6, 3>(6 * i, 3 * i) = random.matrix(6, 3);
    if (i > 0) H.block<6, 3>(6 * (i - 1), 3 * i) = random.matrix(6, 3);
    global.laws.push_back(FrictionLaw::coulomb(0.1 * i));
  }
  for (int k = 0; k < joints; ++k) G.block(6 * (k % (bodies - 1)), k, 12, 1) = random.matrix(12, 1);
  global.M = M.sparseView();
  global.H = H.sparseView();
  global.G = G.sparseView();
  global.f = random.matrix(n, 1);
  global.w = random.matrix(3 * bodies, 1);
  global.b = random.matrix(joints, 1);
  return global;
}

/// W and q by dense inversion of the saddle-point matrix.
void expectReduced(const GlobalFrictionProblem& global, const FrictionReduction& reduction, double tolerance) {
  const FrictionProblem& problem = reduction.problem();
  const int n = int(global.M.rows()), m = int(global.G.cols());
  MatrixXd K = MatrixXd::Zero(n + m, n + m);
  K << MatrixXd(global.M), -MatrixXd(global.G), MatrixXd(global.G).transpose(), MatrixXd::Zero(m, m);
  const MatrixXd inverse = test::pseudoInverse(K);
  MatrixXd load = MatrixXd::Zero(n + m, global.H.cols());
  load.topRows(n) = global.H;
  const MatrixXd W = MatrixXd(global.H).transpose() * (inverse * load).topRows(n);
  VectorXd free(n + m);
  free << global.f, -global.b;
  const VectorXd q = global.H.transpose() * (inverse * free).head(n) + global.w;
  EXPECT_LE((MatrixXd(toSparse(problem)) - W).norm(), tolerance * W.norm());
  EXPECT_LE((problem.q - q).norm(), tolerance * q.norm());
  EXPECT_EQ(findDefect(problem), "");
}

TEST(FrictionReduction, KeepsBodiesWhereItCan) {
  Random random(1);
  const GlobalFrictionProblem global = chain(5, 0, random);
  const FrictionReduction reduction(global);
  EXPECT_TRUE(reduction.problem().hasBodies());
  expectReduced(global, reduction, 1e-12);
}

TEST(FrictionReduction, EliminatesJointsAndCoupledMasses) {
  Random random(2);
  GlobalFrictionProblem global = chain(4, 3, random);
  const FrictionReduction jointed(global);
  EXPECT_FALSE(jointed.problem().hasBodies());
  EXPECT_TRUE(jointed.redundant().empty());
  expectReduced(global, jointed, 1e-11);
  global.G.resize(24, 0);
  global.b.resize(0);
  global.M = random.metric(24).sparseView(); // a deformable body
  expectReduced(global, FrictionReduction(global), 1e-11);
}

TEST(FrictionReduction, RecoversTheMotion) {
  Random random(3);
  for (const int joints : {0, 4}) {
    const GlobalFrictionProblem global = chain(4, joints, random);
    const FrictionReduction reduction(global);
    const VectorXd r = random.matrix(reduction.problem().rows(), 1);
    const FrictionReduction::Motion motion = reduction.motion(r);
    EXPECT_LE((global.M * motion.v - global.H * r - global.G * motion.lambda - global.f).norm(), 1e-11);
    if (joints > 0) {
      EXPECT_LE((global.G.transpose() * motion.v + global.b).norm(), 1e-11);
    }
    VectorXd u;
    velocities(reduction.problem(), r, u);
    EXPECT_LE((u - global.H.transpose() * motion.v - global.w).norm(), 1e-11);
  }
}

TEST(FrictionReduction, RedundantConstraintsAreSetAside) {
  Random random(4);
  GlobalFrictionProblem global = chain(4, 3, random);
  MatrixXd G(24, 5);
  G << MatrixXd(global.G), MatrixXd(global.G).col(0) - 2 * MatrixXd(global.G).col(2), MatrixXd(global.G).col(1);
  VectorXd b(5);
  b << global.b, global.b[0] - 2 * global.b[2], global.b[1];
  global.G = G.sparseView();
  global.b = b;
  const FrictionReduction reduction(global);
  EXPECT_EQ(reduction.redundant(), (std::vector<int>{3, 4}));
  expectReduced(global, reduction, 1e-10);
  global.b[4] += 1;
  EXPECT_THROW(FrictionReduction{global}, std::invalid_argument);
}

TEST(FrictionReduction, PartsThatNothingConnectsShareNoBlock) {
  Random random(5);
  GlobalFrictionProblem global = chain(4, 0, random);
  MatrixXd H = global.H;
  for (int i = 1; i < 4; ++i) H.block<6, 3>(6 * (i - 1), 3 * i).setZero(); // every body touches the ground alone
  global.H = H.sparseView();
  MatrixXd M = global.M;
  M.block<6, 6>(0, 6) = 0.1 * random.matrix(6, 6); // the first two are one elastic body
  M.block<6, 6>(6, 0) = M.block<6, 6>(0, 6).transpose();
  global.M = M.sparseView();
  const FrictionReduction reduction(global);
  EXPECT_EQ(reduction.problem().W.blocks.size(), 6u);
  expectReduced(global, reduction, 1e-11);
}

TEST(FrictionReduction, RefusesWhatIsNoSystem) {
  Random random(6);
  const GlobalFrictionProblem good = chain(3, 2, random);
  GlobalFrictionProblem bad = good;
  bad.f.conservativeResize(5);
  EXPECT_THROW(FrictionReduction{bad}, std::invalid_argument);
  bad = good;
  bad.w[0] = std::nan("");
  EXPECT_THROW(FrictionReduction{bad}, std::invalid_argument);
  bad = good;
  bad.M = -good.M;
  EXPECT_THROW(FrictionReduction{bad}, std::invalid_argument);
  bad = chain(3, 0, random);
  bad.M.coeffRef(0, 0) = -1;
  EXPECT_THROW(FrictionReduction{bad}, std::invalid_argument);
  bad = good;
  bad.M.coeffRef(0, 1) += 1;
  EXPECT_THROW(FrictionReduction{bad}, std::invalid_argument);
}

TEST(FrictionReduction, BlocksAndSparseMatricesAreTheSame) {
  Random random(7);
  const std::vector<FrictionLaw> laws{FrictionLaw::coulomb(0.1), FrictionLaw::bilateral(1), FrictionLaw::plane(0.2),
                                      FrictionLaw::frictionless()};
  FrictionProblem problem;
  problem.laws = laws;
  problem.layOut();
  MatrixXd W = random.metric(problem.rows());
  W.block<3, 2>(0, 4).setZero();
  problem.W = toBlocks(W.sparseView(), problem.firstRow);
  EXPECT_EQ(problem.W.blocks.size(), 15u);
  EXPECT_EQ((MatrixXd(toSparse(problem)) - W).norm(), 0);
}

TEST(FrictionReduction, RankCountsIndependentRows) {
  Random random(9);
  GlobalFrictionProblem global = chain(3, 0, random);
  MatrixXd H = global.H;
  H.rightCols(3) = H.middleCols(3, 3) * random.matrix(3, 3); // on the bodies of the second contact, and no news
  global.H = H.sparseView();
  const FrictionReduction reduction(global);
  ASSERT_TRUE(reduction.problem().hasBodies());
  EXPECT_EQ(rankOf(reduction.problem()), 6);
  FrictionProblem blocks = reduction.problem();
  blocks.W = delassus(blocks);
  EXPECT_EQ(rankOf(blocks), 6);
}

TEST(FrictionReduction, BodiesGoToMassesAndBack) {
  Random random(8);
  const FrictionReduction reduction(chain(4, 0, random));
  FrictionProblem problem = reduction.problem();
  problem.laws[2] = FrictionLaw::bilateral(3);
  const GlobalFrictionProblem global = toGlobal(problem);
  EXPECT_EQ(global.G.cols(), 3);
  EXPECT_EQ(global.laws.size(), 3u);
  // Bilateral impulses that hold row 2 for given r lead to the same velocities.
  const FrictionReduction back(global);
  const VectorXd r = random.matrix(9, 1);
  const FrictionReduction::Motion motion = back.motion(r);
  VectorXd all(12), u;
  all << r.head(6), motion.lambda, r.tail(3);
  velocities(problem, all, u);
  EXPECT_LE(u.segment(6, 3).norm(), 1e-11);
  VectorXd relative;
  velocities(back.problem(), r, relative);
  EXPECT_LE((relative.head(6) - u.head(6)).norm() + (relative.tail(3) - u.tail(3)).norm(), 1e-11);
}

}
}
