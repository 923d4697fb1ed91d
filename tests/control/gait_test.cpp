// Phases with transfer of contact: a compass that walks.
#include "tendril/control/optimal_control.h"

#include "tendril/elements/joints.h"
#include "tendril/elements/mechanism.h"
#include "tendril/elements/motors.h"
#include "tendril/elements/rigid_bodies.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

/// Two legs on a ball joint, a mass at the hip; the legs almost together.
struct Compass {
  Mechanism mechanism;
  const Marker *foot1 = nullptr, *foot2 = nullptr, *hip = nullptr;
};

Compass compass() {
  constexpr double lean = 0.0175;
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const MassProperties leg{5, Vector3::Zero(), Vector3(0.126875, 0.126875, 0.00375).asDiagonal()};
  const Matrix3 R1 = so3::exp(Vector3(-lean, 0, 0)), R2 = so3::exp(Vector3(lean, 0, 0));
  const Vector3 hip = R1.col(2);
  const auto leg1 = b.body("leg1", leg, {R1, 0.5 * hip});
  const auto leg2 = b.body("leg2", leg, {R2, hip - 0.5 * R2.col(2)});
  Compass c;
  c.hip = &leg1.at({Matrix3::Identity(), {0, 0, 0.5}});
  c.foot1 = &leg1.at({Matrix3::Identity(), {0, 0, -0.5}});
  c.foot2 = &leg2.at({Matrix3::Identity(), {0, 0, -0.5}});
  b.model().term<PointMasses>().add("trunk", *c.hip, 10, Matrix3::Zero());
  b.joint(JointKind::Spherical, "hip", *c.hip, leg2.at({Matrix3::Identity(), {0, 0, 0.5}}), {.reference = JointReference::Pose});
  c.mechanism = b.build();
  return c;
}

OptimalControlOptions walk(const Compass& c, int N, int landing) {
  OptimalControlOptions o;
  o.intervals = N, o.duration = 0.7;
  o.actuators = motorsOf(*c.mechanism.model, "hip");
  o.effort.assign(3, 1);
  o.effortNorm = 0.01;
  o.per = {c.foot2, c.foot1, Vector3::UnitY(), landing};
  o.beginIsFree = true;
  o.contacts = {{.name = "first", .marker = c.foot1, .first = 0, .last = landing, .height = 0},
                {.name = "second", .marker = c.foot2, .first = landing, .last = N, .height = 0}};
  const auto bound = [](const Marker* on, const Vector3& along, double lower, double upper, int first, int last) {
    return PathBound{.name = "bound", .marker = on, .direction = along, .lower = lower, .upper = upper, .first = first, .last = last};
  };
  constexpr double none = std::numeric_limits<double>::infinity();
  o.bounds = {bound(c.foot1, Vector3::UnitX(), 0, 0, 0, 0), bound(c.foot1, Vector3::UnitY(), 0, 0, 0, 0),
              bound(c.foot2, Vector3::UnitY(), 0.196, none, landing, landing), bound(c.foot2, Vector3::UnitZ(), 0, none, 0, landing - 1),
              bound(c.foot1, Vector3::UnitZ(), 0, none, landing + 1, N)};
  o.periodic = Periodicity{.mirror = Vector3::UnitX(),
                           .axis = 1,
                           .endBlock = {1, 0},
                           .anchors = {c.foot1, c.foot2},
                           .controls = {{0, 0, -1}, {1, 1, 1}, {2, 2, 1}}};
  o.end.isAtRest = false;
  o.largestTurn = 0.5;
  const auto numbers = [](std::initializer_list<double> values) {
    return VectorX(Eigen::Map<const VectorX>(values.begin(), Eigen::Index(values.size())));
  };
  o.guess = {{double(landing) / N, {{"leg1", numbers({0, 0.04, 0, -0.08, 0, 0})}, {"hip", numbers({0.16, 0, 0})}}},
             {0.99, {{"leg1", numbers({0, 0.213, 0, 0.035, 0, 0})}, {"hip", numbers({-0.07, 0, 0})}}}};
  return o;
}

TEST(Gait, CompassWalksForLessThanThePublishedCost) {
  const Compass c = compass();
  constexpr int N = 13, landing = 6;
  OptimalControl analysis(*c.mechanism.model, walk(c, N, landing));
  analysis.start();
  ASSERT_TRUE(analysis.report().converged()) << analysis.report().message;
  const Transcription& path = analysis.path();
  // Leyendecker (2011), 8.4: step 0.1960 m, cost 11.402. Its form without velocities and impulses has 123 variables and 88 equations.
  EXPECT_EQ(path.structure().variables() - 1 - (path.structure().equalities() - 1), 123 - 88);
  EXPECT_NEAR(path.costUnit(), 0.196, 1e-7);
  EXPECT_LT(analysis.cost(), 11.402);
  EXPECT_LT(analysis.momentumDefect(), 1e-10);

  const auto place = [&](const Marker& marker, int k) { return Vector3(marker.directors().at(path.node(k), 0).col(0)); };
  for (int k = 0; k <= N; ++k) {
    // Feet stand where they stand, and push.
    if (k <= landing) {
      EXPECT_NEAR(place(*c.foot1, k).norm(), 0, 1e-9);
    }
    if (k >= landing) {
      EXPECT_NEAR((place(*c.foot2, k) - place(*c.foot2, landing)).norm(), 0, 1e-9);
    }
    EXPECT_GE(path.impulse(0, k).z(), -1e-9);
    EXPECT_GE(path.impulse(1, k).z(), -1e-9);
  }
  // Weight and the impulses of the feet account for the vertical momentum of the whole half gait.
  double pushed = 0;
  for (int k = 0; k <= N; ++k) pushed += path.impulse(0, k).z() + path.impulse(1, k).z();
  const auto momentum = [&](const VectorX& rates, int k) {
    return path.node(k).size() > 0
               ? DirectorSystem(*c.mechanism.model).momentum(path.node(k), DirectorSystem(*c.mechanism.model).mass() * rates)
               : Momentum{};
  };
  const double gained = momentum(path.velocity(N), N).linear.z() - momentum(path.velocity(0), 0).linear.z();
  EXPECT_NEAR(pushed - 20 * 9.81 * 0.7, gained, 1e-8);
}

