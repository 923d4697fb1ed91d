// Contact, impact and friction of the variational integrators in director coordinates: closed forms, balances that hold exactly at every
// node, agreement with Moreau's scheme.
#include "contact_closed_forms.h"
#include "dynamics/contact_rig.h"
#include "support/allocation_counter.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/dynamics/variational.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace tendril::test {
namespace {

constexpr double g = oracles::earthGravity;
constexpr double degree = std::numbers::pi / 180;
constexpr std::array eliminations{Elimination::Multipliers, Elimination::NullSpace, Elimination::Reduced};
using oracles::RoundBody;

VariationalOptions options(double duration, double step, Elimination elimination = Elimination::Reduced) {
  return {.duration = duration, .step = step, .elimination = elimination};
}

void run(
    VariationalIntegrator& path, const std::function<void(const StepReport&)>& after = [](const StepReport&) {}) {
  path.start();
  while (!path.finished()) after(path.advance());
}

double height(const VariationalIntegrator& path) { return ContactRig::position(path.state()).y(); }

/// Sum of the normal impulses at the node shown.
double pushed(const VariationalIntegrator& path) {
  double sum = 0;
  for (const ContactRecord& c : path.contacts()->contacts) sum += c.impulse[0];
  return sum;
}

ContactRig incline(double angle, const ContactLaw& law) {
  ContactRig rig({g * std::sin(angle), -g * std::cos(angle), 0});
  rig.floor();
  rig.law(law);
  return rig;
}

Shape box(const Vector3& size) { return ContactRig::shape(Shape::Kind::Box, size); }
MassProperties boxMass(double mass, const Vector3& size) {
  const Vector3 s = size.cwiseAbs2();
  return {mass, Vector3::Zero(), (mass / 12 * Vector3(s[1] + s[2], s[2] + s[0], s[0] + s[1])).asDiagonal()};
}

/// A chain of capsules with hinges and ball joints that falls onto a floor and a fixed ball.
struct FallingChain {
  ContactRig rig;
  double radius = 0.05;

  explicit FallingChain(int links, const ContactLaw& law, double height = 0.4) {
    rig.floor();
    rig.part("post", rig.builder.ground({Matrix3::Identity(), {0.55, 0.12, 0.02}}), ContactRig::shape(Shape::Kind::Sphere, {0.12, 0, 0}));
    const MassProperties rod{1, Vector3::Zero(), Vector3(0.002, 0.009, 0.009).asDiagonal()};
    const Matrix3 tilt = so3::exp(Vector3(0.1, 0.2, 0.15));
    Pose tip{tilt, {0, height, 0}};
    std::optional<ContactRig::Body> before;
    for (int i = 0; i < links; ++i) {
      const Pose pose = tip * Pose{Matrix3::Identity(), {0.15, 0, 0}};
      const std::string name = "link" + std::to_string(i);
      const Pose across{so3::exp(Vector3(0, std::numbers::pi / 2, 0)), {0, 0, 0}}; // the axis of a capsule is e3
      const auto link =
          rig.add(name, rod, ContactRig::shape(Shape::Kind::Capsule, {radius, 0.2, 0}, across), pose, {0.3, -0.5, 0.1}, {0.2, -0.4, 0.6});
      if (before) {
        rig.builder.joint(i % 2 ? JointKind::Revolute : JointKind::Spherical, "joint" + std::to_string(i),
                          before->at({Matrix3::Identity(), {0.15, 0, 0}}), link.at({Matrix3::Identity(), {-0.15, 0, 0}}));
        rig.contacts.exclude("link" + std::to_string(i - 1), name);
      }
      before = link;
      tip = tip * Pose{Matrix3::Identity(), {0.3, 0, 0}};
    }
    rig.law(law);
  }
};

// ---- one body --------------------------------------------------------------------------------------------------------------------------

struct Bounces {
  std::vector<double> impacts, apexes;
  double lowest = 1, end = 0;
};

Bounces bounce(double h, double e, double duration) {
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 1, 0.1, {0, 1.1, 0});
  rig.law({.restitution = e});
  VariationalIntegrator path(rig.build(), options(duration, h), rig.contacts);
  Bounces result;
  double apex = 0;
  run(path, [&](const StepReport& step) {
    const double y = height(path) - 0.1;
    result.lowest = std::min(result.lowest, y);
    if (pushed(path) > 4 * g * h) result.impacts.push_back(step.t), result.apexes.push_back(apex), apex = 0;
    apex = std::max(apex, y);
  });
  result.apexes.push_back(apex);
  result.end = height(path) - 0.1;
  return result;
}

