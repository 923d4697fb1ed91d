#include "tendril/dynamics/event_driven.h"

#include "contact_closed_forms.h"
#include "dynamics/contact_rig.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tendril::test {
namespace {

using Kind = ContactEvent::Kind;
constexpr double g = oracles::earthGravity;
constexpr double degree = std::numbers::pi / 180;

void run(EventDriven& analysis) {
  analysis.start();
  while (!analysis.finished()) analysis.advance();
}

std::vector<ContactEvent> ofKind(const EventDriven& analysis, Kind kind) {
  std::vector<ContactEvent> found;
  for (const ContactEvent& e : analysis.events()) {
    if (e.kind == kind) found.push_back(e);
  }
  return found;
}

TEST(EventDriven, BouncingBallFindsItsImpactsAndTheirEnd) {
  for (double e : {0.5, 0.8}) {
    ContactRig rig;
    rig.floor();
    rig.sphere("ball", 1, 0.1, {0, 1.1, 0});
    rig.law({.restitution = e});
    const oracles::BouncingBall ball{1, e};
    EventDriven analysis(rig.build(), rig.contacts, {.duration = 1.5 * ball.zeno(), .step = 0.05});
    run(analysis);
    const auto impacts = ofKind(analysis, Kind::Impact);
    ASSERT_GT(impacts.size(), 12u);
    for (int n = 1; n <= 12; ++n) {
      EXPECT_NEAR(impacts[std::size_t(n - 1)].time, ball.impact(n), 1e-10) << n;
      EXPECT_NEAR(impacts[std::size_t(n - 1)].speed, g * ball.firstImpact() * std::pow(e, n - 1), 1e-10);
    }
    const auto end = ofKind(analysis, Kind::Accumulation);
    ASSERT_EQ(end.size(), 1u);
    EXPECT_NEAR(end[0].time, ball.zeno(), 1e-10);
    EXPECT_NEAR(ContactRig::position(analysis.state()).y(), 0.1, 1e-15);
    EXPECT_LT(analysis.state().v.norm(), 1e-14);
    ASSERT_EQ(analysis.contacts()->contacts.size(), 1u);
    EXPECT_NEAR(analysis.contacts()->contacts[0].impulse[0], g * analysis.contacts()->step, 1e-12);
  }
}

TEST(EventDriven, ElasticBallNeverComesToRestAndKeepsItsEnergy) {
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 1, 0.1, {0, 0.6, 0});
  rig.law({.restitution = 1});
  const Model& model = rig.build();
  EventDriven analysis(model, rig.contacts, {.duration = 5, .step = 0.1});
  run(analysis);
  EXPECT_TRUE(ofKind(analysis, Kind::Accumulation).empty());
  EXPECT_EQ(analysis.events().size(), 8u); // at (2 n - 1) sqrt(2 h / g)
  EXPECT_NEAR(model.energy(analysis.state()).total(), g * 0.6, 1e-11);
}

TEST(EventDriven, SlidingBlockStops) {
  const oracles::SlidingBlock slide;
  for (const bool isPlane : {true, false}) {
    ContactRig rig;
    rig.floor();
    if (isPlane)
      rig.block("block", 2, 0.2, 0.1, {Matrix3::Identity(), {0, 0.1, 0}}, {slide.speed, 0, 0});
    else
      rig.add("block", MassProperties::box(500, {0.4, 0.2, 0.3}), ContactRig::shape(Shape::Kind::Box, {0.4, 0.2, 0.3}),
              {Matrix3::Identity(), {0, 0.1, 0}}, {0.6 * slide.speed, 0, 0.8 * slide.speed});
    rig.law({.friction = slide.friction});
    EventDriven analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.1});
    run(analysis);
    const auto stops = ofKind(analysis, Kind::Stick);
    ASSERT_FALSE(stops.empty());
    EXPECT_NEAR(stops[0].time, slide.time(), 1e-10);
    const Vector3 x = ContactRig::position(analysis.state());
    EXPECT_NEAR(std::hypot(x.x(), x.z()), slide.distance(), 1e-10);
    EXPECT_NEAR(x.y(), 0.1, 1e-14);
    EXPECT_LT(analysis.state().v.norm(), 1e-13);
  }
}

TEST(EventDriven, BlockOnAnInclineSticksOrSlides) {
  for (double angle : {25 * degree, 30 * degree}) {
    ContactRig rig;
    const Vector3 normal(std::sin(angle), std::cos(angle), 0);
    rig.floor(normal);
    const Matrix3 R = turn(-angle);
    rig.block("block", 3, 0.2, 0.05, {R, 0.05 * normal});
    rig.law({.friction = 0.5});
    EventDriven analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.25});
    run(analysis);
    const double moved = (ContactRig::position(analysis.state()) - 0.05 * normal).norm();
    const double expected = 0.5 * oracles::InclinedBlock{angle, 0.5}.acceleration();
    EXPECT_NEAR(moved, expected, expected > 0 ? 1e-10 : 1e-14);
  }
}

