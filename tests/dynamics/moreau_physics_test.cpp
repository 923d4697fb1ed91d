// Moreau's scheme against closed forms: flight, impact, sliding, sticking, rolling, many contacts at once, balances and invariances.
#include "contact_closed_forms.h"
#include "dynamics/contact_rig.h"
#include "tendril/dynamics/moreau.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <numbers>
#include <random>

#include <unistd.h>

namespace tendril::test {
namespace {

constexpr double g = oracles::earthGravity;
constexpr double degree = std::numbers::pi / 180;
using oracles::RoundBody;

/// Runs to the end, calling `after` after each step.
void run(
    Moreau& analysis, const std::function<void(const StepReport&)>& after = [](const StepReport&) {}) {
  analysis.start();
  while (!analysis.finished()) after(analysis.advance());
}

MoreauOptions options(double duration, double step, bool project = true) {
  MoreauOptions o;
  o.duration = duration, o.step = step, o.project = project;
  o.friction.tolerance = 1e-12;
  o.friction.measure = FrictionOptions::Measure::Scaled;
  return o;
}

double height(const Moreau& analysis) { return ContactRig::position(analysis.state()).y(); }
double fall(const Moreau& analysis) { return ContactRig::velocity(analysis.state()).y(); }

// ---- one body --------------------------------------------------------------------------------------------------------------------------

TEST(MoreauFlight, NodesLieOnTheParabola) {
  for (double h : {0.1, 0.013}) {
    ContactRig rig;
    rig.floor();
    rig.sphere("ball", 1, 0.1, {0, 50, 0}, {1, 3, -2});
    rig.law({});
    Moreau analysis(rig.build(), rig.contacts, options(2, h));
    run(analysis, [&](const StepReport& step) {
      const double t = step.t;
      const Vector3 exact(t, 50 + 3 * t - 0.5 * g * t * t, -2 * t);
      EXPECT_LT((ContactRig::position(analysis.state()) - exact).norm(), 1e-13 * double(step.step) + 1e-13);
    });
  }
}

struct Bounces {
  std::vector<double> impacts;
  double arrest = 0; ///< last time with a speed above 2 g h
};

Bounces bounce(double h, bool project) {
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 1, 0.1, {0, 1.1, 0});
  rig.law({.restitution = 0.5});
  Moreau analysis(rig.build(), rig.contacts, options(2, h, project));
  Bounces result;
  double before = 0;
  run(analysis, [&](const StepReport& step) {
    const double v = fall(analysis);
    if (before < 0 && v > 0) result.impacts.push_back(step.t - h / 2);
    if (std::abs(v) > 2 * g * h) result.arrest = step.t;
    before = v;
  });
  EXPECT_NEAR(height(analysis), 0.1, project ? 1e-6 : std::max(2e-6, h * h * g));
  EXPECT_EQ(fall(analysis), 0);
  EXPECT_EQ(std::lround(2 / h), std::lround(analysis.state().t / h));
  return result;
}

TEST(MoreauImpact, BouncingBallPassesInfinitelyManyImpacts) {
  const oracles::BouncingBall ball;
  const std::array<double, 3> steps{1e-2, 1e-3, 1e-4}, arrests{1.2900, 1.3430, 1.3533};
  for (std::size_t i = 0; i < 3; ++i) {
    for (const bool project : {false, true}) {
      const Bounces result = bounce(steps[i], project);
      ASSERT_GE(result.impacts.size(), 4u);
      for (int n = 1; n <= 4; ++n) EXPECT_NEAR(result.impacts[std::size_t(n - 1)], ball.impact(n), 3 * steps[i]);
      EXPECT_LT(result.arrest, ball.zeno() + steps[i]);
      if (!project) {
        EXPECT_NEAR(result.arrest, arrests[i], 3 * steps[i]); // published for the same scheme
      }
    }
  }
  const std::array<double, 4> published{0.4525, 0.9045, 1.1295, 1.2405}; // the same, at h = 1e-3
  const Bounces result = bounce(1e-3, true);
  for (std::size_t n = 0; n < 4; ++n) EXPECT_NEAR(result.impacts[n], published[n], 1e-9);
}

TEST(MoreauImpact, OverlapOfAnInelasticImpactStaysUnlessItIsProjected) {
  const std::array<double, 3> steps{1e-2, 1e-3, 1e-4}, published{1.53e-2, 4.33e-3, 1.17e-4};
  for (std::size_t i = 0; i < 3; ++i) {
    for (const bool project : {false, true}) {
      ContactRig rig;
      rig.floor();
      rig.sphere("ball", 1, 0.1, {0, 1.1, 0});
      rig.law({});
      Moreau analysis(rig.build(), rig.contacts, options(1, steps[i], project));
      run(analysis);
      const double overlap = 0.1 - height(analysis);
      if (project)
        EXPECT_NEAR(overlap, 0, 2e-6 * 0.1);
      else
        EXPECT_NEAR(overlap, published[i], 0.005e-2 * std::pow(10.0, -double(i)) + 0.005 * published[i]);
      EXPECT_LT(overlap, steps[i] * std::sqrt(2 * g));
      EXPECT_EQ(fall(analysis), 0);
    }
  }
}

TEST(MoreauImpact, FullRestitutionKeepsTheEnergyAndCanBeReversed) {
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 1, 0.1, {0, 1.1, 0});
  rig.law({.restitution = 1});
  const Model& model = rig.build();
  Moreau analysis(model, rig.contacts, options(50, 1e-3));
  const double before = model.energy(model.initialState()).total();
  double worst = 0;
  run(analysis, [&](const StepReport&) { worst = std::max(worst, std::abs(model.energy(analysis.state()).total() - before)); });
  EXPECT_LT(worst, 1e-11);

