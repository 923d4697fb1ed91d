#include "beam_on_wall.h"
#include "statics/contact_run.h"
#include "support/contact_curve_part.h"
#include "tendril/model/error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

namespace tendril::test {
namespace {

constexpr double pi = std::numbers::pi;
using Method = LineContactOptions::Method;

// ---- a cantilever on a wall ------------------------------------------------------------------------------------------------------------

struct Wall {
  double R = 1e-3, g = 1e-5, L = 0.3, p = 1, E = 200e9, G = 77e9;
  double EI() const { return E * pi * std::pow(R, 4) / 4; }
  double u2() const { return std::pow(EI() * g / p, 0.25); }
  double eps(BeamModel model) const { return model == BeamModel::KirchhoffLove ? 0 : std::sqrt(EI() / (G * pi * R * R)) / u2(); }
};

struct WallErrors {
  double deflection, total;
};

/// Relative errors of the deflection (mean square) and of the force of contact.
WallErrors pressOnWall(int elements, BeamModel model, Method method, const Wall& w) {
  ContactRun run;
  MechanismBuilder b;
  const double A = pi * w.R * w.R, I = pi * std::pow(w.R, 4) / 4;
  Vector6 K;
  K << w.E * A, w.G * A, w.G * A, 2 * w.G * I, w.E * I, w.E * I;
  const auto beam =
      b.beam("beam", Curve::straight({0, 0, 0}, {w.L, 0, 0}), SectionProperties::general(K.asDiagonal().toDenseMatrix(), Matrix6::Zero()),
             {.elements = elements, .model = model});
  b.clamp("clamp", beam.start());
  Vector6 load = Vector6::Zero();
  load[2] = -w.p;
  b.distributed(beam, load, LoadDirection::Dead, TimeFunction::proportional());
  const Marker& wall = b.ground({Matrix3::Identity(), {0, 0, -w.g - w.R}});
  run.parts.addPart(curvePart(beam.part(), w.R));
  run.parts.addPart(
      {.name = "wall", .surface = "", .marker = &wall, .shapes = {CollisionShape({.kind = Shape::Kind::HalfSpace}, "wall")}, .curve = {}});
  run.parts.addLaw({"beam", "wall", {}});
  run.mechanism = b.build();
  run.run({.method = method}, {.steps = 10, .grow = false});

  const oracles::BeamOnWall exact(w.eps(model));
  double error = 0, norm = 0;
  for (int i = 0; i <= elements; ++i) {
    const double weight = i == 0 || i == elements ? 0.5 : 1;
    const double v = exact.deflection(w.L * i / elements / w.u2());
    error += weight * std::pow(-run.node(0, i).x.z() / w.g - v, 2);
    norm += weight * v * v;
  }
  const double total = exact.totalForce(w.L / w.u2());
  return {std::sqrt(error / norm), std::abs(run.total() / (w.p * w.u2()) - total) / total};
}

struct WallCase {
  BeamModel model;
  Method method;
};
class BeamPressedOnWall : public ::testing::TestWithParam<WallCase> {};

TEST_P(BeamPressedOnWall, DeflectionIsOfSecondOrder) {
  const auto [model, method] = GetParam();
  const WallErrors coarse = pressOnWall(40, model, method, {}), fine = pressOnWall(160, model, method, {});
  const double order = std::log(coarse.deflection / fine.deflection) / std::log(4);
  EXPECT_GT(order, 1.8) << coarse.deflection << " " << fine.deflection;
  EXPECT_LT(order, 2.3) << coarse.deflection << " " << fine.deflection;
  EXPECT_LT(fine.total, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Models, BeamPressedOnWall,
                         ::testing::Values(WallCase{BeamModel::SimoReissner, Method::Mortar},
                                           WallCase{BeamModel::KirchhoffLove, Method::Mortar},
                                           WallCase{BeamModel::SimoReissner, Method::Collocation},
                                           WallCase{BeamModel::KirchhoffLove, Method::Collocation}));

/// Where elements resolve the boundary layer the force of mortar contact is of second order, too.
TEST(BeamPressedOnWallResultant, OfMortarIsOfSecondOrder) {
  Wall soft;
  soft.G /= 100; // eps of 0.23
  const WallErrors coarse = pressOnWall(40, BeamModel::SimoReissner, Method::Mortar, soft),
                   fine = pressOnWall(320, BeamModel::SimoReissner, Method::Mortar, soft);
  EXPECT_GT(std::log(coarse.total / fine.total) / std::log(8), 1.8) << coarse.total << " " << fine.total;
}

// ---- obstacles in motion ---------------------------------------------------------------------------------------------------------------

/// A ball comes up through 25 radii of the beam in one step; no block of the model moves before it arrives.
TEST(MovedObstacle, LiftsABeamThatItReachesWithinAStep) {
  const double R = 2e-3, lift = 0.052, ball = 0.02;
  ContactRun run;
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e8, .poissonRatio = 0.3, .density = 1000});
  const auto beam = b.beam("beam", Curve::straight({0, 0, 0}, {0.4, 0, 0}), section, {.elements = 40});
  b.clamp("clamp", beam.start());
  GroundMotion motion;
  motion.translation[2] = {"lift", [=](double t) { return Jet{lift * t, 0, 0}; }};
  const Marker& onBall = b.movingGround({Matrix3::Identity(), {0.35, 0, -0.05 - R - ball}}, motion);
  run.parts.addPart(curvePart(beam.part(), R));
  run.parts.addPart({.name = "ball",
                     .surface = "",
                     .marker = &onBall,
                     .shapes = {CollisionShape({.kind = Shape::Kind::Sphere, .size = {ball, 0, 0}}, "ball")},
                     .curve = {}});
  run.parts.addLaw({"beam", "ball", {}});
  run.mechanism = b.build();
  run.run({}, {.steps = 1, .grow = false});
  EXPECT_GT(run.total(), 0);
  // The ball has come 2 mm above where the beam lay; where a beam lies across it may sink in by 2 % of both radii.
  EXPECT_NEAR(run.node(0, 35).x.z(), 0.002, 0.02 * (R + ball));
}

// ---- across an edge --------------------------------------------------------------------------------------------------------------------

/// A heavy cantilever lies on a table, flat at first, and hangs over its edge by two fifths. Height of its end.
double hangOverEdge(int elements) {
  const double R = 5e-3, L = 0.5;
  ContactRun run;
  MechanismBuilder b;
  b.gravity({0, 0, -9.81}, TimeFunction::proportional());
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1200});
  const auto beam = b.beam("beam", Curve::straight({0, 0, R}, {L, 0, R}), section, {.elements = elements});
  b.clamp("clamp", beam.start());
  const Marker& table = b.ground({Matrix3::Identity(), {0.15, 0, -0.05}});
  run.parts.addPart(curvePart(beam.part(), R));
  run.parts.addPart({.name = "table",
                     .surface = "",
                     .marker = &table,
                     .shapes = {CollisionShape({.kind = Shape::Kind::Box, .size = {0.3, 0.2, 0.1}}, "table")},
                     .curve = {}});
  run.parts.addLaw({"beam", "table", {.friction = 0.3}});
  run.mechanism = b.build();
  run.run({}, {.steps = 20, .grow = false});
  EXPECT_LT(double(run.iterations) / run.steps, 10);
  EXPECT_GT(run.total(), 0);
  return run.node(0, elements).x.z();
}

