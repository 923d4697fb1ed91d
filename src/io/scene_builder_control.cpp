#include "io/scene_builder_class.h"
#include "io/scene_schema.h"
#include "tendril/elements/joints.h"
#include "tendril/elements/motors.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <limits>
#include <memory>
#include <numbers>
#include <set>
#include <utility>

namespace tendril::scenes {

namespace {

/// A control is a force, in N, or a moment.
bool isForce(const Actuator& control) {
  return std::any_of(control.loads.begin(), control.loads.end(), [](const ActuatorLoad& load) { return !load.wrench.head<3>().isZero(); });
}

std::pair<double, double> readLimit(const Node& node, const Dimension& of) {
  const std::vector<Node> ends = node.isSequence() ? node.items() : std::vector<Node>{};
  if (ends.size() != 2) node.refuse("expected two numbers", "write [least, most]");
  const std::pair limit(ends[0].toNumber(of), ends[1].toNumber(of));
  if (!(limit.first < limit.second)) node.refuse("the least value is not below the most", "exchange them");
  return limit;
}

}

void SceneBuilder::readActuators(const std::vector<Record>& records) {
  if (!records.empty() && !content_.isManoeuvre)
    throw InputError(root_.keyLocation("actuators"), "actuators", "the analysis looks for no controls",
                     "write analysis: {type: optimal-control, ...}, or turn the actuators into loads");
  for (const Record& r : records) {
    if (r.has("joint") == r.has("on")) r.node().refuse("say what is driven", "give either `joint` or `on`");
    if (r.has("on") && r.vector3("force").isZero() && r.vector3("moment").isZero())
      r.node().refuse("the actuator does nothing", "give `force` or `moment`");
    if (r.has("on") && !r.has("name")) r.node().refuse("the actuator has no name", "give `name`");
    actuators_.push_back({r, r.has("on") ? &marker(r.node("on")) : nullptr});
  }
}

void SceneBuilder::readTargets(const Record& end) {
  for (const Record& r : end.objects("targets"))
    end_.targets.push_back({&marker(r.node("on")), direction(r, "direction"), r.number("value")});
  for (const Record& r : end.objects("orientations")) {
    const Vector3 rotation = r.vector3("rotation");
    if (!(rotation.norm() < std::numbers::pi)) r.node("rotation").refuse("the rotation is half a turn or more", "give the shorter way");
    end_.orientations.push_back({&marker(r.node("on")), rotation});
  }
}

void SceneBuilder::addControls(OptimalControlOptions& options) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [r, on] : actuators_) {
    std::vector<Actuator> controls;
    if (on) {
      Vector6 wrench;
      wrench << r.vector3("force"), r.vector3("moment");
      controls = {{r.text("name"), {{on, r.choice("direction") == "follower", wrench}}}};
    } else {
      const std::string joint = r.reference("joint", joints_);
      controls = placed(r.node("joint"), [&] { return motorsOf(*content_.mechanism.model, joint); });
      for (Actuator& control : controls)
        if (r.has("name")) control.name.replace(0, joint.size(), r.text("name"));
    }
    for (Actuator& control : controls) {
      const bool isTaken =
          std::any_of(options.actuators.begin(), options.actuators.end(), [&](const Actuator& a) { return a.name == control.name; });
      if (isTaken) r.node().refuse("two controls are named '" + control.name + "'", "give one of them another name");
      const auto [least, most] = r.has("limit") ? readLimit(r.node("limit"), isForce(control) ? dimension::force : dimension::moment)
                                                : std::pair(-infinity, infinity);
      options.actuators.push_back(std::move(control));
      options.lower.push_back(least), options.upper.push_back(most);
      options.effort.push_back(r.number("effort"));
    }
  }
}

std::string SceneBuilder::controlName(const Node& node) const {
  std::vector<std::string> names;
  for (const auto& [name, unit] : controls_) names.push_back(name);
  return node.toReference("control", names);
}

