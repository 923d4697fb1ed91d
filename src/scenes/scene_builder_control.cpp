#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"
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

bool isCable(const Actuator& control) { return !control.cables.empty(); }
bool isMuscle(const Actuator& control) { return !control.muscles.empty(); }

std::pair<double, double> readLimit(const Node& node, const Dimension& of) {
  const std::vector<Node> ends = node.isSequence() ? node.items() : std::vector<Node>{};
  if (ends.size() != 2) node.refuse("expected two numbers", "write [least, most]");
  const std::pair limit(ends[0].toNumber(of), ends[1].toNumber(of));
  if (!(limit.first < limit.second)) node.refuse("the least value is not below the most", "exchange them");
  return limit;
}

}

const Dimension& dimensionOf(const Actuator& control) {
  if (isMuscle(control)) return dimension::none;
  return isCable(control) ? dimension::stiffness : isForce(control) ? dimension::force : dimension::moment;
}

void SceneBuilder::readActuators(const std::vector<Record>& records) {
  if (!records.empty() && !content_.isManoeuvre)
    throw InputError(root_.keyLocation("actuators"), "actuators", "the analysis looks for no controls",
                     "write analysis: {type: optimal-control, ...}, or turn the actuators into loads");
  for (const Record& r : records) {
    if (r.has("joint") == r.has("on")) r.node().refuse("say what is driven", "give either `joint` or `on`");
    for (const char* key : {"cable", "muscle"})
      if (r.has(key) && !r.has("on")) r.node().refuse("the " + std::string(key) + " has one end", "give `on`, the marker that it pulls");
    for (const char* key : {"force", "moment", "direction", "cable", "muscle"})
      if (r.has("joint") && r.node().has(key))
        r.node(key).refuse("the motor of a joint turns or pushes along its freedoms", "remove it, or give `on`");
    for (const char* key : {"cable", "muscle"})
      if (r.has(key) && r.node().has("direction"))
        r.node("direction").refuse("a " + std::string(key) + " pulls along its line", "remove it");
    const bool isLoad = !r.vector3("force").isZero() || !r.vector3("moment").isZero();
    if (r.has("on") && int(isLoad) + int(r.has("cable")) + int(r.has("muscle")) != 1)
      r.node().refuse("the actuator does nothing, or two things", "give `force` or `moment`, or `cable`, or `muscle`");
    if (r.has("on") && !r.has("name")) r.node().refuse("the actuator has no name", "give `name`");
    ActuatorEntry entry{.record = r};
    if (r.has("on")) entry.on = &marker(r.node("on"));
    if (r.has("cable")) entry.cable = &marker(r.node("cable"));
    if (r.has("muscle")) entry.muscle = &marker(r.object("muscle").node("to"));
    actuators_.push_back(std::move(entry));
  }
}

/// What belongs to markers, which must exist before the mechanism is built.
void SceneBuilder::readManoeuvre(const Record& analysis) {
  manoeuvre_.intervals = analysis.integer("intervals");
  if (manoeuvre_.intervals < 2) analysis.node("intervals").refuse("a path needs at least two intervals", "give 2 or more");
  if (manoeuvre_.intervals > 1000000) analysis.node("intervals").refuse("so many intervals do not fit into memory", "give up to 1000000");
  const Record end = analysis.object("end");
  for (const Record& r : end.objects("targets"))
    manoeuvre_.end.targets.push_back({&marker(r.node("on")), direction(r, "direction"), r.number("value")});
  for (const Record& r : end.objects("orientations")) {
    const Vector3 rotation = r.vector3("rotation");
    if (!(rotation.norm() < std::numbers::pi)) r.node("rotation").refuse("the rotation is half a turn or more", "give the shorter way");
    manoeuvre_.end.orientations.push_back({&marker(r.node("on")), rotation});
  }
  for (const Record& r : end.objects("fastest")) {
    if (end.boolean("at_rest")) r.node().refuse("the motion ends at rest", "write `at_rest: false`");
    manoeuvre_.end.fastest.push_back({&marker(r.node("on")), direction(r, "direction"), r.number("weight")});
  }
  readContacts(analysis);
  readBounds(analysis);
  if (analysis.has("cost_per")) {
    const Record r = analysis.object("cost_per");
    manoeuvre_.per = {&marker(r.node("on")), &marker(r.node("from")), direction(r, "direction"), nodeNumber(r, "node")};
  }
  if (analysis.has("periodic") && analysis.object("periodic").has("anchors")) {
    const Node anchors = analysis.object("periodic").node("anchors");
    if (!anchors.isSequence() || anchors.items().size() != 2)
      anchors.refuse("expected two markers", "write [at the beginning, at the end]");
    manoeuvre_.periodic.emplace();
    for (std::size_t i = 0; i < 2; ++i) manoeuvre_.periodic->anchors[i] = &marker(anchors.items()[i]);
  }
}