TEST(BeamOverAnEdge, HangsTheSameOnAnyMesh) {
  const double fine = hangOverEdge(40), middle = hangOverEdge(8), coarse = hangOverEdge(5);
  EXPECT_LT(std::abs(middle / fine - 1), 0.06);
  EXPECT_LT(std::abs(coarse / fine - 1), 0.12);
}

/// A soft cantilever on a table is pulled down over its edge, without friction: the edge turns the normal, and the place at which it
/// touches moves along the beam. Average iterations of a step.
double pullOverEdge(int elements, double edge, Method method) {
  const double R = 5e-3;
  ContactRun run;
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1200});
  const auto beam = b.beam("beam", Curve::straight({0, 0, R}, {1, 0, R}), section, {.elements = elements});
  b.clamp("clamp", beam.start());
  b.force("load", beam.end(), {0, 0, -0.5}, LoadDirection::Dead, TimeFunction::proportional());
  const Marker& table = b.ground({Matrix3::Identity(), {0, 0, -0.05}});
  run.parts.addPart(curvePart(beam.part(), R));
  run.parts.addPart({.name = "table",
                     .surface = "",
                     .marker = &table,
                     .shapes = {CollisionShape({.kind = Shape::Kind::Box, .size = {2 * edge, 0.2, 0.1}}, "table")},
                     .curve = {}});
  run.parts.addLaw({"beam", "table", {}});
  run.mechanism = b.build();
  run.run({.method = method}, {.steps = 20, .grow = false});
  EXPECT_EQ(run.steps, 20);
  EXPECT_GT(run.total(), 0);
  return double(run.iterations) / run.steps;
}

