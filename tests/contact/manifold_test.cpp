#include "contact/pair_oracle.h"

#include <gtest/gtest.h>

#include <set>

namespace tendril {

namespace {

using namespace oracle;

Matrix3 turned(double angle, const Vector3& axis) { return Eigen::AngleAxisd(angle, axis.normalized()).toRotationMatrix(); }
Pose at(double x, double y, double z, const Matrix3& R = Matrix3::Identity()) { return {R, {x, y, z}}; }

std::set<std::uint32_t> features(const std::vector<ContactPoint>& points) {
  std::set<std::uint32_t> numbers;
  for (const ContactPoint& p : points) numbers.insert(p.feature);
  return numbers;
}

/// Area of the convex hull of the contacts' positions, seen along z.
double supportArea(const std::vector<ContactPoint>& points) {
  double area = 0; // by the widths in many directions: mean width gives the perimeter, so use triangles instead
  for (const auto& p : points) {
    for (const auto& q : points) {
      for (const auto& r : points) area = std::max(area, 0.5 * std::abs((q.position - p.position).cross(r.position - p.position)[2]));
    }
  }
  return area;
}

void expectFlat(const std::vector<ContactPoint>& points, std::size_t count, double gap, const Vector3& normal, double height) {
  ASSERT_EQ(points.size(), count);
  EXPECT_EQ(features(points).size(), count);
  for (const ContactPoint& p : points) {
    EXPECT_NEAR(p.gap, gap, 1e-15);
    EXPECT_NEAR((p.normal - normal).norm(), 0, 1e-15);
    EXPECT_NEAR(p.position[2], height, 1e-15);
  }
}

TEST(Manifold, BoxOnHalfSpaceRestsOnItsCorners) {
  const Body a{box(1, 2, 0.5), at(0, 0, 0.25 - 1e-6)}, ground{halfSpace(), {}};
  expectFlat(contacts(a, ground, 0), 4, -1e-6, Vector3::UnitZ(), -5e-7);
  const Body onEdge{box(1, 1, 1), at(0, 0, std::sqrt(0.5) - 1e-6, turned(std::numbers::pi / 4, Vector3::UnitX()))};
  EXPECT_EQ(contacts(onEdge, ground, 0).size(), 2u);
  expectFlat(contacts(Body{convexMesh({{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, 1}}), at(0, 0, -1e-6)}, ground, 0), 4, -1e-6,
             Vector3::UnitZ(), -5e-7);
}

TEST(Manifold, BoxOnBox) {
  const Body below{box(1, 1, 1), {}};
  for (const double overlap : {1e-3, 1e-7, 1e-12, 0.}) {
    const double z = 1 - overlap;
    expectFlat(contacts({box(1, 1, 1), at(0, 0, z)}, below, 1e-13), 4, -overlap, Vector3::UnitZ(), z - 0.5 + overlap / 2);     // same size
    expectFlat(contacts({box(1, 1, 1), at(0.3, 0.2, z)}, below, 1e-13), 4, -overlap, Vector3::UnitZ(), z - 0.5 + overlap / 2); // part over
    expectFlat(contacts({box(0.5, 0.4, 1), at(0.1, 0.2, z)}, below, 1e-13), 4, -overlap, Vector3::UnitZ(), z - 0.5 + overlap / 2);
    const auto octagon = contacts({box(1, 1, 1), at(0, 0, z, turned(std::numbers::pi / 4, Vector3::UnitZ()))}, below, 1e-13);
    ASSERT_EQ(octagon.size(), 8u);
    for (const ContactPoint& p : octagon) EXPECT_NEAR(std::max(std::abs(p.position[0]), std::abs(p.position[1])), 0.5, 1e-15);
  }
}

TEST(Manifold, HeldUpByTheFaceWhateverTheRounding) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> noise(-1, 1);
  const Body below{box(1, 1, 1), {}};
  for (const double size : {1e-12, 1e-9, 1e-7}) {
    for (int k = 0; k < 200; ++k) {
      const Matrix3 R =
          turned(size * noise(random), {noise(random), noise(random), 0.1}) * turned(k % 4 * std::numbers::pi / 2, Vector3::UnitZ());
      const Body above{box(1, 1, 1), at(size * noise(random), size * noise(random), 1 - 2 * size, R)};
      const auto points = contacts(above, below, 0);
      ASSERT_GE(points.size(), 4u) << size << ' ' << k;
      EXPECT_GT(supportArea(points), 0.49) << size << ' ' << k;
      for (const ContactPoint& p : points) EXPECT_NEAR((p.normal - Vector3::UnitZ()).norm(), 0, 3 * size + 1e-15);
    }
  }
}

TEST(Manifold, FeaturesStayWhileABoxSlidesAndRocks) {
  const Body below{box(3, 3, 1), {}};
  const Body start{box(1, 1, 1), at(0, 0, 1 - 1e-4)};
  const auto first = features(contacts(start, below, 1e-3));
  ASSERT_EQ(first.size(), 4u);
  for (int k = 1; k <= 50; ++k) {
    Body moved = start;
    moved.part =
        at(0.015 * k, -0.01 * k, 1 - 1e-4 + 1e-6 * k, turned(1e-5 * std::sin(k), {1, std::cos(k), 0}) * turned(0.05 * k, Vector3::UnitZ()));
    const auto points = contacts(moved, below, 1e-3);
    EXPECT_EQ(points.size(), 4u) << k;
    EXPECT_EQ(features(points), first) << k;
  }
  // Overhanging, cut corners keep their numbers too.
  const auto over = features(contacts({box(1, 1, 1), at(1.3, 0.2, 1 - 1e-4, turned(0.1, Vector3::UnitZ()))}, below, 1e-3));
  for (int k = 1; k <= 10; ++k) {
    const auto next = contacts({box(1, 1, 1), at(1.3 + 0.005 * k, 0.2, 1 - 1e-4, turned(0.1 + 0.001 * k, Vector3::UnitZ()))}, below, 1e-3);
    EXPECT_EQ(features(next), over);
  }
}

TEST(Manifold, EdgesCross) {
  const Matrix3 onEdge = turned(std::numbers::pi / 4, Vector3::UnitX());
  const double half = std::sqrt(0.5);
  const Body below{box(1, 1, 1), {onEdge, Vector3::Zero()}};
  const Body above{box(1, 1, 1), {turned(std::numbers::pi / 2, Vector3::UnitZ()) * onEdge, {0.1, 0.2, 2 * half - 0.01}}};
  const auto points = contacts(above, below, 0);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].gap, -0.01, 1e-15);
  EXPECT_NEAR((points[0].normal - Vector3::UnitZ()).norm(), 0, 1e-15);
  EXPECT_NEAR((points[0].position - Vector3(0.1, 0, half - 0.005)).norm(), 0, 1e-15);
}