TEST(EventDriven, SkiddingGoesOverIntoRolling) {
  const double mu = 0.2, R = 0.1;
  for (const bool isDisc : {true, false}) {
    for (const auto& [speed, rim] : {std::pair{1.0, 0.0}, std::pair{0.0, 3.0}, std::pair{-1.0, 0.5}}) {
      ContactRig rig;
      rig.floor();
      if (isDisc)
        rig.disc("body", 2, R, {0, R, 0}, {speed, 0, 0}, -rim / R);
      else
        rig.sphere("body", 2, R, {0, R, 0}, {speed, 0, 0}, {0, 0, -rim / R});
      rig.law({.friction = mu});
      EventDriven analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.1});
      run(analysis);
      const oracles::RoundBody body = isDisc ? oracles::RoundBody::disc() : oracles::RoundBody::sphere();
      const auto stick = ofKind(analysis, Kind::Stick);
      ASSERT_EQ(stick.size(), 1u);
      const double t = body.rollingTime(speed, rim, mu), v = body.rollingSpeed(speed, rim);
      EXPECT_NEAR(stick[0].time, t, 1e-10);
      EXPECT_NEAR(ContactRig::velocity(analysis.state()).x(), v, 1e-10);
      EXPECT_NEAR(ContactRig::spin(analysis.state()).z(), -v / R, 1e-9);
      const double a = std::copysign(mu * g, rim - speed);
      EXPECT_NEAR(ContactRig::position(analysis.state()).x(), speed * t + 0.5 * a * t * t + v * (1 - t), 1e-10);
    }
  }
}

/// A sphere in space that skids on a plane: friction has the direction of the slip u, which all of the motion brings about,
/// u' = g s e - 7/2 mu g c u/|u|, e down the slope (s = sin, c = cos). Along with B |u| + A u . e, A = g s and B = 7/2 mu g c, time runs
/// evenly, so that rolling begins at (B |u0| + A u0 . e)/(B^2 - A^2); and v - 2/7 u grows by 5/7 A e, whatever the friction does.
struct SkiddingSphere {
  double mu, angle;
  Vector3 velocity, spin; ///< at the start; the slope falls along x
  static constexpr double R = 0.1;

  Vector3 normal() const { return {std::sin(angle), std::cos(angle), 0}; }
  Vector3 down() const { return {std::cos(angle), -std::sin(angle), 0}; }
  Vector3 slip() const { return velocity + spin.cross(-R * normal()); }
  double A() const { return g * std::sin(angle); }
  double B() const { return 3.5 * mu * g * std::cos(angle); }
  double rollingTime() const { return (B() * slip().norm() + A() * slip().dot(down())) / (B() * B() - A() * A()); }
  Vector3 velocityAt(double t) const { return velocity - 2. / 7 * slip() + 5. / 7 * A() * t * down(); } ///< once it rolls
  ContactRig rig() const {
    ContactRig rig;
    rig.floor(normal());
    rig.sphere("sphere", 2, R, R * normal(), velocity, spin);
    rig.law({.friction = mu});
    return rig;
  }
};

void expectRollsInTime(const SkiddingSphere& sphere) {
  ContactRig rig = sphere.rig();
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 1.2 * sphere.rollingTime(), .step = 0.3 * sphere.rollingTime()});
  run(analysis);
  const auto stick = ofKind(analysis, Kind::Stick);
  ASSERT_EQ(stick.size(), 1u);
  EXPECT_EQ(analysis.events().size(), 1u);
  EXPECT_NEAR(stick[0].time, sphere.rollingTime(), 1e-8);
  const Vector3 v = ContactRig::velocity(analysis.state()), w = ContactRig::spin(analysis.state());
  EXPECT_LT((v - sphere.velocityAt(analysis.state().t)).norm(), 1e-8);
  EXPECT_LT((v + w.cross(-SkiddingSphere::R * sphere.normal())).norm(), 1e-12);
}

TEST(EventDriven, SphereWithAnySpinSkidsIntoRollingInSpace) {
  for (const Vector3& spin : {Vector3(0, 0, 0), Vector3(3, 20, 8), Vector3(-15, 5, -10)}) {
    const SkiddingSphere sphere{0.2, 0, {1, 0, 0.5}, spin};
    SCOPED_TRACE(spin.transpose());
    expectRollsInTime(sphere);
  }
}

