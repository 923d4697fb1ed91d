#include "tendril/equations/step_count.h"

#include <gtest/gtest.h>

namespace tendril {
namespace {

TEST(StepCount, NoStepIsLongerThanAskedFor) {
  EXPECT_EQ(stepsIn(1, 0.1), 10);
  EXPECT_EQ(stepsIn(0.3, 0.1), 3); // 0.3/0.1 = 2.9999999999999996
  EXPECT_EQ(stepsIn(2.1, 0.7), 3); // 2.1/0.7 = 3.0000000000000004
  EXPECT_EQ(stepsIn(1, 0.3), 4);
  EXPECT_EQ(stepsIn(1, 5), 1);
}

TEST(StepCount, RefusesMoreThanCanBeMade) {
  for (const double step : {1e-300, 1e-13}) EXPECT_THROW(stepsIn(1, step), InputError);
}

}
}
