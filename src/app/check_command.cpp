#include "app/commands.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/loads.h"
#include "tendril/io/scene.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <variant>

namespace tendril::app {

namespace {

struct Options {
  std::filesystem::path scene;
  std::vector<std::string> overrides;
};

void printParameters(const Document& document) {
  for (const std::string& name : document.parameterNames()) {
    const Scope::Symbol* symbol = document.parameters().find(name);
    if (!symbol) continue;
    if (const double* number = std::get_if<double>(symbol))
      fmt::print("  parameter  {} = {:.8g}\n", name, *number);
    else
      fmt::print("  parameter  {} = {}\n", name, std::get<std::string>(*symbol));
  }
}

void printParts(const Mechanism& mechanism) {
  for (const BeamPart& beam : mechanism.beams) {
    fmt::print("  beam       {}: {} elements, {:.6g} m\n", beam.name, beam.elements(), beam.length());
  }
  for (const BodyPart& body : mechanism.bodies) fmt::print("  body       {}: {:.6g} kg\n", body.name, body.mass.mass);
  if (const Joints* joints = mechanism.model->term<Joints>()) {
    for (int i = 0; i < joints->size(); ++i) {
      fmt::print("  joint      {}: {}, {} equations\n", joints->name(i), nameOf(joints->kind(i)), joints->rows(i));
    }
  }
  if (const Loads* loads = mechanism.model->term<Loads>()) fmt::print("  loads      {}\n", loads->size());
}

int check(const Options& options) {
  const Scene scene = Scene::fromFile(options.scene, options.overrides);
  const Model& model = *scene.mechanism().model;
  const Outputs outputs = scene.makeOutputs();
  fmt::print("{}: {}\n", options.scene.string(), scene.title());
  printParameters(scene.document());
  printParts(scene.mechanism());
  for (const Outputs::Info& info : outputs.infos()) {
    fmt::print("  output     {} [{}]: {}\n", info.name, info.unit, info.description);
  }
  fmt::print("  size       {} velocities, {} constraints; {}\n", model.nv(), model.nc(), scene.isDynamic() ? "dynamics" : "statics");
  for (const std::string& warning : scene.warnings()) fmt::print("  warning    {}\n", warning);
  // The start of the analysis finds redundant joints, initial values that do not fit, and masses that are missing.
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  analysis->start();
  for (const std::string& message : analysis->messages()) fmt::print("  note       {}\n", message);
  fmt::print("The scene is ready to run.\n");
  return Success;
}

}

void addCheck(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("check", "Read and build a scene without running it, and say what it contains");
  const auto options = std::make_shared<Options>();
  command->add_option("scene", options->scene, "Scene file (YAML)")->required();
  addRepeated(*command, "--set", options->overrides, "Set a parameter, NAME=VALUE, or any value, path.to.key=VALUE; may be repeated");
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

void addSchema(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("schema", "Print the JSON Schema of scenes, for editors");
  command->callback([&action] {
    action = [] {
      fmt::print("{}\n", Scene::schema().json());
      return Success;
    };
  });
}

}
