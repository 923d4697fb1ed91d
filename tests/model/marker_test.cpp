#include "tendril/model/marker.h"

#include "tendril/lie/se3.h"
#include "tendril/model/model.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace tendril;

namespace {

template <class F> auto differentiate(const F& f, double h = 2e-3) {
  using Value = std::decay_t<decltype(f(0.0))>;
  return Value((8 * (f(h) - f(-h)) - (f(2 * h) - f(-2 * h))) / (12 * h));
}

TimeFunction wave(double amplitude, double rate) {
  return {
      "wave", [=](double t) {
        return Jet{amplitude * std::sin(rate * t), amplitude * rate * std::cos(rate * t), -amplitude * rate * rate * std::sin(rate * t)};
      }};
}

/// Two pose blocks and a marker of each kind.
struct MarkerTest : ::testing::Test {
  MarkerTest() {
    ModelBuilder builder;
    const Pose A{so3::exp(Vector3(0.3, -0.2, 0.5)), Vector3(1, 2, 3)}, B{so3::exp(Vector3(0.1, 0.9, 0.4)), Vector3(1.8, 2.1, 3.3)};
    const Pose offset{so3::exp(Vector3(-0.4, 0.2, 0.7)), Vector3(0.1, -0.2, 0.05)};
    const int a = builder.addPose("beam", 0, A), b = builder.addPose("beam", 1, B);
    GroundMotion motion;
    motion.translation = {wave(0.4, 2), wave(0.3, 3), wave(0.2, 5)};
    motion.axis = Vector3(2, -1, 2); // made a unit vector by the builder
    motion.angle = wave(1.5, 1.3);
    markers = {&builder.bodyMarker("body", b, offset), &builder.segmentMarker("segment", a, b, 0.3, offset),
               &builder.segmentMarker("end", a, b, 1), &builder.groundMarker("ground", B), &builder.movingMarker("moving", B, motion)};
    model = builder.build();
    state = model->initialState();
    state.t = 0.6;
    state.v << 1, -0.5, 0.3, 0.7, -1.1, 0.4, -0.6, 0.8, 0.2, 1.3, 0.5, -0.9;
    state.a << 0.2, 1.5, -0.3, 0.6, 0.1, -1.4, 0.9, -0.8, 1.2, -0.3, 0.5, 0.7;
  }
  State moved(const VectorX& delta, double dt = 0) const {
    State s = state;
    model->retract(state.q, delta, s.q);
    s.t += dt;
    return s;
  }
  /// Columns of J at the velocities of the model.
  MatrixX scattered(const Marker& marker, const MarkerJacobian& J) const {
    MatrixX full = MatrixX::Zero(6, model->nv());
    for (std::size_t i = 0; i < marker.blocks().size(); ++i) {
      full.middleCols<6>(model->blocks()[marker.blocks()[i]].v) = J.middleCols<6>(6 * Eigen::Index(i));
    }
    return full;
  }

  std::vector<const Marker*> markers;
  std::unique_ptr<const Model> model;
  State state;
};

}

TEST_F(MarkerTest, FrameMovesByItsJacobianAndDrift) {
  for (const Marker* marker : markers) {
    SCOPED_TRACE(marker->name());
    MarkerKinematics k;
    marker->kinematics(state, k);
    EXPECT_LE((k.frame.R - marker->frame(state).R).norm() + (k.frame.x - marker->frame(state).x).norm(), 1e-14);
    const auto displacement = [&](const State& s) { return se3::log(k.frame.relative(marker->frame(s))); };
    const MatrixX J = scattered(*marker, k.J);
    for (int i = 0; i < model->nv(); ++i) {
      const Vector6 column = differentiate([&](double h) { return displacement(moved(h * VectorX::Unit(model->nv(), i))); });
      EXPECT_LE((J.col(i) - column).norm(), 1e-9);
    }
    const VectorX still = VectorX::Zero(model->nv());
    EXPECT_LE((k.drift - differentiate([&](double h) { return displacement(moved(still, h)); })).norm(), 1e-9);
    EXPECT_LE((k.twist - J * state.v - k.drift).norm(), 1e-14);
    EXPECT_LE((marker->twist(state) - k.twist).norm(), 0);
  }
}

