#include "tendril/dynamics/moreau.h"

#include "tendril/dynamics/event_driven.h"
#include "tendril/dynamics/sweeping.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tendril {
namespace {

Shape shapeOf(Shape::Kind kind, const Vector3& size) {
  Shape shape;
  shape.kind = kind;
  shape.size = size;
  return shape;
}

/// A scene in the making: bodies on a floor.
struct Rig {
  MechanismBuilder builder;
  ContactModel contacts;
  Mechanism mechanism;
  std::unique_ptr<Moreau> analysis;

  Rig() { builder.gravity({0, 0, -9.81}); }

  void carry(const std::string& name, const Marker& marker, const Shape& shape) {
    contacts.addPart({name, "", &marker, {CollisionShape(shape, name)}});
  }
  void floor(double angle = 0) {
    carry("floor", builder.ground({so3::exp(Vector3(0, angle, 0)), Vector3::Zero()}), shapeOf(Shape::Kind::HalfSpace, Vector3::Zero()));
  }
  MechanismBuilder::BodyHandle box(const std::string& name, const Vector3& edges, const Pose& pose,
                                   const Vector3& velocity = Vector3::Zero()) {
    const auto body = builder.body(name, MassProperties::box(1000, edges), pose, velocity);
    carry(name, body.at(), shapeOf(Shape::Kind::Box, edges));
    return body;
  }
  MechanismBuilder::BodyHandle sphere(const std::string& name, double radius, const Vector3& x, const Vector3& velocity = Vector3::Zero(),
                                      const Vector3& spin = Vector3::Zero()) {
    const auto body = builder.body(name, MassProperties::sphere(1000, radius), {Matrix3::Identity(), x}, velocity, spin);
    carry(name, body.at(), shapeOf(Shape::Kind::Sphere, Vector3(radius, 0, 0)));
    return body;
  }
  Moreau& start(const MoreauOptions& options) {
    mechanism = builder.build();
    analysis = std::make_unique<Moreau>(*mechanism.model, contacts, options);
    analysis->start();
    return *analysis;
  }
  Vector3 position(int body) const { return analysis->state().q.segment<3>(12 * body); }
};

void runToEnd(Moreau& analysis) {
  while (!analysis.finished()) analysis.advance();
}

// ---- contact and joints together -------------------------------------------------------------------------------------------------------

/// A uniform plank, hinged at one end and resting with the other on a block that stands on the floor.
TEST(MoreauWithJoints, HingedPlankSharesItsWeightWithItsSupport) {
  Rig rig;
  rig.floor();
  const double L = 2, g = 9.81;
  rig.box("block", {0.2, 0.4, 0.5}, {Matrix3::Identity(), {L, 0, 0.25}});
  const auto plank = rig.box("plank", {L, 0.4, 0.1}, {Matrix3::Identity(), {L / 2, 0, 0.55}});
  rig.builder.joint(JointKind::Revolute, "hinge", rig.builder.ground({so3::exp(Vector3(-M_PI / 2, 0, 0)), {0, 0, 0.55}}),
                    plank.at({so3::exp(Vector3(-M_PI / 2, 0, 0)), {-L / 2, 0, 0}}));
  rig.contacts.addLaw({"all", "all", ContactLaw{.friction = 0.5}});
  Moreau& analysis = rig.start({.duration = 0.2, .step = 1e-3});
  runToEnd(analysis);
  const double weight = 1000 * L * 0.4 * 0.1 * g, block = 1000 * 0.2 * 0.4 * 0.5 * g;
  // Moments about the hinge: normal forces and the thrust that friction may hold between hinge and support.
  double moment = 0, support = 0, floor = 0;
  for (const ContactRecord& c : analysis.contacts()->contacts) {
    const Vector3 force = c.frame * c.impulse / 1e-3; // on the first part
    const std::string& first = rig.contacts.parts()[std::size_t(c.first)].name;
    const std::string& second = rig.contacts.parts()[std::size_t(c.second)].name;
    const Vector3 onPlank = first == "plank" ? force : Vector3(-force);
    if (second == "floor")
      floor += force.z();
    else
      support += onPlank.z(), moment += onPlank.z() * c.position.x() - onPlank.x() * (c.position.z() - 0.55);
  }
  EXPECT_NEAR(moment, weight * L / 2, 1e-6 * weight);
  EXPECT_NEAR(floor, block + support, 1e-6 * weight);
  EXPECT_LT(analysis.state().v.norm(), 1e-9);
  EXPECT_LT((rig.position(1) - Vector3(L / 2, 0, 0.55)).norm(), 1e-9);
}

/// A double pendulum that swings into a wall: the joint holds through the impact.
TEST(MoreauWithJoints, ImpactOfAPendulumAgainstAWall) {
  Rig rig;
  // A rod of length 1 hinged at the origin, hanging level, falls and meets a wall at x = 0.05 with its tip sphere.
  const double L = 1, r = 0.05;
  const auto rod = rig.builder.body("rod", MassProperties::box(1000, {0.02, 0.02, L}), {so3::exp(Vector3(0, M_PI / 2, 0)), {-L / 2, 0, 0}});
  rig.carry("rod", rod.at({Matrix3::Identity(), {0, 0, -L / 2}}), shapeOf(Shape::Kind::Sphere, {r, 0, 0}));
  rig.builder.joint(JointKind::Revolute, "hinge", rig.builder.ground({so3::exp(Vector3(-M_PI / 2, 0, 0)), Vector3::Zero()}),
                    rod.at({so3::exp(Vector3(-M_PI / 2, 0, 0)), {0, 0, L / 2}}));
  rig.carry("wall", rig.builder.ground({so3::exp(Vector3(0, -M_PI / 2, 0)), {r, 0, 0}}), shapeOf(Shape::Kind::HalfSpace, Vector3::Zero()));
  const double e = 0.5;
  rig.contacts.addLaw({"all", "all", ContactLaw{.restitution = e}});
  Moreau& analysis = rig.start({.duration = 2, .step = 1e-4});
  // Falls by pi/2 about the hinge: omega^2 = 3 g / L at the bottom; rebounds with e omega, to cos(phi) = 1 - e^2.
  double largest = 0, worst = 0;
  bool hasHit = false;
  while (!analysis.finished() && !(hasHit && analysis.state().v[4] * largest > 0)) {
    analysis.advance();
    const double omega = analysis.state().v[4];
    if (!hasHit && std::abs(omega) > std::abs(largest)) largest = omega;
    for (const ContactRecord& c : analysis.contacts()->contacts) {
      if (!(c.impulse[0] > 0) || hasHit) continue;
      hasHit = true;
      EXPECT_NEAR(c.velocity[0], -e * c.velocityBefore[0], 1e-9);
    }
    worst = std::max(worst, (rig.position(0) + loadPose(analysis.state().q.data()).R * Vector3(0, 0, L / 2)).norm());
  }
  EXPECT_NEAR(std::abs(largest), std::sqrt(3 * 9.81 / L), 2e-3);
  EXPECT_LT(worst, 1e-10);
  const double angle = std::acos(-(loadPose(analysis.state().q.data()).R * Vector3(0, 0, -1)).z());
  EXPECT_NEAR(std::cos(angle), 1 - e * e, 5e-3);
}

/// A pendulum of a uniform rod, released level, keeps its energy, also through a last step that is a small part of the others.
TEST(MoreauWithJoints, PendulumKeepsItsEnergyThroughAShortLastStep) {
  Rig rig;
  const Matrix3 axis = so3::exp(Vector3(-M_PI / 2, 0, 0));
  const auto rod = rig.builder.body("rod", MassProperties::box(1000, {1, 0.02, 0.02}), {Matrix3::Identity(), {0.5, 0, 0}});
  rig.builder.joint(JointKind::Revolute, "hinge", rig.builder.ground({axis, Vector3::Zero()}), rod.at({axis, {-0.5, 0, 0}}));
  const double h = 1e-3;
  Moreau& analysis = rig.start({.duration = 0.4 + 1e-4 * h, .step = h});
  const auto energy = [&] { return rig.mechanism.model->energy(analysis.state()).total(); };
  const double E = energy();
  runToEnd(analysis);
  EXPECT_NEAR(analysis.state().t, 0.4 + 1e-4 * h, 1e-15);
  const double fallen = 1000 * 0.02 * 0.02 * 9.81 * -rig.position(0).z();
  EXPECT_GT(fallen, 1);
  const double turned = h * analysis.state().v.segment<3>(3).norm(); // in a step: the rule is of second order in it
  EXPECT_NEAR(energy(), E, turned * turned * fallen);
  // The centre moves across the rod, not along it.
  EXPECT_LT(std::abs(analysis.state().v[0]), 1e-5);
}

/// A drive presses a box into the floor: nothing can give way, and no impulse is a solution.
TEST(MoreauWithJoints, ABoxDrivenIntoTheFloorIsRefusedByName) {
  Rig rig;
  rig.floor();
  const auto box = rig.box("press", {0.2, 0.2, 0.2}, {Matrix3::Identity(), {0, 0, 0.101}});
  JointParameters drive;
  drive.motion = TimeFunction{"-0.1 t", [](double t) { return Jet{-0.1 * t, -0.1, 0}; }};
  rig.builder.joint(JointKind::DrivenTranslation, "drive", rig.builder.ground({Matrix3::Identity(), {0, 0, 0.101}}), box.at(), drive);
  rig.contacts.addLaw({"all", "all", ContactLaw{.friction = 0.3}});
  Moreau& analysis = rig.start({.duration = 0.1, .step = 1e-3});
  try {
    runToEnd(analysis);
    FAIL() << "the box went to " << rig.position(0).z();
  } catch (const NumericalFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("'press' and 'floor'"), std::string::npos) << failure.what();
    EXPECT_NE(std::string(failure.what()).find("step "), std::string::npos);
  }
  EXPECT_NEAR(rig.position(0).z(), 0.1, 2e-3); // the last state that was accepted
}

