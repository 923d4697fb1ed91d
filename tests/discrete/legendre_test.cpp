#include "support/dense.h"
#include "tendril/discrete/legendre.h"

#include "mechanisms.h"

#include "tendril/discrete/null_space.h"

#include <gtest/gtest.h>

using namespace tendril;
using namespace tendril::test;

namespace {

/// Mechanisms with and without loops; the last two have redundant constraints.
std::unique_ptr<Directors> mechanism(int number) {
  Mechanism m;
  switch (number) {
  case 0: {
    Numbers numbers(9);
    const int a = m.body("a", numbers.pose(1, 1)), b = m.body("b", numbers.pose(1, 1));
    m.join(JointKind::Universal, "u", a, b, {}, {.reference = JointReference::Pose, .tolerance = 10});
    m.builder.term<Joints>().add(JointKind::Distance, "d", m.builder.groundMarker("", numbers.pose(3, 1)), m.builder.bodyMarker("", a));
    break;
  }
  case 1: {
    int before = -1;
    for (int i = 0; i < 5; ++i) {
      const int body = m.body("b" + std::to_string(i), {Matrix3::Identity(), Vector3(i + 0.5, 0, 0)});
      m.hinge("j" + std::to_string(i), before, body, Vector3(i, 0, 0), Vector3::Unit((i + 1) % 3));
      before = body;
    }
    break;
  }
  case 2:
    addSixBodyLinkage(m);
    break;
  default:
    addFourBar(m, 1);
    break;
  }
  return std::make_unique<Directors>(m.builder);
}

class NodalMomentaTest : public ::testing::TestWithParam<int> {
 protected:
  NodalMomentaTest() : d(mechanism(GetParam())), n(d->system.size()), G(d->constraintGradient(d->q, 0)), momenta(d->system) {}
  std::unique_ptr<Directors> d;
  int n;
  MatrixX G;
  NodalMomenta momenta;
  Numbers numbers{4};
};

}

/// The multipliers of an impulse G^T lambda are those of least norm with the same impulse, in the norm of rows of equal length.
TEST_P(NodalMomentaTest, MultipliersOfAnImpulseOfTheConstraints) {
  constexpr double h = 0.02;
  const VectorX given = numbers.vector(d->system.constraints(), 3), left = numbers.vector(n, 1), right = left + h * (G.transpose() * given);
  VectorX lambda;
  momenta.multipliers(d->q, 0, left, right, h, lambda);
  EXPECT_LT((G.transpose() * (lambda - given)).norm(), 1e-11 * given.norm());
  const int rank = rankOf(G, 1e-9);
  if (rank == G.rows()) {
    EXPECT_LT((lambda - given).norm(), 1e-9);
  }
  VectorX scale(n);
  scale.setOnes();
  for (int b = 0; b < n / 12; ++b) scale.segment<3>(12 * b).setConstant(d->model->characteristicLength());
  const MatrixX scaled = G * scale.asDiagonal();
  const VectorX length = scaled.rowwise().norm(), weighted = length.cwiseProduct(lambda);
  const MatrixX rows = length.cwiseInverse().asDiagonal() * scaled;
  const VectorX least = leastNorm(rows.transpose(), rows.transpose() * length.cwiseProduct(given));
  EXPECT_LT((weighted - least).norm(), 1e-8 * given.norm());
}

/// Q^2 = Q, Q G^T = 0, G M^-1 Q = 0, and Q p is the momentum of a motion that the constraints allow.
TEST_P(NodalMomentaTest, ProjectionOfMomenta) {
  const VectorX p = numbers.vector(n, 1);
  VectorX Qp, QQp, v, rate(n), hidden;
  momenta.project(d->q, 0, p, Qp, v);
  d->system.rates(d->q, v, rate);
  EXPECT_LT((Qp - d->system.mass() * rate).norm(), 1e-12);
  EXPECT_LT((G * rate).lpNorm<Eigen::Infinity>(), 1e-11 * (1 + rate.norm()));
  momenta.project(d->q, 0, Qp, QQp, v);
  EXPECT_LT((QQp - Qp).norm(), 1e-11 * p.norm());
  momenta.hiddenConstraint(d->q, 0, Qp, hidden);
  EXPECT_LT(hidden.lpNorm<Eigen::Infinity>(), 1e-11 * (1 + rate.norm()));
  momenta.hiddenConstraint(d->q, 0, p, hidden);
  EXPECT_GT(hidden.lpNorm<Eigen::Infinity>(), 1e-2);
  const VectorX impulse = G.transpose() * numbers.vector(d->system.constraints(), 1);
  momenta.project(d->q, 0, impulse, QQp, v);
  EXPECT_LT(QQp.norm(), 1e-11 * impulse.norm());
  // The formula of the source, with a pseudo-inverse for redundant rows.
  const MatrixX inverseMass = inverse(MatrixX(d->system.mass())), GMG = G * inverseMass * G.transpose();
  const VectorX byFormula = p - G.transpose() * leastNorm(GMG, G * inverseMass * p);
  EXPECT_LT((Qp - byFormula).norm(), 1e-9 * p.norm());
}

TEST_P(NodalMomentaTest, HamiltonianOfAMotion) {
  NullSpace space(d->system, d->q, 0);
  MatrixX P;
  space.matrix(d->q, P);
  const VectorX rate = P * numbers.vector(space.dimension(), 1), p = d->system.mass() * rate;
  EXPECT_NEAR(momenta.hamiltonian(d->q, 0, p), 0.5 * rate.dot(p), 1e-12);
  EXPECT_GT(p.norm(), 0.01);
}

INSTANTIATE_TEST_SUITE_P(Mechanisms, NodalMomentaTest, ::testing::Range(0, 4));

/// A thin plate has no inertia across, in a direction that is no axis of its frame; a node without mass hangs on it. Both leave the energy
/// of a motion, and the projection, alone.
TEST(NodalMomenta, MassMayBeSingular) {
  Mechanism m;
  MassProperties plate;
  plate.mass = 2;
  plate.inertia = Vector3(0.2, 0.3, 0.5).asDiagonal();
  const Pose tilted{so3::exp(Vector3(0.4, -0.7, 0.2)), Vector3(0.1, 0.2, -0.3)};
  plate = plate.placed(tilted);
  plate.inertia = (0.5 * (plate.inertia + plate.inertia.transpose())).eval();
  plate.inertia *= 1 - 1e-15;
  const int body = addRigidBody(m.builder, "plate", plate, Numbers(1).pose(1, 1)), node = m.builder.addPose("node", -1, {});
  m.builder.term<Joints>().add(JointKind::Fixed, "weld", m.builder.bodyMarker("", body), m.builder.bodyMarker("", node),
                               {.reference = JointReference::Pose});
  const Directors d(m.builder);
  NodalMomenta momenta(d.system);
  EXPECT_LT(rankOf(MatrixX(d.system.mass()), 1e-9), 12);
  VectorX v, Qp, back, rate(24);
  const KinematicTree tree(d.system);
  tree.twists(d.q, 0, Numbers(2).vector(6, 1), v);
  d.system.rates(d.q, v, rate);
  const VectorX p = d.system.mass() * rate;
  const double energy = 0.5 * v.head<6>().dot(plate.spatial() * v.head<6>());
  EXPECT_NEAR(momenta.hamiltonian(d.q, 0, p), energy, 1e-11);
  momenta.project(d.q, 0, p, Qp, back);
  EXPECT_LT((back - v).norm(), 1e-10);
  EXPECT_LT((Qp - p).norm(), 1e-11);
}