  // A frictionless box that bounces askew: with the velocities turned round it goes back to where it came from.
  const auto build = [](ContactRig& box, const State* from) {
    box.floor();
    const Pose pose = from ? loadPose(from->q.data()) : Pose{turn(0.3), {0, 0.6, 0}};
    const Vector3 v = from ? Vector3(-ContactRig::velocity(*from)) : Vector3(0.4, 0, 0),
                  w = from ? Vector3(-ContactRig::spin(*from)) : Vector3(0, 0, 0.5);
    box.block("box", 2, 0.3, 0.2, pose, v, w.z());
    box.law({.restitution = 1});
  };
  ContactRig there, back;
  build(there, nullptr);
  Moreau forth(there.build(), there.contacts, options(0.7, 1e-3));
  run(forth);
  EXPECT_GT(ContactRig::velocity(forth.state()).y(), -0.7 * g + 1); // it did bounce
  const State end = forth.state();
  build(back, &end);
  Moreau home(back.build(), back.contacts, options(0.7, 1e-3));
  run(home);
  EXPECT_LT((ContactRig::position(home.state()) - Vector3(0, 0.6, 0)).norm(), 1e-10);
  EXPECT_LT((ContactRig::velocity(home.state()) + Vector3(0.4, 0, 0)).norm(), 1e-9);
}

TEST(MoreauFriction, SlidingBlockStops) {
  const oracles::SlidingBlock slide;
  for (double h : {1e-2, 1e-3}) {
    ContactRig rig;
    rig.floor();
    rig.block("block", 2, 0.2, 0.1, {Matrix3::Identity(), {0, 0.1, 0}}, {slide.speed, 0, 0});
    rig.law({.friction = slide.friction});
    Moreau analysis(rig.build(), rig.contacts, options(1, h));
    double stop = 0;
    run(analysis, [&](const StepReport& step) {
      if (ContactRig::velocity(analysis.state()).norm() > 0) stop = step.t;
      EXPECT_NEAR(height(analysis), 0.1, 1e-12); // it does not lift off
    });
    const double error = ContactRig::position(analysis.state()).x() - slide.distance();
    EXPECT_GT(error, -1e-12);
    EXPECT_LT(error, slide.friction * g * h * h / 8);
    EXPECT_NEAR(error, h == 1e-2 ? 67958460e-8 - 67957866e-8 : 67957902e-8 - 67957866e-8, 1e-8); // published for the same scheme
    EXPECT_NEAR(stop, slide.time(), h);
  }
}

TEST(MoreauFriction, FastBlockDoesNotLiftOff) {
  ContactRig rig({0, 0, -g});
  rig.floor({0, 0, 1});
  rig.add("box", MassProperties::box(1000, {0.2, 0.2, 0.2}), ContactRig::shape(Shape::Kind::Box, {0.2, 0.2, 0.2}),
          {Matrix3::Identity(), {0, 0, 0.1}}, {6, 0, 0});
  rig.law({.friction = 0.8});
  Moreau analysis(rig.build(), rig.contacts, options(0.5, 2e-3));
  run(analysis, [&](const StepReport&) { EXPECT_NEAR(ContactRig::position(analysis.state()).z(), 0.1, 1e-12); });
}

