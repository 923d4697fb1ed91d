#include "tendril/dynamics/nonsmooth_alpha.h"

#include "contact_rig.h"
#include "flat_contacts.h"
#include "support/contact_curve_part.h"
#include "tendril/contact/contact_set.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace tendril::test {
namespace {

constexpr double g = 9.81;

MassProperties ball(double mass, double radius = 0.1) {
  return {mass, Vector3::Zero(), 0.4 * mass * radius * radius * Matrix3::Identity()};
}
Pose at(const Vector3& x, const Matrix3& R = Matrix3::Identity()) { return {R, x}; }

/// A mechanism and the contacts of its points, in the making; then the analysis.
struct Scene {
  MechanismBuilder builder;
  Mechanism mechanism;
  ContactModel parts;
  std::unique_ptr<NonsmoothAlpha> analysis;
  struct Touch {
    const Marker *first, *second;
    ContactLaw law;
    Vector3 normal;
    double distance;
  };
  std::vector<Touch> touches;

  explicit Scene(const Vector3& gravity = Vector3::Zero()) { builder.gravity(gravity); }
  void touch(const Marker& first, const Marker& second, const ContactLaw& law = {}, const Vector3& normal = Vector3::UnitZ(),
             double distance = 0) {
    touches.push_back({&first, &second, law, normal, distance});
  }
  void onFloor(const Marker& marker, const ContactLaw& law = {}, double height = 0) {
    touch(marker, builder.ground(), law, Vector3::UnitZ(), height);
  }
  void build() { mechanism = builder.build(); }
  std::unique_ptr<NonsmoothAlpha> make(const NonsmoothAlphaOptions& options) const {
    auto contacts = std::make_unique<FlatContacts>();
    for (const Touch& t : touches) contacts->add(*t.first, *t.second, t.law, t.normal, t.distance);
    return std::make_unique<NonsmoothAlpha>(*mechanism.model, options, parts, std::move(contacts));
  }
  void prepare(const NonsmoothAlphaOptions& options) {
    if (!mechanism.model) build();
    analysis = make(options);
    analysis->start();
  }
  const ContactReport& advance() {
    analysis->advance();
    return *analysis->contacts();
  }
  void run(const std::function<void(const ContactReport&)>& look = [](const ContactReport&) {}) {
    while (!analysis->finished()) look(advance());
  }
  const State& state() const { return analysis->state(); }
  Vector3 position(int body = 0) const { return state().q.segment<3>(12 * body); }
  /// In the inertial frame.
  Vector3 velocity(int body = 0) const {
    return Eigen::Map<const Matrix3>(state().q.data() + 12 * body + 3) * state().v.segment<3>(6 * body);
  }
  double energy() const { return mechanism.model->energy(state()).total(); }
};

NonsmoothAlphaOptions options(double duration, double step, double rho = 0.8) {
  return {.smooth = {.duration = duration, .step = step, .rhoInfinity = rho}};
}

// ---- impacts ---------------------------------------------------------------------------------------------------------------------------

TEST(NonsmoothAlpha, InelasticImpactOnAPlaneTakesTheNormalEnergy) {
  Scene s;
  const auto body = s.builder.body("ball", ball(3), at({0, 0, 0.35}), {1.5, 0, -2});
  s.onFloor(body.at());
  s.prepare(options(0.3, 0.0127));
  double dissipation = 0, impulse = 0;
  s.run([&](const ContactReport& r) {
    dissipation += r.dissipation;
    for (const ContactRecord& c : r.contacts) impulse += c.impulse[0];
  });
  EXPECT_NEAR(impulse, 3 * 2, 1e-8);
  EXPECT_NEAR(dissipation, 0.5 * 3 * 4, 1e-8);
  EXPECT_NEAR((s.velocity() - Vector3(1.5, 0, 0)).norm(), 0, 1e-8);
  EXPECT_NEAR(s.position().z(), 0, 1e-10);
}

TEST(NonsmoothAlpha, TwoBodiesLoseTheEnergyOfTheirReducedMass) {
  Scene s;
  const double m1 = 2, m2 = 5, v1 = 1.2, v2 = -0.7;
  const auto lower = s.builder.body("lower", ball(m1), at({0, 0, 0}), {0, 0, v1});
  const auto upper = s.builder.body("upper", ball(m2), at({0, 0, 0.5}), {0, 0, v2});
  s.touch(upper.at(), lower.at(), {}, Vector3::UnitZ(), 0.2);
  s.prepare(options(0.4, 0.011));
  const double before = s.energy();
  double dissipation = 0;
  s.run([&](const ContactReport& r) { dissipation += r.dissipation; });
  const double common = (m1 * v1 + m2 * v2) / (m1 + m2), loss = 0.5 * m1 * m2 / (m1 + m2) * (v1 - v2) * (v1 - v2);
  EXPECT_NEAR(s.velocity(0).z(), common, 1e-8);
  EXPECT_NEAR(s.velocity(1).z(), common, 1e-8);
  EXPECT_NEAR(before - s.energy(), loss, 1e-8);
  EXPECT_NEAR(dissipation, loss, 1e-8);
}

TEST(NonsmoothAlpha, ABodyThatStrikesAStackComesToRestWithIt) {
  Scene s;
  const auto lower = s.builder.body("lower", ball(2), at({0, 0, 0.1}));
  const auto upper = s.builder.body("upper", ball(5), at({0, 0, 0.5}), {0, 0, -1});
  s.touch(upper.at(), lower.at(), {}, Vector3::UnitZ(), 0.2);
  s.onFloor(lower.at(), {}, 0.1);
  s.prepare(options(0.4, 0.011));
  std::array<double, 2> impulse{};
  double dissipation = 0;
  s.run([&](const ContactReport& r) {
    dissipation += r.dissipation;
    for (std::size_t i = 0; i < 2; ++i) impulse[i] += r.contacts[i].impulse[0];
  });
  EXPECT_NEAR(s.state().v.norm(), 0, 1e-8);
  EXPECT_NEAR(impulse[0], 5, 1e-8);
  EXPECT_NEAR(impulse[1], 5, 1e-8);
  EXPECT_NEAR(dissipation, 2.5, 1e-8);
  EXPECT_NEAR(s.position(1).z(), 0.3, 1e-10);
}

TEST(NonsmoothAlpha, ABallReboundsByItsRestitutionAndNeverHigher) {
  for (double e : {1.0, 0.8, 0.5}) {
    SCOPED_TRACE(e);
    std::array<double, 2> errors{};
    for (int i = 0; i < 2; ++i) {
      Scene s({0, 0, -g});
      const auto body = s.builder.body("ball", ball(1), at({0, 0, 0.3}));
      s.onFloor(body.at(), {.restitution = e});
      const double fall = std::sqrt(2 * 0.3 / g);
      s.prepare(options(fall * (1 + e), 1e-3 / (1 << (3 * i))));
      const double before = s.energy();
      s.run([&](const ContactReport&) { EXPECT_LE(s.energy(), before * (1 + 1e-9)); });
      errors[std::size_t(i)] = std::abs(s.position().z() - e * e * 0.3);
    }
    EXPECT_LT(errors[0], 0.02 * 0.3);
    EXPECT_LT(errors[1], 0.0025 * 0.3);
  }
}

TEST(NonsmoothAlpha, ABouncingBallComesToRest) {
  Scene s({0, 0, -g});
  const auto body = s.builder.body("ball", ball(1), at({0, 0, 0.1}));
  s.onFloor(body.at(), {.restitution = 0.5});
  s.prepare(options(0.6, 1e-3)); // the bounces add up to 0.428 s
  s.run();
  EXPECT_NEAR(s.velocity().z(), 0, 1e-10);
  EXPECT_NEAR(s.position().z(), 0, 1e-10);
}

TEST(NonsmoothAlpha, AMovingPlateDoesTheWorkThatTheBodyGains) {
  Scene s({0, 0, -g});
  const double V = 0.4;
  const auto body = s.builder.body("ball", ball(2), at({0, 0, 0.0}));
  GroundMotion motion;
  motion.translation[2] = {"lift", [V](double t) { return Jet{V * t, V, 0}; }};
  s.touch(body.at(), s.builder.movingGround({}, motion));
  s.prepare(options(0.5, 1e-3));
  const double before = s.energy();
  double dissipation = 0, work = 0;
  s.run([&](const ContactReport& r) { dissipation += r.dissipation, work += r.work; });
  EXPECT_NEAR(s.velocity().z(), V, 1e-9);
  EXPECT_NEAR(s.position().z(), V * 0.5, 1e-9);
  // In the step of the impact the plate carries the weight at its full speed, the body on the average at half of it.
  EXPECT_NEAR(s.energy() - before, work - dissipation + 2 * g * V / 2 * 1e-3, 1e-9);
  // Half of what the plate gives in the impact is lost; later it works against the weight. The weight's impulse in the step of the impact
  // is lost in it too, hence the first order of the step.
  EXPECT_NEAR(work, 2 * V * V + 2 * g * V * 0.5, 2 * g * V * 2e-3);
  EXPECT_NEAR(dissipation, V * V, 2 * g * V * 2e-3);
}

// ---- position and velocity together ----------------------------------------------------------------------------------------------------

/// A beam on two pins over a floor, which its nodes may touch.
Scene bouncingBeam(const ContactLaw& law = {}) {
  Scene s({0, 0, -g});
  const auto section = SectionProperties::of(Section::circle(5.642e-3), {.youngsModulus = 210e6, .poissonRatio = 0.3, .density = 7200});
  const double height = 4 * 5.642e-3;
  const auto beam = s.builder.beam("beam", Curve::straight({0, 0, height}, {1, 0, height}), section, {.elements = 22});
  s.builder.joint(JointKind::Spherical, "left", s.builder.ground(at({0, 0, height})), beam.start());
  s.builder.joint(JointKind::Spherical, "right", s.builder.ground(at({1, 0, height})), beam.end());
  for (int node = 1; node < 22; ++node) s.onFloor(beam.node(node), law, 5.642e-3);
  s.build();
  return s;
}

TEST(NonsmoothAlpha, ABouncingBeamHasNoGapAndNoVelocityWhereItWasStruck) {
  Scene s = bouncingBeam();
  s.prepare(options(0.5, 1e-3));
  const double before = s.energy();
  bool wasActive = false;
  int impacts = 0, liftOffs = 0;
  double firstImpact = 0;
  s.run([&](const ContactReport& r) {
    bool isActive = false;
    EXPECT_LT(r.penetration, 1e-10);
    for (const ContactRecord& c : r.contacts) {
      EXPECT_GE(c.impulse[0], 0);
      EXPECT_GE(c.velocity[0] * (c.gap < 1e-10), -1e-9);
      if (!(c.impulse[0] > 0)) continue;
      isActive = true;
      EXPECT_NEAR(c.gap, 0, 1e-10);
      EXPECT_NEAR(c.velocity[0], 0, 1e-9);
    }
    if (isActive && impacts == 0) firstImpact = s.state().t;
    impacts += isActive && !wasActive, liftOffs += wasActive && !isActive;
    wasActive = isActive;
    EXPECT_LE(s.energy(), before + 1e-6 * 0.72 * g);
  });
  // Its middle falls freely until the bending reaches it.
  EXPECT_NEAR(firstImpact, std::sqrt(2 * 3 * 5.642e-3 / g), 5e-3);
  EXPECT_GE(impacts, 2);
  EXPECT_GE(liftOffs, 1);
}

// A beam falls onto one that is clamped at both ends: contact along curves.
struct FallenBeam {
  double firstContact = 0;
  Vector3 impulse, momentumError; ///< the second: of the upper beam, less impulse and weight
};

FallenBeam dropOnBeam(double mu, double step) {
  const double radius = 5e-3, length = 0.5, duration = 0.06;
  const auto section = SectionProperties::of(Section::circle(radius), {.youngsModulus = 1e9, .poissonRatio = 0.3, .density = 7200});
  const auto addUpper = [&](MechanismBuilder& b) {
    b.gravity({0, 0, -g});
    return b.beam("upper", Curve::straight({0, 0, 0.02}, {length, 0, 0.02}), section, {.elements = 10});
  };
  MechanismBuilder b, alone;
  addUpper(b);
  addUpper(alone);
  const auto lower = b.beam("lower", Curve::straight({0, 0, 0}, {length, 0, 0}), section, {.elements = 10});
  b.clamp("left", lower.start());
  b.clamp("right", lower.end());
  const Mechanism m = b.build(), upper = alone.build();
  ContactModel parts;
  for (const BeamPart& beam : m.beams) parts.addPart(curvePart(beam, radius));
  parts.addLaw({"upper", "lower", {.friction = mu}});
  NonsmoothAlpha analysis(*m.model, options(duration, step), parts, makeContactConstraints(*m.model, parts, {}));
  analysis.start();
  const double before = m.model->energy(analysis.state()).total();
  FallenBeam result{0, Vector3::Zero(), Vector3::Zero()};
  while (!analysis.finished()) {
    analysis.advance();
    const ContactReport& r = *analysis.contacts();
    for (const ContactRecord& c : r.contacts) {
      if (!(c.impulse[0] > 0)) continue;
      if (result.firstContact == 0) result.firstContact = analysis.state().t;
      result.impulse += c.frame * c.impulse;
      EXPECT_NEAR(c.gap, 0, 1e-10);
      EXPECT_NEAR(c.velocity[0], 0, 1e-9);
    }
    EXPECT_LT(r.penetration, 1e-10);
    EXPECT_LE(m.model->energy(analysis.state()).total(), before);
  }
  // The upper beam's blocks are the first.
  State state = upper.model->initialState();
  state.q = analysis.state().q.head(state.q.size()), state.v = analysis.state().v.head(state.v.size());
  const double weight = 7200 * std::numbers::pi * radius * radius * length * g;
  result.momentumError = upper.model->momentum(state).linear - result.impulse + Vector3(0, 0, weight * duration);
  return result;
}

TEST(NonsmoothAlpha, ABeamThatFallsOnAnotherTouchesItWithoutGapAndGainsNoEnergy) {
  for (double mu : {0.0, 0.2}) {
    SCOPED_TRACE(mu);
    const FallenBeam fallen = dropOnBeam(mu, 1e-4);
    EXPECT_NEAR(fallen.firstContact, std::sqrt(2 * 0.01 / g), 2e-4); // beside the clamps, which do not move
    // Velocities live in frames that turn: momentum is kept to the order of the step.
    EXPECT_LT(fallen.momentumError.norm(), 2e-5 * fallen.impulse.norm());
  }
}

TEST(FullNonsmoothAlpha, MomentumChangesByTheImpulsesToTheOrderOfTheStep) {
  for (double mu : {0.0, 0.2}) {
    SCOPED_TRACE(mu);
    const FallenBeam fallen = dropOnBeam(mu, 1.25e-5);
    EXPECT_LT(fallen.momentumError.norm(), 1e-6 * fallen.impulse.norm());
  }
}

double driftOnASlope(int steps) {
  Scene s({0, 0, -g});
  const Matrix3 slope = so3::exp(Vector3(0.2, 0.3, 0));
  const auto body = s.builder.body("ball", ball(1), at(slope * Vector3(0, 0, 0.1), slope), slope * Vector3(0, 0.3, -0.5));
  s.touch(body.at(), s.builder.ground(), {.friction = 0.2}, slope.col(2), 0.1);
  s.prepare(options(steps * 1e-4, 1e-4));
  double worst = 0;
  s.run([&](const ContactReport& r) {
    for (const ContactRecord& c : r.contacts) worst = std::max({worst, std::abs(c.gap), std::abs(c.velocity[0])});
  });
  EXPECT_NEAR(s.state().t, steps * 1e-4, 1e-9);
  return worst;
}

TEST(NonsmoothAlpha, NothingDriftsInLastingContact) { EXPECT_LT(driftOnASlope(10000), 1e-10); }
TEST(FullNonsmoothAlpha, NothingDriftsInLastingContact) { EXPECT_LT(driftOnASlope(100000), 1e-10); }

TEST(NonsmoothAlpha, WithoutContactItIsGeneralizedAlphaToTheLastBit) {
  Scene s;
  const auto section = SectionProperties::of(Section::circle(0.02), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1000});
  const auto beam = s.builder.beam("rod", Curve::straight({0, 0, 5}, {1, 0, 5}), section,
                                   {.elements = 6, .velocity = {1, 2, 0.3}, .angularVelocity = {0, 3, 1}});
  s.builder.joint(JointKind::Spherical, "pin", s.builder.ground(at({0, 0, 5})), beam.start());
  s.onFloor(beam.end());
  s.prepare(options(0.2, 1e-3));
  GeneralizedAlpha smooth(*s.mechanism.model, options(0.2, 1e-3).smooth);
  smooth.start();
  while (!smooth.finished()) {
    smooth.advance();
    s.advance();
    ASSERT_EQ(s.state().t, smooth.state().t);
    ASSERT_EQ(s.state().q, smooth.state().q);
    ASSERT_EQ(s.state().v, smooth.state().v);
    ASSERT_EQ(s.state().a, smooth.state().a);
    ASSERT_EQ(s.state().lambda, smooth.state().lambda);
  }
  EXPECT_TRUE(s.analysis->finished());
}

