#include "tendril/scenes/scene.h"

#include "scenes/scene_builder.h"
#include "scenes/scene_schema.h"

namespace tendril {

struct Scene::Impl {
  explicit Impl(Document read) : document(std::move(read)), content(buildScene(document)) {}

  Document document;
  SceneContent content;
  SceneReference reference;
  ScenePicture picture;
  std::vector<std::string> warnings;
};

Scene::Scene(std::unique_ptr<Impl> content) : impl(std::move(content)) {
  // The first set of outputs checks their formulas; only then is it known which parameters are used.
  const Outputs outputs = makeOutputs();
  impl->reference = readReference(impl->document, outputs.infos());
  impl->picture = readPicture(impl->document, impl->content.argument, outputs.infos());
  for (const std::string& name : impl->document.unusedParameters()) {
    impl->warnings.push_back("the parameter '" + name + "' is not used; check its spelling where it should be");
  }
}

Scene Scene::fromFile(const std::filesystem::path& file, std::span<const std::string> overrides) {
  return Scene(std::make_unique<Impl>(Document::fromFile(file, overrides)));
}

Scene Scene::fromText(std::string_view text, std::string_view name, std::span<const std::string> overrides) {
  return Scene(std::make_unique<Impl>(Document::fromText(text, name, overrides)));
}

Scene Scene::fromSource(const DocumentSource& source, std::span<const std::string> overrides) {
  return Scene(std::make_unique<Impl>(Document::fromSource(source, overrides)));
}

Scene::Scene(Scene&&) noexcept = default;
Scene& Scene::operator=(Scene&&) noexcept = default;
Scene::~Scene() = default;

const std::string& Scene::title() const { return impl->content.title; }
const Document& Scene::document() const { return impl->document; }
const Mechanism& Scene::mechanism() const { return impl->content.mechanism; }
const ContactModel& Scene::contacts() const { return impl->content.contacts; }
const std::vector<Obstacle>& Scene::obstacles() const { return impl->content.obstacles; }
const OptimalControlOptions* Scene::manoeuvre() const { return impl->content.manoeuvre.get(); }
const CertificationOptions* Scene::certification() const { return impl->content.certification.get(); }
std::unique_ptr<Analysis> Scene::makeForwardAnalysis() const {
  return impl->content.makeForwardAnalysis(*mechanism().model, contacts(), {});
}
const std::vector<ShellPart>& Scene::shells() const { return impl->content.shells; }
const std::vector<Guide>& Scene::guides() const { return impl->content.guides; }
std::unique_ptr<Analysis> Scene::makeAnalysis(const FrictionObserver& observer) const {
  try {
    return impl->content.makeAnalysis(*mechanism().model, contacts(), observer);
  } catch (const InputError& error) {
    throw locate(error);
  }
}
InputError Scene::locate(const InputError& error) const { return tendril::locate(error, impl->content.labels, impl->document.root()); }
Outputs Scene::makeOutputs() const {
  const SceneContent& content = impl->content;
  return {*mechanism().model, content.outputs, document().parameters(), content.path, {document().root().units(), content.argument},
          &content.contacts};
}
bool Scene::dumpsFriction() const { return impl->content.dump.isAll || !impl->content.dump.steps.empty(); }
bool Scene::dumpsFriction(long step) const { return impl->content.dump.contains(step); }

void Scene::copyMeshes(const std::filesystem::path& results) const {
  namespace fs = std::filesystem;
  if (impl->content.meshes.empty()) return;
  const fs::path folder = results / scenes::MeshLibrary::copies;
  std::error_code status;
  fs::create_directories(folder, status);
  for (const scenes::MeshFile& file : impl->content.meshes) {
    if (!status) fs::copy_file(file.path, folder / file.copyName, fs::copy_options::overwrite_existing, status);
  }
  if (status) throw MachineFailure("cannot copy the meshes to " + folder.string() + ": " + status.message() + "; check the disk");
}

bool Scene::isDynamic() const { return impl->content.isDynamic; }
int Scene::outputEvery() const { return impl->content.outputEvery; }
const std::vector<std::string>& Scene::warnings() const { return impl->warnings; }
const SceneReference& Scene::reference() const { return impl->reference; }
const ScenePicture& Scene::picture() const { return impl->picture; }
const Schema& Scene::schema() { return scenes::scene(); }

}
