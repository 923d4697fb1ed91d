#include "scenes/scene_builder_class.h"

#include <algorithm>

namespace tendril::scenes {

namespace {

constexpr const char* outlineOfBeam = "give the beam a `contact_radius`, or a round section";

bool isBeam(const std::vector<BeamPart>& beams, const std::string& name) {
  return std::any_of(beams.begin(), beams.end(), [&](const BeamPart& beam) { return beam.name == name; });
}

}

void SceneBuilder::addParts(const Record& scene) {
  const std::vector<BodyPart>& bodies = builder_.bodies();
  const std::vector<Record> bodyRecords = scene.objects("bodies"), obstacleRecords = scene.objects("obstacles");
  for (std::size_t i = 0; i < bodies.size(); ++i) addPart(bodyRecords[i], builder_.body(bodies[i].name).at(), bodies[i].shapes);
  for (std::size_t i = 0; i < obstacleRecords.size(); ++i) {
    addPart(obstacleRecords[i], *content_.obstacles[i].marker, content_.obstacles[i].shapes);
  }
  const std::vector<Record> beamRecords = scene.objects("beams");
  for (std::size_t i = 0; i < beamRecords.size(); ++i) addCurve(beamRecords[i], builder_.beams()[i]);
  const std::vector<Record> shellRecords = scene.objects("shells");
  for (std::size_t i = 0; i < shellRecords.size(); ++i) addSheetParts(shellRecords[i], content_.shells[i]);
  const std::vector<Record> rodRecords = scene.objects("rods");
  for (std::size_t i = 0; i < rodRecords.size(); ++i) addCurve(rodRecords[i], builder_.beams()[beamRecords.size() + i]);
}

void SceneBuilder::addPart(const Record& r, const Marker& marker, const std::vector<Shape>& shapes) {
  ContactModel::Part part{.name = r.text("name"), .surface = surfaceOf(r), .marker = &marker, .shapes = {}, .curve = {}};
  if (!part.surface.empty() && shapes.empty()) r.node("surface").refuse("the body has no shape, so nothing can touch it", "give `shapes`");
  const std::vector<Record> shapeRecords = r.objects("shapes");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    placed(shapeRecords[i].node(), [&] { part.shapes.push_back(collisionShape(shapes[i], "the shape of '" + part.name + "'")); });
  }
  surfaces_[part.name] = part.surface;
  content_.contacts.addPart(std::move(part));
}

std::string SceneBuilder::surfaceOf(const Record& r) const {
  const std::string surface = r.has("surface") ? r.text("surface") : "";
  if (surface == "all" || parts_.contains(surface)) {
    r.node("surface").refuse("the name '" + surface + "' means something else", "choose another name for the surface");
  }
  return surface;
}

/// A beam touches with the outline of its section, if this is round, or with a radius of its own; otherwise it is, as what touches goes, a
/// place of the ground without shapes.
void SceneBuilder::addCurve(const Record& r, const BeamPart& beam) {
  const Section& outline = beam.section.outline;
  const bool isRound = outline.shape != Section::Shape::Rectangle && outline.width > 0; // a stiffness is given with a radius
  ContactModel::Part part{.name = beam.name, .surface = surfaceOf(r), .marker = nullptr, .shapes = {}, .curve = {}};
  if (isRound || r.has("contact_radius")) {
    part.curve.emplace();
    part.curve->radius = r.has("contact_radius") ? r.number("contact_radius") : outline.width / 2;
    for (int e = 0; e < beam.elements(); ++e) {
      part.curve->segments.push_back({{beam.nodes[e], beam.nodes[e + 1]}, beam.arclength[e + 1] - beam.arclength[e]});
    }
  } else {
    part.marker = &builder_.ground();
    if (!part.surface.empty()) r.node("surface").refuse("the beam has no round outline, so nothing can touch it", outlineOfBeam);
  }
  surfaces_[part.name] = part.surface;
  content_.contacts.addPart(std::move(part));
}

CollisionShape SceneBuilder::collisionShape(const Shape& shape, const std::string& label) {
  if (!shape.mesh) return {shape, label};
  for (const CollisionShape& made : meshShapes_) {
    const Shape& other = made.shape();
    if (other.mesh == shape.mesh && other.kind == shape.kind && other.pose.x == shape.pose.x && other.pose.R == shape.pose.R) return made;
  }
  return meshShapes_.emplace_back(shape, label);
}

