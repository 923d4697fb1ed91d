#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"
#include "scenes/scene_shapes.h"
#include "tendril/shells/ruled_sheet.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tendril::scenes {

namespace {

PatchDomain domainOf(const Record& r) {
  const double length = r.number("length"), width = r.number("width");
  const Vector2 clamp = r.numbers("clamp");
  return {-clamp[0], length - clamp[0], -clamp[1], width - clamp[1]};
}

std::shared_ptr<const SheetShape> shapeOf(const Record& r) {
  if (r.variant() == "clothoid") return std::make_shared<ClothoidSheet>();
  if (r.variant() == "cone") return std::make_shared<ConicalSheet>();
  if (r.variant() == "ruled")
    return std::make_shared<RuledSheet>(std::vector<double>{r.number("bend"), r.number("bend2")},
                                        std::vector<double>{r.number("fan"), r.number("fan2")});
  return std::make_shared<CircularSheet>();
}

/// Coordinates of a shape, from those of the scene.
VectorX coordinatesOf(const Record& r, const char* key) {
  if (r.variant() == "uniform") {
    const ConePoint p = ConePoint::of(r.numbers(key));
    return Vector2(p.kappa, p.phi);
  }
  const Record shape = r.object(key);
  if (r.variant() == "clothoid") return ClothoidSheet::fromSource(shape.number("alpha"), shape.number("beta"), shape.number("gamma"));
  return Vector3(shape.number("kappa"), shape.number("phi"), shape.number("epsilon"));
}

void refuseOffCone(const Record& r, const char* key) {
  if (r.variant() != "uniform" || !r.has(key)) return;
  if (const Vector3 q = r.numbers(key); !(coneDefect(q) <= 1e-9))
    r.node(key).refuse(
        fmt::format("no sheet that does not stretch has these curvatures: b11 b22 - b12^2 = {:.6g} 1/m^2", gaussianCurvature(q)),
        std::string("give curvatures with b11 b22 = b12^2") +
            (std::string_view(key) == "initial" ? "; a shell-motion takes the nearest with project_initial: true" : ""));
}

void refuseRatesOffCone(const Record& r, const Vector3& q, const Vector3& rates) {
  const Vector3 J = gaussianGradient(q);
  if (!(std::abs(J.dot(rates)) <= 1e-9 * J.norm() * rates.norm()))
    r.node("rates").refuse(fmt::format("they leave the cone: d(b11 b22 - b12^2)/dt = {:.6g} 1/(m^2 s)", J.dot(rates)),
                           "give rates along it, with b22 b11' + b11 b22' = 2 b12 b12'");
}

void refuseMovingIfHeld(const Record& r) {
  if (r.boolean("held") && !(r.vector3("velocity").isZero(0) && r.vector3("angular_velocity").isZero(0)))
    r.node().refuse("it is held, but has a velocity", "write held: false, or remove the velocity");
}

/// Keys that only other analyses read.
void refuseUnread(const Record& r, const Record& analysis) {
  const auto refuse = [&](const char* key, const char* why, const char* remedy) {
    if (r.node().has(key)) r.node(key).refuse(why, remedy);
  };
  for (const char* key : {"surface", "contact_points"})
    refuse(key, "shells touch nothing in an analysis of their own",
           "remove the key, or write analysis: {type: dynamic, method: moreau, ...}");
  if (analysis.variant() == "shell-motion") return;
  for (const char* key : {"rates", "velocity", "angular_velocity", "air"})
    refuse(key, "nothing moves in this analysis", "remove the key, or write analysis: {type: shell-motion, ...}");
}

/// Whether all shells are held and uniform: patches that move in curvatures of their own.
bool areHeldPatches(const std::vector<Record>& records) {
  return std::all_of(records.begin(), records.end(), [](const Record& r) { return r.variant() == "uniform" && r.boolean("held"); });
}

}

AirDrag SceneBuilder::readAir(const Record& r) const {
  AirDrag air{.density = r.number("density"), .wind = r.vector3("wind")};
  if (r.has("gusts")) air.gusts = startable(r, "gusts");
  return air;
}

PatchProperties SceneBuilder::readSheet(const Record& r) const {
  const Material material = readMaterial(entry(r.node("material"), "material", materials_, scenes::material()));
  return placed(r.node(), [&] {
    PatchProperties p = PatchProperties::of(domainOf(r), r.number("thickness"), material);
    if (r.variant() == "uniform") p.natural = r.numbers("natural");
    p.check();
    return p;
  });
}

