#include "pressed_beams.h"

#include <gtest/gtest.h>

namespace tendril::oracles {
namespace {

/// Section by section: the friction q follows the force while it is below its bound, and the curvature k = (M - 2 R N) / 2 EI.
struct Sections {
  static constexpr int count = 400;
  const PressedBeams& beams;
  double force = 0, q[count] = {};

  double deflectionAt(double V) {
    const double EI = beams.EI(), EA = beams.EA(), R = beams.radius, dx = beams.length / count, bound = beams.friction * beams.pressure;
    double N = 0, w = 0;
    for (int i = count - 1; i >= 0; --i) {
      q[i] = std::clamp(q[i] + (V - force) * R * EA / (2 * EI + 2 * EA * R * R), -bound, bound);
      const double toEnd = beams.length - (i + 0.5) * dx;
      w += (V * toEnd - 2 * R * (N + q[i] * dx / 2)) / (2 * EI) * toEnd * dx;
      N += q[i] * dx;
    }
    force = V;
    return w;
  }
};

TEST(PressedBeams, HaveTheLoopOfTheirSections) {
  const double amplitude = 0.05;
  PressedBeams beams{.radius = 0.01, .length = 1, .E = 1e9, .pressure = 5, .friction = 0};
  const double worst = beams.worstFriction(amplitude);
  beams.friction = worst;
  const double largest = beams.loopArea(amplitude);
  for (const double share : {0.01, 0.3, 0.9, 1., 1.1, 1.9, 2.1}) {
    beams.friction = share * worst;
    EXPECT_LE(beams.loopArea(amplitude), largest);
    Sections sections{beams};
    double w = sections.deflectionAt(amplitude), area = 0;
    EXPECT_NEAR(w, beams.deflection(amplitude), 1e-4 * w) << share;
    const int steps = 1000;
    for (int i = 1; i <= steps; ++i) {
      const double before = sections.force, next = sections.deflectionAt(amplitude * (2 * std::abs(1 - 2. * i / steps) - 1));
      area += (before + sections.force) / 2 * (next - w);
      w = next;
    }
    EXPECT_NEAR(area, beams.loopArea(amplitude), 1e-3 * largest) << share;
  }
}

}
}
