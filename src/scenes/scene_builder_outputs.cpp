#include "scenes/scene_builder_class.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace tendril::scenes {

namespace {

std::string shortest(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.9g", number);
  return text.data();
}

bool isAll(const Node& between) { return !between.isSequence() && between.toText() == "all"; }

}

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
  if (what == "integral") return OutputDefinition::Integral{r.text("of"), r.text("over"), r.node("of").location(), r.node("of").path()};
  if (what == "event times") return eventTimes(r);
  if (const auto ofContact = ofContacts(r)) return *ofContact;
  if (const auto ofPath = ofDiscretePath(r, at)) return *ofPath;
  if (const auto examined = ofSolvability(r)) return *examined;
  if (const auto certified = ofCertification(r)) return *certified;
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
                                                 {"slip", Kind::Slip},
                                                 {"gap error", Kind::GapError},
                                                 {"tangential force", Kind::TangentialForce},
                                                 {"line load", Kind::LineLoad},
                                                 {"peak line load", Kind::PeakLineLoad},
                                                 {"contact extent", Kind::Extent},
                                                 {"line load peak", Kind::Peak},
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
    r.node("measure").refuse(
        "the analysis knows no contact",
        "give `contacts`, and a method that knows them: moreau, or nonsmooth-alpha or load-stepping where beams touch");
  }
  ContactQuantity quantity{found->second};
  const bool isOfPair = quantity.kind <= Kind::Count;
  if (!isOfPair) return quantity;
  const Node between = r.node("between");
  if (quantity.needsFirst() || !isAll(between)) std::tie(quantity.first, quantity.second) = readPair(between);
  if (quantity.kind == Kind::Gap && quantity.first == quantity.second) {
    between.refuse("neighbouring places of a beam have no distance, so neither has the beam from itself",
                   "name two parts, or measure `penetration` or `gap error`");
  }
  if (!quantity.isAlongBeam()) return quantity;
  if (!content_.contacts.parts()[std::size_t(quantity.first)].curve)
    between.refuse("the first of the two is not a beam", "name a beam first");
  if (r.has("at"))
    quantity.at = arclength(r.node("at"), content_.mechanism.beam(content_.contacts.parts()[std::size_t(quantity.first)].name));
  return quantity;
}