TEST(VariationalContact, BallBouncesAtItsTimesToItsHeights) {
  const oracles::BouncingBall ball;
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    const Bounces result = bounce(h, 0.5, 2);
    ASSERT_GE(result.impacts.size(), 4U);
    for (int n = 1; n <= 4; ++n) EXPECT_NEAR(result.impacts[std::size_t(n - 1)], ball.impact(n), (n + 1) * h) << h;
    EXPECT_NEAR(result.apexes[1], ball.apex(1), 6 * h);
    EXPECT_NEAR(result.apexes[2], ball.apex(2), 6 * h);
    EXPECT_GE(result.lowest, -1e-12); // no overlap, ever
    EXPECT_NEAR(result.end, 0, 1e-12);
  }
}

TEST(VariationalContact, PlasticImpactLandsExactlyOnTheSurface) {
  const Bounces result = bounce(1e-2, 0, 1);
  EXPECT_GE(result.lowest, -1e-12);
  EXPECT_NEAR(result.end, 0, 1e-12);
}

/// The energy of the intervals is that of the ball to the last digit after any number of elastic impacts.
TEST(FullVariationalContact, ElasticImpactsKeepTheDiscreteEnergy) {
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 1, 0.1, {0, 1.1, 0});
  rig.law({.restitution = 1});
  VariationalIntegrator path(rig.build(), options(50, 1e-3), rig.contacts);
  path.start();
  const double before = path.node().intervalEnergy;
  double change = 0;
  int impacts = 0;
  while (!path.finished()) {
    path.advance();
    change = std::max(change, std::abs(path.node().intervalEnergy - before));
    impacts += pushed(path) > 0;
  }
  EXPECT_GT(impacts, 50);
  EXPECT_LT(change, 1e-11);
}

TEST(FullVariationalContact, BlockSticksExactlyInsideTheCone) {
  for (const Elimination elimination : eliminations) {
    ContactRig rig = incline(25 * degree, {.friction = 0.5});
    const Vector3 size(0.4, 0.2, 0.3);
    rig.add("block", boxMass(1, size), box(size), {Matrix3::Identity(), {0, 0.1, 0}});
    VariationalIntegrator path(rig.build(), options(10, 1e-3, elimination), rig.contacts);
    run(path);
    EXPECT_EQ(path.contacts()->contacts.size(), 4U);
    for (const ContactRecord& c : path.contacts()->contacts) EXPECT_EQ(c.status, ContactStatus::Stick);
    EXPECT_LT((ContactRig::position(path.state()) - Vector3(0, 0.1, 0)).norm(), 1e-10);
    EXPECT_LT(path.state().v.norm(), 1e-9); // differences of rounding over the step
    EXPECT_NEAR(pushed(path), 1e-3 * g * std::cos(25 * degree), 1e-10);
  }
}

TEST(VariationalContact, BlockSlidesByTheLawAndDoesNotLiftOff) {
  const double angle = 30 * degree, mu = 0.5, a = oracles::InclinedBlock{angle, mu}.acceleration();
  ContactRig rig = incline(angle, {.friction = mu});
  const Vector3 size(0.4, 0.2, 0.3);
  rig.add("block", boxMass(1, size), box(size), {Matrix3::Identity(), {0, 0.1, 0}});
  VariationalOptions o = options(1, 1e-3);
  o.friction.tolerance = 1e-12;
  VariationalIntegrator path(rig.build(), o, rig.contacts);
  double error = 0, lift = 0;
  run(path, [&](const StepReport& step) {
    error = std::max(error, std::abs(ContactRig::position(path.state()).x() - 0.5 * a * step.t * step.t));
    lift = std::max(lift, std::abs(height(path) - 0.1));
  });
  EXPECT_LT(error, 1e-10);
  EXPECT_LT(lift, 1e-12);
}

