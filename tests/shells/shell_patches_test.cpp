#include "tendril/shells/shell_patches.h"

#include "shells/gauss_rule.h"
#include "shells/runge_kutta.h"
#include "support/allocation_counter.h"
#include "support/validator.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/shells/patch_motion.h"
#include "tendril/shells/sheet_motion.h"
#include "tendril/shells/uniform_patch.h"
#include "tendril/statics/load_stepping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <string>

namespace tendril::test {
namespace {

Pose poseOf(const Vector3& x, const Vector3& turn) { return {so3::exp(turn), x}; }

ShellOptions leaf(std::shared_ptr<const SheetShape> shape, std::initializer_list<double> q, double damping = 0) {
  ShellOptions o;
  o.properties.domain = {-0.2, 0.8, -0.3, 0.4};
  o.properties.areaDensity = 1.3, o.properties.rigidity = 2.1, o.properties.dampingTime = damping;
  o.shape = std::move(shape);
  o.initial = Eigen::Map<const VectorX>(q.begin(), Eigen::Index(q.size()));
  o.natural = 1.1 * o.initial;
  o.rates = 0.3 * o.initial;
  o.frame = poseOf({0.2, -0.1, 0.4}, {0.3, 0.6, -0.2});
  return o;
}

}

TEST(ShellPatches, PassTheValidatorWhereTheyFloat) {
  const auto passes = [](const ShellOptions& options) {
    ModelBuilder builder;
    addShell(builder, "leaf", options);
    validate(*builder.build(), {.amplitude = 0.15, .internal = true});
  };
  passes(leaf(std::make_shared<CircularSheet>(), {1.4, 0.5}));
  passes(leaf(std::make_shared<ClothoidSheet>(), {1.4, 0.8, 0.5}));
  passes(leaf(std::make_shared<ConicalSheet>(), {1.4, 0.5, 0.3}));
}

/// The pressure of the air has a kink where the sheet moves with it, which differences should not meet: the wind is strong.
TEST(ShellPatches, PassTheValidatorWithWeightDampingWindAndABodyThatHangsOnThem) {
  ModelBuilder builder;
  builder.setGravity({{1, 2, -9.81}, TimeFunction::proportional()});
  ShellOptions options = leaf(std::make_shared<CircularSheet>(), {1.4, 0.5}, 0.1);
  options.air = {.density = 0.7, .wind = {9, -8, 20}, .gusts = TimeFunction::proportional()};
  const ShellPart shell = addShell(builder, "leaf", options);
  const Marker& tip = builder.bodyMarker("tip", attachToShell(builder, shell, {0.7, 0.3}, "tip of leaf"));
  const int body = addRigidBody(builder, "drop", {1.5, {0, 0.1, 0}, Vector3(0.2, 0.3, 0.25).asDiagonal()}, tip.frame(builder.state()));
  builder.term<Joints>().add(JointKind::Spherical, "hook", tip, builder.bodyMarker("drop", body));
  builder.term<Joints>().add(JointKind::Fixed, "stem", builder.groundMarker("ground", builder.pose(shell.frame)),
                             builder.bodyMarker("begin", shell.frame));
  validate(*builder.build(), {.amplitude = 0.15, .conservative = false});
}

/// The equations of a model, with its frame held, are those of the patch in its own coordinates.
TEST(ShellPatches, MoveAsThePatchDoes) {
  PatchProperties p{.domain = {0, 1, 0, 0.5}};
  p.natural = ConePoint::toCurvatures(1, 0.3);
  PatchMotionOptions o;
  o.gravity = {0, 0, -1}, o.step = 1e-3;
  PatchMotion own(UniformPatch(p), o, ConePoint::toCurvatures(0.6, 0.5));

  const auto error = [&](double h) {
    ModelBuilder builder;
    builder.setGravity({{0, 0, -1}, TimeFunction::constant()});
    ShellOptions options;
    options.properties = p;
    options.natural = Vector2(1, 0.3), options.initial = Vector2(0.6, 0.5);
    const ShellPart shell = addShell(builder, "patch", options);
    builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("ground", {}), builder.bodyMarker("corner", shell.frame));
    const auto model = builder.build();
    GeneralizedAlphaOptions alpha;
    alpha.duration = 0.5, alpha.step = h, alpha.rhoInfinity = 0.99;
    GeneralizedAlpha motion(*model, alpha);
    motion.start();
    while (!motion.finished()) motion.advance();
    return (motion.state().q.segment<2>(model->blocks()[std::size_t(shell.coordinates)].q) - Vector2(.9219537272, .3671528196)).norm();
  };
  const double coarse = error(5e-3), fine = error(2.5e-3);
  EXPECT_LT(fine, 1e-3);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1);
}

