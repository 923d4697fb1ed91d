#include "contact/line_rig.h"

#include "support/allocation_counter.h"

#include "tendril/contact/contact_detection.h"
#include "tendril/contact/mesh.h"
#include "tendril/lie/so3.h"
#include "tendril/model/error.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>

namespace tendril {
namespace {

using test::LineRig;
using Method = LineContactOptions::Method;

std::vector<LineContactOptions> allOptions() {
  std::vector<LineContactOptions> all;
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    for (const Projection projection : {Projection::ClosestPoint, Projection::SectionPlane}) {
      LineContactOptions options;
      options.method = method;
      options.projection = projection;
      options.points = 2;
      all.push_back(options);
    }
  }
  return all;
}

TEST(LineContacts, OfParallelCurvesHaveTheirGapAndStandForTheOverlap) {
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 8, {0, 0, 0}, {1, 0, 0}, 0.1);
    rig.line("b", 5, {1.5, 0, 0.21}, {0.25, 0, 0.21}, 0.1); // runs the other way, 0.25 before a segment's end
    const LineContacts& contacts = rig.build(options);
    ASSERT_FALSE(contacts.constraints().empty());
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_TRUE(c.isPresent);
      EXPECT_EQ(c.first, 0);
      EXPECT_NEAR(c.gap, 0.01, 1e-12);
      EXPECT_NEAR(c.frame(2, 0), -1, 1e-12) << "normal towards the first";
      EXPECT_NEAR(c.otherArclength, 1.5 - c.arclength, 1e-10);
      EXPECT_LT(c.slip.norm(), 1e-14);
    }
    EXPECT_NEAR(rig.totalWeight(), 0.75, 1e-10);
  }
}

/// int Q^T f ds over [from, to] of a straight curve, f in the inertial frame, by Simpson's rule (exact: Q is quadratic).
void addLineLoad(const CurveConfiguration& curve, const Model& model, const Vector3& f, double from, double to, VectorX& forces) {
  double start = 0;
  for (int k = 0; k < curve.segments(); ++k) {
    const double length = curve.curve().segments[std::size_t(k)].length;
    const double a = std::max(0.0, (from - start) / length), b = std::min(1.0, (to - start) / length);
    start += length;
    if (a >= b) continue;
    for (const auto& [x, w] : {std::pair(0.0, 1.0), std::pair(0.5, 4.0), std::pair(1.0, 1.0)}) {
      const Carrier c = curve.carrier({k, a + x * (b - a)});
      Vector6 wrench = Vector6::Zero();
      wrench.head<3>() = c.frame.R.transpose() * f;
      for (int i = 0; i < 2; ++i) {
        forces.segment<6>(model.blocks()[std::size_t(c.block[std::size_t(i)])].v) +=
            w / 6 * (b - a) * length * c.J[std::size_t(i)].transpose() * wrench;
      }
    }
  }
}

TEST(LineContacts, MortarPassesAUniformPressureExactlyBetweenMeshesThatDoNotMatch) {
  constexpr double pressure = 7;
  for (const Projection projection : {Projection::ClosestPoint, Projection::SectionPlane}) {
    LineRig rig;
    rig.line("a", 7, {0, 0, 0}, {1, 0, 0}, 0.1);
    rig.line("b", 4, {-0.1, 0, 0.2}, {0.93, 0, 0.2}, 0.1);
    LineContactOptions options;
    options.projection = projection;
    const LineContacts& contacts = rig.build(options);
    Eigen::Matrix3Xd F = Eigen::Matrix3Xd::Zero(3, Eigen::Index(contacts.constraints().size()));
    for (Eigen::Index j = 0; j < F.cols(); ++j) F(0, j) = pressure * contacts.constraints()[std::size_t(j)].weight;
    VectorX expected = VectorX::Zero(rig.model->nv());
    for (const auto& [part, sign, from, to] : {std::tuple(0, -1.0, 0.0, 0.93), std::tuple(1, 1.0, 0.1, 1.03)}) {
      CurveConfiguration curve(*rig.model, *rig.parts.parts()[std::size_t(part)].curve);
      curve.set(rig.state);
      addLineLoad(curve, *rig.model, {0, 0, sign * pressure}, from, to, expected);
    }
    EXPECT_LT((rig.forces(F) - expected).norm(), 1e-11 * expected.norm());
  }
}

TEST(LineContacts, OfTwoHelicesThatTouchHaveNoGapAnywhere) {
  constexpr double R = 0.1, pitch = 3;
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.helix("a", 24, 2, R, pitch, 0, R);
    rig.helix("b", 30, 2, R, pitch, M_PI, R);
    const LineContacts& contacts = rig.build(options, 0.02);
    double length = 0;
    for (const auto& segment : rig.parts.parts()[1].curve->segments) length += segment.length;
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_EQ(c.first, 1) << "the one with shorter segments looks for the other";
      EXPECT_GT(c.weight, 0) << "lines that touch all along do not cross";
      EXPECT_NEAR(c.gap, 0, 1e-12);
      EXPECT_NEAR(c.otherArclength, c.arclength, 1e-6 * length);
    }
    EXPECT_NEAR(rig.totalWeight(), length, 1e-9 * length);
  }
}