TEST(BeamOverAnEdge, IsPulledInFewIterations) {
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    for (const double edge : {0.4, 0.5, 0.6}) EXPECT_LT(pullOverEdge(5, edge, method), 12) << edge;
  }
}

// ---- bad input -------------------------------------------------------------------------------------------------------------------------

std::string messageOf(ContactRun& run, const LoadSteppingOptions& options) {
  try {
    run.run({}, options);
  } catch (const NumericalFailure& failure) {
    return failure.what();
  }
  return {};
}

TEST(BadContact, OfABeamThatFloatsAsksForASupportAndForNothingElse) {
  const double R = 5e-3;
  ContactRun run;
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1200});
  const auto beam = b.beam("beam", Curve::straight({0, 0, 1.2 * R}, {0.5, 0, 1.2 * R}), section, {.elements = 5});
  b.force("load", beam.end(), {0, 0, -1}, LoadDirection::Dead, TimeFunction::proportional());
  const Marker& table = b.ground({Matrix3::Identity(), {0, 0, -0.05}});
  run.parts.addPart(curvePart(beam.part(), R));
  run.parts.addPart({.name = "table",
                     .surface = "",
                     .marker = &table,
                     .shapes = {CollisionShape({.kind = Shape::Kind::Box, .size = {2, 0.2, 0.1}}, "table")},
                     .curve = {}});
  run.parts.addLaw({"beam", "table", {.friction = 0.3}});
  run.mechanism = b.build();
  const std::string message = messageOf(run, {.steps = 5});
  for (const char* part : {"free to move", "'beam'", "add a joint"}) EXPECT_NE(message.find(part), std::string::npos) << message;
  for (const char* part : {"smaller step", "arc length", "dual"}) EXPECT_EQ(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.find("free to move"), message.rfind("free to move")) << message;
}

/// Two cantilevers from either side that share their centreline, or cross in one place.
void layTogether(ContactRun& run, bool cross) {
  const double R = 5e-3;
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e7, .poissonRatio = 0.3, .density = 1200});
  const auto first = b.beam("a", Curve::straight({0, 0, 0}, {0.5, 0, 0}), section, {.elements = 5});
  const Vector3 from = cross ? Vector3(0.33, -0.3, 0) : Vector3(0.1, 0, 0), to = cross ? Vector3(0.33, 0.17, 0) : Vector3(0.5, 0, 0);
  const auto second = b.beam("b", Curve::straight(from, to), section, {.elements = 6});
  b.clamp("a held", first.start());
  b.clamp("b held", second.end());
  run.parts.addPart(curvePart(first.part(), R));
  run.parts.addPart(curvePart(second.part(), R));
  run.parts.addLaw({"a", "b", {}});
  run.mechanism = b.build();
}