TEST(NonsmoothAlpha, SecondOrderInLastingContact) {
  const auto end = [](double step) {
    Scene s({0, 0, -g});
    const auto bead = s.builder.body("bead", ball(1), at({0.3, 0, 0}), {0, 1, 0}, {0.5, 1, 2});
    s.builder.model().term<LinearSprings>().add("spring", s.builder.ground(at({0, 0, 0.2})), bead.at(), {.stiffness = 40, .rest = 0.1});
    s.onFloor(bead.at());
    NonsmoothAlphaOptions o = options(0.8, step);
    o.smooth.tolerances = {1e-11, 1e-13};
    s.prepare(o);
    s.run([](const ContactReport& r) { EXPECT_GT(r.contacts[0].impulse[0], 0); });
    return s.state();
  };
  const State coarse = end(0.02), middle = end(0.01), fine = end(0.005);
  EXPECT_NEAR(std::log2((coarse.q - middle.q).norm() / (middle.q - fine.q).norm()), 2, 0.15);
  EXPECT_NEAR(std::log2((coarse.v - middle.v).norm() / (middle.v - fine.v).norm()), 2, 0.15);
}

// The normal turns, and nothing but gravity does work.
TEST(NonsmoothAlpha, ABeadThatSlidesDownASphereKeepsItsEnergyAndLeavesWhereItMust) {
  const double radius = 1, speed = 1;
  std::array<double, 2> lost{};
  for (int i = 0; i < 2; ++i) {
    ContactRig rig({0, -g, 0});
    rig.sphere("bead", 1, 0.1, {0, radius, 0}, {speed, 0, 0}, {0, 0, 3});
    rig.part("ball", rig.builder.ground(), ContactRig::shape(Shape::Kind::Sphere, {radius - 0.1, 0, 0}));
    rig.contacts.addLaw({"all", "all", {}});
    rig.mechanism = rig.builder.build();
    const Model& model = *rig.mechanism.model;
    NonsmoothAlpha analysis(model, options(0.6, 5e-3 / (1 << i)), rig.contacts, makeContactConstraints(model, rig.contacts, {}));
    analysis.start();
    const double before = model.energy(analysis.state()).total();
    double height = radius;
    for (;;) {
      analysis.advance();
      const auto& contacts = analysis.contacts()->contacts;
      if (contacts.empty() || !(contacts[0].impulse[0] > 0)) break;
      height = analysis.state().q[1];
      lost[std::size_t(i)] = std::abs(model.energy(analysis.state()).total() - before);
    }
    // m g cos = m v^2 / R with v^2 = v0^2 + 2 g R (1 - cos).
    EXPECT_NEAR(height, (2 * radius + speed * speed / g) / 3, 2e-2 / (1 << i));
  }
  EXPECT_LT(lost[0], 1e-3);
  EXPECT_LT(lost[1], 0.3 * lost[0]);
}

