#include "tendril/shells/strip.h"

#include "elastica.h"
#include "folded_strip.h"
#include "support/validator.h"
#include "tendril/dynamics/generalized_alpha.h"
#include "tendril/dynamics/lie_group_variational.h"
#include "tendril/elements/joints.h"
#include "tendril/lie/se3.h"
#include "tendril/model/error.h"
#include "tendril/statics/minimum_energy.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <numbers>

namespace tendril::test {
namespace {

/// A strip with bends and slopes of rulings by functions of the share of its length.
template <class Bend, class Slope> StripOptions strip(double length, double width, int patches, const Bend& bend, const Slope& slope) {
  StripOptions o;
  o.properties.domain = {0, length, 0, width};
  for (int i = 0; i < patches; ++i)
    o.patches.push_back({.begin = slope(double(i) / patches), .end = slope(double(i + 1) / patches), .bend = bend((i + 0.5) / patches)});
  return o;
}

StripOptions wavyStrip() {
  StripOptions o = strip(
      1.2, 0.3, 3, [](double x) { return 2.5 - x; }, [](double x) { return 0.6 * std::sin(std::numbers::pi * x); });
  o.properties.areaDensity = 1.3, o.properties.rigidity = 2.1;
  o.frame = {so3::exp({0.3, 0.6, -0.2}), {0.2, -0.1, 0.4}};
  for (StripPatch& p : o.patches) p.natural = ConePoint::toCurvatures(0.7 * p.bend, 0.2);
  return o;
}

}

TEST(StripSheet, IsIsometricAndBoundedByRulings) {
  const StripSheet sheet(0.2);
  const double q[3]{0.4, 0.25, 0.34};
  const auto at = [&](double s1, double s2) { return sheet.frame(q, {s1, s2}); };
  for (const double s2 : {-0.4, 0.1, 0.5}) {
    for (const double s1 : {-0.1, 0.07, 0.25}) {
      const Pose H = at(s1, s2);
      const double e = 1e-4;
      const auto slope = [&](double d1, double d2) -> Vector3 {
        return (8 * (at(s1 + d1, s2 + d2).x - at(s1 - d1, s2 - d2).x) - (at(s1 + 2 * d1, s2 + 2 * d2).x - at(s1 - 2 * d1, s2 - 2 * d2).x)) /
               (12 * e);
      };
      EXPECT_LT((slope(e, 0) - H.R.col(0)).norm() + (slope(0, e) - H.R.col(1)).norm(), 1e-11);
      const std::array<double, 3> k = sheet.at(q, {s1, s2}).k;
      EXPECT_NEAR(k[0] * k[1], k[2] * k[2], 1e-15);
    }
    // Along both rulings the sheet is straight and its frame the same.
    for (const double begin : {0., 0.2}) {
      const double eta = begin == 0 ? q[0] : q[1];
      const Pose H = at(begin, 0).relative(at(begin + eta * s2, s2));
      EXPECT_LT((H.x - Vector3(eta * s2, s2, 0)).norm() + (H.R - Matrix3::Identity()).norm(), 1e-13);
    }
  }
}

TEST(StripSheet, HasTheEnergyOfItsCurvatures) {
  PatchProperties p;
  p.domain = {0, 0.2, -0.4, 0.4}, p.rigidity = 1.7;
  p.natural = ConePoint::toCurvatures(0.8, 0.4);
  const StripSheet sheet(0.2);
  for (const double end : {0.4, 0.25, 0.1, 0.75}) {
    const double q[3]{0.4, end, 0.34};
    constexpr int n = 100; // of the midpoint rule between the rulings, with its error in h^2 taken out
    const auto energy = [&](int points) {
      double sum = 0;
      for (int i = 0; i < points; ++i) {
        for (int j = 0; j < points; ++j) {
          const Vector2 shares((i + 0.5) / points, (j + 0.5) / points), s = sheet.meshPoint(q, p.domain, shares);
          const Vector3 strain = Vector3(sheet.at(q, s).k.data()) - p.natural;
          sum += (1 + (q[1] - q[0]) / 0.2 * s[1]) * p.domain.area() / (points * points) * strain.dot(p.stiffness() * strain) / 2;
        }
      }
      return sum;
    };
    EXPECT_NEAR(sheet.bending(q, p)->energy.value(), (4 * energy(n) - energy(n / 2)) / 3, 1e-6);
  }
}

TEST(Strip, PassesTheValidatorWhereItFloats) {
  ModelBuilder builder;
  addStrip(builder, "ribbon", wavyStrip());
  validate(*builder.build(), {.amplitude = 0.02, .internal = true});
}

TEST(Strip, PassesTheValidatorWithWeightAndDampingWhereItIsHeld) {
  ModelBuilder builder;
  builder.setGravity({{1, 2, -9.81}, TimeFunction::proportional()});
  StripOptions options = wavyStrip();
  options.properties.dampingTime = 0.1;
  const ShellPart ribbon = addStrip(builder, "ribbon", options);
  builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("ground", builder.pose(ribbon.frame)),
                             builder.bodyMarker("begin", ribbon.frame));
  validate(*builder.build(), {.amplitude = 0.02, .conservative = false});
}