/// A spinning box between walls, elastic and smooth: its energy is that of the start after every impact, at any step.
TEST(MoreauFreeFlight, ElasticImpactsOfASpinningBoxKeepItsEnergy) {
  Rig rig;
  rig.builder.gravity(Vector3::Zero());
  const auto wall = [&](const std::string& name, double x, double turn) {
    rig.carry(name, rig.builder.ground({so3::exp(Vector3(0, turn, 0)), {x, 0, 0}}), shapeOf(Shape::Kind::HalfSpace, Vector3::Zero()));
  };
  wall("left", -0.5, M_PI / 2);
  wall("right", 0.5, -M_PI / 2);
  const Vector3 edges(0.1, 0.2, 0.3);
  const auto body =
      rig.builder.body("box", MassProperties::box(1000, edges), {so3::exp(Vector3(0.4, 0.2, 0.1)), Vector3::Zero()}, {2, 0, 0}, {1, 5, -3});
  rig.carry("box", body.at(), shapeOf(Shape::Kind::Box, edges));
  rig.contacts.addLaw({"all", "all", ContactLaw{.restitution = 1}});
  Moreau& analysis = rig.start({.duration = 3, .step = 5e-3});
  const double E = rig.mechanism.model->energy(analysis.state()).total();
  double worst = 0;
  int impacts = 0;
  while (!analysis.finished()) {
    analysis.advance();
    worst = std::max(worst, std::abs(rig.mechanism.model->energy(analysis.state()).total() - E));
    for (const ContactRecord& c : analysis.contacts()->contacts) impacts += c.impulse[0] > 0;
  }
  EXPECT_GT(impacts, 2);
  EXPECT_LT(worst, 1e-6 * E); // the tolerance of the friction problem
}