int SceneBuilder::nodeNumber(const Record& r, const char* key) const {
  const int node = r.has(key) ? r.integer(key) : manoeuvre_.intervals;
  if (node > manoeuvre_.intervals)
    r.node(key).refuse("there is no such node", "give a number up to " + std::to_string(manoeuvre_.intervals) + ", that of the end");
  return node;
}

void SceneBuilder::readContacts(const Record& analysis) {
  for (const Record& r : analysis.objects("contacts")) {
    PathContact c{.name = r.text("name"), .marker = &marker(r.node("on")), .normal = direction(r, "normal")};
    for (const PathContact& other : manoeuvre_.contacts)
      if (other.name == c.name) r.node("name").refuse("two contacts are named '" + c.name + "'", "give one of them another name");
    c.first = nodeNumber(r, "from"), c.last = nodeNumber(r, "to");
    if (c.last <= c.first) r.node().refuse("the contact ends before it begins", "give `from` below `to`");
    if (r.has("height")) c.height = r.number("height");
    if (r.has("friction")) c.friction = r.number("friction");
    c.pushes = r.boolean("pushes");
    if (r.has("holds")) {
      const Node holds = r.node("holds");
      if (!holds.isSequence()) holds.refuse("expected directions", "write [[1, 0, 0], ...]");
      for (const Node& item : holds.items()) {
        const std::vector<Node> numbers = item.isSequence() ? item.items() : std::vector<Node>{};
        if (numbers.size() != 3) item.refuse("a direction has three components", "write [1, 0, 0]");
        Vector3 axis;
        for (int i = 0; i < 3; ++i) axis[i] = numbers[std::size_t(i)].toNumber(dimension::none);
        if (!(axis.norm() > 0)) item.refuse("a direction cannot be zero", "write [1, 0, 0]");
        c.directions.push_back(axis.normalized());
      }
    }
    manoeuvre_.contacts.push_back(std::move(c));
  }
}

void SceneBuilder::readBounds(const Record& analysis) {
  for (const Record& r : analysis.objects("bounds")) {
    PathBound bound;
    if (r.has("on") == r.has("joint")) r.node().refuse("say what is bounded", "give either `on` or `joint`");
    if (r.has("joint") && (r.has("direction") || r.has("centre")))
      r.node().refuse("a joint's angle has no direction and no centre", "remove `direction` and `centre`, or give `on`");
    if (r.has("on") && r.has("direction") == r.has("centre"))
      r.node().refuse("say which number of the marker is bounded", "give either `direction` or `centre`");
    if (!r.has("at_least") && !r.has("at_most")) r.node().refuse("there is no bound", "give `at_least`, `at_most` or both");
    if (r.has("on")) {
      bound.marker = &marker(r.node("on"));
      bound.name = "bound on " + bound.marker->label();
      if (r.has("direction")) bound.direction = direction(r, "direction");
      if (r.has("centre")) bound.centre = r.vector3("centre");
    } else {
      bound.joint = r.reference("joint", joints_);
      bound.name = "bound on joint '" + bound.joint + "'";
    }
    const Dimension& of = r.has("on") ? dimension::length : dimension::angle;
    if (r.has("at_least")) bound.lower = r.node("at_least").toNumber(of);
    if (r.has("at_most")) bound.upper = r.node("at_most").toNumber(of);
    if (r.has("centre") && ((r.has("at_least") && bound.lower < 0) || (r.has("at_most") && bound.upper <= 0)))
      r.node().refuse("a distance is not negative", "give lengths above zero");
    if (bound.lower > bound.upper) r.node("at_least").refuse("the least value is above the largest", "exchange them");
    if (r.has("joint") && !(bound.upper - bound.lower < 2 * std::numbers::pi && bound.upper > bound.lower))
      r.node().refuse("an angle keeps between two different bounds, less than a turn apart", "give `at_least` below `at_most`");
    if (r.has("centre") && r.has("at_least") && r.has("at_most") && bound.lower == bound.upper)
      r.node().refuse("a distance keeps at least or at most", "give one bound");
    bound.first = nodeNumber(r, "from"), bound.last = nodeNumber(r, "to");
    if (bound.last < bound.first) r.node().refuse("the bound ends before it begins", "give `from` up to `to`");
    manoeuvre_.bounds.push_back(std::move(bound));
  }
}

