#include "tendril/scenes/outputs.h"

#include "support/allocation_counter.h"
#include "support/files.h"
#include "tendril/elements/mechanism.h"

#include <cmath>
#include <cstring>
#include <functional>

using namespace tendril;
using tendril::testing::expectError;

namespace {

/// An "analysis" that moves one body along a prescribed line, so that every output has a closed form.
class Motion final : public Analysis {
 public:
  Motion(const Model& model, std::vector<double> times, std::function<Vector3(double)> path)
      : times_(std::move(times)), path_(std::move(path)), state_(model.initialState()) {
    state_.lambda.setZero(model.nc());
    place();
  }
  void start() override {}
  bool finished() const override { return index_ + 1 == times_.size(); }
  const StepReport& advance() override {
    report_.h = times_[index_ + 1] - times_[index_];
    report_.iterations = 3;
    ++index_;
    place();
    report_.t = state_.t;
    return report_;
  }
  const State& state() const override { return state_; }
  VectorX reactions() override { return state_.lambda; }
  double progress() const override { return 0; }
  Snapshot save() override { return {}; }
  void restore(const Snapshot&) override {}

 private:
  void place() {
    state_.t = times_[index_];
    state_.q.head<3>() = path_(state_.t);
  }
  std::vector<double> times_;
  std::function<Vector3(double)> path_;
  State state_;
  std::size_t index_ = 0;
  StepReport report_;
};

struct Rig {
  Rig() {
    MechanismBuilder b;
    point = &b.body("body", MassProperties::sphere(1, 1), {}).at();
    mechanism = b.build();
  }
  OutputDefinition position(const std::string& name) const { return {.name = name, .quantity = measures::position(*point)}; }
  OutputDefinition x(const std::string& name, Reduction reduction = Reduction::Last, double at = 0) const {
    OutputDefinition output = position(name);
    output.component = OutputDefinition::Component{0};
    output.reduction = reduction;
    output.at = at;
    return output;
  }
  Outputs outputs(std::vector<OutputDefinition> definitions) const { return {*mechanism.model, std::move(definitions), parameters}; }
  /// Runs through the whole motion.
  void run(Outputs& outputs, const std::vector<double>& times, const std::function<Vector3(double)>& path) const {
    Motion motion(*mechanism.model, times, path);
    outputs.observe(motion, {});
    while (!motion.finished()) outputs.observe(motion, motion.advance());
  }

  Mechanism mechanism;
  const Marker* point;
  SymbolTable parameters{{"L", 2.0}};
};

OutputDefinition formula(const std::string& name, const std::string& text) {
  return {.name = name, .quantity = OutputDefinition::Formula{text, {"scene.yaml", 7, 3}, "outputs[1].expression"}};
}

std::vector<double> grid(double end, int steps) {
  std::vector<double> t;
  for (int i = 0; i <= steps; ++i) t.push_back(end * i / steps);
  return t;
}

}

TEST(Outputs, ReductionsOfAParabolaAndACubicAreExact) {
  const Rig rig;
  Outputs outputs =
      rig.outputs({rig.x("peak", Reduction::FirstMaximum), rig.x("valley", Reduction::FirstMinimum), rig.x("high", Reduction::Max),
                   rig.x("low", Reduction::Min), rig.x("now"), rig.x("then", Reduction::At, 0.77), rig.x("late", Reduction::At, 3)});
  // Uneven steps; the maximum of a parabola lies between two of them.
  const auto parabola = [](double t) { return Vector3(1 - (t - 0.63) * (t - 0.63), 0, 0); };
  rig.run(outputs, {0, 0.2, 0.5, 0.6, 0.9, 1.1}, parabola);
  EXPECT_NEAR(outputs.result(0)[0], 1, 1e-14);
  EXPECT_TRUE(std::isnan(outputs.result(1)[0]));
  EXPECT_NEAR(outputs.result(2)[0], parabola(0.6)[0], 1e-15);
  EXPECT_NEAR(outputs.result(3)[0], parabola(0)[0], 1e-15);
  EXPECT_NEAR(outputs.result(4)[0], parabola(1.1)[0], 1e-15);
  EXPECT_NEAR(outputs.result(5)[0], parabola(0.77)[0], 1e-14);
  const std::vector<std::string> messages = outputs.messages();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_NE(messages[0].find("'valley' has no value: it had no minimum"), std::string::npos);
  EXPECT_NE(messages[1].find("'late' has no value: the run did not reach t = 3"), std::string::npos);

  Outputs cubic = rig.outputs({rig.x("then", Reduction::At, 0.77), rig.x("early", Reduction::At, 0.1), rig.x("exact", Reduction::At, 0.9)});
  rig.run(cubic, {0, 0.2, 0.5, 0.6, 0.9, 1.1}, [](double t) { return Vector3(t * t * t, 0, 0); });
  EXPECT_NEAR(cubic.result(0)[0], std::pow(0.77, 3), 1e-15);
  EXPECT_NEAR(cubic.result(1)[0], 0.1 * 0.04, 1e-15) << "linear where there are not four steps yet";
  EXPECT_EQ(cubic.result(2)[0], 0.9 * 0.9 * 0.9);
}

