#include "tendril/control/forward_path.h"

#include "control/forward_runs.h"
#include "support/allocation_counter.h"
#include "tendril/dynamics/variational.h"
#include "tendril/model/error.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace tendril {
namespace {

MatrixX randomMatrix(Eigen::Index rows, Eigen::Index columns, unsigned seed, double scale) {
  return randomVector(rows * columns, seed, scale).reshaped(rows, columns);
}

/// Remainders of f along a direction at sizes 2^-k: after the value alone, and after value and slope. A derivative is right if the second
/// falls by four where the size halves.
void expectQuadraticRemainder(const std::function<double(double)>& f, double slope, double size, const std::string& what) {
  const double f0 = f(0);
  std::array<double, 3> remainders;
  for (int k = 0; k < 3; ++k) {
    const double e = size / (1 << k);
    remainders[std::size_t(k)] = std::abs(f(e) - f0 - e * slope);
  }
  for (int k = 0; k < 2; ++k) {
    const auto i = std::size_t(k);
    EXPECT_NEAR(std::log2(remainders[i] / remainders[i + 1]), 2, 0.1) << what << ": " << remainders[i] << ", " << remainders[i + 1];
  }
}

/// Adjoint against tangent in one direction of all controls, to rounding; Taylor's test along it; the central difference.
void checkControls(const ForwardSample& s, const MatrixX& controls, const MatrixX& direction, double size, const std::string& what) {
  ForwardPath path = s.path();
  path.run(controls);
  const MatrixX gradient = path.differentiate(s.function).controls;
  const double slope = gradient.cwiseProduct(direction).sum();
  const double tangent = path.differentiate(s.function, {.controls = direction});
  EXPECT_NEAR(tangent, slope, 1e-12 * gradient.norm() * direction.norm()) << what;
  const auto value = [&](double e) {
    ForwardPath other = s.path();
    other.run(controls + e * direction);
    return other.value(s.function);
  };
  expectQuadraticRemainder(value, slope, size, what);
  const double coarse = (value(size) - value(-size)) / (2 * size), fine = (value(size / 2) - value(-size / 2)) / size;
  EXPECT_NEAR(fine + (fine - coarse) / 3, slope, 1e-8 * gradient.norm() * direction.norm()) << what;
}

/// Newton's method strays to an end where the cone turns by more than a right angle; there is one before it.
TEST(ForwardPath, GoesOnToTheEndsBeforeTheFold) {
  const ForwardSample s = robotArm({});
  MatrixX torques = MatrixX::Zero(12, 15);
  torques.row(0).setConstant(-94), torques.row(3).setConstant(-7);
  ForwardPath path = s.path();
  ASSERT_NO_THROW(path.run(torques));
  const Model& model = *s.mechanism->model;
  VectorX turn(model.nv());
  for (int n = 0; n < 15; ++n) {
    model.difference(path.node(n), path.node(n + 1), turn);
    for (const Block& block : model.blocks()) EXPECT_LT(turn.segment<3>(block.v + 3).norm(), std::numbers::pi / 3) << n;
  }
}

TEST(ForwardPath, IsThePathOfTheIntegrator) {
  const ForwardSample s = bobsOnStrings(2, 20, 0.5);
  ForwardPath path = s.path();
  path.run(MatrixX::Zero(3, 20));
  VariationalIntegrator integrator(*s.mechanism->model, {.duration = 0.5, .step = 0.025});
  integrator.start();
  for (int n = 0; n <= 20; ++n) {
    if (n > 0) integrator.advance();
    EXPECT_LT((path.node(n) - integrator.state().q).lpNorm<Eigen::Infinity>(), 1e-15) << n;
    VectorX rates(path.system().size());
    path.system().rates(integrator.state().q, integrator.state().v, rates);
    EXPECT_LT((path.velocity(n) - rates).lpNorm<Eigen::Infinity>(), 1e-9) << n; // what the iteration leaves is carried, not dropped
  }
}

TEST(ForwardPath, GradientsByControls) {
  for (const Quadrature quadrature : {Quadrature::Midpoint, Quadrature::Trapezoidal}) {
    const std::string rule = quadrature == Quadrature::Midpoint ? ", midpoint" : ", trapezoidal";
    const auto check = [&](ForwardSample s, const MatrixX& controls, const MatrixX& direction, double size, const std::string& what) {
      s.options.quadrature = quadrature;
      checkControls(s, controls, direction, size, what + rule);
    };
    const MatrixX some = randomMatrix(3, 20, 7, 1);
    check(bobsOnStrings(1, 20, 0.5), randomMatrix(3, 20, 3, 5), some, 1, "spherical pendulum");
    check(bobsOnStrings(2, 20, 0.5), randomMatrix(3, 20, 4, 5), some, 1, "double pendulum in space");
    check(robotArm({}), armControls(), armDirection(15, 7, 1, true, false), 0.02, "robot arm, in its plane");
    check(robotArm({}), armControls(), armDirection(15, 7, 1, false, true), 50, "robot arm, across");
    check(rotors(), randomMatrix(3, 20, 5, 300), some, 20, "rotors");
  }
}

/// Placements and velocities of the start that the joints allow: differences of twists along the null space.
TEST(ForwardPath, GradientsByTheStart) {
  // A body that is free but for a spring with a damper, whose matrices are unsymmetric: every twist is allowed.
  const VectorX placement = randomVector(6, 11), velocity = randomVector(6, 12);
  const auto sample = [&](double e) {
    MechanismBuilder b;
    b.gravity({0, 0, -9.81});
    const VectorX d = e * placement, dv = e * velocity;
    const Pose pose = Pose{so3::exp(Vector3(0.1, 0.2, 0.3)), {0.2, 0.1, -0.3}} * Pose{so3::exp(d.tail<3>()), d.head<3>()};
    const Vector3 v = Vector3(1, -0.5, 2) + dv.head<3>(), w = Vector3(2, 1, -1) + dv.tail<3>(); // in the body
    const MassProperties mass{1.3, Vector3(0.05, 0.02, -0.03), Vector3(0.05, 0.11, 0.14).asDiagonal()};
    const auto body = b.body("body", mass, pose, pose.R * v, pose.R * w);
    b.model().term<LinearSprings>().add("spring", b.ground({Matrix3::Identity(), {0, 0, 1}}), body.at({Matrix3::Identity(), {0, 0.4, 0}}),
                                        {.stiffness = 30, .damping = 4, .rest = 0.6});
    const Marker& tip = body.at({Matrix3::Identity(), {0.3, 0, 0.1}});
    ForwardSample s{.mechanism = std::make_shared<Mechanism>(b.build()), .actuators = wind(tip, "wind"), .function = {}, .options = {}};
    s.function = distanceOf("miss", tip, {1, 1, 1}, 30);
    s.options = {.steps = 30, .duration = 0.6};
    return s;
  };
  const MatrixX controls = randomMatrix(3, 30, 9, 3);
  const auto value = [&](double e) {
    const ForwardSample s = sample(e);
    ForwardPath path = s.path();
    path.run(controls);
    return path.value(s.function);
  };
  const ForwardSample s = sample(0);
  ForwardPath path = s.path();
  path.run(controls);
  const ForwardPath::Gradient gradient = path.differentiate(s.function);
  const double slope = gradient.placement.dot(placement) + gradient.velocity.dot(velocity);
  EXPECT_NEAR(path.differentiate(s.function, path.startChange(placement, velocity)), slope, 1e-12 * std::abs(slope));
  expectQuadraticRemainder(value, slope, 0.004, "start");
  checkControls(s, controls, randomMatrix(3, 30, 10, 1), 0.5, "spring and damper");
}

/// dx_N/d(force of step n) = h (t_N - t_n - h/2) / m of a body that flies.
TEST(ForwardPath, ClosedFormOfABodyThatFlies) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const double mass = 2, h = 0.1;
  const auto ball = b.body("ball", {mass, Vector3::Zero(), Matrix3::Identity()}, {Matrix3::Identity(), {0, 0, 1}}, {3, 0, 4});
  const Marker& centre = ball.at();
  const Mechanism m = b.build();
  const int steps = 7;
  ForwardPath path(*m.model, wind(centre, "wind"), {.steps = steps, .duration = steps * h});
  path.run(MatrixX::Zero(3, steps));
  const PathFunction height = valueOf(markerCoordinate("height", centre, Vector3::UnitZ()), steps);
  const PathFunction climb = valueOf(markerVelocity("climb", centre, Vector3::UnitZ()), steps);
  const double t = steps * h;
  EXPECT_NEAR(path.value(height), 1 + 4 * t - 0.5 * 9.81 * t * t, 1e-12);
  EXPECT_NEAR(path.value(climb), 4 - 9.81 * t, 1e-11);
  const ForwardPath::Gradient byHeight = path.differentiate(height), byClimb = path.differentiate(climb);
  for (int n = 0; n < steps; ++n) {
    EXPECT_NEAR(byHeight.controls(2, n), h * (t - (n + 0.5) * h) / mass, 1e-13);
    EXPECT_NEAR(byClimb.controls(2, n), h / mass, 1e-13);
    EXPECT_LT(byHeight.controls.topRows(2).cwiseAbs().maxCoeff(), 1e-13);
  }
  EXPECT_NEAR(byHeight.placement[2], 1, 1e-12);
  EXPECT_NEAR(byHeight.velocity[2], t, 1e-12);
  EXPECT_NEAR(byClimb.velocity[2], 1, 1e-12);
}

