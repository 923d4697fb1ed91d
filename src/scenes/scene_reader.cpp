#include "scenes/scene_reader.h"

#include "scenes/scene_schema.h"
#include "tendril/contact/contact_set.h"
#include "tendril/dynamics/event_driven.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/dynamics/lie_group_variational.h"
#include "tendril/dynamics/moreau.h"
#include "tendril/dynamics/nonsmooth_alpha.h"
#include "tendril/dynamics/sweeping.h"
#include "tendril/dynamics/variational.h"
#include "tendril/lie/so3.h"
#include "tendril/scenes/friction_methods.h"
#include "tendril/statics/arc_length.h"
#include "tendril/statics/load_stepping.h"
#include "tendril/statics/minimum_energy.h"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace tendril::scenes {

// ---- beams
// ---------------------------------------------------------------------------------------------------------------------------------

Material readMaterial(const Record& r) {
  const Material material{r.number("E"), r.number("nu"), r.number("density"), r.number("damping_time")};
  placed(r.node(), [&] { material.check("the material"); });
  return material;
}

namespace {

Section withShear(Section section, const Record& r) {
  const Eigen::VectorXd factors = r.numbers("shear_factors");
  section.shear2 = factors[0], section.shear3 = factors[1];
  return section;
}

Section readRectangle(const Record& r) {
  const double width = r.number("width"), height = r.number("height");
  const std::string torsion = r.choice("torsion");
  if (torsion == "sixth" && std::abs(width - height) > 1e-12 * width) {
    r.node("torsion").refuse("`sixth` is the torsion constant of a square", "give polar or saint-venant");
  }
  return Section::rectangle(width, height, torsion == "saint-venant" ? Torsion::SaintVenant : Torsion::Polar);
}

SectionProperties withOutline(SectionProperties properties, const Record& r) {
  properties.dampingTime = r.number("damping_time");
  properties.outline.shape = Section::Shape::General;
  if (r.has("radius")) properties.outline.width = properties.outline.height = 2 * r.number("radius");
  return properties;
}

SectionProperties readStiffness(const Record& r) {
  SectionProperties p;
  p.stiffness.diagonal() << r.number("EA"), r.number("GA2"), r.number("GA3"), r.number("GJ"), r.number("EI2"), r.number("EI3");
  const double m = r.number("rhoA"), I2 = r.number("rhoI2"), I3 = r.number("rhoI3");
  p.mass.diagonal() << m, m, m, r.has("rhoI1") ? r.number("rhoI1") : I2 + I3, I2, I3;
  return withOutline(p, r);
}

SectionProperties readGeneral(const Record& r) {
  SectionProperties p;
  p.stiffness = readMatrix6(r.node("stiffness"), dimension::axialRigidity);
  if (r.has("mass")) p.mass = readMatrix6(r.node("mass"), dimension::lineDensity);
  return withOutline(p, r);
}

Section readShape(const Record& r) {
  if (r.variant() == "circle") return Section::circle(r.number("radius"));
  if (r.variant() == "tube") return Section::tube(r.number("outer_radius"), r.number("inner_radius"));
  return readRectangle(r);
}

std::vector<Vector3> readPoints(const Record& r) {
  const Eigen::MatrixXd rows = r.matrix("points");
  std::vector<Vector3> points;
  for (int i = 0; i < rows.rows(); ++i) points.push_back(rows.row(i).transpose());
  return points;
}

Curve readFormula(const Record& r, const std::optional<Vector3>& up) {
  const std::array<TimeFunction, 3> x{r.timeFunction("x", dimension::none), r.timeFunction("y", dimension::none),
                                      r.timeFunction("z", dimension::none)};
  const auto point = [&x](double u) -> CurvePoint {
    const Jet at[]{x[0].function(u), x[1].function(u), x[2].function(u)};
    const Vector3 position(at[0].value, at[1].value, at[2].value);
    if (!position.allFinite()) throw InputError("the formula of the curve is not finite at t = " + std::to_string(u));
    return {position, {at[0].rate, at[1].rate, at[2].rate}};
  };
  return Curve::parametric(point, r.number("from"), r.number("to"), up);
}

Curve readCurveUnplaced(const Record& r) {
  const std::string& type = r.variant();
  const std::optional<Vector3> up = r.has("up") ? std::optional<Vector3>(r.vector3("up")) : std::nullopt;
  if (type == "straight") return Curve::straight(r.vector3("from"), r.vector3("to"), up);
  if (type == "arc") {
    return Curve::arc(r.vector3("start"), r.vector3("tangent"), r.vector3("towards"), r.number("radius"), r.number("angle"));
  }
  if (type == "helix") {
    return Curve::helix(r.vector3("centre"), r.vector3("axis"), r.vector3("radial"), r.number("radius"), r.number("pitch"),
                        r.number("turns"));
  }
  if (type == "polyline") return Curve::polyline(readPoints(r), up);
  if (type == "spline") return Curve::spline(readPoints(r), up);
  return readFormula(r, up);
}

}

