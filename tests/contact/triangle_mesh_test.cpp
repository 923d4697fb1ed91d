#include "contact/pair_oracle.h"

#include "tendril/contact/mesh.h"

#include <gtest/gtest.h>

namespace tendril {

namespace {

using namespace oracle;

/// A height field over [-3, 3]^2, cut into triangles.
template <class Height> Shape terrain(int cells, const Height& z) {
  TriangleMesh mesh;
  for (int i = 0; i <= cells; ++i) {
    for (int k = 0; k <= cells; ++k) {
      const double x = -3 + 6. * i / cells, y = -3 + 6. * k / cells;
      mesh.vertices.emplace_back(x, y, z(x, y));
    }
  }
  const auto v = [cells](int i, int k) { return i * (cells + 1) + k; };
  for (int i = 0; i < cells; ++i) {
    for (int k = 0; k < cells; ++k) {
      mesh.triangles.push_back({v(i, k), v(i + 1, k), v(i + 1, k + 1)});
      mesh.triangles.push_back({v(i, k), v(i + 1, k + 1), v(i, k + 1)});
    }
  }
  Shape shape = meshShape(Shape::Kind::TriangleMesh, mesh);
  shape.open = true;
  return shape;
}

std::vector<std::pair<std::string, Shape>> movers() {
  std::mt19937 random(3);
  return {{"sphere", sphere(0.3)},
          {"capsule", capsule(0.2, 0.5)},
          {"box", box(0.5, 0.4, 0.3)},
          {"hull", randomConvexMesh(random, 20, 0.4)},
          {"cylinder", cylinder(0.3, 0.4)},
          {"cone", cone(0.3, 0.5)},
          {"ellipsoid", ellipsoid(0.4, 0.3, 0.2)}};
}

/// What slides over a plane that is cut into triangles sees the plane.
TEST(TriangleMesh, FlatGroundIsAHalfSpace) {
  const Shape flat = terrain(13, [](double, double) { return 0.; });
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-1, 1);
  for (const auto& [name, shape] : movers()) {
    for (int k = 0; k < 100; ++k) {
      Body body{shape, randomPose(random, 1)};
      body.part.x[2] = 0;
      body.part.x[2] = body.height(-Vector3::UnitZ()) - 1e-4 * (1 + place(random));
      const auto onMesh = contacts(body, {flat, {}}, 1e-3), onPlane = contacts(body, {halfSpace(), {}}, 1e-3);
      ASSERT_FALSE(onMesh.empty()) << name << k;
      EXPECT_NEAR(deepest(onMesh)->gap, deepest(onPlane)->gap, 1e-14) << name;
      EXPECT_NEAR((deepest(onMesh)->position - deepest(onPlane)->position).norm(), 0, 1e-13) << name;
      for (const ContactPoint& p : onMesh) EXPECT_NEAR((p.normal - Vector3::UnitZ()).norm(), 0, 1e-14) << name;
    }
  }
}

TEST(TriangleMesh, SlidingBoxKeepsFourContactsAndTheirNumbers) {
  const Shape flat = terrain(10, [](double, double) { return 0.; });
  std::vector<std::uint32_t> first;
  for (int k = 0; k <= 400; ++k) {
    const Body block{box(0.5, 0.5, 0.5), {Matrix3::Identity(), {-1 + 0.005 * k, -0.7 + 0.004 * k, 0.25 - 1e-6}}};
    const auto points = contacts(block, {flat, {}}, 1e-5);
    ASSERT_EQ(points.size(), 4u) << k;
    std::vector<std::uint32_t> numbers;
    for (const ContactPoint& p : points) {
      numbers.push_back(p.feature);
      EXPECT_NEAR(p.gap, -1e-6, 1e-15);
    }
    std::sort(numbers.begin(), numbers.end());
    if (k == 0) first = numbers;
    EXPECT_EQ(numbers, first) << k;
  }
}

/// On a ridge and on a peak the distance is that of the edge and the point; in a valley both sides touch.
TEST(TriangleMesh, RidgePeakAndValley) {
  const Shape ridge = terrain(2, [](double x, double) { return -std::abs(x); });
  const auto onRidge = contacts({sphere(0.3), {Matrix3::Identity(), {0, 0.4, 0.3 - 1e-3}}}, {ridge, {}}, 0);
  ASSERT_EQ(onRidge.size(), 1u);
  EXPECT_NEAR(onRidge[0].gap, -1e-3, 1e-15);
  EXPECT_NEAR((onRidge[0].normal - Vector3::UnitZ()).norm(), 0, 1e-14);
  const auto block = contacts({box(0.5, 0.6, 0.5), {Matrix3::Identity(), {0, 0.4, 0.25 - 1e-3}}}, {ridge, {}}, 0);
  ASSERT_EQ(block.size(), 2u);
  for (const ContactPoint& p : block) {
    EXPECT_NEAR(p.gap, -1e-3, 1e-15);
    EXPECT_NEAR(p.position[0], 0, 1e-15);
  }
  EXPECT_NEAR(std::abs(block[0].position[1] - block[1].position[1]), 0.6, 1e-14);

  const Shape peak = terrain(2, [](double x, double y) { return -std::max(std::abs(x), std::abs(y)); });
  const auto onPeak = contacts({box(1, 1, 0.2), {Matrix3::Identity(), {0.2, 0.1, 0.1 - 1e-3}}}, {peak, {}}, 0);
  ASSERT_EQ(onPeak.size(), 1u);
  EXPECT_NEAR(onPeak[0].gap, -1e-3, 1e-15);
  EXPECT_NEAR((onPeak[0].position - Vector3(0, 0, -5e-4)).norm(), 0, 1e-14);

  const Shape valley = terrain(2, [](double x, double) { return std::abs(x); });
  const auto inValley = contacts({sphere(0.3), {Matrix3::Identity(), {0, 0.4, 0.3 * std::sqrt(2) - 1e-3}}}, {valley, {}}, 0);
  ASSERT_EQ(inValley.size(), 2u);
  for (const ContactPoint& p : inValley) {
    EXPECT_NEAR(p.gap, -1e-3 / std::sqrt(2), 1e-15);
    EXPECT_NEAR(p.normal[2], std::sqrt(0.5), 1e-14);
  }
}

/// Of a sphere above rough ground: the least distance of its centre from all triangles, by dense sampling.
TEST(TriangleMesh, DistanceFromRoughGround) {
  const auto z = [](double x, double y) { return 0.3 * std::sin(2.1 * x) * std::cos(1.7 * y); };
  const Shape rough = terrain(12, z);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> place(-2, 2);
  for (int k = 0; k < 30; ++k) {
    const Vector3 centre(place(random), place(random), 0);
    const Body ball{sphere(0.2), {Matrix3::Identity(), centre + Vector3(0, 0, z(centre[0], centre[1]) + 0.4)}};
    double least = 1e300;
    for (const auto& t : rough.mesh->triangles) {
      const auto& v = rough.mesh->vertices;
      const Vector3 a = v[std::size_t(t[0])], b = v[std::size_t(t[1])], c = v[std::size_t(t[2])];
      if ((a - ball.part.x).norm() > 2) continue;
      for (int i = 0; i <= 100; ++i) {
        for (int j = 0; i + j <= 100; ++j) least = std::min(least, (a + i / 100. * (b - a) + j / 100. * (c - a) - ball.part.x).norm());
      }
    }
    const auto points = contacts(ball, {rough, {}}, 1);
    ASSERT_FALSE(points.empty());
    EXPECT_LE(deepest(points)->gap, least - 0.2 + 1e-12);
    EXPECT_NEAR(deepest(points)->gap, least - 0.2, 3e-5);
  }
}

Shape cubeMesh() {
  std::vector<Vector3> corners;
  for (int i = 0; i < 8; ++i) corners.emplace_back(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5);
  return meshShape(Shape::Kind::TriangleMesh, convexHull(corners));
}

/// A closed mesh that happens to be convex touches as the convex shape does.
TEST(TriangleMesh, ClosedCubeIsABox) {
  std::mt19937 random(9);
  for (const auto& [name, shape] : movers()) {
    for (int k = 0; k < 60; ++k) {
      Body a{shape, randomPose(random, 0.8)};
      const Body b{box(1, 1, 1), randomPose(random, 0.3)};
      for (int j = 0; j < 3; ++j) {
        const auto points = contacts(a, b, 10);
        const ContactPoint* p = deepest(points);
        a.part.x += (1e-4 - p->gap) * p->normal;
      }
      const auto onBox = contacts(a, b, 1e-3), onMesh = contacts(a, {cubeMesh(), b.part}, 1e-3);
      ASSERT_FALSE(onMesh.empty()) << name << k;
      EXPECT_NEAR(deepest(onMesh)->gap, deepest(onBox)->gap, 1e-11) << name << k;
      EXPECT_NEAR((deepest(onMesh)->normal - deepest(onBox)->normal).norm(), 0, 1e-8) << name << k;
    }
  }
}

TEST(TriangleMesh, SideOfAThickPlateSaysNothingAboutWhatLiesOnTop) {
  const Body plate{cubeMesh(), {}};
  for (const double x : {0.1, 0.2, 0.29, 0.3, 0.4, 0.65}) { // within, near the border, flush with it, overhanging
    const Body block{box(0.4, 0.4, 0.4), {Matrix3::Identity(), {x, 0.1, 0.7 - 1e-4}}};
    const auto points = contacts(block, plate, 1e-5);
    ASSERT_EQ(points.size(), 4u) << x;
    for (const ContactPoint& p : points) {
      EXPECT_NEAR((p.normal - Vector3::UnitZ()).norm(), 0, 1e-14) << x;
      EXPECT_NEAR(p.gap, -1e-4, 1e-15) << x;
    }
  }
}

}

}