TEST(LineContacts, OfACoilWithItselfAreFoundButNotOfNeighboursAlongIt) {
  constexpr double R = 0.1, coil = 1, pitch = 0.22;
  const double turn = std::hypot(2 * M_PI * coil, pitch);
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.helix("coil", 100, 4, coil, pitch, 0, R);
    const LineContacts& contacts = rig.build(options, 0.02);
    double total = 0;
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_NEAR(c.otherArclength - c.arclength, turn, 0.2 * turn);
      EXPECT_NEAR(c.gap, pitch * 2 * M_PI * coil / turn - 2 * R, 1e-4 * R)
          << "distance of neighbouring turns, seen along the normal of both";
      total += c.weight;
    }
    EXPECT_NEAR(total, 3 * turn, 0.1 * turn);
  }
  LineRig rig;
  rig.line("straight", 200, {0, 0, 0}, {1, 0, 0}, 0.1); // segments far shorter than the radius
  EXPECT_TRUE(rig.build().constraints().empty());
}

Pose onPolyline(const std::vector<Vector3>& points, int i) {
  const auto leg = [&](int k) { return (points[std::size_t(k) + 1] - points[std::size_t(k)]).normalized(); };
  const Vector3 along = (leg(std::max(i - 1, 0)) + leg(std::min(i, int(points.size()) - 2))).normalized();
  return {so3::shortestRotation(Vector3::UnitX(), along), points[std::size_t(i)]};
}

TEST(LineContacts, LoseAndDoubleNothingAtKinks) {
  std::vector<Vector3> points;
  for (int i = 0; i <= 10; ++i) points.emplace_back(-0.5 + 0.5 * i, 0.03 * (i % 3), 0.25 + (i % 2 ? 0.15 : 0));
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 13, {0, 0, 0}, {4, 0, 0}, 0.1);
    rig.curve("b", 10, 10, 0.1, [&](double s) { return onPolyline(points, int(std::lround(s))); });
    rig.build(options, 1);
    EXPECT_NEAR(rig.totalWeight(), 4, 1e-9);
    std::map<double, int> seen;
    for (const ContactConstraint& c : rig.contacts->constraints()) {
      if (c.weight == 0) continue; // a crossing
      EXPECT_EQ(++seen[c.arclength], 1);
    }
  }
}

TEST(LineContacts, KeepTheirKeysWhileCurvesSlide) {
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 8, {0, 0, 0}, {1, 0, 0}, 0.1);
    rig.line("b", 6, {-0.5, 0, 0.2}, {1.5, 0, 0.2}, 0.1);
    LineContacts& contacts = rig.build(options);
    std::map<std::uint64_t, double> place;
    for (const ContactConstraint& c : contacts.constraints()) place[c.key] = c.arclength;
    const std::size_t count = place.size();
    ASSERT_EQ(count, contacts.constraints().size()) << "keys differ";
    State s = rig.state;
    for (int step = 0; step < 10; ++step) { // over several segments of the other
      for (int i = 0; i <= 8; ++i) s.q[12 * i] += 0.04;
      contacts.begin(s, 0.05);
      contacts.evaluate(s);
      for (const ContactConstraint& c : contacts.constraints()) {
        ASSERT_TRUE(place.contains(c.key));
        EXPECT_NEAR(c.arclength, place[c.key], 1e-9);
      }
      EXPECT_EQ(contacts.constraints().size(), count);
    }
    // Within a step indices stay, what is gone is absent, and what returns is itself again.
    const auto before = std::vector<ContactConstraint>(contacts.constraints().begin(), contacts.constraints().end());
    State away = s;
    for (int i = 0; i <= 8; ++i) away.q[12 * i + 2] -= 0.5;
    contacts.evaluate(away);
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_FALSE(c.isPresent);
      EXPECT_TRUE(contacts.gradient(c).empty());
    }
    contacts.evaluate(s);
    ASSERT_EQ(contacts.constraints().size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(contacts.constraints()[i].key, before[i].key);
      EXPECT_EQ(contacts.constraints()[i].gap, before[i].gap);
      EXPECT_TRUE(contacts.constraints()[i].isPresent);
    }
  }
}

// ---- rigid parts -----------------------------------------------------------------------------------------------------------------------

