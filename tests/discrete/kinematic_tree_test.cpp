#include "tendril/discrete/kinematic_tree.h"

#include "lower_pairs.h"
#include "mechanisms.h"
#include "support/dense.h"

#include <gtest/gtest.h>

using namespace tendril;
using namespace tendril::test;

namespace {

constexpr JointKind kinds[] = {JointKind::Fixed,       JointKind::Revolute,       JointKind::Prismatic,
                               JointKind::Cylindrical, JointKind::Spherical,      JointKind::Universal,
                               JointKind::Planar,      JointKind::DrivenRotation, JointKind::DrivenTranslation};
constexpr int freedoms[] = {0, 1, 1, 2, 3, 2, 3, 1, 1};
int freedomOf(JointKind kind) { return freedoms[std::find(std::begin(kinds), std::end(kinds), kind) - std::begin(kinds)]; }

/// A relative pose that a joint allows, not its zero.
Pose allowed(JointKind kind) {
  Pose H;
  switch (kind) {
  case JointKind::Revolute:
    return {so3::exp(Vector3(0, 0, 0.7)), Vector3::Zero()};
  case JointKind::Prismatic:
    return {Matrix3::Identity(), Vector3(0, 0, 0.4)};
  case JointKind::Cylindrical:
    return {so3::exp(Vector3(0, 0, -0.6)), Vector3(0, 0, 0.3)};
  case JointKind::Spherical:
    return {so3::exp(Vector3(0.3, -0.7, 0.5)), Vector3::Zero()};
  case JointKind::Universal:
    return {so3::exp(Vector3(0.5, 0, 0)) * so3::exp(Vector3(0, -0.4, 0)), Vector3::Zero()};
  case JointKind::Planar:
    return {so3::exp(Vector3(0, 0, 0.5)), Vector3(0.4, -0.3, 0)};
  default:
    return {};
  }
}

enum class Arrangement { GroundToBody, BodyToGround, MovingGround, BodyToBody, BodyToBodyFlipped, Chain };
constexpr Arrangement arrangements[] = {Arrangement::GroundToBody, Arrangement::BodyToGround,      Arrangement::MovingGround,
                                        Arrangement::BodyToBody,   Arrangement::BodyToBodyFlipped, Arrangement::Chain};

/// Bodies that hang on each other by joints of one kind, with marker frames anywhere on them.
class Hanging {
 public:
  Hanging(JointKind kind, Arrangement arrangement) : kind_(kind) {
    GroundMotion motion;
    motion.translation[1] = {"there", [](double t) { return Jet{0.3 * t, 0.3, 0}; }};
    motion.axis = Vector3(1, 2, 2) / 3;
    motion.angle = {"turning", [](double t) { return Jet{0.4 * t + 0.1 * t * t, 0.4 + 0.2 * t, 0.2}; }};
    const Pose atGround = numbers_.pose(0.5, 0.5);
    switch (arrangement) {
    case Arrangement::GroundToBody:
      hang(m_.builder.groundMarker("", atGround), atGround, false);
      break;
    case Arrangement::BodyToGround:
      hang(m_.builder.groundMarker("", atGround), atGround, true);
      break;
    case Arrangement::MovingGround: {
      const Marker& moving = m_.builder.movingMarker("", atGround, motion);
      const Pose start = moving.frame(m_.builder.state());
      hang(moving, start, false);
      break;
    }
    case Arrangement::BodyToBody:
      hangOn(m_.body("root", numbers_.pose(1, 1)), false);
      break;
    case Arrangement::BodyToBodyFlipped:
      hangOn(m_.body("root", numbers_.pose(1, 1)), true);
      break;
    case Arrangement::Chain: {
      int body = hang(m_.builder.groundMarker("", atGround), atGround, false);
      for (bool flipped : {true, false, true}) body = hangOn(body, flipped);
      break;
    }
    }
  }
  ModelBuilder& builder() { return m_.builder; }

 private:
  int hang(const Marker& marker, const Pose& frame, bool isFlipped) {
    const Pose offset = numbers_.pose(0.5, 1), H12 = allowed(kind_);
    const int body = m_.body("b" + std::to_string(count_), frame * (isFlipped ? H12.inverse() : H12) * offset.inverse());
    const Marker& own = m_.builder.bodyMarker("", body, offset);
    JointParameters parameters;
    parameters.motion = TimeFunction::constant(0);
    m_.builder.term<Joints>().add(kind_, "j" + std::to_string(count_++), isFlipped ? own : marker, isFlipped ? marker : own, parameters);
    return body;
  }
  int hangOn(int parent, bool isFlipped) {
    const Pose offset = numbers_.pose(0.5, 1);
    return hang(m_.builder.bodyMarker("", parent, offset), m_.builder.pose(parent) * offset, isFlipped);
  }