TEST(Strip, CarriesMarkersWhereNoRulingPasses) {
  ModelBuilder builder;
  const ShellPart ribbon = addStrip(builder, "ribbon", wavyStrip());
  EXPECT_EQ(attachToShell(builder, ribbon, {1.2, 0}, "end"), ribbon.end);
  const int middle = attachToShell(builder, ribbon, {0.7, 0}, "middle"), corner = attachToShell(builder, ribbon, {1.2, -0.15}, "corner");
  EXPECT_THROW(attachToShell(builder, ribbon, {0.7, 0.1}, "edge"), InputError);
  const auto model = builder.build();
  const State state = model->initialState();
  const auto at = [&](int block) { return loadPose(state.q.data() + model->blocks()[std::size_t(block)].q); };
  EXPECT_LT((at(middle).x - ribbon.at(*model, state, {0.7, 0}).x).norm(), 1e-14);
  EXPECT_LT((at(corner).x - ribbon.at(*model, state, {1.2, -0.15}).x).norm(), 1e-14);
}

TEST(Strip, RefusesWhatIsNoStrip) {
  const auto refuses = [](const StripOptions& o, const std::string& word) {
    ModelBuilder builder;
    try {
      addStrip(builder, "ribbon", o);
      ADD_FAILURE() << "took: " << word;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    }
  };
  StripOptions o = wavyStrip();
  o.patches[1].begin += 0.1;
  refuses(o, "no ruling in common");
  o = wavyStrip();
  o.patches[0].begin = 0.2;
  refuses(o, "ends are rulings");
  o = wavyStrip();
  o.patches[0].end = o.patches[1].begin = 2.9;
  refuses(o, "cross within the width");
  o = wavyStrip();
  o.patches[2].natural = {1, 1, 0};
  refuses(o, "natural");
  o = wavyStrip();
  o.properties.poissonRatio = 0.6;
  refuses(o, "Poisson");
  EXPECT_THROW(PatchProperties::of({0, 1, 0, 0.1}, 0, {}), InputError);
}

namespace {

/// A clamped strip whose end is led from where it is, or free; its equilibrium.
struct HeldStrip {
  using Lead = std::function<GroundMotion(const Pose& from)>;
  HeldStrip(const StripOptions& options, double gravity, const Lead& lead, int steps) {
    ModelBuilder builder;
    builder.setGravity({{0, 0, -gravity}, TimeFunction::proportional()});
    ribbon = addStrip(builder, "ribbon", options);
    Joints& joints = builder.term<Joints>();
    joints.add(JointKind::Fixed, "clamp", builder.groundMarker("", builder.pose(ribbon.frame)), builder.bodyMarker("", ribbon.frame));
    if (lead) {
      const Pose from = builder.pose(ribbon.end);
      joints.add(JointKind::Fixed, "end", builder.movingMarker("", from, lead(from)), builder.bodyMarker("", ribbon.end));
    }
    model = builder.build();
    MinimumEnergy search(*model, {.steps = steps});
    search.start();
    while (!search.finished()) isStable = search.advance().stable();
    state = search.state();
  }
  Pose at(double s1, double s2) const { return ribbon.at(*model, state, {s1, s2}); }
  Vector3 coordinates(std::size_t patch) const {
    return state.q.segment<3>(model->blocks()[std::size_t(ribbon.patches[patch].coordinates)].q);
  }