TEST(LineContacts, WithRigidPartsHaveTheirDistance) {
  TriangleMesh ground; // two triangles
  ground.vertices = {{-5, -5, 0}, {5, -5, 0}, {5, 5, 0}, {-5, 5, 0}};
  ground.triangles = {{0, 1, 2}, {0, 2, 3}};
  struct Case {
    Shape::Kind kind;
    Vector3 size;
    Pose pose;
    bool isAll; ///< the whole length lies at the same distance
  };
  const Matrix3 alongX = so3::exp(Vector3(0, M_PI / 2, 0));
  const std::vector<Case> cases{{Shape::Kind::HalfSpace, Vector3::Zero(), Pose{}, true},
                                {Shape::Kind::Box, {4, 4, 2}, {Matrix3::Identity(), {0.5, 0, -1}}, true},
                                {Shape::Kind::Cylinder, {0.5, 6, 0}, {alongX, {0.5, 0, -0.5}}, true},
                                {Shape::Kind::Capsule, {0.5, 6, 0}, {alongX, {0.5, 0, -0.5}}, true},
                                {Shape::Kind::TriangleMesh, Vector3::Zero(), Pose{}, true},
                                {Shape::Kind::Sphere, {0.5, 0, 0}, {Matrix3::Identity(), {0.5, 0, -0.5}}, false}};
  for (const LineContactOptions& options : allOptions()) {
    for (const Case& c : cases) {
      LineRig rig;
      rig.line("a", 9, {0, 0, 0.12}, {1, 0, 0.12}, 0.1);
      auto mesh = std::make_shared<TriangleMesh>(ground);
      Shape shape;
      shape.kind = c.kind, shape.size = c.size;
      if (c.kind == Shape::Kind::TriangleMesh) shape.mesh = mesh, shape.open = true;
      rig.parts.addPart({"solid", "", &rig.builder.groundMarker("", c.pose), {CollisionShape(shape, "solid")}, {}});
      const LineContacts& contacts = rig.build(options, 0.2);
      ASSERT_FALSE(contacts.constraints().empty());
      for (const ContactConstraint& k : contacts.constraints()) {
        EXPECT_EQ(k.second, 1);
        if (c.isAll) {
          EXPECT_NEAR(k.gap, 0.02, 1e-9);
          EXPECT_NEAR(k.frame(2, 0), 1, 1e-9);
        } else if (k.weight == 0) { // all but resolved: with an allowance of up to 2 % of the diameter
          EXPECT_NEAR(k.arclength, 0.5, 1e-9);
          EXPECT_NEAR(k.gap, 0.022, 0.002 + 1e-9);
        } else if (options.method == Method::Collocation) {
          EXPECT_NEAR(k.gap, std::hypot(k.arclength - 0.5, 0.62) - 0.6, 1e-9);
        } else {
          EXPECT_GT(k.gap, 0.02);
        }
      }
      EXPECT_NEAR(rig.totalWeight(), 1, 1e-10);
    }
  }
}

TEST(LineContacts, AcrossACylinderHaveTheirExactGapThere) {
  for (const LineContactOptions& options : allOptions()) {
    for (const double x : {0.03, 0.2, 0.25, 0.4}) { // within segments and at a node
      LineRig rig;
      rig.line("a", 5, {-0.6, 0, 0.17}, {1.4, 0, 0.17}, 0.1);
      rig.solid("roll", Shape::Kind::Cylinder, {0.06, 3, 0}, {so3::exp(Vector3(M_PI / 2, 0, 0)), {x, 0, 0}});
      int supports = 0;
      for (const ContactConstraint& c : rig.build(options).constraints()) {
        if (c.weight > 0) {
          EXPECT_GT(c.gap, 0.01);
          continue;
        }
        ++supports;
        EXPECT_NEAR(c.gap, 0.01, 1e-9);
        EXPECT_NEAR(c.arclength, 0.6 + x, 1e-9);
        EXPECT_NEAR(c.frame(2, 0), 1, 1e-9);
      }
      EXPECT_EQ(supports, 1) << x;
    }
  }
}

TEST(LineContacts, OfAClosedCurveHaveNoSeam) {
  constexpr int count = 16;
  constexpr double ring = 1, R = 0.1;
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    ContactCurve curve;
    curve.radius = R;
    const auto frame = [=](double t) {
      return Pose{so3::exp(Vector3(0, 0, t + M_PI / 2)), Vector3(ring * std::cos(t), ring * std::sin(t), R)};
    };
    std::vector<int> blocks;
    for (int i = 0; i < count; ++i) blocks.push_back(rig.builder.addPose("ring", i, frame(2 * M_PI * i / count)));
    for (int i = 0; i < count; ++i)
      curve.segments.push_back({{blocks[std::size_t(i)], blocks[std::size_t((i + 1) % count)]}, 2 * M_PI * ring / count});
    rig.parts.addPart({"ring", "", nullptr, {}, curve});
    rig.solid("floor", Shape::Kind::HalfSpace, Vector3::Zero(), Pose{});
    const LineContacts& contacts = rig.build(options);
    ASSERT_EQ(contacts.constraints().size(), options.method == Method::Mortar ? count : 2 * count);
    for (const ContactConstraint& c : contacts.constraints()) {
      EXPECT_NEAR(c.weight, 2 * M_PI * ring / double(contacts.constraints().size()), 1e-12);
      EXPECT_NEAR(c.gap, 0, 1e-12);
      EXPECT_EQ(contacts.gradient(c).size(), options.method == Method::Mortar ? 3u : 2u);
    }
  }
}

