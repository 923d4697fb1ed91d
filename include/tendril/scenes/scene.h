#pragma once
#include "tendril/documents/document.h"
#include "tendril/documents/schema.h"
#include "tendril/elements/mechanism.h"
#include "tendril/equations/analysis.h"
#include "tendril/scenes/outputs.h"
#include "tendril/scenes/scene_reference.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

class ContactModel;
struct Guide;
struct ShellPart;
struct FrictionProblem;
struct OptimalControlOptions;
struct CertificationOptions;

/// Something rigid that others touch and that they do not move.
struct Obstacle {
  std::string name;
  const Marker* marker = nullptr; ///< on the ground, at rest or in prescribed motion
  std::vector<Shape> shapes;
};

/// Sees every contact problem of an analysis after it was solved: step and impulses.
using FrictionObserver = std::function<void(long step, const FrictionProblem& problem, const VectorX& impulses)>;

/// A scene file, read and built: the mechanism, the analysis that is asked for and the outputs. Everything that can be checked without
/// running is checked; a refusal is an InputError with file, line, key, what was expected and the remedy.
///
///     const Scene scene = Scene::fromFile("scenes/beams/roll-up.yaml", {{"turns=1"}});
///     const std::unique_ptr<Analysis> analysis = scene.makeAnalysis();
///     Outputs outputs = scene.makeOutputs();
///
/// In statics, loads and gravity without a function of time grow in proportion to the load parameter t, from 0 to 1; in dynamics they are
/// constant.
///
/// The analysis and the outputs refer to the mechanism: the scene (or what it was moved to) must outlive them.
class Scene {
 public:
  /// Version of the format that `tendril:` must state.
  static constexpr int version = 1;

  /// Overrides are those of Document: NAME=VALUE or path.to.key=VALUE.
  static Scene fromFile(const std::filesystem::path& file, std::span<const std::string> overrides = {});
  static Scene fromText(std::string_view text, std::string_view name = "scene", std::span<const std::string> overrides = {});
  static Scene fromSource(const DocumentSource& source, std::span<const std::string> overrides = {});
  Scene(Scene&&) noexcept;
  Scene& operator=(Scene&&) noexcept;
  ~Scene();

  const std::string& title() const;
  const Document& document() const;
  const Mechanism& mechanism() const;
  /// What may touch what; empty without laws of contact.
  const ContactModel& contacts() const;
  const std::vector<Obstacle>& obstacles() const;
  /// The optimal control problem that is asked for; null in other analyses.
  const OptimalControlOptions* manoeuvre() const;
  /// What is certified under uncertainty; null in scenes without `certify`.
  const CertificationOptions* certification() const;
  const std::vector<ShellPart>& shells() const;
  /// Of the analysis of solvability.
  const std::vector<Guide>& guides() const;
  /// A new analysis in its initial state, start() not yet called.
  std::unique_ptr<Analysis> makeAnalysis(const FrictionObserver& observer = {}) const;
  /// The same without its certification: one run.
  std::unique_ptr<Analysis> makeForwardAnalysis() const;
  Outputs makeOutputs() const;

  /// In dynamics t is the time [s], in statics the load parameter.
  bool isDynamic() const;
  /// Whether any contact problem, or that of a step, is to be written beside the results.
  bool dumpsFriction() const;
  bool dumpsFriction(long step) const;
  /// Copies the mesh files of the scene into the folder `meshes` of its results, so that these can be exported on their own. Throws
  /// MachineFailure.
  void copyMeshes(const std::filesystem::path& results) const;
  /// Results are recorded every so many steps (the first and the last always).
  int outputEvery() const;
  /// The error with the place in the scene of what its message names: for those that only an analysis finds.
  InputError locate(const InputError& error) const;
  /// What is allowed but looks like a slip: parameters that nothing uses.
  const std::vector<std::string>& warnings() const;

  /// By what the results can be judged.
  const SceneReference& reference() const;
  /// How the gallery shows the scene.
  const ScenePicture& picture() const;

  /// All keys of a scene, for the JSON Schema and the reference page.
  static const Schema& schema();

 private:
  struct Impl;
  explicit Scene(std::unique_ptr<Impl> content);
  std::unique_ptr<Impl> impl;
};

}