TEST(Outputs, ExtremaConvergeWithTheThirdPowerOfTheStepOrBetter) {
  const Rig rig;
  double previous = 0;
  for (int steps : {40, 80}) {
    Outputs outputs = rig.outputs({rig.x("peak", Reduction::FirstMaximum), rig.x("valley", Reduction::FirstMinimum)});
    rig.run(outputs, grid(7, steps), [](double t) { return Vector3(std::sin(t + 0.1), 0, 0); });
    const double error = std::max(std::abs(outputs.result(0)[0] - 1), std::abs(outputs.result(1)[0] + 1));
    if (steps == 80) {
      EXPECT_LT(error, previous / 7);
    }
    previous = error;
  }
  EXPECT_LT(previous, 1e-5);
}

TEST(Outputs, ComponentsReferencesAndNorms) {
  const Rig rig;
  OutputDefinition offset = rig.position("offset"), distance = rig.position("distance"), given = rig.position("given");
  offset.relativeToInitial = true;
  distance.relativeToInitial = true;
  distance.component = OutputDefinition::Component{0, true};
  given.reference = {1, 1, 1};
  Outputs outputs = rig.outputs({offset, distance, given});
  rig.run(outputs, grid(1, 4), [](double t) { return Vector3(5 + 3 * t, -4 * t, 1); });
  EXPECT_TRUE(outputs.isArray(0));
  EXPECT_FALSE(outputs.isArray(1));
  EXPECT_EQ(outputs.result(0)[0], 3);
  EXPECT_EQ(outputs.result(0)[1], -4);
  EXPECT_EQ(outputs.result(1)[0], 5);
  EXPECT_EQ(outputs.result(2)[0], 7);
  EXPECT_EQ(outputs.infos()[0].unit, "m");
  EXPECT_EQ(outputs.infos()[0].frame, "inertial");
}

TEST(Outputs, FormulasUseOutputsParametersAndTime) {
  const Rig rig;
  // In any order; the result of a formula uses results, its row the rows.
  OutputDefinition worst = formula("worst", "ratio");
  worst.reduction = Reduction::Max;
  Outputs outputs = rig.outputs({formula("twice", "2*ratio"), formula("ratio", "-tip_y/tip_x*L + t"), rig.position("tip"),
                                 formula("peak_ratio", "peak/tip_1"), rig.x("peak", Reduction::Max), worst});
  rig.run(outputs, grid(1, 4), [](double t) { return Vector3(2 - t * t, t, 0); });
  EXPECT_NEAR(outputs.result(1)[0], -1 * 2 + 1, 1e-15);
  EXPECT_NEAR(outputs.result(0)[0], -2, 1e-15);
  EXPECT_NEAR(outputs.result(3)[0], 2, 1e-15);
  EXPECT_NEAR(outputs.row(3)[0], 1, 1e-15);
  EXPECT_NEAR(outputs.result(5)[0], 0, 1e-15);
}

