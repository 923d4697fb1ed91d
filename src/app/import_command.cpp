#include "app/commands.h"
#include "tendril/documents/units.h"
#include "tendril/imports/import.h"
#include "tendril/model/error.h"
#include "tendril/scenes/scene.h"

#include <fmt/format.h>

#include <map>
#include <memory>

namespace tendril::app {

namespace {

struct Options {
  ImportOptions import;
  std::string unit = "m";
  bool isStrict = false, replaces = false;
};

double lengthOf(const std::string& text) {
  const Unit unit = parseUnit(text);
  if (unit.dimension != dimension::length) throw InputError("--unit: '" + text + "' is no unit of length; write m, cm, mm, ...");
  return unit.factor;
}

void print(const char* kind, const std::vector<ImportRemark>& remarks) {
  for (const ImportRemark& r : remarks)
    fmt::print("  {}  {}{}\n", kind, r.line > 0 ? fmt::format("line {}: ", r.line) : std::string(), r.text);
}

/// What an analysis finds only at its start, an overlap or joints that contradict each other, is told at once.
void tryScene(const std::filesystem::path& file) {
  const Scene scene = Scene::fromFile(file);
  try {
    scene.makeAnalysis()->start();
  } catch (const InputError& error) {
    throw scene.locate(error);
  }
  const Mechanism& mechanism = scene.mechanism();
  fmt::print("{}: {} bodies, {} beams, {} outputs\n", file.string(), mechanism.bodies.size(), mechanism.beams.size(),
             scene.makeOutputs().infos().size());
}

int import(Options options) {
  options.import.unit = lengthOf(options.unit);
  std::filesystem::path& scene = options.import.scene;
  if (scene.empty()) scene = options.import.file.stem().string() + ".yaml";
  const Import result = importFile(options.import);
  print("lost", result.losses);
  print("note", result.remarks);
  if (options.isStrict && !result.losses.empty())
    throw InputError(fmt::format("{}: {} things cannot be carried over, and --strict asks for all; nothing is written",
                                 options.import.file.string(), result.losses.size()));
  writeImport(result, scene, options.replaces);
  tryScene(scene);
  return Success;
}

}

void addImport(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("import", "Make a scene from URDF, MJCF, a mesh (STL, OBJ) or a centreline (CSV)");
  const auto options = std::make_shared<Options>();
  ImportOptions& import_ = options->import;
  const std::map<std::string, ImportedBase> bases{
      {"auto", ImportedBase::Automatic}, {"fixed", ImportedBase::Fixed}, {"free", ImportedBase::Free}};
  command->add_option("file", import_.file, "File to read: .urdf, .xml, .mjcf, .stl, .obj, .csv")->required();
  command->add_option("-o,--output", import_.scene, "Scene to write (default: the name of the file, .yaml, in the present folder)");
  command->add_flag("--strict", options->isStrict, "What cannot be carried over, or has to be assumed, is an error");
  command->add_flag("--force", options->replaces, "Replace a scene that is there");
  command->add_option("--duration", import_.duration, "Duration of the analysis [s]")->capture_default_str();
  command->add_option("--step", import_.step, "Time step [s] (default: that of the file, or 0.001)");
  command->add_option("--unit", options->unit, "Meshes, centrelines: unit of the numbers in the file")->capture_default_str();
  command->add_option("--density", import_.density, "Meshes, centrelines: mass per volume [kg/m^3]");
  command->add_option("--radius", import_.radius, "Centrelines: radius of the round section [m]");
  command->add_option("--young", import_.young, "Centrelines: Young's modulus [Pa]");
  command->add_option("--poisson", import_.poisson, "Centrelines: Poisson's ratio");
  command->add_flag("--spline", import_.isSmooth, "Centrelines: a smooth curve through the points, not straight legs");
  command->add_option("--friction", import_.friction, "URDF: friction coefficient between all bodies; nothing touches without it");
  command->add_option("--base", import_.base, "URDF: whether the root link is held")
      ->transform(CLI::CheckedTransformer(bases))
      ->option_text("auto|fixed|free (default: auto, free if it has mass and is not called world)");
  command->callback([options, &action] { action = [options] { return import(*options); }; });
}

}