// Across a slope the slip turns into the direction of the slope while it comes to rest, the later the more friction there is: the direction
// of |u| = 1e-10 still differs from that of rest.
TEST(EventDriven, SlipThatTurnsComesToRestInFiniteTime) {
  for (double ratio : {1.1, 1.5, 2.0, 4.0, 20.0}) {
    for (double direction : {10., 90., 150., 179.}) {
      SkiddingSphere sphere{0, 20 * degree, {}, {1, 2, -3}};
      sphere.mu = ratio / 3.5 * std::tan(sphere.angle);
      sphere.velocity = std::cos(direction * degree) * sphere.down() + std::sin(direction * degree) * Vector3::UnitZ();
      sphere.velocity -= sphere.spin.cross(-SkiddingSphere::R * sphere.normal()); // so that the slip has this direction
      SCOPED_TRACE(testing::Message() << ratio << ' ' << direction);
      expectRollsInTime(sphere);
    }
  }
}

TEST(EventDriven, BodyRollsOrSlidesDownAnIncline) {
  const double R = 0.1, angle = 30 * degree;
  for (double mu : {0.1, 0.3}) {
    ContactRig rig;
    const Vector3 normal(std::sin(angle), std::cos(angle), 0);
    rig.floor(normal);
    rig.disc("disc", 2, R, R * normal);
    rig.law({.friction = mu});
    EventDriven analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.25});
    run(analysis);
    const oracles::RoundBody disc = oracles::RoundBody::disc();
    EXPECT_NEAR((ContactRig::position(analysis.state()) - R * normal).norm(), 0.5 * disc.acceleration(angle, mu), 1e-9);
    EXPECT_NEAR(R * ContactRig::spin(analysis.state()).norm(), disc.spinAcceleration(angle, mu), 1e-9);
  }
}

// Tips are round, which without friction changes nothing: the line between their centres is the ladder.
TEST(EventDriven, LadderLeavesTheWall) {
  const oracles::Ladder ladder;
  const double r = 0.05, l = ladder.l;
  ContactRig rig;
  rig.floor();
  rig.wall("wall", {1, 0, 0});
  const Matrix3 along = frameWithNormal({1, 0, 0});
  rig.add("ladder", {1, Vector3::Zero(), Vector3(1e-3, l * l / 3, l * l / 3).asDiagonal()},
          ContactRig::shape(Shape::Kind::Capsule, {r, 2 * l, 0}, {along, Vector3::Zero()}),
          {turn(-ladder.theta0), {r + l * std::cos(ladder.theta0), r + l * std::sin(ladder.theta0), 0}});
  rig.law({});
  const double end = 1.02 * ladder.leaveTime();
  EventDriven analysis(rig.build(), rig.contacts, {.duration = end, .step = end / 20});
  run(analysis);
  const auto left = ofKind(analysis, Kind::Detachment);
  ASSERT_EQ(left.size(), 1u);
  EXPECT_NEAR(left[0].time, ladder.leaveTime(), 1e-9);
  // After it has left, nothing pushes sideways: the centre keeps the speed l sin(theta) theta' that it had.
  const double theta = ladder.leaveAngle();
  EXPECT_NEAR(ContactRig::velocity(analysis.state()).x(), l * std::sin(theta) * ladder.spin(theta), 1e-9);
}

TEST(EventDriven, RockingBlockChangesCornersInHousnersRatio) {
  const oracles::RockingBlock rocking{0.1, 0.5};
  const double theta0 = 0.5 * rocking.slenderness();
  ContactRig rig;
  rig.floor();
  const Matrix3 R = turn(theta0); // on its lower left corner
  rig.block("block", 1, rocking.b, rocking.H, {R, R * Vector3(rocking.b, rocking.H, 0)});
  rig.law({.friction = 1});
  const double T = rocking.quarterPeriodExact(theta0);
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 1.2 * T, .step = 0.1 * T});
  run(analysis);
  const auto impacts = ofKind(analysis, Kind::Impact);
  ASSERT_EQ(impacts.size(), 1u);
  EXPECT_NEAR(impacts[0].time, T, 1e-9);
  EXPECT_NEAR(impacts[0].time / rocking.quarterPeriod(theta0), 1, 0.02);
  EXPECT_NEAR(impacts[0].speed, 2 * rocking.b * rocking.speedAtImpact(theta0), 1e-9);
  // The angle on the other corner follows from the energy that is left.
  const double theta = so3::log(ContactRig::rotation(analysis.state()))[2], p = rocking.frequency();
  const double spin = ContactRig::spin(analysis.state())[2], first = rocking.ratio() * rocking.speedAtImpact(theta0);
  EXPECT_LT(theta, 0);
  const double drop = std::cos(rocking.slenderness() + theta) - std::cos(rocking.slenderness());
  EXPECT_NEAR(spin * spin, first * first - 2 * p * p * drop, 1e-9);
}

