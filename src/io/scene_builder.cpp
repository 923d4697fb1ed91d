#include "io/scene_builder.h"

#include "io/nearest_name.h"
#include "io/scene_reader.h"
#include "io/scene_schema.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace tendril {

using namespace scenes;

namespace {

/// Where a marker sits, before it is made: joints move it by an offset of their own.
struct Frame {
  enum class Kind { Ground, Body, Beam, Obstacle };
  Kind kind = Kind::Ground;
  std::string part;
  double arclength = 0;
  std::optional<int> node{};
  Pose offset{};
  bool isBare = false; ///< the word `ground`, without a place

  Frame moved(const Pose& by) const {
    Frame frame = *this;
    frame.offset = offset * by;
    return frame;
  }
};

/// A frame whose column `column` is the direction; the others follow the axis that is most nearly perpendicular to it.
Matrix3 frameAlong(const Vector3& direction) {
  Matrix3 R;
  R.col(2) = direction.normalized();
  int least = 0;
  R.col(2).cwiseAbs().minCoeff(&least);
  R.col(0) = (Vector3::Unit(least) - R(least, 2) * R.col(2)).normalized();
  R.col(1) = R.col(2).cross(R.col(0));
  return R;
}

Vector3 direction(const Record& r, const char* key) {
  const Vector3 value = r.vector3(key);
  if (!(value.norm() > 0)) r.node(key).refuse("the direction is zero", "give a vector along the axis");
  return value.normalized();
}

std::string shortest(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", number);
  return text.data();
}

bool isAll(const Node& between) { return !between.isSequence() && between.toText() == "all"; }

BeamModel beamModel(const std::string& word) {
  if (word == "KL" || word == "kirchhoff-love") return BeamModel::KirchhoffLove;
  if (word == "IK" || word == "inextensible") return BeamModel::InextensibleKirchhoff;
  return BeamModel::SimoReissner;
}

const std::map<std::string, JointKind> jointKinds{{"fixed", JointKind::Fixed},
                                                  {"revolute", JointKind::Revolute},
                                                  {"prismatic", JointKind::Prismatic},
                                                  {"cylindrical", JointKind::Cylindrical},
                                                  {"spherical", JointKind::Spherical},
                                                  {"universal", JointKind::Universal},
                                                  {"planar", JointKind::Planar},
                                                  {"screw", JointKind::Screw},
                                                  {"distance", JointKind::Distance},
                                                  {"driven rotation", JointKind::DrivenRotation},
                                                  {"driven translation", JointKind::DrivenTranslation},
                                                  {"angle drive", JointKind::AngleDrive},
                                                  {"length drive", JointKind::LengthDrive}};

class SceneBuilder {
 public:
  explicit SceneBuilder(const Document& document) : root_(document.root()) { refuseUnavailable(); }

  SceneContent build() {
    const Record scene(root_, scenes::scene());
    if (scene.has("units")) scene.object("units");
    if (scene.has("title")) content_.title = scene.text("title");
    const Record analysis = scene.object("analysis");
    const std::vector<Record> contacts = scene.objects("contacts");
    chooseAnalysis(analysis, !contacts.empty());

    readLibrary(scene, "materials", materials_);
    readLibrary(scene, "sections", sections_);
    for (const Record& r : scene.objects("bodies")) addBody(r);
    for (const Record& r : scene.objects("beams")) addBeam(r);
    for (const Record& r : scene.objects("obstacles")) addObstacle(r);
    for (const Record& r : scene.objects("markers")) addMarker(r);
    for (const Record& r : scene.objects("point_masses")) addPointMass(r);
    for (const Record& r : scene.objects("joints")) addJoint(r);
    for (const Record& r : scene.objects("springs")) addSpring(r);
    for (const Record& r : scene.objects("loads")) addLoad(r);
    if (scene.has("gravity")) addGravity(scene.object("gravity"));
    if (!contacts.empty()) addParts(scene);
    for (const Record& r : contacts) addContact(r);
    content_.meshes = meshes_.files();
    const std::vector<Record> outputs = scene.objects("outputs");
    std::vector<const Marker*> outputMarkers;
    for (const Record& r : outputs) outputMarkers.push_back(r.has("on") ? &marker(r.node("on")) : nullptr);
    freeze();
    for (std::size_t i = 0; i < outputs.size(); ++i) content_.outputs.push_back(readOutput(outputs[i], outputMarkers[i]));
    return std::move(content_);
  }

 private:
  // ---- names
  // -------------------------------------------------------------------------------------------------------------------------------
  void refuseUnavailable() const;
  /// The name of an object, which no other object of its kind (`label`) may have.
  std::string claim(const Record& r, const std::string& label);
  void claimPart(const Node& node, const std::string& name);
  void readLibrary(const Record& scene, const char* key, std::map<std::string, Node>& library);
  /// The record that a name of the library or a map in place stands for.
  Record entry(const Node& node, const char* kind, const std::map<std::string, Node>& library, const Schema& schema) const;
  std::vector<std::string> beamNames() const;

  void chooseAnalysis(const Record& analysis, bool hasContacts);