/// Shells as parts of a model; or one by one in an analysis of their own.
void SceneBuilder::readShells(const std::vector<Record>& records, const Record& analysis) {
  if (!content_.isShell) {
    if (content_.hasDiscretePath && !records.empty())
      throw InputError(root_.keyLocation("shells"), "shells",
                       "the analysis works in director coordinates, in which curvatures have no form",
                       "write coordinates: pose, or method: generalized-alpha, moreau or nonsmooth-alpha");
    if (content_.isRod && !records.empty())
      throw InputError(root_.keyLocation("shells"), "shells", "the analysis knows nothing but a rod", "remove the key");
    for (const Record& r : records) addShell(r);
    return;
  }
  if (records.empty()) throw InputError(root_.location(), "shells", "the analysis is one of shells", "give an entry in `shells`");
  for (const char* key : {"bodies", "beams", "rods", "joints", "springs", "loads", "point_masses", "obstacles", "contacts"})
    if (root_.has(key))
      throw InputError(root_.keyLocation(key), key, "this analysis knows nothing but shells and gravity",
                       "remove the key, or write analysis: {type: dynamic, ...}; shells are held at their `clamp`");
  for (const Record& r : records)
    if (r.variant() == "strip")
      r.node("form").refuse("no analysis of shells alone knows strips",
                            "write analysis: {type: static, method: minimum-energy} or {type: dynamic, ...}");
  const bool isOfPatches = areHeldPatches(records);
  if (analysis.variant() == "shell-equilibrium" && !isOfPatches)
    analysis.node().refuse("it knows uniform shells alone that are held", "write analysis: {type: static}");
  if (!isOfPatches && analysis.variant() == "shell-motion" && analysis.choice("chart") == "three")
    analysis.node("chart").refuse("it is one of uniform shells that are held", "remove it");
  if (analysis.variant() == "shell-motion" && analysis.choice("chart") != "three")
    for (const char* key : {"alpha", "beta"})
      if (analysis.node().has(key))
        analysis.node(key).refuse("only the chart `three` has a constraint to stabilise", "remove it, or write chart: three");
  const bool isProjected = analysis.variant() == "shell-motion" && analysis.boolean("project_initial");
  if (isProjected && std::none_of(records.begin(), records.end(), [](const Record& r) { return r.variant() == "uniform"; }))
    analysis.node("project_initial").refuse("coordinates of these forms always give a sheet", "remove it");
  for (const Record& r : records) {
    refuseUnread(r, analysis);
    if (isOfPatches)
      addPatch(r, isProjected);
    else
      addShell(r, isProjected);
  }
}

void SceneBuilder::addPatch(const Record& r, bool isProjected) {
  const std::string name = claim(r, "shell");
  claimPart(r.node("name"), name);
  refuseMovingIfHeld(r);
  ShownPatch shell;
  shell.properties = readSheet(r);
  shell.curvatures = r.has("initial") ? Vector3(r.numbers("initial")) : shell.properties.natural;
  shell.rates = r.numbers("rates");
  if (r.has("air")) shell.air = readAir(r.object("air"));
  if (isProjected) {
    shell.curvatures = projectedOnCone(shell.curvatures);
    shell.rates = projectedRates(shell.curvatures, shell.rates);
  }
  if (!isProjected) refuseOffCone(r, "initial");
  placed(r.node(), [&] {
    ModelBuilder& model = builder_.model();
    shell.part.name = name;
    shell.part.frame = model.addPose("shell '" + name + "'", -1, readPose(r));
    shell.part.coordinates = model.addVector("curvatures of shell '" + name + "'", shell.curvatures, shell.rates);
    shell.part.domain = shell.properties.domain;
    shell.part.thickness = r.number("thickness");
    shell.part.shape = std::make_shared<ThreeCurvatureSheet>();
  });
  content_.shells.push_back(shell.part);
  patches_.push_back(std::move(shell));
}