SectionProperties readSection(const Record& r, const std::optional<Material>& material) {
  const bool isOwn = r.variant() == "stiffness" || r.variant() == "general";
  if (isOwn && material) r.node().refuse("a section with stiffness of its own takes no material", "remove `material` from the beam");
  if (!isOwn && !material) r.node().refuse("this section needs a material", "add `material: NAME` to the beam, or give stiffnesses");
  return placed(r.node(), [&] {
    const SectionProperties properties = r.variant() == "stiffness" ? readStiffness(r)
                                         : r.variant() == "general" ? readGeneral(r)
                                                                    : SectionProperties::of(withShear(readShape(r), r), *material);
    properties.check("the section");
    return properties;
  });
}

Curve readCurve(const Record& r) {
  return placed(r.node(), [&] { return readCurveUnplaced(r); });
}

// ---- bodies
// --------------------------------------------------------------------------------------------------------------------------------

Matrix3 readOrientation(const Node& node) {
  if (!node.isMap()) return so3::exp(node.toVector3(dimension::angle));
  const Record r(node, orientation());
  if (r.has("directors")) {
    if (r.has("axis") || r.has("angle")) node.refuse("an orientation by directors has no axis and angle", "remove one of the two");
    const Matrix3 R = r.matrix("directors").transpose();
    if (!((R.transpose() * R - Matrix3::Identity()).norm() < 1e-6 && R.determinant() > 0)) {
      r.node("directors").refuse("the directors are not orthonormal and right-handed", "give three unit vectors with d1 x d2 = d3");
    }
    return so3::orthonormalised(R);
  }
  const Vector3 axis = r.vector3("axis");
  if (!(axis.norm() > 0)) r.node("axis").refuse("the axis is zero", "give a direction");
  return so3::exp(r.number("angle") * axis.normalized());
}

Matrix3 readInertia(const Node& node) {
  if (node.isText()) { // of a plane body, taken as a plate
    const double about = node.toPositive(dimension::inertia);
    return Vector3(about / 2, about / 2, about).asDiagonal();
  }
  const std::vector<Node> rows = node.items();
  if (!rows.empty() && rows[0].isSequence()) return node.toMatrix(3, 3, dimension::inertia);
  return Vector3(node.toVector3(dimension::inertia)).asDiagonal();
}

Matrix6 readMatrix6(const Node& node, const Dimension& corner) {
  const std::vector<Node> rows = node.items();
  const bool isFull = !rows.empty() && rows[0].isSequence();
  const Matrix6 plain = isFull ? Matrix6(node.toMatrix(6, 6)) : Matrix6(Vector6(node.toNumbers(6)).asDiagonal());
  const double length = node.units().factor(dimension::length);
  Vector6 weight;
  weight << Vector3::Ones(), Vector3::Constant(length);
  return node.units().factor(corner) * (weight.asDiagonal() * plain * weight.asDiagonal());
}

// ---- analysis
// ------------------------------------------------------------------------------------------------------------------------------

