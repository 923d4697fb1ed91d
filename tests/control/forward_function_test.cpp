#include "tendril/control/forward_function.h"

#include "control/forward_runs.h"
#include "tendril/model/error.h"

#include <array>
#include <cmath>
#include <gtest/gtest.h>

namespace tendril {
namespace {

/// A ball of mass c_0 thrown with speed c_1 under an angle c_2, gravity c_3: how far it has come, and how high, c_4 times.
ForwardCase ballThrow(const VectorX& c) {
  MechanismBuilder b;
  b.gravity({0, 0, -c[3]});
  const auto ball = b.body("ball", {c[0], Vector3::Zero(), Matrix3::Identity()}, {}, c[1] * Vector3(std::cos(c[2]), 0, std::sin(c[2])));
  const Marker& centre = ball.at();
  const auto m = std::make_shared<Mechanism>(b.build());
  PathRow row = markerCoordinate("way", centre, Vector3(1, 0, c[4]));
  return {{m, m->model.get()}, wind(centre, "wind"), valueOf(row, 10)};
}

TEST(ForwardFunction, ClosedFormOfAThrow) {
  const VectorX c = (VectorX(5) << 2, 7, 0.6, 9.81, 0.5).finished();
  const double t = 1.2, h = 0.12;
  ForwardFunction f(ballThrow, {.steps = 10, .duration = t}, c);
  EXPECT_EQ(f.size(), 5 + 30);
  VectorX x(f.size()), gradient;
  x << c, randomVector(30, 3, 2);
  double push = 0, lift = 0; // what the wind moves, times mass
  for (int n = 0; n < 10; ++n) {
    push += h * (t - (n + 0.5) * h) * x[f.place(0, n)];
    lift += h * (t - (n + 0.5) * h) * x[f.place(2, n)];
  }
  const double height = c[1] * std::sin(c[2]) * t - c[3] * t * t / 2 + lift / c[0];
  EXPECT_NEAR(f(x, &gradient), c[1] * std::cos(c[2]) * t + push / c[0] + c[4] * height, 1e-12);
  const VectorX expected = (VectorX(5) << -(push + c[4] * lift) / (c[0] * c[0]), t * (std::cos(c[2]) + c[4] * std::sin(c[2])),
                            c[1] * t * (c[4] * std::cos(c[2]) - std::sin(c[2])), -c[4] * t * t / 2, height)
                               .finished();
  for (int k = 0; k < 5; ++k) {
    EXPECT_NEAR(gradient[k], expected[k], 1e-10 * std::abs(expected[k])) << k;
    EXPECT_GE(f.errors()[k] + 1e-10 * std::abs(expected[k]), std::abs(gradient[k] - expected[k])) << k;
  }
  EXPECT_NEAR(gradient[f.place(2, 4)], c[4] * h * (t - 4.5 * h) / c[0], 1e-13);
}

/// All of the robot arm: lengths, which move joints and change inertia, masses, gravity, the initial posture, torques, wind.
TEST(ForwardFunction, GradientOfTheRobotArm) {
  const VectorX c = ArmParameters{}.vector();
  ForwardFunction f([](const VectorX& p) { return robotArm(ArmParameters::of(p)).asCase(); }, {.steps = 15, .duration = 1.5}, c);
  VectorX x(f.size()), gradient;
  x << c, armControls().reshaped();
  const double f0 = f(x, &gradient);
  for (int k = 0; k < f.parameters() + 2; ++k) { // each parameter, and two mixtures of everything
    VectorX direction = VectorX::Zero(f.size());
    if (k < f.parameters()) {
      direction[k] = c[k];
    } else {
      direction.head(6) = randomVector(6, unsigned(k)).cwiseProduct(c);
      direction.tail(f.size() - 6) = armDirection(15, unsigned(k) + 50, 10).reshaped();
    }
    const double slope = gradient.dot(direction);
    std::array<double, 3> remainders, differences;
    for (int level = 0; level < 3; ++level) {
      const double e = 0.0004 / (1 << level), ahead = f(x + e * direction);
      remainders[std::size_t(level)] = std::abs(ahead - f0 - e * slope);
      differences[std::size_t(level)] = (ahead - f(x - e * direction)) / (2 * e);
    }
    EXPECT_NEAR(std::log2(remainders[0] / remainders[1]), 2, 0.1) << k;
    EXPECT_NEAR(std::log2(remainders[1] / remainders[2]), 2, 0.1) << k;
    const auto better = [](double coarse, double fine) { return fine + (fine - coarse) / 3; };
    const double first = better(differences[0], differences[1]), second = better(differences[1], differences[2]);
    EXPECT_NEAR(second + (second - first) / 15, slope, 1e-8 * gradient.head(6).cwiseProduct(c).norm()) << k;
  }
}

/// The three components of a miss: their length is the function, their slopes are those of differences.
TEST(ForwardFunction, NumbersAndTheirSlopes) {
  const VectorX c = ArmParameters{}.vector();
  ForwardFunction f([](const VectorX& p) { return robotArm(ArmParameters::of(p)).asCase(); }, {.steps = 15, .duration = 1.5}, c);
  VectorX x(f.size()), gradient;
  x << c, armControls().reshaped();
  MatrixX slopes, unused;
  const VectorX y = f.numbers(x, slopes);
  ASSERT_EQ(y.size(), 3);
  ASSERT_EQ(slopes.cols(), f.size());
  EXPECT_NEAR(y.norm(), f(x, &gradient, false), 1e-14);
  EXPECT_LT((slopes.transpose() * y.normalized() - gradient).norm(), 1e-12 * gradient.norm());
  EXPECT_TRUE(slopes.leftCols(f.parameters()).isZero(0));
  for (const unsigned seed : {3u, 4u}) {
    VectorX direction = VectorX::Zero(f.size());
    direction.tail(f.size() - f.parameters()) = armDirection(15, seed, 10).reshaped();
    const auto difference = [&](double e) -> VectorX {
      return (f.numbers(x + e * direction, unused) - f.numbers(x - e * direction, unused)) / (2 * e);
    };
    const VectorX coarse = difference(4e-4), middle = difference(2e-4), fine = difference(1e-4);
    const VectorX first = (4 * middle - coarse) / 3, second = (4 * fine - middle) / 3;
    EXPECT_LT(((16 * second - first) / 15 - slopes * direction).norm(), 1e-8 * (slopes * direction).norm()) << seed;
  }
}

/// What differences of models make of a parameter, carried on by the tangent mode, is what the adjoint mode makes of it.
TEST(ForwardFunction, TangentOfAParameterIsItsGradient) {
  const auto arm = [](double change) {
    VectorX c = ArmParameters{}.vector();
    return robotArm(ArmParameters::of(c * (1 + change)));
  };
  const ForwardSample s = arm(0), above = arm(1e-3), below = arm(-1e-3);
  ForwardPath path = s.path(), ofAbove = above.path(), ofBelow = below.path();
  path.run(armControls());
  const auto change = path.modelChange(ofAbove, above.function, ofBelow, below.function, 2e-3);
  const double tangent = path.differentiate(s.function, change);
  const double scale = path.differentiate(s.function).placement.norm();
  const double adjoint = (path.augmented(ofAbove, above.function) - path.augmented(ofBelow, below.function)) / 2e-3;
  EXPECT_NEAR(tangent, adjoint, 1e-11 * (std::abs(tangent) + scale));
}

/// A velocity that a parameter changes by mass, joint and function at once.
TEST(ForwardFunction, VelocitiesByParameters) {
  const VectorX c = (VectorX(3) << 0.8, 1.5, 9.81).finished();
  const auto family = [](const VectorX& p) {
    MechanismBuilder b;
    b.gravity({0, -p[2], 0});
    const auto rod = b.body("rod", {p[1], Vector3::Zero(), Vector3(1e-3, p[1] * p[0] * p[0] / 12, p[1] * p[0] * p[0] / 12).asDiagonal()},
                            {Matrix3::Identity(), {p[0] / 2, 0, 0}});
    b.joint(JointKind::Revolute, "hinge", b.ground(), rod.at({Matrix3::Identity(), {-p[0] / 2, 0, 0}}));
    const Marker& tip = rod.at({Matrix3::Identity(), {p[0] / 2, 0, 0}});
    const auto m = std::make_shared<Mechanism>(b.build());
    std::vector<PathRow> rows;
    for (int i = 0; i < 2; ++i) rows.push_back(markerVelocity("speed", tip, Vector3::Unit(i)));
    return ForwardCase{{m, m->model.get()}, motors(*m, {"hinge"}), weightedSquares("energy", std::move(rows), {p[1], p[1]}, 25)};
  };
  ForwardFunction f(family, {.steps = 25, .duration = 0.5}, c);
  VectorX x(f.size()), gradient;
  x << c, randomVector(25, 4, 0.5);
  f(x, &gradient);
  for (int k = 0; k < 3; ++k) {
    std::array<double, 3> d;
    for (int level = 0; level < 3; ++level) {
      VectorX e = VectorX::Zero(x.size());
      e[k] = 0.01 / (1 << level);
      d[std::size_t(level)] = (f(x + e) - f(x - e)) / (2 * e[k]);
    }
    const double first = (4 * d[1] - d[0]) / 3, second = (4 * d[2] - d[1]) / 3;
    EXPECT_NEAR((16 * second - first) / 15, gradient[k], 1e-8 * std::abs(gradient[k])) << k;
  }
}

/// Lengths in millimetres, masses in tonnes: the same miss, and gradients that differ by their units alone.
TEST(ForwardFunction, GradientInOtherUnits) {
  const auto family = [](double length, double mass) {
    return [=](const VectorX& c) {
      MechanismBuilder b;
      b.gravity({0, 0, -9.81 * length});
      const double l = c[0];
      const MassProperties rod{c[1], Vector3::Zero(), Vector3(c[1] * l * l / 12, c[1] * l * l / 12, c[1] * l * l / 400).asDiagonal()};
      const auto body = b.body("rod", rod, {Matrix3::Identity(), {0, 0, -l / 2}}, {0.3 * l, 0, 0}, {0, -0.6, 0.4});
      b.joint(JointKind::Spherical, "hinge", b.ground(), body.at({Matrix3::Identity(), {0, 0, l / 2}}));
      const Marker& tip = body.at({Matrix3::Identity(), {0, 0, -l / 2}});
      const auto m = std::make_shared<Mechanism>(b.build());
      std::vector<Actuator> torques = motors(*m, {"hinge"});
      for (Actuator& torque : torques)
        for (ActuatorLoad& load : torque.loads) load.wrench *= mass * length * length; // controls in N m
      return ForwardCase{{m, m->model.get()}, torques, distanceOf("miss", tip, length * Vector3(0.4, 0.3, -0.2), 20)};
    };
  };
  const VectorX c = (VectorX(2) << 0.7, 3).finished(), controls = randomVector(60, 8, 3);
  ForwardFunction si(family(1, 1), {.steps = 20, .duration = 0.5}, c);
  ForwardFunction mm(family(1e3, 1e-3), {.steps = 20, .duration = 0.5}, c.cwiseProduct(Eigen::Vector2d(1e3, 1e-3)));
  VectorX x(62), X(62), g, G;
  x << c, controls;
  X << 1e3 * c[0], 1e-3 * c[1], controls;
  EXPECT_NEAR(1e3 * si(x, &g), mm(X, &G), 1e-9);
  G[0] *= 1e3, G[1] *= 1e-3;
  EXPECT_LT((1e3 * g - G).norm(), 1e-9 * G.norm());
}

TEST(ForwardFunction, RefusesBadInput) {
  const VectorX c = (VectorX(5) << 2, 7, 0.6, 9.81, 0.5).finished();
  EXPECT_THROW(ForwardFunction(ballThrow, {.steps = 10}, VectorX::Constant(5, std::nan(""))), InputError);
  EXPECT_THROW(ForwardFunction([](const VectorX&) { return ForwardCase{}; }, {.steps = 10}, c), InputError);
  ForwardFunction f(ballThrow, {.steps = 10}, c);
  EXPECT_THROW(f(VectorX::Zero(3)), InputError);
  EXPECT_THROW(f(VectorX::Constant(f.size(), std::nan(""))), InputError);
  // A parameter that adds a body is none.
  const auto growing = [](const VectorX& p) {
    MechanismBuilder b;
    const Marker& first = b.body("first", {1, Vector3::Zero(), Matrix3::Identity()}, {}).at();
    if (p[0] > 1) b.body("second", {1, Vector3::Zero(), Matrix3::Identity()}, {Matrix3::Identity(), {5, 0, 0}});
    const auto m = std::make_shared<Mechanism>(b.build());
    return ForwardCase{{m, m->model.get()}, {}, valueOf(markerCoordinate("place", first, Vector3::UnitX()), 10)};
  };
  ForwardFunction g(growing, {.steps = 10}, VectorX::Ones(1));
  VectorX gradient;
  EXPECT_THROW(g(VectorX::Ones(1), &gradient), InputError);
}

}
}