/// Functions of several nodes: places halfway, rates between nodes, velocities of nodes, controls.
TEST(ForwardPath, GradientsOfFunctionsAlongThePath) {
  ForwardSample s = robotArm({});
  const Marker& tip = s.mechanism->model->marker("tip");
  PathFunction f{.name = "mixture", .values = {}, .combine = {}};
  f.values.push_back({markerCoordinate("height", tip, Vector3::UnitZ()), 6});
  f.values.push_back({squaredDistance("distance", tip, {0.2, 0.1, 0.3}), 9});
  f.values.push_back({markerVelocity("speed", tip, Vector3::UnitY()), 4});
  f.values.push_back({markerVelocity("speed", tip, Vector3::UnitZ()), 15});
  f.values.push_back({cosineOfTurn("turn", 0), 11});
  PathRow control{.name = "power", .products = {}, .linear = {}};
  control.products.push_back({{PathPart::Control, 1}, {PathPart::Velocity, 4}, 0.01});
  f.values.push_back({control, 12});
  f.combine = [](const VectorX& y, VectorX* g) {
    if (g) *g << std::cos(y[0]), 2, 2 * y[2], y[4], y[3], 3;
    return std::sin(y[0]) + 2 * y[1] + y[2] * y[2] + y[3] * y[4] + 3 * y[5];
  };
  s.function = f;
  checkControls(s, armControls(), armDirection(15, 21, 1), 0.01, "mixture");
}