TEST(MoreauFriction, InclineHoldsOrLetsSlide) {
  for (double angle : {25 * degree, 26.5 * degree, 30 * degree}) {
    ContactRig rig;
    const Vector3 normal(std::sin(angle), std::cos(angle), 0);
    rig.floor(normal);
    rig.block("block", 3, 0.2, 0.05, {turn(-angle), 0.05 * normal});
    rig.law({.friction = 0.5});
    Moreau analysis(rig.build(), rig.contacts, options(1, 1e-3));
    const oracles::InclinedBlock oracle{angle, 0.5};
    run(analysis, [&](const StepReport&) {
      double normalImpulse = 0;
      for (const ContactRecord& c : analysis.contacts()->contacts) normalImpulse += c.impulse[0];
      EXPECT_NEAR(normalImpulse, 1e-3 * 3 * g * std::cos(angle), 1e-12);
      if (oracle.sticks()) {
        EXPECT_LT(analysis.state().v.norm(), 1e-12);
      }
    });
    const double moved = (ContactRig::position(analysis.state()) - 0.05 * normal).norm();
    EXPECT_NEAR(moved, 0.5 * oracle.acceleration(), oracle.sticks() ? 1e-15 : 1e-10);
  }
}

TEST(MoreauFriction, RoundBodiesRollOrSlideDownAnIncline) {
  const double R = 0.1, angle = 30 * degree;
  for (const bool isDisc : {true, false}) {
    for (double mu : {0.1, 0.3}) {
      ContactRig rig;
      const Vector3 normal(std::sin(angle), std::cos(angle), 0);
      rig.floor(normal);
      if (isDisc)
        rig.disc("body", 2, R, R * normal);
      else
        rig.sphere("body", 2, R, R * normal);
      rig.law({.friction = mu});
      Moreau analysis(rig.build(), rig.contacts, options(1, 1e-2));
      run(analysis);
      const RoundBody body = isDisc ? RoundBody::disc() : RoundBody::sphere();
      EXPECT_NEAR(ContactRig::velocity(analysis.state()).norm(), body.acceleration(angle, mu), 1e-9);
      EXPECT_NEAR(R * ContactRig::spin(analysis.state()).norm(), body.spinAcceleration(angle, mu), 1e-9);
      EXPECT_NEAR((ContactRig::position(analysis.state()) - R * normal).norm(), 0.5 * body.acceleration(angle, mu), 1e-9);
    }
  }
}

TEST(MoreauFriction, SkiddingGoesOverIntoRolling) {
  const double mu = 0.2, R = 0.1, h = 1e-3;
  for (const bool isDisc : {true, false}) {
    for (const auto& [speed, rim] : {std::pair{1.0, 0.0}, std::pair{0.0, 3.0}}) {
      ContactRig rig;
      rig.floor();
      if (isDisc)
        rig.disc("body", 2, R, {0, R, 0}, {speed, 0, 0}, -rim / R);
      else
        rig.sphere("body", 2, R, {0, R, 0}, {speed, 0, 0}, {0, 0, -rim / R});
      rig.law({.friction = mu});
      Moreau analysis(rig.build(), rig.contacts, options(1, h));
      const RoundBody body = isDisc ? RoundBody::disc() : RoundBody::sphere();
      double rolls = -1;
      run(analysis, [&](const StepReport& step) {
        const double slip = ContactRig::velocity(analysis.state()).x() + R * ContactRig::spin(analysis.state()).z();
        if (rolls < 0 && std::abs(slip) < 1e-12) rolls = step.t;
        if (rolls >= 0) {
          EXPECT_LT(std::abs(slip), 1e-12);
        }
      });
      EXPECT_NEAR(rolls, body.rollingTime(speed, rim, mu), 2 * h);
      EXPECT_NEAR(ContactRig::velocity(analysis.state()).x(), body.rollingSpeed(speed, rim), 1e-12);
    }
  }
}

