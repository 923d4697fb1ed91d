// Motion under friction along beams: a beam on an incline and a block on an inclined beam stick or slide as a point would.
#include "support/contact_curve_part.h"
#include "tendril/contact/contact_set.h"
#include "tendril/dynamics/nonsmooth_alpha.h"
#include "tendril/elements/mechanism.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace tendril::test {
namespace {

constexpr double g = 9.81, mu = 0.3, duration = 0.2;
using Method = LineContactOptions::Method;

/// The x axis goes down the slope.
Vector3 gravityOn(double slope) { return g * Vector3(std::sin(slope), 0, -std::cos(slope)); }
/// How far a point slides from rest.
double slide(double slope) { return std::max(0., std::sin(slope) - mu * std::cos(slope)) * g * duration * duration / 2; }

void run(const Model& model, const ContactModel& parts, Method method, const std::function<void(const NonsmoothAlpha&)>& look) {
  NonsmoothAlpha analysis(model, {.smooth = {.duration = duration, .step = 1e-3, .rhoInfinity = 0.8}}, parts,
                          makeContactConstraints(model, parts, {.method = method}));
  analysis.start();
  while (!analysis.finished()) {
    analysis.advance();
    for (const ContactRecord& c : analysis.contacts()->contacts) {
      EXPECT_LE(c.impulse.tail<2>().dot(c.velocity.tail<2>()), 1e-12);
      EXPECT_LE(c.impulse.tail<2>().norm(), mu * c.impulse[0] + 1e-9);
    }
  }
  look(analysis);
}

class Slope : public ::testing::TestWithParam<Method> {};

TEST_P(Slope, HoldsABeamOrLetsItSlideByItsFriction) {
  const double R = 5e-3, L = 0.3;
  for (const double slope : {0.25, 0.5}) { // mu: 0.2915
    SCOPED_TRACE(slope);
    MechanismBuilder b;
    b.gravity(gravityOn(slope));
    const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e8, .poissonRatio = 0.3, .density = 1200});
    const auto beam = b.beam("beam", Curve::straight({0, 0, R}, {L, 0, R}), section, {.elements = 6});
    ContactModel parts;
    parts.addPart(curvePart(beam.part(), R));
    parts.addPart({.name = "plane",
                   .surface = "",
                   .marker = &b.ground(),
                   .shapes = {CollisionShape({.kind = Shape::Kind::HalfSpace}, "plane")},
                   .curve = {}});
    parts.addLaw({"beam", "plane", {.friction = mu}});
    const Marker& middle = beam.node(3);
    const Mechanism m = b.build();
    run(*m.model, parts, GetParam(), [&](const NonsmoothAlpha& analysis) {
      const Vector3 x = middle.frame(analysis.state()).x;
      EXPECT_NEAR(x.x() - L / 2, slide(slope), std::max(2e-3 * slide(slope), 1e-6 * L));
      EXPECT_NEAR(x.z(), R, 1e-3 * R);
    });
  }
}

TEST_P(Slope, OfABeamHoldsABlockOrLetsItSlideByItsFriction) {
  const double R = 5e-3, L = 0.3, half = 0.03, height = 0.01;
  for (const double slope : {0.25, 0.5}) {
    SCOPED_TRACE(slope);
    MechanismBuilder b;
    b.gravity(gravityOn(slope));
    const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e9, .poissonRatio = 0.3, .density = 1200});
    const auto beam = b.beam("beam", Curve::straight({0, 0, 0}, {L, 0, 0}), section, {.elements = 15});
    for (int i = 0; i <= 15; ++i) b.clamp("hold " + std::to_string(i), beam.node(i));
    const auto block =
        b.body("block", MassProperties::box(1000, {2 * half, 0.02, height}), {Matrix3::Identity(), {0.1, 0, R + height / 2}});
    ContactModel parts;
    parts.addPart(curvePart(beam.part(), R));
    parts.addPart({.name = "block",
                   .surface = "",
                   .marker = &block.at(),
                   .shapes = {CollisionShape({.kind = Shape::Kind::Box, .size = {2 * half, 0.02, height}}, "block")},
                   .curve = {}});
    parts.addLaw({"beam", "block", {.friction = mu}});
    const Mechanism m = b.build();
    run(*m.model, parts, GetParam(), [&](const NonsmoothAlpha& analysis) {
      const Vector3 x = analysis.state().q.segment<3>(m.model->blocks()[std::size_t(m.body("block").block)].q);
      EXPECT_NEAR(x.x() - 0.1, slide(slope), std::max(1e-2 * slide(slope), 1e-6 * L));
      EXPECT_NEAR(x.z(), R + height / 2, 1e-3 * R);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, Slope, ::testing::Values(Method::Mortar, Method::Collocation));

}
}
