#include "tendril/scenes/forward_scene.h"

#include "support/places.h"
#include "tendril/control/optimal_control.h"
#include "tendril/model/error.h"

#include <array>
#include <gtest/gtest.h>

namespace tendril {
namespace {

/// How the miss of the tip depends on the lengths of both bodies and the mass of one: against differences of whole runs.
TEST(ForwardScene, GradientByTheParametersOfAScene) {
  const std::filesystem::path file = std::filesystem::path(test::sourceFolder()) / "scenes/control/robot-arm.yaml";
  const std::vector<std::string> common{"T=0.6"};
  const Scene scene = Scene::fromFile(file, common);
  const ForwardOptions options = forwardOptions(scene);
  EXPECT_EQ(options.steps, 15);
  EXPECT_DOUBLE_EQ(options.duration, 0.6);
  const auto miss = [](const Scene& s) {
    return distanceOf("miss", s.mechanism().model->marker("tip"), {0, -1.131, 0.283}, s.manoeuvre()->intervals);
  };
  const VectorX c = Eigen::Vector3d(0.6, 1, 10);
  ForwardFunction f(forwardFamily(file, {"l1", "l2", "m1"}, miss, common), options, c);
  EXPECT_EQ(f.controls(), 6);
  VectorX x = VectorX::Zero(f.size()), gradient;
  x.head(3) = c;
  for (int n = 0; n < 15; ++n) x[f.place(0, n)] = -97, x[f.place(3, n)] = -10; // about what holds the arm
  f(x, &gradient);
  const VectorX direction = c.cwiseProduct(Eigen::Vector3d(1, -0.6, 0.8));
  std::array<double, 2> differences;
  for (int level = 0; level < 2; ++level) {
    const double e = 0.0004 / (1 << level);
    VectorX ahead = x, behind = x;
    ahead.head(3) += e * direction, behind.head(3) -= e * direction;
    differences[std::size_t(level)] = (f(ahead) - f(behind)) / (2 * e);
  }
  const double difference = differences[1] + (differences[1] - differences[0]) / 3, slope = gradient.head(3).dot(direction);
  EXPECT_NEAR(slope, difference, 1e-7 * std::abs(slope));
  EXPECT_GT(std::abs(slope), 0.01);
}

TEST(ForwardScene, RefusesOtherScenes) {
  const std::filesystem::path pendulum = std::filesystem::path(test::sourceFolder()) / "scenes/variational/pendulum.yaml";
  EXPECT_THROW(forwardOptions(Scene::fromFile(pendulum)), InputError);
  const auto family = forwardFamily(std::filesystem::path(test::sourceFolder()) / "scenes/control/robot-arm.yaml", {"l1"},
                                    [](const Scene&) { return PathFunction{}; });
  EXPECT_THROW(family(VectorX::Ones(2)), InputError);
  EXPECT_THROW(family(VectorX::Constant(1, -0.5)), InputError);
}

}
}