StripOptions SceneBuilder::readStrip(const Record& r) const {
  if (r.node().has("clamp")) r.node("clamp").refuse("a strip is held at the middle of its first end", "remove it");
  const std::vector<Node> curvatures = r.node("natural").items();
  std::array<std::function<double(double)>, 3> natural;
  for (std::size_t i = 0; i < 3; ++i) natural[i] = curvatures[i].toArclengthFunction(dimension::curvature);
  const auto bend = r.has("bend") ? r.node("bend").toArclengthFunction(dimension::curvature) : nullptr;
  const auto slope = r.node("rulings").toArclengthFunction(dimension::none);
  StripOptions options{.properties = readSheet(r), .turns = r.boolean("turns"), .frame = readPose(r), .thickness = r.number("thickness")};
  const int n = r.integer("patches");
  const double h = r.number("length") / n;
  for (int i = 0; i < n; ++i) {
    StripPatch patch{.begin = slope(i * h), .end = slope((i + 1) * h)};
    for (int k = 0; k < 3; ++k) patch.natural[k] = natural[std::size_t(k)]((i + 0.5) * h);
    patch.bend = bend ? bend((i + 0.5) * h) : patch.natural[0] + patch.natural[1];
    options.patches.push_back(patch);
  }
  options.patches.back().end = slope(r.number("length"));
  return options;
}

/// A strip of patches, or a patch of any other form, afloat.
ShellPart SceneBuilder::addSheet(const Record& r, const std::string& name, bool isProjected) {
  const auto place = [&](auto& options) {
    options.twist << options.frame.R.transpose() * r.vector3("velocity"), options.frame.R.transpose() * r.vector3("angular_velocity");
    if (r.has("air")) options.air = readAir(r.object("air"));
  };
  if (r.variant() == "strip") {
    StripOptions options = readStrip(r);
    place(options);
    return placed(r.node(), [&] { return addStrip(builder_.model(), name, options); });
  }
  refuseOffCone(r, "natural");
  if (!isProjected) refuseOffCone(r, "initial");
  ShellOptions options{.properties = readSheet(r),
                       .shape = shapeOf(r),
                       .natural = coordinatesOf(r, "natural"),
                       .frame = readPose(r),
                       .thickness = r.number("thickness")};
  if (r.has("initial")) options.initial = coordinatesOf(r, "initial");
  if (r.variant() == "uniform") {
    Vector3 rates = r.numbers("rates");
    if (isProjected && r.has("initial")) {
      const ConePoint nearest = ConePoint::of(projectedOnCone(r.numbers("initial")));
      options.initial = Vector2(nearest.kappa, nearest.phi);
    }
    const VectorX& q = r.has("initial") ? options.initial : options.natural;
    if (isProjected) rates = projectedRates(ConePoint{q[0], q[1]}.curvatures(), rates);
    refuseRatesOffCone(r, ConePoint{q[0], q[1]}.curvatures(), rates);
    if (!rates.isZero(0)) options.rates = Vector2(ConePoint{q[0], q[1]}.tangent().colPivHouseholderQr().solve(rates));
  }
  place(options);
  return placed(r.node(), [&] { return tendril::addShell(builder_.model(), name, options); });
}

void SceneBuilder::addShell(const Record& r, bool isProjected) {
  const std::string name = claim(r, "shell");
  claimPart(r.node("name"), name);
  refuseMovingIfHeld(r);
  const ShellPart part = addSheet(r, name, isProjected);
  content_.shells.push_back(part);
  if (!r.boolean("held") || content_.isShell) return;
  placed(r.node(), [&] { builder_.clamp(name + ".clamp", builder_.model().bodyMarker("", part.frame)); });
  joints_.push_back(name + ".clamp");
}

