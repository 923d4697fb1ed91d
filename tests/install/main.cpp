// A cantilever under the end moment 2 pi EI / L closes to a circle: its tip returns to the clamp.
#include <tendril/elements/mechanism.h>
#include <tendril/lie/se3.h>
#include <tendril/statics/load_stepping.h>

#include <cstdio>
#include <numbers>

using namespace tendril;

int main() {
  const double length = 1;
  const Section section = Section::circle(0.005);
  const Material rubber{.youngsModulus = 5e6, .poissonRatio = 0.5, .density = 1100};
  const double moment = 2 * std::numbers::pi * rubber.youngsModulus * section.I3 / length;

  MechanismBuilder builder;
  const auto beam =
      builder.beam("beam", Curve::straight({0, 0, 0}, {length, 0, 0}), SectionProperties::of(section, rubber), {.elements = 8});
  builder.clamp("clamp", beam.start());
  builder.moment("roll", beam.end(), {0, 0, moment}, LoadDirection::Dead, TimeFunction::proportional());
  const Mechanism mechanism = builder.build();
  const Model& model = *mechanism.model;

  LoadStepping statics(model, {});
  statics.start();
  while (!statics.finished()) statics.advance();

  const int tip = model.blocks()[mechanism.beam("beam").nodes.back()].q;
  const double gap = loadPose(statics.state().q.data() + tip).x.norm();
  std::printf("distance of the tip from the clamp: %.1e m\n", gap);
  return gap < 1e-7 ? 0 : 1;
}