  // ---- frames
  // ------------------------------------------------------------------------------------------------------------------------------
  Frame frame(const Node& node);
  Frame frameOfWord(const Node& node, const std::string& word) const;
  Frame frameOfRecord(const Record& r);
  double arclength(const Node& node, const BeamPart& beam) const;
  const Marker& make(const Frame& frame, const std::string& name = "");
  const Marker& onObstacle(const Frame& frame);
  const Marker& marker(const Node& node) { return make(located(node)); }
  /// A frame that says where it is: not the bare word `ground`.
  Frame located(const Node& node);
  Pose initial(const Frame& frame) { return make(frame).frame(builder_.model().state()); }
  /// The markers of both sides of a joint: first that of `to`, then that of `on`. With an axis or position, frames that coincide there.
  std::pair<const Marker*, const Marker*> pair(const Record& r, bool isPositioned);

  // ---- objects
  // -----------------------------------------------------------------------------------------------------------------------------
  void addBody(const Record& r);
  void addBeam(const Record& r);
  void addObstacle(const Record& r);
  void addMarker(const Record& r);
  void addPointMass(const Record& r);
  void addJoint(const Record& r);
  void addPrescribed(const Record& r, const std::string& name);
  void addSpring(const Record& r);
  void addLoad(const Record& r);
  void addGravity(const Record& r);
  TimeFunction factor(const Record& r) const;
  /// Three functions of time and an angle about an axis, of those that are given.
  GroundMotion readMotion(const Record& r) const;
  /// A function of time that has a value at the start; refused there and then if it has none.
  TimeFunction startable(const Record& r, const char* key) const;
  void freeze();

  // ---- contact
  // ----------------------------------------------------------------------------------------------------------------------------
  /// Bodies and obstacles, as what touches and is touched.
  void addParts(const Record& scene);
  void addPart(const Record& r, const Marker& marker, const std::vector<Shape>& shapes);
  CollisionShape collisionShape(const Shape& shape, const std::string& label);
  void addContact(const Record& r);
  /// Two names, each of a part, a surface or `all`; `all` alone stands for both.
  std::pair<std::string, std::string> partners(const Node& node);
  std::string partner(const Node& node);
  std::vector<std::string> partNames() const;

  // ---- outputs
  // -----------------------------------------------------------------------------------------------------------------------------
  OutputDefinition readOutput(const Record& r, const Marker* marker) const;
  OutputDefinition::Quantity quantity(const Record& r, const Marker* marker) const;
  std::optional<ContactQuantity> ofContacts(const Record& r) const;
  EventQuantity eventTimes(const Record& r) const;
  /// Numbers of the two parts, -1 for `all`.
  std::pair<int, int> readPair(const Node& between) const;
  OutputDefinition::Gather gather(const Record& r) const;
  /// How the values over the steps become a result.
  void readReduction(const Record& r, OutputDefinition& output) const;
  Measure ofBeam(const Record& r) const;
  Measure ofJoint(const Record& r) const;
  std::optional<Measure> ofMechanism(const std::string& what) const;

  Node root_;
  SceneContent content_;
  MechanismBuilder builder_;
  std::map<std::string, Node> materials_, sections_;
  std::map<std::string, Frame> markers_;
  std::set<std::string> parts_;
  /// "joint 'pin'" and its like, as messages of the rooms call them, with their places.
  std::map<std::string, Node> labels_;
  std::vector<std::string> joints_;
  MeshLibrary meshes_;
  std::map<std::string, std::string> surfaces_; ///< of parts
  /// Shapes with a mesh that were made ready for contact: bodies often share one.
  std::vector<CollisionShape> meshShapes_;
};

// ---- names
// -----------------------------------------------------------------------------------------------------------------------------------

void SceneBuilder::refuseUnavailable() const {
  const Node format = root_.at("tendril", "the version of the format, 1");
  if (format.toInteger() != 1) {
    format.refuse("this program reads version 1 of the scene format, not " + format.toText(), "write `tendril: 1`, or use a newer program");
  }
  for (const char* key : {"rods", "shells"}) {
    if (root_.has(key)) {
      throw InputError(root_.keyLocation(key), key, std::string(key) + " are not available in this version",
                       "remove the key; beams, bodies, joints, springs, loads and contacts are available");
    }
  }
}

void SceneBuilder::chooseAnalysis(const Record& analysis, bool hasContacts) {
  const AnalysisChoice choice = readAnalysis(analysis, hasContacts);
  if (hasContacts && !choice.knowsContacts) {
    throw InputError(root_.keyLocation("contacts"), "contacts", "the method " + choice.method + " of the analysis knows no contact",
                     "write analysis: {type: dynamic, method: moreau, ...}, or remove the contacts");
  }
  content_.isDynamic = choice.isDynamic;
  content_.argument = choice.isDynamic ? dimension::time : dimension::none;
  content_.outputEvery = analysis.integer("output_every");
  content_.makeAnalysis = choice.make;
  content_.knowsContacts = choice.knowsContacts;
  content_.locatesEvents = choice.method == "event-driven";
  content_.dump = choice.dump;
  content_.end = choice.end;
  if (choice.followsPath) content_.path = PathParameter::Distance;
}

std::string SceneBuilder::claim(const Record& r, const std::string& label) {
  const std::string name = r.text("name");
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '-', '_');
  if (!isName(plain)) {
    r.node("name").refuse("'" + name + "' cannot be a name", "begin with a letter and use letters, digits, underscores and hyphens");
  }
  if (const auto [other, isNew] = labels_.emplace(label + " '" + name + "'", r.node()); !isNew) {
    r.node("name").refuse("another " + label + " is named '" + name + "' (line " + std::to_string(other->second.location().line) + ")",
                          "give each a name of its own");
  }
  return name;
}

