#include "module.h"

#include "tendril/contact/contact_model.h"
#include "tendril/control/optimal_control.h"
#include "tendril/io/friction_file.h"
#include "tendril/io/results.h"
#include "tendril/io/run.h"
#include "tendril/io/simulate.h"
#include "tendril/scenes/friction_methods.h"
#include "tendril/scenes/scene.h"
#include "tendril/shells/sheet_shape.h"

namespace tendril::python {

namespace {

using Texts = std::vector<std::string>;

/// The scene once more: a run takes its scene along.
Scene again(const Scene& scene) {
  const Document& document = scene.document();
  return Scene::fromText(document.text(), document.fileName(), document.overrides());
}

RunOptions guarded(RunOptions options) {
  const Interruption interruption;
  options.stop = interruption.question(std::move(options.stop));
  options.progress = interruption.guarded(std::move(options.progress));
  return options;
}

/// The interpreter's lock is released while C++ works; callbacks take it for themselves.
RunOutcome runScene(const Scene& scene, RunOptions options) {
  options = guarded(std::move(options));
  const nb::gil_scoped_release released;
  return run(again(scene), options);
}

RunOutcome runFile(RunOptions options) {
  options = guarded(std::move(options));
  const nb::gil_scoped_release released;
  return run(options);
}

Eigen::VectorXd numbers(std::span<const double> values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), Eigen::Index(values.size()));
}

void defineScene() {
  classOf<Scene>()
      .def_static(
          "from_file",
          [](const std::filesystem::path& file, const Texts& overrides) {
            const nb::gil_scoped_release released;
            return Scene::fromFile(file, overrides);
          },
          nb::arg("file"), nb::arg("overrides") = Texts{}, "Reads and builds a scene file. Overrides: NAME=VALUE or path.to.key=VALUE.")
      .def_static(
          "from_text",
          [](const std::string& text, const std::string& name, const Texts& overrides) {
            const nb::gil_scoped_release released;
            return Scene::fromText(text, name, overrides);
          },
          nb::arg("text"), nb::arg("name") = "scene", nb::arg("overrides") = Texts{}, "Reads and builds a scene from YAML.")
      .def(
          "analysis", [](const Scene& self, const FrictionObserver& observer) { return self.makeAnalysis(observer); },
          nb::arg("observer").none() = nb::none(), nb::keep_alive<0, 1>(),
          "A new analysis in its initial state, start() not yet called. observer(step, problem, impulses) sees every contact problem after "
          "it was solved.")
      .def("outputs", &Scene::makeOutputs, nb::keep_alive<0, 1>(), "The outputs that the scene asks for, ready to observe an analysis.");
}

void defineOutputs() {
  const auto checked = [](auto get) {
    return [get](const Outputs& self, int i) {
      requireIndex("i", i, self.size());
      return numbers((self.*get)(i));
    };
  };
  classOf<Outputs>()
      .def("row", checked(&Outputs::row), nb::arg("i"), "Current values of output i.")
      .def("result", checked(&Outputs::result), nb::arg("i"), "The result of output i so far.")
      .def(
          "save",
          [](const Outputs& self) {
            Snapshot snapshot;
            self.save(snapshot);
            return snapshot;
          },
          "The memory of the outputs, for restore().");
}

void defineWriter() {
  classOf<ResultWriter>()
      .def(
          "__init__",
          [](ResultWriter* self, const std::filesystem::path& file, const RunMetadata& metadata) {
            new (self) ResultWriter(file, metadata);
          },
          nb::arg("file"), nb::arg("metadata") = RunMetadata{})
      .def_static(
          "resume", [](const std::filesystem::path& file, std::size_t rows) { return ResultWriter::resume(file, rows); }, nb::arg("file"),
          nb::arg("rows"),
          "Continues a file after so many rows; later ones are discarded. Series are declared again with the same shapes.");
}

}

void defineIo(nb::module_& m) {
  defineScene();
  defineOutputs();
  defineWriter();
  classOf<FrictionFile>().def_prop_ro(
      "reduction", [](FrictionFile& self) { return self.reduction ? &*self.reduction : nullptr; }, nb::rv_policy::reference_internal,
      "Of a global file: the problem with velocities and bilateral impulses; else None.");
  m.def("run_scene", runScene, nb::arg("scene"), nb::arg("options") = RunOptions{});
  m.def("run_file", runFile, nb::arg("options"));
  m.def(
      "simulate",
      [](const Model& model, Analysis& analysis, Outputs& outputs, SimulateOptions options) {
        const Interruption interruption;
        options.stop = interruption.question(std::move(options.stop));
        options.observe = interruption.guarded(std::move(options.observe));
        const nb::gil_scoped_release released;
        return simulate(model, analysis, outputs, options);
      },
      nb::arg("model"), nb::arg("analysis"), nb::arg("outputs"), nb::arg("options") = SimulateOptions{},
      "Advances an analysis that was not started to its end, in memory, and says what the summary of a run says.");
  classOf<SymbolTable>()
      .def(
          "__init__",
          [](SymbolTable* self, const std::map<std::string, Scope::Symbol>& symbols) {
            new (self) SymbolTable;
            for (const auto& [name, value] : symbols) self->set(name, value);
          },
          nb::arg("symbols") = std::map<std::string, Scope::Symbol>{}, "Numbers and texts by name.")
      .def("set", &SymbolTable::set, nb::arg("name"), nb::arg("value"));
  classOf<Scope>().def(
      "find",
      [](const Scope& self, const std::string& name) -> std::optional<Scope::Symbol> {
        const Scope::Symbol* found = self.find(name);
        return found ? std::optional(*found) : std::nullopt;
      },
      nb::arg("name"), "The number or text of a name; None when unknown.");
  classOf<Dimension>().def(
      "__eq__", [](const Dimension& self, const Dimension& other) { return self == other; }, nb::is_operator());
  nb::dict methods;
  for (const FrictionMethodName& known : frictionMethodNames) methods[known.name] = nb::cast(known.method);
  m.attr("friction_methods") = methods;
}

}