// ---- friction --------------------------------------------------------------------------------------------------------------------------

TEST(NonsmoothAlpha, ABlockSlidesAsFarAsFrictionLetsIt) {
  const double mu = 0.3, v0 = 1.7;
  for (double step : {4e-3, 1e-3}) {
    SCOPED_TRACE(step);
    Scene s({0, 0, -g});
    const auto block = s.builder.body("block", ball(2), at({0, 0, 0}), {v0 * 0.6, v0 * 0.8, 0});
    s.onFloor(block.at(), {.friction = mu});
    s.prepare(options(1, step));
    double dissipation = 0;
    s.run([&](const ContactReport& r) { dissipation += r.dissipation; });
    const Vector3 x = s.position();
    // The stop takes the last step as a whole.
    EXPECT_NEAR(x.norm(), v0 * v0 / (2 * mu * g), 0.5 * mu * g * step * step);
    EXPECT_NEAR(x.x() / x.y(), 0.75, 1e-6);
    EXPECT_NEAR(s.state().v.head<3>().norm(), 0, 1e-9);
    EXPECT_NEAR(dissipation, 0.5 * 2 * v0 * v0, 1e-6 * v0 * v0);
    EXPECT_EQ(s.analysis->contacts()->contacts[0].status, ContactStatus::Stick);
  }
}

