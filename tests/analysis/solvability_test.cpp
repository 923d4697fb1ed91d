#include "tendril/analysis/solvability.h"

#include "analysis/sliding_systems.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>

namespace tendril {
namespace {

using test::degree;
using test::numbers;
using test::Rod;

int numericRank(const MatrixX& A) {
  const VectorX sigma = Eigen::JacobiSVD<MatrixX>(A).singularValues();
  return int((sigma.array() > 1e-9 * sigma[0]).count());
}

MatrixX beside(const MatrixX& A, const MatrixX& B) {
  MatrixX both(A.rows(), A.cols() + B.cols());
  both.leftCols(A.cols()) = A;
  both.rightCols(B.cols()) = B;
  return both;
}

// ---- T-I.1 -----------------------------------------------------------------------------------------------------------------------------

TEST(GuidedRod, AllFormulationsAgreeWithClosedForm) {
  test::Random random(1);
  for (int draw = 0; draw < 50; ++draw) {
    const Rod rod{std::exp(random()), std::exp(random()), 9.81, (0.1 + 0.05 * draw) * 1.0, 3 * random()};
    const AccelerationProblem p = test::guidedRod(rod, true);
    const double force = rod.m * (rod.g - rod.l / 2 * rod.rate * rod.rate * rod.s()) / (1 + 3 * rod.c() * rod.c());
    const VectorX a = numbers({0, -rod.g + force / rod.m, -6 * rod.c() * force / (rod.m * rod.l)});
    for (const Formulation f :
         {Formulation::Kkt, Formulation::NullSpace, Formulation::Schur, Formulation::QuadraticProgram, Formulation::Lcp}) {
      const ContactSolution solution = solveWithoutFriction(p, f);
      ASSERT_TRUE(solution.isSolved) << int(f);
      const double size = rod.m * (rod.g + rod.l * rod.rate * rod.rate);
      EXPECT_NEAR(solution.lambda[0], force, 1e-12 * size) << int(f);
      EXPECT_LE((solution.a - a).norm(), 1e-12 * (a.norm() + size / rod.m * (1 + 12 / rod.l))) << int(f);
      EXPECT_LE(std::abs((p.N * solution.a + p.normalBias)[0]), 1e-12 * (rod.g + rod.l * rod.rate * rod.rate + a.norm()));
    }
  }
}

TEST(GuidedRod, KeepsItsEnergyToFourthOrder) {
  const auto drift = [](int steps) {
    Rod rod;
    const double dt = 1.0 / steps;
    Eigen::Vector2d y(rod.theta, 0.3); // angle and rate; the height follows
    const auto slope = [&](const Eigen::Vector2d& x) {
      rod.theta = x[0], rod.rate = x[1];
      return Eigen::Vector2d(x[1], solveWithoutFriction(test::guidedRod(rod, true), Formulation::Schur).a[2]);
    };
    const auto energy = [&](const Eigen::Vector2d& x) {
      const double vy = rod.l / 2 * std::cos(x[0]) * x[1];
      return 0.5 * rod.m * vy * vy + rod.m * rod.l * rod.l / 24 * x[1] * x[1] + rod.m * rod.g * rod.l / 2 * std::sin(x[0]);
    };
    const double before = energy(y);
    for (int i = 0; i < steps / 4; ++i) {
      const Eigen::Vector2d k1 = slope(y), k2 = slope(y + dt / 2 * k1), k3 = slope(y + dt / 2 * k2), k4 = slope(y + dt * k3);
      y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return std::abs(energy(y) - before);
  };
  EXPECT_LT(drift(400), 1e-8);
  EXPECT_GT(drift(100) / drift(200), 12);
}

// ---- T-I.2 -----------------------------------------------------------------------------------------------------------------------------

TEST(GuidedRod, UnilateralGuideLetsGoWhenItTurnsFast) {
  for (const double rate : {0.0, 2.0, 4.0, 5.5, 8.0}) {
    const Rod rod{2, 0.8, 9.81, 50 * degree, rate};
    const double w = rod.l / 2 * rate * rate * rod.s() - rod.g, A = (1 + 3 * rod.c() * rod.c()) / rod.m;
    const AccelerationProblem p = test::guidedRod(rod, false);
    EXPECT_NEAR(test::sliding(p).A(0, 0), A, 1e-12 * A);
    for (const Formulation f : {Formulation::QuadraticProgram, Formulation::Lcp})
      EXPECT_NEAR(solveWithoutFriction(p, f).lambda[0], std::max(0.0, -w / A), 1e-11);
    EXPECT_EQ(solveWithoutFriction(p, Formulation::Lcp).lambda[0] == 0, rate * rate * rod.s() > 2 * rod.g / rod.l);
    EXPECT_THROW(solveWithoutFriction(p, Formulation::Kkt), std::invalid_argument);
  }
}

// ---- T-I.3 -----------------------------------------------------------------------------------------------------------------------------

TEST(Solvability, SingularMassHeldByConstraint) {
  AccelerationProblem p = test::emptyProblem(numbers({1, 0}).asDiagonal(), numbers({2, 3}));
  test::addJoint(p, numbers({0, 1}), 0.5);
  const Solvability s = judge(p);
  EXPECT_TRUE(s.isSolvable && s.isAccelerationUnique && s.areMultipliersUnique);
  const ContactSolution solution = solveWithoutFriction(p, Formulation::NullSpace);
  EXPECT_LE((solution.a - numbers({-2, -0.5})).norm(), 1e-14);
  EXPECT_NEAR(solution.jointForce[0], 3, 1e-14);
}

TEST(Solvability, SingularMassLeftFreeIsNamed) {
  AccelerationProblem p = test::emptyProblem(numbers({1, 0}).asDiagonal(), numbers({2, 3}));
  test::addJoint(p, numbers({1, 0}), 0);
  p.velocityNames = {"body 'a', velocity x", "body 'a', velocity y"};
  const Solvability s = judge(p);
  EXPECT_FALSE(s.isSolvable || s.isAccelerationUnique || s.isForceUnique);
  EXPECT_EQ(s.freeModes, 1);
  ASSERT_EQ(s.freeMotions.size(), 1u);
  EXPECT_EQ(s.freeMotions[0], "body 'a', velocity y");
  EXPECT_FALSE(solveWithoutFriction(p, Formulation::NullSpace).isSolved);
}

TEST(Solvability, RedundantRowsShareTheirForceAnyhow) {
  test::Random random(2);
  AccelerationProblem p = test::emptyProblem(random.metric(4), random.vector(4));
  const VectorX row = random.vector(4);
  test::addJoint(p, row, 1);
  test::addJoint(p, row, 1);
  p.jointNames = {"joint 'left'", "joint 'right'"};
  const Solvability s = judge(p);
  EXPECT_TRUE(s.isSolvable && s.isAccelerationUnique && s.isForceUnique);
  EXPECT_FALSE(s.areMultipliersUnique);
  EXPECT_EQ(s.redundant, std::vector<int>{1});
  EXPECT_EQ(s.rank, 1);
  EXPECT_NEAR(s.smallestKept, 1, 1e-14);
  EXPECT_LE(s.largestDropped, 1e-15);
  EXPECT_EQ(s.degreesOfFreedom, 3);
  EXPECT_NE(s.sentences.back().find("joint 'right'"), std::string::npos) << s.sentences.back();
  const ContactSolution kkt = solveWithoutFriction(p, Formulation::Kkt), space = solveWithoutFriction(p, Formulation::NullSpace);
  EXPECT_LE((kkt.a - space.a).norm(), 1e-11);
  EXPECT_LE((p.G.transpose() * (kkt.jointForce - space.jointForce)).norm(), 1e-11);
}

TEST(Solvability, ContradictionIsRefused) {
  AccelerationProblem p = test::emptyProblem(MatrixX::Identity(2, 2), numbers({0, 0}));
  test::addJoint(p, numbers({1, 1}), 1);
  test::addJoint(p, numbers({2, 2}), 5);
  const Solvability s = judge(p);
  EXPECT_FALSE(s.isCompatible);
  EXPECT_FALSE(s.isSolvable);
  EXPECT_FALSE(solveWithoutFriction(p, Formulation::Kkt).isSolved);
  EXPECT_NE(s.sentences.front().find("contradict"), std::string::npos);
}

TEST(Solvability, UnilateralContactsMayHoldWhatHasNoMass) {
  // A massless point between two walls that face each other is held, in front of one wall it is not.
  AccelerationProblem p = test::emptyProblem(MatrixX::Zero(1, 1), numbers({0}));
  test::addContact(p, false, numbers({1}), 0, numbers({0}), 0);
  EXPECT_FALSE(judge(p).isSolvable);
  test::addContact(p, false, numbers({-1}), 0, numbers({0}), 0);
  EXPECT_TRUE(judge(p).isSolvable);
  p.normalBias = numbers({-1, -1});
  EXPECT_FALSE(judge(p).isAdmissible);
  // Between the same walls, but free along them.
  AccelerationProblem free = test::emptyProblem(MatrixX::Zero(2, 2), numbers({0, 0}));
  for (const double side : {1.0, -1.0}) test::addContact(free, false, numbers({side, 0}), 0, numbers({0, 0}), 0);
  EXPECT_FALSE(judge(free).isSolvable);
}

TEST(Solvability, RankOfKktMatrixFromItsParts) {
  test::Random random(3);
  for (int draw = 0; draw < 60; ++draw) {
    const int n = 2 + random.upTo(4), m = random.upTo(4), rankM = random.upTo(n), rankJ = std::min(m, random.upTo(n));
    const MatrixX B = random.matrix(n, rankM), J = random.matrix(m, rankJ) * random.matrix(rankJ, n);
    AccelerationProblem p = test::emptyProblem(B * B.transpose(), random.vector(n));
    for (int i = 0; i < m; ++i) test::addJoint(p, J.row(i).transpose(), 0);
    MatrixX K = MatrixX::Zero(n + m, n + m);
    K.topLeftCorner(n, n) = p.M, K.topRightCorner(n, m) = -J.transpose(), K.bottomLeftCorner(m, n) = J;
    EXPECT_EQ(judge(p).kktRank, numericRank(K));
    // rank M + 2 rank J - dim(Im M, Im J^T) - dim(Im [M; J], Im [J^T; 0])
    const int common = numericRank(p.M) + numericRank(J) - numericRank(beside(p.M, J.transpose()));
    const MatrixX left = K.leftCols(n), right = K.rightCols(m);
    const int meet = numericRank(left) + numericRank(right) - numericRank(beside(left, right));
    EXPECT_EQ(judge(p).kktRank, numericRank(p.M) + 2 * numericRank(J) - common - meet);
  }
}

TEST(Solvability, DoesNotDependOnUnits) {
  test::Random random(4);
  AccelerationProblem p = test::emptyProblem(random.metric(5), random.vector(5));
  const VectorX row = random.vector(5);
  test::addJoint(p, row, 0), test::addJoint(p, random.vector(5), 0), test::addJoint(p, row, 0);
  const VectorX unit = numbers({1, 1e3, 1e-3, 1e6, 1});
  AccelerationProblem q = p; // velocities in other units: v = unit v'
  q.M = unit.asDiagonal() * p.M * unit.asDiagonal(), q.F = unit.asDiagonal() * p.F, q.G = p.G * unit.asDiagonal();
  q.N = p.N * unit.asDiagonal(), q.H = p.H * unit.asDiagonal(), q.unit = unit.cwiseInverse();
  const Solvability a = judge(p), b = judge(q);
  EXPECT_EQ(a.rank, b.rank);
  EXPECT_EQ(a.freeModes, b.freeModes);
  EXPECT_EQ(a.redundant, b.redundant);
  EXPECT_NEAR(a.smallestKept, b.smallestKept, 1e-12);
}

// ---- T-I.4 -----------------------------------------------------------------------------------------------------------------------------

TEST(TwoSidedRod, CeilingHoldsWhatIsPulledUp) {
  for (const double angle : {20.0, 45.0, 70.0}) {
    const Rod rod{2, 0.7, 9.81, angle * degree};
    const double difference = 3, A = 12 * rod.c() * rod.c() / (rod.m * (1 + 3 * rod.c() * rod.c()));
    for (const Formulation f : {Formulation::QuadraticProgram, Formulation::Lcp}) {
      const ContactSolution pressed = solveWithoutFriction(test::twoSidedRod(rod, 5, 5 - difference), f);
      ASSERT_TRUE(pressed.isSolved);
      EXPECT_NEAR(pressed.lambda[1], rod.s() * difference / (2 * rod.c()), 1e-11);
      EXPECT_NEAR(solveWithoutFriction(test::twoSidedRod(rod, 5 - difference, 5), f).lambda[1], 0, 1e-12);
    }
    AccelerationProblem held = test::twoSidedRod(rod, 5, 2);
    test::addJoint(held, held.N.row(0).transpose(), held.normalBias[0]);
    held.N = held.N.bottomRows(1).eval(), held.H = held.H.bottomRows(1).eval(), held.normalBias = held.normalBias.tail(1).eval();
    held.friction = numbers({0}), held.isBilateral = {0};
    EXPECT_NEAR(test::sliding(held).A(0, 0), A, 1e-12 * A);
    EXPECT_TRUE(judge(held).areMultipliersUnique);
  }
}

TEST(TwoSidedRod, UprightItsForcesAreOpen) {
  const Rod rod{1, 1, 9.81, 90 * degree};
  AccelerationProblem p = test::twoSidedRod(rod, 5, 2);
  p.N(0, 2) = p.N(1, 2) = 0; // the cosine of a right angle
  const Solvability s = judge(p);
  EXPECT_TRUE(s.isAccelerationUnique);
  EXPECT_FALSE(s.areMultipliersUnique);
  EXPECT_EQ(s.redundantContacts, std::vector<int>{1});
  EXPECT_TRUE(solveWithoutFriction(p, Formulation::Lcp).isSolved);
  EXPECT_TRUE(solveSliding(test::sliding(p)).isContinuum);
}

// ---- bad input -------------------------------------------------------------------------------------------------------------------------

TEST(AccelerationProblem, WhatDoesNotFitIsNamed) {
  AccelerationProblem p = test::guidedRod(Rod{}, true, 0.2);
  p.friction[0] = -0.1;
  EXPECT_THROW(judge(p), std::invalid_argument);
  p = test::guidedRod(Rod{}, true, 0.2);
  p.M(0, 1) = 0.5;
  EXPECT_THROW(judge(p), std::invalid_argument);
  p = test::guidedRod(Rod{}, true, 0.2);
  p.N.setZero();
  EXPECT_THROW(judge(p), std::invalid_argument);
  p = test::guidedRod(Rod{}, true, 0.2);
  p.F[0] = std::nan("");
  EXPECT_THROW(solveWithoutFriction(p, Formulation::Kkt), std::invalid_argument);
}

}
}