TEST_F(MarkerTest, AccelerationIsTheRateOfTheTwist) {
  for (const Marker* marker : markers) {
    SCOPED_TRACE(marker->name());
    const auto along = [&](double h, bool accelerated) {
      State s = moved(h * state.v, h);
      if (accelerated) s.v += h * state.a;
      return marker->twist(s);
    };
    MarkerKinematics k;
    marker->kinematics(state, k, true);
    EXPECT_LE((k.accelerationBias - differentiate([&](double h) { return along(h, false); })).norm(), 1e-8);
    EXPECT_LE((marker->acceleration(state) - differentiate([&](double h) { return along(h, true); })).norm(), 1e-8);
  }
}

TEST_F(MarkerTest, RateOfTheJacobianAndGradientOfTheTwist) {
  for (const Marker* marker : markers) {
    SCOPED_TRACE(marker->name());
    if (marker->blocks().empty()) continue;
    MarkerKinematics k;
    marker->kinematics(state, k, true);
    const auto jacobian = [&](double h) {
      MarkerKinematics other;
      marker->kinematics(moved(h * state.v), other);
      return MatrixX(other.J);
    };
    EXPECT_LE((MatrixX(k.Jdot) - differentiate(jacobian)).norm(), 1e-8);
    MarkerJacobian local;
    marker->twistGradient(state, k, local);
    const MatrixX gradient = scattered(*marker, local);
    for (int i = 0; i < model->nv(); ++i) {
      const Vector6 column = differentiate([&](double h) { return marker->twist(moved(h * VectorX::Unit(model->nv(), i))); });
      EXPECT_LE((gradient.col(i) - column).norm(), 1e-9);
    }
  }
}

TEST_F(MarkerTest, HessianIsTheChangeOfTheGeneralizedForce) {
  Vector6 wrench;
  wrench << 1, -2, 3, 0.5, 0.7, -0.4;
  for (const Marker* marker : markers) {
    SCOPED_TRACE(marker->name());
    const int n = 6 * int(marker->blocks().size());
    if (n == 0) continue;
    MarkerHessian H = MarkerHessian::Constant(n, n, 1);
    marker->addHessian(state, wrench, 2, H);
    for (int i = 0; i < n; ++i) {
      const int column = model->blocks()[marker->blocks()[i / 6]].v + i % 6;
      const VectorX expected = differentiate([&](double h) {
        MarkerKinematics k;
        marker->kinematics(moved(h * VectorX::Unit(model->nv(), column)), k);
        return VectorX(k.J.transpose() * wrench);
      });
      EXPECT_LE((H.col(i) - VectorX::Ones(n) - 2 * expected).norm(), 1e-8);
    }
  }
}

TEST_F(MarkerTest, SegmentEndsAreItsNodes) {
  const Marker& end = model->marker("end");
  const Pose node = loadPose(state.q.data() + model->blocks()[1].q);
  EXPECT_LE((end.frame(state).x - node.x).norm() + (end.frame(state).R - node.R).norm(), 1e-14);
  MarkerKinematics k;
  end.kinematics(state, k);
  EXPECT_LE(k.J.leftCols<6>().norm(), 1e-14);
  EXPECT_LE((k.J.rightCols<6>() - Matrix6::Identity()).norm(), 1e-14);
}

TEST_F(MarkerTest, GroundMovesAsToldAndTurnsAboutItsAxis) {
  const Marker& moving = model->marker("moving");
  const Pose rest = model->marker("ground").frame(state);
  const Vector3 shift(0.4 * std::sin(1.2), 0.3 * std::sin(1.8), 0.2 * std::sin(3.0));
  EXPECT_LE((moving.frame(state).x - rest.x - shift).norm(), 1e-14);
  EXPECT_LE((so3::log(rest.R.transpose() * moving.frame(state).R) - 1.5 * std::sin(0.78) * Vector3(2, -1, 2) / 3).norm(), 1e-14);
}