void SceneBuilder::claimPart(const Node& node, const std::string& name) {
  if (name == "ground") node.refuse("the name `ground` is taken by the inertial frame", "choose another name");
  if (!parts_.insert(name).second) {
    node.refuse("another body, beam, obstacle or marker is named '" + name + "'",
                "give each a name of its own, since all can be referred to");
  }
}

void SceneBuilder::readLibrary(const Record& scene, const char* key, std::map<std::string, Node>& library) {
  for (const Record& r : scene.objects(key)) {
    r.node().require("name", "the name by which beams refer to it");
    const std::string name = r.text("name");
    if (!library.emplace(name, r.node()).second)
      r.node("name").refuse("the name '" + name + "' occurs twice", "give each a name of its own");
  }
}

Record SceneBuilder::entry(const Node& node, const char* kind, const std::map<std::string, Node>& library, const Schema& schema) const {
  if (node.isMap()) return {node, schema};
  std::vector<std::string> names;
  for (const auto& item : library) names.push_back(item.first);
  return {library.at(node.toReference(kind, names)), schema};
}

std::vector<std::string> SceneBuilder::beamNames() const {
  std::vector<std::string> names;
  for (const BeamPart& beam : content_.mechanism.model ? content_.mechanism.beams : builder_.beams()) names.push_back(beam.name);
  return names;
}

// ---- frames
// ----------------------------------------------------------------------------------------------------------------------------------

Frame SceneBuilder::frame(const Node& node) {
  return node.isMap() ? frameOfRecord(Record(node, scenes::marker())) : frameOfWord(node, node.toText());
}

Frame SceneBuilder::located(const Node& node) {
  const Frame f = frame(node);
  if (f.isBare) node.refuse("`ground` alone is no place", "write {on: ground, position: [x, y, z]}");
  return f;
}

Frame SceneBuilder::frameOfWord(const Node& node, const std::string& word) const {
  if (word == "ground") return {.isBare = true};
  if (const auto found = markers_.find(word); found != markers_.end()) return found->second;
  for (const Obstacle& obstacle : content_.obstacles) {
    if (obstacle.name == word) return {.kind = Frame::Kind::Obstacle, .part = word};
  }
  for (const BodyPart& body : builder_.bodies()) {
    if (body.name == word) return {.kind = Frame::Kind::Body, .part = word};
  }
  std::vector<std::string> known{"ground"};
  for (const BeamPart& beam : builder_.beams()) {
    const double L = beam.length();
    for (const auto& [place, s] : {std::pair{"start", 0.}, {"middle", L / 2}, {"end", L}}) {
      known.push_back(beam.name + "." + place);
      if (word == known.back()) return {.kind = Frame::Kind::Beam, .part = beam.name, .arclength = s};
    }
    if (word == beam.name) {
      node.refuse("'" + word + "' is a beam; say where on it", "write " + word + ".start, " + word + ".end or {on: " + word + ", at: 0.5}");
    }
  }
  for (const BodyPart& body : builder_.bodies()) known.push_back(body.name);
  for (const auto& item : markers_) known.push_back(item.first);
  node.refuse("there is no body, marker or place on a beam named '" + word + "'", adviceForName(word, known));
}

Frame SceneBuilder::frameOfRecord(const Record& r) {
  std::vector<std::string> known{"ground"};
  for (const BeamPart& beam : builder_.beams()) known.push_back(beam.name);
  for (const BodyPart& body : builder_.bodies()) known.push_back(body.name);
  Frame f{.part = r.node("on").toReference("body or beam", known)};
  if (r.has("position") && r.node().has("offset")) r.node("offset").refuse("a marker has an offset or a position", "remove one of the two");
  f.offset = {readOrientation(r.node("orientation")), r.vector3("offset")};
  for (const BeamPart& beam : builder_.beams()) {
    if (beam.name != f.part) continue;
    f.kind = Frame::Kind::Beam;
    if (r.has("at") == r.has("node"))
      r.node().refuse("say where on the beam the marker is", "give either `at:` (arclength, start, middle, end) or `node:`");
    if (r.has("at")) f.arclength = arclength(r.node("at"), beam);
    if (r.has("node")) f.node = r.integer("node");
    if (f.node && *f.node > beam.elements()) {
      r.node("node").refuse("the beam has nodes 0 to " + std::to_string(beam.elements()), "give one of these, or an arclength by `at:`");
    }
  }
  if (f.kind != Frame::Kind::Beam) {
    for (const char* key : {"at", "node"}) {
      if (r.has(key)) r.node(key).refuse("'" + f.part + "' is not a beam", "use `offset:` or `position:` instead");
    }
    if (f.part != "ground") f.kind = Frame::Kind::Body;
  }
  if (r.has("position")) {
    // The offset that leads to the position at the start; the orientation stays relative to the part.
    Frame base = f;
    base.offset = {};
    const Pose pose = initial(base);
    f.offset.x = pose.R.transpose() * (r.vector3("position") - pose.x);
  }
  return f;
}