/// The reference trajectory and one of a clothoid, by the explicit method.
TEST(SheetMotion, FollowsTheReferenceTrajectory) { // D-09, T-III.17
  double lastDrift = 0;
  const auto swing = [&lastDrift](std::shared_ptr<const SheetShape> shape, const VectorX& natural, const VectorX& initial, double step) {
    ModelBuilder builder;
    builder.setGravity({{0, 0, -1}, TimeFunction::constant()});
    ShellOptions options;
    options.properties.domain = {0, 1, 0, 0.5};
    options.shape = std::move(shape), options.natural = natural, options.initial = initial;
    const ShellPart shell = addShell(builder, "patch", options);
    const auto model = builder.build();
    SheetMotion motion(*model, {.duration = 1, .step = step, .shells = {shell}, .held = {shell.frame}});
    motion.start();
    while (!motion.finished()) motion.advance();
    double drift = 0;
    EXPECT_TRUE(motion.monitor("energy drift", nullptr, &drift));
    EXPECT_LT(drift, 1e-3 * std::pow(step / 1e-2, 4));
    lastDrift = drift;
    return VectorX(motion.state().q.tail(options.shape->size()));
  };
  const VectorX circle = swing(std::make_shared<CircularSheet>(), Vector2(1, 0.3), Vector2(0.6, 0.5), 5e-3);
  EXPECT_LT((circle - Vector2(1.0066427527, .2097351972)).norm(), 1e-7);
  const VectorX coarse = swing(std::make_shared<ClothoidSheet>(), Vector3(1, 0.5, 0.3), Vector3(0.6, 0.2, 0.5), 1e-2);
  const double coarseDrift = lastDrift;
  const VectorX fine = swing(std::make_shared<ClothoidSheet>(), Vector3(1, 0.5, 0.3), Vector3(0.6, 0.2, 0.5), 5e-3);
  EXPECT_GT(coarseDrift / lastDrift, 15);
  const VectorX finest = swing(std::make_shared<ClothoidSheet>(), Vector3(1, 0.5, 0.3), Vector3(0.6, 0.2, 0.5), 2.5e-3);
  EXPECT_NEAR(std::log2((coarse - fine).norm() / (fine - finest).norm()), 4, 0.5);
  swing(std::make_shared<ConicalSheet>(), Vector3(1, 0.3, 0.3), Vector3(0.6, 0.5, 0.2), 5e-3);
}

/// As T-III.14: over 10 s, at half the step, the energy drifts at most a sixteenth as much.
TEST(FullSheetMotion, KeepsTheEnergyOfAClothoidForALongTime) { // T-III.17
  ModelBuilder builder;
  builder.setGravity({{0, 0, -1}, TimeFunction::constant()});
  ShellOptions options;
  options.properties.domain = {0, 1, 0, 0.5};
  options.shape = std::make_shared<ClothoidSheet>();
  options.natural = Vector3(1, 0.5, 0.3), options.initial = Vector3(0.6, 0.2, 0.5);
  const ShellPart shell = addShell(builder, "patch", options);
  const auto model = builder.build();
  const auto drift = [&](double step) {
    SheetMotion motion(*model, {.duration = 10, .step = step, .shells = {shell}, .held = {shell.frame}});
    motion.start();
    const double start = model->energy(motion.state()).total();
    while (!motion.finished()) {
      motion.advance();
      EXPECT_LT(motion.state().q.tail<3>().cwiseAbs().maxCoeff(), 3);
    }
    return std::abs(model->energy(motion.state()).total() / start - 1);
  };
  const double coarse = drift(8e-3), fine = drift(4e-3);
  EXPECT_LT(coarse, 2e-3);
  EXPECT_GE(coarse / fine, 16);
}