TEST(MoreauImpact, ObliqueImpactSticksOrSlides) {
  for (const bool isDisc : {true, false}) {
    for (double mu : {0.1, 0.3}) {
      ContactRig rig({0, 0, 0});
      rig.floor();
      if (isDisc)
        rig.disc("body", 1, 0.5, {0, 0.505, 0}, {1, -1, 0}); // touches in the middle of a step
      else
        rig.sphere("body", 1, 0.5, {0, 0.505, 0}, {1, -1, 0});
      rig.law({.friction = mu, .restitution = 0.5});
      Moreau analysis(rig.build(), rig.contacts, options(0.3, 1e-2));
      run(analysis);
      const RoundBody body = isDisc ? RoundBody::disc() : RoundBody::sphere();
      const double v = body.speedAfter(1, 1, mu, 0.5);
      EXPECT_NEAR(ContactRig::velocity(analysis.state()).x(), v, 1e-13);
      EXPECT_NEAR(ContactRig::velocity(analysis.state()).y(), 0.5, 1e-13);
      EXPECT_NEAR(-0.5 * ContactRig::spin(analysis.state()).z(), (1 - v) / body.kappa, 1e-13);
    }
  }
}

TEST(MoreauFriction, DiscThatSpinsOnItsRimStops) {
  const oracles::SpinningDisc disc;
  const double h = 1e-3, R = disc.radius;
  ContactRig rig({0, 0, -g});
  rig.floor({0, 0, 1});
  rig.add("disc", {1, Vector3::Zero(), Vector3(R * R / 4 + 1e-6, R * R / 4 + 1e-6, R * R / 2).asDiagonal()},
          ContactRig::shape(Shape::Kind::Cylinder, {R, 0.01, 0}), {Matrix3::Identity(), {0, 0, 0.005}}, Vector3::Zero(), {0, 0, disc.spin});
  rig.law({.friction = disc.friction});
  Moreau analysis(rig.build(), rig.contacts, options(0.3, h));
  double stop = 0;
  run(analysis, [&](const StepReport& step) {
    if (analysis.state().v.norm() > 0) stop = step.t;
  });
  EXPECT_NEAR(stop, disc.stopOnRim(), 2 * h);
  EXPECT_LT(ContactRig::position(analysis.state()).head<2>().norm(), 1e-6);
}

// ---- several contacts ------------------------------------------------------------------------------------------------------------------

/// A row of discs with a gap; the first arrives at unit speed.
ContactRig cradle(int N, double e, double gap) {
  ContactRig rig({0, 0, 0});
  const double R = 0.1;
  for (int i = 0; i < N; ++i) {
    rig.disc("ball " + std::to_string(i), 1, R, {(2 * R + gap) * i - (i == 0 && gap == 0 ? 0.005 : 0), 0, 0}, {i == 0 ? 1.0 : 0.0, 0, 0});
  }
  rig.law({.restitution = e});
  return rig;
}

TEST(MoreauManyContacts, CradleWithAndWithoutGaps) {
  for (int N : {2, 3, 5}) {
    for (double e : {0.0, 0.5, 1.0}) {
      const oracles::Cradle oracle{N, e};
      ContactRig rig = cradle(N, e, 0);
      MoreauOptions o = options(0.02, 1e-3);
      std::vector<double> impulses(std::size_t(N), 0);
      Moreau analysis(rig.build(), rig.contacts, o);
      run(analysis, [&](const StepReport&) {
        for (const ContactRecord& c : analysis.contacts()->contacts) impulses[std::size_t(std::max(c.first, c.second))] += c.impulse[0];
      });
      for (int k = 0; k < N; ++k) EXPECT_NEAR(ContactRig::velocity(analysis.state(), k).x(), oracle.speedAfter(k), 1e-12) << N << e << k;
      for (int k = 1; k < N; ++k) EXPECT_NEAR(impulses[std::size_t(k)], oracle.impulse(k), 1e-12);
    }
    ContactRig apart = cradle(N, 1, 0.01);
    Moreau toy(apart.build(), apart.contacts, options(0.1, 1e-3));
    run(toy);
    for (int k = 0; k < N; ++k) EXPECT_NEAR(ContactRig::velocity(toy.state(), k).x(), k == N - 1 ? 1 : 0, 1e-12);
  }
}