TEST(CoincidentCentrelines, ArePartedInADirectionOfTheirOwn) {
  for (const bool cross : {false, true}) {
    ContactRun run;
    layTogether(run, cross);
    run.run({}, {.steps = 1, .grow = false, .projectInitial = true});
    EXPECT_GT(run.total(), 0);
    EXPECT_LT(run.analysis->contacts()->penetration, 1e-8 * 5e-3);
    if (cross) {
      EXPECT_GT(std::abs(run.node(0, 5).x.z() - run.node(1, 0).x.z()), 5e-3) << "perpendicular to both";
    }
  }
}

TEST(CoincidentCentrelines, AreNamed) {
  ContactRun run;
  layTogether(run, false);
  try {
    run.run({}, {.steps = 1});
    FAIL() << "overlaps are refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("centrelines coincide"), std::string::npos) << error.what();
  }
}

// ---- two fibres twisted ----------------------------------------------------------------------------------------------------------------

/// Line load at mid-span of two fibres of length 5 m twisted by n turns under a stretch: uniform helix with free ends (closed form).
double helixPlateau(int turns) {
  const double R = 0.01, off = 0.0105, length = 5, stretched = 5.05, EA = 1e9 * pi * R * R, EI = 1e9 * pi * std::pow(R, 4) / 4, nu = 0.3;
  double N = 3000, load = 0;
  for (int i = 0; i < 200; ++i) {
    const double layer = std::sqrt(EI / N);
    const double psi =
        std::atan((2 * std::sqrt(off * off - R * R) + R * (2 * pi * turns - 2 * std::acos(R / off))) / (stretched - 2 * layer));
    N = EA * (((stretched - 2 * layer) / std::cos(psi) + 2 * layer) / length - 1);
    const double curvature = std::pow(std::sin(psi), 2) / R, torsion = std::sin(psi) * std::cos(psi) / R;
    load = curvature * (N + EI * torsion * torsion * nu / (1 + nu)) * (1 + N / EA);
  }
  return load;
}

struct Twist {
  int turns = 1;
  double mu = 0;
  Method method = Method::Mortar;
  int elements = 100, stepsPerTurn = 100;
  ContactNewtonOptions newton{};
  std::array<double, 2> radii{0.01, 0.01};
  bool swapped = false; ///< the second fibre carries the inequalities
};

struct TwistResult {
  double plateau = 0, total = 0, asymmetry = 0, averageIterations = 0, largestSlipPower = 0, mostFriction = 0;
  std::array<std::vector<Vector3>, 2> nodes{}; ///< where they are in the end
};