TEST(VariationalContact, SphereRollsAndSlipsDownTheIncline) {
  const double angle = 30 * degree;
  for (const double mu : {0.3, 0.1}) {
    ContactRig rig = incline(angle, {.friction = mu});
    rig.sphere("ball", 2, 0.1, {0, 0.1, 0});
    VariationalIntegrator path(rig.build(), options(0.5, 1e-3), rig.contacts);
    run(path);
    const double a = RoundBody::sphere().acceleration(angle, mu), spin = RoundBody::sphere().spinAcceleration(angle, mu) / 0.1;
    const double t = 0.5;
    // The discrete momentum of a turn by theta is J sin(theta)/h: second order in the step.
    EXPECT_NEAR(ContactRig::position(path.state()).x(), 0.5 * a * t * t, 2e-5);
    EXPECT_NEAR(ContactRig::velocity(path.state()).x(), a * (t + 0.5e-3), 5e-4); // of the interval that begins
    EXPECT_NEAR(ContactRig::spin(path.state()).z(), -spin * (t + 0.5e-3), 5e-3);
    EXPECT_NEAR(height(path), 0.1, 1e-12);
    EXPECT_EQ(path.contacts()->contacts.at(0).status, mu > 0.2 ? ContactStatus::Stick : ContactStatus::Slip);
  }
}

TEST(VariationalContact, SkiddingBallBeginsToRoll) {
  const double mu = 0.2, v = 1;
  for (const double h : {4e-3, 2e-3, 1e-3}) {
    ContactRig rig;
    rig.floor();
    rig.law({.friction = mu});
    rig.sphere("ball", 1, 0.1, {0, 0.1, 0}, {v, 0, 0});
    VariationalIntegrator path(rig.build(), options(0.4, h), rig.contacts);
    double rolls = 0;
    run(path, [&](const StepReport& step) {
      if (path.contacts()->contacts.at(0).status == ContactStatus::Slip) rolls = step.t;
    });
    EXPECT_NEAR(rolls, RoundBody::sphere().rollingTime(v, 0, mu), 2 * h);
    EXPECT_NEAR(ContactRig::velocity(path.state()).x(), RoundBody::sphere().rollingSpeed(v, 0), h * h * 100);
  }
}

TEST(VariationalContact, ObliqueImpactSticksOrSlips) {
  for (const auto& [mu, along] : {std::pair{0.1, 1 - 0.1 * 1.5}, std::pair{0.45, 5.0 / 7}}) {
    ContactRig rig({0, 0, 0});
    rig.floor();
    rig.law({.friction = mu, .restitution = 0.5});
    rig.sphere("ball", 1, 0.1, {0, 0.15, 0}, {1, -1, 0});
    VariationalIntegrator path(rig.build(), options(0.1, 1e-4), rig.contacts);
    run(path);
    EXPECT_NEAR(ContactRig::velocity(path.state()).y(), 0.5, 1e-12);
    EXPECT_NEAR(ContactRig::velocity(path.state()).x(), along, 1e-6);
  }
}

/// A ring that hangs on a pin and swings: its surface curves away from the mean motion, always to the same side. What is held is the gap
/// itself, so that nothing drifts.
TEST(FullVariationalContact, LastingContactDoesNotDrift) {
  ContactRig rig;
  // Bodies that hang: a block with a slab above the pin and its mass below.
  rig.part("pin", rig.builder.ground(), ContactRig::shape(Shape::Kind::Sphere, {0.05, 0, 0}));
  const MassProperties low{1, {0, -0.4, 0}, Vector3::Constant(0.05).asDiagonal()};
  rig.add("swing", {1, low.centre, low.inertia}, box({1, 0.1, 1}),
          {so3::exp(Vector3(0, 0, 0.3)), so3::exp(Vector3(0, 0, 0.3)) * Vector3(0, 0.1, 0)});
  rig.law({.friction = 1.5});
  VariationalIntegrator path(rig.build(), options(20, 2e-3), rig.contacts);
  path.start();
  const double before = path.node().intervalEnergy;
  double deepest = 0, open = 0, lowest = before, highest = before;
  int swings = 0;
  double last = 0;
  while (!path.finished()) {
    path.advance();
    for (const ContactRecord& c : path.contacts()->contacts) deepest = std::max(deepest, -c.gap), open = std::max(open, c.gap);
    const double tilt = ContactRig::rotation(path.state())(1, 0);
    swings += tilt * last < 0, last = tilt;
    lowest = std::min(lowest, path.node().intervalEnergy), highest = std::max(highest, path.node().intervalEnergy);
  }
  EXPECT_GT(swings, 10);
  EXPECT_GT(lowest, before - 1e-4); // it swings with the motion and does not drift
  EXPECT_LT(highest, before + 1e-4);
  EXPECT_LT(deepest, 1e-10);
  EXPECT_LT(open, 1e-10);
}