TEST(MoreauManyContacts, CornerAndWedge) {
  for (double e : {0.0, 0.5}) {
    ContactRig rig({0, 0, 0});
    rig.wall("left", {1, 0, 0});
    rig.wall("floor", {0, 1, 0});
    rig.disc("disc", 1, 0.1, {0.1, 0.1, 0}, {-1, -2, 0});
    rig.law({.restitution = e});
    Moreau analysis(rig.build(), rig.contacts, options(1e-3, 1e-3, false));
    run(analysis);
    EXPECT_LT((ContactRig::velocity(analysis.state()) - Vector3(e, 2 * e, 0)).norm(), 1e-13);

    ContactRig wedge({0, 0, 0});
    wedge.wall("left", {std::sin(60 * degree), std::cos(60 * degree), 0});
    wedge.wall("right", {-std::sin(60 * degree), std::cos(60 * degree), 0});
    wedge.disc("disc", 1, 0.1, {0, 0.2, 0}, {0, -1, 0});
    wedge.law({.restitution = e});
    Moreau fallen(wedge.build(), wedge.contacts, options(1e-3, 1e-3, false));
    run(fallen);
    EXPECT_LT((ContactRig::velocity(fallen.state()) - Vector3(0, e, 0)).norm(), 1e-13);
    ASSERT_EQ(fallen.contacts()->contacts.size(), 2u);
    EXPECT_NEAR(fallen.contacts()->contacts[0].impulse[0], fallen.contacts()->contacts[1].impulse[0], 1e-13);
  }
}

TEST(MoreauManyContacts, BlockFallsFlat) {
  for (double e : {0.0, 0.6}) {
    ContactRig rig({0, 0, 0});
    rig.floor();
    rig.block("block", 3, 0.4, 0.1, {Matrix3::Identity(), {0, 0.1, 0}}, {0, -2, 0});
    rig.law({.restitution = e});
    Moreau analysis(rig.build(), rig.contacts, options(1e-3, 1e-3, false));
    run(analysis);
    ASSERT_EQ(analysis.contacts()->contacts.size(), 2u);
    double sum = 0;
    for (const ContactRecord& c : analysis.contacts()->contacts) {
      sum += c.impulse[0];
      EXPECT_NEAR(c.impulse[0], 0.5 * 3 * (1 + e) * 2, 1e-11);
    }
    EXPECT_NEAR(sum, 3 * (1 + e) * 2, 1e-12);
    EXPECT_NEAR(fall(analysis), 2 * e, 1e-13);
    EXPECT_LT(ContactRig::spin(analysis.state()).norm(), 1e-12);
  }
}

TEST(MoreauManyContacts, TableOnFourLegsCarriesItsWeightHoweverItIsShared) {
  const FrictionMethod methods[] = {FrictionMethod::GaussSeidel, FrictionMethod::SemismoothNewton};
  for (int k = 0; k < 2; ++k) {
    ContactRig rig({0, 0, -g});
    rig.floor({0, 0, 1});
    rig.add("table", MassProperties::box(500, {1, 0.8, 0.1}), ContactRig::shape(Shape::Kind::Box, {1, 0.8, 0.1}),
            {Matrix3::Identity(), {0, 0, 0.05}});
    rig.law({.friction = 0.5});
    MoreauOptions o = options(0.1, 1e-2);
    o.friction.method = methods[k];
    Moreau analysis(rig.build(), rig.contacts, o);
    const double weight = 500 * 0.08 * g;
    run(analysis, [&](const StepReport&) {
      double sum = 0;
      for (const ContactRecord& c : analysis.contacts()->contacts) sum += c.impulse[0];
      EXPECT_NEAR(sum, 1e-2 * weight, 1e-10 * weight);
      EXPECT_EQ(analysis.contacts()->contacts.size(), 4u);
      EXPECT_LT(analysis.state().v.norm(), 1e-12);
    });
  }
}

