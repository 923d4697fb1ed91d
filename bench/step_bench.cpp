#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/elements/mechanism.h"

#include <benchmark/benchmark.h>

#include <numbers>

namespace tendril {
namespace {

Mechanism fallingCable(int elements) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const auto section = SectionProperties::of(Section::circle(0.005), {.youngsModulus = 1e7, .poissonRatio = 0, .density = 1000});
  const auto beam = b.beam("cable", Curve::straight({0, 0, 0}, {1, 0, 0}), section, {.elements = elements});
  b.joint(JointKind::Spherical, "pin", b.ground(), beam.start());
  return b.build();
}

/// N windows of uniform rods of 1 m and 1 kg, upright at the start, upper joints moving at 1 m/s.
Mechanism fourBar(int windows) {
  MechanismBuilder b;
  b.gravity({0, -9.81, 0});
  const double thin = 1e-4;
  const MassProperties rod{1, Vector3::Zero(), Vector3(thin, 1.0 / 12, 1.0 / 12).asDiagonal()};
  Matrix3 upright;
  upright << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  const Pose left{Matrix3::Identity(), {-0.5, 0, 0}}, right{Matrix3::Identity(), {0.5, 0, 0}};
  std::vector<MechanismBuilder::BodyHandle> links;
  for (int i = 0; i <= windows; ++i) {
    links.push_back(b.body("link " + std::to_string(i), rod, {upright, {double(i), 0.5, 0}}, {0.5, 0, 0}, {0, 0, -1}));
    b.joint(JointKind::Revolute, "foot " + std::to_string(i), b.ground({Matrix3::Identity(), {double(i), 0, 0}}), links[i].at(left));
  }
  for (int i = 0; i < windows; ++i) {
    const auto coupler = b.body("coupler " + std::to_string(i), rod, {Matrix3::Identity(), {i + 0.5, 1, 0}}, {1, 0, 0});
    b.joint(JointKind::Revolute, "left " + std::to_string(i), links[i].at(right), coupler.at(left));
    b.joint(JointKind::Revolute, "right " + std::to_string(i), links[i + 1].at(right), coupler.at(right));
  }
  return b.build();
}

void march(benchmark::State& run, const Mechanism& m, double duration, double tolerance) {
  double error = 0, iterations = 0, factorisations = 0;
  long steps = 0;
  for (auto _ : run) {
    run.PauseTiming();
    GeneralizedAlpha integrator(*m.model, {.duration = duration, .step = 1e-3, .rhoInfinity = 0.9, .tolerances = {tolerance, tolerance}});
    integrator.start();
    const double energy = m.model->energy(integrator.state()).total();
    run.ResumeTiming();
    for (; !integrator.finished(); ++steps) {
      const StepReport& report = integrator.advance();
      iterations += report.iterations;
      factorisations += report.factorisations;
    }
    error = m.model->energy(integrator.state()).total() - energy;
  }
  run.counters["step"] = benchmark::Counter(double(steps), benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  run.counters["iterations"] = iterations / double(steps);
  run.counters["factorisations"] = factorisations / double(steps);
  run.counters["energy_error_J"] = error;
}

void FallingCableStep(benchmark::State& run) { march(run, fallingCable(int(run.range(0))), 1, 1e-6); }
void FourBarStep(benchmark::State& run) { march(run, fourBar(int(run.range(0))), 10, 1e-8); }
BENCHMARK(FallingCableStep)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(FourBarStep)->Arg(2)->Arg(40)->Unit(benchmark::kMillisecond);

}
}