// ---- bodies with joints ----------------------------------------------------------------------------------------------------------------

TEST(VariationalContact, EliminationsGiveTheSamePath) {
  std::vector<VectorX> ends;
  for (const Elimination elimination : eliminations) {
    FallingChain chain(3, {.friction = 0.4, .restitution = 0.3});
    VariationalOptions o = options(0.5, 1e-3, elimination);
    o.friction.tolerance = 1e-12;
    VariationalIntegrator path(chain.rig.build(), o, chain.rig.contacts);
    int touched = 0;
    double deepest = 0;
    run(path, [&](const StepReport&) { touched += pushed(path) > 0, deepest = std::max(deepest, path.contacts()->penetration); });
    EXPECT_GT(touched, 50);
    EXPECT_LT(deepest, 1e-10);
    ends.push_back(path.state().q);
  }
  EXPECT_LT((ends[0] - ends[2]).norm(), 1e-10);
  EXPECT_LT((ends[1] - ends[2]).norm(), 1e-10);
}

/// Momentum of a system at configuration q when it moves by w, weight included on either side of the node.
Momentum momentumAt(const DirectorSystem& system, const VectorX& q, const VectorX& from, const VectorX& to, double h, double weight) {
  VectorX p = system.mass() * ((to - from) / h);
  const VectorX middle = 0.5 * (from + to);
  system.addPotentialGradient(middle, 0, weight, p);
  return system.momentum(q, p);
}

TEST(VariationalContact, MomentumChangesByWeightAndImpulsesAlone) {
  for (const Elimination elimination : eliminations) {
    FallingChain chain(4, {.friction = 0.4, .restitution = 0.3});
    const double h = 1e-3;
    VariationalIntegrator path(chain.rig.build(), options(0.4, h, elimination), chain.rig.contacts);
    path.start();
    VectorX before = path.state().q, here;
    path.advance();
    here = path.state().q;
    double worst = 0, largest = 0;
    std::vector<ContactRecord> records = path.contacts()->contacts;
    while (!path.finished()) {
      path.advance();
      const VectorX& after = path.state().q;
      const Momentum arrives = momentumAt(path.system(), here, before, here, h, -h / 2);
      const Momentum leaves = momentumAt(path.system(), here, here, after, h, h / 2);
      Vector3 linear = Vector3::Zero(), angular = Vector3::Zero();
      const double size = leaves.linear.norm() + arrives.linear.norm();
      for (const ContactRecord& c : records) {
        const Vector3 impulse = c.frame * c.impulse;
        const bool isBetweenLinks = chain.rig.contacts.parts()[std::size_t(c.second)].name.starts_with("link") &&
                                    chain.rig.contacts.parts()[std::size_t(c.first)].name.starts_with("link");
        if (isBetweenLinks) continue;
        const double sign = chain.rig.contacts.parts()[std::size_t(c.first)].name.starts_with("link") ? 1 : -1;
        linear += sign * impulse, angular += sign * c.position.cross(impulse);
        largest = std::max(largest, impulse.norm());
      }
      worst = std::max(worst, (leaves.linear - arrives.linear - linear).norm() / size);
      worst = std::max(worst, (leaves.angular - arrives.angular - angular).norm() / size);
      before = here, here = after;
      records = path.contacts()->contacts;
    }
    EXPECT_GT(largest, 0.1);
    EXPECT_LT(worst, 1e-12);
  }
}

/// E_d changes from one interval to the next by the work of the impulses over the mean of both mean velocities, and by what constraints
/// exchange because they are curved:  E+ - E- = sum P . (U- + U+)/2 + h lambda . G (w- + w+)/2.
TEST(VariationalContact, EnergyOfIntervalsChangesByTheWorkOfImpulses) {
  FallingChain chain(4, {.friction = 0.4, .restitution = 0.3});
  const double h = 1e-3;
  VariationalIntegrator path(chain.rig.build(), options(0.4, h), chain.rig.contacts);
  path.start();
  VectorX before = path.state().q;
  double energyBefore = path.node().intervalEnergy;
  path.advance();
  VectorX here = path.state().q;
  double worst = 0, lost = 0;
  while (!path.finished()) {
    const double energy = path.node().intervalEnergy, work = -path.contacts()->dissipation;
    const VectorX lambda = path.node().multipliers;
    SparseMatrix G = path.system().gradient();
    path.system().constraintGradient(here, 0, G);
    path.advance();
    const VectorX after = path.state().q;
    const VectorX rate = (after - before) / (2 * h);
    const double exchanged = -h * lambda.dot(G * rate);
    worst = std::max(worst, std::abs(energy - energyBefore - work - exchanged));
    lost += work;
    energyBefore = energy, before = here, here = after;
  }
  EXPECT_LT(lost, -1);
  EXPECT_LT(worst, 1e-11);
}

