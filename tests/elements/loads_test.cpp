#include "tendril/elements/loads.h"

#include "rig.h"
#include "support/validator.h"
#include "tendril/model/assembly.h"

#include "tendril/model/error.h"
#include <gtest/gtest.h>

using namespace tendril;
using namespace tendril::test;

TEST(LoadsTest, PassTheValidator) {
  for (const char* marker : {"one", "segment"}) {
    for (LoadDirection direction : {LoadDirection::Dead, LoadDirection::Follower}) {
      SCOPED_TRACE(std::string(marker) + (direction == LoadDirection::Dead ? ", dead" : ", follower"));
      Rig rig;
      rig.builder.term<Loads>().add("load", rig.marker(marker), direction, {1, -2, 3}, {0.5, 0.4, -0.7}, wavy(0.5));
      ValidationOptions options;
      options.conservative = false;
      validate(*rig.builder.build(), options);
    }
  }
}

TEST(LoadsTest, ADeadForceAloneIsConservative) {
  // Its potential is -F.x: r must be its gradient, which the energy does not hold. The curl shows in the tangent.
  Rig rig(Rig::Mass::None);
  const Vector3 F(1, -2, 3);
  const Marker& marker = rig.marker("segment");
  rig.builder.term<Loads>().add("load", marker, LoadDirection::Dead, F);
  const auto model = rig.builder.build();
  const State state = randomState(*model);
  Assembly assembly(*model);
  assembly.begin({.motion = false});
  model->evaluate(state, assembly);
  for (int i = 0; i < model->nv(); ++i) {
    const auto potential = [&](double h) {
      State s = state;
      model->retract(state.q, h * VectorX::Unit(model->nv(), i), s.q);
      return -F.dot(marker.frame(s).x);
    };
    const double h = 2e-3, slope = (8 * (potential(h) - potential(-h)) - (potential(2 * h) - potential(-2 * h))) / (12 * h);
    EXPECT_NEAR(assembly.residual()[i], slope, 1e-9);
  }
}

TEST(LoadsTest, ReportTheirWrenchInTheInertialFrame) {
  Rig rig;
  const Marker& marker = rig.marker("segment");
  Loads& loads = rig.builder.term<Loads>();
  loads.add("dead", marker, LoadDirection::Dead, {1, 2, 3}, {4, 5, 6}, TimeFunction::proportional());
  loads.add("follower", marker, LoadDirection::Follower, {1, 2, 3}, {4, 5, 6});
  const auto model = rig.builder.build();
  const State state = randomState(*model);
  const Matrix3 R = marker.frame(state).R;
  const Loads& built = *model->term<Loads>();
  Vector6 dead, follower;
  dead << 1, 2, 3, 4, 5, 6;
  follower << R * Vector3(1, 2, 3), R * Vector3(4, 5, 6);
  EXPECT_LE((built.wrench(state, built.find("dead")) - state.t * dead).norm(), 1e-14);
  EXPECT_LE((built.wrench(state, built.find("follower")) - follower).norm(), 1e-14);
  EXPECT_EQ(built.find("none"), -1);
}

TEST(LoadsTest, RefuseTheGroundAndBadNumbers) {
  Rig rig;
  Loads& loads = rig.builder.term<Loads>();
  EXPECT_THROW(loads.add("a", rig.marker("ground"), LoadDirection::Dead, {1, 0, 0}), InputError);
  EXPECT_THROW(loads.add("a", rig.marker("one"), LoadDirection::Dead, {NAN, 0, 0}), InputError);
  loads.add("a", rig.marker("one"), LoadDirection::Dead, {1, 0, 0});
  EXPECT_THROW(loads.add("a", rig.marker("two"), LoadDirection::Dead, {1, 0, 0}), InputError);
}