/// A brick is thrown onto the floor, tumbles, slides and comes to rest. Returns the sum of all that its energy ever rose.
double throwBrick(double step) {
  const double mu = 0.4;
  Scene s({0, 0, -g});
  const MassProperties brick = MassProperties::box(700, {0.3, 0.2, 0.1});
  const auto body = s.builder.body("brick", brick, at({0, 0, 0.4}, so3::exp(Vector3(0.4, -0.3, 0.2))), {1, 0.5, -1}, {3, -2, 4});
  for (double x : {-0.15, 0.15}) {
    for (double y : {-0.1, 0.1}) {
      for (double z : {-0.05, 0.05}) s.onFloor(body.at(at({x, y, z})), {.friction = mu});
    }
  }
  s.prepare(options(1.5, step));
  const double start = s.energy();
  int active = 0;
  double energy = start, rises = 0;
  s.run([&](const ContactReport& r) {
    for (const ContactRecord& c : r.contacts) {
      const double N = c.impulse[0];
      active += N > 0;
      EXPECT_GE(N, 0);
      EXPECT_LE(c.impulse.tail<2>().norm(), mu * N + 1e-11);
      EXPECT_LE(c.impulse.tail<2>().dot(c.velocity.tail<2>()), 1e-11);
    }
    EXPECT_GE(r.dissipation, -1e-9);
    EXPECT_LT(r.penetration, 1e-10);
    rises += std::max(s.energy() - energy, 0.0);
    energy = s.energy();
  });
  EXPECT_GT(active, 500);
  EXPECT_NEAR(s.state().v.norm(), 0, 1e-9);
  EXPECT_NEAR(energy, brick.mass * g * 0.05, 1e-8); // on its largest face
  EXPECT_LT(rises, 1e-3 * start);
  return rises;
}