// ---- positions -------------------------------------------------------------------------------------------------------------------------

/// Without restitution a ball stops where it touches. With it, it sinks in by the way of half a step, comes out by its own rebound, and
/// comes to rest without overlap.
TEST(MoreauPositions, NothingIsLeftOfAnImpactOverlap) {
  const double h = 1e-2;
  for (const double e : {0.0, 0.4}) {
    Rig rig;
    rig.floor();
    rig.sphere("ball", 0.1, {0, 0, 1.1});
    rig.contacts.addLaw({"all", "all", ContactLaw{.restitution = e}});
    Moreau& analysis = rig.start({.duration = 3, .step = h});
    double worst = 0, worstLate = 0;
    while (!analysis.finished()) {
      analysis.advance();
      double& largest = analysis.state().t < 1.5 ? worst : worstLate;
      largest = std::max(largest, analysis.contacts()->penetration);
    }
    EXPECT_LE(worst, e > 0 ? h * std::sqrt(2 * 9.81) : 1e-6 * 0.2);
    EXPECT_LE(worstLate, 1e-6 * 0.2);
    EXPECT_NEAR(rig.position(0).z(), 0.1, 1e-6);
    EXPECT_EQ(analysis.state().v.norm(), 0);
  }
}

/// A ball in a hollow one, whose solid reaches to infinity, comes to rest at its bottom.
TEST(MoreauPositions, AHollowObstacleHoldsWhatIsInside) {
  Rig rig;
  Shape room = shapeOf(Shape::Kind::Sphere, {1, 0, 0});
  room.hollow = true;
  rig.carry("room", rig.builder.ground(), room);
  rig.sphere("ball", 0.1, {0, 0, 0});
  rig.contacts.addLaw({"all", "all", ContactLaw{}});
  Moreau& analysis = rig.start({.duration = 1, .step = 1e-3});
  runToEnd(analysis);
  EXPECT_NEAR(rig.position(0).z(), -0.9, 1e-6);
}

