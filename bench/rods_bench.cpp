#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/elements/mechanism.h"
#include "tendril/rods/contact_equilibrium.h"
#include "tendril/rods/cosserat_equilibrium.h"
#include "tendril/rods/elastica.h"
#include "tendril/rods/packed_ring.h"
#include "tendril/rods/rod_equilibrium.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

// Rods in equilibrium: time of a solution; rods in motion: time of a step.

namespace tendril {
namespace {

/// The helix of silicone under its weight, from its natural shape.
template <RodForm form> void siliconeHelix(benchmark::State& run) {
  constexpr double EI = 1.94227e-5, GJ = 1.29485e-5, L = 0.2, beta = 75.751;
  int iterations = 0;
  for (auto _ : run) {
    StrainRod rod({.length = L,
                   .stiffness = {EI, EI, GJ},
                   .weight = {0, 0, -beta * EI / (L * L * L)},
                   .natural = [](double) { return Vector3(66.67, 0, -24.79); }},
                  int(run.range(0)));
    const RodEquilibrium found = solveEquilibrium(rod, {}, {.form = form});
    if (!found.isMinimum) return run.SkipWithError(found.message.c_str());
    iterations = found.iterations;
  }
  run.counters["iterations"] = iterations;
}
BENCHMARK(siliconeHelix<RodForm::Mixed>)->Arg(50)->Arg(100)->RangeMultiplier(10)->Range(1000, 100000)->Unit(benchmark::kMillisecond);
BENCHMARK(siliconeHelix<RodForm::Strains>)->Arg(50)->Arg(100)->Unit(benchmark::kMillisecond);

/// Clamps at 0.2 of the length, from strains of 1.
template <RodForm form> void betweenClamps(benchmark::State& run) {
  int iterations = 0;
  for (auto _ : run) {
    StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, int(run.range(0)));
    rod.place({}, VectorX::Ones(rod.size()));
    const RodEquilibrium found =
        solveEquilibrium(rod, {.position = Vector3(0, 0, 0.2), .orientation = Matrix3::Identity()}, {.form = form});
    if (!found.isMinimum) return run.SkipWithError(found.message.c_str());
    iterations = found.iterations;
  }
  run.counters["iterations"] = iterations;
}
BENCHMARK(betweenClamps<RodForm::Mixed>)->Arg(20)->Arg(100)->Unit(benchmark::kMillisecond);
BENCHMARK(betweenClamps<RodForm::Strains>)->Arg(20)->Arg(100)->Unit(benchmark::kMillisecond);

void strainGradient(benchmark::State& run) {
  StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}, .weight = {0, 0, -10}}, int(run.range(0)));
  const VectorX u = VectorX::Ones(rod.size());
  VectorX g = VectorX::Zero(rod.size());
  for (auto _ : run) {
    rod.place({}, u);
    rod.addEnergyGradient(1, g);
    benchmark::DoNotOptimize(g.data());
  }
}
BENCHMARK(strainGradient)->Arg(100)->Arg(10000)->Unit(benchmark::kMicrosecond);

void elasticaShooting(benchmark::State& run) {
  const double eps2 = double(run.range(0)) / 100;
  for (auto _ : run) {
    const Elastica e = shootElastica(eps2, 2 * std::sqrt(eps2) * M_PI, M_PI * M_PI * (1 + eps2 / 2), 0);
    if (!e.isSolved) return run.SkipWithError(e.message.c_str());
  }
}
BENCHMARK(elasticaShooting)->Arg(10)->Arg(90)->Unit(benchmark::kMicrosecond);

