#include "tendril/discrete/discrete_lagrangian.h"

#include "mechanisms.h"

#include "tendril/elements/loads.h"
#include "tendril/elements/springs.h"

#include <gtest/gtest.h>

using namespace tendril;
using namespace tendril::test;

namespace {

enum class Effects { Conservative, All };

/// Two bodies whose frames are not at their centres of mass, with a spring between them; gravity, a damper and a follower load on demand.
std::unique_ptr<Directors> springs(Effects effects) {
  Numbers numbers(23);
  Mechanism m;
  MassProperties mass = MassProperties::box(2, {0.5, 0.7, 1});
  mass.centre = {0.1, -0.2, 0.05};
  const int a = addRigidBody(m.builder, "a", mass, numbers.pose(0.3, 1));
  const Pose far{so3::exp(Vector3(0.2, -0.4, 0.3)), Vector3(1.5, 0.2, -0.4)};
  const int b = addRigidBody(m.builder, "b", mass, far);
  const bool all = effects == Effects::All;
  const Marker &onA = m.builder.bodyMarker("", a, numbers.pose(0.3, 1)), &onB = m.builder.bodyMarker("", b, numbers.pose(0.3, 1));
  m.builder.term<LinearSprings>().add("s", onA, onB, {.stiffness = 30, .damping = all ? 2.0 : 0.0, .rest = 0.8});
  if (all) {
    m.builder.setGravity({Vector3(0, 1, -9.81), {"fading", [](double t) { return Jet{1 - 0.2 * t, -0.2, 0}; }}});
    m.builder.term<Loads>().add("f", onB, LoadDirection::Follower, Vector3(1, 2, 3), Vector3(-0.5, 0.4, 0.2), {"rising", [](double t) {
                                                                                                                 return Jet{t, 1, 0};
                                                                                                               }});
  }
  return std::make_unique<Directors>(m.builder);
}

constexpr double t0 = 0.4, h = 0.05;

class DiscreteLagrangians : public ::testing::TestWithParam<Quadrature> {
 protected:
  void place(Effects effects) {
    d = springs(effects);
    q1 = d->q;
    d->model->retract(d->q, numbers.vector(12, 0.05), q1);
  }
  std::unique_ptr<Directors> d;
  Numbers numbers{2};
  VectorX q1;
};

VectorX nudged(const VectorX& q, int i, double by) {
  VectorX result = q;
  result[i] += by;
  return result;
}

}

/// L_d = h (T - V_d), with T and V_d put together by hand.
TEST_P(DiscreteLagrangians, MomentaAreDerivativesOfTheAction) {
  place(Effects::Conservative);
  DiscreteLagrangian L(d->system, GetParam());
  const auto kinetic = [&](const VectorX& a, const VectorX& b) {
    const VectorX rate = (b - a) / h;
    return 0.5 * rate.dot(d->system.mass() * rate);
  };
  const auto potential = [&](const VectorX& a, const VectorX& b) {
    if (GetParam() == Quadrature::Midpoint) return d->system.potential(0.5 * (a + b), t0 + h / 2);
    return 0.5 * (d->system.potential(a, t0) + d->system.potential(b, t0 + h));
  };
  EXPECT_NEAR(L.energy(d->q, q1, t0, h), kinetic(d->q, q1) + potential(d->q, q1), 1e-12);
  const auto action = [&](const VectorX& a, const VectorX& b) { return h * (kinetic(a, b) - potential(a, b)); };
  VectorX left, right;
  L.left(d->q, q1, t0, h, left);
  L.right(d->q, q1, t0, h, right);
  constexpr double e = 1e-5;
  for (int i = 0; i < 24; ++i) {
    EXPECT_NEAR(left[i], (action(nudged(d->q, i, e), q1) - action(nudged(d->q, i, -e), q1)) / (2 * e), 1e-8);
    EXPECT_NEAR(right[i], (action(d->q, nudged(q1, i, e)) - action(d->q, nudged(q1, i, -e))) / (2 * e), 1e-8);
  }
}