namespace {

double readTolerance(const Record& r, const char* key) {
  const double tolerance = r.number(key);
  if (!(tolerance < 1)) r.node(key).refuse("a relative tolerance of 1 or more asks for nothing", "give less than 1");
  return tolerance;
}

KktTolerances readTolerances(const Record& r) { return {readTolerance(r, "tolerance"), readTolerance(r, "constraint_tolerance")}; }

/// Sets a member from a key that may be absent.
void take(const Record& r, const char* key, double& target) {
  if (r.has(key)) target = r.number(key);
}
void take(const Record& r, const char* key, int& target) {
  if (r.has(key)) target = r.integer(key);
}

/// Of the methods that know contact of beams.
const std::vector<std::string> keysOfBeamContact{"contact_method", "contact_points",    "contact_projection", "contact_tangent",
                                                 "contact_solver", "contact_tolerance", "contact_weight"};

std::vector<std::string> withKeysOfBeamContact(std::vector<std::string> keys) {
  keys.insert(keys.end(), keysOfBeamContact.begin(), keysOfBeamContact.end());
  return keys;
}

void refuseForeign(const Record& r, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) {
    if (r.node().has(key))
      r.node(key).refuse("the method " + r.choice("method") + " does not know this key", "remove it, or choose the other method");
  }
}

LineContactOptions readLineContact(const Record& r) {
  LineContactOptions o;
  if (r.choice("contact_method") == "collocation") o.method = LineContactOptions::Method::Collocation;
  take(r, "contact_points", o.method == LineContactOptions::Method::Mortar ? o.gaussPoints : o.points);
  if (r.choice("contact_projection") == "section-plane") o.projection = Projection::SectionPlane;
  o.consistentTangent = r.boolean("contact_tangent");
  return o;
}

ContactNewtonOptions readContactNewton(const Record& r) {
  ContactNewtonOptions o;
  if (r.choice("contact_solver") == "newton") o.method = ContactNewtonOptions::Method::Newton;
  if (r.choice("contact_solver") == "dual") o.method = ContactNewtonOptions::Method::Dual;
  o.weight = r.number("contact_weight");
  take(r, "max_iterations", o.maxIterations);
  return o;
}

LoadSteppingOptions readLoadStepping(const Record& r, bool hasContacts) {
  refuseForeign(r, {"lowest", "highest"});
  LoadSteppingOptions o;
  o.grow = !hasContacts; // friction remembers the path
  o.contact = readContactNewton(r);
  o.gapTolerance = r.number("contact_tolerance");
  o.projectInitial = r.boolean("project_initial");
  take(r, "steps", o.steps);
  if (r.has("first_step")) o.steps = std::max(1, int(std::lround(1 / r.number("first_step"))));
  take(r, "max_iterations", o.maxIterations);
  take(r, "largest_step", o.largestStep);
  take(r, "smallest_step", o.smallestStep);
  if (r.has("adaptive")) o.grow = r.boolean("adaptive");
  o.stability = r.boolean("stability");
  o.tolerances = readTolerances(r);
  return o;
}

ArcLengthOptions readArcLength(const Record& r) {
  refuseForeign(r, withKeysOfBeamContact({"adaptive", "project_initial"}));
  ArcLengthOptions o;
  take(r, "steps", o.maxSteps);
  take(r, "first_step", o.path.firstStep);
  take(r, "max_iterations", o.path.maxIterations);
  take(r, "largest_step", o.path.largestGrowth);
  take(r, "smallest_step", o.path.smallestShrink);
  take(r, "lowest", o.lowest);
  take(r, "highest", o.highest);
  o.stability = r.boolean("stability");
  o.tolerances = readTolerances(r);
  return o;
}

