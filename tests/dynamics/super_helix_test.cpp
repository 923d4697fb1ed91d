#include "support/dense.h"
#include "tendril/elements/super_helix.h"

#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/assembly.h"
#include "tendril/statics/load_stepping.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

namespace tendril::test {
namespace {

constexpr double length = 0.8, bending = 0.02, torsion = 0.015, lineMass = 0.3, radius = 0.004;

SectionProperties hair(double dampingTime = 0) {
  SectionProperties section;
  section.stiffness.diagonal() << 1, 1, 1, torsion, bending, bending;
  const double rotary = lineMass * radius * radius / 4;
  section.mass.diagonal() << lineMass, lineMass, lineMass, 2 * rotary, rotary, rotary;
  section.dampingTime = dampingTime;
  section.outline = Section::circle(radius);
  return section;
}

template <class Analysis> void runToEnd(Analysis& analysis) {
  analysis.start();
  while (!analysis.finished()) analysis.advance();
}

Vector3 positionOf(const Mechanism& m, const State& state, int node, std::size_t part = 0) {
  return state.q.segment<3>(m.model->blocks()[std::size_t(m.beams[part].nodes[std::size_t(node)])].q);
}

/// First angular frequency of a clamped straight rod, from the inertia and stiffness of its strains.
double firstFrequency(int elements) {
  MechanismBuilder builder;
  const auto rod = builder.rod("rod", hair(), {.length = length, .elements = elements});
  builder.clamp("wall", rod.start());
  const Mechanism m = builder.build();
  Assembly assembly(*m.model);
  const auto strains = [&](const Request& request) -> MatrixX {
    assembly.begin(request);
    m.model->evaluate(m.model->initialState(), assembly);
    const MatrixX A(assembly.matrix());
    MatrixX part(3 * elements, 3 * elements);
    const SuperHelix& helix = m.model->term<SuperHelices>()->rod(0);
    for (int i = 0; i < elements; ++i)
      for (int j = 0; j < elements; ++j)
        part.block<3, 3>(3 * i, 3 * j) = A.block<3, 3>(m.model->blocks()[std::size_t(helix.strains[std::size_t(i)])].v,
                                                       m.model->blocks()[std::size_t(helix.strains[std::size_t(j)])].v);
    return part;
  };
  const MatrixX K = strains({.motion = false}), M = strains({.motion = true, .stiffness = false, .inertia = 1});
  return std::sqrt(test::eigenvalues(K, M)[0]);
}

}

TEST(SuperHelixInMotion, VibratesAsACantileverInSecondOrder) {
  const double exact = 1.8751040687 * 1.8751040687 * std::sqrt(bending / (lineMass * std::pow(length, 4)));
  const double coarse = firstFrequency(4) / exact - 1, fine = firstFrequency(8) / exact - 1;
  EXPECT_LT(std::abs(fine), 0.01);
  EXPECT_NEAR(coarse / fine, 4, 0.4);
}

/// Weight and a force at the tip: the same element, with its constraints eliminated.
TEST(SuperHelixInMotion, HangsAsAnInextensibleKirchhoffBeam) {
  const int elements = 8;
  const Vector3 force(0.02, -0.05, 0.03);
  MechanismBuilder rods, beams;
  const auto rod = rods.rod("rod", hair(), {.length = length, .elements = elements});
  const auto beam = beams.beam("beam", Curve::straight({0, 0, 0}, {length, 0, 0}, Vector3(0, 0, 1)), hair(),
                               {.elements = elements, .model = BeamModel::InextensibleKirchhoff});
  rods.clamp("wall", rod.start()), beams.clamp("wall", beam.start());
  rods.force("pull", rod.end(), force, LoadDirection::Dead, TimeFunction::proportional());
  beams.force("pull", beam.end(), force, LoadDirection::Dead, TimeFunction::proportional());
  for (MechanismBuilder* b : {&rods, &beams}) b->gravity({0, 0, -1}, TimeFunction::proportional());
  const Mechanism r = rods.build(), b = beams.build();
  LoadStepping ofRod(*r.model, {.steps = 4, .stability = false}), ofBeam(*b.model, {.steps = 4, .stability = false});
  runToEnd(ofRod), runToEnd(ofBeam);
  EXPECT_GT(std::abs(positionOf(r, ofRod.state(), elements)[2]), 0.2 * length);
  for (int i = 1; i <= elements; ++i)
    EXPECT_LE((positionOf(r, ofRod.state(), i) - positionOf(b, ofBeam.state(), i)).norm(), 1e-8 * length) << "node " << i;
}

namespace {

/// A curl that falls out of the shape it has without load. Returns the largest change of the energy over the fall, and the tip.
struct Fall {
  double drift = 0;
  Vector3 tip;
};
Fall fallOfACurl(double step) {
  MechanismBuilder builder;
  builder.gravity({0, 0, -9.81});
  const auto rod = builder.rod("curl", hair(), {.length = length, .elements = 6, .natural = [](double) { return Vector3(2, 4, 0); }});
  builder.clamp("wall", rod.start());
  const Mechanism m = builder.build();
  GeneralizedAlpha analysis(*m.model, {.duration = 0.3, .step = step, .rhoInfinity = 0.99});
  analysis.start();
  const double before = m.model->energy(analysis.state()).total();
  Fall fall;
  while (!analysis.finished()) {
    analysis.advance();
    fall.drift = std::max(fall.drift, std::abs(m.model->energy(analysis.state()).total() - before));
  }
  fall.tip = positionOf(m, analysis.state(), 6);
  return fall;
}

}

TEST(SuperHelixInMotion, KeepsItsEnergyInSecondOrder) {
  const Fall coarse = fallOfACurl(2e-3), fine = fallOfACurl(1e-3), finer = fallOfACurl(5e-4);
  EXPECT_LT(coarse.drift, 0.02 * lineMass * length * 9.81 * length);
  EXPECT_NEAR(coarse.drift / fine.drift, 4, 1.2);
  EXPECT_NEAR((coarse.tip - fine.tip).norm() / (fine.tip - finer.tip).norm(), 4, 1);
}

namespace {

/// What a flight free of all supports changes of momenta and energy, relative; a bob on a joint at the tip takes part.
Eigen::Vector3d changesInFlight(double step) {
  MechanismBuilder builder;
  const auto rod = builder.rod("rod", hair(),
                               {.length = length,
                                .elements = 5,
                                .natural = [](double) { return Vector3(1, 2, 1); },
                                .initial = [](double s) { return Vector3(0, 3 * s, 0); },
                                .velocity = {0.1, 0.2, 0},
                                .angularVelocity = {0, 1, 2}});
  const Pose tip = rod.end().frame(builder.model().state());
  const auto bob = builder.body("bob", MassProperties::sphere(1000, 0.03), tip);
  builder.joint(JointKind::Spherical, "hook", rod.end(), bob.at());
  const Mechanism m = builder.build();
  GeneralizedAlpha analysis(*m.model, {.duration = 0.05, .step = step, .rhoInfinity = 0.95});
  analysis.start();
  const Momentum before = m.model->momentum(analysis.state());
  const double energy = m.model->energy(analysis.state()).total();
  while (!analysis.finished()) analysis.advance();
  const Momentum after = m.model->momentum(analysis.state());
  return {(after.linear - before.linear).norm() / before.linear.norm(), (after.angular - before.angular).norm() / before.angular.norm(),
          std::abs(m.model->energy(analysis.state()).total() / energy - 1)};
}

}

/// Generalized-alpha keeps momenta and energy to second order of the step.
TEST(SuperHelixInMotion, FloatsWithABodyAtItsTip) {
  const Eigen::Vector3d coarse = changesInFlight(2e-4), fine = changesInFlight(1e-4);
  for (int i = 0; i < 3; ++i) {
    EXPECT_LT(fine[i], 2e-3) << i;
    EXPECT_NEAR(coarse[i] / fine[i], 4, 1) << i;
  }
}

/// Two rods, hinged to each other, as a double pendulum: stiff ones swing as rigid bars do.
TEST(SuperHelixInMotion, SwingsAsADoublePendulum) {
  const double L = 0.5, m = lineMass * L, g = 9.81, step = 1e-3, duration = 0.4;
  SectionProperties stiff = hair();
  stiff.stiffness.diagonal().tail<3>() *= 1e4;
  MechanismBuilder builder;
  builder.gravity({0, 0, -g});
  const Matrix3 hinge = so3::exp(Vector3(-M_PI / 2, 0, 0)); // e3 along y
  const auto first = builder.rod("first", stiff, {.length = L, .elements = 2});
  const auto second = builder.rod("second", stiff, {.length = L, .elements = 2, .begin = {Matrix3::Identity(), {L, 0, 0}}});
  builder.joint(JointKind::Revolute, "pin", builder.ground({hinge, Vector3::Zero()}), first.start({hinge, Vector3::Zero()}));
  builder.joint(JointKind::Revolute, "hinge", first.end({hinge, Vector3::Zero()}), second.start({hinge, Vector3::Zero()}));
  const Mechanism mechanism = builder.build();
  GeneralizedAlpha analysis(*mechanism.model, {.duration = duration, .step = step, .rhoInfinity = 0.6});
  runToEnd(analysis);
  // Bars of mass m, angles below the horizontal: (4/3) a'' + cos(a-b)/2 b'' = -sin(a-b)/2 b'^2 + (3/2)(g/L) cos a, and so on.
  const auto accelerations = [&](const Eigen::Vector4d& y) -> Eigen::Vector2d {
    const double c = std::cos(y[0] - y[1]) / 2, s = std::sin(y[0] - y[1]) / 2;
    Eigen::Matrix2d M;
    M << 4. / 3, c, c, 1. / 3;
    return M.inverse() * Eigen::Vector2d(-s * y[3] * y[3] + 1.5 * g / L * std::cos(y[0]), s * y[2] * y[2] + 0.5 * g / L * std::cos(y[1]));
  };
  const auto rates = [&](const Eigen::Vector4d& y) -> Eigen::Vector4d {
    Eigen::Vector4d f;
    f << y.tail<2>(), accelerations(y);
    return f;
  };
  Eigen::Vector4d y = Eigen::Vector4d::Zero();
  const double h = 1e-4;
  for (int i = 0; i < int(std::lround(duration / h)); ++i) {
    const Eigen::Vector4d k1 = rates(y), k2 = rates(y + h / 2 * k1), k3 = rates(y + h / 2 * k2), k4 = rates(y + h * k3);
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  const Vector3 expected(L * (std::cos(y[0]) + std::cos(y[1])), 0, -L * (std::sin(y[0]) + std::sin(y[1])));
  EXPECT_GT(m, 0);
  EXPECT_LE((positionOf(mechanism, analysis.state(), 2, 1) - expected).norm(), 5e-3 * L);
}

/// The tip carries a ball that falls onto a plane and stays there: no bounce with e = 0, no penetration beyond one step of the fall.
TEST(SuperHelixInMotion, FallsOntoAPlane) {
  const double ball = 0.02, h = 2e-4;
  MechanismBuilder builder;
  builder.gravity({0, 0, -9.81});
  SectionProperties stiff = hair(0.01);
  stiff.stiffness.diagonal().tail<3>() *= 200;
  const auto rod = builder.rod("rod", stiff, {.length = length, .elements = 5, .begin = {Matrix3::Identity(), {0, 0, 0.1}}});
  builder.joint(JointKind::Revolute, "pin", builder.ground({so3::exp(Vector3(-M_PI / 2, 0, 0)), {0, 0, 0.1}}),
                rod.start({so3::exp(Vector3(-M_PI / 2, 0, 0)), Vector3::Zero()}));
  const Marker &tip = rod.end(), &floor = builder.ground();
  const Mechanism m = builder.build();
  Shape sphere, plane;
  sphere.kind = Shape::Kind::Sphere, sphere.size = Vector3(ball, 0, 0);
  plane.kind = Shape::Kind::HalfSpace;
  ContactModel contacts;
  contacts.addPart({"floor", "", &floor, {CollisionShape(plane, "floor")}});
  contacts.addPart({"tip", "", &tip, {CollisionShape(sphere, "tip")}});
  contacts.addLaw({"floor", "tip", ContactLaw{.friction = 0.3}});
  Moreau analysis(*m.model, contacts, {.duration = 0.5, .step = h, .theta = 0.6});
  analysis.start();
  double lowest = 1, energy = m.model->energy(analysis.state()).total(), fastest = 0;
  bool hasTouched = false;
  while (!analysis.finished()) {
    analysis.advance();
    const Vector3 x = positionOf(m, analysis.state(), 5);
    lowest = std::min(lowest, x[2] - ball);
    fastest = std::max(fastest, tip.twist(analysis.state()).norm());
    hasTouched |= !analysis.contacts()->contacts.empty();
    const double now = m.model->energy(analysis.state()).total();
    EXPECT_LE(now, energy + 1e-4 * lineMass * length * 9.81 * length); // nothing drives it
    energy = now;
  }
  EXPECT_TRUE(hasTouched);
  EXPECT_GT(lowest, -h * fastest);
  EXPECT_NEAR(positionOf(m, analysis.state(), 5)[2], ball, 0.01);
}

}
