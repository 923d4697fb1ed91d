#include "tendril/elements/mechanism.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

template <class Action> std::string refusal(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was refused";
}

bool holds(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

struct Mechanisms : ::testing::Test {
  MechanismBuilder builder;
  SectionProperties section = SectionProperties::of(Section::circle(0.01), {.youngsModulus = 1e9, .poissonRatio = 0.3, .density = 1000});
  MechanismBuilder::BeamHandle beam = builder.beam("beam", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = 2});
  MechanismBuilder::BodyHandle body = builder.body("body", MassProperties::box(1000, {0.1, 0.1, 0.1}), {});
};

TEST_F(Mechanisms, HandlesRefuseOnceTheBuilderHasBuilt) {
  const Mechanism mechanism = builder.build();
  EXPECT_TRUE(holds(refusal([&] { beam.end(); }), "before build()"));
  EXPECT_TRUE(holds(refusal([&] { beam.at(0.3); }), "before build()"));
  EXPECT_TRUE(holds(refusal([&] { beam.part(); }), "before build()"));
  EXPECT_TRUE(holds(refusal([&] { body.at(); }), "before build()"));
  EXPECT_TRUE(holds(refusal([&] { builder.build(); }), "nothing that moves"));
  EXPECT_EQ(mechanism.beam("beam").elements(), 2);
}

TEST_F(Mechanisms, ABuilderThatHasBuiltBeginsAnew) {
  const Mechanism first = builder.build();
  builder.clamp("wall", builder.beam("beam", Curve::straight({0, 0, 0}, {2, 0, 0}), section, {.elements = 1}).start());
  const Mechanism second = builder.build();
  EXPECT_EQ(first.model->nv(), 24);
  EXPECT_EQ(second.model->nv(), 12);
  EXPECT_EQ(second.beam("beam").length(), 2);
}

TEST_F(Mechanisms, MarkersOfAnotherModelAreRefused) {
  MechanismBuilder other;
  other.body("alone", MassProperties::box(1000, {0.1, 0.1, 0.1}), {});
  other.force("push", body.at(), {1, 0, 0});
  EXPECT_TRUE(holds(refusal([&] { other.build(); }), "marker of another model"));
}

}
}