  JointKind kind_;
  Numbers numbers_{3};
  Mechanism m_;
  int count_ = 0;
};

/// Rows that the tree holds by itself, and the internal ones.
std::vector<int> heldRows(const Directors& d, const KinematicTree& tree) {
  std::vector<int> rows;
  for (int i = 0; i < d.system.constraints(); ++i) {
    const std::vector<int>& closure = tree.closure();
    if (std::find(closure.begin(), closure.end(), i - d.system.internalConstraints()) == closure.end()) rows.push_back(i);
  }
  return rows;
}

}

class LowerPairsTest : public ::testing::TestWithParam<std::tuple<JointKind, Arrangement>> {
 protected:
  LowerPairsTest() : hanging_(std::get<0>(GetParam()), std::get<1>(GetParam())), d(hanging_.builder()), tree(d.system) {}
  Hanging hanging_;
  Directors d;
  KinematicTree tree;
  Numbers numbers{11};
};

TEST_P(LowerPairsTest, TangentSpaceIsThatOfTheConstraints) {
  const auto [kind, arrangement] = GetParam();
  const int r = freedomOf(kind);
  const bool hasRoot = arrangement == Arrangement::BodyToBody || arrangement == Arrangement::BodyToBodyFlipped;
  const int expected = hasRoot ? 6 + r : arrangement == Arrangement::Chain ? 4 * r : r;
  ASSERT_EQ(tree.dimension(), expected);
  MatrixX A;
  tree.matrix(d.q, 0, A);
  const MatrixX P = d.internalNullSpace(d.q) * A;
  EXPECT_EQ(rankOf(P), expected);
  const std::vector<int> rows = heldRows(d, tree);
  const MatrixX G = d.constraintGradient(d.q, 0)(rows, Eigen::all);
  EXPECT_EQ(rankOf(G), d.system.size() - expected); // so P spans all that G leaves
  if (expected > 0) {
    EXPECT_LT((G * P).lpNorm<Eigen::Infinity>(), 1e-12);
  }
}

TEST_P(LowerPairsTest, RetractionHoldsTheConstraintsWhateverItsSize) {
  const std::vector<int> rows = heldRows(d, tree);
  VectorX q = d.q, next;
  for (int step = 0; step < 5; ++step) {
    tree.retract(q, numbers.vector(tree.dimension(), 0.5), 0.1 * step, 0.1 * (step + 1), next);
    q.swap(next);
    EXPECT_LT(d.constraint(q, 0.1 * (step + 1))(rows).lpNorm<Eigen::Infinity>(), 1e-14);
  }
}

TEST_P(LowerPairsTest, TwistsAreTheDerivativeOfTheRetraction) {
  constexpr double h = 1e-5;
  MatrixX A;
  VectorX plus, minus, drift, rate(d.system.size());
  tree.matrix(d.q, 0, A);
  const MatrixX P = d.internalNullSpace(d.q) * A;
  for (int i = 0; i < tree.dimension(); ++i) {
    tree.retract(d.q, VectorX::Unit(tree.dimension(), i) * h, 0, 0, plus);
    tree.retract(d.q, VectorX::Unit(tree.dimension(), i) * -h, 0, 0, minus);
    EXPECT_LT(((plus - minus) / (2 * h) - P.col(i)).lpNorm<Eigen::Infinity>(), 1e-9);
  }
  const VectorX still = VectorX::Zero(tree.dimension());
  tree.retract(d.q, still, 0, h, plus);
  tree.retract(d.q, still, 0, -h, minus);
  tree.drift(d.q, 0, drift);
  d.system.rates(d.q, drift, rate);
  EXPECT_LT(((plus - minus) / (2 * h) - rate).lpNorm<Eigen::Infinity>(), 1e-9);
}