TEST(Manifold, DeepOverlapTakesTheShortestWayOut) {
  const Body below{box(2, 2, 2), {}};
  const auto points = contacts({box(0.4, 0.4, 0.4), at(0.1, 0.2, 0.7)}, below, 0);
  ASSERT_EQ(points.size(), 4u);
  for (const ContactPoint& p : points) EXPECT_NEAR((p.normal - Vector3::UnitZ()).norm(), 0, 1e-15);
  EXPECT_NEAR(deepest(points)->gap, -0.5, 1e-15);
}

TEST(Manifold, CapsuleLies) {
  const Matrix3 lying = turned(std::numbers::pi / 2, Vector3::UnitY());
  const double d = 1e-5;
  expectFlat(contacts({capsule(0.2, 0.8), at(0, 0, 0.2 - d, lying)}, {halfSpace(), {}}, 0), 2, -d, Vector3::UnitZ(), -d / 2);
  const auto onBox = contacts({capsule(0.2, 0.8), at(0, 0, 0.7 - d, lying)}, {box(3, 1, 1), {}}, 0);
  ASSERT_EQ(onBox.size(), 2u);
  EXPECT_NEAR(std::abs(onBox[0].position[0] - onBox[1].position[0]), 0.8, 1e-14);
  const auto over = contacts({capsule(0.2, 0.8), at(0.3, 0, 0.7 - d, lying)}, {box(1, 1, 1), {}}, 0); // beyond the end of the box
  ASSERT_EQ(over.size(), 2u);
  EXPECT_NEAR(std::max(over[0].position[0], over[1].position[0]), 0.5, 1e-14);
  const auto parallel = contacts({capsule(0.2, 0.8), at(0.3, 0, 0.4 - d, lying)}, {capsule(0.2, 0.8), at(0, 0, 0, lying)}, 0);
  ASSERT_EQ(parallel.size(), 2u);
  EXPECT_NEAR(std::abs(parallel[0].position[0] - parallel[1].position[0]), 0.5, 1e-14);
}

