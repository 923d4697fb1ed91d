#include "tendril/statics/minimum_energy.h"

#include "statics/energy_program.h"
#include "tendril/elements/mechanism.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/statics/load_stepping.h"

#include <gtest/gtest.h>

namespace tendril::test {
namespace {

/// A beam of the length 1, or in millimetres, clamped and under its weight; with an inextensible model it has constraints. Aslant to
/// gravity.
Mechanism heavyBeam(double metre = 1, bool withLoad = false) {
  const double side = 1e-2 * metre;
  const auto section = SectionProperties::of(
      Section::rectangle(side, side), {.youngsModulus = 1e7 / metre, .poissonRatio = 0.3, .density = 1000 / (metre * metre * metre)});
  MechanismBuilder b;
  b.gravity(Vector3(1, 2, -9.81) * metre, TimeFunction::proportional());
  const auto beam =
      b.beam("rod", Curve::straight({0, 0, 0}, {metre, 0, 0}), section, {.elements = 6, .model = BeamModel::InextensibleKirchhoff});
  b.clamp("root", beam.start());
  if (withLoad) b.force("pull", beam.end(), {0, 0, 1}, LoadDirection::Dead, TimeFunction::proportional());
  return b.build();
}

Vector3 tipOf(const Mechanism& m, const State& s) {
  return loadPose(s.q.data() + m.model->blocks()[std::size_t(m.beams[0].nodes.back())].q).x;
}

template <class Analysis, class Options> State solved(const Mechanism& m, const Options& options) {
  Analysis analysis(*m.model, options);
  analysis.start();
  while (!analysis.finished()) EXPECT_TRUE(analysis.advance().stable());
  return analysis.state();
}

}

TEST(MinimumEnergy, FindsTheEquilibriumThatForcesHave) {
  const Mechanism m = heavyBeam();
  const State forces = solved<LoadStepping>(m, LoadSteppingOptions{}), energy = solved<MinimumEnergy>(m, MinimumEnergyOptions{});
  EXPECT_LT((tipOf(m, forces) - tipOf(m, energy)).norm(), 1e-7);
  EXPECT_LT((forces.lambda - energy.lambda).norm(), 1e-5 * forces.lambda.norm());
  const Mechanism inMillimetres = heavyBeam(1000);
  EXPECT_LT((tipOf(inMillimetres, solved<MinimumEnergy>(inMillimetres, MinimumEnergyOptions{})) / 1000 - tipOf(m, energy)).norm(), 1e-8);
}

TEST(MinimumEnergy, HasExactDerivatives) {
  const Mechanism m = heavyBeam();
  KktSystem kkt(*m.model, {});
  State state = solved<LoadStepping>(m, LoadSteppingOptions{});
  EnergyProgram program(kkt, state);
  requireConsistent(program);
  const DerivativeCheck check = checkDerivatives(program);
  EXPECT_LT(check.worst(), 1e-6) << check.describe();
}

TEST(MinimumEnergy, RefusesForcesWithoutAPotential) {
  const Mechanism m = heavyBeam(1, true);
  MinimumEnergy search(*m.model, {});
  EXPECT_THROW(search.start(), InputError);
}

}