/// A clothoid whose growth of curvature is frozen at zero is the uniform patch: the rows and columns of k0 and phi of its equations, by the
/// classical Runge-Kutta method.
TEST(ShellPatches, AreTheUniformPatchWhereTheClothoidIsACircle) { // T-III.17
  const double alpha = 0.6, gamma = 0.5, h = 4e-3;
  PatchProperties p{.domain = {0, 1, 0, 0.5}};
  p.natural = ConePoint::toCurvatures(1, 0.3);
  PatchMotionOptions o;
  o.gravity = {0, 0, -1}, o.step = h;
  PatchMotion own(UniformPatch(p), o, gamma * Vector3(1, alpha * alpha, alpha));

  ModelBuilder builder;
  builder.setGravity({{0, 0, -1}, TimeFunction::constant()});
  ShellOptions options;
  options.properties = p, options.shape = std::make_shared<ClothoidSheet>();
  options.natural = Vector3(1, 0, 0.3), options.initial = ClothoidSheet::fromSource(alpha, 0, gamma);
  const ShellPart shell = addShell(builder, "patch", options);
  const auto model = builder.build();
  Assembly assembly(*model);
  State state = model->initialState();
  state.a.setZero(model->nv()), state.lambda.setZero(0);
  const Block at = model->blocks()[std::size_t(shell.coordinates)];
  const Vector2 start(options.initial[0], options.initial[2]);
  const auto acceleration = [&](const Vector2& q, const Vector2& v) -> Vector2 {
    state.q.segment<3>(at.q) << q[0], 0, q[1];
    state.v.segment<3>(at.v) << v[0], 0, v[1];
    assembly.begin({.motion = true, .tangent = true, .stiffness = false, .inertia = 1});
    model->evaluate(state, assembly);
    const Matrix3 M = MatrixX(assembly.matrix()).block<3, 3>(at.v, at.v);
    const Vector3 f = assembly.residual().segment<3>(at.v);
    Eigen::Matrix2d frozen;
    frozen << M(0, 0), M(0, 2), M(2, 0), M(2, 2);
    return frozen.ldlt().solve(-Vector2(f[0], f[2]));
  };
  Vector2 q = start, v = Vector2::Zero();
  double apart = 0;
  for (int i = 0; i < 500; ++i) {
    rungeKuttaStep(q, v, h, acceleration);
    own.advance();
    apart = std::max(apart, (ConePoint::toCurvatures(q[0], q[1]) - own.curvatures()).norm());
  }
  EXPECT_LT(apart, 1e-10); // the same method; 1e-6 is asked
  EXPECT_GT((q - start).norm(), 0.1);
}