/// Two boxes on a hinge, let go above the floor.
ContactRig hingedBoxes(double restitution) {
  ContactRig rig;
  rig.floor();
  const Vector3 size(0.3, 0.1, 0.1);
  const Pose left{turn(0.4), {0, 0.3, 0}}, middle{Matrix3::Identity(), {0.2, 0, 0}};
  const Pose right = left * middle * Pose{turn(-0.6), {0, 0, 0}} * middle;
  const auto first = rig.add("first", boxMass(1, size), box(size), left), second = rig.add("second", boxMass(1, size), box(size), right);
  rig.builder.joint(JointKind::Revolute, "hinge", first.at(middle), second.at({Matrix3::Identity(), {-0.2, 0, 0}}),
                    {.reference = JointReference::Orientation});
  rig.contacts.exclude("first", "second");
  rig.law({.friction = 0.3, .restitution = restitution});
  return rig;
}

TEST(VariationalContact, AgreesWithMoreauAsTheStepFalls) {
  for (const auto& [restitution, duration] : {std::pair{0.0, 0.21}, std::pair{0.5, 0.22}}) {
    double first = 0, last = 0;
    for (const double h : {1e-3, 2.5e-4, 6.25e-5}) {
      ContactRig one = hingedBoxes(restitution), other = hingedBoxes(restitution);
      VariationalIntegrator path(one.build(), options(duration, h), one.contacts);
      run(path);
      Moreau moreau(other.build(), other.contacts, {.duration = duration, .step = h});
      moreau.start();
      while (!moreau.finished()) moreau.advance();
      last = (path.state().q - moreau.state().q).norm();
      if (first == 0) first = last;
      EXPECT_LT(last, 20 * h);
    }
    EXPECT_LT(last, 0.25 * first);
    EXPECT_GT(first, 1e-4);
  }
}

/// Free bodies of all shapes thrown into a corner, with one coefficient for both kinds of restitution or without friction: no step gains
/// more than a contact that is stopped while it opens may, the square of what gravity adds in a step, and what is lost is what the contacts
/// took.
TEST(FullVariationalContact, EnergyDoesNotGrow) {
  for (const double e : {0.0, 0.5, 1.0}) {
    ContactRig rig;
    rig.floor();
    rig.wall("wall", {1, 0, 0}, {-0.8, 0, 0});
    const Vector3 size(0.2, 0.15, 0.1);
    rig.add("box", boxMass(1, size), box(size), {so3::exp(Vector3(0.3, 0.2, 0.1)), {0, 0.5, 0}}, {-2, 0, 0}, {1, -2, 3});
    rig.sphere("ball", 0.5, 0.1, {-0.4, 0.3, 0.02}, {-1, 1, 0}, {0, 0, 5});
    rig.add("can", {1, Vector3::Zero(), Vector3(0.004, 0.004, 0.003).asDiagonal()},
            ContactRig::shape(Shape::Kind::Cylinder, {0.08, 0.2, 0}), {so3::exp(Vector3(0.5, 0.1, 0)), {0.3, 0.4, 0}}, {-3, 0, 0},
            {0, 1, 1});
    rig.add("rod", {0.3, Vector3::Zero(), Vector3(0.003, 0.003, 0.0003).asDiagonal()},
            ContactRig::shape(Shape::Kind::Capsule, {0.05, 0.2, 0}), {so3::exp(Vector3(0.2, 1, 0.4)), {0.1, 0.8, 0}}, {-1, 0, 0});
    rig.law({.friction = e < 1 ? 0.3 : 0, .restitution = e, .tangentialRestitution = e < 1 ? e : 0});
    const double h = 1e-3;
    VariationalIntegrator path(rig.build(), options(1, h), rig.contacts);
    path.start();
    const double first = path.node().intervalEnergy;
    double gained = 0, highest = first, deepest = 0;
    int touched = 0;
    while (!path.finished()) {
      path.advance();
      gained = std::max(gained, -path.contacts()->dissipation);
      highest = std::max(highest, path.node().intervalEnergy);
      deepest = std::max(deepest, path.contacts()->penetration);
      touched += pushed(path) > 0;
    }
    EXPECT_GT(touched, e < 1 ? 100 : 10);
    EXPECT_LT(gained, g * g * h * h / 8); // bodies of 1 kg
    EXPECT_LT(highest, first + 1e-12);
    EXPECT_LT(path.node().intervalEnergy, first - (e < 1 ? 10 : -1e-12));
    EXPECT_LT(deepest, 1e-5);
  }
}

