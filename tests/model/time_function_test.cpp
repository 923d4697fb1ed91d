#include "tendril/model/time_function.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

using namespace tendril;

TEST(TimeFunctionTest, ConstantAndProportional) {
  const Jet constant = TimeFunction::constant(3)(7), proportional = TimeFunction::proportional()(7);
  EXPECT_EQ(constant.value, 3);
  EXPECT_EQ(constant.rate, 0);
  EXPECT_EQ(proportional.value, 7);
  EXPECT_EQ(proportional.rate, 1);
  EXPECT_EQ(proportional.acceleration, 0);
}

TEST(TimeFunctionTest, NamesItselfWhenItIsNotFinite) {
  const TimeFunction pole{"ramp", [](double t) { return Jet{1 / t, 0, 0}; }};
  EXPECT_EQ(pole(2).value, 0.5);
  try {
    pole(0);
    FAIL() << "a value that is not finite went through";
  } catch (const NumericalFailure& failure) {
    EXPECT_NE(std::string(failure.what()).find("'ramp'"), std::string::npos);
  }
}

TEST(InputErrorTest, NamesThePlace) {
  EXPECT_STREQ(InputError({"a.yaml", 3, 7}, "bodies.b.mass", "must be positive", "give kilograms").what(),
               "a.yaml:3:7: bodies.b.mass: must be positive; give kilograms");
  EXPECT_STREQ(InputError({"a.yaml"}, "", "is empty").what(), "a.yaml: is empty");
}
