#include "tendril/elements/rigid_bodies.h"

#include "rig.h"
#include "support/validator.h"
#include "tendril/model/assembly.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>
#include <numbers>

using namespace tendril;
using namespace tendril::test;
using std::numbers::pi;

namespace {

/// Mass, first and second moments of a body of density one by the midpoint rule on a grid: inertia of a shape without its formula.
template <class Inside> MassProperties byQuadrature(const Inside& inside, const Vector3& half, int n) {
  double m = 0;
  Matrix3 squares = Matrix3::Zero();
  const Vector3 step = 2 * half / n;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      for (int k = 0; k < n; ++k) {
        const Vector3 x = -half + (Vector3(i, j, k).array() + 0.5).matrix().cwiseProduct(step);
        if (!inside(x)) continue;
        m += step.prod();
        squares += step.prod() * (x.squaredNorm() * Matrix3::Identity() - x * x.transpose());
      }
    }
  }
  return {m, Vector3::Zero(), squares};
}

void expectClose(const MassProperties& a, const MassProperties& b, double tolerance) {
  EXPECT_NEAR(a.mass, b.mass, tolerance * b.mass);
  EXPECT_LE((a.inertiaAboutOrigin() - b.inertiaAboutOrigin()).norm(), tolerance * b.inertiaAboutOrigin().norm());
  EXPECT_LE(a.centre.norm(), tolerance);
}

std::string messageOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}

TEST(MassPropertiesTest, ShapesHaveTheInertiaOfTheirVolume) {
  const double r = 0.4, L = 0.9;
  const int n = 80;
  const auto radius = [](const Vector3& x) { return std::hypot(x[0], x[1]); };
  expectClose(MassProperties::box(1, {0.3, 0.5, 0.9}), byQuadrature([](const Vector3&) { return true; }, {0.15, 0.25, 0.45}, n), 1e-3);
  expectClose(MassProperties::sphere(1, r), byQuadrature([&](const Vector3& x) { return x.norm() < r; }, Vector3::Constant(r), n), 5e-3);
  expectClose(MassProperties::cylinder(1, r, L), byQuadrature([&](const Vector3& x) { return radius(x) < r; }, {r, r, L / 2}, n), 5e-3);
  expectClose(MassProperties::tube(1, 0.2, r, L),
              byQuadrature([&](const Vector3& x) { return radius(x) < r && radius(x) > 0.2; }, {r, r, L / 2}, n), 5e-3);
  const auto inCapsule = [&](const Vector3& x) { return std::hypot(radius(x), std::max(0.0, std::abs(x[2]) - L / 2)) < r; };
  expectClose(MassProperties::capsule(1, r, L), byQuadrature(inCapsule, {r, r, L / 2 + r}, n), 5e-3);
  // Apex at +3/4 L, base at -L/4.
  const auto inCone = [&](const Vector3& x) { return x[2] > -L / 4 && radius(x) < r * (0.75 - x[2] / L); };
  expectClose(MassProperties::cone(1, r, L), byQuadrature(inCone, {r, r, 0.75 * L}, 81), 5e-3); // a cell ends at the base
  const Vector3 axes(0.3, 0.4, 0.6);
  expectClose(MassProperties::ellipsoid(1, axes), byQuadrature([&](const Vector3& x) { return x.cwiseQuotient(axes).norm() < 1; }, axes, n),
              5e-3);
  EXPECT_DOUBLE_EQ(MassProperties::sphere(2, 3).mass, 2 * 36 * pi);
}

TEST(MassPropertiesTest, WeldsBodies) {
  // Two halves of a box are the box.
  const MassProperties half = MassProperties::box(3, {1, 2, 1.5});
  const MassProperties whole = half.placed(poseOf(0, 0, 0.75)) + half.placed(poseOf(0, 0, -0.75));
  const MassProperties box = MassProperties::box(3, {1, 2, 3});
  EXPECT_NEAR(whole.mass, box.mass, 1e-13);
  EXPECT_LE((whole.inertia - box.inertia).norm(), 1e-13);
  EXPECT_LE(whole.centre.norm(), 1e-15);
  // Placing leaves the principal moments and moves the centre of mass.
  const Pose place = poseOf(1, 2, 3, 0.3, 0.4, 0.5);
  const MassProperties moved = box.placed(place);
  EXPECT_LE((moved.centre - place.x).norm(), 1e-15);
  EXPECT_NEAR(moved.inertia.trace(), box.inertia.trace(), 1e-13);
  EXPECT_NEAR(moved.inertia.determinant(), box.inertia.determinant(), 1e-9);
}

TEST(MassPropertiesTest, RefusesWhatNoBodyHas) {
  const Matrix3 J = Vector3(1, 1, 1).asDiagonal();
  const auto message = [](double mass, const Matrix3& inertia) {
    return messageOf([&] { MassProperties{mass, Vector3::Zero(), inertia}.validate("body 'b'"); });
  };
  EXPECT_EQ(message(1, J), "");
  EXPECT_NE(message(0, J).find("body 'b': the mass must be positive"), std::string::npos);
  EXPECT_NE(message(NAN, J), "");
  EXPECT_NE(message(1, Vector3(1, 1, -1).asDiagonal()).find("positive definite"), std::string::npos);
  EXPECT_NE(message(1, Matrix3::Zero()).find("positive definite"), std::string::npos);
  EXPECT_NE(message(1, Vector3(1, 1, 2.1).asDiagonal()).find("sum of the other two"), std::string::npos);
  EXPECT_EQ(message(1, Vector3(1, 1, 2).asDiagonal()), ""); // a flat disc
  Matrix3 skewed = J;
  skewed(0, 1) = 0.1;
  EXPECT_NE(message(1, skewed).find("symmetric"), std::string::npos);
  EXPECT_EQ(messageOf([] { MassProperties{1}.validate("point", true); }), "");
}