TEST(EventDriven, RockingDiesOutInFiniteTime) {
  const oracles::RockingBlock rocking{0.2, 0.4};
  ContactRig rig;
  rig.floor();
  const Matrix3 R = turn(0.3 * rocking.slenderness());
  rig.block("block", 1, rocking.b, rocking.H, {R, R * Vector3(rocking.b, rocking.H, 0)});
  rig.law({.friction = 1});
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 3, .step = 0.1});
  run(analysis);
  EXPECT_GT(ofKind(analysis, Kind::Impact).size(), 10u);
  EXPECT_FALSE(ofKind(analysis, Kind::Accumulation).empty());
  EXPECT_LT(analysis.state().v.norm(), 1e-13);
  EXPECT_NEAR(ContactRig::position(analysis.state()).y(), rocking.H, 1e-12);
}

TEST(EventDriven, ObliqueImpactSticksOrSlides) {
  for (double mu : {0.1, 0.3}) {
    ContactRig rig({0, 0, 0});
    rig.floor();
    rig.disc("disc", 1, 0.5, {0, 0.6, 0}, {1, -1, 0});
    rig.law({.friction = mu, .restitution = 0.5});
    EventDriven analysis(rig.build(), rig.contacts, {.duration = 0.2, .step = 0.2});
    run(analysis);
    ASSERT_EQ(analysis.events().size(), 1u);
    EXPECT_NEAR(analysis.events()[0].time, 0.1, 1e-14);
    const double v = oracles::RoundBody::disc().speedAfter(1, 1, mu, 0.5);
    EXPECT_NEAR(ContactRig::velocity(analysis.state()).x(), v, 1e-13);
    EXPECT_NEAR(ContactRig::velocity(analysis.state()).y(), 0.5, 1e-13);
    EXPECT_NEAR(0.5 * -ContactRig::spin(analysis.state()).z(), 2 * (1 - v), 1e-13);
    EXPECT_NEAR(analysis.contacts()->dissipation, 0.5 * (2 - v * v - 0.25 - 0.5 * std::pow(2 * (1 - v), 2)), 1e-13);
  }
}

TEST(EventDriven, VibratingTableIsLeft) {
  const oracles::VibratingTable table;
  ContactRig rig;
  GroundMotion shake;
  shake.translation[1] = {"shake", [&](double t) {
                            const double a = table.amplitude, w = table.omega;
                            return Jet{a * std::sin(w * t), a * w * std::cos(w * t), -a * w * w * std::sin(w * t)};
                          }};
  rig.part("table", rig.builder.movingGround({frameWithNormal({0, 1, 0}), Vector3::Zero()}, shake),
           ContactRig::shape(Shape::Kind::HalfSpace, Vector3::Zero()));
  rig.sphere("ball", 1, 0.05, {0, 0.05, 0}, {0, table.amplitude * table.omega, 0});
  rig.law({});
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 0.02, .step = 0.001});
  run(analysis);
  ASSERT_EQ(analysis.events().size(), 1u);
  EXPECT_EQ(analysis.events()[0].kind, Kind::Detachment);
  EXPECT_NEAR(analysis.events()[0].time, table.leaveTime(), 1e-9);
  EXPECT_NEAR(ContactRig::velocity(analysis.state()).y(), table.leaveSpeed() - g * (0.02 - table.leaveTime()), 1e-9);
}

// The centre of a bowl's ball moves as a pendulum; with the curvature of both surfaces wrong it would not.
TEST(EventDriven, BallInARoundRoomSwingsAsAPendulum) {
  const double R = 1, r = 0.2, angle = 0.7;
  for (const bool rolls : {false, true}) {
    ContactRig rig;
    Shape room = ContactRig::shape(Shape::Kind::Sphere, {R, 0, 0});
    room.hollow = true;
    rig.part("room", rig.builder.ground(), room);
    rig.sphere("ball", 1, r, {(R - r) * std::sin(angle), -(R - r) * std::cos(angle), 0});
    rig.law({.friction = rolls ? 2.0 : 0.0});
    const Model& model = rig.build();
    const double w2 = g / (R - r) / (rolls ? 1.4 : 1);
    EventDriven analysis(model, rig.contacts, {.duration = 1, .step = 0.1});
    run(analysis);
    const auto slope = [&](double, const oracles::VectorXd& y, oracles::VectorXd& dy) { dy[0] = y[1], dy[1] = -w2 * std::sin(y[0]); };
    const oracles::VectorXd end = oracles::rungeKutta(slope, 0, 1, oracles::Vector2d(angle, 0), 4000);
    const Vector3 x = ContactRig::position(analysis.state());
    EXPECT_NEAR(std::atan2(x.x(), -x.y()), end[0], 1e-10);
    EXPECT_NEAR(x.norm(), R - r, 1e-14);
    if (rolls) {
      EXPECT_NEAR(std::abs(ContactRig::spin(analysis.state()).z()) * r, std::abs(end[1]) * (R - r), 1e-9);
    }
  }
}