/// One iteration of Newton's method for a Cosserat rod clamped at both ends: balances, second derivatives, factorisation, step.
void cosseratIteration(benchmark::State& run) {
  CosseratRod rod({.length = 1, .bending = {1, 1, 0.7}, .shearing = {200, 200, 200}, .weight = {0, -20, 5}}, int(run.range(0)));
  for (const RodEnd end : {RodEnd::Begin, RodEnd::End}) rod.hold(end, RodHold::Clamped);
  rod.placeBetween({}, {Matrix3::Identity(), {0.1, 0, 0.8}});
  CosseratEquations equations(rod);
  std::vector<ResidualGroup> groups(std::size_t(equations.groupCount()));
  VectorX step(equations.size());
  for (auto _ : run) {
    if (!equations.evaluate(groups) || !equations.factorise() || !equations.solve(step)) return run.SkipWithError("singular");
    benchmark::DoNotOptimize(step.data());
  }
  run.SetComplexityN(run.range(0));
}
BENCHMARK(cosseratIteration)->RangeMultiplier(10)->Range(100, 100000)->Unit(benchmark::kMillisecond)->Complexity(benchmark::oN);

/// A tangle to the folded ring, the mean of ten.
void packedRing(benchmark::State& run) {
  unsigned seed = 0;
  for (auto _ : run) {
    const PackedRing ring = packRing({.elements = int(run.range(0)), .radius = 0.14, .index = 1, .seed = 1 + seed++ % 10});
    if (!ring.isSolved) return run.SkipWithError(ring.message.c_str());
  }
}
BENCHMARK(packedRing)->Arg(100)->Arg(400)->Iterations(10)->Unit(benchmark::kMillisecond);

/// A rod that winds up to a plectoneme: all its equilibria from untwisted to `turns`, to a residual that the gradient flow reaches, too,
/// where the rod is about to snap.
template <ContactDescent method> void plectoneme(benchmark::State& run) {
  const int elements = int(run.range(0)), steps = int(run.range(1));
  const double turns = 0.1 * double(run.range(2));
  long iterations = 0;
  for (auto _ : run) {
    StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, elements);
    rod.place({}, Vector3(2.5, 0, 0).replicate(elements, 1));
    for (int k = 0; k <= steps; ++k) {
      const RodEnds ends{
          .begin = {}, .position = Vector3(0, 0, 0.65), .orientation = so3::exp(Vector3(0, 0, 2 * M_PI * turns * k / steps))};
      const RodContactEquilibrium found = solveContactEquilibrium(rod, ends, {.radius = 0.01, .touchesItself = true, .obstacles = {}},
                                                                  {.method = method, .tolerance = 1e-6, .maxIterations = 1000000});
      if (!found.isMinimum) return run.SkipWithError(found.message.c_str());
      iterations += found.iterations;
    }
  }
  run.counters["iterations"] = double(iterations);
}
BENCHMARK(plectoneme<ContactDescent::Newton>)->Args({200, 200, 50})->Args({100, 144, 40})->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(plectoneme<ContactDescent::Flow>)->Args({100, 144, 40})->Iterations(1)->Unit(benchmark::kMillisecond);

/// A step of the swing of a curl whose coordinates are its strains.
void superHelixStep(benchmark::State& run) {
  SectionProperties section;
  section.stiffness.diagonal() << 0, 0, 0, 0.015, 0.02, 0.02;
  section.mass.diagonal() << 0.3, 0.3, 0.3, 2.4e-6, 1.2e-6, 1.2e-6;
  MechanismBuilder builder;
  builder.gravity({0, 0, -9.81});
  const auto rod =
      builder.rod("curl", section, {.length = 0.8, .elements = int(run.range(0)), .natural = [](double) { return Vector3(2, 4, 0); }});
  builder.clamp("wall", rod.start());
  const Mechanism mechanism = builder.build();
  GeneralizedAlpha analysis(*mechanism.model, {.duration = 1e3, .step = 1e-3, .rhoInfinity = 0.8});
  analysis.start();
  for (auto _ : run) analysis.advance();
}
BENCHMARK(superHelixStep)->Arg(5)->Arg(20)->Arg(50)->Iterations(200)->Unit(benchmark::kMillisecond);

}
}
