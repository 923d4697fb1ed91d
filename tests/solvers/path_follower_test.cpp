#include "tendril/solvers/path_follower.h"

#include <cmath>
#include <gtest/gtest.h>
#include <utility>
#include <vector>

namespace tendril {
namespace {

using Eigen::VectorXd;

/// t = x^3 - x from below: turns at x = -1/sqrt(3) and 1/sqrt(3), where t is 2/(3 sqrt(3)) and minus that.
class Cubic final : public PathProblem {
 public:
  double x = -1.2, t = x * x * x - x;

  int size() const override { return 1; }
  double parameter() const override { return t; }
  int groupCount() const override { return 1; }
  bool evaluate(std::span<ResidualGroup> groups) override {
    residual_ = x * x * x - x - t;
    groups[0] = {.name = "residual", .value = std::abs(residual_), .reference = 1, .relativeTolerance = 1e-13};
    return true;
  }
  bool factorise() override {
    slope_ = 3 * x * x - 1;
    return slope_ != 0;
  }
  bool solve(VectorXd& step) override {
    step[0] = -residual_ / slope_;
    return true;
  }
  bool solveRate(VectorXd& along) override {
    along[0] = isFlat ? 0 : 1 / slope_;
    return true;
  }
  double inner(const VectorXd& a, const VectorXd& b) const override { return a.dot(b); }
  void move(const VectorXd& step, double dt, double factor) override {
    before_ = {x, t};
    x += factor * step[0], t += factor * dt;
  }
  void undo() override { x = before_.first, t = before_.second; }
  void keep() override { kept_ = {x, t}; }
  void returnToKept() override { x = kept_.first, t = kept_.second; }
  std::string describeWorst() const override { return "the cubic"; }

  bool isFlat = false;

 private:
  double residual_ = 0, slope_ = 0;
  std::pair<double, double> before_, kept_;
};

TEST(PathFollower, PassesTurningPointsAndFindsThem) {
  Cubic cubic;
  PathFollower path({.firstStep = 0.1});
  ASSERT_TRUE(path.start(cubic));
  const auto signs = [&] { return std::optional(Inertia{.negative = cubic.x * cubic.x < 1.0 / 3}); };
  std::vector<double> turns;
  for (int step = 0; step < 300 && cubic.t < 1; ++step) {
    const int before = signs()->negative;
    ASSERT_TRUE(path.advance(cubic)) << path.failure();
    EXPECT_NEAR(cubic.t, cubic.x * cubic.x * cubic.x - cubic.x, 1e-12);
    if (path.step().turned) {
      const double x = cubic.x, t = cubic.t;
      turns.push_back(path.locateChange(cubic, before, signs).value_or(0));
      cubic.x = x, cubic.t = t;
    }
    path.accept(cubic);
  }
  ASSERT_EQ(turns.size(), 2u);
  EXPECT_NEAR(turns[0], 2 / (3 * std::sqrt(3.0)), 1e-9);
  EXPECT_NEAR(turns[1], -2 / (3 * std::sqrt(3.0)), 1e-9);
}

TEST(PathFollower, GoesOnFromWhatWasSaved) {
  Cubic first, second;
  PathFollower path({.firstStep = 0.1}), resumed({.firstStep = 0.1});
  ASSERT_TRUE(path.start(first));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(path.advance(first));
    path.accept(first);
  }
  second.x = first.x, second.t = first.t;
  resumed.restore(second, path.tangent(), path.arclengthStep(), path.firstArclengthStep());
  ASSERT_TRUE(path.advance(first) && resumed.advance(second));
  EXPECT_EQ(first.x, second.x);
  EXPECT_EQ(first.t, second.t);
}

TEST(PathFollower, SaysWhyItCannotStart) {
  Cubic flat;
  flat.isFlat = true;
  PathFollower path({});
  EXPECT_FALSE(path.start(flat));
  EXPECT_NE(path.failure().find("depends on the parameter"), std::string::npos);
}

}
}