TEST(EventDriven, TangentialLoadMakesAStickingBlockSlide) {
  const double mu = 0.4, m = 2, rate = 5;
  ContactRig rig;
  rig.floor();
  const auto block = rig.block("block", m, 0.2, 0.05, {Matrix3::Identity(), {0, 0.05, 0}});
  rig.builder.force("pull", block.at({Matrix3::Identity(), {0, -0.05, 0}}), {rate, 0, 0}, LoadDirection::Dead,
                    TimeFunction::proportional());
  rig.law({.friction = mu});
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 3, .step = 0.25});
  run(analysis);
  const auto slips = ofKind(analysis, Kind::Slip);
  ASSERT_FALSE(slips.empty());
  const double begin = mu * m * g / rate, t = 3 - begin;
  EXPECT_NEAR(slips[0].time, begin, 1e-10);
  EXPECT_NEAR(ContactRig::position(analysis.state()).x(), rate / m * t * t * t / 6, 1e-10);
}

/// The slip of a sphere that a force m (c t, f) pulls on a plane, u' = (c t, f) - k u/|u|, k = 7/2 mu g, from its begin at c^2 t^2 + f^2 =
/// k^2, by classical Runge-Kutta steps that follow the stiffness k/|u|. It begins like c_n (t - t0)^2/2 along the force, c_n the rate of
/// its size; v is that of the centre, v' = (c t, f) - 2/7 k u/|u|.
struct PulledSphere {
  double c, f, k;
  Eigen::Vector2d u, v;

  double begin() const { return std::sqrt(k * k - f * f) / c; }
  Eigen::Vector2d pull(double t) const { return {c * t, f}; }
  void runTo(double end) {
    double t = begin() + 1e-4;
    const double growth = c * c * begin() / k;
    u = 0.5 * growth * 1e-8 * pull(t).normalized();
    v = 5. / 7 * Eigen::Vector2d(0.5 * c * t * t, f * t) + 2. / 7 * u;
    const auto slope = [&](double at, const Eigen::Vector2d& slip) { return Eigen::Vector2d(pull(at) - k * slip.normalized()); };
    while (t < end) {
      const double h = std::min({0.2 * u.norm() / k, 2e-4, end - t});
      const Eigen::Vector2d k1 = slope(t, u), k2 = slope(t + h / 2, u + h / 2 * k1), k3 = slope(t + h / 2, u + h / 2 * k2),
                            k4 = slope(t + h, u + h * k3), change = h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
      // v' - 2/7 u' = 5/7 (c t, f), whatever the friction
      v += 2. / 7 * change + 5. / 7 * h * pull(t + h / 2);
      u += change;
      t = end - t <= h ? end : t + h;
    }
  }
};

// Slip that begins while the force turns: the direction of friction, u/|u|, has no meaning at its begin.
TEST(EventDriven, SlipThatBeginsWhileItTurns) {
  const double mu = 0.2, R = 0.1, m = 2;
  for (double f : {1., 4., 6.5}) {
    PulledSphere exact{30, f, 3.5 * mu * g, {}, {}};
    const double end = exact.begin() + 0.2;
    ContactRig rig;
    rig.floor();
    const auto ball = rig.sphere("ball", m, R, {0, R, 0});
    rig.builder.force("rising", ball.at(), {m * exact.c, 0, 0}, LoadDirection::Dead, TimeFunction::proportional());
    rig.builder.force("steady", ball.at(), {0, 0, m * f}, LoadDirection::Dead);
    rig.law({.friction = mu});
    EventDriven analysis(rig.build(), rig.contacts, {.duration = end, .step = end / 8});
    run(analysis);
    ASSERT_EQ(analysis.events().size(), 1u) << f;
    EXPECT_EQ(analysis.events()[0].kind, Kind::Slip);
    EXPECT_NEAR(analysis.events()[0].time, exact.begin(), 1e-10);
    exact.runTo(end);
    const Vector3 v = ContactRig::velocity(analysis.state()), u = v + ContactRig::spin(analysis.state()).cross(Vector3(0, -R, 0));
    EXPECT_LT((v - Vector3(exact.v[0], 0, exact.v[1])).norm(), 1e-8) << f;
    EXPECT_LT((u - Vector3(exact.u[0], 0, exact.u[1])).norm(), 1e-8) << f;
  }
}

