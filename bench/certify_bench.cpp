#include "support/places.h"
#include "tendril/control/optimal_control.h"
#include "tendril/scenes/certification.h"
#include "tendril/scenes/scene.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

// Forward runs of the certification scenes per second of one core: values at new inputs (a sample), values of other controls at the same
// inputs, gradients, and the vectors that the search for controls draws together.

namespace tendril {
namespace {

/// Points of a scene as a worker gets them: controls of its start, then uncertain inputs.
class Points {
 public:
  explicit Points(const char* name)
      : scene_(Scene::fromFile(test::sourceFolder() + "/scenes/certify/" + name + ".yaml")), analysis_(scene_.makeAnalysis()),
        certification_(dynamic_cast<const Certification&>(*analysis_)), evaluate_(certification_.worker()()) {
    const std::unique_ptr<Analysis> nominal = scene_.makeForwardAnalysis();
    if (const auto* manoeuvre = dynamic_cast<const OptimalControl*>(nominal.get())) {
      nominal->start();
      controls_ = manoeuvre->path().controls().reshaped();
    }
  }

  /// At the sample of that number, controls changed by a share.
  VectorX at(long sample, double share = 0) const {
    const VectorX inputs = certification_.inputs().samples(RandomStream(1), 1, sample);
    VectorX point(controls_.size() + inputs.size());
    point << controls_ * (1 + share), inputs;
    return point;
  }
  MatrixX operator()(const VectorX& point, Wanted wanted) const { return evaluate_(point, wanted); }

 private:
  Scene scene_;
  std::unique_ptr<Analysis> analysis_;
  const Certification& certification_;
  PointEvaluator evaluate_;
  VectorX controls_;
};

void count(benchmark::State& state) {
  state.counters["runs"] = benchmark::Counter(double(state.iterations()), benchmark::Counter::kIsRate);
}

void certifySample(benchmark::State& state, const char* scene, Wanted wanted) {
  const Points points(scene);
  long sample = 0;
  for (auto _ : state) benchmark::DoNotOptimize(points(points.at(sample++), wanted));
  count(state);
}

void certifyControls(benchmark::State& state, const char* scene, Wanted wanted) {
  const Points points(scene);
  constexpr double share = 1e-9; // another run, as good as the same
  long run = 0;
  for (auto _ : state) benchmark::DoNotOptimize(points(points.at(0, share * double(++run)), wanted));
  count(state);
}

BENCHMARK_CAPTURE(certifySample, linear, "linear", Wanted::Values)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifySample, ball_throw, "ball-throw", Wanted::Values)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifySample, sliding_block, "sliding-block-mu", Wanted::Values)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifySample, cable, "cable-tension", Wanted::Values)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifySample, arm, "robot-arm-lengths", Wanted::Values)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifySample, arm_in_wind, "robot-arm-wind", Wanted::Values)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifySample, arm_gradient, "robot-arm-lengths", Wanted::Gradients)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifySample, arm_in_wind_gradient, "robot-arm-wind", Wanted::Gradients)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifyControls, arm, "robot-arm-lengths", Wanted::Values)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(certifyControls, arm_residuals, "robot-arm-lengths", Wanted::Residuals)->Unit(benchmark::kMicrosecond);

}
}