/// delta q_A . delta p_B - delta q_B . delta p_A is the same at all nodes: constraints and what they add to p do not show in it.
TEST(ForwardPath, FlowIsSymplectic) {
  for (const int bobs : {1, 2}) {
    const ForwardSample s = bobsOnStrings(bobs, 50, 1);
    ForwardPath path = s.path();
    path.run(randomMatrix(3, 50, 2, 10));     // forces fixed in space have a potential
    const auto allowed = [&](unsigned seed) { // spins of the bobs, and their way about the origin as one body
      VectorX twist = randomVector(6 * bobs, seed);
      const Vector3 w = randomVector(3, seed + 100);
      for (int i = 0; i < bobs; ++i) twist.segment<3>(6 * i) = w.cross(Vector3(1 + 1.5 * i, 0, 0));
      return twist;
    };
    struct Tangent {
      std::vector<VectorX> q, p;
    };
    const auto tangent = [&](const ForwardPath::Change& change) {
      path.differentiate(s.function, change);
      Tangent t;
      for (int n = 0; n <= 50; ++n) t.q.push_back(path.nodeChange(n)), t.p.push_back(path.momentumChange(n));
      return t;
    };
    const Tangent A = tangent(path.startChange(allowed(1), allowed(2))), B = tangent(path.startChange(allowed(3), allowed(4)));
    const auto form = [&](std::size_t n) { return A.q[n].dot(B.p[n]) - B.q[n].dot(A.p[n]); };
    ASSERT_GT(std::abs(form(0)), 1e-2);
    for (std::size_t n = 0; n <= 50; ++n) EXPECT_NEAR(form(n), form(0), 1e-10 * std::abs(form(0))) << bobs << " bobs, node " << n;
  }
}

