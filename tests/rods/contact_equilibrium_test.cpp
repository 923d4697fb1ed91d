#include "tendril/rods/contact_equilibrium.h"

#include "rods/contact_program.h"
#include "tendril/model/error.h"
#include "tendril/rods/writhe.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>
#include <random>

namespace tendril {
namespace {

constexpr double pi = std::numbers::pi;

VectorX randomVector(Eigen::Index size, unsigned seed, double scale) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  return VectorX::NullaryExpr(size, [&](Eigen::Index) { return uniform(random); });
}

StrainRod placed(int elements, const Vector3& strains, double spread = 0) {
  StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}}, elements);
  rod.place({}, strains.replicate(elements, 1) + randomVector(3 * elements, 7, spread));
  return rod;
}

StrainRod::NodeForces nodesOf(const StrainRod& rod) {
  StrainRod::NodeForces nodes(3, rod.elements() + 1);
  for (int k = 0; k <= rod.elements(); ++k) nodes.col(k) = rod.frame(k).x;
  return nodes;
}

/// A coil and a tangle touch themselves and obstacles in all ways: in segments, at nodes, side by side.
RodSurroundings crowded() {
  return {.radius = 0.03,
          .touchesItself = true,
          .obstacles = {
              {.name = "floor", .kind = RodObstacle::Kind::HalfSpace, .frame = {so3::exp(Vector3(0.3, 0.1, 0)), {0, 0, -0.3}}},
              {.name = "room", .kind = RodObstacle::Kind::Sphere, .frame = {}, .radius = 0.4, .isHollow = true},
              {.name = "ball", .kind = RodObstacle::Kind::Sphere, .frame = {Matrix3::Identity(), {0.1, 0.05, 0.1}}, .radius = 0.02},
              {.name = "tube",
               .kind = RodObstacle::Kind::Cylinder,
               .frame = {so3::exp(Vector3(0, 0.5, 0)), {0, 0, 0}},
               .radius = 0.3,
               .isHollow = true},
              {.name = "bar", .kind = RodObstacle::Kind::Cylinder, .frame = {so3::exp(Vector3(1, 0.5, 0)), {0, 0.1, 0}}, .radius = 0.02}}};
}

TEST(RodContacts, GradientsAndCurvaturesOfGapsAreExact) {
  constexpr double step = 1e-6;
  int ofItself = 0, ofObstacles = 0;
  for (const Vector3& strains : {Vector3(20, 3, 12), Vector3(9, -14, 4)}) {
    StrainRod rod = placed(30, strains, 6);
    ContactProgram program(rod, {}, crowded());
    const VectorX u = program.rod().strains(), du = randomVector(u.size(), 3, 1), dw = du.cwiseQuotient(program.unit());
    program.differentiate();
    const std::vector<RodTouch> touches = program.touches();
    const MatrixX G = program.G();
    ASSERT_GT(touches.size(), 10u);
    const auto at = [&](double t) {
      program.place(u + t * du);
      program.differentiate();
      return std::pair(program.touches(), program.G());
    };
    const auto [above, Gabove] = at(step);
    const auto [below, Gbelow] = at(-step);
    const auto same = [](const std::vector<RodTouch>& all, const RodTouch& t) {
      return std::find_if(all.begin(), all.end(),
                          [&](const RodTouch& o) {
                            return o.obstacle == t.obstacle && o.first.feature() == t.first.feature() &&
                                   o.second.feature() == t.second.feature();
                          }) -
             all.begin();
    };
    for (std::size_t k = 0; k < touches.size(); ++k) {
      const auto a = same(above, touches[k]), b = same(below, touches[k]);
      if (a == std::ptrdiff_t(above.size()) || b == std::ptrdiff_t(below.size())) continue; // at the edge of a feature
      (touches[k].isOfRodItself() ? ofItself : ofObstacles)++;
      const double slope = (above[std::size_t(a)].gap - below[std::size_t(b)].gap) / (2 * step);
      EXPECT_NEAR(G.row(Eigen::Index(k)).dot(dw), slope, 1e-6 * (1 + std::abs(slope))) << k;
      program.place(u);
      program.differentiate();
      VectorX product, mu = VectorX::Zero(G.rows());
      mu[Eigen::Index(k)] = 1;
      program.vary(VectorX(0), mu);
      program.product(dw, product); // of the energy, |w|^2 / 2, less that of the gap
      const VectorX change = (Gabove.row(a) - Gbelow.row(b)).transpose() / (2 * step);
      EXPECT_LT((dw - product - change).norm(), 1e-5 * (1 + change.norm())) << k << " " << touches[k].first.feature();
    }
  }
  EXPECT_GT(ofItself, 10);
  EXPECT_GT(ofObstacles, 10);
}