TwistResult twist(const Twist& t) {
  const double halfGap = 5e-4, L = 5, begin = 0.1;
  const int elements = t.elements;
  ContactRun run;
  MechanismBuilder b;
  const auto head = b.body("head", {.mass = 1, .inertia = Matrix3::Identity()}, {Matrix3::Identity(), {L, 0, 0}});
  for (const int i : {0, 1}) {
    const std::string name = i == 0 ? "a" : "b";
    const double R = t.radii[std::size_t(i)], y = (i == 0 ? 1 : -1) * (R + halfGap);
    const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e9, .poissonRatio = 0.3, .density = 1000});
    const auto beam = b.beam(name, Curve::straight({0, y, 0}, {L, y, 0}), section, {.elements = elements});
    b.clamp("clamp " + name, beam.start());
    const Pose end = beam.end().frame(b.model().state());
    b.joint(JointKind::Fixed, "tie " + name, head.at({end.R, {0, y, 0}}), beam.end());
  }
  // Of two meshes as fine as each other that of the first part carries the inequalities.
  for (const int i : {0, 1}) {
    const std::size_t part = std::size_t(t.swapped ? 1 - i : i);
    run.parts.addPart(curvePart(b.beams()[part], t.radii[part]));
  }
  GroundMotion motion;
  motion.translation[0] = {"stretch", [=](double s) { return Jet{0.05 * std::min(s / begin, 1.), 0, 0}; }};
  motion.axis = Vector3::UnitX();
  motion.angle = {"turn", [=](double s) { return Jet{2 * pi * t.turns * std::max(0., (s - begin) / (1 - begin)), 0, 0}; }};
  b.joint(JointKind::Fixed, "drive", b.movingGround({Matrix3::Identity(), {L, 0, 0}}, motion), head.at());
  run.parts.addLaw({"a", "b", {.friction = t.mu}});
  run.mechanism = b.build();
  run.run({.method = t.method}, {.steps = t.stepsPerTurn * t.turns, .grow = false, .contact = t.newton});

  TwistResult result{.total = run.total(), .averageIterations = double(run.iterations) / run.steps};
  std::vector<double> load(std::size_t(elements) + 1, 0.);
  for (const ContactRecord& c : run.analysis->contacts()->contacts) {
    const Vector3 F = c.impulse;
    if (c.length > 0 && t.method == Method::Mortar) load[std::size_t(std::lround(c.arclength / L * elements))] += F[0] / c.length;
    if (c.length > 0 && std::abs(c.arclength - L / 2) < 0.51 * L / elements) result.plateau = F[0] / c.length;
    result.largestSlipPower = std::max(result.largestSlipPower, F.tail<2>().dot(c.velocity.tail<2>()));
    if (F[0] > 0) result.mostFriction = std::max(result.mostFriction, F.tail<2>().norm() / F[0]);
  }
  for (int i = 0; i <= elements; ++i) {
    if (load[std::size_t(i)] > 0 && load[std::size_t(elements - i)] > 0) {
      result.asymmetry = std::max(result.asymmetry, std::abs(load[std::size_t(i)] / load[std::size_t(elements - i)] - 1));
    }
    for (const int beam : {0, 1}) result.nodes[std::size_t(beam)].push_back(run.node(beam, i).x);
  }
  return result;
}

/// Root mean square distance of the nodes of both fibres, at those of the coarser mesh.
double distance(const TwistResult& coarse, const TwistResult& fine) {
  double sum = 0;
  for (const std::size_t beam : {0, 1}) {
    const std::size_t n = coarse.nodes[beam].size() - 1, stride = (fine.nodes[beam].size() - 1) / n;
    for (std::size_t i = 0; i <= n; ++i) sum += (coarse.nodes[beam][i] - fine.nodes[beam][i * stride]).squaredNorm() / double(2 * n + 2);
  }
  return std::sqrt(sum);
}

TEST(TwistedFibres, LineLoadIsThatOfTheHelixInFewIterations) {
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    const TwistResult r = twist({.method = method});
    EXPECT_NEAR(r.plateau, helixPlateau(1), 0.01 * r.plateau);
    EXPECT_LT(r.asymmetry, 5e-3);
    EXPECT_LT(r.averageIterations, 4);
  }
}

TEST(FullTwistedFibres, LineLoadOfSeveralTurns) {
  for (const int turns : {2, 3, 4}) {
    const TwistResult r = twist({.turns = turns});
    EXPECT_NEAR(r.plateau, helixPlateau(turns), (turns > 2 ? 0.02 : 0.01) * r.plateau) << turns;
  }
}

TEST(TwistedFibres, FrictionOpposesSlipAndStaysWithinItsCone) {
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    const TwistResult r = twist({.mu = 0.3, .method = method});
    EXPECT_LE(r.largestSlipPower, 1e-12);
    EXPECT_LE(r.mostFriction, 0.3 * (1 + 1e-9));
    EXPECT_NEAR(r.plateau, helixPlateau(1), 0.05 * r.plateau); // friction holds the fibres from rolling on one another
  }
}

TEST(FullTwistedFibres, WeightMovesNoSolution) {
  const double plateau = twist({.mu = 0.3, .elements = 50}).plateau;
  for (const double weight : {1e-3, 1e3}) {
    EXPECT_NEAR(twist({.mu = 0.3, .elements = 50, .newton = {.weight = weight}}).plateau, plateau, 1e-6 * plateau) << weight;
  }
}

