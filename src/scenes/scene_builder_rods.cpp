#include "scenes/scene_builder_class.h"
#include "scenes/scene_schema.h"
#include "scenes/scene_shapes.h"
#include "tendril/documents/point_file.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace tendril::scenes {

namespace {

constexpr int mostStrains = 2000, mostElements = 1'000'000, mostVertices = 100'001;

/// The number of the vertex at an arclength.
int vertexAt(const Record& r, const CosseratRod& rod) {
  const double at = r.number("at"), h = rod.step();
  const double k = at / h;
  if (at > rod.properties().length * (1 + 1e-9)) r.node("at").refuse("the rod ends before", "give an arclength up to its length");
  if (std::abs(k - std::round(k)) > 1e-6)
    r.node("at").refuse(fmt::format("no vertex lies there; they are {:.6g} m apart", h), "choose `elements` so that one does");
  return int(std::lround(k));
}

RodHold readHold(const Record& end, RodHold otherwise) {
  if (!end.has("hold")) return otherwise;
  static const std::map<std::string, RodHold> holds{
      {"free", RodHold::Free}, {"pinned", RodHold::Pinned}, {"hinged", RodHold::Hinged}, {"clamped", RodHold::Clamped}};
  const RodHold hold = holds.at(end.choice("hold"));
  if (end.has("hinge") && hold != RodHold::Hinged) end.node("hinge").refuse("the end is no hinge", "write hold: hinged");
  return hold;
}

Vector3 hingeOf(const Record& end) {
  if (!end.has("hinge")) return Vector3::UnitZ();
  const Vector3 axis = end.vector3("hinge");
  if (!(axis.norm() > 0)) end.node("hinge").refuse("the axis is zero", "give the axis of the hinge");
  return axis;
}

/// What only a rod with frames of its own knows.
void refuseCosseratKeys(const Record& r, std::string_view analysis) {
  if (analysis == "cosserat-rod") return;
  for (const std::string_view key : {"shearing", "stretch", "corners", "forces"})
    if (r.node().has(key) && !(key == "shearing" && analysis == "rod-equilibrium"))
      r.node(key).refuse("the analysis knows no such rod", "remove the key, or write analysis: {type: cosserat-rod}");
  for (const char* end : {"begin", "end"}) {
    if (!r.has(end)) continue;
    for (const char* key : {"hold", "hinge"})
      if (r.object(end).has(key))
        r.object(end).node(key).refuse("the analysis knows no such support", "remove the key, or write analysis: {type: cosserat-rod}");
  }
}

/// Natural strains as a function of the arclength.
std::function<Vector3(double)> readNatural(const Node& node) {
  const std::vector<Node> items = node.isSequence() ? node.items() : std::vector<Node>{};
  if (items.size() != 3) node.refuse("expected three strains", "write [kappa1, kappa2, tau], each a number or an expression in s");
  std::array<std::function<double(double)>, 3> strains;
  for (std::size_t i = 0; i < 3; ++i) strains[i] = items[i].toArclengthFunction(dimension::curvature);
  return [strains](double s) { return Vector3(strains[0](s), strains[1](s), strains[2](s)); };
}

/// Of rods the third director is the tangent, of sections in a mechanism the first: (kappa1, kappa2, tau) and (tau, kappa1, kappa2).
Vector3 fromTangentFirst(const Vector3& u) { return {u[2], u[0], u[1]}; }
Pose fromTangentFirst(const Pose& frame) {
  Pose H = frame;
  H.R << frame.R.col(2), frame.R.col(0), frame.R.col(1);
  return H;
}

SectionProperties sectionOfRod(const Record& r) {
  const double radius = r.number("radius"), mass = r.has("mass") ? r.number("mass") : 0;
  const double rotary = mass * radius * radius / 4;
  const Vector3 inertia = r.has("rotary") ? Vector3(r.numbers("rotary")) : Vector3(rotary, rotary, 2 * rotary);
  SectionProperties section;
  section.stiffness.diagonal().tail<3>() = fromTangentFirst(r.numbers("stiffness"));
  section.mass.diagonal() << mass, mass, mass, fromTangentFirst(inertia);
  section.dampingTime = r.number("damping_time");
  section.outline = Section::circle(radius);
  return section;
}

/// In SI.
const char* unitOfParameter(const std::string& parameter) { return parameter == "distance" ? "m" : parameter == "rotation" ? "rad" : "1"; }

/// The polygon of the nodes is what touches: it does not follow elements that bend by more than half a turn.
void refuseCoarse(const Node& elements, const VectorX& strains, double h) {
  for (Eigen::Index i = 0; i < strains.size(); i += 3)
    if (const double angle = h * std::hypot(strains[i], strains[i + 1]); !(angle < std::numbers::pi))
      elements.refuse(fmt::format("element {} bends by {:.4g} rad at the start, more than half a turn", i / 3, angle),
                      "give more elements, or smaller strains (`start`, `spread`, `natural`)");
}

/// An obstacle as a rod in equilibrium knows it, or nothing.
std::optional<RodObstacle> obstacleOf(const ContactModel::Part& part, const Shape& shape, const Pose& frame) {
  RodObstacle obstacle{.name = part.name, .kind = RodObstacle::Kind::HalfSpace, .frame = frame * shape.pose};
  switch (shape.kind) {
  case Shape::Kind::HalfSpace:
    return obstacle;
  case Shape::Kind::Sphere:
    obstacle.kind = RodObstacle::Kind::Sphere, obstacle.radius = shape.size[0], obstacle.isHollow = shape.hollow;
    return obstacle;
  case Shape::Kind::Cylinder:
    obstacle.kind = RodObstacle::Kind::Cylinder, obstacle.radius = shape.size[0];
    return obstacle;
  case Shape::Kind::Tube:
    obstacle.kind = RodObstacle::Kind::Cylinder, obstacle.radius = shape.size[1], obstacle.isHollow = true;
    return obstacle;
  default:
    return std::nullopt;
  }
}

}

