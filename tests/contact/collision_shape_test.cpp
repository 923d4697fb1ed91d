#include "contact/pair_oracle.h"

#include "tendril/model/error.h"

#include <gtest/gtest.h>

namespace tendril {

namespace {

using namespace oracle;

struct NamedShape {
  std::string name;
  Shape shape;
};

std::vector<NamedShape> solids() {
  std::mt19937 random(3);
  return {{"Sphere", sphere(0.5)},
          {"Capsule", capsule(0.3, 0.9)},
          {"Box", box(1, 0.7, 0.5)},
          {"Hull", randomConvexMesh(random, 30, 0.6)},
          {"Tetrahedron", convexMesh({{0, 0, 0}, {1, 0, 0}, {0, 0.8, 0}, {0.1, 0.1, 0.9}})},
          {"Cylinder", cylinder(0.4, 0.9)},
          {"Coin", cylinder(0.6, 0.2)},
          {"Cone", cone(0.5, 1)},
          {"Ellipsoid", ellipsoid(0.6, 0.4, 0.25)},
          {"Spheroid", ellipsoid(0.5, 0.5, 0.2)}};
}

Body moved(const Body& body, const Pose& motion) { return {body.shape, motion * body.part}; }

Body scaled(Body body, double factor) {
  body.shape.size *= factor;
  body.shape.pose.x *= factor;
  body.part.x *= factor;
  if (body.shape.mesh) {
    TriangleMesh mesh = *body.shape.mesh;
    for (Vector3& v : mesh.vertices) v *= factor;
    body.shape.mesh = std::make_shared<const TriangleMesh>(mesh);
  }
  return body;
}

/// The deepest contact is right to round-off: its gap is the separation along its normal, no direction separates more, and the surfaces
/// are where it says.
void expectExact(const Body& a, const Body& b, const std::string& what, std::mt19937& random, int samples) {
  const auto points = contacts(a, b, 10);
  const ContactPoint* p = deepest(points);
  ASSERT_NE(p, nullptr) << what;
  const double size = 2;
  // The direction of a short connection between two corners is only as good as its ends.
  const double rounding = 2e-14 * size + (p->gap > 0 ? 1e-15 * size * size / p->gap : 0);
  EXPECT_NEAR(p->normal.norm(), 1, 4e-15) << what;
  EXPECT_NEAR(separation(a, b, p->normal), p->gap, rounding) << what;
  EXPECT_LE(bruteGap(a, b, random, samples), p->gap + 1e-13 * size) << what;
  const Vector3 onA = p->position + p->gap / 2 * p->normal, onB = p->position - p->gap / 2 * p->normal;
  EXPECT_NEAR(p->normal.dot(onA), -a.height(-p->normal), rounding) << what;
  EXPECT_NEAR(p->normal.dot(onB), b.height(p->normal), rounding) << what;
  EXPECT_TRUE(holds(a, onA, 1e-12)) << what;
  EXPECT_TRUE(holds(b, onB, 1e-12)) << what;
}

void expectAllPairsExact(int poses, int samples) {
  const auto shapes = solids();
  std::mt19937 random(11);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t k = 0; k < shapes.size(); ++k) {
      for (int j = 0; j < poses; ++j) {
        Body a{shapes[i].shape, randomPose(random, 0.8)}, b{shapes[k].shape, randomPose(random, 0.8)};
        a.shape.pose = randomPose(random, 0.1);
        expectExact(a, b, shapes[i].name + " and " + shapes[k].name + ", pose " + std::to_string(j), random, samples);
      }
    }
  }
}

TEST(FindContacts, DeepestContactOfEveryPairIsExact) { expectAllPairsExact(4, 600); }
TEST(FullFindContacts, DeepestContactOfEveryPairIsExact) { expectAllPairsExact(60, 2000); }