/// Normal impulses of the last step on the four legs of a table, leg by leg, the legs being found in a given order.
std::array<double, 4> impulsesOnLegs(const std::array<int, 4>& order, FrictionMethod method, double& speed) {
  const std::array<Vector3, 4> feet{{{0.4, 0.3, 0}, {-0.4, 0.3, 0}, {-0.4, -0.3, 0}, {0.4, -0.3, 0}}};
  ContactRig rig({0, 0, -g});
  rig.floor({0, 0, 1});
  const ContactRig::Body body = rig.builder.body("table", MassProperties::box(500, {1, 0.8, 0.1}), {Matrix3::Identity(), {0, 0, 0.7}});
  std::vector<CollisionShape> legs;
  for (const int leg : order) {
    const Pose pose{Matrix3::Identity(), feet[std::size_t(leg)] - Vector3(0, 0, 0.65)};
    legs.emplace_back(ContactRig::shape(Shape::Kind::Sphere, {0.05, 0, 0}, pose), "leg");
  }
  rig.contacts.addPart({"table", "", &body.at(), legs});
  rig.law({.friction = 0.5});
  MoreauOptions o = options(1e-2, 1e-2);
  o.friction.method = method;
  Moreau analysis(rig.build(), rig.contacts, o);
  run(analysis);
  std::array<double, 4> impulses{};
  for (const ContactRecord& c : analysis.contacts()->contacts) {
    for (std::size_t leg = 0; leg < 4; ++leg) {
      if ((c.position - feet[leg]).head<2>().norm() < 0.1) impulses[leg] += c.impulse[0];
    }
  }
  speed = analysis.state().v.norm();
  return impulses;
}

// Four legs on a plane: the impulses are determined but for (1, -1, 1, -1) times a number, which the order of the sweep and the method set.
TEST(MoreauManyContacts, LegsShareTheWeightAsTheSweepFindsThemButTheTableRests) {
  const double weight = 1e-2 * 500 * 0.08 * g;
  std::vector<std::array<double, 4>> found;
  for (const FrictionMethod method : {FrictionMethod::GaussSeidel, FrictionMethod::InteriorPoint}) {
    for (const std::array<int, 4>& order : {std::array{0, 1, 2, 3}, {1, 2, 3, 0}, {3, 2, 1, 0}}) {
      double speed = 0;
      const std::array<double, 4> P = impulsesOnLegs(order, method, speed);
      EXPECT_NEAR(P[0] + P[1] + P[2] + P[3], weight, 1e-10 * weight);
      EXPECT_NEAR(P[0] + P[1], weight / 2, 1e-9 * weight); // moments about both axes
      EXPECT_NEAR(P[1] + P[2], weight / 2, 1e-9 * weight);
      EXPECT_LT(speed, 1e-12);
      found.push_back(P);
    }
  }
  double apart = 0;
  for (const auto& one : found) {
    for (const auto& other : found) apart = std::max(apart, std::abs(one[0] - other[0]));
  }
  EXPECT_GT(apart, 1e-3 * weight);
  EXPECT_GT(std::abs(found[0][0] - found[1][0]), 1e-3 * weight) << "Gauss-Seidel in another order";
}

/// Discs of random sizes thrown at each other and at a floor between walls.
ContactRig cluster(int discs, unsigned seed, double friction, double e, double tau) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  ContactRig rig;
  rig.floor();
  rig.wall("left", {1, 0, 0}, {0, 0, 0});
  rig.wall("right", {-1, 0, 0}, {1.7, 0, 0});
  for (int i = 0; i < discs; ++i) {
    const double R = 0.05 + 0.04 * uniform(random);
    rig.disc("disc " + std::to_string(i), 1000 * R * R, R, {0.15 + 0.2 * (i % 8), 0.1 + 0.2 * (i / 8), 0},
             {2 * uniform(random) - 1, -2 * uniform(random), 0}, 20 * uniform(random) - 10);
  }
  rig.law({.friction = friction, .restitution = e, .tangentialRestitution = tau});
  return rig;
}

// With one coefficient e = tau the law dissipates; what a step may still gain is that a contact which parts at less than g h is stopped.
TEST(MoreauManyContacts, FiftyDiscsDoNotGainEnergy) {
  for (unsigned seed : {1u, 2u, 3u}) {
    for (double e : {0.0, 0.5}) {
      ContactRig rig = cluster(50, seed, 0.3, e, e);
      const Model& model = rig.build();
      const double h = 1e-3;
      MoreauOptions o = options(0.5, h, false);
      o.friction.tolerance = 1e-8;
      Moreau analysis(model, rig.contacts, o);
      double before = model.energy(model.initialState()).total(), worst = 0;
      const double mass = 1000 * 0.09 * 0.09;
      long contacts = 0;
      run(analysis, [&](const StepReport&) {
        const double now = model.energy(analysis.state()).total();
        const double allowed = double(analysis.contacts()->contacts.size()) * mass * std::pow(g * h, 2);
        EXPECT_LE(now - before, allowed + 1e-10 * std::abs(before));
        worst = std::max(worst, now - before);
        contacts = std::max(contacts, long(analysis.contacts()->contacts.size()));
        before = now;
      });
      EXPECT_GT(contacts, 20);
    }
  }
}