/// Against all pairs; neighbours along the rod do not count.
TEST(RodContacts, FindsWhatIsNear) {
  const StrainRod rod = placed(60, {25, 2, 8}, 4);
  RodContacts contacts({.radius = 0.01, .touchesItself = true, .obstacles = {}});
  constexpr double margin = 0.02;
  const std::vector<RodTouch> found = contacts.find(rod, margin);
  double least = 1;
  for (const RodTouch& t : found) least = std::min(least, t.gap);
  const StrainRod::NodeForces x = nodesOf(rod);
  double sampled = 1;
  constexpr int samples = 40;
  for (int i = 0; i < 60; ++i)
    for (int j = i + contacts.nearestPartner(rod); j < 60; ++j)
      for (int a = 0; a <= samples; ++a)
        for (int b = 0; b <= samples; ++b)
          sampled = std::min(
              sampled, ((1 - a / 40.0) * x.col(i) + a / 40.0 * x.col(i + 1) - (1 - b / 40.0) * x.col(j) - b / 40.0 * x.col(j + 1)).norm());
  EXPECT_LE(least, sampled - 0.02 + 1e-12);
  EXPECT_GT(least, sampled - 0.02 - 1e-3);
  EXPECT_TRUE(contacts.find(placed(60, Vector3::Zero()), 0.01).empty());
}

TEST(RodContacts, NothingPassesThrough) {
  RodContacts contacts({.radius = 0.01, .touchesItself = true, .obstacles = {}});
  const StrainRod loop = placed(40, {7, 0, 2});
  contacts.find(loop, 0);
  const StrainRod::NodeForces from = nodesOf(loop);
  StrainRod::NodeForces rigid = from;
  rigid.colwise() += Vector3(3, -2, 1);
  EXPECT_EQ(contacts.longestFactor(from, rigid), 1); // no relative motion
  StrainRod::NodeForces mirrored = from;
  mirrored.row(2) *= -1;
  mirrored.row(0) *= -1;
  EXPECT_LT(contacts.longestFactor(from, mirrored), 0.95);
}

/// A rod between clamps in one line that is pressed against a wall which its middle touches is twice a half that is held there.
TEST(ContactEquilibrium, APointAgainstAWallIsWhatHoldsTwoHalves) {
  constexpr int n = 40;
  constexpr double H = 0.138, distance = 0.95, radius = 0.01;
  const RodProperties properties{.length = 1, .stiffness = {1, 5, 5}};
  StrainRod rod(properties, n);
  VectorX start = VectorX::Zero(3 * n);
  for (int i = 0; i < n; ++i) start[3 * i] = 0.3 * std::cos(2 * pi * (i + 0.5) / n);
  rod.place({}, start);
  const Vector3 up = (rod.frame(n / 2).x - rod.frame(n / 2).x.dot(Vector3::UnitZ()) * Vector3::UnitZ()).normalized();
  Pose wall;
  wall.R.col(2) = -up, wall.R.col(0) = Vector3::UnitZ(), wall.R.col(1) = wall.R.col(2).cross(wall.R.col(0));
  wall.x = (H + radius) * up;
  const RodEnds ends{.begin = {}, .position = Vector3(0, 0, distance), .orientation = Matrix3::Identity()};
  const RodContactEquilibrium found = solveContactEquilibrium(
      rod, ends,
      {.radius = radius, .touchesItself = true, .obstacles = {{.name = "wall", .kind = RodObstacle::Kind::HalfSpace, .frame = wall}}});
  ASSERT_TRUE(found.isMinimum) << found.message;
  EXPECT_LT(found.residual, 1e-8);
  ASSERT_EQ(found.contacts.size(), 1u);
  EXPECT_NEAR(found.contacts[0].touch.gap, 0, 1e-11);

  StrainRod half(RodProperties{.length = 0.5, .stiffness = {1, 5, 5}}, n / 2);
  half.place({}, start.head(3 * n / 2));
  const RodEquilibrium held =
      solveEquilibrium(half, {.begin = {}, .position = H * up + Vector3(0, 0, distance / 2), .orientation = Matrix3::Identity()});
  ASSERT_TRUE(held.isMinimum) << held.message;
  EXPECT_NEAR(found.energy, 2 * held.energy, 1e-7);
  EXPECT_NEAR(found.contacts[0].force, 2 * std::abs(held.end.force.dot(up)), 1e-5);
  EXPECT_NEAR(found.end.force[2], held.end.force[2], 1e-5);
  for (std::size_t k = 1; k < found.energies.size(); ++k) EXPECT_LE(found.energies[k], found.energies[k - 1] + 1e-12);
}