/// Poses that touch: moved along the normal so that they overlap by a little.
std::pair<Body, Body> touching(const Shape& first, const Shape& second, double gap, std::mt19937& random) {
  Body a{first, randomPose(random, 0.8)}, b{second, randomPose(random, 0.8)};
  for (int k = 0; k < 3; ++k) {
    const auto points = contacts(a, b, 10);
    const ContactPoint* p = deepest(points);
    a.part.x += (gap - p->gap) * p->normal;
  }
  return {a, b};
}

TEST(FindContacts, ShallowOverlapsAndSmallGapsAreExact) {
  const auto shapes = solids();
  std::mt19937 random(5);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t k = i; k < shapes.size(); ++k) {
      for (const double gap : {-1e-3, -1e-6, 1e-6, 1e-4}) {
        const auto [a, b] = touching(shapes[i].shape, shapes[k].shape, gap, random);
        expectExact(a, b, shapes[i].name + " and " + shapes[k].name + " at " + std::to_string(gap), random, 400);
      }
    }
  }
}

TEST(FindContacts, RigidMotionOfBothMovesContactsAlong) {
  const auto shapes = solids();
  std::mt19937 random(8);
  for (const auto& first : shapes) {
    for (const auto& second : shapes) {
      const auto [a, b] = touching(first.shape, second.shape, -0.02, random);
      const Pose motion = randomPose(random, 3);
      const auto before = contacts(a, b, 0), after = contacts(moved(a, motion), moved(b, motion), 0);
      ASSERT_EQ(before.size(), after.size()) << first.name << ' ' << second.name;
      for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_NEAR(before[i].gap, after[i].gap, 1e-13) << first.name << ' ' << second.name;
        EXPECT_NEAR((motion.R * before[i].normal - after[i].normal).norm(), 0, 1e-11) << first.name << ' ' << second.name;
        EXPECT_NEAR((motion * before[i].position - after[i].position).norm(), 0, 1e-10) << first.name << ' ' << second.name;
        EXPECT_EQ(before[i].feature, after[i].feature) << first.name << ' ' << second.name;
      }
    }
  }
}

TEST(FindContacts, ExchangeTurnsTheNormalRound) {
  const auto shapes = solids();
  std::mt19937 random(9);
  for (const auto& first : shapes) {
    for (const auto& second : shapes) {
      const auto [a, b] = touching(first.shape, second.shape, -0.01, random);
      const auto there = contacts(a, b, 0), back = contacts(b, a, 0);
      const ContactPoint *p = deepest(there), *q = deepest(back);
      ASSERT_TRUE(p && q) << first.name << ' ' << second.name;
      EXPECT_NEAR(p->gap, q->gap, 1e-14) << first.name << ' ' << second.name;
      EXPECT_NEAR((p->normal + q->normal).norm(), 0, 1e-11) << first.name << ' ' << second.name;
      EXPECT_NEAR((p->position - q->position).norm(), 0, 1e-10) << first.name << ' ' << second.name;
    }
  }
}

TEST(FindContacts, FarFromTheOriginOnlyTheInputIsRounded) {
  const auto shapes = solids();
  std::mt19937 random(10);
  const Vector3 far(1e4, -2e4, 3e4);
  for (const auto& first : shapes) {
    for (const auto& second : shapes) {
      auto [a, b] = touching(first.shape, second.shape, -0.01, random);
      // Positions that are stored exactly far away, so that the shapes are the same ones.
      for (Body* body : {&a, &b}) {
        const Vector3 there = body->part.x + far;
        body->part.x = there - far;
      }
      const auto here = contacts(a, b, 0);
      a.part.x += far;
      b.part.x += far;
      const auto there = contacts(a, b, 0);
      ASSERT_EQ(here.size(), there.size()) << first.name << ' ' << second.name;
      for (std::size_t i = 0; i < here.size(); ++i) {
        EXPECT_NEAR(here[i].gap, there[i].gap, 1e-13) << first.name << ' ' << second.name;
        EXPECT_NEAR((here[i].normal - there[i].normal).norm(), 0, 1e-11);
        EXPECT_NEAR((here[i].position + far - there[i].position).norm(), 0, 1e-10);
      }
    }
  }
}