TEST(Gait, LandingIsAPlasticImpact) {
  const Compass c = compass();
  constexpr int N = 13, landing = 6;
  OptimalControl analysis(*c.mechanism.model, walk(c, N, landing));
  analysis.start();
  const Transcription& path = analysis.path();
  const DirectorSystem system(*c.mechanism.model);
  const VectorX before = path.velocityBefore(landing), after = path.velocity(landing), change = after - before;
  // The foot that leaves stands with the velocities before, the one that lands with those after.
  const auto speed = [&](const Marker& marker, const VectorX& rates) { return Vector3(marker.directors().rate(rates, 0).col(0)).norm(); };
  EXPECT_NEAR(speed(*c.foot1, before), 0, 1e-9);
  EXPECT_NEAR(speed(*c.foot2, after), 0, 1e-9);
  EXPECT_GT(speed(*c.foot2, before), 1e-3);
  // M (v+ - v-) does no work on motions that keep the landed foot and the hip: kinetic energy falls by 1/2 |v+ - v-|^2.
  const auto energy = [&](const VectorX& v) { return 0.5 * v.dot(system.mass() * v); };
  EXPECT_NEAR(energy(before) - energy(after), energy(change), 1e-9);
  double loss = 0;
  ASSERT_TRUE(analysis.monitor("impact loss", nullptr, &loss));
  EXPECT_EQ(loss, 0) << "before the foot lands";
  double work = 0;
  while (!analysis.finished()) analysis.advance();
  ASSERT_TRUE(analysis.monitor("impact loss", nullptr, &loss));
  ASSERT_TRUE(analysis.monitor("control work", nullptr, &work));
  EXPECT_NEAR(loss, energy(change), 1e-12);
  // A gait that repeats has at its end the energy of its begin: the hip gives what the landing takes, to the order of the method.
  EXPECT_NEAR(analysis.energy(*c.mechanism.model).kinetic, energy(path.velocity(0)), 1e-9);
  EXPECT_NEAR(work, loss, 0.05 * loss);
}

TEST(Gait, EndIsTheBeginningMirrored) {
  const Compass c = compass();
  constexpr int N = 13;
  OptimalControl analysis(*c.mechanism.model, walk(c, N, 6));
  analysis.start();
  const Transcription& path = analysis.path();
  const auto place = [&](const Marker& marker, int k) { return Vector3(marker.directors().at(path.node(k), 0).col(0)); };
  const auto velocity = [&](const Marker& marker, const VectorX& rates) { return Vector3(marker.directors().rate(rates, 0).col(0)); };
  const Vector3 mirror(-1, 1, 1);
  // As seen from the foot that stands: the hip, the other foot, and how fast they move.
  EXPECT_NEAR(((place(*c.hip, N) - place(*c.foot2, N)).cwiseProduct(mirror) - (place(*c.hip, 0) - place(*c.foot1, 0))).norm(), 0, 1e-9);
  EXPECT_NEAR(((place(*c.foot1, N) - place(*c.foot2, N)).cwiseProduct(mirror) - (place(*c.foot2, 0) - place(*c.foot1, 0))).norm(), 0, 1e-9);
  const VectorX v0 = path.velocityBefore(0), vN = path.velocityBefore(N);
  EXPECT_NEAR((velocity(*c.hip, vN).cwiseProduct(mirror) - velocity(*c.hip, v0)).norm(), 0, 1e-9);
  EXPECT_NEAR((velocity(*c.foot1, vN).cwiseProduct(mirror) - velocity(*c.foot2, v0)).norm(), 0, 1e-9);
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(path.control(0)[i], (i == 0 ? -1 : 1) * path.control(N - 1)[i], 1e-9);
}

TEST(Gait, WhatDoesNotFitIsRefused) {
  const Compass c = compass();
  const auto refused = [&](auto change) {
    OptimalControlOptions o = walk(c, 13, 6);
    change(o);
    EXPECT_THROW(OptimalControl(*c.mechanism.model, o), InputError);
  };
  refused([](OptimalControlOptions& o) { o.contacts[0].last = 14; });
  refused([](OptimalControlOptions& o) { o.contacts[0].last = 0; });
  refused([](OptimalControlOptions& o) { o.contacts[0].friction = -0.1; });
  refused([](OptimalControlOptions& o) { o.contacts[0].directions = {{1, 0, 0}, {1, 1, 0}}; });
  refused([](OptimalControlOptions& o) { o.bounds.push_back({.name = "nothing", .joint = "hip", .lower = 0, .upper = 7, .last = 13}); });
  refused([&](OptimalControlOptions& o) { o.per = {c.foot1, c.foot2, Vector3::UnitY(), 6}; });
}

}
}