TEST(EventDriven, SlipIsReversedByAForce) {
  const double mu = 0.1, m = 1, pull = 3;
  ContactRig rig;
  rig.floor();
  const auto block = rig.block("block", m, 0.2, 0.05, {Matrix3::Identity(), {0, 0.05, 0}}, {1, 0, 0});
  rig.builder.force("pull", block.at({Matrix3::Identity(), {0, -0.05, 0}}), {-pull, 0, 0});
  rig.law({.friction = mu});
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.25});
  run(analysis);
  const auto reversals = ofKind(analysis, Kind::Reversal);
  ASSERT_FALSE(reversals.empty());
  const double stop = 1 / (pull / m + mu * g), back = pull / m - mu * g;
  EXPECT_NEAR(reversals[0].time, stop, 1e-10);
  EXPECT_NEAR(ContactRig::position(analysis.state()).x(), 0.5 * stop - 0.5 * back * std::pow(1 - stop, 2), 1e-10);
}

// ---- Painleve --------------------------------------------------------------------------------------------------------------------------

/// A rod whose lower tip slides at unit speed away from its centre (towards -x).
struct SlidingRodRig : ContactRig {
  explicit SlidingRodRig(double friction, double spin = 0) {
    const oracles::SlidingRod rod;
    floor();
    const double theta = rod.theta, thin = 1e-3;
    const Vector3 arm(-std::cos(theta), -std::sin(theta), 0); // from the centre to the tip
    const Vector3 tip = Vector3(-1, 0, 0);
    add("rod", flat(1, 1.0 / 3), polygon({{-1, 0}, {1, -thin}, {1, thin}}), {turn(theta), -arm}, tip - Vector3(0, 0, spin).cross(arm),
        {0, 0, spin});
    law({.friction = friction});
  }
};

TEST(EventDriven, PainlevesRodJamsWhereNoAccelerationExists) {
  const oracles::SlidingRod oracle;
  SlidingRodRig rig(1.5);
  const Model& model = rig.build();
  const double before = model.energy(model.initialState()).kinetic;
  EventDriven analysis(model, rig.contacts, {.duration = 1e-6, .step = 1e-6});
  analysis.start();
  ASSERT_GE(analysis.events().size(), 1u);
  EXPECT_EQ(analysis.events()[0].kind, Kind::Jam);
  EXPECT_NEAR(analysis.events()[0].speed, 1, 1e-14);
  analysis.advance();
  EXPECT_NE(analysis.contacts()->note.find("Painleve"), std::string::npos) << analysis.contacts()->note;
  const Vector3 P = analysis.contacts()->contacts[0].impulse;
  EXPECT_NEAR(P[0], oracle.jamNormal(1), 2e-5);
  EXPECT_NEAR(std::abs(P[1]), oracle.jamTangential(1), 2e-5);
  EXPECT_NEAR(std::abs(ContactRig::spin(analysis.state()).z()), oracle.jamSpin(1), 2e-5);
  EXPECT_NEAR(before - model.energy(analysis.state()).kinetic, oracle.jamLoss(1), 2e-5);
}

TEST(EventDriven, PainlevesRodSlidesBelowTheCriticalFriction) {
  const oracles::SlidingRod oracle;
  SlidingRodRig rig(1.2);
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 1e-4, .step = 1e-4});
  run(analysis);
  EXPECT_TRUE(analysis.events().empty());
  EXPECT_TRUE(analysis.contacts()->note.empty());
  EXPECT_NEAR(analysis.contacts()->contacts[0].impulse[0] / 1e-4, oracle.normalForce(0, 1.2), 0.05);
  EXPECT_EQ(analysis.contacts()->contacts[0].status, ContactStatus::Slip);
}

TEST(EventDriven, SeveralSolutionsAreReported) {
  SlidingRodRig rig(1.5, 5);
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 1e-4, .step = 1e-4});
  run(analysis);
  EXPECT_NE(analysis.contacts()->note.find("Painleve"), std::string::npos);
  EXPECT_GT(ContactRig::velocity(analysis.state()).y(), 0); // it lifts off
}

// ---- against time-stepping -------------------------------------------------------------------------------------------------------------

/// Slope of the least-squares line through log(error) over log(h) of Moreau's scheme against the event-driven solution. Where within a step
/// an impact falls is a matter of chance: every error is the mean over several step sizes that differ a little.
template <class Build> double orderOfMoreau(Build build, double duration, int coarsest, int levels) {
  ContactRig exact = build();
  EventDriven reference(exact.build(), exact.contacts, {.duration = duration, .step = duration});
  run(reference);
  double x = 0, y = 0, xx = 0, xy = 0;
  for (int level = 0; level < levels; ++level) {
    double squares = 0;
    const int n = coarsest << level, trials = 12;
    for (int k = 0; k < trials; ++k) {
      ContactRig rig = build();
      const Model& model = rig.build();
      const double h = duration / (n + n * k / 30);
      Moreau analysis(model, rig.contacts, {.duration = duration, .step = h, .friction = {.tolerance = 1e-12}});
      analysis.start();
      while (!analysis.finished()) analysis.advance();
      squares += (ContactRig::position(analysis.state()) - ContactRig::position(reference.state())).squaredNorm();
    }
    const double a = -std::log(n), b = 0.5 * std::log(squares / trials);
    x += a, y += b, xx += a * a, xy += a * b;
  }
  return (levels * xy - x * y) / (levels * xx - x * x);
}