TEST(Outputs, ConditionsChooseTheStepsThatCount) {
  const Rig rig;
  // x = 0, 1, 4, 9, 16, 9, 4, 1, 0 at t = 0, 1, ... 8.
  const auto path = [](double t) { return Vector3(std::pow(4 - std::abs(t - 4), 2), t, 0); };
  const auto on = [&](const std::string& name, Reduction reduction, const std::string& condition) {
    OutputDefinition output = rig.x(name, reduction);
    if (!condition.empty()) output.where = OutputDefinition::Condition{condition, {"scene.yaml", 9, 3}, "outputs[0].where"};
    return output;
  };
  OutputDefinition edges = formula("edges", "t - h/2");
  edges.reduction = Reduction::All;
  edges.where = OutputDefinition::Condition{"(x > 3)*(x < 10)", {"scene.yaml", 9, 3}, "outputs[0].where"};
  Outputs outputs =
      rig.outputs({on("last", Reduction::Last, "x > 8"), on("first", Reduction::First, "x > 8"), on("low", Reduction::Min, "x > 8"),
                   on("mean", Reduction::Mean, "x > L"), on("never", Reduction::Max, "x > 20"), edges, on("start", Reduction::First, ""),
                   on("all_mean", Reduction::Mean, ""), rig.x("x"), on("own", Reduction::Last, "own > 8")});
  rig.run(outputs, grid(8, 8), path);
  EXPECT_EQ(outputs.result(0)[0], 9);
  EXPECT_EQ(outputs.result(1)[0], 9);
  EXPECT_EQ(outputs.result(2)[0], 9);
  EXPECT_NEAR(outputs.result(3)[0], (4 + 9 + 16 + 9 + 4) / 5., 1e-14);
  EXPECT_TRUE(std::isnan(outputs.result(4)[0]));
  ASSERT_EQ(outputs.result(5).size(), 2u) << "at t = 2 and t = 5";
  EXPECT_EQ(outputs.result(5)[0], 1.5);
  EXPECT_EQ(outputs.result(5)[1], 4.5);
  EXPECT_TRUE(outputs.isArray(5));
  EXPECT_EQ(outputs.result(6)[0], 0);
  EXPECT_NEAR(outputs.result(7)[0], 44. / 8, 1e-14) << "the initial state is not a step";
  EXPECT_EQ(outputs.result(9)[0], 9);
  ASSERT_EQ(outputs.messages().size(), 1u);
  EXPECT_NE(outputs.messages()[0].find("'never' has no value: the condition 'x > 20' never held"), std::string::npos);
  expectError<InputError>([&] { rig.outputs({on("a", Reduction::Last, "b > 0")}); }, {"scene.yaml:9", "outputs[0].where", "'b'"});
}

TEST(Outputs, ArraysGatherNumbersAndVectors) {
  const Rig rig;
  const auto array = [](const std::string& name, const std::vector<std::string>& of) {
    return OutputDefinition{.name = name, .quantity = OutputDefinition::Gather{of, {"scene.yaml", 5, 3}, "outputs[0].of"}};
  };
  OutputDefinition longest = array("longest", {"tip"});
  longest.reduction = Reduction::Max;
  Outputs outputs = rig.outputs({array("mixed", {"high", "tip_y", "tip"}), rig.position("tip"), rig.x("high", Reduction::Max), longest,
                                 formula("use", "mixed_2 + longest_x"), array("one", {"high"})});
  rig.run(outputs, grid(4, 4), [](double t) { return Vector3(t * (4 - t), t, 1); });
  ASSERT_EQ(outputs.result(0).size(), 5u);
  EXPECT_EQ(outputs.result(0)[0], 4);
  EXPECT_EQ(outputs.result(0)[1], 4);
  EXPECT_EQ(outputs.result(0)[2], 0);
  EXPECT_EQ(outputs.row(0)[0], 0) << "over the steps an array holds the values of the steps";
  EXPECT_EQ(outputs.infos()[0].unit, "m");
  EXPECT_EQ(outputs.result(3)[0], 4);
  EXPECT_EQ(outputs.result(4)[0], 8);
  EXPECT_TRUE(outputs.isArray(5));
  expectError<InputError>([&] { rig.outputs({array("a", {"nothing"})}); }, {"scene.yaml:5", "no output 'nothing'"});
  expectError<InputError>([&] { rig.outputs({array("a", {"b"}), array("b", {"a"})}); }, {"scene.yaml:5", "depends on itself"});
}

