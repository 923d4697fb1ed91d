#include "tendril/elements/springs.h"

#include "rig.h"
#include "support/validator.h"
#include "tendril/model/assembly.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>
#include <numbers>
#include <random>

using namespace tendril;
using namespace tendril::test;

namespace {

enum class Kind { Linear, LinearFreeLengthZero, Torsion, Bushing };

Matrix6 someMatrix(unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Matrix6 A;
  for (double& entry : A.reshaped()) entry = uniform(random);
  return A * A.transpose();
}

void addSpring(ModelBuilder& builder, Kind kind, const Marker& a, const Marker& b, bool damped) {
  const double c = damped ? 0.7 : 0;
  switch (kind) {
  case Kind::Linear:
    builder.term<LinearSprings>().add("s", a, b, {3, c, 0.4});
    break;
  case Kind::LinearFreeLengthZero:
    builder.term<LinearSprings>().add("s", a, b, {3, c, 0.0});
    break;
  case Kind::Torsion:
    builder.term<TorsionSprings>().add("s", a, b, {3, c, 0.3});
    break;
  case Kind::Bushing:
    builder.term<Bushings>().add("s", a, b, someMatrix(1), damped ? someMatrix(2) : Matrix6::Zero(), Bushings::Rest::Initial);
    break;
  }
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

class SpringsTest : public ::testing::TestWithParam<Kind> {};

TEST_P(SpringsTest, PassTheValidator) {
  for (const PairNames& names : pairs) {
    for (bool damped : {false, true}) {
      SCOPED_TRACE(std::string(names.first) + " - " + names.second + (damped ? ", damped" : ""));
      Rig rig;
      addSpring(rig.builder, GetParam(), rig.marker(names.first), rig.marker(names.second), damped);
      ValidationOptions options;
      options.states = 2;
      options.internal = names.internal;
      options.movingGround = names.movingGround && damped;
      options.conservative = !options.movingGround;
      validate(*rig.builder.build(), options);
    }
  }
}

TEST_P(SpringsTest, BalanceAtAnyVelocity) {
  for (const PairNames& names : pairs) {
    if (!names.internal) continue;
    SCOPED_TRACE(std::string(names.first) + " - " + names.second);
    Rig rig(Rig::Mass::None);
    addSpring(rig.builder, GetParam(), rig.marker(names.first), rig.marker(names.second), true);
    ValidationOptions options;
    options.states = 1;
    options.internal = options.massless = true;
    options.powerBalance = false;
    validate(*rig.builder.build(), options);
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpringsTest, ::testing::Values(Kind::Linear, Kind::LinearFreeLengthZero, Kind::Torsion, Kind::Bushing));

TEST(LinearSpringsTest, PullAlongTheirLine) {
  ModelBuilder builder;
  const int b = builder.addPose("b", -1, poseOf(3, 4, 0, 0.3, 0.2, 0.1));
  LinearSprings& springs = builder.term<LinearSprings>();
  springs.add("s", builder.groundMarker("g", {}), builder.bodyMarker("m", b), {10, 2, 4.0});
  const auto model = builder.build();
  State state = model->initialState();
  const Matrix3 R = loadPose(state.q.data()).R;
  state.v.head<3>() = R.transpose() * Vector3(0.6, 0.8, 0) * 1.5; // 1.5 m/s away from the ground
  Assembly assembly(*model);
  assembly.begin({.tangent = false});
  model->evaluate(state, assembly);
  const Vector3 onBody = -R * assembly.residual().head<3>();
  EXPECT_LE((onBody - -13 * Vector3(0.6, 0.8, 0)).norm(), 1e-13); // 10 (5 - 4) + 2 1.5
  EXPECT_NEAR(model->term<LinearSprings>()->tension(state, 0), 13, 1e-13);
  EXPECT_NEAR(model->term<LinearSprings>()->length(state, 0), 5, 1e-14);
  EXPECT_NEAR(model->energy(state).elastic, 5, 1e-13);
  EXPECT_NEAR(model->energy(state).power, -2 * 1.5 * 1.5, 1e-13);
}

TEST(LinearSpringsTest, NeedADirection) {
  const auto build = [](std::optional<double> freeLength) {
    ModelBuilder builder;
    const int b = builder.addPose("b", -1, {});
    builder.groundMarker("far", poseOf(1, 0, 0));
    builder.term<LinearSprings>().add("s", builder.groundMarker("g", {}), builder.bodyMarker("m", b), {10, 2, freeLength});
    return builder.build();
  };
  EXPECT_NE(messageOf([&] { build(0.5); }).find("'g' and 'm' coincide"), std::string::npos);
  // Free length zero, given or found: no force where the ends meet, and nothing is refused.
  for (const auto& model : {build(0.0), build({})}) {
    Assembly assembly(*model);
    assembly.begin({});
    model->evaluate(model->initialState(), assembly);
    EXPECT_EQ(assembly.residual().norm(), 0);
    EXPECT_EQ(assembly.refusedBlock(), -1);
    EXPECT_TRUE(MatrixX(assembly.matrix()).allFinite());
  }
}

TEST(LinearSpringsTest, RefuseAConfigurationWithoutDirection) {
  ModelBuilder builder;
  const int b = builder.addPose("b", -1, poseOf(1, 0, 0));
  builder.term<LinearSprings>().add("s", builder.groundMarker("g", {}), builder.bodyMarker("m", b), {10, 2, 1.0});
  const auto model = builder.build();
  State state = model->initialState();
  state.q.head<3>().setZero();
  Assembly assembly(*model);
  assembly.begin({});
  model->evaluate(state, assembly);
  EXPECT_EQ(assembly.refusedBlock(), b);
  EXPECT_TRUE(assembly.residual().allFinite());
}

TEST(TorsionSpringsTest, ReadTheAngleNearestToTheRestAngle) {
  ModelBuilder builder;
  const double turn = 2 * std::numbers::pi;
  const int b = builder.addPose("b", -1, poseOf(0, 0, 0, 0, 0, 0.5));
  builder.term<TorsionSprings>().add("wound", builder.groundMarker("g", {}), builder.bodyMarker("m", b), {10, 0, turn + 0.2});
  builder.term<TorsionSprings>().add("relaxed", builder.groundMarker("h", {}), builder.bodyMarker("n", b), {10, 0, {}});
  const auto model = builder.build();
  const State state = model->initialState();
  EXPECT_NEAR(model->term<TorsionSprings>()->angle(state, 0), turn + 0.5, 1e-14);
  EXPECT_NEAR(model->term<TorsionSprings>()->moment(state, 0), 3, 1e-13);
  EXPECT_NEAR(model->term<TorsionSprings>()->moment(state, 1), 0, 1e-14);
}

TEST(BushingsTest, ObeyTheSameLawSeenFromEitherSide) {
  const Matrix6 K = someMatrix(5);
  const auto residual = [&](bool swapped) {
    Rig rig(Rig::Mass::None);
    const Marker &a = rig.marker("one"), &b = rig.marker("two");
    rig.builder.term<Bushings>().add("s", swapped ? b : a, swapped ? a : b, K);
    const auto model = rig.builder.build();
    Assembly assembly(*model);
    assembly.begin({});
    model->evaluate(model->initialState(), assembly);
    return assembly.residual();
  };
  EXPECT_LE((residual(true) - residual(false)).norm(), 1e-12 * residual(true).norm());
}

TEST(SpringsInput, IsChecked) {
  Rig rig;
  const Marker &a = rig.marker("one"), &b = rig.marker("two");
  LinearSprings& linear = rig.builder.term<LinearSprings>();
  TorsionSprings& torsion = rig.builder.term<TorsionSprings>();
  Bushings& bushings = rig.builder.term<Bushings>();
  EXPECT_NE(messageOf([&] {
              linear.add("s", a, b, {-1, 0, {}});
            }).find("spring 's': the stiffness must not be negative"),
            std::string::npos);
  EXPECT_NE(messageOf([&] { linear.add("s", a, b, {1, -1, {}}); }).find("damping"), std::string::npos);
  EXPECT_NE(messageOf([&] { linear.add("s", a, b, {1, 0, -1.0}); }).find("free length"), std::string::npos);
  EXPECT_NE(messageOf([&] { linear.add("s", a, rig.marker("one again"), {1, 0, {}}); }).find("one body"), std::string::npos);
  EXPECT_NE(messageOf([&] { torsion.add("s", a, b, {NAN, 0, {}}); }).find("stiffness"), std::string::npos);
  EXPECT_NE(messageOf([&] { bushings.add("s", a, b, -Matrix6::Identity()); }).find("negative eigenvalue"), std::string::npos);
  Matrix6 skewed = Matrix6::Identity();
  skewed(0, 3) = 1;
  EXPECT_NE(messageOf([&] { bushings.add("s", a, b, skewed); }).find("symmetric"), std::string::npos);
  linear.add("s", a, b, {1, 0, {}});
  EXPECT_NE(messageOf([&] { linear.add("s", a, b, {1, 0, {}}); }).find("name of its own"), std::string::npos);
}