  ShellPart ribbon;
  std::unique_ptr<const Model> model;
  State state;
  bool isStable = false;
};

TimeFunction growing(double value) {
  return {"growing", [value](double t) { return Jet{value * t, value, 0}; }};
}

HeldStrip moebius(int patches, double width, int steps) {
  const auto lead = [](const Pose&) {
    GroundMotion turn;
    turn.axis = Vector3::UnitX(), turn.angle = growing(std::numbers::pi);
    return turn;
  };
  return {strip(
              1, width, patches, [](double) { return 2 * std::numbers::pi; }, [](double) { return 0.; }),
          0, lead, steps};
}

}

/// In its plane a strip is the elastica of the rigidity D w; the error falls with the square of the length of a patch.
TEST(Strip, HangsAsTheHeavyElasticaInItsPlane) {
  const oracles::Vector2d tip = oracles::heavyElasticaTip(10);
  const auto error = [&](int patches) {
    const HeldStrip held(strip(
                             1, 0.1, patches, [](double) { return -0.01; }, [](double) { return 0.; }),
                         10, {}, 1);
    EXPECT_TRUE(held.isStable);
    const Vector3 x = held.at(1, 0).x;
    EXPECT_NEAR(x[1], 0, 1e-12);
    return std::hypot(x[0] - tip[0], x[2] - tip[1]);
  };
  const double coarse = error(6), fine = error(12);
  EXPECT_LT(fine, 3e-3);
  EXPECT_NEAR(std::log2(coarse / fine), 2, 0.1);
}

/// A narrow strip between the ends of a helix of curvature kappa and torsion eta kappa is Sadowsky's ribbon (D-20), but in the first and
/// last patch, where rulings turn to the slope 0 of the ends: an error of the first order.
TEST(Strip, IsSadowskysRibbonWhereItIsNarrow) {
  constexpr double kappa = 2, eta = -0.4, width = 2e-3;
  const auto between = [&](int patches) {
    const double h = 1. / patches, bend = kappa * std::sqrt(1 + eta * eta);
    const StripSheet sheet(h);
    const double q[3]{eta, eta, bend * h};
    Pose end;
    for (int i = 0; i < patches; ++i) end = end * sheet.frame(q, {h, 0});
    const auto lead = [&](const Pose& from) {
      GroundMotion motion;
      for (int i = 0; i < 3; ++i) motion.translation[std::size_t(i)] = growing(end.x[i] - from.x[i]);
      const Vector3 turn = so3::log(from.R.transpose() * end.R);
      motion.axis = turn.normalized(), motion.angle = growing(turn.norm());
      return motion;
    };
    const HeldStrip held(strip(
                             1, width, patches, [&](double) { return bend; }, [&](double x) { return x == 0 || x == 1 ? 0 : eta; }),
                         0, lead, 1);
    EXPECT_TRUE(held.isStable);
    const Vector3 middle = held.coordinates(std::size_t(patches / 2));
    return Vector3(middle[0], middle[2] / (h * bend),
                   held.model->energy(held.state).elastic / (width / 2 * std::pow(kappa * (1 + eta * eta), 2)));
  };
  const Vector3 limit = 2 * between(64) - between(32);
  EXPECT_NEAR(limit[0], eta, 2e-3);
  EXPECT_NEAR(limit[1], 1, 2e-3);
  EXPECT_NEAR(limit[2], 1, 2e-3);
}