TEST(FindContacts, UnitsDoNotMatter) {
  const auto shapes = solids();
  std::mt19937 random(12);
  for (const auto& first : shapes) {
    for (const auto& second : shapes) {
      const auto [a, b] = touching(first.shape, second.shape, -0.01, random);
      const auto metres = contacts(a, b, 0);
      for (const double factor : {1e-3, 1e3}) {
        const auto other = contacts(scaled(a, factor), scaled(b, factor), 0);
        ASSERT_EQ(metres.size(), other.size()) << first.name << ' ' << second.name << ' ' << factor;
        for (std::size_t i = 0; i < metres.size(); ++i) {
          EXPECT_NEAR(metres[i].gap, other[i].gap / factor, 1e-13) << first.name << ' ' << second.name;
          EXPECT_NEAR((metres[i].normal - other[i].normal).norm(), 0, 1e-11) << first.name << ' ' << second.name;
          EXPECT_EQ(metres[i].feature, other[i].feature);
        }
      }
    }
  }
}

/// The distance of two bodies changes by at most the motion of their points.
TEST(FindContacts, GapChangesNoFasterThanTheBodiesMove) {
  const auto shapes = solids();
  std::mt19937 random(13);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    for (std::size_t k = i; k < shapes.size(); ++k) {
      Body a{shapes[i].shape, randomPose(random, 0.3)};
      const Body b{shapes[k].shape, randomPose(random, 0.3)};
      const Vector3 turn = Vector3(0.3, -0.5, 0.7), path(0.8, 0.3, -0.5);
      constexpr int steps = 60;
      double last = 0;
      for (int j = 0; j < steps; ++j) {
        const auto points = contacts(a, b, 10);
        ASSERT_FALSE(points.empty()) << shapes[i].name << ' ' << shapes[k].name << " step " << j;
        const double gap = deepest(points)->gap;
        const double reach = turn.norm() / steps * 1.5 + path.norm() / steps;
        if (j > 0) {
          EXPECT_LE(std::abs(gap - last), reach) << shapes[i].name << ' ' << shapes[k].name << " step " << j;
        }
        last = gap;
        a.part.x += path / steps;
        a.part.R = Eigen::AngleAxisd(turn.norm() / steps, turn.normalized()).toRotationMatrix() * a.part.R;
      }
    }
  }
}

TEST(FindContacts, LowestPointMeetsTheHalfSpace) {
  std::mt19937 random(14);
  for (const auto& [name, shape] : solids()) {
    for (int k = 0; k < 50; ++k) {
      const Body a{shape, randomPose(random, 1)}, ground{halfSpace(), randomPose(random, 1)};
      const auto points = contacts(a, ground, 10);
      const ContactPoint* p = deepest(points);
      ASSERT_NE(p, nullptr);
      const Vector3 n = ground.part.R.col(2);
      const double gap = -a.height(-n) - n.dot(ground.part.x);
      EXPECT_NEAR(p->gap, gap, 1e-14) << name;
      EXPECT_NEAR((p->normal - n).norm(), 0, 1e-15) << name;
      EXPECT_NEAR(n.dot(p->position - ground.part.x), gap / 2, 2e-15) << name;
      EXPECT_TRUE(holds(a, p->position + gap / 2 * n, 1e-13)) << name;
      const auto turned = contacts(ground, a, 10);
      EXPECT_NEAR((deepest(turned)->normal + n).norm(), 0, 1e-15) << name;
    }
  }
}

TEST(FindContacts, NothingBeyondTheMargin) {
  std::mt19937 random(15);
  const auto shapes = solids();
  for (const auto& first : shapes) {
    for (const auto& second : shapes) {
      const auto [a, b] = touching(first.shape, second.shape, 0.02, random);
      EXPECT_TRUE(contacts(a, b, 0.0199).empty()) << first.name << ' ' << second.name;
      EXPECT_FALSE(contacts(a, b, 0.0201).empty()) << first.name << ' ' << second.name;
    }
  }
  EXPECT_TRUE(contacts({halfSpace(), {}}, {halfSpace(), {}}, 1).empty());
  EXPECT_TRUE(contacts({sphere(1), {}}, {disc(1), {}}, 1).empty());
}