TEST(LineContacts, InACornerOfTwoPlanesTouchBoth) {
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 5, {0, 0.11, 0.12}, {1, 0.11, 0.12}, 0.1);
    rig.solid("floor", Shape::Kind::HalfSpace, Vector3::Zero(), Pose{});
    Shape wall;
    wall.kind = Shape::Kind::HalfSpace;
    Shape floor = wall;
    wall.pose.R = so3::exp(Vector3(-M_PI / 2, 0, 0)); // solid below y = 0
    rig.parts.addPart({"corner", "", &rig.builder.groundMarker("", Pose{}), {CollisionShape(floor, "f"), CollisionShape(wall, "w")}, {}});
    const LineContacts& contacts = rig.build(options);
    int upright = 0, sideways = 0;
    std::set<std::uint64_t> keys;
    for (const ContactConstraint& k : contacts.constraints()) {
      keys.insert(k.key);
      if (k.second != 2) continue;
      const bool isFloor = k.frame(2, 0) > 0.5;
      ++(isFloor ? upright : sideways);
      EXPECT_NEAR(k.gap, isFloor ? 0.02 : 0.01, 1e-12);
    }
    EXPECT_EQ(upright, options.method == Method::Mortar ? 6 : 10);
    EXPECT_EQ(sideways, upright);
    EXPECT_EQ(keys.size(), contacts.constraints().size());
    EXPECT_NEAR(rig.totalWeight(), 3, 1e-10);
  }
}

TEST(LineContacts, AgainstAMovingPartDriftByItsMotion) {
  LineRig rig;
  rig.line("a", 4, {0, 0, 0.1}, {1, 0, 0.1}, 0.1);
  GroundMotion motion; // a floor that runs along x at 3 m/s
  motion.translation[0] = {"run", [](double t) { return Jet{3 * t, 3, 0}; }};
  Shape shape;
  shape.kind = Shape::Kind::HalfSpace;
  rig.parts.addPart({"belt", "", &rig.builder.movingMarker("", Pose{}, motion), {CollisionShape(shape, "belt")}, {}});
  LineContacts& contacts = rig.build();
  State later = rig.state;
  later.t = 0.01;
  contacts.evaluate(later);
  for (const ContactConstraint& c : contacts.constraints()) {
    EXPECT_LT((c.frame * contacts.drift(c) - Vector3(-3, 0, 0)).norm(), 1e-9);
    EXPECT_LT((c.frame.rightCols<2>() * c.slip - Vector3(-0.03, 0, 0)).norm(), 1e-9);
  }
}

// ---- derivatives -----------------------------------------------------------------------------------------------------------------------

/// A curve of three segments against the middle of one long segment: no node of the other bounds what a mean is taken over.
void buildDisturbed(LineRig& rig, std::mt19937& random) {
  const auto disturbed = [&](const Vector3& from, double amplitude) {
    return [&random, from, amplitude](double s) {
      return Pose{Matrix3::Identity(), from + Vector3(s, 0, 0)} * se3::exp([&] {
               std::uniform_real_distribution<double> uniform(-amplitude, amplitude);
               return Vector6(Vector6::NullaryExpr([&] { return uniform(random); }));
             }());
    };
  };
  rig.curve("a", 3, 0.9, 0.1, disturbed({0, 0, 0}, 0.05));
  rig.curve("b", 1, 2.4, 0.15, disturbed({-0.7, 0.1, 0.24}, 0.1));
}

VectorX rowOf(const LineRig& rig, const ContactConstraint& c, int row) {
  VectorX b = VectorX::Zero(rig.model->nv());
  for (const GradientEntry& e : rig.contacts->gradient(c))
    b.segment<6>(rig.model->blocks()[std::size_t(e.block)].v) += e.B.row(row).transpose();
  return b;
}

TEST(LineContacts, GradientOfTheMeanGapIsItsDerivative) {
  std::mt19937 random(3);
  for (const Method method : {Method::Mortar, Method::Collocation}) {
    LineRig rig;
    buildDisturbed(rig, random);
    LineContactOptions options;
    options.method = method;
    LineContacts& contacts = rig.build(options, 0.3);
    std::vector<std::size_t> means; // without crossings, whose allowance has no gradient
    for (std::size_t j = 0; j < contacts.constraints().size(); ++j) {
      if (contacts.constraints()[j].weight > 0) means.push_back(j);
    }
    const int count = int(means.size());
    ASSERT_EQ(count, method == Method::Mortar ? 4 : 3);
    MatrixX G(count, rig.model->nv()), D(count, rig.model->nv());
    for (int j = 0; j < count; ++j) G.row(j) = rowOf(rig, contacts.constraints()[means[std::size_t(j)]], 0).transpose();
    for (int i = 0; i < rig.model->nv(); ++i) {
      constexpr double h = 1e-4;
      D.col(i).setZero();
      for (const auto& [x, w] : {std::pair(1, 8.0), std::pair(-1, -8.0), std::pair(2, -1.0), std::pair(-2, 1.0)}) {
        contacts.evaluate(rig.moved(x * h * VectorX::Unit(rig.model->nv(), i)));
        for (int j = 0; j < count; ++j) D(j, i) += w * contacts.constraints()[means[std::size_t(j)]].gap / (12 * h);
      }
    }
    EXPECT_LT((G - D).norm(), 1e-8 * G.norm());
  }
}

