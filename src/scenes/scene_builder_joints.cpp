#include "scenes/scene_builder_class.h"

#include <map>
#include <optional>

namespace tendril::scenes {

namespace {

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

}