/// A rod that is part of the mechanism, its strains coordinates.
void SceneBuilder::addRod(const Record& r) {
  const std::string name = claim(r, "rod");
  claimPart(r.node("name"), name);
  if (r.has("end")) r.node("end").refuse("only the analysis rod-equilibrium holds the end of a rod by itself", "hold it by a joint");
  if (!r.vector3("weight").isZero(0)) r.node("weight").refuse("the rod is part of a mechanism", "give `mass`, and `gravity` to the scene");
  if (content_.isDynamic && !r.has("mass")) r.node().refuse("the rod has no mass, but the analysis is dynamic", "give `mass` per length");
  if (r.has("rotary") && !r.has("mass")) r.node("rotary").refuse("a rod without mass has no rotary inertia", "give `mass`, too");
  if (r.integer("elements") > 200)
    r.node("elements").refuse("so many are not moved together, since all strains couple", "give up to 200, or make it one of the `beams`");
  if (!(r.numbers("stiffness").minCoeff() > 0)) r.node("stiffness").refuse("a stiffness is not positive", "give [EI1, EI2, GJ] above zero");
  const Record begin = r.object("begin");
  RodOptions options{.length = r.number("length"),
                     .elements = r.integer("elements"),
                     .begin = fromTangentFirst(readPose(begin)),
                     .natural = [u = readNatural(r.node("natural"))](double s) { return fromTangentFirst(u(s)); },
                     .velocity = r.vector3("velocity"),
                     .angularVelocity = r.vector3("angular_velocity")};
  if (r.has("initial")) {
    const Vector3 initial = fromTangentFirst(r.numbers("initial"));
    options.initial = [initial](double) { return initial; };
  }
  placed(r.node(), [&] {
    const auto rod = builder_.rod(name, sectionOfRod(r), options);
    if (!begin.boolean("held")) return;
    builder_.clamp(name + ".begin", rod.start());
    joints_.push_back(name + ".begin");
  });
}