/// A piston that rises at once under a mass: m V + m g h/2 at the first node, which has half a step; then m g h.
TEST(VariationalContact, PistonCarriesItsMass) {
  const double V = 0.2, h = 1e-3;
  ContactRig rig;
  rig.part("piston",
           rig.builder.movingGround({frameWithNormal({0, 1, 0}), Vector3::Zero()},
                                    [] {
                                      GroundMotion motion;
                                      motion.translation[1] = {"rise", [](double t) { return Jet{0.2 * t, 0.2, 0}; }};
                                      return motion;
                                    }()),
           ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  rig.sphere("mass", 1, 0.1, {0, 0.1, 0});
  rig.law({});
  VariationalIntegrator path(rig.build(), options(0.1, h), rig.contacts);
  path.start();
  EXPECT_NEAR(pushed(path), V + g * h / 2, 1e-12);
  double work = path.contacts()->work, worst = 0;
  while (!path.finished()) {
    path.advance();
    worst = std::max({worst, std::abs(pushed(path) - g * h), std::abs(height(path) - 0.1 - V * path.state().t)});
    work += path.contacts()->work;
  }
  EXPECT_LT(worst, 1e-11);
  // At the first node the mass moves on the mean by V/2, the piston by V.
  EXPECT_NEAR(work, V * (V + g * h / 2) + V * g * 0.1, 1e-9);
}

/// With rebound it throws the mass up by (1 + e) V.
TEST(VariationalContact, PistonThrowsWhatRebounds) {
  ContactRig rig;
  GroundMotion motion;
  motion.translation[1] = {"rise", [](double t) { return Jet{0.2 * t, 0.2, 0}; }};
  rig.part("piston", rig.builder.movingGround({frameWithNormal({0, 1, 0}), Vector3::Zero()}, motion),
           ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  rig.sphere("mass", 1, 0.1, {0, 0.1, 0});
  rig.law({.restitution = 0.5});
  VariationalIntegrator path(rig.build(), options(0.01, 1e-3), rig.contacts);
  path.start();
  EXPECT_NEAR(ContactRig::velocity(path.state()).y(), 0.3, 1e-12);
}

/// A table that shakes leaves its block where it falls faster than gravity.
TEST(VariationalContact, VibratingTableThrowsItsBlock) {
  const oracles::VibratingTable table;
  for (const double h : {1e-4, 2e-5}) {
    ContactRig rig;
    GroundMotion motion;
    motion.translation[1] = {"shake", [table](double t) {
                               const double s = std::sin(table.omega * t), c = std::cos(table.omega * t), a = table.amplitude,
                                            w = table.omega;
                               return Jet{a * s, a * w * c, -a * w * w * s};
                             }};
    rig.part("table", rig.builder.movingGround({frameWithNormal({0, 1, 0}), Vector3::Zero()}, motion),
             ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
    rig.sphere("mass", 1, 0.1, {0, 0.1, 0}, {0, table.amplitude * table.omega, 0});
    rig.law({});
    VariationalIntegrator path(rig.build(), options(0.02, h), rig.contacts);
    double leaves = 0, speed = 0, error = 0;
    run(path, [&](const StepReport& step) {
      if (pushed(path) > 0) {
        leaves = step.t, speed = ContactRig::velocity(path.state()).y();
        error = std::max(error, std::abs(height(path) - 0.1 - table.amplitude * std::sin(table.omega * step.t)));
      }
    });
    EXPECT_NEAR(leaves, table.leaveTime(), 2 * h);
    EXPECT_NEAR(speed, table.leaveSpeed(), 2 * h * g);
    EXPECT_LT(error, 1e-11); // it rides along exactly
  }
}

TEST(VariationalContact, CohesionHoldsUpToItsForce) {
  for (const double cohesion : {12.0, 9.0}) {
    ContactRig rig;
    rig.wall("ceiling", {0, -1, 0});
    rig.sphere("ball", 1, 0.1, {0, -0.1, 0});
    rig.law({.cohesion = cohesion});
    VariationalIntegrator path(rig.build(), options(0.2, 1e-3), rig.contacts);
    run(path);
    if (cohesion > g) {
      EXPECT_NEAR(height(path), -0.1, 1e-11);
      EXPECT_NEAR(pushed(path), -1e-3 * g, 1e-11);
    } else {
      EXPECT_LT(height(path), -0.1 - 0.45 * (g - 0.01) * 0.04 * 0.9);
    }
  }
}

TEST(VariationalContact, RollingFrictionStopsABall) {
  const double rolling = 0.002, R = 0.1, v = 0.5, h = 1e-3;
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 1, R, {0, R, 0}, {v, 0, 0}, {0, 0, -v / R});
  rig.law({.friction = 0.5, .rolling = rolling});
  VariationalIntegrator path(rig.build(), options(1, h), rig.contacts);
  run(path);
  const double a = rolling * g / (R * 1.4);
  EXPECT_NEAR(ContactRig::position(path.state()).x(), v - 0.5 * a, 1e-4);
  EXPECT_NEAR(ContactRig::velocity(path.state()).x(), v - a * (1 + h / 2), 1e-4);
}

/// A body that hangs on a beam in director coordinates hits the floor: its impulses go into the nodes.
TEST(VariationalContact, BodyOnABeamTouches) {
  ContactRig rig;
  const auto section = SectionProperties::of(Section::circle(0.01), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1000});
  const auto beam = rig.builder.beam("rod", Curve::straight({0, 0.3, 0}, {0.5, 0.3, 0}), section, {.elements = 4});
  rig.builder.joint(JointKind::Fixed, "root", rig.builder.ground({Matrix3::Identity(), {0, 0.3, 0}}), beam.start());
  const auto bob = rig.sphere("bob", 0.3, 0.05, {0.5, 0.3, 0});
  rig.builder.joint(JointKind::Fixed, "weld", beam.end(), bob.at());
  rig.floor();
  rig.law({.friction = 0.3});
  const Model& model = rig.build();
  const int bobHeight = model.nq() - 12 + 1;
  std::vector<VectorX> ends;
  for (const Elimination elimination : eliminations) {
    VariationalIntegrator path(model, options(0.4, 2e-4, elimination), rig.contacts);
    double lowest = 1;
    int touched = 0;
    run(path, [&](const StepReport&) {
      lowest = std::min(lowest, path.state().q[bobHeight]);
      touched += pushed(path) > 0;
    });
    EXPECT_GT(touched, 20);
    EXPECT_GT(lowest, 0.05 - 1e-10);
    ends.push_back(path.state().q);
  }
  EXPECT_LT((ends[0] - ends[2]).norm(), 1e-8);
  EXPECT_LT((ends[1] - ends[2]).norm(), 1e-8);
}

TEST(VariationalContact, EnergyMomentumSchemeTakesContactsInTheSameWay) {
  for (const Elimination elimination : eliminations) {
    FallingChain chain(3, {.friction = 0.4, .restitution = 0.3}), same(3, {.friction = 0.4, .restitution = 0.3});
    VariationalOptions o = options(0.5, 1e-3, elimination);
    VariationalIntegrator variational(same.rig.build(), o, same.rig.contacts);
    o.scheme = DirectorScheme::EnergyMomentum;
    VariationalIntegrator path(chain.rig.build(), o, chain.rig.contacts);
    double deepest = 0;
    int touched = 0;
    run(path, [&](const StepReport&) { touched += pushed(path) > 0, deepest = std::max(deepest, path.contacts()->penetration); });
    run(variational);
    EXPECT_GT(touched, 20);
    EXPECT_LT(deepest, 1e-10);
    EXPECT_LT((path.state().q - variational.state().q).norm(), 0.05);
  }
}

// ---- what fails, what is kept
// ------------------------------------------------------------------------------------------------------------

TEST(VariationalContact, RefusesWhatItCannotDo) {
  const auto expectRefused = [](ContactRig& rig, const VariationalOptions& o, std::initializer_list<const char*> words) {
    try {
      VariationalIntegrator path(rig.build(), o, rig.contacts);
      path.start();
      FAIL() << "accepted";
    } catch (const InputError& error) {
      for (const char* word : words) EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  ContactRig deep;
  deep.floor();
  deep.sphere("ball", 1, 0.1, {0, 0.09, 0});
  deep.law({});
  expectRefused(deep, options(1, 1e-3), {"overlap", "'ball'", "0.01 m", "move them apart"});
  ContactRig adapted;
  adapted.floor();
  adapted.sphere("ball", 1, 0.1, {0, 0.2, 0});
  adapted.law({});
  VariationalOptions o = options(1, 1e-3);
  o.adaptation = 1;
  expectRefused(adapted, o, {"impacts take no time", "adaptation"});
}

TEST(VariationalContact, FailureNamesContactAndResidualAndKeepsTheNode) {
  ContactRig rig({0, 0, 0});
  GroundMotion motion;
  motion.translation[0] = {"press", [](double t) { return Jet{0.2 * t, 0.2, 0}; }};
  rig.part("press", rig.builder.movingGround({frameWithNormal({1, 0, 0}), {-0.11, 0, 0}}, motion),
           ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  rig.wall("stop", {-1, 0, 0}, {0.11, 0, 0});
  rig.sphere("ball", 1, 0.1, {0, 0, 0});
  rig.law({});
  VariationalIntegrator path(rig.build(), options(1, 1e-3), rig.contacts);
  path.start();
  try {
    while (!path.finished()) path.advance();
    FAIL() << "the ball was crushed";
  } catch (const NumericalFailure& failure) {
    for (const char* word : {"step ", "t = 0.09", "residual", "1e-08 was asked", "'ball'"})
      EXPECT_NE(std::string(failure.what()).find(word), std::string::npos) << failure.what();
  }
  EXPECT_NEAR(path.state().t, 0.1, 3e-3);
  EXPECT_NEAR(ContactRig::position(path.state()).x(), 0.01, 1e-3);
}

TEST(VariationalContact, GoesOnFromASnapshotToTheSameBits) {
  for (const Elimination elimination : eliminations) {
    FallingChain chain(3, {.friction = 0.4, .restitution = 0.3});
    const Model& model = chain.rig.build();
    VariationalIntegrator whole(model, options(0.4, 1e-3, elimination), chain.rig.contacts),
        parts(model, options(0.4, 1e-3, elimination), chain.rig.contacts);
    whole.start();
    Snapshot snapshot;
    while (!whole.finished()) {
      whole.advance();
      if (snapshot.empty() && whole.state().t > 0.2 && pushed(whole) > 0) snapshot = whole.save();
    }
    ASSERT_FALSE(snapshot.empty());
    parts.restore(snapshot);
    while (!parts.finished()) parts.advance();
    EXPECT_TRUE(whole.state().q == parts.state().q);
    EXPECT_TRUE(whole.state().v == parts.state().v);
  }
}

TEST(VariationalContact, StepsTakeNoMemoryWhereContactsStay) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "a sanitizer owns malloc";
  ContactRig rig = incline(10 * degree, {.friction = 0.5});
  rig.sphere("ball", 1, 0.1, {0, 0.1, 0});
  VariationalIntegrator path(rig.build(), options(1, 1e-3, Elimination::Multipliers), rig.contacts);
  path.start();
  while (path.state().t < 0.1) path.advance();
  EXPECT_GT(pushed(path), 0);
  const long before = allocationCount;
  for (int i = 0; i < 200; ++i) path.advance();
  EXPECT_GT(pushed(path), 0);
  EXPECT_EQ(allocationCount - before, 0);
}

TEST(VariationalContact, WithoutActiveContactTheStepIsTheSmoothOne) {
  for (const Elimination elimination : eliminations) {
    FallingChain chain(4, {.friction = 0.4}, 3);
    const Model& model = chain.rig.build();
    VariationalIntegrator touching(model, options(0.3, 1e-3, elimination), chain.rig.contacts),
        smooth(model, options(0.3, 1e-3, elimination));
    run(touching), run(smooth);
    EXPECT_TRUE(touching.state().q == smooth.state().q);
    EXPECT_TRUE(touching.state().v == smooth.state().v);
  }
}

}
}