TEST(RigidBodiesTest, PassTheValidator) {
  Rig rig;
  rig.builder.setGravity({{1, -2, -9.81}, wavy(1)});
  validate(*rig.builder.build());
}

TEST(RigidBodiesTest, AreInvariantWithoutGravity) {
  Rig rig;
  ValidationOptions options;
  options.internal = true;
  options.massless = false;
  validate(*rig.builder.build(), options);
}

TEST(RigidBodiesTest, MomentumChangesByTheForcesAlone) {
  // d(momentum)/dt = gravity and its moment, along the motion r = 0, for a body whose frame is not at the centre of mass.
  ModelBuilder builder;
  const MassProperties box = MassProperties::box(2, {1, 0.5, 0.2}).placed(poseOf(0.3, 0.1, -0.2, 0.5, 0.2, 0.1));
  const Vector3 g(1, 2, -9.81);
  builder.setGravity({g, TimeFunction::constant()});
  Vector6 twist;
  twist << 1, -0.5, 0.3, 2, 1, -3;
  addRigidBody(builder, "b", box, poseOf(1, 2, 3, 0.1, -0.4, 0.7), twist);
  const auto model = builder.build();
  State state = model->initialState();
  Assembly assembly(*model);
  assembly.begin({.tangent = false});
  model->evaluate(state, assembly);
  state.a = -box.spatial().llt().solve(assembly.residual());
  const auto momentum = [&](double h) {
    State s = state;
    model->retract(state.q, h * state.v, s.q);
    s.v += h * state.a;
    const Momentum p = model->momentum(s);
    Vector6 both;
    both << p.linear, p.angular;
    return both;
  };
  const double h = 1e-3;
  const Vector6 rate = (8 * (momentum(h) - momentum(-h)) - (momentum(2 * h) - momentum(-2 * h))) / (12 * h);
  const Vector3 centre = loadPose(state.q.data()) * box.centre;
  EXPECT_LE((rate.head<3>() - box.mass * g).norm(), 1e-9);
  EXPECT_LE((rate.tail<3>() - box.mass * centre.cross(g)).norm(), 1e-9);
  // The linear momentum is the mass times the velocity of the centre of mass.
  const Vector3 velocity = loadPose(state.q.data()).R * (twist.head<3>() + twist.tail<3>().cross(box.centre));
  EXPECT_LE((momentum(0).head<3>() - box.mass * velocity).norm(), 1e-13);
}

TEST(PointMassesTest, PassTheValidator) {
  const Matrix3 J = Vector3(0.2, 0.3, 0.35).asDiagonal();
  for (const char* marker : {"one", "segment"}) {
    for (bool rotational : {false, true}) {
      SCOPED_TRACE(std::string(marker) + (rotational ? " with inertia" : " point"));
      Rig rig;
      rig.builder.setGravity({{1, -2, -9.81}, wavy(1)});
      rig.builder.term<PointMasses>().add("m", rig.marker(marker), 1.5, rotational ? J : Matrix3::Zero());
      ValidationOptions options;
      options.motionStiffness = std::string(marker) == "one"; // on a segment part of it is left out, as documented
      validate(*rig.builder.build(), options);
    }
  }
}

TEST(PointMassesTest, OnABodyActAsAPartOfIt) {
  const Pose offset = poseOf(0.1, 0.2, -0.1, 0.2, 0.3, -0.4);
  const Matrix3 J = Vector3(0.2, 0.3, 0.35).asDiagonal();
  const MassProperties body = MassProperties::box(5, {1, 0.5, 0.3});
  const auto residual = [&](bool welded) {
    ModelBuilder builder;
    builder.setGravity({{0, 0, -9.81}, TimeFunction::constant()});
    const MassProperties extra = MassProperties{1.5, Vector3::Zero(), J}.placed(offset);
    const int block = addRigidBody(builder, "b", welded ? body + extra : body, poseOf(1, 2, 3, 0.3, 0.1, 0.2));
    if (!welded) builder.term<PointMasses>().add("m", builder.bodyMarker("here", block, offset), 1.5, J);
    const auto model = builder.build();
    State state = model->initialState();
    state.v << 1, 2, 3, -2, 1, 0.5;
    state.a << 2, -1, 0, 1, 3, 1;
    Assembly assembly(*model);
    assembly.begin({.tangent = false});
    model->evaluate(state, assembly);
    const Momentum p = model->momentum(state);
    VectorX all(13);
    all << assembly.residual(), p.linear, p.angular, model->energy(state).total();
    return all;
  };
  EXPECT_LE((residual(true) - residual(false)).norm(), 1e-12 * residual(true).norm());
}

TEST(PointMassesTest, RefuseTheGround) {
  Rig rig;
  EXPECT_THROW(rig.builder.term<PointMasses>().add("m", rig.marker("ground"), 1), InputError);
  EXPECT_THROW(rig.builder.term<PointMasses>().add("m", rig.marker("one"), -1), InputError);
}