void SceneBuilder::readPeriodicity(const Record& r, OptimalControlOptions& options) const {
  if (!options.periodic) options.periodic.emplace();
  Periodicity& periodic = *options.periodic;
  if (r.has("mirror")) periodic.mirror = direction(r, "mirror");
  periodic.axis = r.integer("axis");
  if (periodic.axis > 3) r.node("axis").refuse("a body has three axes", "give 1, 2 or 3");
  const auto& bodies = content_.mechanism.bodies;
  std::vector<std::string> names, controls;
  for (const BodyPart& body : bodies) names.push_back(body.name);
  for (const Actuator& control : options.actuators) controls.push_back(control.name);
  const auto indexOf = [](const std::vector<std::string>& list, const std::string& name) {
    return int(std::find(list.begin(), list.end(), name) - list.begin());
  };
  const auto known = [&](const Node& node, const std::string& kind, const std::vector<std::string>& list, const std::string& name) {
    if (indexOf(list, name) == int(list.size())) node.refuse("there is no " + kind + " '" + name + "'", "name one that the scene has");
    return indexOf(list, name);
  };
  for (std::size_t b = 0; b < content_.mechanism.model->blocks().size(); ++b) periodic.endBlock.push_back(int(b));
  if (r.node().has("axis") && !periodic.mirror) r.node("axis").refuse("only a mirrored motion has an axis", "give `mirror`, or remove it");
  if (r.has("bodies")) {
    const Node map = r.node("bodies");
    if (!map.isMap()) map.refuse("expected bodies and those that take their places", "write {BODY: BODY, ...}");
    for (const std::string& name : map.keys()) {
      const int begin = known(map, "body", names, name), end = known(map.at(name), "body", names, map.at(name).toText());
      periodic.endBlock[std::size_t(bodies[std::size_t(begin)].block)] = bodies[std::size_t(end)].block;
    }
  }
  std::vector<int> places = periodic.endBlock;
  std::sort(places.begin(), places.end());
  if (std::adjacent_find(places.begin(), places.end()) != places.end())
    r.node("bodies").refuse("two bodies take the place of one", "let every body take one place: {a: b, b: a}");
  if (!r.has("controls")) return;
  const Node map = r.node("controls");
  if (!map.isMap()) map.refuse("expected controls", "write {CONTROL: [CONTROL, factor], ...}");
  for (const std::string& name : map.keys()) {
    const Node pair = map.at(name);
    if (!pair.isSequence() || pair.items().size() != 2) pair.refuse("expected a control and a factor", "write [NAME, 1]");
    periodic.controls.push_back({known(map, "control", controls, name), known(pair, "control", controls, pair.items()[0].toText()),
                                 pair.items()[1].toNumber(dimension::none)});
  }
}