/// Where the direction is not unique a finite unit normal comes out, always the same.
TEST(FindContacts, CoincidentShapesHaveANormal) {
  for (const auto& [name, shape] : solids()) {
    for (const auto& [otherName, other] : solids()) {
      for (const bool isTurned : {false, true}) {
        Body a{shape, {}}, b{other, {}};
        if (isTurned) b.part.R = Eigen::AngleAxisd(std::numbers::pi / 2, Vector3::UnitX()).toRotationMatrix();
        const auto points = contacts(a, b, 0), again = contacts(a, b, 0);
        ASSERT_FALSE(points.empty()) << name << ' ' << otherName << isTurned;
        for (std::size_t i = 0; i < points.size(); ++i) {
          EXPECT_NEAR(points[i].normal.norm(), 1, 1e-14) << name << ' ' << otherName;
          EXPECT_TRUE(points[i].position.allFinite() && std::isfinite(points[i].gap)) << name << ' ' << otherName;
          EXPECT_EQ(points[i].normal, again[i].normal);
        }
        std::mt19937 random(1);
        EXPECT_LE(bruteGap(a, b, random, 600), deepest(points)->gap + 1e-12) << name << ' ' << otherName << isTurned;
      }
    }
  }
}

TEST(FindContacts, CrossingAxesOfCapsules) {
  const Body a{capsule(0.2, 1), {}};
  Body b = a;
  b.part.R = Eigen::AngleAxisd(std::numbers::pi / 2, Vector3::UnitX()).toRotationMatrix();
  const auto points = contacts(a, b, 0);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].gap, -0.4, 1e-15);
  EXPECT_NEAR(std::abs(points[0].normal[0]), 1, 1e-15);
}

TEST(FindContacts, HollowSphereHoldsWhatIsInside) {
  Shape room = sphere(2);
  room.hollow = true;
  const Body wall{room, {Matrix3::Identity(), {0.1, 0.2, 0.3}}};
  const Vector3 d(0, 1.2, 0);
  const Body ball{sphere(0.5), {Matrix3::Identity(), wall.part.x + d}};
  for (const auto& points : {contacts(ball, wall, 1), contacts(wall, ball, 1)}) {
    ASSERT_EQ(points.size(), 1u);
    EXPECT_NEAR(points[0].gap, 2 - 0.5 - 1.2, 1e-15);
    EXPECT_NEAR((points[0].position - wall.part.x - Vector3(0, 1.85, 0)).norm(), 0, 1e-15);
  }
  EXPECT_NEAR((contacts(ball, wall, 1)[0].normal + Vector3::UnitY()).norm(), 0, 1e-15); // towards the centre
  std::mt19937 random(4);
  for (const auto& [name, shape] : solids()) { // against the farthest of many points of the surface
    const Body body{shape, randomPose(random, 0.3)};
    const auto points = contacts(body, wall, 10);
    ASSERT_FALSE(points.empty()) << name;
    double farthest = 0;
    for (int i = 0; i < 200000; ++i) {
      std::normal_distribution<double> normal;
      const Vector3 n = Vector3(normal(random), normal(random), normal(random)).normalized();
      farthest = std::max(farthest, body.height(n) - n.dot(wall.part.x));
    }
    EXPECT_LE(deepest(points)->gap, 2 - farthest + 1e-12) << name;
    EXPECT_NEAR(deepest(points)->gap, 2 - farthest, 2e-4) << name;
  }
}

TEST(CollisionShape, BoundsAreTheExtentAlongTheAxes) {
  std::mt19937 random(16);
  for (const auto& [name, shape] : solids()) {
    for (int k = 0; k < 20; ++k) {
      Body body{shape, randomPose(random, 2)};
      body.shape.pose = randomPose(random, 1);
      const Bounds bounds = CollisionShape(body.shape, name).bounds(body.part);
      for (int i = 0; i < 3; ++i) {
        EXPECT_NEAR(bounds.high[i], body.height(Vector3::Unit(i)), 1e-14) << name;
        EXPECT_NEAR(bounds.low[i], -body.height(-Vector3::Unit(i)), 1e-14) << name;
      }
    }
  }
}