/// Angle and its momentum of a rod on a hinge: the determinant of the flow is 1.
TEST(ForwardPath, FlowOfAPendulumKeepsAreas) {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const auto rod = b.body("rod", slenderRod(), {Matrix3::Identity(), {0.5, 0, 0}}, {0, 0.5, 0}, {0, 0, 1});
  b.joint(JointKind::Revolute, "hinge", b.ground(), rod.at({Matrix3::Identity(), {-0.5, 0, 0}}));
  const Mechanism m = b.build();
  ForwardPath path(*m.model, {}, {.steps = 100, .duration = 2});
  path.run(MatrixX::Zero(0, 100));
  VectorX turn(6);
  turn << 0, 0.5, 0, 0, 0, 1;
  const auto turned = [](const VectorX& q) { // by e3, every column
    VectorX result(q.size());
    for (int c = 0; c < 12; c += 3) result.segment<3>(c) = Vector3::UnitZ().cross(q.segment<3>(c));
    return result;
  };
  const PathFunction nothing = effortOf("nothing", {}, 0, 1);
  MatrixX before(2, 2), after(2, 2);
  for (int i = 0; i < 2; ++i) {
    path.differentiate(nothing, path.startChange(i == 0 ? turn : VectorX::Zero(6), i == 1 ? turn : VectorX::Zero(6)));
    for (const int n : {0, 100}) {
      const VectorX P = turned(path.node(n)); // dq/dphi
      const VectorX& dq = path.nodeChange(n);
      (n == 0 ? before : after).col(i) << P.dot(dq) / P.squaredNorm(), P.dot(path.momentumChange(n)) + turned(dq).dot(path.momentum(n));
    }
  }
  EXPECT_NEAR(after.determinant() / before.determinant(), 1, 1e-10);
  EXPECT_GT((after - before).norm(), 0.1);
}

/// Redundant rows of a loop share their force, and beams couple bodies: the same derivatives.
TEST(ForwardPath, GradientsOfLoopsAndBeams) {
  ForwardSample loop{.mechanism = std::make_shared<Mechanism>(fourBar()), .actuators = {}, .function = {}, .options = {}};
  loop.actuators = motors(*loop.mechanism, {"left foot"});
  loop.options = {.steps = 20, .duration = 0.5};
  PathRow height{.name = "height of the coupler", .products = {}, .linear = {}};
  height.add({PathPart::Node, 24 + 1}, 1);
  height.add({PathPart::Node, 24 + 0}, 0.5);
  loop.function = valueOf(height, 20);
  checkControls(loop, randomMatrix(1, 20, 5, 1), randomMatrix(1, 20, 6, 1), 0.5, "four-bar");

  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const auto section = SectionProperties::of(Section::circle(0.02), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1000});
  const auto beam = b.beam("beam", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 4});
  const auto hub = b.body("hub", {2, Vector3::Zero(), Vector3::Constant(0.1).asDiagonal()}, {Matrix3::Identity(), {0, 0, 0}});
  b.joint(JointKind::Revolute, "axle", b.ground(), hub.at());
  b.joint(JointKind::Fixed, "weld", hub.at(), beam.start());
  const Marker& tip = beam.end();
  ForwardSample flexible{.mechanism = std::make_shared<Mechanism>(b.build()), .actuators = {}, .function = {}, .options = {}};
  flexible.actuators = motors(*flexible.mechanism, {"axle"});
  flexible.options = {.steps = 20, .duration = 0.1};
  flexible.function = distanceOf("miss", tip, {0, 1, 0}, 20);
  checkControls(flexible, randomMatrix(1, 20, 5, 2), randomMatrix(1, 20, 6, 1), 1, "beam");
}