TEST(MoreauPositions, OverlapAtTheStartIsNamedAndCanBeTakenOut) {
  const auto build = [](Rig& rig, bool project) -> Moreau& {
    rig.floor();
    rig.sphere("left", 0.1, {0, 0, 0.1});
    rig.sphere("right", 0.1, {0.15, 0, 0.1});
    rig.contacts.addLaw({"all", "all", ContactLaw{}});
    return rig.start({.duration = 0.1, .step = 1e-3, .projectInitial = project});
  };
  try {
    Rig rig;
    build(rig, false);
    FAIL() << "the overlap was accepted";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("'left' and 'right' by 0.05 m"), std::string::npos) << message;
    EXPECT_NE(message.find("project_initial"), std::string::npos);
  }
  Rig rig;
  build(rig, true);
  EXPECT_NEAR((rig.position(1) - rig.position(0)).norm(), 0.2, 1e-6);
  EXPECT_NEAR(rig.position(0).x() + rig.position(1).x(), 0.15, 1e-9); // equal masses move alike
}

// ---- free flight and elasticity --------------------------------------------------------------------------------------------------------

/// A box whose frame is not at its centre of mass spins about no principal axis: its centre still follows the parabola, its energy and the
/// length of its angular momentum stay, at any step.
TEST(MoreauFreeFlight, SpinningBoxKeepsItsInvariants) {
  Rig rig;
  MassProperties mass = MassProperties::box(1000, {0.1, 0.2, 0.4});
  const Vector3 c(0.03, -0.02, 0.05);
  mass.centre = c;
  const Pose pose{so3::exp(Vector3(0.3, -0.2, 0.5)), {1, 2, 3}};
  const Vector3 spin(3, 7, -5), velocity(1, 0, 2);
  rig.builder.body("box", mass, pose, velocity, spin);
  const double h = 5e-3;
  Moreau& analysis = rig.start({.duration = 1, .step = h});
  const auto energy = [&] { return rig.mechanism.model->energy(analysis.state()).total(); };
  const auto centre = [&] { return Vector3(loadPose(analysis.state().q.data()) * c); };
  const auto spinMomentum = [&] {
    const Momentum m = rig.mechanism.model->momentum(analysis.state());
    return Vector3(m.angular - centre().cross(m.linear));
  };
  const double E = energy(), L = spinMomentum().norm();
  const Vector3 x = centre(), v = velocity + spin.cross(pose.R * c), g(0, 0, -9.81);
  double worstEnergy = 0, worstLength = 0, worstPlace = 0;
  while (!analysis.finished()) {
    analysis.advance();
    const double t = analysis.state().t;
    worstPlace = std::max(worstPlace, (centre() - x - t * v - 0.5 * t * t * g).norm());
    worstEnergy = std::max(worstEnergy, std::abs(energy() - E));
    worstLength = std::max(worstLength, std::abs(spinMomentum().norm() - L));
  }
  EXPECT_LT(worstPlace, 1e-11);
  EXPECT_LT(worstEnergy, 1e-11 * std::abs(E));
  EXPECT_LT(worstLength, 1e-11 * L);
}