double SceneBuilder::arclength(const Node& node, const BeamPart& beam) const {
  const std::string word = node.toText();
  if (word == "start") return 0;
  if (word == "middle") return beam.length() / 2;
  if (word == "end") return beam.length();
  const double s = node.toNumber(dimension::length);
  if (!(s >= 0 && s <= beam.length() * (1 + 1e-9))) {
    node.refuse("the beam has arclengths 0 to " + std::to_string(beam.length()) + " m", "give one of these, or start, middle, end");
  }
  return s;
}

const Marker& SceneBuilder::make(const Frame& f, const std::string& name) {
  switch (f.kind) {
  case Frame::Kind::Ground:
    return builder_.ground(f.offset, name);
  case Frame::Kind::Body:
    return builder_.body(f.part).at(f.offset, name);
  case Frame::Kind::Obstacle:
    return onObstacle(f);
  default:
    return f.node ? builder_.beam(f.part).node(*f.node, f.offset, name) : builder_.beam(f.part).at(f.arclength, f.offset, name);
  }
}

/// The frame of the obstacle itself; joints and springs, which need offsets of their own, are drives rather than obstacles.
const Marker& SceneBuilder::onObstacle(const Frame& f) {
  const bool isItsOwn = f.offset.x.isZero(0) && f.offset.R.isIdentity(0);
  if (!isItsOwn)
    throw InputError("obstacle '" + f.part + "' cannot be held or hold others; use a joint `prescribed` or `fixed` to the ground");
  return *std::find_if(content_.obstacles.begin(), content_.obstacles.end(), [&](const Obstacle& o) { return o.name == f.part; })->marker;
}

std::pair<const Marker*, const Marker*> SceneBuilder::pair(const Record& r, bool isPositioned) {
  const Frame on = located(r.node("on"));
  const Frame to = frame(r.node("to"));
  const Pose onPose = initial(on);
  const bool hasPosition = isPositioned && r.has("position"), hasAxis = r.has("axis");
  const Vector3 x = hasPosition ? r.vector3("position") : onPose.x;
  if (!hasPosition && !hasAxis && !to.isBare) return {&make(to), &make(on)};
  Matrix3 R = hasAxis ? frameAlong(direction(r, "axis")) : onPose.R;
  if (r.variant() == "universal") {
    R.col(0) = direction(r, "axis"), R.col(1) = direction(r, "second_axis"), R.col(2) = R.col(0).cross(R.col(1));
    if (std::abs(R.col(0).dot(R.col(1))) > 1e-6) r.node("second_axis").refuse("the two axes must be perpendicular", "choose another axis");
  }
  const Marker& second = make(on.moved(onPose.relative({R, x})));
  if (to.isBare) return {&builder_.ground({R, x}), &second};
  const Pose toPose = initial(to);
  return {&make(to.moved(toPose.relative({R, hasPosition ? x : toPose.x}))), &second};
}

// ---- objects
// ---------------------------------------------------------------------------------------------------------------------------------

void SceneBuilder::addBody(const Record& r) {
  const std::string name = claim(r, "body");
  claimPart(r.node("name"), name);
  placed(r.node(), [&] {
    builder_.body(name, readMass(r, meshes_), readPose(r), r.vector3("velocity"), r.vector3("angular_velocity"), readShapes(r, meshes_));
  });
}

void SceneBuilder::addBeam(const Record& r) {
  const std::string name = claim(r, "beam");
  claimPart(r.node("name"), name);
  std::optional<Material> material;
  if (r.has("material")) material = readMaterial(entry(r.node("material"), "material", materials_, scenes::material()));
  const Record sectionRecord = entry(r.node("section"), "section", sections_, scenes::section());
  const SectionProperties section = readSection(sectionRecord, material);
  if (content_.isDynamic && !(section.mass(0, 0) > 0)) {
    r.node().refuse("the beam has no mass, but the analysis is dynamic", "give its material a density, or its section a mass");
  }
  // Bending is resisted by the masses along the beam, torsion by the rotary inertia alone.
  if (content_.isDynamic && !(section.mass(3, 3) > 0)) {
    sectionRecord.node().refuse("the section has no rotary inertia about d1, but the analysis is dynamic",
                                sectionRecord.variant() == "general" ? "give `mass` a positive fourth diagonal entry"
                                                                     : "give rhoI1, or rhoI2 and rhoI3");
  }
  BeamOptions options{.elements = r.integer("elements"),
                      .model = beamModel(r.choice("model")),
                      .velocity = r.vector3("velocity"),
                      .angularVelocity = r.vector3("angular_velocity")};
  if (r.has("initial")) options.initial = readCurve(r.object("initial"));
  const Curve curve = readCurve(r.object("curve"));
  placed(r.node(), [&] { builder_.beam(name, curve, section, options); });
}

void SceneBuilder::addObstacle(const Record& r) {
  const std::string name = claim(r, "obstacle");
  claimPart(r.node("name"), name);
  Obstacle obstacle{.name = name, .marker = nullptr, .shapes = readShapes(r, meshes_)};
  if (obstacle.shapes.empty()) r.node().refuse("the obstacle has no shape", "give `shapes`");
  placed(r.node(), [&] {
    obstacle.marker = r.has("motion") ? &builder_.movingGround(readPose(r), readMotion(r.object("motion"))) : &builder_.ground(readPose(r));
  });
  content_.obstacles.push_back(std::move(obstacle));
}