TEST_P(DiscreteLagrangians, MatricesAreDerivativesOfTheMomenta) {
  place(Effects::All);
  ASSERT_TRUE(d->system.hasForces());
  DiscreteLagrangian L(d->system, GetParam());
  SparseMatrix leftByBegin, leftByEnd, rightByBegin, rightByEnd;
  L.leftByBegin(d->q, q1, t0, h, leftByBegin);
  L.leftByEnd(d->q, q1, t0, h, leftByEnd);
  L.rightByBegin(d->q, q1, t0, h, rightByBegin);
  L.rightByEnd(d->q, q1, t0, h, rightByEnd);
  constexpr double e = 1e-6;
  VectorX plus, minus;
  const auto compare = [&](const SparseMatrix& K, int i) {
    EXPECT_LT(((plus - minus) / (2 * e) - VectorX(K.col(i))).lpNorm<Eigen::Infinity>(), 1e-7 * K.norm());
  };
  for (int i = 0; i < 24; ++i) {
    const VectorX a = nudged(d->q, i, e), b = nudged(d->q, i, -e), c = nudged(q1, i, e), f = nudged(q1, i, -e);
    L.left(a, q1, t0, h, plus), L.left(b, q1, t0, h, minus);
    compare(leftByBegin, i);
    L.left(d->q, c, t0, h, plus), L.left(d->q, f, t0, h, minus);
    compare(leftByEnd, i);
    L.right(a, q1, t0, h, plus), L.right(b, q1, t0, h, minus);
    compare(rightByBegin, i);
    L.right(d->q, c, t0, h, plus), L.right(d->q, f, t0, h, minus);
    compare(rightByEnd, i);
  }
  // Of a path without forces D1 D2 L_d = (D2 D1 L_d)^T.
  place(Effects::Conservative);
  DiscreteLagrangian free(d->system, GetParam());
  free.leftByEnd(d->q, q1, t0, h, leftByEnd);
  free.rightByBegin(d->q, q1, t0, h, rightByBegin);
  EXPECT_LT((MatrixX(leftByEnd) - MatrixX(rightByBegin).transpose()).norm(), 1e-12);
}

/// The trapezoidal step is explicit: its matrix is the mass.
TEST(DiscreteLagrangian, TrapezoidalStepKnowsNoHessian) {
  const auto d = springs(Effects::Conservative);
  DiscreteLagrangian L(d->system, Quadrature::Trapezoidal);
  SparseMatrix K;
  L.leftByEnd(d->q, d->q, t0, h, K);
  EXPECT_LT((MatrixX(K) + MatrixX(d->system.mass()) / h).norm(), 1e-12);
}

/// Noether: what an interval takes from its beginning it brings to its end, whatever its two configurations, if they are those of rigid
/// bodies: momenta of a system that nothing holds.
TEST_P(DiscreteLagrangians, MomentumMapsOfSymmetriesArePassedOn) {
  place(Effects::Conservative);
  DiscreteLagrangian L(d->system, GetParam());
  VectorX left, right;
  L.left(d->q, q1, t0, h, left);
  L.right(d->q, q1, t0, h, right);
  const Momentum begin = d->system.momentum(d->q, left), end = d->system.momentum(q1, right);
  EXPECT_LT((begin.linear + end.linear).norm(), 1e-13);
  EXPECT_LT((begin.angular + end.angular).norm(), 1e-13);
  EXPECT_GT(end.angular.norm(), 0.1);
}

/// With gravity and a follower load the sum is their impulse.
TEST_P(DiscreteLagrangians, ForcesChangeTheMomentumByTheirImpulse) {
  place(Effects::All);
  DiscreteLagrangian L(d->system, GetParam());
  VectorX left, right, f0(24), f1(24);
  L.left(d->q, q1, t0, h, left);
  L.right(d->q, q1, t0, h, right);
  const Momentum begin = d->system.momentum(d->q, left), end = d->system.momentum(q1, right);
  f0.setZero(), f1.setZero();
  const VectorX rate = (q1 - d->q) / h;
  d->system.addForces(d->q, rate, t0 + h / 2, h / 2, f0);
  d->system.addForces(q1, rate, t0 + h / 2, h / 2, f1);
  const double mass = 2 * 2 * 0.5 * 0.7; // density times volume, of both
  const Vector3 weight = mass * (1 - 0.2 * (t0 + h / 2)) * Vector3(0, 1, -9.81);
  const Vector3 loads = d->system.momentum(d->q, f0).linear + d->system.momentum(q1, f1).linear;
  EXPECT_LT((begin.linear + end.linear - h * weight - loads).norm(), 1e-12);
  EXPECT_GT(loads.norm(), 0.01);
}

INSTANTIATE_TEST_SUITE_P(Quadratures, DiscreteLagrangians, ::testing::Values(Quadrature::Midpoint, Quadrature::Trapezoidal),
                         [](const auto& tried) { return tried.param == Quadrature::Midpoint ? "midpoint" : "trapezoidal"; });