TEST(MoreauManyContacts, ImpulsesChangeTheMomentumOfEveryBody) {
  ContactRig rig = cluster(50, 7, 0.4, 0.3, 0);
  const Model& model = rig.build();
  const double h = 1e-3;
  Moreau analysis(model, rig.contacts, options(0.3, h));
  const int bodies = int(model.blocks().size());
  std::vector<double> mass;
  for (const BodyPart& body : rig.mechanism.bodies) mass.push_back(body.mass.mass);
  std::vector<Vector3> before;
  for (int b = 0; b < bodies; ++b) before.push_back(ContactRig::velocity(model.initialState(), b));
  run(analysis, [&](const StepReport&) {
    std::vector<Vector3> impulse(std::size_t(bodies), Vector3::Zero());
    for (const ContactRecord& c : analysis.contacts()->contacts) {
      for (const auto& [part, sign] : {std::pair{c.first, 1.0}, std::pair{c.second, -1.0}}) {
        const auto blocks = rig.contacts.parts()[std::size_t(part)].marker->blocks();
        if (!blocks.empty()) impulse[std::size_t(blocks[0])] += sign * (c.frame * c.impulse);
      }
    }
    for (std::size_t b = 0; b < std::size_t(bodies); ++b) {
      const Vector3 now = ContactRig::velocity(analysis.state(), int(b));
      const Vector3 rest = mass[b] * (now - before[b] - h * Vector3(0, -g, 0)) - impulse[b];
      EXPECT_LT(rest.norm(), 1e-12 * mass[b] * 10);
      before[b] = now;
    }
  });
}

// ---- invariances -----------------------------------------------------------------------------------------------------------------------

/// Spheres and boxes that fall in a heap, in units of length and mass of one's own, the bodies in a given order. Positions in metres.
std::vector<Vector3> heap(double metre, double kilogram, bool isReversed) {
  ContactRig rig(Vector3(0, 0, -g) * metre);
  rig.floor({0, 0, 1});
  const int N = 8;
  for (int k = 0; k < N; ++k) {
    const int i = isReversed ? N - 1 - k : k;
    const Vector3 x = metre * Vector3(0.013 * i, -0.021 * (i % 3), 0.11 + 0.23 * i), w(0.3 * i, 0.5 - 0.1 * i, 0.2);
    const Vector3 v = metre * Vector3(0.1 * i, 0, -0.5 * i);
    const double density = 500 * kilogram / std::pow(metre, 3);
    const std::string name = "body " + std::to_string(i);
    if (i % 2 == 0) {
      rig.add(name, MassProperties::sphere(density, 0.1 * metre), ContactRig::shape(Shape::Kind::Sphere, {0.1 * metre, 0, 0}),
              {Matrix3::Identity(), x}, v, w);
    } else {
      const Vector3 edges = metre * Vector3(0.2, 0.24, 0.16);
      rig.add(name, MassProperties::box(density, edges), ContactRig::shape(Shape::Kind::Box, edges), {so3::exp(0.3 * w), x}, v, w);
    }
  }
  rig.law({.friction = 0.4, .restitution = 0.2});
  MoreauOptions o = options(0.4, 2e-3);
  o.friction.tolerance = 1e-10;
  Moreau analysis(rig.build(), rig.contacts, o);
  run(analysis);
  std::vector<Vector3> positions;
  for (int i = 0; i < N; ++i) positions.push_back(ContactRig::position(analysis.state(), isReversed ? N - 1 - i : i) / metre);
  return positions;
}

TEST(MoreauInvariance, UnitsAndTheOrderOfBodiesChangeNothing) {
  const std::vector<Vector3> reference = heap(1, 1, false);
  const auto compare = [&](const std::vector<Vector3>& other) {
    for (std::size_t i = 0; i < reference.size(); ++i) EXPECT_LT((reference[i] - other[i]).norm(), 1e-8) << i;
  };
  compare(heap(1000, 1e-3, false)); // mm, t, s
  compare(heap(1, 1e6, false));
  compare(heap(1, 1, true));
}

