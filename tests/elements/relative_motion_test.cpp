#include "tendril/elements/relative_motion.h"

#include "rig.h"
#include "support/validator.h"
#include "tendril/lie/se3.h"

#include <gtest/gtest.h>
#include <numbers>

using namespace tendril;
using namespace tendril::test;

namespace {

State statesOf(const Model& model, unsigned seed) {
  ValidationOptions options;
  options.seed = seed;
  return randomState(model, options);
}

State moved(const Model& model, const State& state, const VectorX& delta) {
  State result = state;
  model.retract(state.q, delta, result.q);
  return result;
}

template <class F> auto differentiate(const F& f, double h = 2e-3) {
  using Value = std::decay_t<decltype(f(0.0))>;
  return Value((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
}

}

TEST(RelativeMotion, MatchesDifferencesOfTheRelativePose) {
  for (const PairNames& names : pairs) {
    SCOPED_TRACE(std::string(names.first) + " - " + names.second);
    Rig rig;
    MarkerPair pair(rig[names.first], rig.marker(names.second));
    const auto model = rig.builder.build();
    const State state = statesOf(*model, 3);
    RelativeMotion m;
    pair.kinematics(state, m, true);
    const auto relative = [&](const State& s) { return se3::log(m.frame.relative(pair.frame(s))); };
    const auto twist = [&](const State& s) {
      RelativeMotion other;
      pair.kinematics(s, other);
      return other.twist;
    };

    for (int k = 0; k < pair.count(); ++k) {
      const int offset = model->blocks()[pair.block(k)].v;
      for (int i = 0; i < 6; ++i) {
        // Both markers may depend on this block: compare the sum of their columns.
        Vector6 J = Vector6::Zero(), gradient = Vector6::Zero();
        for (int l = 0; l < pair.count(); ++l) {
          if (pair.block(l) == pair.block(k)) J += m.J[l].col(i), gradient += m.twistGradient[l].col(i);
        }
        const auto along = [&](double h) { return moved(*model, state, h * VectorX::Unit(model->nv(), offset + i)); };
        EXPECT_LE((J - differentiate([&](double h) { return relative(along(h)); })).norm(), 1e-9);
        EXPECT_LE((gradient - differentiate([&](double h) { return twist(along(h)); })).norm(), 1e-9);
      }
    }
    const auto inTime = [&](double h) {
      State s = state;
      s.t += h;
      return s;
    };
    EXPECT_LE((m.drift - differentiate([&](double h) { return relative(inTime(h)); })).norm(), 1e-9);
    EXPECT_LE((m.twistRate - differentiate([&](double h) { return twist(inTime(h)); })).norm(), 1e-9);
    const auto motion = [&](double h) {
      State s = moved(*model, state, h * state.v);
      s.t += h;
      return s;
    };
    EXPECT_LE((m.twist - differentiate([&](double h) { return relative(motion(h)); })).norm(), 1e-9);
    EXPECT_LE((m.accelerationBias - differentiate([&](double h) { return twist(motion(h)); })).norm(), 1e-8);
  }
}

TEST(RelativeMotion, SplitsOffTheTurnAboutTheThirdAxis) {
  for (double near : {0.0, 6.0, -20.0}) {
    for (double phi : {-3.0, -1.0, 0.0, 0.5, 3.1}) {
      const AxisAngle angle(so3::exp(Vector3(0, 0, phi)), near);
      EXPECT_NEAR(std::remainder(angle.value - phi, 2 * std::numbers::pi), 0, 1e-14);
      EXPECT_LE(std::abs(angle.value - near), std::numbers::pi + 1e-12);
      EXPECT_LE((angle.gradient - Vector3::UnitZ()).norm(), 1e-14);
    }
  }
  // A tilt about an axis in the plane does not turn; seen from the other side the angle changes its sign.
  const Matrix3 tilt = so3::exp(Vector3(0.6, -0.8, 0)), R = tilt * so3::exp(Vector3(0, 0, 0.7));
  EXPECT_NEAR(AxisAngle(R, 0).value, 0.7, 1e-14);
  EXPECT_NEAR(AxisAngle(R.transpose(), 0).value, -0.7, 1e-14);

  const AxisAngle angle(R, 0);
  for (int i = 0; i < 3; ++i) {
    const auto turned = [&](double h) { return AxisAngle(R * so3::exp(h * Vector3::Unit(i)), 0); };
    EXPECT_NEAR(angle.gradient[i], differentiate([&](double h) { return turned(h).value; }), 1e-10);
    EXPECT_LE((angle.hessian.col(i) - differentiate([&](double h) { return turned(h).gradient; })).norm(), 1e-10);
  }
  EXPECT_FALSE(AxisAngle(so3::exp(Vector3(std::numbers::pi, 0, 0)), 0).isDefined);
}

TEST(RelativeMotion, KnowsWhetherAPairCanMove) {
  Rig rig;
  EXPECT_FALSE(MarkerPair(rig["ground"], rig.marker("moving")).canMove());
  EXPECT_FALSE(MarkerPair(rig["one"], rig.marker("one again")).canMove());
  EXPECT_FALSE(MarkerPair(nullptr, rig.marker("ground")).canMove());
  EXPECT_TRUE(MarkerPair(rig["segment"], rig.marker("segment end")).canMove());
  EXPECT_TRUE(MarkerPair(nullptr, rig.marker("one")).canMove());
}