/// Clamped level at a small height h above a floor, a heavy rod touches down at l = (72 EI h / w)^(1/4): the clamp carries 2 w l / 3, the
/// place where it touches down w l / 3, and beyond it lies flat.
TEST(ContactEquilibrium, AHeavyRodLiesOnTheFloor) {
  constexpr int n = 100;
  constexpr double h = 0.004, w = 40, radius = 0.005;
  const double l = std::pow(72 * h / w, 0.25);
  const Matrix3 alongX = (Matrix3() << 0, 0, 1, 0, 1, 0, -1, 0, 0).finished();
  StrainRod rod({.length = 1, .stiffness = {1, 1, 0.7}, .weight = {0, 0, -w}}, n);
  const RodEnds ends{.begin = {alongX, {0, 0, h + radius}}};
  rod.place(ends.begin, rod.natural());
  const RodContactEquilibrium found = solveContactEquilibrium(
      rod, ends,
      {.radius = radius, .touchesItself = true, .obstacles = {{.name = "floor", .kind = RodObstacle::Kind::HalfSpace, .frame = {}}}});
  ASSERT_TRUE(found.isMinimum) << found.message;
  double floor = 0, first = 1, least = 1;
  for (const RodContactForce& c : found.contacts) {
    floor += c.force, least = std::min(least, c.force);
    first = std::min(first, (c.touch.first.segment + c.touch.first.share) / n);
  }
  EXPECT_GT(least, 0);
  EXPECT_NEAR(first, l, 0.015);
  EXPECT_NEAR(floor, w * (1 - 2 * l / 3), 0.005 * w);
  EXPECT_NEAR(rod.frame(n).x[2], radius, 1e-11);
  EXPECT_LT(found.iterations, 60);
}

