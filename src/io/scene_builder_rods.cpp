#include "io/point_file.h"
#include "io/scene_builder_class.h"
#include "io/scene_schema.h"
#include "io/scene_shapes.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <type_traits>
#include <utility>

namespace tendril::scenes {

namespace {

/// Natural strains as a function of the arclength.
std::function<Vector3(double)> readNatural(const Node& node) {
  const std::vector<Node> items = node.isSequence() ? node.items() : std::vector<Node>{};
  if (items.size() != 3) node.refuse("expected three strains", "write [kappa1, kappa2, tau], each a number or an expression in s");
  std::array<std::function<double(double)>, 3> strains;
  for (std::size_t i = 0; i < 3; ++i) strains[i] = items[i].toArclengthFunction(dimension::curvature);
  return [strains](double s) { return Vector3(strains[0](s), strains[1](s), strains[2](s)); };
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
  rod_.rod.natural = readNatural(r.node("natural"));
  rod_.elements = r.integer("elements");
  if (rod_.elements > 2000)
    r.node("elements").refuse("so many are not solved together", "give up to 2000; 50 to 200 suffice for most shapes");
  rod_.start = placed(r.node("natural"), [&] { return StrainRod(rod_.rod, rod_.elements).natural(); });
  rod_.ends.begin = readPose(r.object("begin"));
  if (r.has("end")) {
    const Record end = r.object("end");
    if (end.has("position")) rod_.ends.position = end.vector3("position");
    if (end.has("orientation")) rod_.ends.orientation = readPose(end).R;
    if (rod_.ends.position && (*rod_.ends.position - rod_.ends.begin.x).norm() > rod_.rod.length * (1 + 1e-12))
      end.node("position").refuse("it is farther from the begin than the rod is long", "bring the ends closer, or lengthen the rod");
  }
  if (analysis.variant() == "elastica")
    readElastica(r, analysis);
  else if (analysis.variant() == "packed-ring")
    readPackedRing(r, analysis);
  else if (analysis.variant() == "rod-path")
    readRodPath(r, analysis);
  else if (analysis.variant() == "reconstruction")
    readReconstruction(r, analysis);
  else if (analysis.variant() == "identification")
    readIdentification(r, analysis);
  else
    readRodStatics(analysis);
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
}

/// The rod and its supports as functions of the parameter.
void SceneBuilder::readRodPath(const Record& r, const Record& analysis) {
  const std::string parameter = analysis.choice("parameter");
  RodFamily family{[rod = rod_.rod](double) { return rod; }, [ends = rod_.ends](double) { return ends; }};
  Dimension unit = dimension::none;
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
  if (path.from == path.to) analysis.node("to").refuse("the path has no length", "let `from` and `to` differ");
  if (parameter == "distance")
    for (const char* key : {"from", "to"})
      if (const double p = analysis.node(key).toNumber(unit); !(p <= rod_.rod.length * (1 + 1e-12) && p > 0))
        analysis.node(key).refuse("the ends cannot be so far apart, or at one place", "give a distance up to the length of the rod");
  if (!(path.largestStep >= path.step)) analysis.node("largest_step").refuse("it is below the first step", "give `step` or more");
  if (analysis.has("start")) path.start = Vector3(analysis.numbers("start")).replicate(rod_.elements, 1);
  rodPath_ = {.family = std::move(family),
              .path = std::move(path),
              .unit = parameter == "distance"   ? "m"
                      : parameter == "rotation" ? "rad"
                                                : "1"};
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

void SceneBuilder::readRodStatics(const Record& analysis) {
  rod_.map = analysis.choice("method") == "ss-cay1" ? se3::StepMap::Cayley : se3::StepMap::Exponential;
  rod_.weight = analysis.choice("weight") == "left-rectangle" ? RodWeight::LeftRectangle : RodWeight::Trapezoid;
  rod_.steps = analysis.integer("steps");
  rod_.growsNaturalStrain = analysis.choice("grows") == "natural";
  rod_.growsWeight = analysis.choice("grows") == "weight";
  rod_.equilibrium.tolerance = analysis.number("optimality");
  rod_.equilibrium.maxIterations = analysis.integer("max_iterations");
  rod_.equilibrium.measuresStability = true;
  if (analysis.has("start")) rod_.start = Vector3(analysis.numbers("start")).replicate(rod_.elements, 1);
  if (analysis.boolean("follows_twist")) { // a bend that keeps its direction in space while the frame turns
    const Vector3 start = rod_.start.head<3>();
    for (int i = 0; i < rod_.elements; ++i) {
      const double angle = -start[2] * rod_.rod.length * (i + 0.5) / rod_.elements;
      rod_.start.segment<2>(3 * i) = Eigen::Rotation2Dd(angle) * start.head<2>();
    }
  }
  if (const double spread = analysis.number("spread"); spread > 0) {
    std::mt19937 random(unsigned(analysis.integer("seed")));
    std::uniform_real_distribution<double> uniform(-spread, spread);
    for (double& u : rod_.start) u += uniform(random);
  }
}

void SceneBuilder::makeRodStatics() {
  const std::vector<int>& blocks = content_.mechanism.beams[0].nodes;
  const auto makes = [&]<class Analysis>(std::type_identity<Analysis>, auto options) {
    options.blocks = blocks;
    content_.makeAnalysis = [o = std::move(options)](const Model& model, const ContactModel&, const FrictionObserver&) {
      return std::make_unique<Analysis>(model, o);
    };
  };
  if (elastica_)
    makes(std::type_identity<ElasticaStatics>(), *elastica_);
  else if (packedRing_)
    makes(std::type_identity<PackedRingStatics>(), *packedRing_);
  else if (rodPath_)
    makes(std::type_identity<RodPathStatics>(), *rodPath_);
  else if (reconstruction_)
    makes(std::type_identity<RodReconstruction>(), *reconstruction_);
  else if (identification_)
    makes(std::type_identity<RodIdentificationStatics>(), *identification_);
  else
    makes(std::type_identity<RodStatics>(), rod_);
}

}
