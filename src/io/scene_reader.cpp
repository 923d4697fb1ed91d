#include "io/scene_reader.h"

#include "io/scene_schema.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/lie/so3.h"
#include "tendril/statics/arc_length.h"
#include "tendril/statics/load_stepping.h"

#include <Eigen/LU>
#include <array>
#include <cmath>

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
  const auto position = [&x](double u) {
    const Vector3 at(x[0].function(u).value, x[1].function(u).value, x[2].function(u).value);
    if (!at.allFinite()) throw InputError("the formula of the curve is not finite at t = " + std::to_string(u));
    return at;
  };
  return Curve::parametric(position, r.number("from"), r.number("to"), up);
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

namespace {

MassProperties massOf(const Record& r, double density) {
  const std::string& kind = r.variant();
  if (kind == "sphere") return MassProperties::sphere(density, r.number("radius"));
  if (kind == "box") return MassProperties::box(density, r.vector3("size"));
  if (kind == "cylinder") return MassProperties::cylinder(density, r.number("radius"), r.number("length"));
  if (kind == "capsule") return MassProperties::capsule(density, r.number("radius"), r.number("length"));
  if (kind == "tube") return MassProperties::tube(density, r.number("inner_radius"), r.number("outer_radius"), r.number("length"));
  if (kind == "cone") return MassProperties::cone(density, r.number("radius"), r.number("length"));
  return MassProperties::ellipsoid(density, r.vector3("semi_axes"));
}

Shape readShape(const Record& r, const Pose& pose) {
  const std::string& kind = r.variant();
  if (kind == "sphere") return {Shape::Kind::Sphere, {r.number("radius"), 0, 0}, pose};
  if (kind == "box") return {Shape::Kind::Box, r.vector3("size"), pose};
  if (kind == "cylinder") return {Shape::Kind::Cylinder, {r.number("radius"), r.number("length"), 0}, pose};
  if (kind == "capsule") return {Shape::Kind::Capsule, {r.number("radius"), r.number("length"), 0}, pose};
  if (kind == "tube") return {Shape::Kind::Tube, {r.number("outer_radius"), r.number("inner_radius"), r.number("length")}, pose};
  if (kind == "cone") return {Shape::Kind::Cone, {r.number("radius"), r.number("length"), 0}, pose};
  return {Shape::Kind::Ellipsoid, r.vector3("semi_axes"), pose};
}

Pose poseOf(const Record& r) { return {readOrientation(r.node("orientation")), r.vector3("position")}; }

/// The sum of the shapes, each with its own density or all with the same.
MassProperties sumOfShapes(const Record& body, bool ownDensity) {
  MassProperties sum;
  for (const Record& shape : body.objects("shapes")) {
    if (ownDensity && !shape.has("density")) {
      shape.node().refuse("without a mass of the body, each of its shapes needs a density", "add `density:` here, or `mass:` to the body");
    }
    if (!ownDensity && shape.has("density")) {
      shape.node("density").refuse("the body's mass is given, so its shapes take no density", "remove one of the two");
    }
    sum = sum + massOf(shape, ownDensity ? shape.number("density") : 1).placed(poseOf(shape));
  }
  return sum;
}

}

MassProperties readMass(const Record& body) {
  const bool hasMass = body.has("mass"), hasInertia = body.has("inertia"), hasShapes = !body.objects("shapes").empty();
  if (hasMass && hasInertia) return {body.number("mass"), body.vector3("centre"), readInertia(body.node("inertia"))};
  if (hasInertia) body.node("inertia").refuse("an inertia needs the mass, too", "add `mass:` to the body");
  if (!hasShapes) {
    body.node().refuse("this body has no mass", "give `mass` and `inertia`, or `mass` and `shapes`, or `shapes` with `density`");
  }
  MassProperties properties = sumOfShapes(body, !hasMass);
  if (hasMass) {
    const double density = body.number("mass") / properties.mass;
    properties.mass *= density;
    properties.inertia *= density;
  }
  return properties;
}

std::vector<Shape> readShapes(const Record& body) {
  std::vector<Shape> shapes;
  for (const Record& shape : body.objects("shapes")) shapes.push_back(readShape(shape, poseOf(shape)));
  return shapes;
}

// ---- analysis
// ------------------------------------------------------------------------------------------------------------------------------

namespace {

KktTolerances readTolerances(const Record& r) { return {r.number("tolerance"), r.number("constraint_tolerance")}; }

/// Sets a member from a key that may be absent.
void take(const Record& r, const char* key, double& target) {
  if (r.has(key)) target = r.number(key);
}
void take(const Record& r, const char* key, int& target) {
  if (r.has(key)) target = r.integer(key);
}

void refuseForeign(const Record& r, std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    if (r.has(key))
      r.node(key).refuse("the method " + r.choice("method") + " does not know this key", "remove it, or choose the other method");
  }
}

LoadSteppingOptions readLoadStepping(const Record& r) {
  refuseForeign(r, {"lowest", "highest"});
  LoadSteppingOptions o;
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
  refuseForeign(r, {"adaptive"});
  ArcLengthOptions o;
  take(r, "steps", o.maxSteps);
  take(r, "first_step", o.firstStep);
  take(r, "max_iterations", o.maxIterations);
  take(r, "largest_step", o.largestGrowth);
  take(r, "smallest_step", o.smallestShrink);
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

template <class Method, class Options> std::function<std::unique_ptr<Analysis>(const Model&)> maker(const Options& options) {
  return [options](const Model& model) { return std::make_unique<Method>(model, options); };
}

}

std::function<std::unique_ptr<Analysis>(const Model&)> readAnalysis(const Record& r) {
  if (r.variant() == "dynamic") return maker<GeneralizedAlpha>(readGeneralizedAlpha(r));
  if (r.choice("method") == "arc-length") return maker<ArcLength>(readArcLength(r));
  return maker<LoadStepping>(readLoadStepping(r));
}

}
