#include "cosserat_rod.h"
#include "helical_spring.h"
#include "suspended_cable.h"

#include <gtest/gtest.h>
#include <numeric>

namespace tendril::oracles {
namespace {

TEST(ElasticCatenary, TendsToTheInextensibleCatenary) {
  // y = c cosh(x / c): span 2 c b, length 2 c sinh b, horizontal force w c
  const double c = 80, b = 0.7;
  const ElasticCable cable{2 * c * b, 0, 2 * c * std::sinh(b), 3, 1e15};
  const CableShape shape = elasticCatenary(cable);
  EXPECT_NEAR(shape.rightReaction[0], 3 * c, 1e-6);
  EXPECT_NEAR(shape.sag, c * (std::cosh(b) - 1), 1e-6);
}

TEST(ElasticCatenary, MatchesIntegration) {
  const ElasticCable cable{100, 5, 104, 215.8, 1e6};
  const CableShape shape = elasticCatenary(cable, {30});
  const Slope f = [&](double s, const VectorXd&, VectorXd& dy) {
    const double H = -shape.leftReaction[0], V = shape.leftReaction[1] - cable.weight * s, T = std::hypot(H, V);
    dy << (1 + T / cable.EA) * H / T, -(1 + T / cable.EA) * V / T;
  };
  EXPECT_LT((rungeKutta(f, 0, 30, Vector2d(0, 0), 200) - shape.points[0]).norm(), 1e-8);
  EXPECT_LT((rungeKutta(f, 0, 104, Vector2d(0, 0), 400) - Vector2d(100, 5)).norm(), 1e-8);
}

TEST(CableBridge, BalancesItsWeight) {
  const CableBridge bridge;
  const BridgeState state = solveBridge(bridge);
  const double total = 9.81 * (bridge.deckMass + bridge.cableDensity * bridge.arclength(bridge.span));
  EXPECT_NEAR(state.leftReaction[1] + state.rightReaction[1], total, 1e-6 * total);
  EXPECT_NEAR(state.leftReaction[0] + state.rightReaction[0], 0, 1e-6 * total);
  EXPECT_NEAR(std::accumulate(state.hangerForces.begin(), state.hangerForces.end(), 0.0), 9.81 * bridge.deckMass, 1e-3 * total);
  EXPECT_GT(state.sag, 10);
  EXPECT_LT(state.sag, 10.5);
  EXPECT_EQ(state.hangerForces.size(), 20u);
}

TEST(CableBridge, StiffCableSharesTheDeckAsAParabola) {
  // A parabola is the shape of an inextensible weightless cable under equal loads at equal distances: kink 2 * (8 f / L^2) * spacing / 2
  // each.
  CableBridge bridge;
  bridge.EA = 1e14;
  bridge.cableDensity = 1e-6;
  const BridgeState state = solveBridge(bridge);
  for (double force : state.hangerForces) EXPECT_NEAR(force / (bridge.deckMass * 9.81 / 20), 1, 0.05);
  EXPECT_NEAR(state.rightReaction[0] / (bridge.deckMass * 9.81 / 20 * 21 * bridge.span / (8 * 10)), 1, 0.02);
}

TEST(CableBridge, LevelSupportsGiveASymmetricState) {
  CableBridge bridge;
  bridge.rise = 0;
  const BridgeState state = solveBridge(bridge);
  EXPECT_NEAR(state.leftReaction[1], state.rightReaction[1], 1e-4);
  EXPECT_NEAR(state.deckAngle, 0, 1e-10);
  EXPECT_NEAR(state.deckCentre[0], 50, 1e-8);
}

TEST(Wilberforce, CompliancesAgreeWithTheSolvedWire) {
  // A small axial force on the axis of a clamped helical wire, against the shooting solution of the spatial rod.
  const WilberforcePendulum p;
  const double alpha = std::atan2(p.pitch, 2 * M_PI * p.coilRadius), c = std::cos(alpha), s = std::sin(alpha), a = p.coilRadius;
  CosseratCantilever wire;
  setCircularSection(wire, p.wireRadius, p.E, p.E / (2 * p.G) - 1, RodModel::InextensibleKirchhoff);
  wire.length = 2 * M_PI * p.coils * a / c;
  wire.naturalCurvature = {s * c / a, 0, c * c / a}; // e1 tangent, e2 towards the axis, helix about z
  wire.clampFrame.col(0) = Vector3d(0, c, s);
  wire.clampFrame.col(1) = Vector3d(-1, 0, 0);
  wire.clampFrame.col(2) = wire.clampFrame.col(0).cross(wire.clampFrame.col(1));
  const double F = 1e-3; // whole turns: the free end lies above the clamp, the axis at (-a, 0)
  const RodSection rest = solveCantilever(wire, {1.0}, 1, 800).front();
  EXPECT_NEAR(rest.position[2], p.coils * p.pitch, 1e-9);
  wire.tipForce = {0, 0, F};
  wire.tipMoment = Vector3d(-a, 0, 0).cross(Vector3d(0, 0, F));
  const RodSection pulled = solveCantilever(wire, {1.0}, 1, 800).front();
  const Matrix3d turn = pulled.frame * rest.frame.transpose();
  const double extension = (pulled.position + turn * Vector3d(-a, 0, 0) - rest.position - Vector3d(-a, 0, 0))[2];
  const double l = wire.length, GJ = 1 / wire.momentCompliance[0], EI = 1 / wire.momentCompliance[1];
  EXPECT_NEAR(extension / (F * l * a * a * (c * c / GJ + s * s / EI)), 1, 1e-4);
  EXPECT_NEAR(std::abs(turn(1, 0)) / (F * l * a * s * c * (1 / GJ - 1 / EI)), 1, 1e-3);
}

TEST(Wilberforce, FullExchangeAtResonance) {
  WilberforcePendulum p;
  EXPECT_NEAR(p.resonantCoilRadius(), 0.01559, 1e-5);
  p.coilRadius = 0.0156;
  const WilberforceModes modes = wilberforceModes(p);
  EXPECT_GT(modes.exchange, 0.95);
  EXPECT_NEAR(modes.slow, std::sqrt(p.axialStiffness() / p.mass), 0.02 * modes.slow);
}

}
}
