// What it costs to take overlaps out of positions.
#include "dynamics/position_projection.h"

#include "dynamics/contact_rig.h"
#include "tendril/dynamics/moreau.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tendril::test {
namespace {

constexpr double g = 9.81;

struct Account {
  double change = 0; ///< of the total energy
  double dissipation = 0, projection = 0, overlap = 0;
  double balance() const { return change + dissipation - projection; }
};

Account run(ContactRig& rig, double duration, double step, bool project = true) {
  const Model& model = rig.build();
  MoreauOptions o;
  o.duration = duration, o.step = step, o.project = project;
  o.friction.tolerance = 1e-11;
  Moreau analysis(model, rig.contacts, o);
  analysis.start();
  Account account;
  const double before = model.energy(analysis.state()).total();
  while (!analysis.finished()) {
    analysis.advance();
    account.dissipation += analysis.contacts()->dissipation;
    account.projection += analysis.contacts()->projection;
    account.overlap = std::max(account.overlap, analysis.contacts()->penetration);
  }
  account.change = model.energy(analysis.state()).total() - before;
  return account;
}

ContactRig drop(double height) {
  ContactRig rig;
  rig.floor();
  rig.sphere("ball", 2, 0.1, {0, 0.1 + height, 0});
  rig.law({});
  return rig;
}

// A ball that is caught in the floor, at the middle of the step, is lifted by m g d, d at most h/2 times its speed; all else is dissipated.
TEST(PositionProjection, LiftsABallByNoMoreThanItFellInHalfAStep) {
  double largest = 0;
  for (const double h : {1e-2, 1e-3, 1e-4}) {
    for (int k = 0; k < 8; ++k) {
      const double height = 0.5 + 0.01 * k;
      ContactRig rig = drop(height);
      const Account account = run(rig, 0.6, h);
      EXPECT_NEAR(account.balance(), 0, 1e-15 * 2 * g * height * 0.6 / h) << h << ' ' << height;
      EXPECT_GE(account.projection, -1e-15);
      EXPECT_LE(account.projection, 2 * g * h / 2 * (std::sqrt(2 * g * height) + g * h)) << h << ' ' << height;
      largest = std::max(largest, account.projection / h);
      ContactRig plain = drop(height);
      EXPECT_EQ(run(plain, 0.6, h, false).projection, 0);
    }
  }
  EXPECT_GT(largest, 1) << "no ball was caught in the floor";
}

// With it the balance of energy closes for a heap that falls and comes to rest, for any step.
TEST(PositionProjection, EnergyOfAHeapIsAccountedFor) {
  double previous = 0;
  for (const double h : {1e-2, 2.5e-3}) {
    ContactRig rig({0, 0, -g});
    rig.floor({0, 0, 1});
    for (int i = 0; i < 24; ++i) {
      rig.sphere("ball " + std::to_string(i), 1 + 0.1 * (i % 3), 0.1, {0.19 * (i % 2) + 0.01 * i, 0.2 * (i / 2 % 2), 0.15 + 0.21 * (i / 4)},
                 {0, 0.1 * (i % 5), -1}, {1, -2, 0.5 * i});
    }
    rig.law({.friction = 0.4});
    const Account account = run(rig, 1, h);
    EXPECT_GT(account.dissipation, 50);
    EXPECT_GT(account.projection, 0);
    EXPECT_NEAR(account.balance(), 0, 1e-8 * account.dissipation) << h;
    if (previous > 0) {
      EXPECT_LT(account.projection, 0.5 * previous) << "it vanishes with the step";
    }
    previous = account.projection;
  }
}

}
}