TEST(NonsmoothAlpha, ImpulsesObeyTheLawAndFrictionNeverDrives) {
  // Impacts leave the smooth accelerations of the step before behind: to first order of the step energy may rise.
  EXPECT_LT(throwBrick(5e-4), 0.6 * throwBrick(1e-3));
}

// ---- joints ----------------------------------------------------------------------------------------------------------------------------

TEST(NonsmoothAlpha, APendulumThatStrikesAWallKeepsItsJoint) {
  Scene s({0, 0, -g});
  const double length = 0.8, mass = 1.5;
  const MassProperties rod{mass, {0, 0, -length / 2}, Vector3(mass * length * length / 12, mass * length * length / 12, 1e-3).asDiagonal()};
  const auto body = s.builder.body("rod", rod, at({0, 0, 0}, so3::exp(Vector3(0, -1.1, 0))));
  const Matrix3 axis = so3::exp(Vector3(std::numbers::pi / 2, 0, 0));
  s.builder.joint(JointKind::Revolute, "hinge", s.builder.ground(at({0, 0, 0}, axis)), body.at(at({0, 0, 0}, axis)));
  s.touch(body.at(at({0, 0, -length})), s.builder.ground(), {}, Vector3::UnitX());
  s.prepare(options(0.7, 1e-3));
  KktSystem kkt(*s.mechanism.model, {});
  const double before = s.energy();
  double impulse = 0, speed = 0;
  s.run([&](const ContactReport& r) {
    kkt.evaluate(s.state(), {.motion = true, .tangent = true, .timeRate = true});
    EXPECT_LT(kkt.assembly().constraint().norm(), 1e-9);
    if (r.contacts[0].impulse[0] > 0) {
      EXPECT_LT((kkt.assembly().gradient() * s.state().v + kkt.assembly().constraintRate()).norm(), 1e-9);
    }
    if (impulse == 0 && r.contacts[0].impulse[0] > 0) impulse = r.contacts[0].impulse[0];
    if (impulse == 0) speed = s.state().v[4];
  });
  // From rest at 1.1 rad to the vertical: I omega^2 / 2 = m g (l/2) (1 - cos 1.1); the wall takes I omega at the distance l.
  const double inertia = mass * length * length / 3, omega = std::sqrt(mass * g * length * (1 - std::cos(1.1)) / inertia);
  EXPECT_NEAR(std::abs(speed), omega, 1e-3 * omega);
  EXPECT_NEAR(impulse, inertia * omega / length, 2e-3 * impulse);
  EXPECT_NEAR(before - s.energy(), 0.5 * inertia * omega * omega, 1e-6 * std::abs(before));
}