// A box that falls on a corner, rebounds and spins: two impacts.
TEST(EventDrivenAgainstMoreau, TumblingBoxConvergesAtOrderOne) {
  const auto build = [] {
    ContactRig rig;
    rig.floor();
    rig.block("box", 1, 0.3, 0.2, {turn(0.5), {0, 0.8, 0}}, {1, 0, 0}, 1);
    rig.law({.friction = 0.4, .restitution = 0.5});
    return rig;
  };
  EXPECT_NEAR(orderOfMoreau(build, 0.6, 200, 5), 1, 0.15);
}

TEST(EventDrivenAgainstMoreau, SphereSkiddingIntoRollingConvergesAtOrderOne) {
  const auto build = [] {
    ContactRig rig;
    rig.floor();
    rig.sphere("sphere", 1, 0.1, {0, 0.3, 0}, {1, 0, 0.5}, {3, 2, 8});
    rig.law({.friction = 0.2});
    return rig;
  };
  EXPECT_NEAR(orderOfMoreau(build, 0.8, 100, 5), 1, 0.15);
}

// A ball with three different moments of inertia rolls, and is thrown out of rolling by its own wobble.
TEST(EventDrivenAgainstMoreau, UnequalBallSlipsOutOfRolling) {
  const auto build = [] {
    ContactRig rig;
    rig.floor();
    rig.add("egg", MassProperties{2, Vector3::Zero(), Vector3(0.008, 0.012, 0.018).asDiagonal()},
            ContactRig::shape(Shape::Kind::Sphere, {0.1, 0, 0}), {so3::exp(Vector3(0.3, 0.2, 0.7)), {0, 0.1, 0}}, {1, 0, 0.7}, {3, 4, -8});
    rig.law({.friction = 0.2});
    return rig;
  };
  ContactRig rig = build();
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 1, .step = 0.1});
  run(analysis);
  EXPECT_EQ(ofKind(analysis, Kind::Reversal).size(), 0u);
  EXPECT_GE(ofKind(analysis, Kind::Slip).size(), 1u);
  EXPECT_NEAR(orderOfMoreau(build, 1, 200, 4), 1, 0.2);
}

// ---- several bodies, edges -------------------------------------------------------------------------------------------------------------

TEST(EventDriven, TumblingBoxComesToRestAndNeverGainsEnergy) {
  ContactRig rig({0, 0, -g});
  rig.floor({0, 0, 1});
  rig.add("box", MassProperties::box(1000, {0.2, 0.3, 0.1}), ContactRig::shape(Shape::Kind::Box, {0.2, 0.3, 0.1}),
          {so3::exp(Vector3(0.3, 0.4, 0.5)), {0, 0, 0.6}}, {1, 0, 0}, {1, 2, 3});
  rig.law({.friction = 0.4, .restitution = 0.3});
  const Model& model = rig.build();
  EventDriven analysis(model, rig.contacts, {.duration = 2, .step = 0.05});
  analysis.start();
  double before = model.energy(model.initialState()).total(), scale = before;
  while (!analysis.finished()) {
    analysis.advance();
    const double now = model.energy(analysis.state()).total();
    EXPECT_LE(now - before, 1e-11 * scale);
    EXPECT_LE(analysis.contacts()->penetration, 1e-12);
    before = now;
  }
  EXPECT_LT(analysis.state().v.norm(), 1e-13);
  EXPECT_NEAR(ContactRig::position(analysis.state()).z(), 0.05, 1e-12);
}

TEST(EventDriven, StackStandsAndFallsWhenItIsHit) {
  for (const bool isHit : {false, true}) {
    ContactRig rig;
    rig.floor();
    for (int i = 0; i < 3; ++i) rig.block("block " + std::to_string(i), 1, 0.1, 0.1, {Matrix3::Identity(), {0.01 * i, 0.1 + 0.2 * i, 0}});
    if (isHit) rig.disc("ball", 2, 0.1, {-0.5, 0.35, 0}, {3, 0, 0});
    rig.law({.friction = 0.5, .restitution = 0.2});
    const Model& model = rig.build();
    EventDriven analysis(model, rig.contacts, {.duration = 0.4, .step = 0.1});
    analysis.start();
    double before = model.energy(model.initialState()).total();
    while (!analysis.finished()) {
      analysis.advance();
      const double now = model.energy(analysis.state()).total();
      EXPECT_LE(now, before + 1e-11);
      before = now;
    }
    if (isHit) {
      EXPECT_GT(analysis.state().v.norm(), 0.1);
    } else {
      EXPECT_TRUE(analysis.events().empty());
      EXPECT_LT(analysis.state().v.norm(), 1e-13);
    }
  }
}