void SceneBuilder::addControls(OptimalControlOptions& options) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const auto& [r, on, cable, muscle] : actuators_) {
    std::vector<Actuator> controls;
    if (muscle) {
      const Record of = r.object("muscle");
      controls = {{r.text("name"), {}, {}, {{on, muscle, of.number("strength"), of.number("length"), of.number("speed")}}}};
    } else if (cable) {
      controls = {{r.text("name"), {}, {{on, cable}}}};
    } else if (on) {
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
      const auto [least, most] = r.has("limit")      ? readLimit(r.node("limit"), dimensionOf(control))
                                 : isMuscle(control) ? std::pair(0.0, 1.0)
                                                     : std::pair(-infinity, infinity);
      if (isMuscle(control) && !(least >= 0 && most <= 1))
        r.node("limit").refuse("an activation lies between 0 and 1", "give limits within these");
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
  OptimalControlOptions o = manoeuvre_;
  for (const TranscriptionMethod method : {TranscriptionMethod::Dmocc, TranscriptionMethod::Multipliers, TranscriptionMethod::Dmoc,
                                           TranscriptionMethod::CollocationQp, TranscriptionMethod::CollocationQv})
    if (r.choice("method") == nameOf(method)) o.method = method;
  if (r.choice("solver") == "ipopt") o.programSolver = ProgramSolver::Ipopt;
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
    const bool isNorm = r.choice("effort_law") == "norm";
    const Actuator& actuator = o.actuators[i];
    const std::string unit = isMuscle(actuator) ? "1" : isCable(actuator) ? "N/m" : isForce(actuator) ? "N" : "N m";
    const std::string square = isMuscle(actuator) ? "s" : isCable(actuator) ? "N^2/m^2 s" : isForce(actuator) ? "N^2 s" : "N^2 m^2 s";
    controls_[o.actuators[i].name] = unit;
    if (o.effort[i] > 0) units.insert(!isNorm ? square : isMuscle(actuator) ? "s" : unit + " s");
  }
  if (o.durationWeight > 0) units.insert("s");
  if (!o.end.fastest.empty()) units.insert("m/s");
  if (units.size() == 1) costUnit_ = *units.begin() + (o.per ? "/m" : "");
  const Record end = r.object("end");
  if (r.choice("effort_law") == "norm") {
    o.effortNorm = r.node("softening").toPositive(dimensionOf(o.actuators.front()));
  }
  o.beginIsFree = r.choice("begin") == "free";
  if (r.has("periodic")) {
    if (!o.beginIsFree || r.object("end").boolean("at_rest"))
      r.node("periodic")
          .refuse("a motion that repeats begins and ends with velocities that are looked for",
                  "write `begin: free` and `end: {at_rest: false}`");
    readPeriodicity(r.object("periodic"), o);
  }
  const Joints* joints = content_.mechanism.model->term<Joints>();
  for (const PathBound& bound : o.bounds) {
    if (bound.joint.empty()) continue;
    const JointKind kind = joints->kind(joints->find(bound.joint));
    if (kind != JointKind::Revolute && kind != JointKind::Cylindrical && kind != JointKind::Planar)
      r.node("bounds").refuse("joint '" + bound.joint + "' has no single angle",
                              "bound revolute, cylindrical and planar joints, or a marker");
  }
  if (r.choice("effort_law") == "squares" && r.node().has("softening"))
    r.node("softening").refuse("squares are smooth", "remove it, or write `effort_law: norm`");
  if (!o.durationBounds && r.node().has("time_weight") && r.number("time_weight") > 0)
    r.node("time_weight").refuse("the duration is given", "remove it, or write duration: {guess: T, at_least: T1, at_most: T2}");
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
  if (!(o.solver.tolerance <= 1e-6)) r.node("optimality").refuse("balances of momentum are met no better than this", "give 1e-6 or less");
  o.solver.maxIterations = r.integer("max_iterations");
  o.starts = r.integer("starts"), o.seed = unsigned(r.integer("seed")), o.spread = r.number("spread");
  o.refinements = r.integer("refine");
  constexpr int mostStarts = 10000;
  if (o.starts > mostStarts) r.node("starts").refuse("so many first guesses are not kept", "give a number up to 10000");
  for (const char* key : {"seed", "spread"})
    if (o.starts < 2 && r.node().has(key))
      r.node(key).refuse("there is one first guess, which is not disturbed", "remove it, or give `starts`");
  if (o.refinements > 20) r.node("refine").refuse("so many doublings leave no interval to see", "give a number up to 20");
  starts_ = o.starts, levels_ = o.refinements + 1;
  content_.manoeuvre = std::make_shared<const OptimalControlOptions>(o);
  content_.makeAnalysis = [o](const Model& model, const ContactModel&, const FrictionObserver&) {
    return std::make_unique<OptimalControl>(model, o);
  };
  // What does not fit is refused before anything runs. A certification builds the scene many times, and makes the analysis of one.
  if (!certification_) placed(r.node(), [&] { OptimalControl(*content_.mechanism.model, o); });
}

}