void SceneBuilder::addContact(const Record& r) {
  claim(r, "contact");
  if (r.has("between") == r.has("exclude")) {
    r.node().refuse("say what touches what, or what does not", "give either `between: [A, B]` or `exclude: [A, B]`");
  }
  for (const char* key : {"rolling_friction", "pivoting_friction", "cohesion"}) {
    if (r.number(key) > 0 && !knowsRollingAndCohesion_)
      r.node(key).refuse("the method of the analysis does not know it", "remove it, or choose `method: moreau`");
  }
  if (r.has("between")) {
    const auto [first, second] = partners(r.node("between"));
    content_.contacts.addLaw({first, second, readContactLaw(r)});
    return;
  }
  const auto [first, second] = partners(r.node("exclude"));
  for (const std::string& name : {first, second}) {
    if (content_.contacts.find(name) < 0)
      r.node("exclude").refuse("'" + name + "' is neither a body nor a beam nor an obstacle", "name two of them");
  }
  content_.contacts.exclude(first, second);
}

void SceneBuilder::refuseConflict(const std::vector<Record>& contacts) const {
  const auto conflict = content_.contacts.findConflict();
  if (!conflict) return;
  std::vector<const Record*> laws;
  for (const Record& r : contacts) {
    if (r.has("between")) laws.push_back(&r);
  }
  const Record &first = *laws[std::size_t(conflict->firstLaw)], &second = *laws[std::size_t(conflict->secondLaw)];
  second.node("between").refuse(content_.contacts.describe(*conflict) + ", the contact '" + first.text("name") + "' and this one",
                                content_.contacts.remedy(*conflict));
}

void SceneBuilder::refuseTouchingBeams() const {
  const std::vector<ContactModel::Part>& parts = content_.contacts.parts();
  for (int i = 0; i < int(parts.size()); ++i) {
    for (int k = 0; parts[std::size_t(i)].curve && k < int(parts.size()); ++k) {
      if (!content_.contacts.law(i, k)) continue;
      throw InputError(root_.keyLocation("contacts"), "contacts",
                       "by these laws the beam '" + parts[std::size_t(i)].name + "' can touch '" + parts[std::size_t(k)].name +
                           "', and the method of the analysis knows no contact of beams",
                       "write analysis: {type: dynamic, method: nonsmooth-alpha, ...}, or a static analysis by load-stepping");
    }
  }
}

std::pair<std::string, std::string> SceneBuilder::partners(const Node& node) {
  if (!node.isSequence()) {
    if (node.toText() != "all") node.refuse("expected two names", "write [A, B], or `all`");
    return {"all", "all"};
  }
  const std::vector<Node> names = node.items();
  if (names.size() != 2) node.refuse("expected two names", "write [A, B], or `all`");
  std::pair<std::string, std::string> pair{partner(names[0]), partner(names[1])};
  const int part = content_.contacts.find(pair.first);
  if (pair.first == pair.second && part >= 0 && !content_.contacts.parts()[std::size_t(part)].curve) {
    names[1].refuse("nothing but a beam touches itself", "name another body, beam, obstacle or surface");
  }
  return pair;
}

std::string SceneBuilder::partner(const Node& node) {
  std::vector<std::string> known = partNames();
  for (const auto& [part, surface] : surfaces_) {
    if (!surface.empty() && std::find(known.begin(), known.end(), surface) == known.end()) known.push_back(surface);
  }
  known.push_back("all");
  const std::string name = node.toReference("body, beam, obstacle or surface", known);
  const int number = content_.contacts.find(name);
  if (number < 0) return name;
  const ContactModel::Part& part = content_.contacts.parts()[std::size_t(number)];
  if (part.shapes.empty() && !part.curve) {
    if (isBeam(builder_.beams(), name)) node.refuse("'" + name + "' has no round outline, so nothing can touch it", outlineOfBeam);
    node.refuse("'" + name + "' has no shape, so nothing can touch it", "give it `shapes`");
  }
  return name;
}

std::vector<std::string> SceneBuilder::partNames() const {
  std::vector<std::string> names;
  for (const ContactModel::Part& part : content_.contacts.parts()) names.push_back(part.name);
  return names;
}

}