/// On a wide cylinder the nearest place is hardly nearer than the means around nodes say: how far it may come is settled when the step
/// begins, and so is the place.
TEST(LineContacts, GradientOfASupportThatTheMeshAllButResolvesIsTheDerivativeOfItsGap) {
  LineRig rig;
  rig.line("a", 3, {-0.57, 0, 5}, {0.63, 0, 5}, 0.1);
  rig.solid("roll", Shape::Kind::Cylinder, {4.85, 3, 0}, {so3::exp(Vector3(M_PI / 2, 0, 0)), {0, 0, 0}}); // rises by 2 % in half a segment
  LineContacts& contacts = rig.build();
  const auto all = contacts.constraints();
  const auto support =
      std::size_t(std::find_if(all.begin(), all.end(), [](const ContactConstraint& c) { return c.weight == 0; }) - all.begin());
  ASSERT_LT(support, all.size());
  EXPECT_GT(all[support].gap, 0.05 + 1e-4);
  EXPECT_LT(all[support].gap, 0.05 + 0.02 * 0.2);
  const VectorX gradient = rowOf(rig, all[support], 0);
  for (int i = 0; i < rig.model->nv(); ++i) {
    constexpr double h = 1e-4;
    double derivative = 0;
    for (const double sign : {1.0, -1.0}) {
      contacts.evaluate(rig.moved(sign * h * VectorX::Unit(rig.model->nv(), i)));
      derivative += sign / (2 * h) * contacts.constraints()[support].gap;
    }
    EXPECT_NEAR(derivative, gradient[i], 1e-6) << i;
  }
}

TEST(LineContacts, SupportsStayInAStepInWhichAnotherPlaceBecomesNearest) {
  LineRig rig;
  rig.line("a", 4, {-0.82, 0, 0.75}, {0.78, 0, 0.75}, 0.1);
  rig.solid("roll", Shape::Kind::Cylinder, {0.6, 3, 0}, {so3::exp(Vector3(M_PI / 2, 0, 0)), {0, 0, 0}});
  LineContacts& contacts = rig.build({}, 0.3);
  const auto supports = [&] {
    return std::count_if(contacts.constraints().begin(), contacts.constraints().end(),
                         [](const ContactConstraint& c) { return c.weight == 0 && c.isPresent; });
  };
  VectorX lift = VectorX::Zero(rig.model->nv());
  lift[6 * 2 + 2] = 0.1;
  contacts.evaluate(rig.moved(lift)); // a roof, which lies on the cylinder left and right
  EXPECT_EQ(supports(), 2);
  lift[2] = lift[6 + 2] = 0.4;
  const State right = rig.moved(lift);
  contacts.evaluate(right); // the left half points upwards
  EXPECT_EQ(supports(), 2);
  contacts.begin(right, 0.3);
  contacts.evaluate(right);
  EXPECT_EQ(supports(), 1);
}

MatrixX denseStiffness(const LineRig& rig, const Eigen::Matrix3Xd& F) {
  std::vector<StiffnessBlock> blocks;
  rig.contacts->stiffness(F, blocks);
  MatrixX K = MatrixX::Zero(rig.model->nv(), rig.model->nv());
  for (const StiffnessBlock& b : blocks) {
    K.block<6, 6>(rig.model->blocks()[std::size_t(b.row)].v, rig.model->blocks()[std::size_t(b.column)].v) += b.K;
  }
  return K;
}

/// The same by differences of the forces.
MatrixX differencedStiffness(const LineRig& rig, const Eigen::Matrix3Xd& F) {
  const Eigen::Index nv = rig.model->nv();
  MatrixX D(nv, nv);
  for (Eigen::Index i = 0; i < nv; ++i) {
    const auto forcesAt = [&](double x) {
      rig.contacts->evaluate(rig.moved(x * VectorX::Unit(nv, i)));
      return rig.forces(F);
    };
    D.col(i) = -test::differentiate(forcesAt, 1e-4);
  }
  return D;
}

TEST(LineContacts, StiffnessIsTheDerivativeOfTheForces) {
  std::mt19937 random(5);
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    buildDisturbed(rig, random);
    LineContacts& contacts = rig.build(options, 0.3);
    const Eigen::Index count = Eigen::Index(contacts.constraints().size());
    std::uniform_real_distribution<double> uniform(0.5, 2);
    const Eigen::Matrix3Xd F = Eigen::Matrix3Xd::NullaryExpr(3, count, [&] { return uniform(random); });
    const MatrixX K = denseStiffness(rig, F), D = differencedStiffness(rig, F);
    EXPECT_LT((K - D).norm(), 1e-7 * D.norm());
    LineContactOptions simplified = options;
    simplified.consistentTangent = false;
    rig.build(simplified, 0.3);
    EXPECT_EQ(denseStiffness(rig, F).norm(), 0);
  }
}

// ---- crossings -------------------------------------------------------------------------------------------------------------------------

TEST(LineContacts, ThatCrossHaveTheirExactGapThere) {
  constexpr double angle = 1.2;
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    rig.line("a", 5, {-1, 0, 0}, {1, 0, 0}, 0.1);
    const Vector3 along(std::cos(angle), std::sin(angle), 0), centre(0.13, 0, 0.207);
    rig.line("b", 5, centre - 1.1 * along, centre + 1.0 * along, 0.1);
    const LineContacts& contacts = rig.build(options);
    int crossings = 0;
    for (const ContactConstraint& c : contacts.constraints()) {
      if (c.weight > 0) {
        EXPECT_GT(c.gap, 0.007);
        continue;
      }
      ++crossings;
      EXPECT_NEAR(c.gap, 0.007, 1e-12);
      EXPECT_NEAR(c.arclength, 1.13, 1e-10);
      EXPECT_NEAR(c.otherArclength, 1.1, 1e-10);
      EXPECT_LT((c.frame.col(0) + Vector3::UnitZ()).norm(), 1e-10);
    }
    EXPECT_EQ(crossings, 1);
  }
}