/// Sweeps take memory before their first step only: as often for many steps as for few.
TEST(ForwardPath, SweepsTakeNoMemory) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  std::array<long, 2> counts{};
  for (int i = 0; i < 2; ++i) {
    const int steps = i == 0 ? 15 : 60;
    const ForwardSample s = robotArm({}, steps);
    ForwardPath path = s.path();
    path.run(armControls(steps, 1));
    const ForwardPath::Change change{.controls = MatrixX::Ones(12, steps)};
    for (int repeat = 0; repeat < 2; ++repeat) {
      const long before = test::allocationCount;
      path.differentiate(s.function);
      path.differentiate(s.function, change);
      counts[std::size_t(i)] = test::allocationCount - before;
    }
  }
  EXPECT_GT(counts[0], 0);
  EXPECT_EQ(counts[0], counts[1]);
}

TEST(ForwardPath, DoesNotRememberWhatCameBefore) {
  const ForwardSample s = robotArm({});
  ForwardPath fresh = s.path(), used = s.path();
  used.run(armControls(15, 1));
  used.differentiate(s.function);
  used.run(armControls());
  fresh.run(armControls());
  used.differentiate(s.function, {.controls = MatrixX::Ones(12, 15)});
  EXPECT_TRUE(used.differentiate(s.function).controls == fresh.differentiate(s.function).controls);
}

TEST(ForwardPath, RefusesBadInput) {
  const ForwardSample s = robotArm({});
  const Model& model = *s.mechanism->model;
  EXPECT_THROW(ForwardPath(model, s.actuators, {.steps = 0}), InputError);
  EXPECT_THROW(ForwardPath(model, s.actuators, {.steps = 10, .duration = -1}), InputError);
  EXPECT_THROW(ForwardPath(model, s.actuators, {.steps = 10, .duration = std::nan("")}), InputError);
  ForwardPath path = s.path();
  EXPECT_THROW(path.value(s.function), InputError);
  EXPECT_THROW(path.node(0), InputError);
  EXPECT_THROW(path.run(MatrixX::Zero(3, 15)), InputError);
  EXPECT_THROW(path.run(MatrixX::Constant(12, 15, std::nan(""))), InputError);
  EXPECT_THROW(path.run(MatrixX::Constant(12, 15, 1e6)), NumericalFailure); // beyond the fold
  EXPECT_THROW(path.differentiate(s.function), InputError);
  path.run(armControls());
  EXPECT_THROW(path.augmented(path, s.function), InputError);
  EXPECT_THROW(path.differentiate(s.function, {.controls = MatrixX::Ones(12, 14)}), InputError);
  EXPECT_THROW(path.differentiate(s.function, {.begin = VectorX::Ones(3)}), InputError);
  PathFunction late = s.function;
  late.values[0].node = 16;
  EXPECT_THROW(path.value(late), InputError);
  EXPECT_THROW(path.node(16), InputError);
  PathFunction infinite = s.function;
  infinite.combine = [](const VectorX& y, VectorX*) { return 1 / (y[0] - y[0]); };
  EXPECT_THROW(path.value(infinite), NumericalFailure);
  PathRow impulse{.name = "impulse", .products = {}, .linear = {}};
  impulse.add({PathPart::Impulse, 0}, 1);
  EXPECT_THROW(path.value(valueOf(impulse, 3)), InputError);
  std::vector<Actuator> muscles(1);
  muscles[0].muscles.emplace_back();
  EXPECT_THROW(ForwardPath(model, muscles, s.options), InputError);
}

}
}