/// theta = 1/2 is the trapezoidal rule for a linear oscillator: its energy stays, whatever the step.
TEST(MoreauElasticity, MidpointKeepsTheEnergyOfALinearOscillator) {
  Rig rig;
  rig.builder.gravity(Vector3::Zero());
  const auto body = rig.builder.body("mass", MassProperties::sphere(1000, 0.1), {Matrix3::Identity(), {1, 0, 0}}, {0.5, 0, 0});
  rig.builder.model().term<LinearSprings>().add("spring", rig.builder.ground(), body.at(), SpringParameters{500, 0, 0.8});
  Moreau& analysis = rig.start({.duration = 2, .step = 0.02});
  const double E = rig.mechanism.model->energy(analysis.state()).total();
  double worst = 0;
  while (!analysis.finished()) {
    analysis.advance();
    worst = std::max(worst, std::abs(rig.mechanism.model->energy(analysis.state()).total() - E));
  }
  EXPECT_LT(worst, 1e-12 * E);
}

/// A cantilever whose tip rests on the floor: the support of a propped cantilever under its own weight carries 3/8 of it.
TEST(MoreauElasticity, BeamRestsOnTheFloor) {
  Rig rig;
  rig.floor();
  const double L = 1, r = 0.02;
  const auto section = SectionProperties::of(Section::circle(0.01), {.youngsModulus = 2e11, .poissonRatio = 0.3, .density = 7800});
  const auto beam = rig.builder.beam("beam", Curve::straight({0, 0, r}, {L, 0, r}), section, {.elements = 16});
  rig.builder.clamp("wall", beam.start());
  rig.carry("tip", beam.end(), shapeOf(Shape::Kind::Sphere, {r, 0, 0}));
  rig.contacts.addLaw({"all", "all", ContactLaw{}});
  Moreau& analysis = rig.start({.duration = 2, .step = 5e-3, .theta = 1});
  runToEnd(analysis);
  ASSERT_EQ(analysis.contacts()->contacts.size(), 1U);
  const double weight = 7800 * M_PI * 0.01 * 0.01 * L * 9.81;
  EXPECT_NEAR(analysis.contacts()->contacts[0].impulse[0] / 5e-3, 3.0 / 8 * weight, 5e-3 * weight);
}

/// A ball slides over a dome. With what the last step added to the gap, each step ends on the dome to third order of its size; with half
/// or twice of that, to second order.
TEST(MoreauPositions, ABallStaysOnADomeToThirdOrder) {
  const double R = 1, r = 0.1;
  const auto lift = [&](double h) {
    Rig rig;
    rig.carry("dome", rig.builder.ground(), shapeOf(Shape::Kind::Sphere, {R, 0, 0}));
    rig.sphere("ball", r, {0, 0, R + r}, {1.5, 0, 0});
    rig.contacts.addLaw({"all", "all", ContactLaw{}});
    Moreau& analysis = rig.start({.duration = 0.2, .step = h});
    double worst = 0;
    while (!analysis.finished()) {
      analysis.advance();
      if (analysis.state().t > 0.05) worst = std::max(worst, std::abs(rig.position(0).norm() - R - r)); // once the curvature is known
    }
    return worst;
  };
  const double coarse = lift(4e-3), fine = lift(1e-3);
  EXPECT_GT(fine, 0);
  EXPECT_NEAR(std::log(coarse / fine) / std::log(4.0), 3, 0.3) << coarse << ' ' << fine;
}