TEST(SheetMotion, RefusesAStepBeyondItsStiffness) {
  const auto refusal = [](std::shared_ptr<const SheetShape> shape, std::initializer_list<double> q, double step, double damping) {
    ModelBuilder builder;
    const ShellPart shell = addShell(builder, "leaf", leaf(std::move(shape), q, damping));
    const auto model = builder.build();
    try {
      SheetMotion(*model, {.duration = 10 * step, .step = step, .shells = {shell}, .held = {}});
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto remedy = [](const std::string& message) {
    const std::string before = "take at most ";
    return std::stod(message.substr(message.find(before) + before.size()));
  };
  const std::string stiff = refusal(std::make_shared<ClothoidSheet>(), {1.4, 0.8, 0.5}, 0.5, 0);
  ASSERT_NE(stiff.find("shell 'leaf'"), std::string::npos);
  EXPECT_TRUE(refusal(std::make_shared<ClothoidSheet>(), {1.4, 0.8, 0.5}, remedy(stiff), 0).empty());
  EXPECT_FALSE(refusal(std::make_shared<ClothoidSheet>(), {1.4, 0.8, 0.5}, 1.5 * remedy(stiff), 0).empty());
  EXPECT_FALSE(refusal(std::make_shared<ConicalSheet>(), {1.4, 0.5, 0.3}, 0.5, 0).empty());
  EXPECT_FALSE(refusal(std::make_shared<CircularSheet>(), {1.4, 0.5}, 2e-3, 10).empty()); // of its damping
}

TEST(SheetMotion, AllocatesNothing) {
  ModelBuilder builder;
  const ShellPart shell = addShell(builder, "leaf", leaf(std::make_shared<ConicalSheet>(), {1.4, 0.5, 0.3}));
  const auto model = builder.build();
  SheetMotion motion(*model, {.duration = 1, .step = 1e-3, .shells = {shell}, .held = {}});
  motion.start();
  motion.advance();
  const long before = allocationCount;
  for (int i = 0; i < 3; ++i) motion.advance();
  EXPECT_EQ(allocationCount, before);
}

/// Centre of mass of a shell in space, by a product rule.
Vector3 centreOf(const ShellPart& shell, const Model& model, const State& state) {
  const GaussRule rule(12);
  Vector3 sum = Vector3::Zero();
  const PatchDomain& d = shell.domain;
  for (std::size_t i = 0; i < rule.x.size(); ++i)
    for (std::size_t j = 0; j < rule.x.size(); ++j)
      sum += rule.w[i] * rule.w[j] / 4 *
             shell.at(model, state, {d.begin1 + d.length() * (1 + rule.x[i]) / 2, d.begin2 + d.width() * (1 + rule.x[j]) / 2}).x;
  return sum;
}

TEST(SheetMotion, FallsAlongAParabola) { // D-17
  ModelBuilder builder;
  const Vector3 g(0, 0, -9.81);
  builder.setGravity({g, TimeFunction::constant()});
  ShellOptions options = leaf(std::make_shared<CircularSheet>(), {1.4, 0.5});
  options.twist << 0.3, 0.2, 1.0, 0.5, -0.8, 0.6;
  const ShellPart shell = addShell(builder, "leaf", options);
  const auto model = builder.build();
  SheetMotion motion(*model, {.duration = 0.2, .step = 1e-3, .shells = {shell}, .held = {}});
  motion.start();
  const Vector3 centre = centreOf(shell, *model, motion.state()), velocity = model->momentum(motion.state()).linear / (1.3 * 0.7);
  const double energy = model->energy(motion.state()).total();
  while (!motion.finished()) motion.advance();
  const double t = motion.state().t;
  EXPECT_LT((centreOf(shell, *model, motion.state()) - centre - t * velocity - t * t / 2 * g).norm(), 1e-8);
  EXPECT_NEAR(model->energy(motion.state()).total() / energy, 1, 1e-8);
}

TEST(SheetMotion, KeepsMomentumWhereItFlies) { // D-17
  const auto fly = [](double g, double step, double duration) {
    ModelBuilder builder;
    builder.setGravity({{0, 0, -g}, TimeFunction::constant()});
    ShellOptions options = leaf(std::make_shared<CircularSheet>(), {1.4, 0.5});
    options.twist << 0.3, 0.2, 1.0, 0.5, -0.8, 0.6;
    const ShellPart shell = addShell(builder, "leaf", options);
    const auto model = builder.build();
    SheetMotion motion(*model, {.duration = duration, .step = step, .shells = {shell}, .held = {}});
    motion.start();
    const Momentum first = model->momentum(motion.state());
    const Energy energy = model->energy(motion.state());
    while (!motion.finished()) motion.advance();
    const Momentum last = model->momentum(motion.state());
    const double mass = 1.3 * 0.7;
    EXPECT_LT((last.linear - first.linear - duration * mass * Vector3(0, 0, -g)).norm(), 1e-8 + (g > 0 ? 0 : 1));
    EXPECT_NEAR(model->energy(motion.state()).total(), energy.total(), 1e-6);
    return (last.linear - first.linear).norm() + (last.angular - first.angular).norm();
  };
  fly(9.81, 1e-3, 0.2);
  EXPECT_NEAR(std::log2(fly(0, 4e-3, 0.4) / fly(0, 2e-3, 0.4)), 4, 0.1);
}

TEST(ShellPatches, RestWhereThePatchDoes) {
  PatchProperties p{.domain = {0, 1, 0, 0.5}};
  p.natural = ConePoint::toCurvatures(0.5, 0.3);
  const ConePoint expected = patchEquilibrium(UniformPatch(p), {0, 0, -1}).at;
  ModelBuilder builder;
  builder.setGravity({{0, 0, -1}, TimeFunction::proportional()});
  ShellOptions options;
  options.properties = p, options.natural = Vector2(0.5, 0.3);
  const ShellPart shell = addShell(builder, "patch", options);
  builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("ground", {}), builder.bodyMarker("corner", shell.frame));
  const auto model = builder.build();
  LoadStepping statics(*model, {});
  statics.start();
  while (!statics.finished()) statics.advance();
  const Vector2 q = statics.state().q.segment<2>(model->blocks()[std::size_t(shell.coordinates)].q);
  EXPECT_NEAR(q[0], expected.kappa, 1e-7);
  EXPECT_NEAR(q[1], expected.phi, 1e-7);
}

/// A plate that falls broadside through air reaches m g = 1/2 c A v^2.
TEST(ShellPatches, FallWithTheirTerminalSpeed) {
  ModelBuilder builder;
  builder.setGravity({{0, 0, -9.81}, TimeFunction::constant()});
  ShellOptions options;
  options.properties.domain = {-0.5, 0.5, -0.5, 0.5};
  options.properties.rigidity = 50;
  options.natural = Vector2(1e-3, 0);
  options.air.density = 1.2;
  const double speed = std::sqrt(2 * 9.81 / 1.2);
  options.twist << 0, 0, -0.9 * speed, 0, 0, 0;
  const ShellPart shell = addShell(builder, "plate", options);
  const auto model = builder.build();
  GeneralizedAlphaOptions alpha;
  alpha.duration = 1, alpha.step = 2e-3, alpha.rhoInfinity = 0.8;
  GeneralizedAlpha motion(*model, alpha);
  motion.start();
  while (!motion.finished()) motion.advance();
  EXPECT_NEAR(motion.state().v[model->blocks()[std::size_t(shell.frame)].v + 2], -speed, 0.02 * speed);
}

TEST(ShellPatches, RefuseWhatTheyCannotBe) {
  ModelBuilder builder;
  ShellOptions options;
  options.natural = Vector2(1, 0.3), options.initial = Vector2(0, 0.3);
  EXPECT_THROW(addShell(builder, "flat", options), InputError);
  options.initial = Vector3(1, 0.3, 0);
  EXPECT_THROW(addShell(builder, "wrong", options), InputError);
  options.shape = std::make_shared<ConicalSheet>();
  options.natural = options.initial = Vector3(1, 0, -2);
  EXPECT_THROW(addShell(builder, "crossed", options), InputError);
  options.initial = Vector3(1, 0, 0);
  EXPECT_THROW(addShell(builder, "naturally crossed", options), InputError);
  for (const double huge : {1e3, 1e300}) {
    options.natural = Vector3(huge, 0, 0);
    EXPECT_THROW(addShell(builder, "rolled up", options), InputError);
  }
  options.natural = Vector3(0, 0, 0.1); // flat
  EXPECT_NO_THROW(addShell(builder, "naturally flat", options));
}

}