TEST(EventDriven, BlockSlidesOffATable) {
  ContactRig rig;
  rig.part("table", rig.builder.ground({Matrix3::Identity(), {0, -0.5, 0}}), ContactRig::rectangle(1, 0.5));
  rig.block("block", 1, 0.1, 0.1, {Matrix3::Identity(), {0.5, 0.1, 0}}, {2, 0, 0});
  rig.law({.friction = 0.1});
  EventDriven analysis(rig.build(), rig.contacts, {.duration = 0.5, .step = 0.05});
  run(analysis);
  ASSERT_FALSE(ofKind(analysis, Kind::Detachment).empty());
  const Vector3 x = ContactRig::position(analysis.state());
  EXPECT_GT(x.x(), 1.1);
  EXPECT_LT(x.y(), 0.1);
  EXPECT_LT(ContactRig::spin(analysis.state()).z(), -0.1); // it tips over the edge
}

// ---- the analysis ----------------------------------------------------------------------------------------------------------------------

TEST(EventDriven, FreeFlightAndSpinKeepTheirInvariants) {
  ContactRig rig({0, 0, 0});
  rig.floor();
  rig.builder.body("top", {2, Vector3(0.1, 0.02, -0.05), Vector3(1, 2, 2.5).asDiagonal()}, {Matrix3::Identity(), {0, 5, 0}}, {1, 2, 3},
                   {0.1, 3, 0.2});
  const Model& model = rig.build();
  EventDriven analysis(model, rig.contacts, {.duration = 5, .step = 1});
  const State first = model.initialState();
  run(analysis);
  const Momentum before = model.momentum(first), after = model.momentum(analysis.state());
  EXPECT_LT((before.linear - after.linear).norm(), 1e-11);
  EXPECT_LT((before.angular - after.angular).norm(), 1e-9 * before.angular.norm());
  EXPECT_NEAR(model.energy(analysis.state()).total(), model.energy(first).total(), 1e-9);
}

TEST(EventDriven, ResumedRunIsTheSameBitByBit) {
  const auto build = [] {
    ContactRig rig;
    rig.floor();
    rig.block("box", 1, 0.3, 0.2, {turn(0.5), {0, 0.8, 0}}, {1, 0, 0}, 1);
    rig.law({.friction = 0.4, .restitution = 0.5});
    return rig;
  };
  ContactRig a = build(), b = build();
  EventDriven whole(a.build(), a.contacts, {.duration = 2, .step = 0.1}), resumed(b.build(), b.contacts, {.duration = 2, .step = 0.1});
  whole.start();
  for (int i = 0; i < 11; ++i) whole.advance();
  resumed.restore(whole.save());
  while (!whole.finished()) whole.advance(), resumed.advance();
  EXPECT_TRUE(resumed.finished());
  EXPECT_EQ(whole.state().q, resumed.state().q);
  EXPECT_EQ(whole.state().v, resumed.state().v);
  ASSERT_EQ(whole.events().size(), resumed.events().size());
  EXPECT_EQ(whole.events().back().time, resumed.events().back().time);
}

TEST(EventDriven, RefusesWhatItDoesNotKnow) {
  {
    ContactRig rig;
    rig.floor();
    rig.sphere("ball", 1, 0.1, {0, 1, 0});
    rig.law({.friction = 0.1, .rolling = 0.01});
    const Model& model = rig.build();
    EXPECT_THROW(EventDriven(model, rig.contacts, {}), InputError);
  }
  {
    ContactRig rig;
    rig.floor();
    const auto ball = rig.sphere("ball", 1, 0.1, {0, 1, 0});
    rig.builder.joint(JointKind::Spherical, "pin", rig.builder.ground({Matrix3::Identity(), {0, 1, 0}}), ball.at());
    rig.law({});
    const Model& model = rig.build();
    EXPECT_THROW(EventDriven(model, rig.contacts, {}), InputError);
  }
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 1, 0.1, {0, 0.05, 0});
  rig.law({});
  const Model& model = rig.build();
  EventDriven analysis(model, rig.contacts, {});
  EXPECT_THROW(analysis.start(), InputError);
  EventDriven projected(model, rig.contacts, {.projectInitial = true});
  projected.start();
  EXPECT_EQ(projected.messages().size(), 1u);
}

}
}
