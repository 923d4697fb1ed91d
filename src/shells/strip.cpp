#include "tendril/shells/strip.h"

#include "tendril/model/attached_frames.h"
#include "tendril/model/error.h"
#include "tendril/shells/coordinate_ties.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace tendril {

namespace {

/// Slopes that count as one.
constexpr double sameSlope = 1e-9;

std::string nameOfPatch(const std::string& strip, std::size_t i) { return fmt::format("{}, patch {}", strip, i + 1); }

void checkChain(const std::string& label, const std::vector<StripPatch>& patches) {
  if (patches.empty()) throw InputError(label + ": it has no patches; give one at least");
  for (std::size_t i = 0; i + 1 < patches.size(); ++i)
    if (!(std::abs(patches[i].end - patches[i + 1].begin) <= sameSlope))
      throw InputError(
          fmt::format("{}: patches {} and {} have no ruling in common, slopes {:g} and {:g}, so that their joint would stretch; "
                      "give both the same",
                      label, i + 1, i + 2, patches[i].end, patches[i + 1].begin));
  for (const double end : {patches.front().begin, patches.back().end})
    if (!(std::abs(end) <= sameSlope))
      throw InputError(fmt::format("{}: a ruling has the slope {:g} at its end, but ends are rulings, of the slope 0; let slopes begin and "
                                   "end with 0",
                                   label, end));
}

PatchProperties propertiesOf(const StripOptions& options, std::size_t i) {
  PatchProperties p = options.properties;
  p.domain = {0, p.domain.length() / double(options.patches.size()), -p.domain.width() / 2, p.domain.width() / 2};
  p.natural = options.patches[i].natural;
  return p;
}

/// Rulings that neighbours share, and those at the ends; or all, where they do not turn.
void tieRulings(ModelBuilder& builder, const std::string& label, const StripOptions& options, const std::vector<ShellPart>& patches) {
  CoordinateTies& ties = builder.term<CoordinateTies>();
  for (std::size_t i = 0; i < patches.size(); ++i) {
    const StripPatch& p = options.patches[i];
    const BlockCoordinate begin{patches[i].coordinates, 0}, end{patches[i].coordinates, 1};
    const std::string name = nameOfPatch(label, i) + ", its ruling";
    if (i == 0 || !options.turns) ties.hold(name + " at the begin", begin, p.begin);
    if (i + 1 == patches.size() || !options.turns)
      ties.hold(name + " at the end", end, p.end);
    else
      ties.tie(name + " at the end", end, {patches[i + 1].coordinates, 0});
  }
}

}

ShellPart addStrip(ModelBuilder& builder, const std::string& name, const StripOptions& options) {
  const std::string label = "strip '" + name + "'";
  options.properties.check();
  checkChain(label, options.patches);
  const std::size_t count = options.patches.size();
  const PatchDomain domain = propertiesOf(options, 0).domain;
  const auto shape = std::make_shared<StripSheet>(domain.length(), options.columns, options.rows);
  ShellPart strip;
  strip.name = name, strip.thickness = options.thickness;
  strip.domain = {0, options.properties.domain.length(), domain.begin2, domain.end2};
  strip.rows = 8;
  const auto follow = [&](const ShellPart& before, std::size_t index) {
    return attachFrame(builder, label, int(index),
                       std::make_unique<SheetFrame>(builder, before.frame, before.coordinates, shape, Vector2(domain.length(), 0)));
  };
  for (std::size_t i = 0; i < count; ++i) {
    const StripPatch& p = options.patches[i];
    ShellPatch patch;
    patch.name = nameOfPatch(label, i), patch.properties = propertiesOf(options, i), patch.shape = shape, patch.air = options.air;
    patch.properties.check();
    const Vector3 q(p.begin, p.end, p.bend * domain.length());
    if (const std::string wrong = shape->refusal(q.data(), domain); !wrong.empty()) throw InputError(patch.name + ": " + wrong);
    patch.natural = q;
    patch.frame = i == 0 ? builder.addPose(label, 0, options.frame, options.twist) : follow(strip.patches.back(), i);
    patch.coordinates = builder.addVector(patch.name, q, Vector3::Zero());
    ShellPart part;
    part.name = patch.name, part.frame = patch.frame, part.coordinates = patch.coordinates, part.domain = domain;
    part.thickness = options.thickness, part.shape = shape, part.rows = strip.rows, part.columns = count < 64 ? 4 : 2;
    builder.term<ShellPatches>().add(std::move(patch));
    strip.patches.push_back(std::move(part));
  }
  tieRulings(builder, label, options, strip.patches);
  strip.frame = strip.patches.front().frame, strip.end = follow(strip.patches.back(), count);
  strip.columns = int(count) * strip.patches.front().columns;
  return strip;
}

}