TEST(Manifold, CylinderStandsAndLies) {
  const double d = 1e-5;
  const Matrix3 lying = turned(std::numbers::pi / 2, Vector3::UnitY());
  const Shape can = cylinder(0.3, 1);
  for (const auto& [ground, height] :
       {std::pair(Body{halfSpace(), {}}, 0.), std::pair(Body{box(4, 4, 1), {}}, 0.5), std::pair(Body{cylinder(2, 1), {}}, 0.5)}) {
    for (const Matrix3& spin : {Matrix3(Matrix3::Identity()), turned(0.7, Vector3::UnitZ())}) {
      const auto standing = contacts({can, at(0.1, 0.2, height + 0.5 - d, spin)}, ground, 0);
      ASSERT_GE(standing.size(), 4u);
      EXPECT_LE(standing.size(), 8u);
      EXPECT_GT(supportArea(standing), 0.9 * 0.3 * 0.3);
      for (const ContactPoint& p : standing) {
        EXPECT_NEAR(p.gap, -d, 1e-15);
        EXPECT_NEAR((p.position - Vector3(0.1, 0.2, p.position[2])).norm(), 0.3, 1e-15);
      }
    }
    const auto lies = contacts({can, at(0.1, 0.2, height + 0.3 - d, lying)}, ground, 0);
    ASSERT_EQ(lies.size(), 2u);
    EXPECT_NEAR(std::abs(lies[0].position[0] - lies[1].position[0]), 1, 1e-14);
    for (const ContactPoint& p : lies) EXPECT_NEAR(p.gap, -d, 1e-15);
  }
  const auto side = contacts({can, at(0.4, 0, 0.6 - d, lying)}, {can, at(0, 0, 0, lying)}, 0);
  ASSERT_EQ(side.size(), 2u);
  EXPECT_NEAR(std::abs(side[0].position[0] - side[1].position[0]), 0.6, 1e-14);
}

TEST(Manifold, RollingCylinderKeepsItsTwoPoints) {
  const Matrix3 lying = turned(std::numbers::pi / 2, Vector3::UnitY());
  std::set<std::uint32_t> first;
  for (int k = 0; k < 100; ++k) {
    const Matrix3 R = turned(0.0633 * k, Vector3::UnitX()) * lying;
    const auto points = contacts({cylinder(0.3, 1), at(0, 0, 0.3 - 1e-4, R)}, {halfSpace(), {}}, 0);
    ASSERT_EQ(points.size(), 2u) << k;
    if (k == 0) first = features(points);
    EXPECT_EQ(features(points), first);
  }
}

TEST(Manifold, AtMostEightPoints) {
  std::vector<Vector3> rim;
  for (int i = 0; i < 40; ++i) {
    for (const double z : {0., 1.}) rim.emplace_back(std::cos(2 * std::numbers::pi * i / 40), std::sin(2 * std::numbers::pi * i / 40), z);
  }
  for (const Body& ground : {Body{halfSpace(), {}}, Body{box(5, 5, 2), at(0, 0, -1)}, Body{convexMesh(rim), at(0, 0.1, -1)}}) {
    const auto points = contacts({convexMesh(rim), at(0, 0, -1e-6)}, ground, 0);
    EXPECT_LE(points.size(), 8u);
    EXPECT_GE(points.size(), 6u);
    EXPECT_GT(supportArea(points), 1);
  }
}

}

}