/// Rods of a mechanism; or the one of an analysis of its own, shown on the nodes of a beam that nothing else acts on.
void SceneBuilder::readRods(const std::vector<Record>& records, const Record& analysis) {
  if (!content_.isRod) {
    if (content_.hasDiscretePath && !records.empty())
      throw InputError(root_.keyLocation("rods"), "rods", "the analysis works in director coordinates, in which strains have no form",
                       "write method: generalized-alpha, moreau or nonsmooth-alpha, or make them `beams`");
    for (const Record& r : records) addRod(r);
    return;
  }
  if (records.size() != 1) throw InputError(root_.location(), "rods", "the analysis is one of a single rod", "give one entry in `rods`");
  const bool touches = analysis.variant() == "rod-contact";
  for (const char* key : {"bodies", "beams", "joints", "springs", "loads", "point_masses", "contacts", "gravity"})
    if (root_.has(key) && !(touches && std::string_view(key) == "contacts"))
      throw InputError(root_.keyLocation(key), key, "equilibria of rods know nothing but the rod and its supports",
                       "remove the key; weights are those of the rod, supports its `begin` and `end`");
  const Record& r = records[0];
  for (const char* key : {"mass", "rotary", "initial", "surface", "contact_radius"})
    if (r.has(key) && !(touches && std::string_view(key) == "surface"))
      r.node(key).refuse("the analysis knows a rod in equilibrium alone", "remove it, or write analysis: {type: dynamic, ...}");
  if (!r.object("begin").boolean("held")) r.object("begin").node("held").refuse("the analysis holds the begin of the rod", "remove it");
  const std::string name = claim(r, "beam");
  claimPart(r.node("name"), name);
  rod_.rod = {.length = r.number("length"), .stiffness = r.numbers("stiffness"), .weight = r.vector3("weight")};
  if (!(rod_.rod.stiffness.minCoeff() > 0)) r.node("stiffness").refuse("a stiffness is not positive", "give [EI1, EI2, GJ] above zero");
  rod_.rod.natural = readNatural(r.node("natural"));
  rod_.elements = r.integer("elements");
  rod_.start = placed(r.node("natural"), [&] { return StrainRod(rod_.rod, std::min(rod_.elements, mostElements)).natural(); });
  rod_.ends.begin = readPose(r.object("begin"));
  if (r.has("end")) {
    const Record end = r.object("end");
    if (end.has("position")) rod_.ends.position = end.vector3("position");
    if (end.has("orientation")) rod_.ends.orientation = readOrientation(end.node("orientation"));
    if (analysis.variant() != "cosserat-rod" && !r.has("shearing") && rod_.ends.position &&
        (*rod_.ends.position - rod_.ends.begin.x).norm() > rod_.rod.length * (1 + 1e-12))
      end.node("position").refuse("it is farther from the begin than the rod is long", "bring the ends closer, or lengthen the rod");
  }
  refuseCosseratKeys(r, analysis.variant());
  if (rod_.elements > mostElements)
    r.node("elements").refuse("so many do not fit into memory", "give up to 1000000; 50 to 200 suffice for most shapes");
  using Reader = void (SceneBuilder::*)(const Record& rod, const Record& analysis);
  static const std::map<std::string, Reader> readers{{"rod-equilibrium", &SceneBuilder::readRodStatics},
                                                     {"cosserat-rod", &SceneBuilder::readCosseratRod},
                                                     {"elastica", &SceneBuilder::readElastica},
                                                     {"packed-ring", &SceneBuilder::readPackedRing},
                                                     {"rod-path", &SceneBuilder::readRodPath},
                                                     {"rod-contact", &SceneBuilder::readRodContact},
                                                     {"reconstruction", &SceneBuilder::readReconstruction},
                                                     {"identification", &SceneBuilder::readIdentification}};
  (this->*readers.at(analysis.variant()))(r, analysis);
  const bool isPlane = elastica_ || packedRing_;
  const Vector3 from = rod_.ends.begin.x, along = isPlane ? rod_.ends.begin.R.col(0) : rod_.ends.begin.R.col(2);
  const Vector3 up = isPlane ? rod_.ends.begin.R.col(2) : rod_.ends.begin.R.col(1);
  const SectionProperties section{.stiffness = Matrix6::Identity(), .outline = Section::circle(r.number("radius"))};
  placed(r.node(), [&] {
    builder_.beam(name, Curve::straight(from, from + rod_.rod.length * along, up), section,
                  {.elements = rod_.elements, .model = BeamModel::InextensibleKirchhoff});
  });
}