TEST(Outputs, RefusesWhatMakesNoSense) {
  const Rig rig;
  expectError<InputError>([&] { rig.outputs({formula("a", "b + 1"), formula("b", "2*a")}); }, {"scene.yaml:7:3", "depends on itself"});
  expectError<InputError>(
      [&] {
        rig.outputs({rig.position("tip"), formula("a", "tip_w")});
      },
      {"scene.yaml:7:3: outputs[1].expression", "tip_w", "did you mean"});
  expectError<InputError>([&] { rig.outputs({rig.position("tip"), rig.position("tip")}); }, {"two outputs are named 'tip'"});
  OutputDefinition output = rig.position("tip");
  output.component = OutputDefinition::Component{5};
  expectError<InputError>([&] { rig.outputs({output}); }, {"output 'tip'", "no component 6"});
  output = rig.position("tip");
  output.reference = {1, 2};
  expectError<InputError>([&] { rig.outputs({output}); }, {"output 'tip'", "2 numbers"});
}

TEST(Outputs, MemoryIsRestoredBitForBit) {
  const Rig rig;
  const auto path = [](double t) { return Vector3(std::sin(5 * t), std::cos(t), t); };
  const auto definitions = [&] {
    OutputDefinition moved = rig.position("moved");
    moved.relativeToInitial = true;
    OutputDefinition rises = rig.x("rises", Reduction::All), mean = rig.x("mean", Reduction::Mean);
    rises.where = mean.where = OutputDefinition::Condition{"t*(f > 0.5)", {}, "where"};
    return std::vector<OutputDefinition>{rises,
                                         mean,
                                         rig.x("peak", Reduction::FirstMaximum),
                                         rig.x("then", Reduction::At, 0.55),
                                         rig.x("low", Reduction::Min),
                                         moved,
                                         formula("f", "peak + moved_z"),
                                         {.name = "balance", .quantity = StepQuantity::EnergyBalance}};
  };
  Outputs whole = rig.outputs(definitions()), first = rig.outputs(definitions()), second = rig.outputs(definitions());
  Motion motion(*rig.mechanism.model, grid(1, 20), path);
  whole.observe(motion, {});
  first.observe(motion, {});
  for (int step = 1; step <= 20; ++step) {
    const StepReport report = motion.advance();
    whole.observe(motion, report);
    if (step <= 6) first.observe(motion, report);
    if (step == 6) {
      Snapshot snapshot;
      first.save(snapshot);
      for (const auto& entry : snapshot) EXPECT_TRUE(entry.first.starts_with("outputs/")) << entry.first;
      second.restore(snapshot);
    }
    if (step > 6) second.observe(motion, report);
  }
  for (int i = 0; i < whole.size(); ++i) {
    ASSERT_EQ(whole.result(i).size(), second.result(i).size());
    EXPECT_EQ(std::memcmp(whole.result(i).data(), second.result(i).data(), whole.result(i).size_bytes()), 0) << whole.infos()[i].name;
  }
  EXPECT_NEAR(whole.result(2)[0], 1, 1e-3);
  EXPECT_GE(whole.result(0).size(), 1u);
}

#if TENDRIL_COUNTS_ALLOCATIONS
TEST(Outputs, ObservingMeasuresDoesNotAllocate) {
  const Rig rig;
  Outputs outputs = rig.outputs({rig.position("tip"),
                                 rig.x("peak", Reduction::FirstMaximum),
                                 rig.x("then", Reduction::At, 0.5),
                                 {.name = "balance", .quantity = StepQuantity::EnergyBalance}});
  Motion motion(*rig.mechanism.model, grid(1, 10), [](double t) { return Vector3(t * (1 - t), 0, 0); });
  outputs.observe(motion, {});
  while (!motion.finished()) {
    const StepReport report = motion.advance();
    const long before = test::allocationCount;
    outputs.observe(motion, report);
    EXPECT_EQ(test::allocationCount, before);
  }
}
#endif
