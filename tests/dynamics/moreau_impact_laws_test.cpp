// Moreau's scheme where two laws of impact are compared: two coefficients of restitution that differ, and contact by penalty.
#include "contact_closed_forms.h"
#include "contact_penalty.h"
#include "dynamics/contact_rig.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace tendril::test {
namespace {

MoreauOptions options(double duration, double step) {
  MoreauOptions o;
  o.duration = duration, o.step = step, o.project = false;
  o.friction.tolerance = 1e-12;
  o.friction.measure = FrictionOptions::Measure::Scaled;
  return o;
}

/// One impact at the lower end of a rod of length 2 m and mass 1 kg at an angle to the floor; velocities of that end.
struct RodImpact {
  double angle, e, tau, vn, vt, mu;
  Eigen::Vector2d impulse = Eigen::Vector2d::Zero(); ///< normal, along x
  double gain = 0, dissipation = 0;

  void run() {
    ContactRig rig({0, 0, 0});
    rig.floor();
    rig.add("rod", ContactRig::flat(1, 1. / 3), ContactRig::polygon({{-1, 0}, {0, -0.02}, {1, 0}, {0, 0.02}}),
            {turn(angle), {std::cos(angle), std::sin(angle), 0}}, {vt, -vn, 0});
    rig.law({.friction = mu, .restitution = e, .tangentialRestitution = tau});
    const Model& model = rig.build();
    const double before = model.energy(model.initialState()).total();
    Moreau analysis(model, rig.contacts, options(1e-9, 1e-9));
    analysis.start();
    analysis.advance();
    ASSERT_EQ(analysis.contacts()->contacts.size(), 1u);
    const ContactRecord& c = analysis.contacts()->contacts[0];
    const Vector3 P = c.frame * c.impulse;
    impulse = {P.y(), P.x()};
    gain = model.energy(analysis.state()).total() - before;
    dissipation = analysis.contacts()->dissipation;
  }
  /// Rows n, t: the end lies at (-cos, -sin) from the centre of mass.
  Eigen::Matrix2d delassus() const {
    const double s = std::sin(angle), c = std::cos(angle);
    return Eigen::Matrix2d{{1 + 3 * c * c, -3 * s * c}, {-3 * s * c, 1 + 3 * s * s}};
  }
};

// Where the end sticks, u+ = (e vn, -tau vt): the impulse and the change of energy follow from W alone.
TEST(MoreauImpactLaws, TwoCoefficientsThatDifferCanAddEnergy) {
  bool isGained = false;
  for (double e : {0.0, 0.5, 0.9, 1.0}) {
    for (double tau : {0.0, 0.4, 1.0}) {
      for (double vt : {-0.5, 0.0, 0.6}) {
        RodImpact rod{std::numbers::pi / 4, e, tau, 1, vt, 10};
        rod.run();
        const Eigen::Vector2d before(-rod.vn, vt), after(e * rod.vn, -tau * vt);
        const Eigen::Vector2d P = rod.delassus().inverse() * (after - before);
        if (!(P[0] > 0)) continue;
        const double gain = 0.5 * P.dot(before + after);
        EXPECT_LT((rod.impulse - P).norm(), 1e-8) << e << ' ' << tau << ' ' << vt;
        EXPECT_NEAR(rod.gain, gain, 1e-8) << e << ' ' << tau << ' ' << vt;
        EXPECT_NEAR(rod.dissipation, -gain, 1e-8) << "what is created is reported as negative dissipation";
        EXPECT_TRUE(e != tau || gain <= 1e-12);
        isGained = isGained || gain > 0.1;
      }
    }
  }
  EXPECT_TRUE(isGained);
}

// The rim of a sphere comes back along the floor with tau of its slip, the centre upwards with e; slip that friction cannot turn back
// slides on.
TEST(MoreauImpactLaws, TangentialRestitutionTurnsTheSlipBack) {
  const double R = 0.1, e = 0.5, mu = 0.4;
  for (double tau : {0.0, 0.3, 0.8}) {
    for (double vx : {0.5, 1.5, 4.0}) {
      ContactRig rig({0, 0, 0});
      rig.floor();
      rig.sphere("ball", 2, R, {0, R, 0}, {vx, -1, 0}, {0, 7, 0});
      rig.law({.friction = mu, .restitution = e, .tangentialRestitution = tau});
      Moreau analysis(rig.build(), rig.contacts, options(1e-9, 1e-9));
      analysis.start();
      analysis.advance();
      const double full = 2. / 7 * (1 + tau) * vx, most = mu * (1 + e);
      const Vector3 v = ContactRig::velocity(analysis.state()), w = ContactRig::spin(analysis.state());
      EXPECT_NEAR(v.x(), vx - std::min(full, most), 1e-8) << tau << ' ' << vx;
      EXPECT_NEAR(v.y(), e, 1e-10);
      EXPECT_NEAR(w.y(), 7, 1e-10);
      if (full <= most) {
        EXPECT_NEAR(v.x() + R * w.z(), -tau * vx, 1e-7) << tau << ' ' << vx;
      }
    }
  }
}

// The same drop with contact by a spring and a damper, in steps two thousand times shorter than the contact: what a rigid contact does
// without.
TEST(MoreauImpactLaws, PenaltyAndRigidContactRebound) {
  for (double e : {0.8, 0.9, 1.0}) {
    const double h = 1e-3, height = 1;
    const oracles::PenaltyContact penalty{1e8, 1, e};
    const oracles::PenaltyDrop drop = oracles::dropOnPenalty(penalty, height);
    ContactRig rig;
    rig.floor();
    rig.sphere("ball", 1, 0.1, {0, 0.1 + height, 0});
    rig.law({.restitution = e});
    Moreau analysis(rig.build(), rig.contacts, options(0.6, h));
    analysis.start();
    double rebound = 0, impact = 0;
    while (!analysis.finished()) {
      const double t = analysis.advance().t, v = ContactRig::velocity(analysis.state()).y();
      if (rebound == 0 && v > 0) rebound = v, impact = t - h / 2;
    }
    EXPECT_NEAR(rebound, drop.reboundSpeed, 0.01 * drop.reboundSpeed) << e;
    EXPECT_NEAR(impact, drop.impactTime, h) << e;
    EXPECT_NEAR(drop.contactTime, penalty.duration(), 0.1 * penalty.duration()) << e; // a damper that would pull ends it early
    EXPECT_LT(drop.contactTime, h) << "the rigid contact took one step";
  }
}

// A disc between two walls at a right angle: from mu = 1 on friction at one wall carries whatever the other one pushes. Without restitution
// the disc simply sticks; with it, both walls ask for velocities that neither can bring about.
std::string failureInTheCorner(double mu, double e) {
  ContactRig rig({0, 0, 0});
  rig.wall("left", {1, 0, 0});
  rig.wall("floor", {0, 1, 0});
  rig.disc("disc", 1, 0.1, {0.1, 0.1, 0}, {-1, -2, 0}, 3);
  rig.law({.friction = mu, .restitution = e});
  Moreau analysis(rig.build(), rig.contacts, options(1e-3, 1e-3));
  analysis.start();
  try {
    analysis.advance();
  } catch (const NumericalFailure& failure) {
    return failure.what();
  }
  return "";
}

TEST(MoreauImpactLaws, WedgedBodiesAreNamedWhereNoImpulseExists) {
  for (const double mu : {0.3, 0.9}) {
    for (const double e : {0.0, 0.5}) EXPECT_EQ(failureInTheCorner(mu, e), "") << mu << ' ' << e;
  }
  EXPECT_EQ(failureInTheCorner(1.2, 0), "");
  const std::string message = failureInTheCorner(1.2, 0.5);
  for (const char* word : {"'disc' is wedged between", "'left'", "'floor'", "coefficient of friction of 1 ", "restitution"}) {
    EXPECT_NE(message.find(word), std::string::npos) << word << " in: " << message;
  }
}

}
}