void SceneBuilder::readElastica(const Record& r, const Record& analysis) {
  const double compression = analysis.number("compression");
  if (!(compression < 1)) analysis.node("compression").refuse("the ends would pass each other", "give a share below 1");
  if (analysis.integer("mode") > 20) analysis.node("mode").refuse("so high modes are not followed", "give a number up to 20");
  if (r.has("end")) r.node("end").refuse("the compression of the elastica says where its end is", "remove it");
  const Vector3& K = rod_.rod.stiffness;
  elastica_ = {.compression = compression,
               .mode = analysis.integer("mode"),
               .begin = rod_.ends.begin,
               .length = rod_.rod.length,
               .across = K[1] / K[0],
               .torsion = K[2] / K[0]};
}

void SceneBuilder::readPackedRing(const Record& r, const Record& analysis) {
  if (r.has("end")) r.node("end").refuse("a ring ends where it begins", "remove it");
  if (analysis.integer("starts") > 10000) analysis.node("starts").refuse("so many first guesses are not tried", "give up to 10000");
  packedRing_ = {.ring = {.elements = rod_.elements,
                          .radius = analysis.number("radius"),
                          .index = analysis.integer("index"),
                          .seed = unsigned(analysis.integer("seed"))},
                 .starts = analysis.integer("starts"),
                 .begin = rod_.ends.begin,
                 .length = rod_.rod.length};
  placed(analysis.node(), [&] { checkRing(packedRing_->ring); });
  const Shape disc{.kind = Shape::Kind::Disc, .size = {analysis.number("radius") * rod_.rod.length, 0, 0}, .hollow = true};
  content_.obstacles.push_back({"disc", &builder_.ground(rod_.ends.begin), {disc}}); // to be seen; such scenes have no contacts
}

/// The rod and its supports as functions of the parameter.
RodFamily SceneBuilder::readRodFamily(const Record& r, const Record& analysis, Dimension& unit) const {
  const std::string parameter = analysis.choice("parameter");
  RodFamily family{[rod = rod_.rod](double) { return rod; }, [ends = rod_.ends](double) { return ends; }};
  unit = dimension::none;
  const auto needsEnd = [&](bool has, const char* key) {
    if (!has)
      r.node(r.has("end") ? "end" : "begin")
          .refuse("the " + parameter + " of the ends changes, but the end is free", "give `end: {" + std::string(key) + ": ...}`");
  };
  if (parameter == "distance") {
    needsEnd(rod_.ends.position.has_value(), "position");
    unit = dimension::length;
    const Vector3 line = *rod_.ends.position - rod_.ends.begin.x;
    if (!(line.norm() > 0))
      r.object("end").node("position").refuse("begin and end are at one place", "give a place on the line of the ends");
    family.ends = [ends = rod_.ends, along = line.normalized()](double p) {
      RodEnds moved = ends;
      moved.position = ends.begin.x + p * along;
      return moved;
    };
  } else if (parameter == "rotation") {
    needsEnd(rod_.ends.orientation.has_value(), "orientation");
    unit = dimension::angle;
    family.ends = [ends = rod_.ends](double p) {
      RodEnds turned = ends;
      turned.orientation = *ends.orientation * so3::exp(Vector3(0, 0, p));
      return turned;
    };
  } else if (parameter == "weight") {
    family.rod = [rod = rod_.rod](double p) {
      RodProperties heavy = rod;
      heavy.weight *= p;
      return heavy;
    };
  } else {
    family.rod = [rod = rod_.rod](double p) {
      RodProperties curved = rod;
      curved.natural = [natural = rod.natural, p](double s) -> Vector3 { return p * natural(s); };
      return curved;
    };
  }
  if (parameter == "distance")
    for (const char* key : {"from", "to"})
      if (const double p = analysis.node(key).toNumber(unit); !(p <= rod_.rod.length * (1 + 1e-12) && p > 0))
        analysis.node(key).refuse("the ends cannot be so far apart, or at one place", "give a distance up to the length of the rod");
  if (analysis.node("from").toNumber(unit) == analysis.node("to").toNumber(unit))
    analysis.node("to").refuse("the path has no length", "let `from` and `to` differ");
  return family;
}