TEST(ContactEquilibrium, RefusesWhatOverlapsOrDoesNotFit) {
  const auto message = [](StrainRod rod, const RodSurroundings& around) -> std::string {
    try {
      solveContactEquilibrium(rod, {}, around);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string itself = message(placed(60, {4.2 * pi, 0, 0.1}), {.radius = 0.01, .touchesItself = true, .obstacles = {}});
  EXPECT_NE(itself.find("elements "), std::string::npos) << itself;
  EXPECT_NE(itself.find(" and "), std::string::npos) << itself;
  EXPECT_NE(itself.find("overlap"), std::string::npos) << itself;
  const RodObstacle ball{.name = "ball", .kind = RodObstacle::Kind::Sphere, .frame = {Matrix3::Identity(), {0, 0, 0.5}}, .radius = 0.1};
  const std::string inside = message(placed(20, Vector3::Zero()), {.radius = 0.01, .touchesItself = true, .obstacles = {ball}});
  EXPECT_NE(inside.find("obstacle 'ball'"), std::string::npos) << inside;
  RodObstacle can = ball;
  can.name = "can", can.isHollow = true, can.radius = 0.005;
  EXPECT_NE(message(placed(20, Vector3::Zero()), {.radius = 0.01, .touchesItself = true, .obstacles = {can}}).find("holds no rod"),
            std::string::npos);
  EXPECT_NE(message(placed(20, Vector3::Zero()), {}).find("radius"), std::string::npos);
}

/// Twist between clamps in one line.
class Plectoneme {
 public:
  explicit Plectoneme(int elements, double distance = 0.65, double radius = 0.01)
      : rod({.length = 1, .stiffness = {1, 1, 0.7}}, elements), around{.radius = radius, .touchesItself = true, .obstacles = {}},
        distance_(distance) {
    rod.place({}, Vector3(2.5, 0, 0).replicate(elements, 1));
  }
  const RodContactEquilibrium& turn(double turns, const RodContactEquilibriumOptions& options = {}) {
    const RodEnds ends{.begin = {}, .position = Vector3(0, 0, distance_), .orientation = so3::exp(Vector3(0, 0, 2 * pi * turns))};
    return found = solveContactEquilibrium(rod, ends, around, options);
  }
  /// Least distance of the centreline from itself, over the diameter.
  double closest() {
    RodContacts contacts(around);
    double least = 2;
    for (const RodTouch& t : contacts.find(rod, 2 * around.radius)) least = std::min(least, 1 + t.gap / (2 * around.radius));
    return least;
  }

  StrainRod rod;
  RodSurroundings around;
  RodContactEquilibrium found;

 private:
  double distance_;
};

TEST(ContactEquilibrium, ATwistedRodThrowsALoopAndNeverPassesThroughItself) {
  Plectoneme p(50);
  std::vector<double> twist;
  double firstDrop = 0;
  constexpr int perTurn = 18;
  for (int k = 0; k <= 3.6 * perTurn; ++k) {
    const double turns = double(k) / perTurn;
    ASSERT_TRUE(p.turn(turns).isMinimum) << turns << ": " << p.found.message;
    EXPECT_LT(p.found.residual, 1e-8);
    EXPECT_GE(p.closest(), 1 - 1e-9);
    for (std::size_t i = 1; i < p.found.energies.size(); ++i) EXPECT_LE(p.found.energies[i], p.found.energies[i - 1] + 1e-11);
    EXPECT_NEAR(p.rod.turns() + writhe(nodesOf(p.rod)), turns, 0.02 * std::max(1.0, turns));
    if (!twist.empty() && p.rod.turns() < twist.back() - 0.3 && firstDrop == 0) {
      firstDrop = turns;
      EXPECT_FALSE(p.found.contacts.empty()) << "the loop touches itself";
    }
    twist.push_back(p.rod.turns());
  }
  EXPECT_GT(firstDrop, 2.5);
  EXPECT_LT(firstDrop, 3.5);
}

/// The constrained gradient flow ends in the same equilibria, through the snap as well, after many more iterations.
TEST(ContactEquilibrium, TheGradientFlowEndsInTheSamePlace) {
  Plectoneme newton(40), flow(40);
  int ofNewton = 0, ofFlow = 0;
  for (const double turns : {0.0, 0.3, 0.6, 0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 2.9, 3.1, 3.2}) {
    ASSERT_TRUE(newton.turn(turns).isMinimum) << newton.found.message;
    ASSERT_TRUE(flow.turn(turns, {.method = ContactDescent::Flow, .maxIterations = 100000}).isMinimum) << flow.found.message;
    EXPECT_NEAR(newton.found.energy, flow.found.energy, 1e-8 * newton.found.energy) << turns;
    EXPECT_EQ(newton.found.contacts.size(), flow.found.contacts.size()) << turns;
    ofNewton += newton.found.iterations, ofFlow += flow.found.iterations;
  }
  EXPECT_FALSE(flow.found.contacts.empty());
  EXPECT_GT(ofFlow, 10 * ofNewton);
}

/// What happens in a wind-up: where the twist drops by more than `drop`, and the last state.
struct WindUp {
  std::vector<double> drops;
  double twist = 0, energy = 0, closest = 2;
  std::vector<std::array<int, 3>> touching; ///< keys of the contacts that push
};

WindUp windUp(int elements, double turns, int perTurn, double drop) {
  Plectoneme p(elements);
  WindUp all;
  for (int k = 0; k <= turns * perTurn; ++k) {
    const double before = p.rod.turns(), now = double(k) / perTurn;
    EXPECT_TRUE(p.turn(now).isMinimum) << now << ": " << p.found.message;
    all.closest = std::min(all.closest, p.closest());
    if (k > 0 && p.rod.turns() < before - drop) {
      all.drops.push_back(now);
      EXPECT_FALSE(p.found.contacts.empty()) << now;
    } else if (k > 0 && all.drops.size() < 2) {
      EXPECT_GT(p.rod.turns(), before - 0.05) << now;
    }
  }
  all.twist = p.rod.turns(), all.energy = p.found.energy;
  for (const RodContactForce& c : p.found.contacts) all.touching.push_back(c.touch.key());
  return all;
}

/// The same contacts on the rod seen from its end.
std::vector<std::array<int, 3>> mirrored(std::vector<std::array<int, 3>> keys, int elements) {
  for (auto& key : keys) key = {key[0], 2 * elements - key[2], 2 * elements - key[1]};
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Loops at 3.03 and 4.25 turns, whatever the step; the contacts may be those of the mirror image, which has the same energy.
TEST(ContactEquilibrium, TwistGoesUpAndDownLikeASaw) {
  const WindUp coarse = windUp(100, 5, 36, 0.15), fine = windUp(100, 5, 72, 0.15);
  for (const WindUp& w : {coarse, fine}) {
    ASSERT_EQ(w.drops.size(), 2u);
    EXPECT_NEAR(w.drops[0], 3.02, 0.03);
    EXPECT_NEAR(w.drops[1], 4.25, 0.06);
    EXPECT_GE(w.closest, 1 - 1e-9);
  }
  EXPECT_TRUE(coarse.touching == fine.touching || coarse.touching == mirrored(fine.touching, 100));
  EXPECT_NEAR(coarse.twist, fine.twist, 1e-6);
  EXPECT_NEAR(coarse.energy, fine.energy, 1e-8 * fine.energy);
}

}
}