/// Angles in degrees, lengths, by what the joint leaves free.
JointMotions SceneBuilder::readMotions(const Node& node) const {
  if (!node.isMap()) node.refuse("expected the motions of joints", "write {JOINT: angle, ...}");
  const Joints* joints = content_.mechanism.model->term<Joints>();
  std::vector<std::string> names = joints_;
  for (const BodyPart& body : content_.mechanism.bodies) names.push_back(body.name);
  JointMotions motions;
  for (const std::string& key : node.keys()) {
    const Node value = node.at(key);
    if (std::find(names.begin(), names.end(), key) == names.end())
      value.refuse("'" + key + "' is neither a joint nor a body", "name one of those that the scene has");
    const int joint = joints ? joints->find(key) : -1;
    std::vector<Dimension> dimensions;
    if (joint < 0) {
      dimensions.assign(3, dimension::length);
      dimensions.resize(6, dimension::angle);
    } else {
      switch (joints->kind(joint)) {
      case JointKind::Prismatic:
        dimensions = {dimension::length};
        break;
      case JointKind::Cylindrical:
        dimensions = {dimension::length, dimension::angle};
        break;
      case JointKind::Planar:
        dimensions = {dimension::length, dimension::length, dimension::angle};
        break;
      case JointKind::Spherical:
        dimensions.assign(3, dimension::angle);
        break;
      default:
        dimensions = {dimension::angle};
      }
    }
    const std::vector<Node> items = value.isSequence() ? value.items() : std::vector<Node>{value};
    if (items.size() != dimensions.size())
      value.refuse("'" + key + "' moves in " + std::to_string(dimensions.size()) + " ways", "give as many numbers");
    VectorX& numbers = motions[key];
    numbers.resize(Eigen::Index(items.size()));
    for (std::size_t i = 0; i < items.size(); ++i) numbers[Eigen::Index(i)] = items[i].toNumber(dimensions[i]);
  }
  return motions;
}

void SceneBuilder::makeManoeuvre(const Record& r) {
  OptimalControlOptions o;
  o.intervals = r.integer("intervals");
  if (o.intervals < 2) r.node("intervals").refuse("a path needs at least two intervals", "give 2 or more");
  const Node duration = r.node("duration");
  if (duration.isMap()) {
    o.duration = duration.at("guess", "the first guess of the duration").toNumber(dimension::time);
    o.durationBounds = {{duration.at("at_least", "the shortest duration").toNumber(dimension::time),
                         duration.at("at_most", "the longest duration").toNumber(dimension::time)}};
    if (!(0 < (*o.durationBounds)[0] && (*o.durationBounds)[0] <= o.duration && o.duration <= (*o.durationBounds)[1]))
      duration.refuse("the guess must lie between the bounds, and these be positive", "write {guess: 1, at_least: 0.5, at_most: 2}");
  } else {
    o.duration = duration.toNumber(dimension::time);
    if (!(o.duration > 0)) duration.refuse("the duration must be positive", "give a time");
  }
  if (r.choice("quadrature") == "trapezoidal") o.quadrature = Quadrature::Trapezoidal;
  addControls(o);
  if (o.actuators.empty())
    throw InputError(r.node().location(), "actuators", "an optimal control problem needs controls", "add `actuators: [{joint: NAME}]`");
  for (double& weight : o.effort) weight *= r.number("effort");
  o.durationWeight = r.number("time_weight");
  std::set<std::string> units;
  for (std::size_t i = 0; i < o.actuators.size(); ++i) {
    const bool force = isForce(o.actuators[i]);
    controls_[o.actuators[i].name] = force ? "N" : "N m";
    if (o.effort[i] > 0) units.insert(force ? "N^2 s" : "N^2 m^2 s");
  }
  if (o.durationWeight > 0) units.insert("s");
  if (units.size() == 1) costUnit_ = *units.begin();
  const Record end = r.object("end");
  o.end = end_;
  o.end.isAtRest = end.boolean("at_rest");
  if (end.has("joints")) o.end.configuration = readMotions(end.node("joints"));
  for (const Record& pose : r.objects("guess")) {
    const double at = pose.number("at");
    if (!(at < 1) || (!o.guess.empty() && at <= o.guess.back().share))
      pose.node("at").refuse("poses come one after the other before the end", "give rising shares below 1");
    o.guess.push_back({at, readMotions(pose.node("joints"))});
  }
  if (r.has("max_turn")) o.largestTurn = r.number("max_turn");
  o.solver.tolerance = r.number("optimality");
  o.solver.maxIterations = r.integer("max_iterations");
  content_.makeAnalysis = [o](const Model& model, const ContactModel&, const FrictionObserver&) {
    return std::make_unique<OptimalControl>(model, o);
  };
  placed(r.node(), [&] { OptimalControl(*content_.mechanism.model, o); }); // what does not fit is refused before anything runs
}

}