void SceneBuilder::readRodPath(const Record& r, const Record& analysis) {
  Dimension unit = dimension::none;
  RodFamily family = readRodFamily(r, analysis, unit);
  RodPathOptions path{.elements = rod_.elements,
                      .from = analysis.node("from").toNumber(unit),
                      .to = analysis.node("to").toNumber(unit),
                      .step = analysis.number("step"),
                      .largestStep = analysis.number("largest_step"),
                      .branchPoints = analysis.integer("branch_points"),
                      .follows = analysis.boolean("branches"),
                      .maxPoints = analysis.integer("max_points")};
  if (path.branchPoints > 100) analysis.node("branch_points").refuse("so many are not followed", "give up to 100");
  if (path.elements > 400) r.node("elements").refuse("the path of so many is not followed", "give up to 400");
  if (!(path.largestStep >= path.step)) analysis.node("largest_step").refuse("it is below the first step", "give `step` or more");
  if (analysis.has("start")) path.start = Vector3(analysis.numbers("start")).replicate(rod_.elements, 1);
  rodPath_ = {.family = std::move(family), .path = std::move(path), .unit = unitOfParameter(analysis.choice("parameter"))};
}

/// What it touches is known when all is built (makeRodStatics).
void SceneBuilder::readRodContact(const Record& r, const Record& analysis) {
  if (rod_.elements > mostStrains) r.node("elements").refuse("so many do not touch", "give up to 2000");
  Dimension unit = dimension::none;
  rodContact_ = {.family = readRodFamily(r, analysis, unit),
                 .surroundings = {},
                 .elements = rod_.elements,
                 .from = analysis.node("from").toNumber(unit),
                 .to = analysis.node("to").toNumber(unit),
                 .steps = analysis.integer("steps"),
                 .unit = unitOfParameter(analysis.choice("parameter"))};
  if (analysis.choice("method") == "flow") rodContact_->equilibrium.method = ContactDescent::Flow;
  const double optimality = analysis.number("optimality");
  if (!(optimality >= 1e-11 && optimality <= 1e-3))
    analysis.node("optimality").refuse("rounding is coarser, or no equilibrium is", "give a residual between 1e-11 and 1e-3");
  rodContact_->equilibrium.tolerance = optimality;
  rodContact_->equilibrium.maxIterations = analysis.integer("max_iterations");
  if (analysis.has("start")) rod_.start = Vector3(analysis.numbers("start")).replicate(rod_.elements, 1);
  addSpread(analysis, 3);
  refuseCoarse(r.node("elements"), rod_.start, rod_.rod.length / rod_.elements);
  rodContact_->start = rod_.start;
  for (const char* key : {"from", "to"}) {
    const RodEnds ends = rodContact_->family.ends(analysis.node(key).toNumber(unit));
    if (ends.position && (*ends.position - ends.begin.x).norm() > rod_.rod.length * (1 - 1e-6))
      analysis.node(key).refuse("the ends are as far apart there as the rod is long: it is straight, and gives way in no direction",
                                "bring the ends closer, by 1e-5 of the length or more");
  }
}

