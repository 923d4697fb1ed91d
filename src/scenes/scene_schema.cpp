#include "scenes/scene_schema.h"

#include "tendril/scenes/friction_methods.h"

namespace tendril::scenes {

namespace {

using namespace field;
namespace dim = dimension;

const char* const markerHelp =
    "beam.start, beam.middle or beam.end; the name of a body or a marker; ground; or {on: ..., at: ...} as in `markers`";
const char* const orientationHelp = "rotation vector [rx, ry, rz] in degrees; {axis: [...], angle: ...}; or {directors: [d1, d2, d3]}";
const char* const timeHelp =
    "Factor as a function of t (time; in statics the load parameter, from 0 to 1). Without it: constant, in statics proportional to t.";
const char* const loadDirections = "dead: components stay as they are in the inertial frame; follower: they turn with the marker.";

Field name(const std::string& what) { return text("name", "Name of the " + what + "; each part, joint, load and output has its own."); }
Field place(const std::string& key, const std::string& what) { return any(key, what + ": " + markerHelp + "."); }
Field repeat() { return any("repeat", "{i: [first, last]}: as many objects, in whose texts ${i} is the number.").optional(); }
Field orient(const std::string& of) {
  return any("orientation", "Orientation of " + of + ": " + orientationHelp + ".").defaultsTo("[0, 0, 0]");
}
Field surface() { return text("surface", "Name of its surface, which laws of contact may refer to.").optional(); }

}

const Schema& material() {
  static const Schema table(
      "material", "An isotropic linear elastic material.",
      {text("name", "Name by which beams refer to it.").optional(), number("E", dim::pressure, "Young's modulus.").positive(),
       number("nu", dim::none, "Poisson's ratio, in (-1, 0.5]. The shear modulus is E/(2(1 + nu))."),
       number("density", dim::density, "Mass per volume.").nonNegative().defaultsTo("0"),
       number("damping_time", dim::time, "Kelvin-Voigt damping: stress = time * stiffness * strain rate.").nonNegative().defaultsTo("0")});
  return table;
}

const Schema& section() {
  const Field shear =
      numbers("shear_factors", 2, dim::none, "Shear factors k2, k3 of GA2 = k2 G A, GA3 = k3 G A.").positive().defaultsTo("[1, 1]");
  const Field damping =
      number("damping_time", dim::time, "Kelvin-Voigt damping: resultant = time * stiffness * strain rate.").nonNegative().defaultsTo("0");
  const Field outline = number("radius", dim::length, "Radius of the outline in pictures.").positive().optional();
  static const Schema table(
      "section", "The cross-section of a beam in its own frame: d1 along the beam, d2 and d3 the principal axes.", "shape",
      {{"circle", "A full circle.", {number("radius", dim::length, "Radius.").positive(), shear}},
       {"tube",
        "A circular tube.",
        {number("outer_radius", dim::length, "Outer radius.").positive(), number("inner_radius", dim::length, "Inner radius.").positive(),
         shear}},
       {"rectangle",
        "A rectangle.",
        {number("width", dim::length, "Side along d2.").positive(), number("height", dim::length, "Side along d3.").positive(),
         choice("torsion", {"saint-venant", "polar", "sixth"},
                "Torsion constant: Saint-Venant's; the polar moment I2 + I3; `sixth` is its name for a unit square, where it is 1/6.")
             .defaultsTo("saint-venant"),
         shear}},
       {"stiffness",
        "Stiffnesses and inertias given one by one; the beam needs no material.",
        {number("EA", dim::axialRigidity, "Axial stiffness.").positive(),
         number("GA2", dim::axialRigidity, "Shear stiffness along d2.").positive(),
         number("GA3", dim::axialRigidity, "Shear stiffness along d3.").positive(),
         number("GJ", dim::bendingRigidity, "Torsional stiffness.").positive(),
         number("EI2", dim::bendingRigidity, "Stiffness against bending about d2.").positive(),
         number("EI3", dim::bendingRigidity, "Stiffness against bending about d3.").positive(),
         number("rhoA", dim::lineDensity, "Mass per length.").nonNegative().defaultsTo("0"),
         number("rhoI1", {1, 1, 0, 0}, "Rotary inertia per length about d1; rhoI2 + rhoI3 if not given.").nonNegative().optional(),
         number("rhoI2", {1, 1, 0, 0}, "Rotary inertia per length about d2.").nonNegative().defaultsTo("0"),
         number("rhoI3", {1, 1, 0, 0}, "Rotary inertia per length about d3.").nonNegative().defaultsTo("0"), damping, outline}},
       {"general",
        "Full matrices of stiffness and mass per length, order (axial, shear, shear, torsion, bending, bending); the beam needs no "
        "material.",
        {matrix("stiffness", 6, 6, dim::none, "Stiffness: N for forces, N m^2 for moments."),
         matrix("mass", 6, 6, dim::none, "Mass per length: kg/m, kg m.").optional(), damping, outline}}},
      {text("name", "Name by which beams refer to it.").optional()});
  return table;
}

const Schema& curve() {
  const Field up =
      vector3("up", dim::none, "Direction whose part normal to the beam is d3; otherwise the vertical (or y for a vertical beam).")
          .optional();
  const Field points = matrix("points", -1, 3, dim::length, "Points [[x, y, z], ...].");
  static const Schema table(
      "curve", "Reference shape of a beam, in which it is free of strain.", "type",
      {{"straight", "A straight line.", {vector3("from", dim::length, "First end."), vector3("to", dim::length, "Last end."), up}},
       {"arc",
        "A circular arc; d2 points to its centre.",
        {vector3("start", dim::length, "First end."), vector3("tangent", dim::none, "Direction in which it leaves the first end."),
         vector3("towards", dim::none, "Direction towards which it bends."), number("radius", dim::length, "Radius.").positive(),
         number("angle", dim::angle, "Angle of the arc.").positive()}},
       {"helix",
        "A helix; d2 points to its axis.",
        {vector3("centre", dim::length, "Point of the axis at the height of the first end."),
         vector3("axis", dim::none, "Direction of advance."), vector3("radial", dim::none, "Direction from the axis to the first end."),
         number("radius", dim::length, "Radius.").positive(),
         number("pitch", dim::length, "Advance in one turn; positive is right-handed, 0 a flat coil."),
         number("turns", dim::none, "Number of turns.").positive()}},
       {"polyline", "Straight legs through points, each a node of the mesh; the elements beside a corner round it.", {points, up}},
       {"spline", "A natural cubic spline through points.", {points, up}},
       {"formula",
        "Any smooth curve (x, y, z) of a parameter, which the expressions call t.",
        {timeFunction("x", dim::length, "x as an expression in t."),
         timeFunction("y", dim::length, "y as an expression in t.").defaultsTo("0"),
         timeFunction("z", dim::length, "z as an expression in t.").defaultsTo("0"),
         number("from", dim::none, "Parameter at the first end.").defaultsTo("0"),
         number("to", dim::none, "Parameter at the last end.").defaultsTo("1"), up}}});
  return table;
}

const Schema& orientation() {
  static const Schema table(
      "orientation", "An orientation, as axis and angle or by its directors.",
      {vector3("axis", dim::none, "Axis of the rotation.").optional(), number("angle", dim::angle, "Angle of the rotation.").optional(),
       matrix("directors", 3, 3, dim::none, "The directors d1, d2, d3, one a row; orthonormal and right-handed.").optional()});
  return table;
}

Field rodHold() {
  return choice("hold", {"clamped", "hinged", "pinned", "free"},
                "cosserat-rod: what of the end is held: all; the position, and the frame but for rotations about an axis; the position "
                "alone; nothing.")
      .optional();
}

Field rodHinge() { return vector3("hinge", dim::none, "hinged: the axis, in the inertial frame.").optional(); }

const Schema& rodBegin() {
  static const Schema table(
      "rod begin", "The frame at the begin of a rod; its third director is the tangent.",
      {vector3("position", dim::length, "Where it is.").defaultsTo("[0, 0, 0]"), orient("the frame"), rodHold(), rodHinge(),
       boolean("held", "It is clamped there; false leaves it to the joints of a static or dynamic analysis.").defaultsTo("true")});
  return table;
}

const Schema& rodEnd() {
  static const Schema table("rod end", "What holds the end of a rod; free without either.",
                            {vector3("position", dim::length, "Where it is held.").optional(),
                             any("orientation", std::string("Orientation in which its frame is held: ") + orientationHelp + ".").optional(),
                             rodHold(), rodHinge()});
  return table;
}

const Schema& rodCorner() {
  static const Schema table("rod corner", "A place where the frame of the unstrained rod turns at once.",
                            {number("at", dim::length, "Arclength of the vertex.").positive(),
                             any("turn", std::string("From the frame before to the frame after: ") + orientationHelp + ".")});
  return table;
}

const Schema& rodForce() {
  static const Schema table("rod force", "A dead force at a vertex.",
                            {number("at", dim::length, "Arclength of the vertex.").nonNegative(),
                             vector3("force", dim::force, "Components in the inertial frame.")});
  return table;
}

const Schema& rod() {
  static const Schema table(
      "rod",
      "A rod. For rod-equilibrium, its unknowns are its strains: curvatures about d1 and d2, torsion about the tangent d3, and shear and "
      "stretch "
      "where it has stiffnesses against them; for cosserat-rod, positions and frames.",
      {name("rod"),
       number("length", dim::length, "Its length.").positive(),
       numbers("stiffness", 3, dim::bendingRigidity, "[EI1, EI2, GJ], against bending about d1 and d2 and against torsion."),
       vector3("weight", dim::forcePerLength, "Its weight per length, in the inertial frame.").defaultsTo("[0, 0, 0]"),
       numbers("natural", 3, dim::curvature,
               "Its strains without load, [kappa1, kappa2, tau]; each a number or an expression in the arclength s.")
           .defaultsTo("[0, 0, 0]"),
       numbers(
           "shearing", 3, dim::force,
           "[GA1, GA2, EA], against shear along d1 and d2 and extension along d3; without it the rod does neither. cosserat-rod needs it.")
           .optional(),
       numbers("stretch", 3, dim::none, "cosserat-rod: r' in the frame without load.").optional(),
       objects("corners", rodCorner(), "cosserat-rod: its corners."),
       objects("forces", rodForce(), "cosserat-rod: forces on it, times the load factor."),
       integer("elements", "Number of elements.").positive().defaultsTo("50"),
       object("begin", rodBegin(), "Where it begins; clamped there, if not said otherwise."),
       object("end", rodEnd(), "How its end is held; free if not.").optional(),
       number("radius", dim::length, "Of the tube that pictures show and that touches others.").positive().defaultsTo("0.005"),
       number("mass", dim::lineDensity, "Its mass per length, in static and dynamic analyses.").positive().optional(),
       numbers("rotary", 3, {1, 1, 0, 0}, "[rhoI1, rhoI2, rhoJ], its rotary inertia per length; that of a round section if not given.")
           .optional(),
       number("damping_time", dim::time, "Kelvin-Voigt damping: moment = time * stiffness * strain rate, in dynamic analyses.")
           .nonNegative()
           .defaultsTo("0"),
       numbers("initial", 3, dim::curvature, "Strains in which a static or dynamic analysis starts; those without load if not given.")
           .optional(),
       vector3("velocity", dim::velocity, "Initial velocity of its begin, in the inertial frame.").defaultsTo("[0, 0, 0]"),
       vector3("angular_velocity", dim::angularVelocity, "Initial angular velocity of the whole rod about its begin.")
           .defaultsTo("[0, 0, 0]"),
       surface(),
       number("contact_radius", dim::length, "Radius with which it touches; `radius` if not given.").positive().optional()});
  return table;
}

const Schema& air() {
  static const Schema table("air", "Air about a sheet, which resists motion along its normal: 1/2 density v^2 per area.",
                            {number("density", dim::density, "Of the air, times its coefficient of drag.").positive(),
                             vector3("wind", dim::velocity, "Its velocity, in the inertial frame.").defaultsTo("[0, 0, 0]"),
                             timeFunction("gusts", dim::none, "Factor of the wind as a function of t.").optional()});
  return table;
}

const Schema& clothoidShape() {
  static const Schema table("clothoid shape", "Curvatures (beta (s1 + alpha s2) + gamma) [1 alpha; alpha alpha^2] at the point (s1, s2).",
                            {number("alpha", dim::none, "Tangent of the angle from e1 to the direction in which it bends.").defaultsTo("0"),
                             number("beta", {-2, 0, 0, 0}, "Growth of the curvature b11 along e1.").defaultsTo("0"),
                             number("gamma", dim::curvature, "Curvature b11 at the held point.").defaultsTo("0")});
  return table;
}

const Schema& conicalShape() {
  static const Schema table(
      "conical shape", "How much a sheet bends, in which direction, and how much its rulings turn: of a circular cone, or a ruled sheet.",
      {number("kappa", dim::curvature, "Curvature at the held point."),
       number("phi", dim::angle, "Angle from e1 to the direction in which it bends there.").defaultsTo("0"),
       number("epsilon", dim::curvature,
              "One over the distance of the apex, or edge of regression, on the ruling through the held point, towards (sin phi, -cos "
              "phi).")
           .defaultsTo("0")});
  return table;
}

const Schema& shell() {
  static const Schema table(
      "shell", "A rectangular sheet that bends without stretching: it is a developable surface.", "form",
      {{"uniform",
        "A circular cylinder with uniform curvatures [b11, b22, b12], b11 b22 = b12^2.",
        {numbers("natural", 3, dim::curvature, "Curvatures without load.").defaultsTo("[0, 0, 0]"),
         numbers("initial", 3, dim::curvature, "Curvatures at the start; those without load if not given.").optional(),
         numbers("rates", 3, {-1, 0, -1, 0}, "Their rates at the start.").defaultsTo("[0, 0, 0]")}},
       {"clothoid",
        "A cylinder whose section is a clothoid.",
        {object("natural", clothoidShape(), "Its shape without load."),
         object("initial", clothoidShape(), "Its shape at the start; that without load if not given.").optional()}},
       {"cone",
        "A circular cone.",
        {object("natural", conicalShape(), "Its shape without load."),
         object("initial", conicalShape(), "Its shape at the start; that without load if not given.").optional()}},
       {"ruled",
        "Any developable sheet: on the line through the held point along the direction phi in which it bends, at the distance x, the "
        "curvature kappa (1 + bend x + bend2 x^2), and rulings that turn to the tangent -epsilon (x + fan x^2 + fan2 x^3).",
        {number("bend", dim::curvature, "Growth of the curvature along the line.").defaultsTo("0"),
         number("bend2", {-2, 0, 0, 0}, "Of the second order.").defaultsTo("0"),
         number("fan", dim::curvature, "Growth of the turning of rulings along the line; 0 is a cone of any section.").defaultsTo("0"),
         number("fan2", {-2, 0, 0, 0}, "Of the second order.").defaultsTo("0"),
         object("natural", conicalShape(), "Its shape without load."),
         object("initial", conicalShape(), "Its shape at the start; that without load if not given.").optional()}},
       {"strip",
        "A ribbon of conical patches between rulings, which turn as it bends and twists. Its ends are rulings. It is held at the middle of "
        "the first, which is its `position`.",
        {integer("patches", "Number of patches along e1.").positive().defaultsTo("20"),
         numbers("natural", 3, dim::curvature,
                 "Curvatures [b11, b22, b12] without load, b11 b22 = b12^2; each a number or an expression in s, the place along e1.")
             .defaultsTo("[0, 0, 0]"),
         any("bend", "How much it bends across the rulings at the start, angle per length: a number or an expression in s; b11 + b22 "
                     "without load if not given.")
             .optional(),
         any("rulings", "Slopes of the rulings at the start, along (slope, 1) in the flat strip: a number or an expression in s, 0 at both "
                        "ends.")
             .defaultsTo("0"),
         boolean("turns", "Whether the rulings turn; false leaves them where they are, as in a strip that bends in its plane alone.")
             .defaultsTo("true")}}},
      {name("shell"), repeat(), number("length", dim::length, "Its side along e1 of the flat sheet.").positive(),
       number("width", dim::length, "Its side along e2.").positive(), number("thickness", dim::length, "Its thickness.").positive(),
       any("material", "Material: a name of `materials`, or its keys in place."),
       numbers("clamp", 2, dim::length, "The point from which it is reckoned and at which it is held, from the corner of the flat sheet.")
           .defaultsTo("[0, 0]"),
       boolean("held", "Whether it is held there; false leaves it free, or to joints.").defaultsTo("true"),
       vector3("position", dim::length, "Where that point is.").defaultsTo("[0, 0, 0]"),
       orient("the sheet there; e3 is its normal, towards which positive curvatures bend"),
       vector3("velocity", dim::velocity, "Initial velocity of that point, in the inertial frame.").defaultsTo("[0, 0, 0]"),
       vector3("angular_velocity", dim::angularVelocity, "Initial angular velocity of the sheet there, in the inertial frame.")
           .defaultsTo("[0, 0, 0]"),
       object("air", air(), "Air about it; none if not given.").optional(), surface(),
       integer("contact_points", "Points along each side, small balls of its thickness, with which it touches others.")
           .positive()
           .defaultsTo("3")},
      "uniform");
  return table;
}

const Schema& beam() {
  static const Schema table(
      "beam", "A geometrically exact beam: a cable, rod, hose or spring wire.",
      {name("beam"), repeat(), object("curve", curve(), "Reference shape."),
       any("section", "Cross-section: a name of `sections`, or its keys in place."),
       any("material", "Material: a name of `materials`, or its keys in place.").optional(),
       integer("elements", "Number of elements.").positive().defaultsTo("10"),
       choice("model", {"simo-reissner", "kirchhoff-love", "inextensible", "SR", "KL", "IK"},
              "simo-reissner (SR): all strains; kirchhoff-love (KL): no shear; inextensible (IK): no shear, no extension.")
           .defaultsTo("simo-reissner"),
       surface(),
       number("contact_radius", dim::length, "Radius with which it touches; that of its section if this is round.").positive().optional(),
       vector3("velocity", dim::velocity, "Initial velocity of the first end, in the inertial frame.").defaultsTo("[0, 0, 0]"),
       vector3("angular_velocity", dim::angularVelocity, "Initial angular velocity of the whole beam about its first end.")
           .defaultsTo("[0, 0, 0]"),
       object("initial", curve(), "Shape in which it starts, if strained; arclengths are scaled to its length.").optional()});
  return table;
}

namespace {

/// Shapes by kind. Those of bodies have densities; obstacles have none, but may be infinite or surround what they touch.
std::vector<Schema::Variant> shapeKinds(bool isObstacle) {
  const Field radius = number("radius", dim::length, "Radius.").positive(),
              length = number("length", dim::length, "Length along e3.").positive(),
              hollow = boolean("hollow", "What is solid is the outside, as of a ball in a round room.").defaultsTo("false"),
              density = number("density", dim::density, "Mass per volume, if the body's mass comes from its shapes.").positive().optional(),
              areaDensity =
                  number("density", dim::areaDensity, "Mass per area, if the body's mass comes from its shapes.").positive().optional();
  std::vector<Schema::Variant> solids{
      {"sphere", "A sphere.", {radius}},
      {"box", "A box.", {vector3("size", dim::length, "Edges along the axes.").positive()}},
      {"cylinder", "A cylinder.", {radius, length}},
      {"capsule", "A cylinder between two half spheres.", {radius, length}},
      {"tube",
       "A tube; in contact a full cylinder.",
       {number("outer_radius", dim::length, "Outer radius.").positive(), number("inner_radius", dim::length, "Inner radius.").positive(),
        length}},
      {"cone", "A cone, its apex along +e3.", {radius, length}},
      {"ellipsoid", "An ellipsoid.", {vector3("semi_axes", dim::length, "Semi-axes.").positive()}},
      {"mesh",
       "A solid that triangles bound. Its frame is that of the file, wherever its centre of mass is.",
       {text("file", "Wavefront OBJ or STL file, relative to the scene."),
        number("unit", dim::length, "Length that the number 1 in the file stands for.").positive().defaultsTo("1"),
        boolean("convex", "Contact with its convex hull (true) or its triangles (false); without it: as the mesh is.").optional(),
        boolean("open", "Terrain: the triangles need not bound a solid; what is solid lies below them, against their normals.")
            .defaultsTo("false")}}};
  std::vector<Schema::Variant> plane{
      {"disc", "A disc in the plane e1, e2; it touches plane shapes and half-spaces within that plane only.", {radius}},
      {"polygon",
       "A convex polygon in the plane e1, e2; it touches plane shapes and half-spaces within that plane only.",
       {matrix("points", -1, 2, dim::length, "Its corners [[x, y], ...] in their order.")}}};
  if (isObstacle) {
    solids[0].fields.push_back(hollow);
    plane[0].fields.push_back(hollow);
    solids.push_back(
        {"half-space", "All that lies below a plane.", {vector3("normal", dim::none, "Out of the solid side.").defaultsTo("[0, 0, 1]")}});
  } else {
    for (Schema::Variant& kind : solids) kind.fields.push_back(density);
    for (Schema::Variant& kind : plane) kind.fields.push_back(areaDensity);
  }
  solids.insert(solids.end(), plane.begin(), plane.end());
  return solids;
}

Field shapePosition(const std::string& of) {
  return vector3("position", dim::length, "Of the shape's origin in the frame of the " + of + ".").defaultsTo("[0, 0, 0]");
}

}

const Schema& shape() {
  static const Schema table("shape", "A simple solid, its centre of mass at its origin (but for a mesh and a polygon), its axis e3.",
                            "kind", shapeKinds(false), {shapePosition("body"), orient("the shape in the body's frame")});
  return table;
}

const Schema& obstacleShape() {
  static const Schema table("obstacle shape", "A shape that is touched; its axis is e3.", "kind", shapeKinds(true),
                            {shapePosition("obstacle"), orient("the shape in the obstacle's frame")});
  return table;
}

const Schema& body() {
  static const Schema table(
      "body",
      "A rigid body. Its inertia is given by mass and inertia, by mass and shapes (uniform density), or by shapes with densities. Of a "
      "body that moves in the plane e1, e2 only the moment about e3 matters.",
      {name("body"), repeat(), number("mass", dim::mass, "Mass.").positive().optional(),
       any("inertia",
           "Inertia about the centre of mass along the body's axes: three principal moments or a 3 x 3 matrix [kg m^2]; of a plane body "
           "its moment about e3.")
           .optional(),
       vector3("centre", dim::length, "Centre of mass in the body's frame.").defaultsTo("[0, 0, 0]"),
       objects("shapes", shape(), "Outline for contact and pictures, and source of mass and inertia if these are not given."), surface(),
       vector3("position", dim::length, "Initial position of the origin of the body's frame.").defaultsTo("[0, 0, 0]"),
       orient("the body at the start"),
       vector3("velocity", dim::velocity, "Initial velocity of that origin, in the inertial frame.").defaultsTo("[0, 0, 0]"),
       vector3("angular_velocity", dim::angularVelocity, "Initial angular velocity, in the inertial frame.").defaultsTo("[0, 0, 0]")});
  return table;
}

const Schema& motion() {
  static const Schema table("motion",
                            "A prescribed motion: a translation, and a rotation about an axis through the origin of the obstacle's frame.",
                            {any("translation", "Three functions of time, [x, y, z], in the obstacle's frame at rest.").optional(),
                             vector3("axis", dim::none, "Axis of the rotation, in the obstacle's frame.").optional(),
                             timeFunction("angle", dim::angle, "Angle as a function of time.").optional()});
  return table;
}

const Schema& obstacle() {
  static const Schema table("obstacle",
                            "Something rigid that others touch and that they do not move: a floor, a wall, a conveyor, a shaker.",
                            {name("obstacle"), repeat(), objects("shapes", obstacleShape(), "What it consists of."), surface(),
                             vector3("position", dim::length, "Position of the origin of its frame.").defaultsTo("[0, 0, 0]"),
                             orient("its frame"), object("motion", motion(), "How it moves; at rest without it.").optional()});
  return table;
}

const Schema& contact() {
  static const Schema table(
      "contact",
      "The law by which two things touch, or two that never touch. Nothing touches without a law. A law for two bodies or obstacles goes "
      "before one that names a surface, this before `all`; laws that name a pair equally narrowly must agree.",
      {name("contact"), repeat(),
       any("between", "[A, B], each a body, a beam, an obstacle, a surface or `all`; [A, A], a beam with itself; or `all` alone, with "
                      "beams among themselves.")
           .optional(),
       any("exclude", "Instead of a law: [A, B], which pass through one another (neighbours in a chain).").optional(),
       number("friction", dim::none, "Coulomb's coefficient.").nonNegative().defaultsTo("0"),
       number("restitution", dim::none, "Newton's coefficient, in [0, 1].").nonNegative().defaultsTo("0"),
       number("tangential_restitution", dim::none, "Its like for the velocity along the surfaces, in [0, 1].")
           .nonNegative()
           .defaultsTo("0"),
       number("rolling_friction", dim::length, "Moment that resists rolling over normal force.").nonNegative().defaultsTo("0"),
       number("pivoting_friction", dim::length, "Moment that resists pivoting over normal force.").nonNegative().defaultsTo("0"),
       number("cohesion", dim::force, "Force that pulls before a contact opens.").nonNegative().defaultsTo("0")});
  return table;
}

const Schema& marker() {
  static const Schema table(
      "marker", "A frame on the ground, on a body or at a section of a beam, where joints, loads and outputs can refer to.",
      {text("name", "Name by which it is referred to.").optional(), repeat(), text("on", "A beam, a body, a shell, or `ground`."),
       any("at", "Place along a beam: arclength, or start, middle, end. Of a shell: [a, b] from the corner of the flat sheet.").optional(),
       integer("node", "Node of a beam, from 0.").nonNegative().optional(),
       vector3("offset", dim::length, "Offset along the axes of the body or section; of the ground, the position.").defaultsTo("[0, 0, 0]"),
       vector3("position", dim::length, "Instead of an offset: initial position in the inertial frame.").optional(),
       orient("the marker against its body, section or the ground")});
  return table;
}

const Schema& joint() {
  const Field to = place("to", "What it is joined to").defaultsTo("ground");
  const Field position =
      vector3("position", dim::length, "Where the joint sits at the start; rigid arms lead to both sides. Without it: at `on`.").optional();
  const auto axis = [](const std::string& what) {
    return vector3("axis", dim::none, what + " at the start, in the inertial frame. Without it: the third axis of the markers.").optional();
  };
  const Field angle = timeFunction("motion", dim::angle, "Angle as a function of time.");
  const Field displacement = timeFunction("motion", dim::length, "Displacement as a function of time.");
  static const Schema table(
      "joint", "A joint between two markers.", "type",
      {{"clamp", "Holds a marker where and as it is at the start.", {}},
       {"fixed", "Welds two markers as they stand at the start.", {to, position}},
       {"revolute", "Leaves the rotation about an axis.", {to, position, axis("Axis")}},
       {"prismatic", "Leaves the translation along an axis.", {to, position, axis("Axis")}},
       {"cylindrical", "Leaves rotation about and translation along an axis.", {to, position, axis("Axis")}},
       {"spherical", "Leaves all rotations.", {to, position}},
       {"universal",
        "Leaves the rotations about an axis of `to` and an axis of `on`, which stay perpendicular.",
        {to, position, vector3("axis", dim::none, "Axis fixed to `to`, at the start, in the inertial frame."),
         vector3("second_axis", dim::none, "Axis fixed to `on`, perpendicular to the first.")}},
       {"planar", "Leaves translation in a plane of `to` and rotation about its normal.", {to, position, axis("Normal of the plane")}},
       {"screw",
        "Rotation about an axis, tied to the translation along it.",
        {to, position, axis("Axis"), number("pitch", dim::length, "Advance of `on` in one right-handed turn.")}},
       {"distance",
        "Keeps the distance of two markers: a massless rod hinged at both ends.",
        {place("to", "What it is joined to"),
         number("length", dim::length, "The distance; that at the start if not given.").positive().optional()}},
       {"driven rotation", "A revolute joint whose angle is prescribed.", {to, position, axis("Axis"), angle}},
       {"driven translation", "A prismatic joint whose displacement is prescribed.", {to, position, axis("Axis"), displacement}},
       {"angle drive",
        "Prescribes the angle about an axis alone; drives a revolute, cylindrical or planar joint.",
        {to, position, axis("Axis"), angle}},
       {"length drive", "Prescribes the displacement along an axis of `to` alone.", {to, position, axis("Axis"), displacement}},
       {"prescribed",
        "Moves a marker as prescribed: a translation and a rotation about an axis through its initial position, both in the inertial "
        "frame.",
        {any("translation", "Three functions of time, [x, y, z].").optional(), axis("Axis of the rotation"),
         timeFunction("angle", dim::angle, "Angle as a function of time.").optional()}}},
      {name("joint"), repeat(), place("on", "The marker it holds; reactions are those on this side")});
  return table;
}

const Schema& spring() {
  const Field to = place("to", "Its other end").defaultsTo("ground");
  static const Schema table(
      "spring", "A spring with a damper between two markers.", "type",
      {{"linear",
        "Along the line between two markers.",
        {place("to", "Its other end"), number("stiffness", dim::stiffness, "Force per elongation.").positive(),
         number("damping", dim::damping, "Force per rate of elongation.").nonNegative().defaultsTo("0"),
         number("length", dim::length, "Free length; that at the start if not given.").nonNegative().optional()}},
       {"torsion",
        "About an axis that a joint holds in line.",
        {to, vector3("axis", dim::none, "Axis at the start, in the inertial frame; without it: the third axis of the markers.").optional(),
         number("stiffness", dim::torsionalStiffness, "Moment per angle; 0, a damper alone.").nonNegative(),
         number("damping", {2, 1, -1, -1}, "Moment per rate of the angle.").nonNegative().defaultsTo("0"),
         number("angle", dim::angle, "Free angle; that at the start if not given.").optional()}},
       {"bushing",
        "In all six directions along the axes of the markers, free of force at the start.",
        {to, any("stiffness", "Six numbers (translations N/m, rotations N m/rad) or a 6 x 6 matrix."),
         any("damping", "Six numbers or a 6 x 6 matrix.").optional()}}},
      {name("spring"), repeat(), place("on", "One of its ends")}, "linear");
  return table;
}

const Schema& pointMass() {
  static const Schema table(
      "point mass", "A mass carried by a marker.",
      {name("mass"), repeat(), place("on", "The marker that carries it"), number("mass", dim::mass, "Mass.").positive(),
       numbers("inertia", 3, dim::inertia, "Rotational inertia about the axes of the marker.").nonNegative().defaultsTo("[0, 0, 0]")});
  return table;
}

const Schema& load() {
  static const Schema table(
      "load", "A load.", "type",
      {{"force", "A force at a marker.", {place("on", "Where it acts"), vector3("force", dim::force, "Components.")}},
       {"moment", "A moment at a marker.", {place("on", "Where it acts"), vector3("moment", dim::moment, "Components.")}},
       {"distributed",
        "Force and moment per length along a whole beam.",
        {reference("beam", "beam", "The beam."),
         vector3("force", dim::forcePerLength, "Force per reference length.").defaultsTo("[0, 0, 0]"),
         vector3("moment", dim::momentPerLength, "Moment per reference length.").defaultsTo("[0, 0, 0]")}}},
      {name("load"), repeat(), choice("direction", {"dead", "follower"}, loadDirections).defaultsTo("dead"),
       timeFunction("time", dim::none, timeHelp).optional()});
  return table;
}

const Schema& muscle() {
  static const Schema table("muscle", "A muscle after Hill, whose control is its activation, between 0 and 1.",
                            {place("to", "Its other end"), number("strength", dim::force, "Isometric force at the best length.").positive(),
                             number("length", dim::length, "The length at which it is strongest.").positive(),
                             number("speed", dim::frequency, "Its fastest shortening, in lengths per time.").positive().defaultsTo("10")});
  return table;
}

const Schema& actuator() {
  static const Schema table(
      "actuator", "One control or several, whose histories an optimal control problem looks for.",
      {text("name", "Name of the control; the joint's if not given. Joints with several freedoms have as many controls: \"NAME 1\", ...")
           .optional(),
       repeat(),
       reference("joint", "joint",
                 "The joint that it drives: revolute, prismatic, cylindrical, spherical (torques about the inertial axes).")
           .optional(),
       any("on", std::string("Instead of a joint, where a force or moment acts: ") + markerHelp + ".").optional(),
       vector3("force", dim::none, "Direction and size of the force of a unit of the control [N].").defaultsTo("[0, 0, 0]"),
       vector3("moment", dim::none, "Direction and size of the moment of a unit of the control [N m].").defaultsTo("[0, 0, 0]"),
       choice("direction", {"follower", "dead"}, loadDirections).defaultsTo("follower"),
       any("cable", "Instead of a force: the other end of a cable that pulls `on`; its control is tension per length [N/m].").optional(),
       object("muscle", muscle(), "Instead of a force: a muscle that pulls `on` and another marker towards each other.").optional(),
       any("limit", "[least, most] of the control, in N, N m or, of cables, N/m; of muscles [0, 1] if not given.").optional(),
       number("effort", dim::none, "Weight of its square in the effort.").nonNegative().defaultsTo("1")});
  return table;
}

const Schema& manoeuvreTarget() {
  static const Schema table("target", "A coordinate that a marker has at the end.",
                            {place("on", "The marker"), vector3("direction", dim::none, "Direction along which its place is given."),
                             number("value", dim::length, "Its place along the direction.")});
  return table;
}

const Schema& manoeuvreOrientation() {
  static const Schema table(
      "orientation", "An orientation that a marker has at the end.",
      {place("on", "The marker"),
       vector3("rotation", dim::angle, "Rotation vector from its initial orientation, in the inertial frame; less than half a turn.")});
  return table;
}

const Schema& pathContact() {
  static const Schema table(
      "path contact",
      "A point that stands still on what it touches for a part of a manoeuvre: a foot, a hand. Where it lands momentum jumps.",
      {text("name", "Name of the contact."), place("on", "The marker that touches"),
       integer("from", "Node at which it begins; 0 is the initial state.").nonNegative().defaultsTo("0"),
       integer("to", "Node at which it ends; the last one if not given.").positive().optional(),
       vector3("normal", dim::none, "Normal of what it touches, towards the marker.").defaultsTo("[0, 0, 1]"),
       number("height", dim::length, "Coordinate of the plane along the normal; without it where the marker is does not matter.")
           .optional(),
       any("holds", "Directions in which it is held, [[x, y, z], ...], orthonormal; all three if not given.").optional(),
       boolean("pushes", "Whether it can push alone, not pull.").defaultsTo("true"),
       number("friction", dim::none, "Friction coefficient that the force must keep to; without it there is no limit.")
           .nonNegative()
           .optional()});
  return table;
}

const Schema& guide() {
  static const Schema table(
      "guide",
      "A point that slides along a straight guide, which holds it on both sides or only supports it: contact as mechanisms have it.",
      {text("name", "Name of the guide."), place("on", "The marker whose origin is guided"),
       place("to", "Frame that carries the guide, which passes through its origin").defaultsTo("ground"),
       vector3("normal", dim::none, "Normal of the guide in that frame, towards the point where it only supports it.")
           .defaultsTo("[0, 1, 0]"),
       vector3("tangent", dim::none, "Direction along the guide in that frame.").defaultsTo("[1, 0, 0]"),
       boolean("unilateral", "Whether it only supports the point, which may leave it.").defaultsTo("false"),
       number("friction", dim::none, "Coefficient of friction; smooth if not given.").nonNegative().optional(),
       choice("sliding", {"forward", "backward"},
              "Direction in which it is assumed to slide, along the tangent or against it; that of the velocity if not given.")
           .optional()});
  return table;
}

const Schema& pathBound() {
  static const Schema table(
      "bound", "What a number of the configuration keeps to.",
      {any("on", std::string("The marker whose coordinate or distance is meant: ") + markerHelp + ".").optional(),
       vector3("direction", dim::none, "Direction along which its place is measured.").optional(),
       vector3("centre", dim::length, "Instead: the point from which its distance is measured, of an obstacle for example.").optional(),
       reference("joint", "joint", "Instead of a marker: a joint whose angle is meant.").optional(),
       any("at_least", "Least value: a length, of a joint an angle in degrees.").optional(),
       any("at_most", "Largest value; the same as the least for an equation.").optional(),
       integer("from", "First node.").nonNegative().defaultsTo("0"),
       integer("to", "Last node; that of the end if not given.").nonNegative().optional()});
  return table;
}

const Schema& manoeuvreSpeed() {
  static const Schema table(
      "speed", "A speed at the end that is to be as large as possible.",
      {place("on", "The marker"), vector3("direction", dim::none, "Direction in which it moves."),
       number("weight", dim::none, "The objective has minus this times the speed in m/s.").nonNegative().defaultsTo("1")});
  return table;
}

const Schema& costPerLength() {
  static const Schema table("length", "What the cost is divided by: how far one marker is from another.",
                            {place("on", "The marker"), place("from", "The marker that it is seen from"),
                             vector3("direction", dim::none, "Direction along which the length is measured."),
                             integer("node", "Node at which.").nonNegative()});
  return table;
}

const Schema& periodicity() {
  static const Schema table(
      "periodicity", "The end is the beginning again: the same configuration and velocities, seen from `anchors`, perhaps mirrored.",
      {vector3("mirror", dim::none, "Normal of the plane at which the end is mirrored; without it, it is not.").optional(),
       integer("axis", "With a mirror: axis of the bodies, 1 to 3, that is normal to the plane of their own symmetry.")
           .positive()
           .defaultsTo("1"),
       any("bodies", "{BODY: BODY at the end whose place it has at the beginning}; those not named have their own.").optional(),
       any("anchors", "[marker at the beginning, marker at the end] from which places are seen; without them, places in space.").optional(),
       any("controls", "{CONTROL: [CONTROL, factor]}: in the first interval so much of the one in the last.").optional()});
  return table;
}

const char* const motionsHelp =
    "{JOINT: angle or displacement, BODY: [translation, rotation vector]} from the initial configuration, angles in degrees; joints with "
    "several freedoms take a list.";

const Schema& manoeuvreEnd() {
  static const Schema table("end", "What is asked of the end of a manoeuvre.",
                            {any("joints", std::string("The final configuration: ") + motionsHelp +
                                               " What is not named is as at the start; {} is the initial configuration.")
                                 .optional(),
                             objects("targets", manoeuvreTarget(), "Coordinates of markers, instead of a whole configuration."),
                             objects("orientations", manoeuvreOrientation(), "Orientations of markers, likewise."),
                             objects("fastest", manoeuvreSpeed(), "Speeds at the end that are to be as large as possible."),
                             boolean("at_rest", "Whether it ends at rest; else its velocity is free.").defaultsTo("true")});
  return table;
}

const Schema& keyPose() {
  static const Schema table("pose", "A configuration that the first guess of a manoeuvre passes.",
                            {number("at", dim::none, "Share of the duration, between 0 and 1.").positive(), any("joints", motionsHelp)});
  return table;
}

const Schema& gravity() {
  static const Schema table(
      "gravity", "The field of gravity.",
      {vector3("acceleration", dim::acceleration, "Its components in the inertial frame.").defaultsTo("[0, 0, -9.81 m/s^2]"),
       timeFunction("time", dim::none, timeHelp).optional()});
  return table;
}

namespace {

std::vector<Field> with(std::vector<Field> fields, const std::vector<Field>& more) {
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

}

const Schema& analysis() {
  const Field force =
      number(
          "tolerance", dim::none,
          "Residual forces relative to the mean force of an element; variational, energy-momentum: of momenta relative to those that meet "
          "at a node, 1e-13 if not given, never below rounding.")
          .positive()
          .defaultsTo("1e-8");
  const Field constraint =
      number("constraint_tolerance", dim::none, "Violation of constraints: lengths over the size of the model, angles in radians.")
          .positive()
          .defaultsTo("1e-10");
  const Field iterations =
      integer("max_iterations", "Newton iterations before a step is cut; moreau: limit of the contact solver.").positive().optional();
  const std::vector<Field> ofBeamContact{
      choice("contact_method", {"mortar", "collocation"},
             "Contact of beams. mortar: weighted means around the nodes of one beam; collocation: points on it.")
          .defaultsTo("mortar"),
      integer("contact_points", "Contact of beams: points on an element (collocation), or Gauss points on a part of one (mortar).")
          .positive()
          .optional(),
      choice("contact_projection", {"closest-point", "section-plane"}, "Contact of beams: which place on the other beam faces a section.")
          .defaultsTo("closest-point"),
      boolean("contact_tangent", "Contact of beams: all derivatives of the contact forces take part in Newton's method.")
          .defaultsTo("true"),
      choice(
          "contact_solver", {"automatic", "newton", "dual"},
          "Contact of beams. newton: semismooth, on all unknowns at once; dual: a friction problem in every iteration; automatic: newton, "
          "and dual where that fails.")
          .defaultsTo("automatic"),
      number("contact_tolerance", dim::none, "Contact of beams: gaps and slips that count as zero, over the size of what touches.")
          .positive()
          .defaultsTo("1e-9"),
      number("contact_weight", dim::none, "Contact of beams: factor of the weight that joins forces and gaps; moves no solution.")
          .positive()
          .defaultsTo("1")};
  static const Schema table(
      "analysis", "What is computed.", "type",
      {{"static",
        "Equilibria under loads that grow with the load parameter t.",
        {choice(
             "method", {"load-stepping", "arc-length", "minimum-energy"},
             "load-stepping: t from 0 to 1; arc-length: along the path, through limit points; minimum-energy: t from 0 to 1 through minima "
             "of the energy, from far and through flat sheets, for forces with a potential.")
             .defaultsTo("load-stepping"),
         integer("steps",
                 "load-stepping: number of steps (the first ones; easy steps grow if adaptive). arc-length: greatest number of steps. "
                 "minimum-energy: number of steps, 1 if not given.")
             .positive()
             .optional(),
         boolean("adaptive", "load-stepping: let easy steps grow.").optional(),
         number("first_step", dim::none, "First step of the load parameter.").positive().optional(),
         number("largest_step", dim::none, "Largest step: load-stepping, of the load parameter; arc-length, as a multiple of the first.")
             .positive()
             .optional(),
         number("smallest_step", dim::none, "Step below which the analysis gives up, in the same terms.").positive().optional(),
         number("lowest", dim::none, "arc-length: the path ends below this load parameter.").optional(),
         number("highest", dim::none, "arc-length: the path ends above this load parameter.").optional(),
         boolean("stability", "Count the unstable directions of each equilibrium; not with contact.").defaultsTo("true"),
         boolean("project_initial", "With contact: the first step takes out overlap at the start; otherwise it is refused.")
             .defaultsTo("false"),
         iterations, force, constraint}},
       {"dynamic",
        "Motion in time.",
        {choice("method", {"generalized-alpha", "nonsmooth-alpha", "moreau", "event-driven", "sweeping", "variational", "energy-momentum"},
                "generalized-alpha: smooth motions, on the Lie group. nonsmooth-alpha: the same with contact, impact and friction, held in "
                "positions and velocities; the one for beams. moreau: contact, impact and friction by Moreau's time-stepping. "
                "event-driven: the same for few contacts of free bodies, each event located. sweeping: bodies without inertia, pushed by "
                "moving obstacles. variational: motions for long times, momenta exact and energy without drift, with contact in "
                "director coordinates. energy-momentum: the same with energy and momenta exact while nothing touches. Without it: "
                "variational in director coordinates; nonsmooth-alpha if beams touch, moreau "
                "if the scene has other contacts, else "
                "generalized-alpha.")
             .optional(),
         number("duration", dim::time, "Time to simulate.").positive(),
         number("step", dim::time, "Time step; the first one if errors are controlled.").positive(),
         choice("monitor", {"solvability"},
                "What is watched in every step. solvability: whether the forces of sliding contacts exist and are unique.")
             .optional(),
         choice("on_loss", {"continue", "stop", "regularise"},
                "monitor: what happens where they are not. continue: it is reported, and time-stepping takes an impulse that jams. stop: "
                "the run fails. regularise: the contacts at risk give way along their tangents from there on; moreau.")
             .defaultsTo("continue"),
         number("compliance", Dimension{0, -1, 2, 0}, "regularise: tangential displacement per force.").positive().optional(),
         number("relaxation", dim::time, "regularise: of the dashpot beside the spring; 0: the spring gives back all that it took.")
             .nonNegative()
             .optional(),
         choice(
             "coordinates", {"pose", "directors"},
             "pose: blocks move in SE(3). directors: positions and directors as points of a linear space, with constraints between them; "
             "for variational (where it is the usual choice) and energy-momentum.")
             .optional(),
         choice("elimination", {"multiplier", "null-space", "reduced"},
                "directors: how constraints are met in a step. multiplier: by their forces. null-space: forces eliminated. reduced: "
                "unknowns are the increments of the joints and free bodies alone. The path is the same.")
             .defaultsTo("reduced"),
         choice("quadrature", {"midpoint", "trapezoidal"}, "variational in directors: where an interval takes the potential.")
             .defaultsTo("midpoint"),
         any("steps", "directors: prescribed sizes of the steps, [h1, h2, ...], the last one repeated; instead of equal ones.").optional(),
         number("adaptation", dim::none, "variational in directors: how much the step follows the changes of the motion; 0 keeps it.")
             .nonNegative()
             .defaultsTo("0"),
         number("rho_infinity", dim::none, "Spectral radius at infinite frequency, in [0, 1); less dissipates more.")
             .nonNegative()
             .defaultsTo("0.9"),
         number("error_tolerance", dim::none,
                "Largest local error: positions over the size of the model, angles in radians; 0 keeps the step.")
             .nonNegative()
             .defaultsTo("0"),
         number("largest_step", dim::time, "Longest step under error control.").positive().optional(),
         number("smallest_step", dim::time, "Step below which the analysis gives up; 1e-7 of the first if not given.")
             .positive()
             .optional(),
         number("event_tolerance", dim::none, "event-driven: to which events are located, relative to the time in which a motion changes.")
             .positive()
             .defaultsTo("1e-10"),
         integer("max_events", "event-driven: number of events beyond which the analysis gives up.").positive().defaultsTo("100000"),
         number("overlap_tolerance", dim::none, "sweeping: overlap left after a step, relative to the smallest shape.")
             .positive()
             .defaultsTo("1e-12"),
         number("theta", dim::none, "moreau: weight of the end of the step, in [0.5, 1]; 0.5 is the midpoint scheme.")
             .positive()
             .defaultsTo("0.5"),
         choice("solver", frictionMethodWords(),
                "moreau, directors: how the contact problem is solved. automatic: a cascade that chooses by the contacts. The same names "
                "as in `tendril "
                "contact --solver`; auto and proximal are short for automatic and proximal-newton.")
             .defaultsTo("automatic"),
         number("friction_tolerance", dim::none,
                "moreau, directors: residual of the contact problem, relative to the velocities without contact.")
             .positive()
             .defaultsTo("1e-8"),
         boolean("project", "moreau: take out the overlap after each step by moving the bodies, velocities untouched.").defaultsTo("true"),
         boolean("project_initial", "With contact: take out overlap at the start; otherwise it is refused.").defaultsTo("false"),
         choice("contact_level", {"position-velocity", "velocity"},
                "nonsmooth-alpha: contact holds in positions and velocities, or, by the scheme of Moreau and Jean, in velocities alone.")
             .defaultsTo("position-velocity"),
         boolean("sleeping", "moreau: leave out bodies at rest until something touches or drives them.").defaultsTo("false"),
         integer("threads", "moreau, directors: threads that solve separate groups of contacts; the result does not depend on it.")
             .positive()
             .defaultsTo("1"),
         any("dump",
             "moreau, directors: steps whose contact problem is written to the folder `friction` of the results: [1, 20], or `all`.")
             .optional(),
         iterations,
         force,
         constraint}},
       {"rod-equilibrium",
        "Stable equilibria of a rod: minima of its energy between its supports, certified by the second variation.",
        {choice("method", {"ms-exp1", "ms-cay1", "ms-cay2", "ss-exp1", "ss-cay1", "ss-cay2"},
                "ms: strains and frames of all nodes are unknowns, effort linear in the elements; ss: strains alone. exp1, cay1: constant "
                "strains, pieces of helices or steps of the Cayley map; cay2: linear strains.")
             .defaultsTo("ms-exp1"),
         choice("weight", {"trapezoid", "left-rectangle"}, "Where the weight of an element acts: at both ends, or at its begin.")
             .defaultsTo("trapezoid"),
         integer("steps", "Quasi-static steps, each from the equilibrium before.").positive().defaultsTo("1"),
         choice("grows", {"nothing", "natural", "weight"}, "What grows from zero, in proportion to the load parameter, over the steps.")
             .defaultsTo("nothing"),
         numbers("start", 3, dim::curvature, "Strains of the first guess, the same all along; the natural ones if not given.").optional(),
         boolean("follows_twist", "The bend of the first guess keeps its direction in space while the frame turns.").defaultsTo("false"),
         number("spread", dim::curvature, "Random strains up to so much are added to the first guess.").nonNegative().defaultsTo("0"),
         integer("seed", "Of the random numbers.").nonNegative().defaultsTo("1"),
         number("optimality", dim::none, "Residual of the conditions of optimality, in natural units.").positive().defaultsTo("1e-10"),
         integer("max_iterations", "Iterations after which the solver gives up.").positive().defaultsTo("500")}},
       {"cosserat-rod",
        "Equilibria of a discrete Cosserat rod: stable ones at load factors that grow to 1, or the path of all through limit points.",
        {choice("model", {"edge", "vertex"}, "Where the frames are: at edges, with curvatures at vertices; or at vertices.")
             .defaultsTo("edge"),
         choice("method", {"load-stepping", "arc-length"}, "Minima of the energy, load by load; or the path with the load as an unknown.")
             .defaultsTo("load-stepping"),
         choice("start", {"unstrained", "between-ends"},
                "First guess: the unstrained rod; or a cubic from end to end along their third directors, twisted evenly.")
             .defaultsTo("unstrained"),
         choice(
             "corner", {"A", "B"},
             "How a corner enters the strain: A, as a natural curvature (edge model), which stiffens it; B, taken away before the strain "
             "is measured.")
             .defaultsTo("B"),
         integer("steps", "Load steps, 1 if not given; arc-length: most steps of the path, 200 if not given.").positive().optional(),
         number("first_step", dim::none, "arc-length: of the load factor.").positive().optional(),
         number("largest_step", dim::none, "arc-length: how far the step of arclength may grow, times the first.").positive().optional(),
         number("lowest", dim::none, "arc-length: load factor below which the path ends.").optional(),
         number("highest", dim::none, "arc-length: load factor above which the path ends.").optional(),
         integer("max_iterations", "Iterations after which the solver gives up.").positive().defaultsTo("500")}},
       {"solvability",
        "Whether accelerations and contact forces exist and are unique at the initial state, and up to which friction: nothing moves.",
        {objects("guides", guide(), "Points that slide along straight guides."),
         boolean("project_initial", "Move an initial state that violates joints or guides onto them; without it, it is refused.")
             .defaultsTo("false")}},
       {"elastica",
        "A mode of a rod in the plane of x and y of its first frame, clamped at both ends, which move together; the rod's stiffness scales "
        "it alone.",
        {number("compression", dim::none, "Share of the length by which the ends move together, between 0 and 1.").positive(),
         integer("mode", "Number of the mode, from 1; those above are unstable.").positive().defaultsTo("1")}},
       {"rod-path",
        "Equilibria of a rod, stable or not, along a path in a parameter, through folds, and the branches that begin at its branch points: "
        "first the path itself, then both halves of each branch.",
        {choice(
             "parameter", {"distance", "rotation", "weight", "natural"},
             "What changes: the distance between begin and end along the line between them; the turn of the end about its tangent, on top "
             "of its orientation; a factor of `weight`, or of `natural`."),
         any("from", "Value of the parameter at the begin of the path."),
         any("to", "The path and its branches end where they leave the interval from `from` to this."),
         integer("branch_points", "The path ends when it has passed so many; one that ends before is a failure.")
             .nonNegative()
             .defaultsTo("1"),
         boolean("branches", "Whether branches are followed.").defaultsTo("true"),
         number("step", dim::none,
                "First step along the path: change of L u in the mean square, of forces over those of the first buckling, of "
                "the parameter over its interval.")
             .positive()
             .defaultsTo("0.2"),
         number("largest_step", dim::none, "Largest step along the path.").positive().defaultsTo("0.5"),
         integer("max_points", "Points of a branch at most.").positive().defaultsTo("500"),
         numbers("start", 3, dim::curvature, "Strains of the first guess, the same all along; the natural ones if not given.").optional()}},
       {"rod-contact",
        "Stable equilibria of a rod that touches itself and obstacles without friction, as `contacts` say, while a parameter changes: each "
        "from the one before, by ways on which nothing passes through anything.",
        {choice("parameter", {"distance", "rotation", "weight", "natural"},
                "What changes: the distance between begin and end along the line between them; the turn of the end about its tangent, on "
                "top of its orientation; a factor of `weight`, or of `natural`."),
         any("from", "Value of the parameter at the begin; the rod is led there from its start."), any("to", "Its value at the end."),
         integer("steps", "Steps from one to the other.").positive().defaultsTo("100"),
         choice("method", {"newton", "flow"},
                "Down the energy with second derivatives; or by the constrained gradient flow with explicit steps, to compare.")
             .defaultsTo("newton"),
         numbers("start", 3, dim::curvature, "Strains of the start, the same all along; the natural ones if not given.").optional(),
         number("spread", dim::curvature, "Random strains up to so much are added to the start.").nonNegative().defaultsTo("0"),
         integer("seed", "Of the random numbers.").nonNegative().defaultsTo("1"),
         number("optimality", dim::none, "Residual of the conditions of optimality, in natural units.").positive().defaultsTo("1e-8"),
         integer("max_iterations", "Iterations after which the solver gives up.").positive().defaultsTo("2000")}},
       {"reconstruction",
        "The curve of a rod with its natural strains, by Runge-Kutta-Munthe-Kaas methods with one step per element.",
        {choice("method", {"rkmk1", "rkmk2", "rkmk4"}, "The method, of order 1, 2 or 4.").defaultsTo("rkmk4"),
         choice("map", {"exp", "cayley"}, "From the algebra to the group.").defaultsTo("exp")}},
       {"identification",
        "The natural strains of a rod, from measured points of its centreline in equilibrium under its weight, by least squares.",
        {text("file", "CSV file of points from the begin to the end: columns x, y, z in metres; its path is relative to the scene."),
         integer("groups", "Pieces of equal length with natural strains of their own.").positive().defaultsTo("1"),
         number("smoothness", dim::none,
                "Weight of the mean square of the jumps between groups, times the length, against that of the misfits "
                "over the length.")
             .nonNegative()
             .defaultsTo("0"),
         numbers("guess", 3, dim::curvature, "Natural strains to begin with; from the points if not given.").optional(),
         integer("max_iterations", "Iterations after which the solver gives up.").positive().defaultsTo("100")}},
       {"packed-ring",
        "A rod that is closed to a ring and packed into a disc, in the plane of x and y of its first frame, by the least energy that "
        "random "
        "first guesses lead to; the rod's stiffness scales it alone.",
        {number("radius", dim::none, "Radius of the disc over the length of the ring.").positive(),
         integer("index", "Turns of the tangent: 1, a circle that is folded inwards; 0, a figure eight.").nonNegative().defaultsTo("1"),
         integer("starts", "Number of first guesses.").positive().defaultsTo("10"),
         integer("seed", "Of the random numbers.").nonNegative().defaultsTo("1")}},
       {"shell-shape", "The shape of shells with their initial curvatures, as it is.", {}},
       {"shell-equilibrium", "The stable equilibrium of shells under gravity, from their initial shape.", {}},
       {"shell-motion",
        "The motion of shells by the classical Runge-Kutta method of order 4, in curvatures of their own.",
        {number("duration", dim::time, "Time to simulate.").positive(), number("step", dim::time, "Time step.").positive(),
         choice("chart", {"cone", "three"},
                "cone: the curvature and its direction, free of constraints; three: the curvatures b11, b22, b12 with b11 b22 = b12^2 as a "
                "constraint, stabilised after Baumgarte.")
             .defaultsTo("cone"),
         number("alpha", dim::frequency, "three, and it alone: Baumgarte's constants, c'' + 2 alpha c' + beta^2 c = 0.")
             .nonNegative()
             .defaultsTo("10 Hz"),
         number("beta", dim::frequency, "three, and it alone: the other one.").nonNegative().defaultsTo("10 Hz"),
         boolean("project_initial", "Initial curvatures and rates that no sheet can have are replaced by the nearest; otherwise they are "
                                    "refused.")
             .defaultsTo("false"),
         number("alarm", dim::none, "Change of the energy without damping, relative to the energies that meet, that ends the run.")
             .positive()
             .defaultsTo("1e-3")}},
       {"optimal-control",
        "The motion that joins two states at least cost, by discrete mechanics in director coordinates: of the controls of `actuators`, "
        "constant in each interval, those with the least sum of effort and weighted time. It begins in the initial state.",
        {choice("method", {"dmocc", "multipliers", "dmoc", "collocation-qp", "collocation-qv"},
                "What the motion is made of: directors, for every scene; the same with forces of constraints as variables; or coordinates "
                "of joints, for trees of hinges and slides, with the "
                "same discrete mechanics or the midpoint rule for momenta or rates, to compare with.")
             .defaultsTo("dmocc"),
         choice("solver", {"interior-point", "ipopt"},
                "What solves the program: stage by stage; or Ipopt, to compare with, not for dmocc (multipliers has the same solutions).")
             .defaultsTo("interior-point"),
         integer("intervals", "Number of intervals.").positive(),
         any("duration", "Time of the motion; or {guess: T, at_least: T1, at_most: T2} where it is free."),
         choice("quadrature", {"midpoint", "trapezoidal"}, "Where an interval takes the potential.").defaultsTo("midpoint"),
         number("effort", dim::none, "Weight of the integral of the squares of all controls.").nonNegative().defaultsTo("1"),
         choice("effort_law", {"squares", "norm"}, "Whether the effort is the integral of the sum of squares, or of its root.")
             .defaultsTo("squares"),
         any("softening",
             "norm: added to the sum of squares, squared, so that the root is smooth near zero, in the unit of the first control.")
             .defaultsTo("1e-3"),
         number("time_weight", dim::none, "Weight of the duration, where it is free.").nonNegative().defaultsTo("0"),
         object("cost_per", costPerLength(), "A length that the cost is divided by.").optional(),
         choice("begin", {"given", "free"}, "Whether the motion begins in the initial state, or that is a first guess.")
             .defaultsTo("given"),
         objects("contacts", pathContact(), "Points that stand still for a part of the motion."),
         objects("bounds", pathBound(), "Bounds on places, distances and joint angles."),
         object("periodic", periodicity(), "The end is the beginning again.").optional(),
         object("end", manoeuvreEnd(), "The end of the motion."),
         objects("guess", keyPose(), "Configurations that the first guess passes; without any it goes straight to the end."),
         integer("starts", "First guesses to try; all but the first with key poses disturbed at random. The best solution stays.")
             .positive()
             .defaultsTo("1"),
         integer("seed", "Of the random numbers.").nonNegative().defaultsTo("1"),
         number("spread", dim::angle,
                "How far key poses are disturbed: up to this angle, displacements by as many sizes of the model per half turn.")
             .positive()
             .defaultsTo("90"),
         integer("refine", "How often the number of intervals is doubled, each time from the solution before.")
             .nonNegative()
             .defaultsTo("0"),
         number("max_turn", dim::angle, "Largest rotation of a body in an interval, less than 90 degrees.").positive().optional(),
         number("optimality", dim::none, "Residual of the conditions of optimality, scaled.").positive().defaultsTo("1e-10"),
         integer("max_iterations", "Iterations after which the solver gives up.").positive().defaultsTo("1000")}}},
      with(ofBeamContact, {integer("output_every", "Results are recorded every so many steps.").positive().defaultsTo("1")}));
  return table;
}

const Schema& output() {
  const Field on = place("on", "The marker");
  const Field frame = choice("frame", {"inertial", "marker"}, "Axes of the components.").defaultsTo("inertial");
  const std::vector<Field> ofBeam{
      reference("beam", "beam", "The beam."),
      any("at", "Place: arclength, or start, middle, end; beams have constant strain in an element.").optional(),
      integer("element", "Instead of a place: the element, from 0.").nonNegative().optional()};
  const std::vector<Field> beamOnly{reference("beam", "beam", "The beam.")}, ofJoint{reference("joint", "joint", "The joint.")};
  const std::vector<Field> ofPair{any("between", "[A, B], bodies, beams or obstacles, B also `all`. What has a direction is that on A.")},
      ofPairOrAll{any("between", "[A, B], bodies, beams or obstacles, B also `all`; or `all` alone.").defaultsTo("all")};
  static const Schema table(
      "output", "A quantity to be measured: its values over the steps and a result.", "measure",
      {{"position", "Position of a marker.", {on}},
       {"rotation", "Rotation vector of a marker against its initial orientation, in the inertial frame [rad].", {on}},
       {"frame", "Position and directors of a marker: 12 numbers.", {on}},
       {"velocity", "Velocity of a marker.", {on, frame}},
       {"angular velocity", "Angular velocity of a marker.", {on, frame}},
       {"acceleration", "Acceleration of a marker.", {on, frame}},
       {"section force", "Normal and shear forces, in the section frame, on the side of smaller arclength.", ofBeam},
       {"section moment", "Torsion and bending moments, in the section frame, on the side of smaller arclength.", ofBeam},
       {"strain", "Elongation and shear strains.", ofBeam},
       {"curvature", "Change of torsion and curvatures.", ofBeam},
       {"length", "Length of the centreline of a beam.", beamOnly},
       {"elongation", "Length of the centreline less its reference length.", beamOnly},
       {"frenet torsion", "Integral of the modulus of the Frenet torsion along a beam: zero for a plane curve.", beamOnly},
       {"reaction force", "Force of a joint on its `on` side, in the inertial frame.", ofJoint},
       {"reaction moment", "Moment of a joint on its `on` side, at the joint, in the inertial frame.", ofJoint},
       {"joint angle", "Angle about the axis of a joint [rad].", ofJoint},
       {"joint displacement", "Position of the `on` side in the joint frame of the `to` side.", ofJoint},
       {"kinetic energy", "Kinetic energy.", {}},
       {"elastic energy", "Elastic energy.", {}},
       {"gravitational energy", "Potential energy of gravity, zero at the inertial origin.", {}},
       {"energy", "Total energy.", {}},
       {"power", "Power of loads, drives and dampers.", {}},
       {"energy balance", "Total energy less its initial value and the work done, by the trapezoidal rule over the steps.", {}},
       {"momentum", "Linear momentum.", {}},
       {"angular momentum", "Angular momentum about the inertial origin.", {}},
       {"constraint violation", "Largest violation of constraints: lengths [m], angles [rad].", {}},
       {"time", "Time.", {}},
       {"load parameter", "Load parameter of statics.", {}},
       {"step size", "Size of the step.", {}},
       {"iterations", "Iterations of Newton's method in the step.", {}},
       {"discrete energy", "Directors: energy of the interval that begins at the present node.", {}},
       {"hamiltonian", "Directors: energy of the present node, with the momentum that the constraints let through.", {}},
       {"full hamiltonian", "Directors: energy of the present node, with all of the discrete momentum.", {}},
       {"discrete velocity", "Directors: displacement of a marker in the interval over the step.", {on}},
       {"discrete speed", "Directors: norm of the rates of all coordinates in the interval.", {}},
       {"closure", "Directors: largest constraint, internal ones included.", {}},
       {"hidden constraint", "Directors: largest rate of a constraint along the discrete momentum.", {}},
       {"largest turn", "Directors: largest relative rotation in the interval.", {}},
       {"condition number", "Directors: condition number of the matrix of a step, as it stands.", {}},
       {"scaled condition number", "Directors: the same with rows and unknowns scaled.", {}},
       {"unknowns", "Directors: number of unknowns of a step.", {}},
       {"friction bound",
        "Solvability: coefficient of friction below which forces exist and are unique for every load, by singular values; of mixed "
        "contact by beta_2.",
        {}},
       {"sharp friction bound", "Solvability: the same, sharpened by scaling.", {}},
       {"exact friction bound", "Solvability: coefficient at which uniqueness for every load ends; up to 10 contacts.", {}},
       {"beta2", "Solvability: of mixed contact, the distance from losing uniqueness.", {}},
       {"friction margin", "Solvability: factor by which the coefficients given may grow before uniqueness is no longer certain.", {}},
       {"solutions", "Solvability: number of solutions for the loads given, up to 12 contacts.", {}},
       {"unique", "Solvability: 1 if the loads given have exactly one solution, else 0.", {}},
       {"unique for every load", "Solvability: 1 if every load has exactly one solution, else 0.", {}},
       {"degrees of freedom", "Solvability: velocities that joints and guides leave free.", {}},
       {"redundant equations", "Solvability: equations of joints and guides that follow from others.", {}},
       {"free motions", "Solvability: motions that neither inertia nor constraints hold.", {}},
       {"guide force", "Solvability: normal force of a guide on its point.", {text("guide", "Name of the guide.")}},
       {"index", "Packed ring: turns of the tangent.", {}},
       {"max_radius", "Packed ring: largest distance of a node from the centre over the length.", {}},
       {"largest pressure", "Packed ring: largest force of the disc on a node, scaled.", {}},
       {"least pressure", "Packed ring: least force of the disc on a node, scaled; not negative.", {}},
       {"complementarity", "Packed ring: largest product of a multiplier of the disc and what is left to it.", {}},
       {"asymmetry", "Packed ring: difference of the curvatures from those of the mirror image, over the largest one.", {}},
       {"kappa0", "Elastica: curvature at the begin, times half of the length.", {}},
       {"force", "Elastica: compression, times the square of half of the length over EI.", {}},
       {"shear force", "Elastica: force across, scaled likewise.", {}},
       {"y_max", "Elastica: largest height over half of the length.", {}},
       {"unstable directions",
        "Elastica: directions in the plane in which the energy falls to second order; paths of rods, Cosserat rods: all directions that "
        "the supports allow.",
        {}},
       {"force map", "Cosserat rod: force in the first edge, constant along a rod without loads.", {}},
       {"moment map", "Cosserat rod: moment about the inertial origin of what its first edge transmits, constant likewise.", {}},
       {"isotropy map", "Cosserat rod: moment about the third director, constant along a straight rod of isotropic section.", {}},
       {"map defect", "Cosserat rod: largest change of force or moment map at a vertex beyond the load there, relative.", {}},
       {"unstable out of plane", "Elastica: directions out of the plane in which the energy falls to second order, ends held.", {}},
       {"parameter", "Paths of rods, rods in contact: the parameter, in its SI unit.", {}},
       {"writhe", "Rods in contact: of the centreline, which goes on straight at both ends.", {}},
       {"twist jump", "Rods in contact: change of `turns` in the step.", {}},
       {"contact places", "Rods in contact: places that carry a force; those side by side are one.", {}},
       {"largest contact force", "Rods in contact: of a single pair of elements, or of an element and an obstacle.", {}},
       {"least gap", "Rods in contact: smallest distance of the surfaces, at most half a radius of the rod.", {}},
       {"residual", "Rods in contact: of the conditions of optimality, in natural units.", {}},
       {"branch", "Paths of rods: 0 the first path, 2 k - 1 and 2 k the two halves of the branch at the k-th branch point.", {}},
       {"is end", "Paths of rods: 1 at the last point of a branch, else 0.", {}},
       {"branch parameters", "Paths of rods: the parameter at each branch point.", {}},
       {"branch forces", "Paths of rods: size of the force of the support on the end at each branch point.", {}},
       {"natural curvature", "Identification: size of the mean natural curvature.", {}},
       {"natural torsion", "Identification: mean natural torsion.", {}},
       {"natural strains", "Identification: [kappa1, kappa2, tau] of each group.", {}},
       {"uncertainty", "Identification: of each natural strain, by the misfit and how much the points depend on it.", {}},
       {"misfit", "Identification: root of the mean square of the distances of the points from the curve.", {}},
       {"largest misfit", "Identification: largest distance of a point from the curve.", {}},
       {"unidentified", "Identification: combinations of natural strains that the points do not tell.", {}},
       {"turns", "Rods: integral of the torsion over 2 pi.", {}},
       {"torsion spread", "Rods: largest less least torsion.", {}},
       {"stability", "Rods: least eigenvalue of the second variation that the supports allow, in EI/L.", {}},
       {"force slope", "Rods: growth of the internal force against the weight by the arclength, from the moments.", {}},
       {"end force", "Rods: force of the support on the end, in the inertial frame.", {}},
       {"end moment", "Rods: moment of the support on the end, in the inertial frame.", {}},
       {"curvatures", "Shells: curvatures [b11, b22, b12] of the first shell.", {}},
       {"kappa", "Shells: its curvature b11 + b22.", {}},
       {"phi", "Shells: angle from e1 of the flat sheet to the direction in which it bends [rad].", {}},
       {"corner", "Shells: position of its far corner.", {}},
       {"sheet point",
        "Shells: position of a point of the first one.",
        {numbers("at", 2, dim::length, "The point, from the corner of the flat sheet along its sides.")}},
       {"coordinates", "Shells: of a clothoid (alpha, beta, gamma); of a cone (kappa, phi, epsilon); in SI units and radians.", {}},
       {"mass matrix", "Shells: mass matrix of the curvatures over the mass per area, nine numbers, row by row.", {}},
       {"height integral", "Shells: integral of the third coordinate over the sheet.", {}},
       {"frequencies", "Shells: angular frequencies of small motions about the present shape, if the forces balance there.", {}},
       {"constraint drift", "Shells in motion: largest |b11 b22 - b12^2| so far.", {}},
       {"energy drift",
        "Shells in motion: largest change of the energy so far, less the work of damping, relative to the energies that meet.",
        {}},
       {"flat passage",
        "Shells in motion: how the flat state was passed: 0 not at all, 1 along a ray that symmetry keeps, 2 turned aside before it.",
        {}},
       {"cost", "Optimal control: the objective.", {}},
       {"control",
        "Optimal control: value of a control in the interval that begins at the present node.",
        {text("actuator", "Name of the control.")}},
       {"momentum defect",
        "Optimal control: largest change of a momentum map at a node beyond what controls and weight apply, along motions that the ground "
        "leaves free.",
        {}},
       {"replay difference",
        "Optimal control: largest distance from the motion that the variational integrator gives under the same controls, in sizes of the "
        "model.",
        {}},
       {"final time", "Optimal control: duration of the motion.", {}},
       {"cost divisor", "Optimal control: the length that the cost is divided by.", {}},
       {"momentum jump", "Optimal control: largest change of linear momentum where a contact lands.", {}},
       {"impact loss", "Optimal control: kinetic energy lost where contacts have landed.", {}},
       {"control work", "Optimal control: work of the controls since the start.", {}},
       {"impulse", "Optimal control: impulse of a contact at the present node.", {text("contact", "Name of the contact.")}},
       {"program variables", "Optimal control: number of variables.", {}},
       {"program constraints", "Optimal control: number of equations.", {}},
       {"program iterations", "Optimal control: iterations of the solver.", {}},
       {"costs of starts", "Optimal control: the objective that each first guess led to, an array.", {}},
       {"share solved", "Optimal control: share of the first guesses that led to a solution.", {}},
       {"costs of levels", "Optimal control: the objective of each level of `refine`, coarse to fine, an array.", {}},
       {"critical load",
        "Statics: first load parameter at which the number of unstable directions changed (limit point, bifurcation).",
        {}},
       {"contact force", "Force of all contacts, mean over the step, in the inertial frame.", ofPair},
       {"contact moment", "Moment of rolling and pivoting friction, mean over the step, in the inertial frame.", ofPair},
       {"normal force", "Sum of the normal forces of all contacts, mean over the step.", ofPairOrAll},
       {"contact impulse", "Sum over the contacts of [P_n, P_t1, P_t2] of the step, in the frames of the contacts.", ofPairOrAll},
       {"gap", "Smallest distance; negative: overlap.", ofPair},
       {"contact status", "0 open, 1 sticking, 2 sliding: the highest of all contacts.", ofPairOrAll},
       {"slip velocity", "Largest relative velocity along the surfaces of a closed contact.", ofPairOrAll},
       {"slip", "Largest slip of a closed contact in the step.", ofPairOrAll},
       {"gap error", "Largest distance or overlap of the closed contacts.", ofPairOrAll},
       {"tangential force", "Sum of the norms of the tangential forces of all contacts, mean over the step.", ofPairOrAll},
       {"line load",
        "Normal force of contact per reference length of a beam, linear between its contacts.",
        {any("between", "[A, B]: the beam, and what it touches or `all`."), any("at", "Arclength of A, or start, middle, end.")}},
       {"peak line load", "Largest normal force of contact per reference length.", ofPairOrAll},
       {"contact extent", "First and last arclength of a beam at which there is contact force.", ofPair},
       {"line load peak", "Arclength of a beam at which the contact force per length is largest.", ofPair},
       {"contact count", "Number of closed contacts.", ofPairOrAll},
       {"event times",
        "event-driven: times of events, an array.",
        {choice("event", {"all", "impact", "accumulation", "detachment", "stick", "slip", "reversal", "jam"},
                "Kind of the events; accumulation: the end of infinitely many impacts, jam: impact without collision.")
             .defaultsTo("all"),
         any("between", "[A, B], bodies or obstacles, B also `all`; or `all` alone.").defaultsTo("all")}},
       {"penetration", "Largest overlap.", {}},
       {"friction residual", "Residual of the contact problem, relative to the velocities without contact.", {}},
       {"sweeps", "Sweeps of Gauss-Seidel in the step.", {}},
       {"friction newton steps", "Newton steps of the contact solver in the step.", {}},
       {"dissipation", "Energy that the contacts have taken since the start.", {}},
       {"step time", "Time that the computer spent on the step; differs from run to run.", {}},
       {"certification",
        "Under uncertainty: what is known of the probability of failure, or of the performance.",
        {choice("quantity",
                {"bound", "exact mean bound", "confidence", "diameter", "diameters", "mean", "deviation", "margin", "failures",
                 "failure interval", "hoeffding bound", "quantile", "undefined", "certified", "runs", "gradients"},
                "What of it."),
         choice("controls", {"best", "begin"}, "Of which controls: the best found, or the given ones.").defaultsTo("best"),
         number("share", dim::none, "Of a quantile.").optional()}},
       {"array",
        "Values of other outputs in a row.",
        {any("of", "Names of outputs, as in an expression: a list, or a text in which the number of `for` is filled in, \"v${i}\"."),
         any("for", "{i: [first, last]}: numbers to fill in.").optional()}},
       {"integral",
        "Integral of one output over another along the path, by the trapezoidal rule over the steps: the area of a loop, a work.",
        {text("of", "The output that is integrated, as in an expression."), text("over", "The output over which.")}},
       {"expression",
        "A formula in other outputs: NAME of a number, NAME_x, NAME_y, NAME_z or NAME_1, NAME_2 ... of an array; parameters; t; h, the "
        "step.",
        {text("expression", "The formula."), text("unit", "Its unit.").defaultsTo("\"1\"")}}},
      {name("output"), repeat(), text("description", "What it is, for the reader of the results.").optional(),
       choice("component", {"x", "y", "z", "norm", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"},
              "One component instead of all.")
           .optional(),
       choice(
           "result", {"last", "max", "min", "mean", "first", "all", "first maximum", "first minimum"},
           "Which value is the result. first, last, max, min and mean are over the steps at which `where` holds, if it is given; all: an "
           "array of the values at each step at which `where` begins to hold. First maximum and minimum are local extrema along the path, "
           "by a parabola through three steps.")
           .defaultsTo("last"),
       text("where", "Condition on the steps that count, in the same terms as an expression: \"speed > 2*g*h\".").optional(),
       any("when", "The result is the value at this time [s] or load parameter, cubic between steps.").optional(),
       any("relative_to", "Subtracted from the value: `initial`, or as many numbers as the value has.").optional(),
       boolean("series", "Record the values over the steps, too.").defaultsTo("true")},
      "expression");
  return table;
}

const Schema& uncertainInput() {
  const Field range = any("range", "[least, most]: it lies between.");
  static const Schema table(
      "uncertain input",
      "A number that is known by its distribution alone; all are independent. It is that of a parameter or any other value of the scene, "
      "in "
      "the units of the scene; or, of a manoeuvre, of a force on a marker, which is another one in every interval.",
      "distribution",
      {{"uniform", "Every value is as likely.", {range}},
       {"normal",
        "The normal distribution, cut off at the range.",
        {any("mean", "Its mean before it is cut off."), any("deviation", "Its standard deviation before it is cut off."), range}},
       {"triangular", "Density rising to the mode and falling from it.", {any("mode", "The likeliest value."), range}},
       {"beta",
        "Density as (x - least)^(a-1) (most - x)^(b-1).",
        {number("a", dim::none, "Exponent.").positive(), number("b", dim::none, "Exponent.").positive(), range}},
       {"values",
        "One of a list.",
        {any("values", "The values."), numbers("weights", -1, dim::none, "How likely they are; equally, if not given.").optional()}}},
      {text("name", "Name of the input; that of the parameter, if `parameter` is not given."), repeat(),
       text("parameter", "Parameter, or path.to.key of another value, as for --set.").optional(),
       any("on", std::string("A force acts on this marker: ") + markerHelp + ".").optional(),
       vector3("force", dim::none, "Its direction, in the inertial frame.").optional(),
       number("slope", dim::none, "Bound of the slope of the performance by this input, in the units of both; for diameter: bounds.")
           .positive()
           .optional()},
      "uniform");
  return table;
}

const Schema& miss() {
  static const Schema table("miss", "How far a marker is from a place at the end of a manoeuvre.",
                            {place("on", "The marker"), vector3("place", dim::length, "The place.")});
  return table;
}

const Schema& freeParameter() {
  static const Schema table("free parameter", "A parameter that a search for better controls may change.",
                            {text("name", "Parameter, or path.to.key of another value."),
                             numbers("range", 2, dim::none, "[least, most]; the search begins halfway.")});
  return table;
}

const Schema& betterControls() {
  static const Schema table(
      "better controls", "How controls are looked for that make failure less probable.",
      {choice("search", {"gradient", "annealing"}, "gradient: projected gradients of margin over diameter; annealing: without derivatives.")
           .defaultsTo("gradient"),
       number("neighbourhood", dim::none, "Of a manoeuvre: how far every control may move, relative to its value at the optimum.")
           .positive()
           .defaultsTo("1"),
       any("least", "Of a manoeuvre: every control may move at least so far; if not given, those that are zero stay so.").optional(),
       any("actuators", "Of a manoeuvre: names of the controls that may move, [A, B]; if not given, all may.").optional(),
       objects("parameters", freeParameter(), "Of other scenes: parameters that are free."),
       integer("samples", "gradient: of the mean in a step.").positive().defaultsTo("16"),
       integer("steps", "gradient: evaluations in a round.").positive().defaultsTo("40"),
       integer("rounds", "gradient: after each the diameter is looked for anew.").positive().defaultsTo("3"),
       integer("evaluations", "annealing: at most.").positive().defaultsTo("2000")});
  return table;
}

const Schema& certify() {
  static const Schema table(
      "certification", "What must not fail under uncertainty: the performance is not to be above the threshold.",
      {text("performance", "Name of the output whose result is the performance.").optional(),
       object("miss", miss(), "Of a manoeuvre, in its place.").optional(),
       any("threshold", "Failure is a performance above it, in the units of the outputs."),
       any("mean", "The exact mean of the performance, if it is known.").optional(),
       integer("samples", "Forward runs of the mean.").positive().defaultsTo("100"),
       integer("seed", "Of the random numbers.").nonNegative().defaultsTo("1"),
       number("epsilon", dim::none, "Probability that the samples mislead.").positive().defaultsTo("1e-3"),
       choice(
           "diameter", {"gradient", "annealing", "bounds"},
           "How the diameter is looked for: projected gradients from several starts, or annealing: estimates; bounds: certified from the "
           "slopes of the inputs.")
           .defaultsTo("gradient"),
       integer("starts", "gradient: starts for every input.").positive().defaultsTo("4"),
       object("controls", betterControls(), "Look for better controls.").optional()});
  return table;
}

const Schema& referenceValues() {
  static const Schema table("reference", "By what the results can be judged, and that is not this program.",
                            {text("source", "Where the values come from: a closed form, a publication, an independent computation."),
                             any("expected", "Results of outputs with the parameters as they are in the file, {OUTPUT: {value: ..., "
                                             "tolerance: ...}, ...}; `relative` instead of "
                                             "`tolerance`.")
                                 .optional()});
  return table;
}

const Schema& expectedOutput() {
  static const Schema table(
      "expected output", "What the result of an output should be.",
      {any("value", "A number, or as many as the output has, in its unit; of an array that grows, its first ones."),
       number("tolerance", dim::none, "Largest distance of the result from the value (Euclidean, of arrays), in the unit of the output.")
           .nonNegative()
           .optional(),
       number("relative", dim::none, "The same relative to the norm of the value.").positive().optional()});
  return table;
}

const Schema& parameterRange() {
  static const Schema table("parameter range", "Values of a parameter of the scene, equally spaced or listed.",
                            {reference("parameter", "parameter", "Its name."), number("from", dim::none, "First value.").optional(),
                             number("to", dim::none, "Last value.").optional(), integer("count", "Number of values.").positive().optional(),
                             numbers("values", -1, dim::none, "The values, instead of these three.").optional()});
  return table;
}

const Schema& studyPicture() {
  static const Schema table(
      "study picture",
      "The scene run over one or two of its parameters. With x alone, outputs are curves over it; with x and y, a map is coloured by the "
      "values that the outputs take.",
      {text("title", "What it shows."), object("x", parameterRange(), "Parameter along the horizontal axis."),
       object("y", parameterRange(), "map: parameter along the vertical axis.").optional(),
       object("each", parameterRange(), "curves: one for each value of this parameter.").optional(),
       any("outputs", "Names of outputs that are numbers: [a, b]."),
       text("line", "map: output that is drawn as a line over x, as a value of y.").optional(),
       text("square", "map: output that is the side of a square from the origin.").optional(),
       number("highest", dim::none, "curves: largest value shown.").positive().optional()});
  return table;
}

const Schema& picture() {
  static const Schema table(
      "picture", "How the gallery shows the scene, in the words of `tendril render`.",
      {any("time", "Time [s] or load parameter; the last if not given.").optional(),
       text("camera", "home, front, top, ..., or position/target[/angle]: \"px,py,pz/tx,ty,tz/fov\".").defaultsTo("home"),
       text("colour", "Field to colour by; without it: by part.").optional(),
       text("show", "Layers to switch on or off: \"forces,-grid\".").optional(),
       number("exaggerate", dim::none, "Factor of displacements.").positive().defaultsTo("1"),
       boolean("film", "Whether the gallery shows the motion, too.").defaultsTo("false"),
       objects("studies", studyPicture(), "Pictures of what becomes of outputs when parameters change.")});
  return table;
}

const Schema& units() {
  static const Schema table("units", "Units of the numbers that state none, and of the outputs; the others follow from them.",
                            {text("length", "Unit of length.").defaultsTo("m"), text("mass", "Unit of mass.").defaultsTo("kg"),
                             text("time", "Unit of time.").defaultsTo("s")});
  return table;
}

const Schema& scene() {
  static const Schema table(
      "scene",
      "A Tendril scene. SI units unless the scene (`units`) or a value (`10 mm`) states its own; angles in degrees; numbers may be "
      "expressions in the parameters.",
      {integer("tendril", "Version of the format: 1."),
       text("title", "One line on what is computed.").optional(),
       text("description", "More about it: source, expected result.").optional(),
       object("units", units(),
              "Units of numbers without a unit: `{length: mm, mass: t, time: s}` means forces in N and stresses in N/mm^2. Outputs are "
              "reported in them; the states in the results file, and what is exported from them, are in SI.")
           .optional(),
       parameters("Named numbers and choices that any value may use; `--set NAME=VALUE` changes them."),
       objects("materials", material(), "Materials by name."),
       objects("sections", section(), "Cross-sections by name."),
       objects("bodies", body(), "Rigid bodies."),
       objects("beams", beam(), "Beams."),
       objects("rods", rod(), "A rod whose unknowns are its strains."),
       objects("shells", shell(), "Sheets that bend without stretching."),
       objects("markers", marker(), "Named frames."),
       objects("obstacles", obstacle(), "Rigid things that do not move by themselves."),
       objects("joints", joint(), "Joints."),
       objects("springs", spring(), "Springs and dampers."),
       objects("point_masses", pointMass(), "Masses carried by markers."),
       objects("loads", load(), "Forces and moments."),
       objects("actuators", actuator(), "Controls of an optimal control problem."),
       objects("contacts", contact(), "Laws of contact: what touches what, and how."),
       object("gravity", gravity(), "Gravity; none if not given.").optional(),
       object("analysis", analysis(), "What is computed."),
       objects("uncertain", uncertainInput(), "What is known by its distribution alone."),
       object("certify", certify(), "What must not fail under uncertainty.").optional(),
       objects("outputs", output(), "What is measured."),
       object("reference", referenceValues(), "By what the results can be judged.").optional(),
       object("picture", picture(), "How the gallery shows it.").optional()});
  return table;
}

}
