#include "scenes/scene_builder.h"

#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"

namespace tendril {

namespace scenes {

SceneContent SceneBuilder::build() {
  const Record scene(root_, scenes::scene());
  if (scene.has("units")) scene.object("units");
  if (scene.has("title")) content_.title = scene.text("title");
  const Record analysis = scene.object("analysis");
  const std::vector<Record> contacts = scene.objects("contacts");
  const bool hasBeams = !scene.objects("beams").empty() || !scene.objects("rods").empty();
  chooseAnalysis(analysis, !contacts.empty(), hasBeams);

  readLibrary(scene, "materials", materials_);
  readLibrary(scene, "sections", sections_);
  for (const Record& r : scene.objects("bodies")) addBody(r);
  for (const Record& r : scene.objects("beams")) addBeam(r);
  readRods(scene.objects("rods"), analysis);
  readShells(scene.objects("shells"), analysis);
  for (const Record& r : scene.objects("obstacles")) addObstacle(r);
  for (const Record& r : scene.objects("markers")) addMarker(r);
  for (const Record& r : scene.objects("point_masses")) addPointMass(r);
  for (const Record& r : scene.objects("joints")) addJoint(r);
  for (const Record& r : scene.objects("springs")) addSpring(r);
  for (const Record& r : scene.objects("loads")) addLoad(r);
  readActuators(scene.objects("actuators"));
  if (content_.isManoeuvre) readManoeuvre(analysis);
  if (content_.isSolvability) readSolvability(analysis);
  if (scene.has("gravity")) addGravity(scene.object("gravity"));
  if (!contacts.empty()) addParts(scene);
  for (const Record& r : contacts) addContact(r);
  refuseConflict(contacts);
  if (!knowsContactsOfBeams_) refuseTouchingBeams();
  content_.meshes = meshes_.files();
  readUncertainty(scene);
  const std::vector<Record> outputs = scene.objects("outputs");
  std::vector<const Marker*> outputMarkers;
  for (const Record& r : outputs) outputMarkers.push_back(r.has("on") ? &marker(r.node("on")) : nullptr);
  freeze();
  if (content_.isManoeuvre) makeManoeuvre(analysis);
  if (content_.isRod) makeRodStatics();
  if (content_.isShell) makeShellAnalysis(scene, analysis);
  for (std::size_t i = 0; i < outputs.size(); ++i) content_.outputs.push_back(readOutput(outputs[i], outputMarkers[i]));
  content_.makeForwardAnalysis = content_.makeAnalysis;
  if (certification_) makeCertification(scene.object("certify"));
  return std::move(content_);
}

void SceneBuilder::refuseUnavailable() const {
  const Node format = root_.at("tendril", "the version of the format, 1");
  if (format.toInteger() != 1) {
    format.refuse("this program reads version 1 of the scene format, not " + format.toText(), "write `tendril: 1`, or use a newer program");
  }
}

void SceneBuilder::chooseAnalysis(const Record& analysis, bool hasContacts, bool hasBeams) {
  const AnalysisChoice choice = readAnalysis(analysis, hasContacts, hasBeams);
  if (hasContacts && !choice.knowsContacts) {
    throw InputError(root_.keyLocation("contacts"), "contacts", "the method " + choice.method + " of the analysis knows no contact",
                     choice.isManoeuvre ? "remove the contacts"
                     : choice.isDynamic ? "write method: moreau, or nonsmooth-alpha where beams touch, or remove the contacts"
                                        : "write method: load-stepping, or remove the contacts");
  }
  content_.isDynamic = choice.isDynamic;
  content_.argument = choice.isDynamic ? dimension::time : dimension::none;
  content_.outputEvery = analysis.integer("output_every");
  content_.makeAnalysis = choice.make;
  if (analysis.variant() == "dynamic") watchSolvability(analysis, choice);
  content_.knowsContacts = choice.knowsContacts;
  knowsContactsOfBeams_ = choice.knowsContactsOfBeams;
  knowsRollingAndCohesion_ = choice.knowsRollingAndCohesion;
  content_.locatesEvents = choice.method == "event-driven";
  content_.hasDiscretePath = choice.hasDiscretePath;
  content_.isManoeuvre = choice.isManoeuvre;
  content_.isRod = choice.isRod;
  content_.isSolvability = choice.method == "solvability";
  content_.isShell = choice.isShell;
  content_.dump = choice.dump;
  content_.end = choice.end;
  if (choice.followsPath) content_.path = PathParameter::Distance;
}

/// What only the whole model can tell (markers that do not fit together) is thrown here, with the name of the object concerned.
void SceneBuilder::freeze() try { content_.mechanism = builder_.build(); } catch (const InputError& error) {
  throw locate(error, content_.labels, root_);
}

}

InputError locate(const InputError& error, const std::map<std::string, Node>& labels, const Node& root) {
  if (error.isLocated()) return error;
  const std::string message = error.what();
  const auto namedFirst = [&](bool withKind) {
    const Node* culprit = nullptr;
    std::size_t first = std::string::npos;
    for (const auto& [label, node] : labels) {
      const std::size_t at = message.find(withKind ? label : label.substr(label.find('\'')));
      if (at < first) first = at, culprit = &node;
    }
    return culprit;
  };
  const Node* culprit = namedFirst(true);
  if (!culprit) culprit = namedFirst(false); // some messages name parts without their kind
  if (!culprit) return {root.location(), "", message};
  const bool isDriven = culprit->isMap() && culprit->has("motion") && message.find("do not fit together") != std::string::npos;
  return {culprit->location(), culprit->path(), message,
          isDriven ? "the motion must begin at the angle or displacement that the joint has at the start" : ""};
}

SceneContent buildScene(const Document& document) { return scenes::SceneBuilder(document).build(); }

}