std::optional<MonitorQuantity> SceneBuilder::ofDiscretePath(const Record& r, const Marker* at) const {
  using Info = MonitorQuantity;
  static const std::map<std::string, Info> ofPath{
      {"discrete energy", {"", 1, "J", "energy of the interval that begins at the node"}},
      {"hamiltonian", {"", 1, "J", "energy of the node, with the momentum that the constraints let through"}},
      {"full hamiltonian", {"", 1, "J", "energy of the node, with all of the discrete momentum"}},
      {"discrete velocity", {"", 3, "m/s", "displacement of the marker in the interval over the step", "inertial"}},
      {"discrete speed",
       {"", 1, "m/s", "norm of the rates of all director coordinates in the interval, those of directors times the size of the model"}},
      {"closure", {"", 1, "1", "largest constraint, internal ones included; lengths relative to the size of the model"}},
      {"hidden constraint",
       {"", 1, "1/s", "largest rate of a constraint along the discrete momentum; lengths relative to the size of the model"}},
      {"largest turn", {"", 1, "rad", "largest relative rotation in the interval; the discrete momentum folds at 90 degrees"}},
      {"condition number", {"", 1, "1", "of the matrix of a step, as it stands"}},
      {"scaled condition number", {"", 1, "1", "of the matrix of a step, rows and unknowns scaled"}},
      {"unknowns", {"", 1, "1", "of the equations of a step"}}};
  static const std::map<std::string, Info> ofManoeuvre{
      {"cost", {"", 1, "1", "objective of the optimal control problem"}},
      {"control", {"", 1, "1", "control in the interval that begins at the node [N or N m]"}},
      {"momentum defect", {"", 1, "1", "largest change of a momentum map at a node beyond what controls and weight apply [N s, N m s]"}},
      {"replay difference", {"", 1, "1", "largest distance from the replayed motion, in sizes of the model"}},
      {"final time", {"", 1, "s", "duration of the motion"}},
      {"cost divisor", {"", 1, "m", "length that the cost is divided by"}},
      {"momentum jump", {"", 1, "N s", "largest change of linear momentum where a contact lands"}},
      {"impact loss", {"", 1, "J", "kinetic energy lost where contacts have landed"}},
      {"control work", {"", 1, "J", "work of the controls since the start"}},
      {"impulse", {"", 3, "N s", "impulse of the contact at the node", "inertial"}},
      {"program variables", {"", 1, "1", "variables of the nonlinear program"}},
      {"program constraints", {"", 1, "1", "equations of the nonlinear program"}},
      {"program iterations", {"", 1, "1", "iterations of its solver"}},
      {"costs of starts", {"", 1, "1", "objective that each first guess led to"}},
      {"least pressure", {"", 1, "1", "least force of the disc on a node, scaled"}},
      {"complementarity", {"", 1, "1", "largest product of pressure and gap, scaled"}},
      {"asymmetry", {"", 1, "1", "difference of the curvatures from those of the mirror image, over the largest one"}},
      {"share solved", {"", 1, "1", "share of the first guesses that led to a solution"}},
      {"costs of levels", {"", 1, "1", "objective of each number of intervals"}}};
  // The same words as for a state, in the sense of director coordinates.
  static const std::map<std::string, Info> ofState{
      {"kinetic energy", {"", 1, "J", "kinetic energy"}},
      {"elastic energy", {"", 1, "J", "elastic energy"}},
      {"gravitational energy", {"", 1, "J", "potential energy of gravity, zero at the inertial origin"}},
      {"energy", {"", 1, "J", "total energy"}},
      {"momentum", {"", 3, "N s", "linear momentum", "inertial"}},
      {"angular momentum", {"", 3, "N m s", "angular momentum about the inertial origin", "inertial"}}};
  const std::string& what = r.variant();
  static const std::map<std::string, Info> ofStrainRod{
      {"energy", {"", 1, "J", "energy of the rod and its weight"}},
      {"elastic energy", {"", 1, "J", "elastic energy"}},
      {"gravitational energy", {"", 1, "J", "energy of the weight, zero at the inertial origin"}},
      {"turns", {"", 1, "1", "integral of the torsion over 2 pi"}},
      {"torsion spread", {"", 1, "1/m", "largest less least torsion"}},
      {"stability", {"", 1, "1", "least of the second variation over twice its elastic part"}},
      {"end force", {"", 3, "N", "force of the support on the end", "inertial"}},
      {"force slope", {"", 1, "N/m", "growth of the internal force against the weight by the arclength, from the moments"}},
      {"end moment", {"", 3, "N m", "moment of the support on the end", "inertial"}}};
  static const std::map<std::string, Info> ofElastica{
      {"kappa0", {"", 1, "1", "curvature at the begin, scaled by half of the length"}},
      {"force", {"", 1, "1", "compression, scaled by half of the length and EI"}},
      {"shear force", {"", 1, "1", "force across, scaled likewise"}},
      {"energy", {"", 1, "1", "elastic energy of a rod of length 1, in EI/L"}},
      {"y_max", {"", 1, "1", "largest height over half of the length"}},
      {"unstable directions", {"", 1, "1", "directions in the plane in which the energy falls"}},
      {"unstable out of plane", {"", 1, "1", "directions out of the plane in which the energy falls"}}};
  static const std::map<std::string, Info> ofRodPath{
      {"parameter", {"", 1, "1", "parameter of the path"}},
      {"branch", {"", 1, "1", "0 the first path, then both halves of each branch"}},
      {"is end", {"", 1, "1", "1 at the last point of a branch"}},
      {"unstable directions", {"", 1, "1", "directions in which the energy falls"}},
      {"energy", {"", 1, "J", "energy of the rod and its weight"}},
      {"turns", {"", 1, "1", "integral of the torsion over 2 pi"}},
      {"end force", {"", 3, "N", "force of the support on the end", "inertial"}},
      {"end moment", {"", 3, "N m", "moment of the support on the end", "inertial"}},
      {"branch parameters", {"", 1, "1", "parameter at each branch point"}},
      {"branch forces", {"", 1, "N", "size of the force of the support on the end at each branch point"}}};
  static const std::map<std::string, Info> ofRodContact{
      {"parameter", {"", 1, "1", "what changes"}},
      {"energy", {"", 1, "J", "energy of the rod and its weight"}},
      {"elastic energy", {"", 1, "J", "elastic energy"}},
      {"gravitational energy", {"", 1, "J", "energy of the weight, zero at the inertial origin"}},
      {"turns", {"", 1, "1", "integral of the torsion over 2 pi"}},
      {"twist jump", {"", 1, "1", "change of that in the step"}},
      {"writhe", {"", 1, "1", "writhe of the centreline, straight beyond both ends"}},
      {"contact places", {"", 1, "1", "places that carry a force"}},
      {"largest contact force", {"", 1, "N", "largest force of a contact"}},
      {"least gap", {"", 1, "m", "smallest distance of the surfaces, at most half a radius"}},
      {"stability", {"", 1, "1", "least of the second variation over twice its elastic part"}},
      {"residual", {"", 1, "1", "residual of the conditions of optimality"}},
      {"end force", {"", 3, "N", "force of the support on the end", "inertial"}},
      {"end moment", {"", 3, "N m", "moment of the support on the end", "inertial"}}};
  static const std::map<std::string, Info> ofIdentification{
      {"natural curvature", {"", 1, "1/m", "size of the mean natural curvature"}},
      {"natural torsion", {"", 1, "1/m", "mean natural torsion"}},
      {"natural strains", {"", 3, "1/m", "natural strains of each group"}},
      {"uncertainty", {"", 3, "1/m", "uncertainty of each natural strain"}},
      {"misfit", {"", 1, "m", "root of the mean square of the distances of the points"}},
      {"largest misfit", {"", 1, "m", "largest distance of a point"}},
      {"unidentified", {"", 1, "1", "combinations of natural strains that the points do not tell"}}};
  static const std::map<std::string, Info> ofPackedRing{
      {"energy", {"", 1, "1", "elastic energy, in EI/L"}},
      {"index", {"", 1, "1", "turns of the tangent"}},
      {"max_radius", {"", 1, "1", "largest distance from the centre over the length"}},
      {"largest pressure", {"", 1, "1", "largest force of the disc on a node, scaled"}},
      {"least pressure", {"", 1, "1", "least force of the disc on a node, scaled"}},
      {"complementarity", {"", 1, "1", "largest product of pressure and gap, scaled"}},
      {"asymmetry", {"", 1, "1", "difference of the curvatures from those of the mirror image, over the largest one"}},
      {"share solved", {"", 1, "1", "share of the first guesses that led to a solution"}}};
  static const std::map<std::string, Info> ofCosseratRod{
      {"energy", {"", 1, "J", "energy of the rod and its loads"}},
      {"elastic energy", {"", 1, "J", "elastic energy"}},
      {"unstable directions", {"", 1, "1", "directions in which the energy falls"}},
      {"force map", {"", 3, "N", "force in the first edge", "inertial"}},
      {"moment map", {"", 3, "N m", "moment of the first edge about the inertial origin", "inertial"}},
      {"isotropy map", {"", 1, "N m", "moment about the third director"}},
      {"map defect", {"", 1, "1", "largest change of force or moment map beyond the loads, relative"}}};
  if (content_.isRod) {
    static const std::map<std::string, Info> nothing;
    const auto& own = cosserat_         ? ofCosseratRod
                      : elastica_       ? ofElastica
                      : packedRing_     ? ofPackedRing
                      : rodPath_        ? ofRodPath
                      : rodContact_     ? ofRodContact
                      : identification_ ? ofIdentification
                      : reconstruction_ ? nothing
                                        : ofStrainRod;
    if (const auto found = own.find(what); found != own.end()) {
      MonitorQuantity quantity = found->second;
      quantity.name = what;
      if (what == "parameter" || what == "branch parameters") quantity.unit = rodPath_ ? rodPath_->unit : rodContact_->unit;
      if (what.starts_with("branch ")) quantity.columns = rodPath_->path.branchPoints;
      if (identification_ && quantity.columns == 3) quantity.columns *= identification_->identification.groups;
      return quantity;
    }
  }
  static const std::map<std::string, Info> ofShell{
      {"curvatures", {"", 3, "1/m", "curvatures b11, b22, b12"}},
      {"kappa", {"", 1, "1/m", "curvature b11 + b22"}},
      {"phi", {"", 1, "rad", "angle from e1 of the flat sheet to the direction in which it bends"}},
      {"corner", {"", 3, "m", "position of the far corner", "inertial"}},
      {"sheet point", {"", 3, "m", "position of a point of the sheet", "inertial"}},
      {"coordinates", {"", 3, "1", "coordinates of the shape, in SI units and radians"}},
      {"mass matrix", {"", 9, "m^6", "mass matrix of the curvatures over the mass per area, row by row"}},
      {"height integral", {"", 1, "m^3", "integral of the third coordinate over the sheet"}},
      {"frequencies", {"", 2, "1/s", "angular frequencies of small motions about the present shape"}},
      {"constraint drift", {"", 1, "1/m^2", "largest Gaussian curvature so far"}},
      {"energy drift", {"", 1, "1", "largest change of the energy so far, less the work of damping, relative"}},
      {"flat passage", {"", 1, "1", "0 not near the flat state, 1 through it along a ray, 2 turned aside before it"}},
      {"kinetic energy", {"", 1, "J", "kinetic energy"}},
      {"elastic energy", {"", 1, "J", "elastic energy"}},
      {"gravitational energy", {"", 1, "J", "potential energy of gravity, zero at the inertial origin"}},
      {"energy", {"", 1, "J", "total energy"}}};
  if (content_.isShell) {
    for (const char* ofPatches : {"mass matrix", "height integral", "frequencies", "constraint drift", "flat passage"})
      if (what == ofPatches && patches_.empty())
        r.node("measure").refuse("it is one of uniform shells that are held", "write form: uniform and held: true, or remove the output");
    if (const auto found = ofShell.find(what); found != ofShell.end()) {
      MonitorQuantity quantity = found->second;
      quantity.name = what;
      if (what == "sheet point") {
        const Vector2 s = materialPoint(r.node("at"), content_.shells[0]);
        quantity.name = fmt::format("point {:.17g} {:.17g}", s[0], s[1]);
      }
      if (what == "coordinates") quantity.columns = content_.shells[0].shape->size();
      return quantity;
    }
    for (const char* ofModel : {"momentum", "angular momentum", "power", "constraint violation"})
      if (what == ofModel && !patches_.empty())
        r.node("measure").refuse("held patches move in coordinates of their own, of which it is not known",
                                 "write analysis: {type: dynamic, ...}");
  }
  const auto refuse = [&](const std::map<std::string, Info>& own, const char* type) {
    if (own.contains(what) && !ofState.contains(what) && !ofManoeuvre.contains(what))
      r.node("measure").refuse("the analysis is not of type " + std::string(type),
                               "write analysis: {type: " + std::string(type) + ", ...}");
  };
  refuse(ofStrainRod, "rod-equilibrium");
  refuse(ofShell, "shell-motion");
  refuse(ofCosseratRod, "cosserat-rod");
  refuse(ofElastica, "elastica");
  refuse(ofPackedRing, "packed-ring");
  refuse(ofRodPath, "rod-path");
  refuse(ofRodContact, "rod-contact");
  refuse(ofIdentification, "identification");
  if (const auto found = ofManoeuvre.find(what); found != ofManoeuvre.end()) {
    if (!content_.isManoeuvre)
      r.node("measure").refuse("the analysis looks for no controls", "write analysis: {type: optimal-control, ...}");
    MonitorQuantity quantity = found->second;
    quantity.name = what;
    if (what == "control") {
      const std::string name = controlName(r.node("actuator"));
      quantity.name += " " + name;
      quantity.unit = controls_.at(name);
    } else if (what == "impulse") {
      std::vector<std::string> names;
      for (const PathContact& contact : manoeuvre_.contacts) names.push_back(contact.name);
      quantity.name += " " + r.node("contact").toReference("contact", names);
    } else if (what == "cost" || what == "costs of starts" || what == "costs of levels") {
      quantity.unit = costUnit_;
      if (what != "cost") quantity.columns = what == "costs of starts" ? starts_ : levels_;
    }
    return quantity;
  }
  const auto found = ofPath.find(what);
  if (found != ofPath.end() && !content_.hasDiscretePath) {
    r.node("measure").refuse("the analysis has no discrete path in director coordinates",
                             "write analysis: {type: dynamic, method: variational, ...}, or energy-momentum");
  }
  const auto same = ofState.find(what);
  if (found == ofPath.end() && (same == ofState.end() || !content_.hasDiscretePath)) return {};
  MonitorQuantity quantity = found != ofPath.end() ? found->second : same->second;
  quantity.name = what;
  quantity.on = at;
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
