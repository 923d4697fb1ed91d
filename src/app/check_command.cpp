#include "app/commands.h"
#include "tendril/analysis/solvability_check.h"
#include "tendril/documents/csv.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/loads.h"
#include "tendril/io/results.h"
#include "tendril/model/error.h"
#include "tendril/scenes/scene.h"
#include "tendril/shells/shell_analyses.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <variant>

namespace tendril::app {

namespace {

struct Options {
  std::filesystem::path scene;
  std::vector<std::string> overrides;
  std::filesystem::path along; ///< results of a run, whose states are examined; empty: none
};

/// Integrators leave gaps and rates of closed contacts near zero only.
constexpr ModelContactOptions asIntegrated{.gapTolerance = 1e-4, .rateTolerance = 1e-3};

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

/// Rank, freedoms and friction bounds where the analysis begins; the analysis of solvability says so itself.
void printSolvability(const Scene& scene, const Analysis& analysis) {
  const Model& model = *scene.mechanism().model;
  if (dynamic_cast<const SolvabilityCheck*>(&analysis) || analysis.state().q.size() != model.nq()) return;
  if (dynamic_cast<const ShellAnalysis*>(&analysis)) return; // equations of their own, not those of the model
  try {
    ModelContacts contacts(model, &scene.contacts(), {}, asIntegrated);
    for (const std::string& sentence : examine(contacts, analysis.state()).sentences()) fmt::print("  solvable   {}\n", sentence);
  } catch (const InputError& error) {
    fmt::print("  solvable   not examined: {}\n", error.what());
  }
}

/// The state of a row of results.
State stateOf(const ResultReader& results, const VectorX& times, std::size_t row) {
  State state;
  state.t = times[Eigen::Index(row)];
  state.q = results.stateRow("q", row);
  state.v = results.stateRow("v", row);
  return state;
}

/// Those of the first list that are not in the second.
std::vector<std::string> without(const std::vector<std::string>& list, const std::vector<std::string>& others) {
  std::vector<std::string> rest;
  for (const std::string& item : list) {
    if (std::find(others.begin(), others.end(), item) == others.end()) rest.push_back(item);
  }
  return rest;
}

std::string titleOf(const RunMetadata& run) {
  return Document::fromText(run.scene, "the scene of the results", run.arguments).root().text("title", "");
}

/// Results hold the text of their scene and the values that were set. Another text is refused; other values are what may be asked for (more
/// friction than the run had), and are told.
void compareScenes(const Document& document, const RunMetadata& run, const std::filesystem::path& folder) {
  if (run.scene != document.text())
    throw InputError({folder.string()}, "--along",
                     "the results are those of another scene, '" + titleOf(run) + "', or of this one before it was changed",
                     "check the scene as it was run: " + (folder / "scene.yaml").string());
  const std::vector<std::string> only = without(run.arguments, document.overrides()), here = without(document.overrides(), run.arguments);
  if (only.empty() && here.empty()) return;
  const auto list = [](const std::vector<std::string>& set) { return set.empty() ? "nothing" : fmt::format("{}", fmt::join(set, ", ")); };
  fmt::print("  note       the run had set {}, here is set {}: its states are examined with the values given here\n", list(only),
             list(here));
}

void examineAlong(const Scene& scene, const std::filesystem::path& folder) {
  const Model& model = *scene.mechanism().model;
  const ResultReader results(folder / "results.h5");
  compareScenes(scene.document(), results.metadata(), folder);
  const VectorX times = results.time();
  ModelContacts contacts(model, &scene.contacts(), scene.guides(), asIntegrated);
  const std::filesystem::path file = folder / "solvability.csv";
  std::ofstream out(file);
  out << "time,contacts,margin,bound,unique,solutions,at_risk\n";
  double least = std::numeric_limits<double>::infinity(), when = 0;
  for (std::size_t row = 0; row < results.rows(); ++row) {
    const State state = stateOf(results, times, row);
    if (state.q.size() != model.nq() || state.v.size() != model.nv())
      throw InputError("the results in " + folder.string() + " are of a model of another size: give the values that the run had");
    const Examination e = examine(contacts, state);
    const std::string risk = e.margin.endangered.empty() ? "" : e.sliding->name(e.margin.endangered.front());
    out << fmt::format("{:.9g},{},{:.9g},{:.9g},{},{},{}\n", state.t, e.sliding ? e.sliding->contacts() : 0, e.margin.factor,
                       e.bound.best(), e.unique(), quantityOf(e, "solutions").value(), csvField(risk));
    if (e.margin.factor < least) least = e.margin.factor, when = state.t;
  }
  if (!out.flush()) throw MachineFailure("cannot write " + file.string() + "; check the disk");
  fmt::print("  along      {} states; least margin {:.6g} at t = {:.6g}; series in {}\n", results.rows(), least, when, file.string());
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
  const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
  // The start of an analysis finds redundant joints, initial values that do not fit, and masses that are missing. That of a manoeuvre or a
  // certification is the whole of its work.
  if (!scene.manoeuvre() && !scene.certification()) {
    analysis->start();
    for (const std::string& message : analysis->messages()) fmt::print("  note       {}\n", message);
    if (scene.isDynamic()) printSolvability(scene, *analysis);
  }
  if (!options.along.empty()) examineAlong(scene, options.along);
  fmt::print("The scene is ready to run.\n");
  return Success;
}

}

void addCheck(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("check", "Read and build a scene without running it, and say what it contains");
  const auto options = std::make_shared<Options>();
  command->add_option("scene", options->scene, "Scene file (YAML)")->required();
  addRepeated(*command, "--set", options->overrides, "Set a parameter, NAME=VALUE, or any value, path.to.key=VALUE; may be repeated");
  command->add_option("--along", options->along, "Results of a run of this scene: examine every state, write solvability.csv there");
  command->callback([options, &action] { action = [options] { return check(*options); }; });
}

void addSchema(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("schema", "Print the JSON Schema of scenes, for editors");
  const auto markdown = std::make_shared<bool>(false);
  command->add_flag("--markdown", *markdown, "The reference page of all keys instead");
  command->callback([markdown, &action] {
    action = [markdown] {
      fmt::print("{}\n", *markdown ? Scene::schema().markdown() : Scene::schema().json());
      return Success;
    };
  });
}

}