GeneralizedAlphaOptions readGeneralizedAlpha(const Record& r) {
  GeneralizedAlphaOptions o;
  o.duration = r.number("duration");
  o.step = r.number("step");
  o.rhoInfinity = r.number("rho_infinity");
  if (!(o.rhoInfinity < 1)) r.node("rho_infinity").refuse("the spectral radius must lie in [0, 1)", "give less than 1");
  o.errorTolerance = r.number("error_tolerance");
  take(r, "max_iterations", o.maxIterations);
  take(r, "largest_step", o.largestStep);
  take(r, "smallest_step", o.smallestStep);
  if (r.has("largest_step") && !(o.errorTolerance > 0)) {
    r.node("largest_step").refuse("the step is constant, since errors are not controlled", "remove it, or give `error_tolerance`");
  }
  if (r.has("largest_step") && o.smallestStep > o.largestStep) {
    r.node("smallest_step").refuse("the smallest step is larger than the largest", "give less than `largest_step`");
  }
  o.tolerances = readTolerances(r);
  return o;
}

FrictionOptions readFriction(const Record& r) {
  FrictionOptions o{.measure = FrictionOptions::Measure::Scaled};
  o.method = findFrictionMethod(r.choice("solver"))->method;
  o.tolerance = r.number("friction_tolerance");
  o.threads = r.integer("threads");
  return o;
}

MoreauOptions readMoreau(const Record& r) {
  MoreauOptions o;
  o.duration = r.number("duration");
  o.step = r.number("step");
  o.theta = r.number("theta");
  if (!(o.theta >= 0.5 && o.theta <= 1)) r.node("theta").refuse("theta must lie in [0.5, 1]", "0.5 is the midpoint scheme");
  o.friction = readFriction(r);
  if (r.has("max_iterations")) o.friction.maxIterations = r.integer("max_iterations");
  o.project = r.boolean("project");
  o.projectInitial = r.boolean("project_initial");
  o.sleeping = r.boolean("sleeping");
  o.tolerances = readTolerances(r);
  return o;
}

AnalysisMaker makerOfLoadStepping(const Record& r, bool hasContacts) {
  return [options = readLoadStepping(r, hasContacts), line = readLineContact(r)](const Model& model, const ContactModel& contacts,
                                                                                 const FrictionObserver&) {
    if (contacts.empty()) return std::make_unique<LoadStepping>(model, options);
    return std::make_unique<LoadStepping>(model, options, contacts, makeContactConstraints(model, contacts, line));
  };
}

MinimumEnergyOptions readMinimumEnergy(const Record& r) {
  refuseForeign(r, withKeysOfBeamContact({"adaptive", "first_step", "largest_step", "smallest_step", "lowest", "highest", "stability",
                                          "project_initial", "constraint_tolerance"}));
  MinimumEnergyOptions o;
  take(r, "steps", o.steps);
  take(r, "max_iterations", o.maxIterations);
  if (r.node().has("tolerance")) o.tolerance = readTolerance(r, "tolerance");
  return o;
}

template <class Method, class Options> AnalysisMaker withoutContact(const Options& options) {
  return [options](const Model& model, const ContactModel&, const FrictionObserver&) { return std::make_unique<Method>(model, options); };
}

AnalysisMaker makerOfNonsmoothAlpha(const Record& r) {
  NonsmoothAlphaOptions o;
  o.smooth = readGeneralizedAlpha(r);
  o.contact = readContactNewton(r);
  o.gapTolerance = r.number("contact_tolerance");
  o.positionLevel = r.choice("contact_level") == "position-velocity";
  o.projectInitial = r.boolean("project_initial");
  return [options = o, line = readLineContact(r)](const Model& model, const ContactModel& contacts, const FrictionObserver&) {
    return std::make_unique<NonsmoothAlpha>(model, options, contacts, makeContactConstraints(model, contacts, line));
  };
}

AnalysisMaker makerOfMoreau(const Record& r) {
  return [options = readMoreau(r)](const Model& model, const ContactModel& contacts, const FrictionObserver& observer) {
    MoreauOptions observed = options;
    observed.onProblem = observer;
    return std::make_unique<Moreau>(model, contacts, observed);
  };
}