class FullTwistedFibresConverge : public ::testing::TestWithParam<Method> {};

TEST_P(FullTwistedFibresConverge, WithTheSquareOfTheElement) {
  std::vector<TwistResult> r;
  for (const int elements : {50, 100, 200, 400}) r.push_back(twist({.method = GetParam(), .elements = elements, .stepsPerTurn = 50}));
  for (std::size_t i = 0; i < 2; ++i) {
    const double order = std::log2(distance(r[i], r[i + 1]) / distance(r[i + 1], r[i + 2]));
    EXPECT_GT(order, 1.9) << i;
  }
}

/// Nodes face nodes: whichever fibre carries the inequalities, they say the same.
TEST_P(FullTwistedFibresConverge, ToTheSameWithEitherRole) {
  for (const double mu : {0., 0.3}) {
    SCOPED_TRACE(mu);
    Twist t{.mu = mu, .method = GetParam(), .elements = 40, .stepsPerTurn = 50, .radii = {0.01, 0.006}};
    const TwistResult one = twist(t);
    t.swapped = true;
    const TwistResult other = twist(t);
    EXPECT_LT(distance(one, other), 1e-6 * t.radii[0]);
    EXPECT_NEAR(other.total, one.total, 1e-5 * one.total);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, FullTwistedFibresConverge, ::testing::Values(Method::Mortar, Method::Collocation));

// ---- beams whose nodes do not face nodes -----------------------------------------------------------------------------------------------

struct Sag {
  std::vector<double> heights; ///< of the nodes of both
  double total = 0;
};

/// A cantilever, pressed down by p per length, on a beam that is clamped at both ends.
Sag pressTogether(int elements, double mu, bool swapped) {
  const double R = 0.01, L = 1, p = 20, ahead = 0.37 * L / elements;
  ContactRun run;
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e9, .poissonRatio = 0.3, .density = 1000});
  const auto lower = b.beam("lower", Curve::straight({0, 0, 0}, {L, 0, 0}), section, {.elements = elements});
  const auto upper = b.beam("upper", Curve::straight({ahead, 0, 2 * R}, {ahead + L, 0, 2 * R}), section, {.elements = elements});
  b.clamp("left", lower.start());
  b.clamp("right", lower.end());
  b.clamp("upper left", upper.start());
  b.distributed(upper, (Vector6() << 0, 0, -p, 0, 0, 0).finished(), LoadDirection::Dead, TimeFunction::proportional());
  for (const auto& beam : {swapped ? upper : lower, swapped ? lower : upper}) run.parts.addPart(curvePart(beam.part(), R));
  run.parts.addLaw({"lower", "upper", {.friction = mu}});
  run.mechanism = b.build();
  run.run({}, {.steps = 10, .grow = false});
  Sag sag{.heights = {}, .total = run.total()};
  for (const int beam : {0, 1}) {
    for (int i = 0; i <= elements; ++i) sag.heights.push_back(run.node(beam, i).x.z());
  }
  return sag;
}

TEST(PressedBeamsOfEitherRole, AgreeToTheOrderOfTheMesh) {
  for (const double mu : {0., 0.2}) {
    SCOPED_TRACE(mu);
    std::array<double, 2> sag{}, total{};
    for (const std::size_t i : {0, 1}) {
      const Sag one = pressTogether(15 << (2 * i), mu, false), other = pressTogether(15 << (2 * i), mu, true);
      for (std::size_t k = 0; k < one.heights.size(); ++k) sag[i] = std::max(sag[i], std::abs(one.heights[k] - other.heights[k]));
      total[i] = std::abs(one.total / other.total - 1);
    }
    EXPECT_LT(sag[1], sag[0] / 8);
    EXPECT_LT(total[1], 1e-3);
  }
}

}
}
