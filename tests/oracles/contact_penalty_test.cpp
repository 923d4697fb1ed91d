#include "contact_penalty.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

// An undamped contact of a heavy fall returns all; a damped one what its formula says, but for the cut-off of the pulling damper: without
// it the ratio of speeds over half a period is e exactly.
TEST(ContactPenalty, RestitutionAndTimeOfContactFollowTheirFormulas) {
  for (double e : {0.8, 0.9, 0.95}) {
    const PenaltyContact contact{1e8, 1, e};
    const PenaltyDrop drop = dropOnPenalty(contact, 1);
    const double speed = std::sqrt(2 * 9.81);
    EXPECT_NEAR(drop.impactTime, std::sqrt(2 / 9.81), 2 * contact.duration());
    EXPECT_NEAR(drop.reboundSpeed / speed, e, 0.01);
    EXPECT_NEAR(drop.contactTime / contact.duration(), 1, 0.15);
    EXPECT_NEAR(drop.deepest, speed / std::sqrt(1e8), 0.2 * speed / 1e4);
  }
  const PenaltyContact elastic{1e8, 1, 1};
  EXPECT_EQ(elastic.damping(), 0);
  const PenaltyDrop drop = dropOnPenalty(elastic, 1);
  EXPECT_NEAR(drop.reboundSpeed, std::sqrt(2 * 9.81), 1e-3);
  EXPECT_NEAR(drop.contactTime / elastic.duration(), 1, 1e-2);
}

// The linear oscillator in closed form: the contact ends where k x + c x' = 0, not where x = 0.
TEST(ContactPenalty, CutOffOfTheDamperAgreesWithTheOscillator) {
  const PenaltyContact contact{1e8, 1, 0.5};
  const double omega = std::sqrt(1e8), zeta = contact.damping(), damped = omega * std::sqrt(1 - zeta * zeta);
  const double end = std::atan2(2 * zeta * std::sqrt(1 - zeta * zeta), 2 * zeta * zeta - 1) / damped;
  const double ratio =
      std::exp(-zeta * omega * end) * (std::cos(damped * end) - zeta / std::sqrt(1 - zeta * zeta) * std::sin(damped * end));
  const PenaltyDrop drop = dropOnPenalty(contact, 1, 9.81, 20000);
  EXPECT_NEAR(drop.contactTime / end, 1, 5e-3);
  EXPECT_NEAR(drop.reboundSpeed / std::sqrt(2 * 9.81), -ratio, 5e-3);
}

}
}