/// Half a turn of the seam of a ring leads to the band: symmetric about the axis through its middle, with a mesh without Gaussian
/// curvature.
TEST(Strip, ClosesToAMoebiusBand) {
  const HeldStrip band = moebius(16, 0.1, 8);
  EXPECT_TRUE(band.isStable);
  EXPECT_LT(band.at(1, 0).x.norm() + (band.at(1, 0).R - Matrix3(Vector3(1, -1, -1).asDiagonal())).norm(), 1e-8);
  const Pose middle = band.at(0.5, 0);
  for (const double s : {0.1, 0.2, 0.37}) {
    const Vector3 left = middle.relative(band.at(0.5 - s, 0)).x, right = middle.relative(band.at(0.5 + s, 0)).x;
    EXPECT_LT((left - Vector3(-right[0], -right[1], right[2])).norm(), 1e-6);
  }
  // The mesh is one of plane faces between straight rulings as long as in the flat strip; around every vertex it unfolds to a whole turn.
  const auto vertex = [&](int row, int column) -> Vector3 { return band.ribbon.vertex(*band.model, band.state, row, column).x; };
  const int rows = band.ribbon.rows;
  for (int column = 1; column < band.ribbon.columns; ++column) {
    EXPECT_GE((vertex(rows, column) - vertex(0, column)).norm(), 0.1 - 1e-9);
    for (int row = 1; row < rows; ++row) {
      const Vector3 x = vertex(row, column), around[4]{vertex(row, column + 1) - x, vertex(row + 1, column) - x,
                                                       vertex(row, column - 1) - x, vertex(row - 1, column) - x};
      double turn = 0;
      for (std::size_t i = 0; i < 4; ++i)
        turn += std::atan2(around[i].cross(around[(i + 1) % 4]).norm(), around[i].dot(around[(i + 1) % 4]));
      EXPECT_NEAR(turn, 2 * std::numbers::pi, 1e-8);
      const Vector3 normal = around[0].cross(around[1]).normalized();
      EXPECT_NEAR(normal.dot(vertex(row + 1, column + 1) - x), 0, 1e-10);
    }
  }
}

TEST(FullStrip, MoebiusBandConvergesFromAboveWithOrderTwo) {
  std::array<double, 4> energies{};
  for (std::size_t i = 0; i < 4; ++i) {
    const HeldStrip band = moebius(10 << i, 0.1, 8);
    energies[i] = band.model->energy(band.state).elastic;
    if (i > 0) {
      EXPECT_LT(energies[i], energies[i - 1]);
    }
  }
  EXPECT_NEAR(std::log2((energies[1] - energies[2]) / (energies[2] - energies[3])), 2, 0.5);
  // Plane pieces with folds, an independent program, in the limit of many.
  const double coarse = oracles::FoldedBand(20, 0.1).turn(std::numbers::pi, 10),
               fine = oracles::FoldedBand(40, 0.1).turn(std::numbers::pi, 10);
  EXPECT_NEAR(energies[3] + (energies[3] - energies[2]) / 3, fine + (fine - coarse) / 3, 0.01);
}

namespace {

/// A curled ribbon that swings and twists about a slanted clamp.
struct Swing {
  explicit Swing(int patches, const AirDrag& air = {}) {
    StripOptions options = strip(
        1, 0.1, patches, [](double) { return 3.; }, [](double) { return 0.; });
    for (StripPatch& p : options.patches) p.natural = {3, 0, 0};
    options.frame.R = so3::exp({0.7, 0, 0}), options.air = air;
    ModelBuilder builder;
    builder.setGravity({{0, 0, -9.81}, TimeFunction::constant()});
    ribbon = addStrip(builder, "ribbon", options);
    builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("", builder.pose(ribbon.frame)),
                               builder.bodyMarker("", ribbon.frame));
    model = builder.build();
  }
  GeneralizedAlphaOptions alpha(double duration, double step) const {
    GeneralizedAlphaOptions options;
    options.duration = duration, options.step = step, options.rhoInfinity = 0.99;
    return options;
  }
  Vector3 tip(const State& state) const { return ribbon.at(*model, state, {1, 0}).x; }

  ShellPart ribbon;
  std::unique_ptr<const Model> model;
};