void SceneBuilder::addSpread(const Record& analysis, int stride) {
  const double spread = analysis.number("spread");
  if (!(spread > 0)) return;
  std::mt19937 random(unsigned(analysis.integer("seed")));
  std::uniform_real_distribution<double> uniform(-spread, spread);
  for (int i = 0; i < rod_.start.size(); ++i)
    if (i % stride < 3) rod_.start[i] += uniform(random);
}

void SceneBuilder::readReconstruction(const Record& r, const Record& analysis) {
  if (r.has("end")) r.node("end").refuse("the curve of given strains ends where they lead", "remove it");
  const std::string method = analysis.choice("method");
  reconstruction_ = {.strains = rod_.rod.natural,
                     .length = rod_.rod.length,
                     .begin = rod_.ends.begin,
                     .order = method == "rkmk1"   ? 1
                              : method == "rkmk2" ? 2
                                                  : 4,
                     .map = analysis.choice("map") == "cayley" ? se3::StepMap::Cayley : se3::StepMap::Exponential};
}

void SceneBuilder::readIdentification(const Record& r, const Record& analysis) {
  if (r.node().has("natural")) r.node("natural").refuse("it is what is looked for", "remove it; a first guess is `guess` of the analysis");
  const std::filesystem::path file = meshes_.find(analysis, "give the path of a CSV file of points, relative to the scene");
  RodIdentificationOptions o{.rod = rod_.rod,
                             .elements = rod_.elements,
                             .ends = rod_.ends,
                             .points = readPoints(file),
                             .groups = analysis.integer("groups"),
                             .smoothness = analysis.number("smoothness"),
                             .maxIterations = analysis.integer("max_iterations")};
  if (o.groups > o.elements) analysis.node("groups").refuse("there are more groups than elements", "give fewer");
  if (analysis.has("guess")) o.guess = Vector3(analysis.numbers("guess"));
  placed(analysis.node("file"), [&] { checkPoints(o); });
  identification_ = {.identification = std::move(o)};
}

void SceneBuilder::readRodStatics(const Record& r, const Record& analysis) {
  if (r.has("shearing")) {
    rod_.rod.stretchStiffness = r.numbers("shearing");
    if (!(rod_.rod.stretchStiffness->minCoeff() > 0))
      r.node("shearing").refuse("a stiffness is not positive", "give [GA1, GA2, EA] above zero");
  }
  const std::string method = analysis.choice("method"); // form, map and order of the strains
  rod_.equilibrium.form = method.starts_with("ms") ? RodForm::Mixed : RodForm::Strains;
  rod_.map = method.find("cay") != std::string::npos ? se3::StepMap::Cayley : se3::StepMap::Exponential;
  rod_.strains = method.ends_with('2') ? RodStrains::Linear : RodStrains::Constant;
  if (rod_.equilibrium.form == RodForm::Strains && rod_.elements > mostStrains)
    r.node("elements").refuse("so many strains are not solved together", "give up to 2000, or take the method ms-exp1");
  if (rod_.strains == RodStrains::Linear && rod_.rod.stretchStiffness)
    analysis.node("method").refuse("a rod that stretches has constant strains in its elements", "take ms-exp1, or remove `shearing`");
  rod_.weight = analysis.choice("weight") == "left-rectangle" ? RodWeight::LeftRectangle : RodWeight::Trapezoid;
  rod_.steps = analysis.integer("steps");
  rod_.growsNaturalStrain = analysis.choice("grows") == "natural";
  rod_.growsWeight = analysis.choice("grows") == "weight";
  rod_.equilibrium.tolerance = analysis.number("optimality");
  rod_.equilibrium.maxIterations = analysis.integer("max_iterations");
  rod_.equilibrium.measuresStability = true;
  const StrainRod rod(rod_.rod, rod_.elements, rod_.map, rod_.weight, rod_.strains);
  const int stride = rod.stride(), places = rod.size() / stride;
  rod_.start = rod.natural();
  for (int i = 0; i < places; ++i) {
    if (analysis.has("start")) rod_.start.segment<3>(stride * i) = Vector3(analysis.numbers("start"));
    if (!analysis.boolean("follows_twist")) continue; // a bend that keeps its direction in space while the frame turns
    const double angle = -rod_.start[stride * i + 2] * rod_.rod.length * (i + 0.5) / places;
    rod_.start.segment<2>(stride * i) = Eigen::Rotation2Dd(angle) * rod_.start.segment<2>(stride * i);
  }
  addSpread(analysis, stride);
}

