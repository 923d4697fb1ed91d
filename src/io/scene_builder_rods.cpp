#include "io/scene_builder_class.h"
#include "io/scene_schema.h"
#include "io/scene_shapes.h"
#include "tendril/model/error.h"

#include <Eigen/Geometry>
#include <cmath>
#include <random>

namespace tendril::scenes {

namespace {

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
  const Vector3 natural = fromTangentFirst(r.numbers("natural"));
  RodOptions options{.length = r.number("length"),
                     .elements = r.integer("elements"),
                     .begin = fromTangentFirst(readPose(begin)),
                     .natural = [natural](double) { return natural; },
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
  for (const char* key : {"bodies", "beams", "joints", "springs", "loads", "point_masses", "contacts", "gravity"})
    if (root_.has(key))
      throw InputError(root_.keyLocation(key), key, "equilibria of rods know nothing but the rod and its supports",
                       "remove the key; weights are those of the rod, supports its `begin` and `end`");
  const Record& r = records[0];
  for (const char* key : {"mass", "rotary", "initial", "surface", "contact_radius"})
    if (r.has(key))
      r.node(key).refuse("the analysis knows a rod in equilibrium alone", "remove it, or write analysis: {type: dynamic, ...}");
  if (!r.object("begin").boolean("held")) r.object("begin").node("held").refuse("the analysis holds the begin of the rod", "remove it");
  const std::string name = claim(r, "beam");
  claimPart(r.node("name"), name);
  rod_.rod = {.length = r.number("length"), .stiffness = r.numbers("stiffness"), .weight = r.vector3("weight")};
  if (!(rod_.rod.stiffness.minCoeff() > 0)) r.node("stiffness").refuse("a stiffness is not positive", "give [EI1, EI2, GJ] above zero");
  if (const Vector3 natural = r.numbers("natural"); !natural.isZero()) rod_.rod.natural = [natural](double) { return natural; };
  rod_.elements = r.integer("elements");
  if (rod_.elements > 2000)
    r.node("elements").refuse("so many are not solved together", "give up to 2000; 50 to 200 suffice for most shapes");
  rod_.ends.begin = readPose(r.object("begin"));
  if (r.has("end")) {
    const Record end = r.object("end");
    if (end.has("position")) rod_.ends.position = end.vector3("position");
    if (end.has("orientation")) rod_.ends.orientation = readPose(end).R;
    if (rod_.ends.position && (*rod_.ends.position - rod_.ends.begin.x).norm() > rod_.rod.length * (1 + 1e-12))
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
  rod_.map = analysis.choice("method") == "ss-cay1" ? se3::StepMap::Cayley : se3::StepMap::Exponential;
  rod_.weight = analysis.choice("weight") == "left-rectangle" ? RodWeight::LeftRectangle : RodWeight::Trapezoid;
  rod_.steps = analysis.integer("steps");
  rod_.growsNaturalStrain = analysis.choice("grows") == "natural";
  rod_.growsWeight = analysis.choice("grows") == "weight";
  rod_.equilibrium.tolerance = analysis.number("optimality");
  rod_.equilibrium.maxIterations = analysis.integer("max_iterations");
  rod_.equilibrium.measuresStability = true;
  const Vector3 start = analysis.has("start") ? Vector3(analysis.numbers("start")) : Vector3(r.numbers("natural"));
  rod_.start = start.replicate(rod_.elements, 1);
  if (analysis.boolean("follows_twist")) { // a bend that keeps its direction in space while the frame turns
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