/// Where a motion ends, at three steps each half of the one before: the order of convergence, and the limit for small steps.
template <class End> std::pair<double, Vector3> convergence(double step, const End& end) {
  const Vector3 coarse = end(step), fine = end(step / 2), finest = end(step / 4);
  return {std::log2((coarse - fine).norm() / (fine - finest).norm()), finest + (finest - fine) / 3};
}

}

TEST(Strip, SwingsWithItsEnergy) {
  const auto swing = [](double step) {
    const Swing curl(5);
    GeneralizedAlpha motion(*curl.model, curl.alpha(0.2, step));
    motion.start();
    const double first = curl.model->energy(motion.state()).total();
    double drift = 0, largest = 0;
    while (!motion.finished()) {
      motion.advance();
      const Energy e = curl.model->energy(motion.state());
      drift = std::max(drift, std::abs(e.total() - first)), largest = std::max(largest, e.kinetic);
    }
    EXPECT_GT(largest, 0.02);
    return drift / largest;
  };
  const double coarse = swing(4e-3), fine = swing(2e-3);
  EXPECT_LT(fine, 1e-2);
  EXPECT_GT(coarse / fine, 3);
}

/// Both integrators are of the second order in time on strips, and go to the same motion.
TEST(Strip, MovesToTheSecondOrderInTime) {
  const Swing swing(3);
  const auto [alpha, first] = convergence(5e-3, [&](double step) {
    GeneralizedAlpha motion(*swing.model, swing.alpha(0.06, step));
    motion.start();
    while (!motion.finished()) motion.advance();
    return swing.tip(motion.state());
  });
  const auto [variational, second] = convergence(5e-3, [&](double step) {
    LieGroupVariational motion(*swing.model, {.duration = 0.06, .step = step});
    motion.start();
    while (!motion.finished()) motion.advance();
    return swing.tip(motion.state());
  });
  EXPECT_NEAR(alpha, 2, 0.2);
  EXPECT_NEAR(variational, 2, 0.2);
  EXPECT_GT((first - swing.tip(swing.model->initialState())).norm(), 1e-2);
  EXPECT_LT((first - second).norm(), 1e-4);
}

/// What the wind does to a strip is what its energy gains, to the second order.
TEST(Strip, GainsTheWorkOfTheWind) {
  const auto defect = [](double step) {
    const Swing swing(3, {.density = 1.2, .wind = {0, 20, 30}});
    GeneralizedAlpha motion(*swing.model, swing.alpha(0.1, step));
    motion.start();
    const double first = swing.model->energy(motion.state()).total();
    double work = 0, power = swing.model->energy(motion.state()).power;
    while (!motion.finished()) {
      motion.advance();
      const double now = swing.model->energy(motion.state()).power;
      work += step * (power + now) / 2, power = now;
    }
    EXPECT_GT(std::abs(work), 1e-3);
    return std::abs((swing.model->energy(motion.state()).total() - first - work) / work);
  };
  const double coarse = defect(4e-3), fine = defect(2e-3);
  EXPECT_LT(fine, 1e-2);
  EXPECT_GT(coarse / fine, 3);
}

TEST(Strip, GoesOnToItsEquilibriumFromWhereItWasSaved) {
  ModelBuilder builder;
  builder.setGravity({{0, 2, -8}, TimeFunction::proportional()});
  const ShellPart ribbon = addStrip(builder, "ribbon",
                                    strip(
                                        1, 0.1, 5, [](double) { return -0.01; }, [](double) { return 0.; }));
  builder.term<Joints>().add(JointKind::Fixed, "clamp", builder.groundMarker("", builder.pose(ribbon.frame)),
                             builder.bodyMarker("", ribbon.frame));
  const auto model = builder.build();
  MinimumEnergy first(*model, {.steps = 4}), second(*model, {.steps = 4});
  first.start();
  first.advance(), first.advance();
  second.restore(first.save());
  while (!first.finished()) first.advance();
  while (!second.finished()) second.advance();
  EXPECT_EQ(first.state().q, second.state().q);
  EXPECT_EQ(first.state().lambda, second.state().lambda);
}

}