/// Vertices are the nodes between elements; the first guess stands between what is held.
void SceneBuilder::readCosseratRod(const Record& r, const Record& analysis) {
  if (!r.has("shearing")) r.node().refuse("this rod stretches and shears", "give `shearing: [GA1, GA2, EA]`");
  const int vertices = rod_.elements + 1;
  if (vertices > mostVertices) r.node("elements").refuse("so many are not stored", fmt::format("give up to {}", mostVertices - 1));
  CosseratProperties properties{.length = rod_.rod.length,
                                .bending = rod_.rod.stiffness,
                                .shearing = r.numbers("shearing"),
                                .naturalCurvature = rod_.rod.natural,
                                .weight = rod_.rod.weight};
  if (!(properties.shearing.minCoeff() > 0)) r.node("shearing").refuse("a stiffness is not positive", "give [GA1, GA2, EA] above zero");
  if (r.has("stretch")) properties.naturalStretch = [v0 = Vector3(r.numbers("stretch"))](double) { return v0; };
  const CosseratModel model = analysis.choice("model") == "vertex" ? CosseratModel::Vertex : CosseratModel::Edge;
  CosseratRod rod(properties, vertices, model);

  const RodCorner treatment = analysis.choice("corner") == "A" ? RodCorner::NaturalCurvature : RodCorner::ReferenceRotation;
  if (treatment == RodCorner::NaturalCurvature && model == CosseratModel::Vertex)
    analysis.node("corner").refuse("a vertex of the vertex model has no curvature", "write B, or model: edge");
  for (const Record& corner : r.objects("corners")) {
    const int vertex = vertexAt(corner, rod);
    if (vertex == rod_.elements) corner.node("at").refuse("the rod ends there", "place the corner between the ends");
    rod.addCorner(vertex, readOrientation(corner.node("turn")), treatment);
  }
  for (const Record& force : r.objects("forces")) rod.addForce(vertexAt(force, rod), force.vector3("force"));

  const Record begin = r.object("begin");
  rod.hold(RodEnd::Begin, readHold(begin, RodHold::Clamped), hingeOf(begin));
  if (r.has("end")) {
    const Record end = r.object("end");
    const RodHold given = rod_.ends.orientation ? RodHold::Clamped : rod_.ends.position ? RodHold::Pinned : RodHold::Free;
    rod.hold(RodEnd::End, readHold(end, given), hingeOf(end));
  }
  if (analysis.choice("start") == "between-ends") {
    if (!rod_.ends.position || !rod_.ends.orientation)
      analysis.node("start").refuse("it is not said where the end is", "give `end` a position and an orientation");
    rod.placeBetween(rod_.ends.begin, {*rod_.ends.orientation, *rod_.ends.position});
  } else {
    rod.placeUnstrained(rod_.ends.begin);
    rod.moveEnd(rod_.ends.position, rod_.ends.orientation);
  }

  cosserat_.emplace(CosseratStaticsOptions{.rod = rod});
  cosserat_->equilibrium.maxIterations = analysis.integer("max_iterations");
  const bool followsPath = analysis.choice("method") == "arc-length";
  cosserat_->steps = analysis.has("steps") ? analysis.integer("steps") : followsPath ? 200 : 1;
  if (!followsPath) {
    for (const char* key : {"first_step", "largest_step", "lowest", "highest"})
      if (analysis.has(key)) analysis.node(key).refuse("load steps do not know this key", "remove it, or write method: arc-length");
    return;
  }
  PathOptions path;
  if (analysis.has("first_step")) path.firstStep = analysis.number("first_step");
  if (analysis.has("largest_step")) path.largestGrowth = analysis.number("largest_step");
  if (analysis.has("lowest")) cosserat_->lowest = analysis.number("lowest");
  if (analysis.has("highest")) cosserat_->highest = analysis.number("highest");
  cosserat_->path = path;
}