/// The end of a curve is a ball where it touches a rigid part, unless it is fixed in it.
TEST(LineContacts, OfEndsAreThoseOfBalls) {
  constexpr double R = 0.1, gap = 0.013;
  for (const LineContactOptions& options : allOptions()) {
    for (const double angle : {M_PI / 2, -M_PI / 2, 0.5, -0.5}) { // the end or the begin is the lowest place
      LineRig tilted;
      const Vector3 half(0.5 * std::cos(angle), 0, 0.5 * std::sin(angle));
      const Vector3 centre(0, 0, std::abs(half.z()) + R + gap);
      tilted.line("stick", 4, centre - half, centre + half, R);
      tilted.solid("floor", Shape::Kind::HalfSpace, Vector3::Zero(), {});
      int ends = 0;
      for (const ContactConstraint& c : tilted.build(options).constraints()) {
        if (c.weight > 0) continue;
        ++ends;
        EXPECT_NEAR(c.gap, gap, 1e-12);
        EXPECT_NEAR(c.arclength, angle > 0 ? 0 : 1, 1e-12);
      }
      EXPECT_EQ(ends, 1) << angle;
    }
    LineRig fixed;
    fixed.line("stick", 4, Vector3::Zero(), {0.3, 0, 1}, R);
    fixed.solid("floor", Shape::Kind::HalfSpace, Vector3::Zero(), {});
    for (const ContactConstraint& c : fixed.build(options).constraints()) EXPECT_GT(c.weight, 0);
  }
}

TEST(LineContacts, ThatCrossAreFollowedOverNodesAndKinks) {
  for (const double kink : {0.0, 0.06, -0.06}) { // the first curve's middle node is on a line, a ridge, in a valley with two sides
    for (int i = -20; i <= 20; ++i) {
      LineRig rig;
      const std::vector<Vector3> points{{-2, 0, 0}, {-1, 0, 0}, {0, 0, kink}, {1, 0, 0}, {2, 0, 0}};
      rig.curve("a", 4, 4, 0.1, [&](double s) { return onPolyline(points, int(std::lround(s))); });
      const double x = 0.01 * i;
      rig.line("b", 4, {x, -2, 0.35}, {x, 2, 0.35}, 0.1); // crosses at its own node
      int crossings = 0;
      std::set<std::uint64_t> keys;
      for (const ContactConstraint& c : rig.build({}, 0.2).constraints()) {
        if (c.weight > 0) continue;
        ++crossings;
        keys.insert(c.key);
        EXPECT_NEAR(c.arclength, 2 + x, 0.03);
        EXPECT_NEAR(c.otherArclength, 2, 1e-9);
      }
      EXPECT_TRUE(crossings == 1 || (kink < 0 && crossings == 2)) << crossings << ' ' << kink << ' ' << x;
      EXPECT_EQ(int(keys.size()), crossings);
    }
  }
}

TEST(LineContacts, StiffnessOfACrossingFollowsThePlaceOnBothCurves) {
  std::mt19937 random(7);
  LineRig rig;
  std::uniform_real_distribution<double> uniform(-0.1, 0.1);
  const auto disturbed = [&](const Vector3& from, double angle) {
    return [&, from, angle](double s) {
      return Pose{so3::exp(Vector3(0, 0, angle)), from + s * Vector3(std::cos(angle), std::sin(angle), 0)} *
             se3::exp(Vector6(Vector6::NullaryExpr([&] { return uniform(random); })));
    };
  };
  rig.curve("a", 1, 2, 0.1, disturbed({-1, 0, 0}, 0));
  rig.curve("b", 1, 2, 0.15, disturbed({-0.6, -0.9, 0.4}, 1));
  LineContacts& contacts = rig.build({}, 0.4);
  const auto all = contacts.constraints();
  const auto crossing = std::find_if(all.begin(), all.end(), [](const ContactConstraint& c) { return c.weight == 0; });
  ASSERT_NE(crossing, all.end());
  Eigen::Matrix3Xd F = Eigen::Matrix3Xd::Zero(3, Eigen::Index(all.size()));
  F.col(crossing - all.begin()) = Vector3(2, 0.4, -0.7);
  const MatrixX K = denseStiffness(rig, F), D = differencedStiffness(rig, F);
  EXPECT_LT((K - D).norm(), 1e-6 * D.norm());
}

struct Support {
  Shape::Kind kind;
  Vector3 size;
  Pose pose; ///< what is nearest to the curve lies at the origin
};