TEST_P(LowerPairsTest, SweepsBelongTogether) {
  const VectorX rates = numbers.vector(tree.dimension(), 1), forces = numbers.vector(d.model->nv(), 1);
  VectorX v, reduced, drift, back;
  tree.twists(d.q, 0.2, rates, v);
  tree.reduce(d.q, 0.2, forces, reduced);
  EXPECT_NEAR(forces.dot(v), reduced.dot(rates), 1e-13);
  tree.drift(d.q, 0.2, drift);
  tree.rates(d.q, 0.2, v + drift, back);
  EXPECT_LT((back - rates).norm(), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(AllPairs, LowerPairsTest, ::testing::Combine(::testing::ValuesIn(kinds), ::testing::ValuesIn(arrangements)),
                         [](const auto& tried) {
                           std::string name(nameOf(std::get<0>(tried.param)));
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name + "_" + std::to_string(int(std::get<1>(tried.param)));
                         });

// ---- against the printed formulas ------------------------------------------------------------------------------------------------------

namespace {

constexpr std::pair<JointKind, oracles::PairFormula> formulas[] = {
    {JointKind::Spherical, oracles::PairFormula::Spherical}, {JointKind::Revolute, oracles::PairFormula::RelativeRevolute},
    {JointKind::Revolute, oracles::PairFormula::Revolute},   {JointKind::Cylindrical, oracles::PairFormula::Cylindrical},
    {JointKind::Prismatic, oracles::PairFormula::Prismatic}, {JointKind::Planar, oracles::PairFormula::Planar}};

/// Twists of two bodies from the spatial convention (phi', omega) to local frames.
MatrixX local(const MatrixX& spatial, const oracles::DirectorBody& one, const oracles::DirectorBody& two) {
  MatrixX twists(12, spatial.cols());
  for (int k = 0; k < 4; ++k) twists.middleRows<3>(3 * k) = (k < 2 ? one : two).d.transpose() * spatial.middleRows<3>(3 * k);
  return twists;
}

}

/// Null space matrices of absolute spins span the space that relative motions span, and their updates reach what the tree reaches.
TEST(KinematicTree, AgreesWithTheFormulasOfAbsoluteSpins) {
  Numbers numbers(5);
  for (const auto& [kind, formula] : formulas) {
    SCOPED_TRACE(nameOf(kind));
    const Pose one = numbers.pose(1, 1), offset1 = numbers.pose(0.5, 1), offset2 = numbers.pose(0.5, 1);
    const Pose two = one * offset1 * allowed(kind) * offset2.inverse();
    Mechanism m;
    const int a = m.body("one", one), b = m.body("two", two);
    m.builder.term<Joints>().add(kind, "j", m.builder.bodyMarker("", a, offset1), m.builder.bodyMarker("", b, offset2));
    const Directors d(m.builder);
    const KinematicTree tree(d.system);

    const oracles::LowerPairFormulas pair{formula, offset1.x, offset2.x, offset1.R};
    oracles::DirectorBody body1{one.x, one.R}, body2{two.x, two.R};
    const int n = 6 + pair.freedom();
    ASSERT_EQ(tree.dimension(), n);
    MatrixX spatial = MatrixX::Zero(12, n), A;
    spatial.topLeftCorner<6, 6>().setIdentity();
    spatial.bottomRows<6>() = pair.secondTwist(body1, body2);
    tree.matrix(d.q, 0, A);
    MatrixX both(12, 2 * n);
    both << A, local(spatial, body1, body2);
    EXPECT_EQ(rankOf(both.rightCols(n)), n);
    EXPECT_EQ(rankOf(both, 1e-12), n);

    pair.move(numbers.vector(n, 0.3), body1, body2);
    VectorX q(24);
    q << body1.phi, body1.d.reshaped(), body2.phi, body2.d.reshaped();
    EXPECT_LT(d.constraint(q, 0).lpNorm<Eigen::Infinity>(), 1e-14);
  }
}

// ---- choice of the forest --------------------------------------------------------------------------------------------------------------

TEST(KinematicTree, CountsOfPublishedSystems) {
  const auto dimensions = [](Mechanism& m, int n, int constraints, int freedom) {
    const Directors d(m.builder);
    const KinematicTree tree(d.system);
    EXPECT_EQ(d.system.size(), n);
    EXPECT_EQ(d.system.constraints(), constraints);
    EXPECT_EQ(tree.dimension(), freedom);
    EXPECT_TRUE(tree.closure().empty());
  };
  for (const auto& [kind, freedom] : {std::pair{JointKind::Revolute, 7},
                                      {JointKind::Prismatic, 7},
                                      {JointKind::Cylindrical, 8},
                                      {JointKind::Spherical, 9},
                                      {JointKind::Planar, 9}}) {
    SCOPED_TRACE(nameOf(kind));
    Mechanism pair;
    const int a = pair.body("a"), b = pair.body("b", {Matrix3::Identity(), Vector3(1, 0, 0)});
    pair.join(kind, "j", a, b, {});
    dimensions(pair, 24, 24 - freedom, freedom);
  }
  {
    SCOPED_TRACE("body with three rotors");
    Mechanism m;
    const int main = m.body("main");
    for (int i = 0; i < 3; ++i)
      m.hinge("axle" + std::to_string(i), main, m.body("rotor" + std::to_string(i)), Vector3::Unit(i), Vector3::Unit(i));
    dimensions(m, 48, 39, 9);
  }
  {
    SCOPED_TRACE("body with two rotors");
    Mechanism m;
    const int main = m.body("main");
    for (int i = 0; i < 2; ++i)
      m.hinge("axle" + std::to_string(i), main, m.body("rotor" + std::to_string(i)), Vector3::Unit(i), Vector3::Unit(i));
    dimensions(m, 36, 28, 8);
  }
  {
    SCOPED_TRACE("pitcher");
    Mechanism m;
    const int torso = m.body("torso"), upper = m.body("upper"), fore = m.body("fore");
    m.hinge("spine", -1, torso, Vector3::Zero(), Vector3::UnitZ());
    m.join(JointKind::Spherical, "shoulder", torso, upper, frameAlong({0.2, 0, 0}, {0, 0, 1}));
    m.hinge("elbow", upper, fore, {0.5, 0, 0}, {0, 1, 0});
    dimensions(m, 36, 31, 5);
  }
  {
    SCOPED_TRACE("robot arm");
    Mechanism m;
    const int one = m.body("one"), two = m.body("two");
    m.join(JointKind::Spherical, "S1", -1, one, {});
    m.join(JointKind::Spherical, "S2", one, two, frameAlong({1, 0, 0}, {0, 0, 1}));
    dimensions(m, 24, 18, 6);
  }
  {
    SCOPED_TRACE("two-link arm");
    Mechanism m;
    const int one = m.body("one"), two = m.body("two");
    m.hinge("shoulder", -1, one, Vector3::Zero(), Vector3::UnitY());
    m.hinge("elbow", one, two, Vector3::UnitX(), Vector3::UnitY());
    dimensions(m, 24, 22, 2);
  }
  {
    SCOPED_TRACE("three-bar swing: two links and the 21 nodes of a beam, whose ends hang on the links");
    Mechanism m;
    const int left = m.body("left"), right = m.body("right");
    std::vector<int> nodes;
    for (int i = 0; i <= 20; ++i) nodes.push_back(m.builder.addPose("beam 'b'", i, {Matrix3::Identity(), Vector3(0.036 * i, 0, 0)}));
    m.join(JointKind::Spherical, "A", -1, left, frameAlong({0, 0, 0.36}, {1, 0, 0}));
    m.join(JointKind::Spherical, "B", -1, right, frameAlong({0.72, 0, 0.36}, {1, 0, 0}));
    m.hinge("C", left, nodes.front(), {0, 0, 0}, {0, 1, 0});
    m.hinge("D", nodes.back(), right, {0.72, 0, 0}, {0, 1, 0});
    dimensions(m, 276, 154, 122);
  }
}

/// The pairs of the forest hold as many constraints as they can: of a triangle of joints the weakest closes the loop.
TEST(KinematicTree, LeavesTheFewestClosureRows) {
  Mechanism m;
  const int a = m.body("a"), b = m.body("b");
  m.join(JointKind::Spherical, "ball", -1, a, {});
  m.hinge("hinge", a, b, {1, 0, 0}, {0, 0, 1});
  m.join(JointKind::Fixed, "weld", b, -1, {});
  m.builder.term<Joints>().add(JointKind::Distance, "rod", m.ground, m.marker(a, frameAlong({0, 0, 1}, {0, 0, 1})));
  const Directors d(m.builder);
  const KinematicTree tree(d.system);
  EXPECT_EQ(tree.closure(), (std::vector<int>{0, 1, 2, 14}));
  EXPECT_EQ(tree.parent(b), -1);
  EXPECT_EQ(tree.parent(a), b);
  EXPECT_EQ(tree.freedom(b), 0);
  EXPECT_EQ(tree.dimension(), 1);
  EXPECT_EQ(tree.nameOfCoordinate(0), "joint 'hinge'");
}

TEST(KinematicTree, NamesAndUnitsOfCoordinates) {
  Mechanism m;
  const int car = m.body("car"), wheel = m.body("wheel");
  m.join(JointKind::Cylindrical, "axle", car, wheel, {});
  const Directors d(m.builder);
  const KinematicTree tree(d.system);
  ASSERT_EQ(tree.dimension(), 8);
  EXPECT_EQ(tree.nameOfCoordinate(5), "body 'car'");
  EXPECT_EQ(tree.nameOfCoordinate(6), "joint 'axle'");
  const bool lengths[] = {true, true, true, false, false, false, true, false};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(tree.isLength(i), lengths[i]) << i;
}

/// Rounding adds up over many steps, but no faster than its square root.
TEST(KinematicTree, LongPathsStayOnTheManifold) {
  Mechanism m;
  int before = -1;
  for (int i = 0; i < 4; ++i) {
    const int body = m.body("b" + std::to_string(i), {Matrix3::Identity(), Vector3(i + 0.5, 0, 0)});
    m.hinge("j" + std::to_string(i), before, body, Vector3(i, 0, 0), Vector3::Unit(i % 3));
    before = body;
  }
  const Directors d(m.builder);
  const KinematicTree tree(d.system);
  Numbers numbers;
  VectorX q = d.q, next;
  for (int step = 0; step < 5000; ++step) {
    tree.retract(q, numbers.vector(4, 0.5), 0, 0, next);
    q.swap(next);
  }
  EXPECT_LT(d.constraint(q, 0).lpNorm<Eigen::Infinity>(), 1e-12);
}
