#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"

#include <optional>

namespace tendril::scenes {

namespace {

BeamModel beamModel(const std::string& word) {
  if (word == "KL" || word == "kirchhoff-love") return BeamModel::KirchhoffLove;
  if (word == "IK" || word == "inextensible") return BeamModel::InextensibleKirchhoff;
  return BeamModel::SimoReissner;
}

}

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
                      .interpolation = content_.hasDiscretePath ? BeamInterpolation::Directors : BeamInterpolation::Helicoidal,
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

}
