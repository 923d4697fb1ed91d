#include "io/scene_builder_class.h"
#include "io/scene_schema.h"
#include "io/scene_shapes.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <cmath>
#include <random>

namespace tendril::scenes {

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
  if (r.has("stretch_stiffness")) {
    rod_.rod.stretchStiffness = r.numbers("stretch_stiffness");
    if (!(rod_.rod.stretchStiffness->minCoeff() > 0))
      r.node("stretch_stiffness").refuse("a stiffness is not positive", "give [GA1, GA2, EA] above zero, or leave the key out");
  }
  if (const Vector3 natural = r.numbers("natural"); !natural.isZero()) rod_.rod.natural = [natural](double) { return natural; };
  rod_.elements = r.integer("elements");
  if (rod_.elements > 1000000)
    r.node("elements").refuse("so many do not fit into memory", "give up to 1000000; 50 to 200 suffice for most shapes");
  rod_.ends.begin = readPose(r.object("begin"));
  if (r.has("end")) {
    const Record end = r.object("end");
    if (end.has("position")) rod_.ends.position = end.vector3("position");
    if (end.has("orientation")) rod_.ends.orientation = readPose(end).R;
    if (rod_.ends.position && !rod_.rod.stretchStiffness &&
        (*rod_.ends.position - rod_.ends.begin.x).norm() > rod_.rod.length * (1 + 1e-12))
      end.node("position").refuse("it is farther from the begin than the rod is long", "bring the ends closer, or lengthen the rod");
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
  } else {
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
  const std::string method = analysis.choice("method"); // form, map and order of the strains
  rod_.equilibrium.form = method.starts_with("ms") ? RodForm::Mixed : RodForm::Strains;
  rod_.map = method.find("cay") != std::string::npos ? se3::StepMap::Cayley : se3::StepMap::Exponential;
  rod_.strains = method.ends_with('2') ? RodStrains::Linear : RodStrains::Constant;
  if (rod_.equilibrium.form == RodForm::Strains && rod_.elements > 2000)
    r.node("elements").refuse("so many strains are not solved together", "give up to 2000, or take the method ms-exp1");
  if (rod_.strains == RodStrains::Linear && rod_.rod.stretchStiffness)
    analysis.node("method").refuse("a rod that stretches has constant strains in its elements",
                                   "take ms-exp1, or remove stretch_stiffness");
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

void SceneBuilder::makeRodStatics() {
  rod_.blocks = content_.mechanism.beams[0].nodes;
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