// ---- as an analysis --------------------------------------------------------------------------------------------------------------------

TEST(NonsmoothAlpha, ARestoredRunGoesOnWithTheSameBits) {
  Scene s = bouncingBeam({.friction = 0.3});
  s.prepare(options(0.2, 1e-3));
  for (int i = 0; i < 80; ++i) s.advance();
  const Snapshot snapshot = s.analysis->save();
  const auto resumed = s.make(options(0.2, 1e-3));
  resumed->restore(snapshot);
  ASSERT_EQ(resumed->state().q, s.state().q);
  ASSERT_EQ(resumed->state().a, s.state().a);
  bool touches = false;
  while (!s.analysis->finished()) {
    s.advance();
    touches = touches || s.analysis->contacts()->dissipation > 0;
    const StepReport& report = resumed->advance();
    ASSERT_EQ(report.t, s.state().t);
    ASSERT_EQ(resumed->state().q, s.state().q);
    ASSERT_EQ(resumed->state().v, s.state().v);
    ASSERT_EQ(resumed->state().a, s.state().a);
    ASSERT_EQ(resumed->state().lambda, s.state().lambda);
  }
  EXPECT_TRUE(touches);
  EXPECT_TRUE(resumed->finished());
}

TEST(NonsmoothAlpha, ContactOfVelocitiesAloneStopsTheSameButLeavesTheOverlap) {
  Scene s({0, 0, -g});
  const auto body = s.builder.body("ball", ball(1), at({0, 0, 0.05}));
  s.onFloor(body.at());
  NonsmoothAlphaOptions o = options(0.3, 1e-3);
  o.positionLevel = false;
  s.prepare(o);
  double deepest = 0, after = 0;
  s.run([&](const ContactReport& r) {
    after = r.penetration;
    deepest = std::max(deepest, after);
  });
  EXPECT_NEAR(s.velocity().z(), 0, 1e-9);
  EXPECT_LT(deepest, std::sqrt(2 * g * 0.05) * 1e-3); // step x speed
  EXPECT_GT(deepest, 0);
  EXPECT_NEAR(after, deepest, 1e-12); // it does not sink
}