EventDrivenOptions readEventDriven(const Record& r) {
  EventDrivenOptions o;
  o.duration = r.number("duration");
  o.step = r.number("step");
  o.tolerance = r.number("event_tolerance");
  o.maxEvents = r.integer("max_events");
  o.projectInitial = r.boolean("project_initial");
  return o;
}

SweepingOptions readSweeping(const Record& r) {
  SweepingOptions o;
  o.duration = r.number("duration");
  o.step = r.number("step");
  o.tolerance = r.number("overlap_tolerance");
  o.projectInitial = r.boolean("project_initial");
  return o;
}

template <class Method, class Options> AnalysisMaker withContact(const Options& options) {
  return [options](const Model& model, const ContactModel& contacts, const FrictionObserver&) {
    return std::make_unique<Method>(model, contacts, options);
  };
}

AnalysisMaker makerOfEventDriven(const Record& r) { return withContact<EventDriven>(readEventDriven(r)); }
AnalysisMaker makerOfSweeping(const Record& r) { return withContact<Sweeping>(readSweeping(r)); }
AnalysisMaker makerOfGeneralizedAlpha(const Record& r) { return withoutContact<GeneralizedAlpha>(readGeneralizedAlpha(r)); }

bool inDirectors(const Record& r) { return !r.has("coordinates") || r.choice("coordinates") == "directors"; }

VariationalOptions readVariational(const Record& r, DirectorScheme scheme) {
  VariationalOptions o;
  o.scheme = scheme;
  o.duration = r.number("duration");
  o.step = r.number("step");
  const std::string elimination = r.choice("elimination");
  if (elimination == "multiplier") o.elimination = Elimination::Multipliers;
  if (elimination == "null-space") o.elimination = Elimination::NullSpace;
  if (r.choice("quadrature") == "trapezoidal") o.quadrature = Quadrature::Trapezoidal;
  o.adaptation = r.number("adaptation");
  if (r.has("steps")) {
    const Node steps = r.node("steps");
    if (!steps.isSequence() || steps.items().empty()) steps.refuse("expected the sizes of the steps", "write [h1, h2, ...]");
    for (const Node& step : steps.items()) {
      o.steps.push_back(step.toNumber(dimension::time));
      if (!(o.steps.back() > 0)) step.refuse("a step must be positive", "give a time");
    }
    if (o.adaptation > 0) steps.refuse("steps are either prescribed or adapted", "remove `steps` or `adaptation`");
  }
  take(r, "max_iterations", o.maxIterations);
  if (r.node().has("tolerance")) o.tolerance = readTolerance(r, "tolerance");
  o.friction = readFriction(r);
  return o;
}

AnalysisMaker makerInDirectors(const VariationalOptions& options) {
  return [options](const Model& model, const ContactModel& contacts, const FrictionObserver& observer) {
    if (contacts.empty()) return std::make_unique<VariationalIntegrator>(model, options);
    VariationalOptions observed = options;
    observed.onProblem = observer;
    return std::make_unique<VariationalIntegrator>(model, observed, contacts);
  };
}

const std::vector<std::string> keysOfFriction{"solver", "friction_tolerance", "threads", "dump"};

std::vector<std::string> withKeysOfFriction(std::vector<std::string> keys) {
  keys.insert(keys.end(), keysOfFriction.begin(), keysOfFriction.end());
  return keys;
}

AnalysisMaker makerOfVariational(const Record& r) {
  if (inDirectors(r)) {
    refuseForeign(r, {"constraint_tolerance"});
    return makerInDirectors(readVariational(r, DirectorScheme::Variational));
  }
  refuseForeign(r, withKeysOfFriction({"elimination", "quadrature", "steps", "adaptation"}));
  LieGroupVariationalOptions o;
  o.duration = r.number("duration");
  o.step = r.number("step");
  take(r, "max_iterations", o.maxIterations);
  if (r.node().has("tolerance")) o.tolerances.force = readTolerance(r, "tolerance");
  if (r.node().has("constraint_tolerance")) o.tolerances.constraint = readTolerance(r, "constraint_tolerance");
  return withoutContact<LieGroupVariational>(o);
}