/// A curve lies across a ball, a thin roll and an edge. The normal turns with it, and it touches at another of its places.
TEST(LineContacts, StiffnessOfASupportKnowsHowTheSurfaceIsCurved) {
  const Matrix3 edgeUp = so3::exp(Vector3(0, 0, M_PI / 2 + 0.3)) * so3::exp(Vector3(M_PI / 4, 0, 0));
  const std::vector<Support> supports{
      {Shape::Kind::Sphere, {0.2, 0, 0}, {Matrix3::Identity(), {0, 0, -0.2}}},
      {Shape::Kind::Cylinder, {0.06, 3, 0}, {so3::exp(Vector3(M_PI / 2, 0, 0.3)), {0, 0, -0.06}}},
      {Shape::Kind::Box, {3, 1, 1}, {edgeUp, {0, 0, -std::sqrt(0.5)}}},
  };
  for (const Support& support : supports) {
    std::mt19937 random(11);
    LineRig rig;
    std::uniform_real_distribution<double> uniform(-0.05, 0.05);
    rig.curve("a", 1, 2, 0.1, [&](double s) {
      return Pose{Matrix3::Identity(), {s - 0.9, 0, 0.13}} * se3::exp(Vector6(Vector6::NullaryExpr([&] { return uniform(random); })));
    });
    rig.solid("support", support.kind, support.size, support.pose);
    LineContacts& contacts = rig.build({}, 0.2);
    const auto all = contacts.constraints();
    const auto found = std::find_if(all.begin(), all.end(), [](const ContactConstraint& c) { return c.weight == 0; });
    ASSERT_NE(found, all.end());
    Eigen::Matrix3Xd F = Eigen::Matrix3Xd::Zero(3, Eigen::Index(all.size()));
    F.col(found - all.begin()) =
        Vector3(2, 0, 0); // with friction the surface counts as plane: the slip of a place that slides is not known
    const MatrixX K = denseStiffness(rig, F), D = differencedStiffness(rig, F);
    EXPECT_LT((K - D).norm(), 1e-6 * D.norm()) << int(support.kind);
  }
}

/// The height at which the second curve just touches the first, when it has been turned by an angle.
double restingHeight(double angle, double offset, const LineContactOptions& options) {
  constexpr double R = 0.1;
  double low = 1.5 * R, high = 2.5 * R;
  while (high - low > 1e-9) {
    const double z = 0.5 * (low + high);
    LineRig rig;
    rig.line("a", 6, {-3, 0, 0}, {3, 0, 0}, R); // segments ten times as long as the radius
    const Vector3 along(std::cos(angle), std::sin(angle), 0), centre(offset, 0, z);
    rig.line("b", 5, centre - 3.2 * along, centre + 3.1 * along, R);
    double least = 1;
    for (const ContactConstraint& c : rig.build(options, 0.1).constraints()) least = std::min(least, c.gap);
    (least < 0 ? low : high) = z;
  }
  return high;
}

TEST(LineContacts, ThatTurnFromAlongsideToAcrossRestAtTheRadiiWithoutJumps) {
  constexpr double R = 0.1;
  for (const double offset : {0.0, 0.21, 0.5}) {
    double before = 2 * R;
    for (double degrees = 0.5; degrees <= 61; degrees += 0.5) {
      const double z = restingHeight(degrees * M_PI / 180, offset, {});
      EXPECT_LT(std::abs(z - before), 0.02 * R) << "offset " << offset << ", " << degrees << " degrees";
      EXPECT_LT(z, 2 * R + 1e-8);
      EXPECT_GT(z, 2 * R - (degrees > 10 ? 1e-3 : 0.05) * R) << "offset " << offset << ", " << degrees << " degrees";
      before = z;
    }
  }
}

// ---- invariants ------------------------------------------------------------------------------------------------------------------------

/// Three curves that touch and cross each other and a ball.
void buildTangle(LineRig& rig) {
  rig.helix("a", 14, 1, 0.3, 2, 0, 0.28);
  rig.helix("b", 17, 1.1, 0.3, 2, M_PI, 0.3);
  rig.line("c", 6, {-0.9, 0.75, 0.8}, {0.9, 0.85, 0.9}, 0.1);
}

TEST(LineContacts, ActAndReactAlike) {
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    buildTangle(rig);
    const LineContacts& contacts = rig.build(options, 0.1);
    ASSERT_GT(contacts.constraints().size(), 10u);
    const Eigen::Matrix3Xd F = Eigen::Matrix3Xd::Random(3, Eigen::Index(contacts.constraints().size()));
    const VectorX f = rig.forces(F);
    Vector6 total = Vector6::Zero();
    for (const Block& b : rig.model->blocks()) total += se3::transported(loadPose(rig.state.q.data() + b.q), f.segment<6>(b.v));
    EXPECT_LT(total.norm(), 1e-12 * f.norm());
  }
}

TEST(LineContacts, DoNotDependOnWhereTheyAre) {
  const Pose motion{so3::exp(Vector3(0.7, -1.1, 0.4)), {3, -2, 5}};
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    buildTangle(rig);
    rig.build(options, 0.1);
    std::map<std::uint64_t, ContactConstraint> before;
    std::map<std::uint64_t, MatrixX> rows;
    for (const ContactConstraint& c : rig.contacts->constraints()) {
      before[c.key] = c;
      rows[c.key] = rowOf(rig, c, 1);
    }
    rig.state = rig.movedRigidly(motion);
    rig.build(options, 0.1);
    int compared = 0;
    for (const ContactConstraint& c : rig.contacts->constraints()) { // of those near enough to be found wherever boxes lie
      if (!before.contains(c.key) || c.gap > 0.05) continue;
      ++compared;
      EXPECT_NEAR(c.gap, before[c.key].gap, 1e-9);
      EXPECT_LT((c.frame - motion.R * before[c.key].frame).norm(), 1e-8);
      EXPECT_LT((rowOf(rig, c, 1) - rows[c.key]).norm(), 1e-7);
    }
    EXPECT_GT(compared, 5);
  }
}

