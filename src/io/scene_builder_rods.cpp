#include "io/scene_builder_class.h"
#include "io/scene_schema.h"
#include "io/scene_shapes.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <cmath>
#include <random>

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
void refuseCosseratKeys(const Record& r, bool mayShear) {
  for (const char* key : {"shearing", "stretch", "corners", "forces"})
    if (r.node().has(key) && !(mayShear && key == std::string_view("shearing")))
      r.node(key).refuse("the analysis knows no such rod", "remove the key, or write analysis: {type: cosserat-rod}");
  for (const char* end : {"begin", "end"}) {
    if (!r.has(end)) continue;
    for (const char* key : {"hold", "hinge"})
      if (r.object(end).has(key))
        r.object(end).node(key).refuse("the analysis knows no such support", "remove the key, or write analysis: {type: cosserat-rod}");
  }
}

}

/// One rod, shown on the nodes of a beam that nothing else acts on.
void SceneBuilder::readRods(const std::vector<Record>& records, const Record& analysis) {
  if (!content_.isRod) {
    if (records.empty()) return;
    throw InputError(root_.keyLocation("rods"), "rods", "the analysis knows no strain-based rods",
                     "write analysis: {type: rod-equilibrium, ...}, or make them `beams`");
  }
  if (records.size() != 1) throw InputError(root_.location(), "rods", "the analysis is one of a single rod", "give one entry in `rods`");
  for (const char* key : {"bodies", "beams", "joints", "springs", "loads", "point_masses", "contacts", "gravity"})
    if (root_.has(key))
      throw InputError(root_.keyLocation(key), key, "equilibria of rods know nothing but the rod and its supports",
                       "remove the key; weights are those of the rod, supports its `begin` and `end`");
  const Record& r = records[0];
  const std::string name = claim(r, "beam");
  claimPart(r.node("name"), name);
  rod_.rod = {.length = r.number("length"), .stiffness = r.numbers("stiffness"), .weight = r.vector3("weight")};
  if (!(rod_.rod.stiffness.minCoeff() > 0)) r.node("stiffness").refuse("a stiffness is not positive", "give [EI1, EI2, GJ] above zero");
  if (const Vector3 natural = r.numbers("natural"); !natural.isZero()) rod_.rod.natural = [natural](double) { return natural; };
  rod_.elements = r.integer("elements");
  rod_.ends.begin = readPose(r.object("begin"));
  if (r.has("end")) {
    const Record end = r.object("end");
    if (end.has("position")) rod_.ends.position = end.vector3("position");
    if (end.has("orientation")) rod_.ends.orientation = readPose(end).R;
    if (analysis.variant() != "cosserat-rod" && !r.has("shearing") && rod_.ends.position &&
        (*rod_.ends.position - rod_.ends.begin.x).norm() > rod_.rod.length * (1 + 1e-12))
      end.node("position").refuse("it is farther from the begin than the rod is long", "bring the ends closer, or lengthen the rod");
  }
  if (analysis.variant() == "cosserat-rod") {
    readCosseratRod(r, analysis);
  } else {
    refuseCosseratKeys(r, analysis.variant() == "rod-equilibrium");
    if (rod_.elements > mostElements)
      r.node("elements").refuse("so many do not fit into memory", "give up to 1000000; 50 to 200 suffice for most shapes");
  }
  if (analysis.variant() == "elastica") {
    const double compression = analysis.number("compression");
    if (!(compression < 1)) analysis.node("compression").refuse("the ends would pass each other", "give a share below 1");
    if (analysis.integer("mode") > 20) analysis.node("mode").refuse("so high modes are not followed", "give a number up to 20");
    if (r.has("end")) r.node("end").refuse("the compression of the elastica says where its end is", "remove it");
    elastica_ = {.compression = compression, .mode = analysis.integer("mode"), .begin = rod_.ends.begin, .length = rod_.rod.length};
  } else if (analysis.variant() == "packed-ring") {
    if (r.has("end")) r.node("end").refuse("a ring ends where it begins", "remove it");
    if (analysis.integer("starts") > 10000) analysis.node("starts").refuse("so many first guesses are not tried", "give up to 10000");
    packedRing_ = {.ring = {.elements = rod_.elements,
                            .radius = analysis.number("radius"),
                            .index = analysis.integer("index"),
                            .seed = unsigned(analysis.integer("seed"))},
                   .starts = analysis.integer("starts"),
                   .begin = rod_.ends.begin,
                   .length = rod_.rod.length};
  } else if (!cosserat_) {
    readRodStatics(r, analysis);
  }
  const bool isPlane = elastica_ || packedRing_;
  const Vector3 from = rod_.ends.begin.x, along = isPlane ? rod_.ends.begin.R.col(0) : rod_.ends.begin.R.col(2);
  const Vector3 up = isPlane ? rod_.ends.begin.R.col(2) : rod_.ends.begin.R.col(1);
  const SectionProperties section{.stiffness = Matrix6::Identity(), .outline = Section::circle(r.number("radius"))};
  placed(r.node(), [&] {
    builder_.beam(name, Curve::straight(from, from + rod_.rod.length * along, up), section,
                  {.elements = rod_.elements, .model = BeamModel::InextensibleKirchhoff});
  });
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
  const Vector3 start = analysis.has("start") ? Vector3(analysis.numbers("start")) : Vector3(r.numbers("natural"));
  const StrainRod rod(rod_.rod, rod_.elements, rod_.map, rod_.weight, rod_.strains);
  const int stride = rod.stride(), places = rod.size() / stride;
  rod_.start = rod.natural();
  for (int i = 0; i < places; ++i) {
    rod_.start.segment<3>(stride * i) = start;
    if (!analysis.boolean("follows_twist")) continue; // a bend that keeps its direction in space while the frame turns
    const double angle = -start[2] * rod_.rod.length * (i + 0.5) / places;
    rod_.start.segment<2>(stride * i) = Eigen::Rotation2Dd(angle) * start.head<2>();
  }
  if (const double spread = analysis.number("spread"); spread > 0) {
    std::mt19937 random(unsigned(analysis.integer("seed")));
    std::uniform_real_distribution<double> uniform(-spread, spread);
    for (int i = 0; i < rod_.start.size(); ++i)
      if (i % stride < 3) rod_.start[i] += uniform(random);
  }
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

void SceneBuilder::makeRodStatics() {
  rod_.blocks = content_.mechanism.beams[0].nodes;
  if (cosserat_) {
    cosserat_->blocks = rod_.blocks;
    content_.makeAnalysis = [o = *cosserat_](const Model& model, const ContactModel&, const FrictionObserver&) {
      return std::make_unique<CosseratStatics>(model, o);
    };
    return;
  }
  if (elastica_) {
    elastica_->blocks = rod_.blocks;
    content_.makeAnalysis = [o = *elastica_](const Model& model, const ContactModel&, const FrictionObserver&) {
      return std::make_unique<ElasticaStatics>(model, o);
    };
    return;
  }
  if (packedRing_) {
    packedRing_->blocks = rod_.blocks;
    content_.makeAnalysis = [o = *packedRing_](const Model& model, const ContactModel&, const FrictionObserver&) {
      return std::make_unique<PackedRingStatics>(model, o);
    };
    return;
  }
  content_.makeAnalysis = [o = rod_](const Model& model, const ContactModel&, const FrictionObserver&) {
    return std::make_unique<RodStatics>(model, o);
  };
}

}