TEST(CollisionShape, BoundsOfPlaneAndUnboundedShapes) {
  std::mt19937 random(17);
  const Pose part = randomPose(random, 1);
  const Bounds flat = CollisionShape(disc(0.5), "disc").bounds(part);
  const Bounds corners = CollisionShape(polygon({{0.5, 0, 0}, {0, 0.5, 0}, {-0.5, 0, 0}, {0, -0.5, 0}}), "polygon").bounds(part);
  for (int i = 0; i < 500; ++i) {
    const double angle = 2 * std::numbers::pi * i / 500;
    const Vector3 x = part * Vector3(0.5 * std::cos(angle), 0.5 * std::sin(angle), 0);
    EXPECT_TRUE(flat.meets({x + Vector3::Constant(-1e-12), x + Vector3::Constant(1e-12)}));
  }
  EXPECT_TRUE(((flat.low - corners.low).array() <= 1e-15).all() && ((flat.high - corners.high).array() >= -1e-15).all());
  const Bounds ground = CollisionShape(halfSpace(), "ground").bounds({Matrix3::Identity(), {1, 2, 3}});
  EXPECT_EQ(ground.high[2], 3);
  EXPECT_TRUE(std::isinf(ground.low[2]) && std::isinf(ground.high[0]));
  EXPECT_FALSE(CollisionShape(halfSpace(), "ground").isBounded());
}

void expectRefused(const Shape& shape, const std::string& word) {
  try {
    const CollisionShape made(shape, "body 'b'");
    ADD_FAILURE() << "accepted; expected an error about " << word;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("body 'b'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(CollisionShape, RefusesWhatCannotTouchByName) {
  expectRefused(sphere(0), "radius");
  expectRefused(sphere(std::numeric_limits<double>::quiet_NaN()), "radius");
  expectRefused(box(1, -1, 1), "second edge");
  expectRefused(capsule(1, 0), "cylindrical part");
  expectRefused(cone(1, -1), "length");
  expectRefused({Shape::Kind::Tube, {1, 2, 1}}, "inner radius");
  expectRefused(ellipsoid(1, 1, 0), "third semi-axis");
  expectRefused({Shape::Kind::ConvexMesh}, "no vertices");
  expectRefused(convexMesh({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}}), "plane");
  expectRefused(polygon({{0, 0, 0}, {1, 0, 0}}), "three corners");
  expectRefused(polygon({{0, 0, 0}, {0, 1, 0}, {1, 0, 0}}), "counter-clockwise");
  expectRefused(polygon({{0, 0, 0}, {2, 0, 0}, {1, 0.2, 0}, {1, 2, 0}}), "convex");
  expectRefused(polygon({{0, 0, 0.1}, {2, 0, 0}, {1, 2, 0}}), "plane");
  std::vector<Vector3> star;
  for (int i = 0; i < 5; ++i) star.emplace_back(std::cos(4 * i * std::numbers::pi / 5), std::sin(4 * i * std::numbers::pi / 5), 0);
  expectRefused(polygon(star), "crosses itself");
  Shape hollowBox = box(1, 1, 1);
  hollowBox.hollow = true;
  expectRefused(hollowBox, "hollow");
  TriangleMesh open{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  expectRefused(meshShape(Shape::Kind::TriangleMesh, open), "open");
  Shape terrain = meshShape(Shape::Kind::TriangleMesh, open);
  terrain.open = true;
  EXPECT_NO_THROW(CollisionShape(terrain, "terrain"));
  TriangleMesh inverted{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2}, {0, 3, 1}, {1, 3, 2}, {2, 3, 0}}};
  expectRefused(meshShape(Shape::Kind::TriangleMesh, inverted), "inside out");
}

}

}