void SceneBuilder::addMarker(const Record& r) {
  r.node().require("name", "the name by which it is referred to");
  const std::string name = claim(r, "marker");
  claimPart(r.node("name"), name);
  const Frame f = frameOfRecord(r);
  placed(r.node(), [&] { make(f, name); });
  markers_.emplace(name, f);
}

void SceneBuilder::addPointMass(const Record& r) {
  const std::string name = claim(r, "point mass");
  const Vector3 inertia = r.numbers("inertia");
  const Marker& at = marker(r.node("on"));
  placed(r.node(), [&] { builder_.model().term<PointMasses>().add(name, at, r.number("mass"), inertia.asDiagonal()); });
}

void SceneBuilder::addJoint(const Record& r) {
  const std::string name = claim(r, "joint");
  joints_.push_back(name);
  const std::string& type = r.variant();
  placed(r.node(), [&] {
    if (type == "clamp") return builder_.clamp(name, marker(r.node("on")));
    if (type == "prescribed") return addPrescribed(r, name);
    const JointKind kind = jointKinds.at(type);
    JointParameters parameters;
    if (kind == JointKind::Fixed) parameters.reference = JointReference::Orientation;
    if (r.has("motion")) parameters.motion = startable(r, "motion");
    if (r.has("length")) parameters.length = r.number("length");
    if (r.has("pitch")) parameters.pitch = r.number("pitch");
    if (kind == JointKind::Distance) return builder_.joint(kind, name, make(located(r.node("to"))), marker(r.node("on")), parameters);
    const auto [first, second] = pair(r, true);
    builder_.joint(kind, name, *first, *second, parameters);
  });
}

GroundMotion SceneBuilder::readMotion(const Record& r) const {
  GroundMotion motion;
  if (r.has("translation")) {
    const std::vector<Node> functions = r.node("translation").items();
    if (functions.size() != 3) r.node("translation").refuse("expected three functions of time", "write [x(t), y(t), z(t)]");
    for (int i = 0; i < 3; ++i) motion.translation[i] = functions[i].toTimeFunction(dimension::length, content_.argument);
  }
  if (r.has("axis") != r.has("angle")) r.node().refuse("a prescribed rotation needs an axis and an angle", "give both, or neither");
  if (r.has("axis")) motion.axis = direction(r, "axis"), motion.angle = startable(r, "angle");
  return motion;
}

void SceneBuilder::addPrescribed(const Record& r, const std::string& name) {
  const Marker& held = marker(r.node("on"));
  const Marker& driver = builder_.movingGround({Matrix3::Identity(), held.frame(builder_.model().state()).x}, readMotion(r));
  builder_.joint(JointKind::Fixed, name, driver, held, {.reference = JointReference::Orientation});
}

void SceneBuilder::addSpring(const Record& r) {
  const std::string name = claim(r, "spring");
  const std::string& type = r.variant();
  ModelBuilder& model = builder_.model();
  placed(r.node(), [&] {
    if (type == "linear") {
      const SpringParameters parameters{r.number("stiffness"), r.number("damping"),
                                        r.has("length") ? std::optional(r.number("length")) : std::nullopt};
      model.term<LinearSprings>().add(name, make(located(r.node("to"))), marker(r.node("on")), parameters);
      return;
    }
    const auto [first, second] = pair(r, false);
    if (type == "torsion") {
      const SpringParameters parameters{r.number("stiffness"), r.number("damping"),
                                        r.has("angle") ? std::optional(r.number("angle")) : std::nullopt};
      model.term<TorsionSprings>().add(name, *first, *second, parameters);
    } else {
      const Matrix6 damping = r.has("damping") ? readMatrix6(r.node("damping"), dimension::damping) : Matrix6::Zero();
      model.term<Bushings>().add(name, *first, *second, readMatrix6(r.node("stiffness"), dimension::stiffness), damping,
                                 Bushings::Rest::Initial);
    }
  });
}

TimeFunction SceneBuilder::startable(const Record& r, const char* key) const {
  TimeFunction function = r.timeFunction(key, content_.argument);
  try {
    function(0);
  } catch (const NumericalFailure& failure) {
    r.node(key).refuse(failure.what(), "give a function that is finite, with its rates, from the start on");
  }
  return function;
}

TimeFunction SceneBuilder::factor(const Record& r) const {
  if (r.has("time")) return startable(r, "time");
  return content_.isDynamic ? TimeFunction::constant() : TimeFunction::proportional();
}

void SceneBuilder::addLoad(const Record& r) {
  const std::string name = claim(r, "load");
  const LoadDirection direction = r.choice("direction") == "dead" ? LoadDirection::Dead : LoadDirection::Follower;
  placed(r.node(), [&] {
    if (r.variant() == "force") return builder_.force(name, marker(r.node("on")), r.vector3("force"), direction, factor(r));
    if (r.variant() == "moment") return builder_.moment(name, marker(r.node("on")), r.vector3("moment"), direction, factor(r));
    Vector6 perLength;
    perLength << r.vector3("force"), r.vector3("moment");
    builder_.distributed(builder_.beam(r.reference("beam", beamNames())), perLength, direction, factor(r));
  });
}

void SceneBuilder::addGravity(const Record& r) { builder_.gravity(r.vector3("acceleration"), factor(r)); }

// ---- contact
// ---------------------------------------------------------------------------------------------------------------------------------