void SceneBuilder::makeShellAnalysis(const Record& scene, const Record& analysis) {
  Vector3 g = Vector3::Zero();
  if (scene.has("gravity")) {
    const Record gravity = scene.object("gravity");
    if (gravity.has("time") && !patches_.empty()) gravity.node("time").refuse("the gravity of these shells is constant", "remove it");
    g = gravity.vector3("acceleration");
  }
  if (patches_.empty()) {
    SheetMotionOptions options{.shells = content_.shells};
    options.duration = options.step = 1;
    const bool isMotion = analysis.variant() == "shell-motion";
    if (isMotion)
      options.duration = analysis.number("duration"), options.step = analysis.number("step"), options.alarm = analysis.number("alarm");
    const std::vector<Record> records = scene.objects("shells");
    for (std::size_t i = 0; i < records.size(); ++i)
      if (records[i].boolean("held") || !isMotion) options.held.push_back(content_.shells[i].frame);
    content_.makeAnalysis = [options, isMotion](const Model& model, const ContactModel&,
                                                const FrictionObserver&) -> std::unique_ptr<Analysis> {
      if (!isMotion) return std::make_unique<SheetView>(model, options.shells);
      return std::make_unique<SheetMotion>(model, options);
    };
  } else if (analysis.variant() == "shell-motion") {
    ShellMotionOptions options;
    options.duration = analysis.number("duration"), options.alarm = analysis.number("alarm");
    options.motion.step = analysis.number("step"), options.motion.gravity = g;
    options.motion.chart = analysis.choice("chart") == "three" ? PatchChart::Three : PatchChart::Cone;
    options.motion.alpha = analysis.number("alpha"), options.motion.beta = analysis.number("beta");
    content_.makeAnalysis = [shells = patches_, options](const Model& model, const ContactModel&, const FrictionObserver&) {
      return std::make_unique<ShellMotion>(model, shells, options);
    };
  } else if (analysis.variant() == "shell-equilibrium") {
    content_.makeAnalysis = [shells = patches_, g](const Model& model, const ContactModel&, const FrictionObserver&) {
      return std::make_unique<ShellStatics>(model, shells, g);
    };
  } else {
    content_.makeAnalysis = [shells = patches_, g](const Model& model, const ContactModel&, const FrictionObserver&) {
      return std::make_unique<ShellShape>(model, shells, g);
    };
  }
}

// ---- places on shells ------------------------------------------------------------------------------------------------------------------

const ShellPart* SceneBuilder::findShell(const std::string& name) const {
  if (content_.isShell) return nullptr; // nothing is attached to shells in an analysis of their own
  const auto found = std::find_if(content_.shells.begin(), content_.shells.end(), [&](const ShellPart& s) { return s.name == name; });
  return found == content_.shells.end() ? nullptr : &*found;
}

/// Material coordinates of a place that is given from the corner of the flat sheet.
Vector2 SceneBuilder::materialPoint(const Node& node, const ShellPart& shell) const {
  const Eigen::VectorXd place = node.toNumbers(2, dimension::length);
  const PatchDomain& d = shell.domain;
  const Vector2 s(place[0] + d.begin1, place[1] + d.begin2);
  const double slack = 1e-9 * (d.length() + d.width());
  if (s[0] < d.begin1 - slack || s[0] > d.end1 + slack || s[1] < d.begin2 - slack || s[1] > d.end2 + slack)
    node.refuse(fmt::format("the shell reaches from [0, 0] to [{:g}, {:g}] m", d.length(), d.width()), "give a place on it");
  return s;
}

/// The block that follows a material point: that of the shell itself at s = 0, else one that is made once.
int SceneBuilder::blockOnShell(const ShellPart& shell, const Vector2& s) {
  if (s.isZero(0)) return shell.frame;
  const auto key = std::make_tuple(shell.name, s[0], s[1]);
  if (const auto found = shellBlocks_.find(key); found != shellBlocks_.end()) return found->second;
  const std::string owner =
      fmt::format("point of shell '{}' at ({:g}, {:g}) m", shell.name, s[0] - shell.domain.begin1, s[1] - shell.domain.begin2);
  return shellBlocks_[key] = attachToShell(builder_.model(), shell, s, owner);
}

/// A shell touches with small balls at points along its sides and between.
void SceneBuilder::addSheetParts(const Record& r, const ShellPart& shell) {
  const int n = r.integer("contact_points");
  if (n < 2 || n > 12) r.node("contact_points").refuse("so many points do not serve", "give 2 to 12");
  const std::string surface = r.has("surface") ? surfaceOf(r) : shell.name;
  Shape ball;
  ball.kind = Shape::Kind::Sphere, ball.size[0] = shell.thickness / 2;
  const PatchDomain& d = shell.domain;
  const bool isStrip = !shell.patches.empty(); // which touches along its middle line
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < (isStrip ? 1 : n); ++j) {
      const Vector2 s(d.begin1 + d.length() * i / (n - 1), isStrip ? 0 : d.begin2 + d.width() * j / (n - 1));
      ContactModel::Part part{
          .name = fmt::format("{} {} {}", shell.name, i + 1, j + 1), .surface = surface, .marker = nullptr, .shapes = {}, .curve = {}};
      part.marker = &builder_.model().bodyMarker("", blockOnShell(shell, s));
      part.shapes.push_back(collisionShape(ball, "a point of the shell '" + shell.name + "'"));
      surfaces_[part.name] = surface;
      content_.contacts.addPart(std::move(part));
    }
  }
}

}