TEST(MoreauRotation, SymmetricTopPrecessesAtItsRate) {
  // I = (1, 1, 2), w = (0.1, 0, 1): the angular velocity turns in the body at (I3 - I1) / I1 w3 = 1 rad/s.
  std::array<double, 3> errors;
  for (int k = 0; k < 3; ++k) {
    ContactRig rig({0, 0, 0});
    rig.builder.body("top", {1, Vector3::Zero(), Vector3(1, 1, 2).asDiagonal()}, {Matrix3::Identity(), {0, 5, 0}}, Vector3::Zero(),
                     {0.1, 0, 1});
    const Model& model = rig.build();
    const double T = 2 * std::numbers::pi, h = T / (100 << k);
    Moreau analysis(model, rig.contacts, options(T, h));
    const double energy = model.energy(model.initialState()).kinetic, L = model.momentum(model.initialState()).angular.norm();
    run(analysis, [&](const StepReport& step) {
      EXPECT_NEAR(model.energy(analysis.state()).kinetic, energy, 1e-13 * double(step.step));
      EXPECT_NEAR(model.momentum(analysis.state()).angular.norm(), L, 1e-13 * double(step.step));
    });
    errors[std::size_t(k)] = (analysis.state().v.segment<3>(3) - Vector3(0.1, 0, 1)).norm();
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.05);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.05);
}

TEST(MoreauRotation, DirectionOfTheAngularMomentumConvergesAtOrderTwo) {
  std::array<double, 3> drift;
  for (int k = 0; k < 3; ++k) {
    ContactRig rig({0, 0, 0});
    rig.builder.body("box", {1, Vector3::Zero(), Vector3(1, 2, 2.5).asDiagonal()}, {Matrix3::Identity(), {0, 5, 0}}, Vector3::Zero(),
                     {0.2, 2, 0.3});
    const Model& model = rig.build();
    Moreau analysis(model, rig.contacts, options(2, 0.02 / (1 << k)));
    run(analysis);
    drift[std::size_t(k)] = (model.momentum(analysis.state()).angular - model.momentum(model.initialState()).angular).norm();
  }
  EXPECT_NEAR(std::log2(drift[0] / drift[1]), 2, 0.1);
  EXPECT_NEAR(std::log2(drift[1] / drift[2]), 2, 0.1);
}

// ---- long runs -------------------------------------------------------------------------------------------------------------------------

long residentPages() {
  std::ifstream file("/proc/self/statm");
  long total = 0, resident = 0;
  file >> total >> resident;
  return resident;
}

TEST(FullMoreauLongRun, BoxOnASlopeStaysWhereItIsAndMemoryStaysFlat) {
  const double angle = 25 * degree;
  ContactRig rig({0, 0, -g});
  const Vector3 normal(std::sin(angle), 0, std::cos(angle));
  rig.floor(normal);
  const Matrix3 R = so3::exp(Vector3(0, angle, 0));
  rig.add("box", MassProperties::box(1000, {0.2, 0.2, 0.2}), ContactRig::shape(Shape::Kind::Box, {0.2, 0.2, 0.2}), {R, 0.1 * normal});
  rig.law({.friction = 0.5});
  Moreau analysis(rig.build(), rig.contacts, options(1000, 1e-2));
  long early = 0;
  run(analysis, [&](const StepReport& step) {
    if (step.step == 1000) early = residentPages();
  });
  EXPECT_LT((ContactRig::position(analysis.state()) - 0.1 * normal).norm(), 1e-10);
  EXPECT_LT((ContactRig::rotation(analysis.state()) - R).norm(), 1e-10);
  EXPECT_LT(residentPages() - early, 64);
}

TEST(FullMoreauLongRun, StackAtRestDoesNotDrift) {
  ContactRig rig({0, 0, -g});
  rig.floor({0, 0, 1});
  for (int i = 0; i < 5; ++i) {
    rig.add("box " + std::to_string(i), MassProperties::box(1000, {0.2, 0.2, 0.2}), ContactRig::shape(Shape::Kind::Box, {0.2, 0.2, 0.2}),
            {so3::exp(Vector3(0, 0, 0.1 * i)), {0, 0, 0.1 + 0.2 * i}});
  }
  rig.law({.friction = 0.5});
  Moreau analysis(rig.build(), rig.contacts, options(100, 1e-2));
  run(analysis);
  for (int i = 0; i < 5; ++i) EXPECT_LT((ContactRig::position(analysis.state(), i) - Vector3(0, 0, 0.1 + 0.2 * i)).norm(), 1e-10) << i;
}

}
}