/// By the laws of the scene, which know no friction here.
void SceneBuilder::addSurroundings() {
  const ContactModel& contacts = content_.contacts;
  const int rod = contacts.find(content_.mechanism.beams[0].name);
  RodSurroundings& around = rodContact_->surroundings;
  around.touchesItself = rod >= 0 && contacts.law(rod, rod);
  if (rod < 0) return; // no contacts at all
  const auto refuse = [&](const std::string& problem, const std::string& remedy) {
    throw InputError(root_.keyLocation("contacts"), "contacts", problem, remedy);
  };
  if (contacts.parts()[std::size_t(rod)].curve) around.radius = contacts.parts()[std::size_t(rod)].curve->radius;
  const State state = content_.mechanism.model->initialState();
  for (int k = 0; k < int(contacts.parts().size()); ++k) {
    const ContactLaw* law = contacts.law(rod, k);
    if (!law) continue;
    const ContactModel::Part& part = contacts.parts()[std::size_t(k)];
    if (!(*law == ContactLaw{})) refuse("the rod touches '" + part.name + "' without friction", "give the names alone, `between: [A, B]`");
    for (const CollisionShape& shape : part.shapes) {
      const std::optional<RodObstacle> obstacle = obstacleOf(part, shape.shape(), part.marker->frame(state));
      if (!obstacle)
        refuse("a rod in equilibrium does not know the shape of '" + part.name + "'",
               "give it a half-space, a sphere, a cylinder (outside), a tube or a hollow sphere (inside)");
      around.obstacles.push_back(*obstacle);
      rodContact_->parts.push_back(k);
    }
  }
  rodContact_->part = rod;
}

void SceneBuilder::makeRodStatics() {
  if (rodContact_) addSurroundings();
  const std::vector<int>& blocks = content_.mechanism.beams[0].nodes;
  const auto makes = [&]<class Analysis>(std::type_identity<Analysis>, auto options) {
    options.blocks = blocks;
    content_.makeAnalysis = [o = std::move(options)](const Model& model, const ContactModel& contacts, const FrictionObserver&) {
      if constexpr (std::is_constructible_v<Analysis, const Model&, const ContactModel&, decltype(o)>)
        return std::make_unique<Analysis>(model, contacts, o);
      else
        return std::make_unique<Analysis>(model, o);
    };
  };
  if (cosserat_)
    makes(std::type_identity<CosseratStatics>(), *cosserat_);
  else if (elastica_)
    makes(std::type_identity<ElasticaStatics>(), *elastica_);
  else if (packedRing_)
    makes(std::type_identity<PackedRingStatics>(), *packedRing_);
  else if (rodPath_)
    makes(std::type_identity<RodPathStatics>(), *rodPath_);
  else if (rodContact_)
    makes(std::type_identity<RodContactStatics>(), *rodContact_);
  else if (reconstruction_)
    makes(std::type_identity<RodReconstruction>(), *reconstruction_);
  else if (identification_)
    makes(std::type_identity<RodIdentificationStatics>(), *identification_);
  else
    makes(std::type_identity<RodStatics>(), rod_);
}

}