void SceneBuilder::addParts(const Record& scene) {
  const std::vector<BodyPart>& bodies = builder_.bodies();
  const std::vector<Record> bodyRecords = scene.objects("bodies"), obstacleRecords = scene.objects("obstacles");
  for (std::size_t i = 0; i < bodies.size(); ++i) addPart(bodyRecords[i], builder_.body(bodies[i].name).at(), bodies[i].shapes);
  for (std::size_t i = 0; i < obstacleRecords.size(); ++i) {
    addPart(obstacleRecords[i], *content_.obstacles[i].marker, content_.obstacles[i].shapes);
  }
}

void SceneBuilder::addPart(const Record& r, const Marker& marker, const std::vector<Shape>& shapes) {
  ContactModel::Part part{.name = r.text("name"), .surface = "", .marker = &marker, .shapes = {}};
  if (r.has("surface")) part.surface = r.text("surface");
  if (part.surface == "all" || parts_.contains(part.surface)) {
    r.node("surface").refuse("the name '" + part.surface + "' means something else", "choose another name for the surface");
  }
  if (!part.surface.empty() && shapes.empty()) r.node("surface").refuse("the body has no shape, so nothing can touch it", "give `shapes`");
  const std::vector<Record> shapeRecords = r.objects("shapes");
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    placed(shapeRecords[i].node(), [&] { part.shapes.push_back(collisionShape(shapes[i], "the shape of '" + part.name + "'")); });
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

std::vector<std::string> SceneBuilder::partNames() const {
  std::vector<std::string> names;
  for (const ContactModel::Part& part : content_.contacts.parts()) names.push_back(part.name);
  return names;
}

std::string SceneBuilder::partner(const Node& node) {
  std::vector<std::string> known = partNames();
  for (const auto& [part, surface] : surfaces_) {
    if (!surface.empty() && std::find(known.begin(), known.end(), surface) == known.end()) known.push_back(surface);
  }
  known.push_back("all");
  const std::string name = node.toReference("body, obstacle or surface", known);
  const int part = content_.contacts.find(name);
  if (part >= 0 && content_.contacts.parts()[std::size_t(part)].shapes.empty()) {
    node.refuse("'" + name + "' has no shape, so nothing can touch it", "give it `shapes`");
  }
  return name;
}

std::pair<std::string, std::string> SceneBuilder::partners(const Node& node) {
  if (!node.isSequence()) {
    if (node.toText() != "all") node.refuse("expected two names", "write [A, B], or `all`");
    return {"all", "all"};
  }
  const std::vector<Node> names = node.items();
  if (names.size() != 2) node.refuse("expected two names", "write [A, B], or `all`");
  std::pair<std::string, std::string> pair{partner(names[0]), partner(names[1])};
  if (pair.first == pair.second && content_.contacts.find(pair.first) >= 0) {
    names[1].refuse("nothing touches itself", "name another body, obstacle or surface");
  }
  return pair;
}

void SceneBuilder::addContact(const Record& r) {
  claim(r, "contact");
  if (r.has("between") == r.has("exclude")) {
    r.node().refuse("say what touches what, or what does not", "give either `between: [A, B]` or `exclude: [A, B]`");
  }
  if (r.has("between")) {
    const auto [first, second] = partners(r.node("between"));
    content_.contacts.addLaw({first, second, readContactLaw(r)});
    return;
  }
  const auto [first, second] = partners(r.node("exclude"));
  for (const std::string& name : {first, second}) {
    if (content_.contacts.find(name) < 0) r.node("exclude").refuse("'" + name + "' is neither a body nor an obstacle", "name two of them");
  }
  content_.contacts.exclude(first, second);
}

/// What only the whole model can tell (markers that do not fit together) is thrown here, with the name of the object concerned.
void SceneBuilder::freeze() {
  try {
    content_.mechanism = builder_.build();
  } catch (const InputError& error) {
    const std::string message = error.what();
    // The object at fault is the one that the message names first.
    const Node* culprit = nullptr;
    std::size_t first = std::string::npos;
    for (const auto& [label, node] : labels_) {
      if (const std::size_t at = message.find(label); at < first) first = at, culprit = &node;
    }
    if (culprit) {
      const bool isDriven = culprit->isMap() && culprit->has("motion") && message.find("do not fit together") != std::string::npos;
      const std::string remedy = isDriven ? "the motion must begin at the angle or displacement that the joint has at the start" : "";
      throw InputError(culprit->location(), culprit->path(), message, remedy);
    }
    throw InputError(root_.location(), "", message);
  }
}

// ---- outputs
// ---------------------------------------------------------------------------------------------------------------------------------

OutputDefinition SceneBuilder::readOutput(const Record& r, const Marker* at) const {
  OutputDefinition output;
  output.name = r.text("name");
  if (!isName(output.name)) r.node("name").refuse("'" + output.name + "' cannot be a name", "use letters, digits and underscores");
  for (const OutputDefinition& other : content_.outputs) {
    if (other.name == output.name) r.node("name").refuse("two outputs are named '" + output.name + "'", "give each a name of its own");
  }
  output.quantity = placed(r.node(), [&] { return quantity(r, at); });
  if (r.has("description")) output.description = r.text("description");
  output.series = r.boolean("series");
  if (r.has("component")) {
    const std::string word = r.choice("component");
    output.component = word == "norm"   ? OutputDefinition::Component{0, true}
                       : word[0] >= 'x' ? OutputDefinition::Component{word[0] - 'x'}
                                        : OutputDefinition::Component{std::stoi(word) - 1};
  }
  readReduction(r, output);
  if (r.has("relative_to")) {
    const Node reference = r.node("relative_to");
    output.relativeToInitial = reference.isText() && reference.toText() == "initial";
    if (!output.relativeToInitial) {
      const Eigen::VectorXd values = reference.isText() ? Eigen::VectorXd::Constant(1, reference.toNumber()) : reference.toNumbers();
      output.reference.assign(values.data(), values.data() + values.size());
    }
  }
  return output;
}

void SceneBuilder::readReduction(const Record& r, OutputDefinition& output) const {
  static const std::map<std::string, Reduction> reductions{{"last", Reduction::Last},
                                                           {"max", Reduction::Max},
                                                           {"min", Reduction::Min},
                                                           {"mean", Reduction::Mean},
                                                           {"first", Reduction::First},
                                                           {"all", Reduction::All},
                                                           {"first maximum", Reduction::FirstMaximum},
                                                           {"first minimum", Reduction::FirstMinimum}};
  output.reduction = reductions.at(r.choice("result"));
  const bool isLocal = output.reduction == Reduction::FirstMaximum || output.reduction == Reduction::FirstMinimum;
  if (r.has("where")) {
    output.where = OutputDefinition::Condition{r.text("where"), r.node("where").location(), r.node("where").path()};
    if (isLocal || r.has("when")) r.node("where").refuse("this result looks at all steps", "remove `where`, or choose another result");
  } else if (output.reduction == Reduction::All) {
    r.node("result").refuse("`all` needs to know which steps", "give a condition, where: \"...\"");
  }
  if (r.has("when")) {
    if (output.reduction != Reduction::Last) r.node("when").refuse("an output has one result", "remove `when` or `result`");
    output.reduction = Reduction::At;
    output.at = r.node("when").toNumber(content_.argument);
    if (output.at < 0 || output.at > content_.end) {
      r.node("when").refuse("the analysis runs from 0 to " + shortest(content_.end) + ", so that this value is never reached",
                            "give one between");
    }
  }
}

OutputDefinition::Quantity SceneBuilder::quantity(const Record& r, const Marker* at) const {
  const std::string& what = r.variant();
  const Model& model = *content_.mechanism.model;
  if (what == "expression") {
    const Node formula = r.node("expression");
    return OutputDefinition::Formula{r.text("expression"), formula.location(), formula.path(), r.text("unit")};
  }
  if (what == "array") return gather(r);
  if (what == "event times") return eventTimes(r);
  if (const auto ofContact = ofContacts(r)) return *ofContact;
  if (what == "step size") return StepQuantity::StepSize;
  if (what == "iterations") return StepQuantity::Iterations;
  if (what == "critical load") return StepQuantity::CriticalLoad;
  if (what == "energy balance") return StepQuantity::EnergyBalance;
  if (r.has("beam")) return ofBeam(r);
  if (r.has("joint")) return ofJoint(r);
  if (auto measure = ofMechanism(what)) return *measure;
  if (what == "position") return measures::position(*at);
  if (what == "rotation") return measures::rotation(model, *at);
  if (what == "frame") return measures::frame(*at);
  const MeasureFrame axes = r.choice("frame") == "marker" ? MeasureFrame::Marker : MeasureFrame::Inertial;
  if (what == "velocity") return measures::velocity(*at, axes);
  if (what == "angular velocity") return measures::angularVelocity(*at, axes);
  return measures::acceleration(*at, axes);
}

std::optional<ContactQuantity> SceneBuilder::ofContacts(const Record& r) const {
  using Kind = ContactQuantity::Kind;
  static const std::map<std::string, Kind> kinds{{"contact force", Kind::Force},
                                                 {"contact moment", Kind::Moment},
                                                 {"normal force", Kind::NormalForce},
                                                 {"contact impulse", Kind::Impulse},
                                                 {"gap", Kind::Gap},
                                                 {"contact status", Kind::Status},
                                                 {"slip velocity", Kind::SlipVelocity},
                                                 {"contact count", Kind::Count},
                                                 {"penetration", Kind::Penetration},
                                                 {"friction residual", Kind::Residual},
                                                 {"sweeps", Kind::Sweeps},
                                                 {"friction newton steps", Kind::NewtonSteps},
                                                 {"dissipation", Kind::Dissipation},
                                                 {"step time", Kind::StepTime}};
  const auto found = kinds.find(r.variant());
  if (found == kinds.end()) return {};
  if (!content_.knowsContacts) {
    r.node("measure").refuse("the analysis knows no contact", "write analysis: {type: dynamic, method: moreau, ...} and give `contacts`");
  }
  ContactQuantity quantity{found->second};
  const bool isOfPair = quantity.kind <= Kind::Count;
  if (!isOfPair) return quantity;
  const Node between = r.node("between");
  const bool needsFirst = quantity.kind == Kind::Force || quantity.kind == Kind::Moment || quantity.kind == Kind::Gap;
  if (needsFirst || !isAll(between)) std::tie(quantity.first, quantity.second) = readPair(between);
  return quantity;
}

EventQuantity SceneBuilder::eventTimes(const Record& r) const {
  using Kind = ContactEvent::Kind;
  static const std::map<std::string, Kind> kinds{{"impact", Kind::Impact},
                                                 {"accumulation", Kind::Accumulation},
                                                 {"detachment", Kind::Detachment},
                                                 {"stick", Kind::Stick},
                                                 {"slip", Kind::Slip},
                                                 {"reversal", Kind::Reversal},
                                                 {"jam", Kind::Jam}};
  if (!content_.locatesEvents) {
    r.node("measure").refuse("the analysis locates no events", "write analysis: {type: dynamic, method: event-driven, ...}");
  }
  for (const char* key : {"result", "where", "when", "relative_to", "component"}) {
    if (r.node().has(key)) r.node(key).refuse("the result is the array of all times", "remove `" + std::string(key) + "`");
  }
  EventQuantity quantity;
  if (const auto found = kinds.find(r.choice("event")); found != kinds.end()) quantity.kind = found->second;
  if (!isAll(r.node("between"))) std::tie(quantity.first, quantity.second) = readPair(r.node("between"));
  return quantity;
}

std::pair<int, int> SceneBuilder::readPair(const Node& between) const {
  const std::vector<Node> names = between.isSequence() ? between.items() : std::vector<Node>{};
  if (names.size() != 2) between.refuse("expected two names", "write [A, B], or [A, all]");
  std::vector<std::string> known = partNames();
  const int first = content_.contacts.find(names[0].toReference("body or obstacle", known));
  known.emplace_back("all");
  const std::string second = names[1].toReference("body or obstacle", known);
  return {first, second == "all" ? -1 : content_.contacts.find(second)};
}

OutputDefinition::Gather SceneBuilder::gather(const Record& r) const {
  const Node of = r.node("of");
  OutputDefinition::Gather gather{.names = {}, .where = of.location(), .key = of.path()};
  if (of.isSequence()) {
    if (r.has("for")) r.node("for").refuse("a list of names has nothing to fill in", "give one text with ${i}, or remove `for`");
    for (const Node& name : of.items()) gather.names.push_back(name.toText());
  } else if (!r.has("for")) {
    gather.names = {of.toText()};
  } else {
    const Node rule = r.node("for");
    const std::vector<std::string> index = rule.isMap() ? rule.keys() : std::vector<std::string>{};
    const std::vector<Node> bounds = index.size() == 1 && rule.at(index[0]).isSequence() ? rule.at(index[0]).items() : std::vector<Node>{};
    if (bounds.size() != 2) rule.refuse("expected the name of an index and its first and last number", "write for: {i: [1, 10]}");
    const std::string hole = "${" + index[0] + "}", pattern = of.toText();
    const std::size_t at = pattern.find(hole);
    if (at == std::string::npos) of.refuse("the text does not say where the number belongs", "write " + hole + " there");
    for (int i = bounds[0].toInteger(), last = bounds[1].toInteger(); i <= last; ++i) {
      gather.names.push_back(std::string(pattern).replace(at, hole.size(), std::to_string(i)));
    }
  }
  if (gather.names.empty()) of.refuse("the array is empty", "name at least one output");
  return gather;
}

Measure SceneBuilder::ofBeam(const Record& r) const {
  const std::string& what = r.variant();
  const Model& model = *content_.mechanism.model;
  const BeamPart& beam = content_.mechanism.beam(r.reference("beam", beamNames()));
  if (what == "length") return measures::length(model, beam);
  if (what == "elongation") return measures::elongation(model, beam);
  if (what == "frenet torsion") return measures::frenetTorsion(model, beam);
  if (r.has("at") == r.has("element"))
    r.node().refuse("say where on the beam to measure", "give either `at:` (arclength, start, middle, end) or `element:`");
  const int element = r.has("element") ? r.integer("element") : measures::elementAt(beam, arclength(r.node("at"), beam));
  if (what == "section force") return measures::sectionForce(model, beam, element);
  if (what == "section moment") return measures::sectionMoment(model, beam, element);
  return what == "strain" ? measures::strain(model, beam, element) : measures::curvature(model, beam, element);
}

Measure SceneBuilder::ofJoint(const Record& r) const {
  const std::string& what = r.variant();
  const Model& model = *content_.mechanism.model;
  const std::string joint = r.reference("joint", joints_);
  if (what == "reaction force") return measures::reactionForce(model, joint);
  if (what == "reaction moment") return measures::reactionMoment(model, joint);
  return what == "joint angle" ? measures::jointAngle(model, joint) : measures::jointDisplacement(model, joint);
}

std::optional<Measure> SceneBuilder::ofMechanism(const std::string& what) const {
  const Model& model = *content_.mechanism.model;
  if (what == "kinetic energy") return measures::energy(model, measures::EnergyPart::Kinetic);
  if (what == "elastic energy") return measures::energy(model, measures::EnergyPart::Elastic);
  if (what == "gravitational energy") return measures::energy(model, measures::EnergyPart::Gravitational);
  if (what == "energy") return measures::energy(model);
  if (what == "power") return measures::power(model);
  if (what == "momentum") return measures::momentum(model);
  if (what == "angular momentum") return measures::angularMomentum(model);
  if (what == "constraint violation") return measures::constraintViolation(model);
  if (what == "time" || what == "load parameter") {
    Measure time = measures::time();
    time.unit = siUnit(content_.argument);
    return time;
  }
  return {};
}

}

SceneContent buildScene(const Document& document) { return SceneBuilder(document).build(); }

}