TEST(NonsmoothAlpha, OverlapAtTheStartIsRefusedOrTakenOut) {
  Scene s;
  const auto body = s.builder.body("ball", ball(1), at({0, 0, 0.05}));
  s.onFloor(body.at(), {}, 0.1);
  s.build();
  NonsmoothAlphaOptions o = options(0.1, 1e-2);
  EXPECT_THROW(s.make(o)->start(), InputError);
  o.projectInitial = true;
  s.prepare(o);
  EXPECT_NEAR(s.position().z(), 0.1, 1e-10);
  ASSERT_FALSE(s.analysis->messages().empty());
  EXPECT_NE(s.analysis->messages().back().find("by 0.05 m"), std::string::npos);
  s.run();
  EXPECT_NEAR(s.position().z(), 0.1, 1e-10);
}

TEST(NonsmoothAlpha, AContactThatIsNotSolvedEndsInAFailureThatNamesItAndKeepsTheState) {
  Scene s({0, 0, -g});
  const auto body = s.builder.body("ball", ball(1), at({0, 0, 0.01}));
  s.onFloor(body.at());
  NonsmoothAlphaOptions o = options(0.2, 1e-2);
  o.contact.maxIterations = 0;
  s.prepare(o);
  State last = s.state();
  try {
    for (;;) {
      s.advance();
      last = s.state();
    }
  } catch (const NumericalFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("point 1"), std::string::npos) << failure.what();
  }
  EXPECT_EQ(s.state().t, last.t);
  EXPECT_EQ(s.state().q, last.q);
  EXPECT_NEAR(last.t, std::sqrt(2 * 0.01 / g), 1e-2 / 4); // the surfaces meet
}

}
}
