#include "tendril/elements/mechanism.h"
#include "tendril/equations/kkt_system.h"
#include "tendril/model/assembly.h"

#include <benchmark/benchmark.h>

#include <numbers>

namespace tendril {
namespace {

/// A cable that hangs from one end: rubber, 1 cm thick.
Mechanism cable(int elements, BeamModel model = BeamModel::SimoReissner) {
  MechanismBuilder b;
  b.gravity({0, 0, -9.81});
  const auto section = SectionProperties::of(Section::circle(0.005), {.youngsModulus = 1e7, .poissonRatio = 0, .density = 1000});
  const auto beam = b.beam("cable", Curve::arc({0, 0, 0}, {1, 0, 0}, {0, 0, -1}, 1, 1), section, {.elements = elements, .model = model});
  b.joint(JointKind::Spherical, "pin", b.ground(), beam.start());
  return b.build();
}

State movingState(const Model& model) {
  State state = model.initialState();
  for (int i = 0; i < model.nv(); ++i) state.v[i] = std::sin(i), state.a[i] = std::cos(3.0 * i);
  return state;
}

void perElement(benchmark::State& run, const Request& request, BeamModel beam) {
  const int elements = 100;
  const Mechanism m = cable(elements, beam);
  Assembly assembly(*m.model);
  const State state = movingState(*m.model);
  const Beams& beams = *m.model->term<Beams>();
  for (auto _ : run) {
    assembly.begin(request);
    beams.evaluate(state, assembly);
    benchmark::DoNotOptimize(assembly.residual().data());
  }
  run.counters["per_element"] =
      benchmark::Counter(double(run.iterations()) * elements, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BeamElementResidual(benchmark::State& run) { perElement(run, {.tangent = false}, BeamModel(run.range(0))); }
void BeamElementResidualAndTangent(benchmark::State& run) {
  perElement(run, {.tangent = true, .damping = 1e3, .inertia = 1e6}, BeamModel(run.range(0)));
}
void BeamElementStaticResidualAndTangent(benchmark::State& run) {
  perElement(run, {.motion = false, .tangent = true}, BeamModel(run.range(0)));
}
BENCHMARK(BeamElementResidual)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK(BeamElementResidualAndTangent)->Arg(0)->Arg(1)->Arg(2);
BENCHMARK(BeamElementStaticResidualAndTangent)->Arg(0);

/// One iteration of Newton's method in statics: residual, tangent, factorisation with kept pivots, solution.
void HangingCableNewtonIteration(benchmark::State& run) {
  const Mechanism m = cable(int(run.range(0)));
  KktSystem kkt(*m.model, {});
  const State state = m.model->initialState();
  VectorX delta(m.model->nv()), deltaLambda(m.model->nc());
  kkt.evaluate(state, {.motion = false});
  kkt.balance();
  kkt.evaluate(state, {.motion = false});
  kkt.factorise();
  for (auto _ : run) {
    kkt.evaluate(state, {.motion = false});
    kkt.factorise();
    kkt.solve(delta, deltaLambda);
    benchmark::DoNotOptimize(delta.data());
  }
  run.SetComplexityN(run.range(0));
}
BENCHMARK(HangingCableNewtonIteration)->RangeMultiplier(10)->Range(100, 100000)->Unit(benchmark::kMillisecond)->Complexity();

}
}