AnalysisMaker makerOfEnergyMomentum(const Record& r) {
  if (!inDirectors(r)) r.node("coordinates").refuse("energy-momentum is a method in directors", "remove it, or write `directors`");
  return makerInDirectors(readVariational(r, DirectorScheme::EnergyMomentum));
}

/// A method of dynamics: its name, whether contacts can be given to it, also those of beams, the keys that belong to it but not to all.
struct DynamicMethod {
  std::string name;
  bool knowsContacts, knowsContactsOfBeams;
  std::vector<std::string> keys;
  AnalysisMaker (*read)(const Record&);
};

const std::vector<DynamicMethod>& dynamicMethods() {
  static const std::vector<DynamicMethod> methods{
      {"generalized-alpha",
       false,
       false,
       {"rho_infinity", "error_tolerance", "largest_step", "smallest_step", "tolerance", "constraint_tolerance"},
       makerOfGeneralizedAlpha},
      {"nonsmooth-alpha", true, true,
       withKeysOfBeamContact({"rho_infinity", "smallest_step", "project_initial", "contact_level", "tolerance", "constraint_tolerance"}),
       makerOfNonsmoothAlpha},
      {"moreau", true, false, withKeysOfFriction({"theta", "project", "project_initial", "sleeping", "tolerance", "constraint_tolerance"}),
       makerOfMoreau},
      {"event-driven", true, false, {"event_tolerance", "max_events", "project_initial"}, makerOfEventDriven},
      {"sweeping", true, false, {"overlap_tolerance", "project_initial"}, makerOfSweeping},
      {"variational", true, false,
       withKeysOfFriction({"elimination", "quadrature", "steps", "adaptation", "tolerance", "constraint_tolerance"}), makerOfVariational},
      {"energy-momentum", true, false, withKeysOfFriction({"elimination", "steps", "tolerance"}), makerOfEnergyMomentum}};
  return methods;
}

const DynamicMethod& dynamicMethod(const Record& r, bool hasContacts, bool hasBeams) {
  const bool directors = r.has("coordinates") && r.choice("coordinates") == "directors";
  const char* usual = directors ? "variational" : !hasContacts ? "generalized-alpha" : hasBeams ? "nonsmooth-alpha" : "moreau";
  const std::string name = r.has("method") ? r.choice("method") : usual;
  const auto& methods = dynamicMethods();
  const DynamicMethod& chosen = *std::find_if(methods.begin(), methods.end(), [&](const DynamicMethod& m) { return m.name == name; });
  if (directors && chosen.name != "variational" && chosen.name != "energy-momentum") {
    r.node("coordinates").refuse("the method " + name + " works in pose coordinates", "choose `method: variational`, or energy-momentum");
  }
  for (const DynamicMethod& other : methods) {
    for (const std::string& key : other.keys) {
      const bool isOwn = std::find(chosen.keys.begin(), chosen.keys.end(), key) != chosen.keys.end();
      if (!isOwn && r.node().has(key)) {
        r.node(key).refuse("the method " + name + " does not know this key", "remove it, or choose `method: " + other.name + "`");
      }
    }
  }
  return chosen;
}

FrictionDump readDump(const Node& node) {
  FrictionDump dump;
  dump.isAll = node.isText() && node.toText() == "all";
  if (dump.isAll) return dump;
  if (!node.isSequence()) node.refuse("expected the numbers of steps", "write [1, 20], or `all`");
  for (const Node& item : node.items()) {
    const int step = item.toInteger();
    if (step < 1) item.refuse("steps are numbered from 1", "give the number of a step");
    dump.steps.insert(step);
  }
  return dump;
}

