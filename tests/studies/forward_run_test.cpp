#include "tendril/studies/forward_run.h"

#include "support/files.h"
#include "support/places.h"
#include "support/run_scenes.h"
#include "tendril/io/run.h"

#include <bit>
#include <cmath>
#include <numbers>
#include <thread>

namespace tendril::testing {
namespace {

/// The numbers as bits, so that NaN equals itself and -0 is not 0.
std::vector<std::uint64_t> bitsOf(const std::map<std::string, Summary::Output>& outputs) {
  std::vector<std::uint64_t> bits;
  for (const auto& [name, output] : outputs) {
    for (const double value : output.values) bits.push_back(std::bit_cast<std::uint64_t>(value));
  }
  return bits;
}

// A rolled-up cantilever is an arc of length 1 that turns by 2 pi turns.
TEST(ForwardRun, IsTheSceneAsAFunction) {
  const ForwardRun run = ForwardRun::fromText(rollUp);
  for (const double turns : {0.25, 0.5, 0.7}) {
    const ForwardResult result = run({ForwardRun::assign("turns", turns)});
    ASSERT_TRUE(result.isSuccess()) << result.message;
    const double angle = 2 * std::numbers::pi * turns;
    EXPECT_NEAR(result.value("tip", 0), std::sin(angle) / angle, 1e-8);
    EXPECT_TRUE(std::isnan(result.value("tip", 3)));
    EXPECT_TRUE(std::isnan(result.value("tap")));
  }
}

TEST(ForwardRun, TakesANumberExactly) {
  EXPECT_EQ(ForwardRun::assign("x", 0.1), "x=0.1");
  std::string text = rollUp;
  text.replace(text.find("{turns: 0.5}"), 12, "{turns: 0.5, x: 0}");
  const ForwardRun withX = ForwardRun::fromText(text + "  - {name: taken, measure: expression, expression: x}\n");
  for (const double x : {1. / 3, -std::nextafter(1e-300, 1.), std::nextafter(123456789.123, 1e9), 4.9e-324}) {
    const ForwardResult result = withX({ForwardRun::assign("x", x)});
    ASSERT_TRUE(result.isSuccess()) << result.message;
    EXPECT_EQ(std::bit_cast<std::uint64_t>(result.value("taken")), std::bit_cast<std::uint64_t>(x));
  }
}

// 450 steps: two checkpoints lie on the way, and each makes the analysis forget its factorisations.
TEST(ForwardRun, HasTheNumbersOfARunBitForBit) {
  const TemporaryFolder folder;
  const auto compare = [&](const std::filesystem::path& scene, const std::vector<std::string>& overrides) {
    const RunOutcome outcome = run({.scene = scene, .overrides = overrides, .folder = folder / "out", .terminalLevel = LogLevel::Error});
    const ForwardResult result = ForwardRun::fromFile(scene)(overrides);
    EXPECT_TRUE(result.isSuccess()) << result.message;
    EXPECT_FALSE(result.outputs.empty());
    EXPECT_EQ(bitsOf(result.outputs), bitsOf(outcome.summary.outputs)) << scene;
    EXPECT_EQ(result.steps, outcome.summary.steps);
    std::filesystem::remove_all(folder / "out");
  };
  writeAll(folder / "rod.yaml", fallingRod);
  compare(folder / "rod.yaml", {"h=0.0005", "duration=0.225"});
  compare(test::sourceFolder() + "/scenes/contact/block-slide.yaml", {});
}

TEST(ForwardRun, TellsWhyARunDidNotSucceed) {
  const ForwardRun run = ForwardRun::fromText(undefinedLater);
  const ForwardResult failed = run();
  EXPECT_EQ(failed.end, RunEnd::Failed);
  EXPECT_NE(failed.message.find("step "), std::string::npos) << failed.message;
  EXPECT_TRUE(failed.outputs.empty()) << "the values at the break are no results";
  const ForwardResult refused = run({"limits=1"});
  EXPECT_EQ(refused.end, RunEnd::WrongInput);
  EXPECT_NE(refused.message.find("limits"), std::string::npos) << refused.message;
  int steps = 0;
  const ForwardResult stopped = ForwardRun::fromText(fallingRod)({}, [&] { return ++steps > 20; });
  EXPECT_EQ(stopped.end, RunEnd::Interrupted);
  EXPECT_TRUE(stopped.outputs.empty());
  expectError<InputError>([&] { run.check(std::vector<std::string>{"limits=1"}); }, {"limits"});
  expectError<InputError>([] { ForwardRun::fromFile("nowhere.yaml"); }, {"nowhere.yaml"});
}

// Statics, dynamics with joints and contact at once in four threads, each some times over: the numbers are those of a single thread.
TEST(ForwardRun, RunsInSeveralThreadsAtOnce) {
  const std::string scenes = test::sourceFolder() + "/scenes/";
  const std::vector<ForwardRun> runs{ForwardRun::fromText(rollUp), ForwardRun::fromText(fallingRod, "rod", {"duration=0.05"}),
                                     ForwardRun::fromFile(scenes + "contact/block-slide.yaml"),
                                     ForwardRun::fromFile(scenes + "solvability/painleve-rod.yaml")};
  std::vector<std::vector<std::uint64_t>> expected;
  for (const ForwardRun& run : runs) expected.push_back(bitsOf(run().outputs));
  std::vector<int> mistakes(4, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < mistakes.size(); ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t k = 0; k < 2 * runs.size(); ++k) {
          const std::size_t which = (t + k) % runs.size();
          if (bitsOf(runs[which]().outputs) != expected[which]) ++mistakes[t];
        }
      });
    }
  }
  EXPECT_EQ(mistakes, std::vector<int>(4, 0));
}

}
}
