#include "beam_on_wall.h"
#include "pressed_beams.h"
#include "tendril/contact/line_contacts.h"
#include "tendril/elements/mechanism.h"
#include "tendril/statics/load_stepping.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace tendril::test {
namespace {

constexpr double pi = std::numbers::pi;
using Method = LineContactOptions::Method;

ContactModel::Part curveOf(const BeamPart& beam, double radius) {
  ContactModel::Part part{.name = beam.name, .surface = "", .marker = nullptr, .shapes = {}, .curve = ContactCurve{radius, {}}};
  for (int e = 0; e < beam.elements(); ++e) {
    part.curve->segments.push_back({{beam.nodes[e], beam.nodes[e + 1]}, beam.arclength[e + 1] - beam.arclength[e]});
  }
  return part;
}

/// Statics of a mechanism with contacts, run to the end.
struct ContactRun {
  Mechanism mechanism;
  ContactModel parts;
  std::unique_ptr<LoadStepping> analysis;
  int steps = 0;
  long iterations = 0;

  /// `look` sees every equilibrium, with its load parameter.
  void run(
      const LineContactOptions& line, const LoadSteppingOptions& options, const std::function<void(double)>& look = [](double) {}) {
    analysis =
        std::make_unique<LoadStepping>(*mechanism.model, options, parts, std::make_unique<LineContacts>(*mechanism.model, parts, line));
    analysis->start();
    while (!analysis->finished()) {
      iterations += analysis->advance().iterations, ++steps;
      look(analysis->state().t);
    }
  }
  Pose node(int beam, int i) const {
    return loadPose(analysis->state().q.data() + mechanism.model->blocks()[mechanism.beams[beam].nodes[i]].q);
  }
  double total() const {
    double sum = 0;
    for (const ContactRecord& c : analysis->contacts()->contacts) sum += c.impulse[0];
    return sum;
  }
};

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
  run.parts.addPart(curveOf(beam.part(), w.R));
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
  run.parts.addPart(curveOf(beam.part(), R));
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

// ---- two beams pressed on one another and bent to and fro ----------------------------------------------------------------------------

struct BendingCycle {
  double deflection = 0;       ///< at the end of the first loading
  double loopArea = 0;         ///< work of the force in the cycle after it
  double dissipation = 0;      ///< that friction takes in that cycle
  double largestPower = 0;     ///< friction times slip of any contact in any step
  double farthestFromCone = 0; ///< by which friction is above its bound [N]
};

/// The force on the end goes up to `amplitude`, then to minus that and back.
BendingCycle bendToAndFro(const oracles::PressedBeams& beams, double amplitude, Method method) {
  ContactRun run;
  MechanismBuilder b;
  const int elements = 40;
  const double R = beams.radius, I = pi * std::pow(R, 4) / 4, G = beams.E / 2.6, GA = G * pi * R * R;
  Vector6 K;
  K << beams.EA(), GA, GA, 2 * G * I, beams.EI(), beams.EI();
  const auto cycle = [](double t) { return t < 0.2 ? 5 * t : 2 * std::abs(1 - 2 * (t - 0.2) / 0.8) - 1; };
  for (const double side : {1., -1.}) {
    const std::string name = side > 0 ? "upper" : "lower";
    const auto beam = b.beam(name, Curve::straight({0, 0, side * R}, {beams.length, 0, side * R}),
                             SectionProperties::general(K.asDiagonal().toDenseMatrix(), Matrix6::Zero()),
                             {.elements = elements, .model = BeamModel::KirchhoffLove});
    b.clamp("clamp " + name, beam.start());
    // A load of constant direction would drive slip, or hold it up, where the beams slope.
    Vector6 press = Vector6::Zero();
    press.head<3>() = beam.start().frame(b.model().state()).R.transpose() * Vector3(0, 0, -side * beams.pressure);
    b.distributed(beam, press, LoadDirection::Follower);
    b.force("tip " + name, beam.end(), {0, 0, amplitude / 2}, LoadDirection::Dead, {"cycle", [=](double t) {
                                                                                      return Jet{cycle(t), 0, 0};
                                                                                    }});
    run.parts.addPart(curveOf(beam.part(), R));
  }
  run.parts.addLaw({"upper", "lower", {.friction = beams.friction}});
  run.mechanism = b.build();

  BendingCycle result;
  double force = 0, tip = 0;
  run.run({.method = method}, {.steps = 50, .grow = false, .tolerances = {.force = 1e-11}, .gapTolerance = 1e-11}, [&](double t) {
    const double nextForce = amplitude * cycle(t), nextTip = (run.node(0, elements).x.z() + run.node(1, elements).x.z()) / 2;
    if (std::abs(t - 0.2) < 1e-9) result.deflection = nextTip;
    const bool isInCycle = t > 0.2 + 1e-9;
    if (isInCycle) result.loopArea += (force + nextForce) / 2 * (nextTip - tip);
    force = nextForce, tip = nextTip;
    for (const ContactRecord& c : run.analysis->contacts()->contacts) {
      const double power = c.impulse.tail<2>().dot(c.velocity.tail<2>());
      result.largestPower = std::max(result.largestPower, power);
      result.farthestFromCone = std::max(result.farthestFromCone, c.impulse.tail<2>().norm() - beams.friction * c.impulse[0]);
      if (isInCycle) result.dissipation -= power;
    }
  });
  return result;
}

class PressedBeams : public ::testing::TestWithParam<Method> {};

/// Slip moves the pressure on one beam off that on the other, a moment that is left out of the closed form: 1e-3 of the deflection here.
TEST_P(PressedBeams, LoseMostInACycleAtAFrictionInBetween) {
  oracles::PressedBeams beams{.radius = 0.01, .length = 1, .E = 1e9, .pressure = 2, .friction = 0};
  const double amplitude = 0.02, worst = beams.worstFriction(amplitude);
  beams.friction = worst;
  const double largest = beams.loopArea(amplitude);
  std::vector<double> areas;
  for (const double share : {1e-4, 0.1, 0.5, 1., 1.5, 1.9, 2.2, 100.}) {
    SCOPED_TRACE(share);
    beams.friction = share * worst;
    const BendingCycle c = bendToAndFro(beams, amplitude, GetParam());
    EXPECT_NEAR(c.deflection, beams.deflection(amplitude), 3e-3 * c.deflection);
    EXPECT_NEAR(c.dissipation, beams.loopArea(amplitude), 3e-3 * largest);
    EXPECT_NEAR(c.loopArea, c.dissipation, 5e-3 * largest);
    EXPECT_LE(c.largestPower, 1e-8 * largest);
    EXPECT_LE(c.farthestFromCone, 1e-6 * amplitude);
    areas.push_back(c.loopArea);
  }
  const auto most = std::max_element(areas.begin(), areas.end());
  EXPECT_EQ(most - areas.begin(), 3);
  EXPECT_TRUE(std::is_sorted(areas.begin(), most));
  EXPECT_TRUE(std::is_sorted(most, areas.end() - 1, std::greater<>()));
  EXPECT_LT(areas.front(), 1e-3 * largest);
  for (std::size_t i : {areas.size() - 2, areas.size() - 1}) EXPECT_LT(std::abs(areas[i]), 1e-4 * largest);
}

INSTANTIATE_TEST_SUITE_P(Methods, PressedBeams, ::testing::Values(Method::Mortar, Method::Collocation));

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

struct TwistResult {
  double plateau, asymmetry, averageIterations, largestSlipPower, mostFriction;
};

TwistResult twist(int turns, double mu, Method method, int elements = 100, const ContactNewtonOptions& newton = {}) {
  const double R = 0.01, off = 0.0105, L = 5, begin = 0.1;
  ContactRun run;
  MechanismBuilder b;
  const auto section = SectionProperties::of(Section::circle(R), {.youngsModulus = 1e9, .poissonRatio = 0.3, .density = 1000});
  const auto head = b.body("head", {.mass = 1, .inertia = Matrix3::Identity()}, {Matrix3::Identity(), {L, 0, 0}});
  for (const double side : {1., -1.}) {
    const std::string name = side > 0 ? "a" : "b";
    const auto beam = b.beam(name, Curve::straight({0, side * off, 0}, {L, side * off, 0}), section, {.elements = elements});
    b.clamp("clamp " + name, beam.start());
    const Pose end = beam.end().frame(b.model().state());
    b.joint(JointKind::Fixed, "tie " + name, head.at({end.R, {0, side * off, 0}}), beam.end());
    run.parts.addPart(curveOf(beam.part(), R));
  }
  GroundMotion motion;
  motion.translation[0] = {"stretch", [=](double t) { return Jet{0.05 * std::min(t / begin, 1.), 0, 0}; }};
  motion.axis = Vector3::UnitX();
  motion.angle = {"turn", [=](double t) { return Jet{2 * pi * turns * std::max(0., (t - begin) / (1 - begin)), 0, 0}; }};
  b.joint(JointKind::Fixed, "drive", b.movingGround({Matrix3::Identity(), {L, 0, 0}}, motion), head.at());
  run.parts.addLaw({"a", "b", {.friction = mu}});
  run.mechanism = b.build();
  run.run({.method = method}, {.steps = 100 * turns, .grow = false, .contact = newton});

  TwistResult result{0, 0, double(run.iterations) / run.steps, 0, 0};
  std::vector<double> load(std::size_t(elements) + 1, 0.);
  for (const ContactRecord& c : run.analysis->contacts()->contacts) {
    const Vector3 F = c.impulse;
    if (c.length > 0 && method == Method::Mortar) load[std::size_t(std::lround(c.arclength / L * elements))] += F[0] / c.length;
    if (c.length > 0 && std::abs(c.arclength - L / 2) < 0.51 * L / elements) result.plateau = F[0] / c.length;
    result.largestSlipPower = std::max(result.largestSlipPower, F.tail<2>().dot(c.velocity.tail<2>()));
    if (F[0] > 0) result.mostFriction = std::max(result.mostFriction, F.tail<2>().norm() / F[0]);
  }
  for (int i = 0; i <= elements; ++i) {
    if (load[std::size_t(i)] > 0 && load[std::size_t(elements - i)] > 0) {
      result.asymmetry = std::max(result.asymmetry, std::abs(load[std::size_t(i)] / load[std::size_t(elements - i)] - 1));
    }
  }
  return result;
}

TEST(TwistedFibres, LineLoadIsThatOfTheHelixInFewIterations) {
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    const TwistResult r = twist(1, 0, method);
    EXPECT_NEAR(r.plateau, helixPlateau(1), 0.01 * r.plateau);
    EXPECT_LT(r.asymmetry, 5e-3);
    EXPECT_LT(r.averageIterations, 4);
  }
}

TEST(FullTwistedFibres, LineLoadOfSeveralTurns) {
  for (const int turns : {2, 3, 4}) {
    const TwistResult r = twist(turns, 0, Method::Mortar);
    EXPECT_NEAR(r.plateau, helixPlateau(turns), (turns > 2 ? 0.02 : 0.01) * r.plateau) << turns;
  }
}

TEST(TwistedFibres, FrictionOpposesSlipAndStaysWithinItsCone) {
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    const TwistResult r = twist(1, 0.3, method);
    EXPECT_LE(r.largestSlipPower, 1e-12);
    EXPECT_LE(r.mostFriction, 0.3 * (1 + 1e-9));
    EXPECT_NEAR(r.plateau, helixPlateau(1), 0.05 * r.plateau); // friction holds the fibres from rolling on one another
  }
}

TEST(FullTwistedFibres, WeightMovesNoSolution) {
  const double plateau = twist(1, 0.3, Method::Mortar, 50).plateau;
  for (const double weight : {1e-3, 1e3}) {
    EXPECT_NEAR(twist(1, 0.3, Method::Mortar, 50, {.weight = weight}).plateau, plateau, 1e-6 * plateau) << weight;
  }
}

}
}