AnalysisChoice readDynamic(const Record& r, bool hasContacts, bool hasBeams) {
  const DynamicMethod& method = dynamicMethod(r, hasContacts, hasBeams);
  AnalysisChoice choice{.make = method.read(r), .method = method.name, .knowsContacts = method.knowsContacts};
  choice.isDynamic = true;
  choice.hasDiscretePath = method.name == "energy-momentum" || (method.name == "variational" && inDirectors(r));
  if (hasContacts && method.name == "variational" && !choice.hasDiscretePath) {
    r.node("coordinates")
        .refuse("variational integrators know contact in director coordinates alone",
                "write `directors`, choose another method, such as moreau, or remove the contacts");
  }
  if (hasContacts && choice.hasDiscretePath && r.node().has("adaptation") && r.number("adaptation") > 0) {
    r.node("adaptation").refuse("where bodies touch the step cannot follow the motion, since impacts take no time", "remove it");
  }
  choice.knowsContactsOfBeams = method.knowsContactsOfBeams;
  choice.knowsRollingAndCohesion = method.name == "moreau" || choice.hasDiscretePath;
  choice.end = r.number("duration");
  if (r.has("dump")) choice.dump = readDump(r.node("dump"));
  return choice;
}

}

AnalysisChoice readAnalysis(const Record& r, bool hasContacts, bool hasBeams) {
  if (r.variant() == "dynamic") return readDynamic(r, hasContacts, hasBeams);
  if (r.variant() == "optimal-control") {
    AnalysisChoice choice{.method = "optimal-control", .isDynamic = true, .hasDiscretePath = true, .isManoeuvre = true};
    choice.end = std::numeric_limits<double>::infinity();
    return choice;
  }
  if (r.variant() == "solvability")
    return {.method = r.variant(), .isDynamic = true, .knowsContacts = true, .end = std::numeric_limits<double>::infinity()};
  if (r.variant() == "cosserat-rod") {
    AnalysisChoice choice{.method = r.variant(), .isRod = true};
    choice.followsPath = r.choice("method") == "arc-length";
    if (choice.followsPath) choice.end = std::numeric_limits<double>::infinity();
    return choice;
  }
  if (r.variant() == "rod-path")
    return {.method = r.variant(), .followsPath = true, .isRod = true, .end = std::numeric_limits<double>::infinity()};
  if (r.variant() == "rod-contact")
    return {.method = r.variant(),
            .knowsContacts = true,
            .knowsContactsOfBeams = true,
            .isRod = true,
            .end = std::numeric_limits<double>::infinity()};
  static const std::set<std::string> ofRods{"rod-equilibrium", "elastica", "packed-ring", "reconstruction", "identification"};
  if (ofRods.contains(r.variant())) return {.method = r.variant(), .isRod = true};
  if (r.variant() == "shell-motion") return {.method = r.variant(), .isDynamic = true, .isShell = true, .end = r.number("duration")};
  if (r.variant().starts_with("shell-")) return {.method = r.variant(), .isShell = true};
  AnalysisChoice choice{.method = r.choice("method")};
  choice.followsPath = choice.method == "arc-length";
  choice.knowsContacts = choice.knowsContactsOfBeams = choice.method == "load-stepping";
  if (choice.followsPath)
    choice.make = withoutContact<ArcLength>(readArcLength(r));
  else if (choice.method == "minimum-energy")
    choice.make = withoutContact<MinimumEnergy>(readMinimumEnergy(r));
  else
    choice.make = makerOfLoadStepping(r, hasContacts);
  choice.end = choice.followsPath ? std::numeric_limits<double>::infinity() : 1;
  return choice;
}

// ---- contact ---------------------------------------------------------------------------------------------------------------------------

ContactLaw readContactLaw(const Record& r) {
  for (const char* key : {"restitution", "tangential_restitution"}) {
    if (!(r.number(key) <= 1)) r.node(key).refuse("a coefficient of restitution lies in [0, 1]", "1 keeps the speed, 0 loses it");
  }
  const ContactLaw law{.friction = r.number("friction"),
                       .restitution = r.number("restitution"),
                       .tangentialRestitution = r.number("tangential_restitution"),
                       .rolling = r.number("rolling_friction"),
                       .pivoting = r.number("pivoting_friction"),
                       .cohesion = r.number("cohesion")};
  placed(r.node(), [&] { law.check("the law"); });
  return law;
}

}
