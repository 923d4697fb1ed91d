#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"
#include "tendril/documents/nearest_name.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

namespace tendril::scenes {

namespace {

/// A frame whose third column is the direction; the others follow the axis that is most nearly perpendicular to it.
Matrix3 frameAlong(const Vector3& direction) {
  Matrix3 R;
  R.col(2) = direction.normalized();
  int least = 0;
  R.col(2).cwiseAbs().minCoeff(&least);
  R.col(0) = (Vector3::Unit(least) - R(least, 2) * R.col(2)).normalized();
  R.col(1) = R.col(2).cross(R.col(0));
  return R;
}

}

Vector3 direction(const Record& r, const char* key) {
  const Vector3 value = r.vector3(key);
  if (!(value.norm() > 0)) r.node(key).refuse("the direction is zero", "give a vector along the axis");
  return value.normalized();
}

// ---- names -----------------------------------------------------------------------------------------------------------------------------

std::string SceneBuilder::claim(const Record& r, const std::string& label) {
  const std::string name = r.text("name");
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '-', '_');
  if (!isName(plain)) {
    r.node("name").refuse("'" + name + "' cannot be a name", "begin with a letter and use letters, digits, underscores and hyphens");
  }
  if (const auto [other, isNew] = content_.labels.emplace(label + " '" + name + "'", r.node()); !isNew) {
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

// ---- frames ----------------------------------------------------------------------------------------------------------------------------

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
  if (findShell(word)) return {.kind = Frame::Kind::Shell, .part = word};
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
  for (const ShellPart& shell : content_.shells)
    if (findShell(shell.name)) known.push_back(shell.name);
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
  if (const ShellPart* shell = findShell(f.part)) {
    f.kind = Frame::Kind::Shell;
    if (r.has("node")) r.node("node").refuse("a shell has no nodes", "give a place, at: [a, b]");
    if (r.has("at")) f.material = materialPoint(r.node("at"), *shell);
  } else if (f.kind != Frame::Kind::Beam) {
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
  case Frame::Kind::Shell:
    return builder_.model().bodyMarker(name, blockOnShell(*findShell(f.part), f.material), f.offset);
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

}
