#include <benchmark/benchmark.h>

#include "tendril/lie/se3.h"

namespace tendril {
namespace {

/// A twist of one metre and the given angle about an oblique axis.
Vector6 twist(double angle) {
  Vector6 d;
  d << 1, 0.1, -0.2, angle * Vector3(1, 2, -2) / 3;
  return d;
}

// The argument of each benchmark is the angle of rotation in milliradians: below and above the switch from series to closed forms.
double angle(const benchmark::State& state) { return 1e-3 * static_cast<double>(state.range(0)); }

void exponential(benchmark::State& state) {
  Vector6 d = twist(angle(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(d);
    benchmark::DoNotOptimize(se3::exp(d));
  }
}

void logarithm(benchmark::State& state) {
  Pose H = se3::exp(twist(angle(state)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(H);
    benchmark::DoNotOptimize(se3::log(H));
  }
}

void tangentInverse(benchmark::State& state) {
  Vector6 d = twist(angle(state));
  for (auto _ : state) {
    benchmark::DoNotOptimize(d);
    benchmark::DoNotOptimize(se3::tangentInverse(d));
  }
}

void tangentInverseTransposeDerivative(benchmark::State& state) {
  Vector6 d = twist(angle(state)), f = twist(0.7);
  for (auto _ : state) {
    benchmark::DoNotOptimize(d);
    benchmark::DoNotOptimize(se3::tangentInverseTransposeDerivative(d, f));
  }
}

/// The kinematics of one beam element: relative twist, inverse tangent, its transposed derivative, interpolation at two points.
void beamElement(benchmark::State& state) {
  static constexpr se3::InterpolationSeries first(0.2113248654051871), second(0.7886751345948129);
  Pose A = se3::exp(twist(0.4)), B = A * se3::exp(twist(angle(state)));
  Vector6 f = twist(0.7);
  for (auto _ : state) {
    benchmark::DoNotOptimize(A);
    benchmark::DoNotOptimize(B);
    const se3::AdPowers powers(se3::log(A.relative(B)));
    const double x = powers.angleSquared();
    const auto inverse = so3::tangentInverseFunction(x);
    benchmark::DoNotOptimize(powers.evaluate(inverse));
    benchmark::DoNotOptimize(powers.transposeDerivative(inverse, f));
    benchmark::DoNotOptimize(powers.evaluate(first.at(x)));
    benchmark::DoNotOptimize(powers.evaluate(second.at(x)));
  }
}

BENCHMARK(exponential)->Arg(100)->Arg(2500);
BENCHMARK(logarithm)->Arg(100)->Arg(2500);
BENCHMARK(tangentInverse)->Arg(100)->Arg(2500);
BENCHMARK(tangentInverseTransposeDerivative)->Arg(100)->Arg(2500);
BENCHMARK(beamElement)->Arg(100)->Arg(2500);

}
}