/// Every analysis with contacts refuses a plane shape whose plane the floor is not upright on.
TEST(MoreauPositions, TiltedPlanesAreRefusedByEveryAnalysis) {
  const auto refuses = [](auto analysis, const char* method) {
    try {
      analysis.start();
      ADD_FAILURE() << method << " accepted a disc on a tilted floor";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("'floor' is not upright"), std::string::npos) << method << ": " << error.what();
    }
  };
  Rig rig;
  rig.floor();
  const auto disc = rig.builder.body("disc", MassProperties::cylinder(1000, 0.1, 0.1), {so3::exp(Vector3(1, 0, 0)), {0, 0, 1}});
  rig.carry("disc", disc.at(), shapeOf(Shape::Kind::Disc, {0.1, 0, 0}));
  rig.contacts.addLaw({"all", "all", ContactLaw{}});
  const Mechanism mechanism = rig.builder.build();
  refuses(Moreau(*mechanism.model, rig.contacts, {}), "moreau");
  refuses(EventDriven(*mechanism.model, rig.contacts, {}), "event-driven");
  refuses(Sweeping(*mechanism.model, rig.contacts, {}), "sweeping");
}

// ---- runs ------------------------------------------------------------------------------------------------------------------------------

TEST(MoreauRuns, ResumedRunHasTheSameBits) {
  const auto build = [](Rig& rig) -> Moreau& {
    rig.floor();
    rig.box("lower", {0.2, 0.2, 0.2}, {Matrix3::Identity(), {0, 0, 0.1}});
    rig.box("upper", {0.2, 0.2, 0.2}, {so3::exp(Vector3(0.1, 0.2, 0.3)), {0.05, 0, 0.4}}, {0.3, 0, 0});
    rig.contacts.addLaw({"all", "all", ContactLaw{.friction = 0.4}});
    return rig.start({.duration = 0.4, .step = 2e-3});
  };
  Rig whole, resumed;
  Moreau& first = build(whole);
  Snapshot snapshot;
  for (int i = 0; !first.finished(); ++i) {
    if (i == 77) snapshot = first.save();
    first.advance();
  }
  Moreau& second = build(resumed);
  second.restore(snapshot);
  runToEnd(second);
  EXPECT_EQ(first.state().q, second.state().q);
  EXPECT_EQ(first.state().v, second.state().v);
}

/// What sleeps would not have moved anyway; what falls on it wakes it.
TEST(MoreauRuns, SleepChangesNothing) {
  const auto build = [](Rig& rig, bool sleeping) -> Moreau& {
    rig.floor();
    for (int i = 0; i < 3; ++i) rig.box("box" + std::to_string(i), {0.2, 0.2, 0.2}, {Matrix3::Identity(), {0, 0, 0.1 + 0.2 * i}});
    rig.sphere("ball", 0.1, {-1.5, 0, 1}, {4, 0, 0}); // meets the uppermost box after 0.32 s
    rig.box("aside", {0.2, 0.2, 0.2}, {Matrix3::Identity(), {3, 0, 0.1}});
    rig.contacts.addLaw({"all", "all", ContactLaw{.friction = 0.4}});
    return rig.start({.duration = 0.8, .step = 2e-3, .sleeping = sleeping});
  };
  Rig awake, asleep;
  Moreau &first = build(awake, false), &second = build(asleep, true);
  std::size_t fewest = 1000;
  long contactsAtRest = 0;
  while (!first.finished()) {
    first.advance();
    second.advance();
    if (first.state().t > 0.1 && first.state().t < 0.3) {
      fewest = std::min(fewest, std::size_t(second.contacts()->sweeps + second.contacts()->newtonSteps));
      contactsAtRest = long(second.contacts()->contacts.size());
    }
  }
  EXPECT_EQ(fewest, 0U);
  EXPECT_EQ(contactsAtRest, 16);
  EXPECT_LT((first.state().q - second.state().q).norm(), 1e-6);
  EXPECT_GT(std::abs(first.state().q[0]), 1e-6); // the ball has pushed the stack
}

}
}