TEST(LineContacts, AreTheSameBitByBitWhenEvaluatedAgain) {
  LineRig rig;
  buildTangle(rig);
  LineContacts& contacts = rig.build({}, 0.1);
  const State other = rig.moved(1e-3 * VectorX::Ones(rig.model->nv()));
  contacts.evaluate(other);
  const auto first = std::vector<ContactConstraint>(contacts.constraints().begin(), contacts.constraints().end());
  contacts.evaluate(rig.state);
  contacts.evaluate(other);
  ASSERT_EQ(contacts.constraints().size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(contacts.constraints()[i].gap, first[i].gap);
    EXPECT_EQ(contacts.constraints()[i].slip, first[i].slip);
    EXPECT_EQ(contacts.constraints()[i].frame, first[i].frame);
  }
}

TEST(LineContacts, WhoseCentrelinesPassThroughOneAnotherArePushedBack) {
  LineRig rig;
  rig.line("a", 4, {0, 0, 0.2}, {1, 0, 0.2}, 0.1);
  rig.line("b", 3, {-0.1, 0, 0}, {1.1, 0, 0}, 0.1);
  LineContacts& contacts = rig.build();
  State s = rig.state;
  for (int i = 0; i <= 4; ++i) s.q[12 * i + 2] = -0.03;
  contacts.evaluate(s);
  for (const ContactConstraint& c : contacts.constraints()) {
    EXPECT_NEAR(c.gap, -0.23, 1e-12);
    EXPECT_GT(c.frame(2, 0), 0.999);
  }
}

TEST(LineContacts, TakeNoMemoryOnceSizesHaveBeenSeen) {
  for (const LineContactOptions& options : allOptions()) {
    LineRig rig;
    buildTangle(rig);
    LineContacts& contacts = rig.build(options, 0.1);
    const State other = rig.moved(1e-3 * VectorX::Ones(rig.model->nv()));
    for (int i = 0; i < 2; ++i) { // the second round has seen the sizes
      const long before = test::allocationCount;
      contacts.begin(rig.state, 0.1);
      contacts.evaluate(rig.state);
      contacts.evaluate(other);
      EXPECT_TRUE(i == 0 || test::allocationCount == before) << test::allocationCount - before;
    }
  }
}

TEST(LineContacts, SayWhatTouchesWhere) {
  LineRig rig;
  rig.line("a", 4, {0, 0, 0.1}, {1, 0, 0.1}, 0.1);
  rig.solid("floor", Shape::Kind::HalfSpace, Vector3::Zero(), Pose{});
  LineContactOptions options;
  options.method = Method::Collocation;
  const LineContacts& contacts = rig.build(options);
  EXPECT_EQ(contacts.describe(contacts.constraints()[1]), "beam 'a' at 0.375 m and 'floor'");
  EXPECT_EQ(contacts.size(), 0.1);
}

// ---- what may touch --------------------------------------------------------------------------------------------------------------------

TEST(ContactModel, RefusesCurvesWithoutThicknessOrLength) {
  ContactModel parts;
  ContactCurve curve;
  curve.segments.push_back({{0, 1}, 1});
  const auto message = [&](const ContactCurve& c) {
    try {
      parts.addPart({"thread", "", nullptr, {}, c});
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_NE(message(curve).find("thread"), std::string::npos) << "radius 0";
  curve.radius = 0.1;
  EXPECT_EQ(message(curve), "");
  curve.segments.clear();
  EXPECT_NE(message(curve).find("thread"), std::string::npos) << "empty";
}

TEST(ContactModel, HoldsCurvesAndRigidPartsTogether) {
  LineRig rig;
  rig.line("a", 3, {0, 0, 0}, {1, 0, 0}, 0.1);
  rig.solid("floor", Shape::Kind::HalfSpace, Vector3::Zero(), Pose{});
  Shape ball;
  ball.size[0] = 0.5;
  const Marker& marker = rig.builder.bodyMarker("", rig.builder.addPose("ball", -1, Pose{Matrix3::Identity(), {0, 0, 0.4}}));
  rig.parts.addPart({"ball", "", &marker, {CollisionShape(ball, "ball")}, {}});
  rig.build();
  EXPECT_NO_THROW(rig.parts.check());
  ContactDetection detection(rig.parts);
  EXPECT_TRUE(detection.moves(0));
  detection.findPairs(rig.state, std::vector<double>(3, 0.0));
  const auto& contacts = detection.findContacts(rig.state, 0);
  ASSERT_EQ(contacts.size(), 1u) << "the ball with the floor; what touches the curve is left to LineContacts";
  EXPECT_NEAR(contacts[0].point.gap, -0.1, 1e-12);
  ContactLaw other;
  other.friction = 0.3;
  rig.parts.addLaw({"a", "a", ContactLaw{}});
  EXPECT_NO_THROW(rig.parts.check());
  rig.parts.addLaw({"a", "a", other});
  EXPECT_THROW(rig.parts.check(), InputError) << "of a curve with itself, too";
}

}
}
