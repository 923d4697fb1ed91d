#include "contact/pair_oracle.h"

#include <gtest/gtest.h>

namespace tendril {

namespace {

using namespace oracle;

Pose placed(double x, double y, double angle) {
  Pose pose; // exactly in the plane
  pose.R.topLeftCorner<2, 2>() = Eigen::Rotation2Dd(angle).toRotationMatrix();
  pose.x = {x, y, 0};
  return pose;
}

Shape rectangle(double a, double b) { return polygon({{-a / 2, -b / 2, 0}, {a / 2, -b / 2, 0}, {a / 2, b / 2, 0}, {-a / 2, b / 2, 0}}); }
Shape triangle() { return polygon({{-0.5, -0.3, 0}, {0.5, -0.3, 0}, {0.1, 0.6, 0}}); }

double height(const Body& body, const Vector3& n) {
  const Vector3 local = body.part.R.transpose() * n;
  return n.dot(body.part.x) + (body.shape.kind == Shape::Kind::Disc ? body.shape.size[0] : oracle::height(body.shape, local));
}
double separation(const Body& a, const Body& b, double angle) {
  const Vector3 n(std::cos(angle), std::sin(angle), 0);
  return -height(a, -n) - height(b, n);
}
double bruteGap(const Body& a, const Body& b) {
  double best = -1e300, at = 0;
  for (int i = 0; i < 20000; ++i) {
    const double angle = 2 * std::numbers::pi * i / 20000, s = separation(a, b, angle);
    if (s > best) best = s, at = angle;
  }
  for (double step = 1e-3; step > 1e-16; step /= 2) {
    for (const double side : {-step, step}) {
      if (const double s = separation(a, b, at + side); s > best) best = s, at += side;
    }
  }
  return best;
}

TEST(PlaneShapes, EveryPairIsExact) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> place(-0.8, 0.8), turn(0, 6.3);
  const std::vector<Shape> shapes{disc(0.4), rectangle(1, 0.5), triangle()};
  for (const Shape& first : shapes) {
    for (const Shape& second : shapes) {
      for (int k = 0; k < 100; ++k) {
        const Body a{first, placed(place(random), place(random), turn(random))},
            b{second, placed(place(random), place(random), turn(random))};
        const auto points = contacts(a, b, 5);
        ASSERT_FALSE(points.empty());
        const ContactPoint p = *deepest(points);
        const double brute = bruteGap(a, b);
        EXPECT_NEAR(p.gap, brute, 1e-12);
        EXPECT_NEAR(separation(a, b, std::atan2(p.normal[1], p.normal[0])), p.gap, 1e-14);
        EXPECT_EQ(p.normal[2], 0);
        EXPECT_EQ(p.planeNormal, Vector3::UnitZ());
        const Vector3 onA = p.position + p.gap / 2 * p.normal, onB = p.position - p.gap / 2 * p.normal;
        EXPECT_NEAR(p.normal.dot(onA), -height(a, -p.normal), 1e-14);
        EXPECT_NEAR(p.normal.dot(onB), height(b, p.normal), 1e-14);
        const auto turned = contacts(b, a, 5);
        EXPECT_NEAR((deepest(turned)->normal + p.normal).norm(), 0, 1e-12);
      }
    }
  }
}

TEST(PlaneShapes, EdgesRestOnEdges) {
  const auto points = contacts({rectangle(1, 1), placed(0.3, 1 - 1e-6, 0)}, {rectangle(2, 1), {}}, 0);
  ASSERT_EQ(points.size(), 2u);
  EXPECT_NE(points[0].feature, points[1].feature);
  for (const ContactPoint& p : points) {
    EXPECT_NEAR(p.gap, -1e-6, 1e-16);
    EXPECT_EQ(p.normal, Vector3::UnitY());
  }
  EXPECT_NEAR(std::abs(points[0].position[0] - points[1].position[0]), 1, 1e-15);
  const auto over = contacts({rectangle(1, 1), placed(0.8, 1 - 1e-6, 0)}, {rectangle(2, 1), {}}, 0);
  ASSERT_EQ(over.size(), 2u);
  EXPECT_NEAR(std::max(over[0].position[0], over[1].position[0]), 1, 1e-15);
}

TEST(PlaneShapes, HalfSpacesAreCutByThePlane) {
  // Normal in the plane, and one that leaves it by an angle: along the plane the distance grows by 1 / cos.
  for (const double tilt : {0., 0.4}) {
    const Matrix3 R = (Matrix3() << 0, 0, 1, 1, 0, 0, 0, 1, 0).finished(); // third director e1
    const Body wall{halfSpace(), {Eigen::AngleAxisd(tilt, Vector3::UnitY()).toRotationMatrix() * R, Vector3::Zero()}};
    const auto ball = contacts({disc(0.5), placed(0.7, 3, 1)}, wall, 1);
    ASSERT_EQ(ball.size(), 1u);
    EXPECT_NEAR(ball[0].gap, 0.2, 1e-15);
    EXPECT_EQ(ball[0].normal, Vector3::UnitX());
    EXPECT_NEAR((ball[0].position - Vector3(0.1, 3, 0)).norm(), 0, 1e-15);
    const auto block = contacts({rectangle(1, 1), placed(0.5, 0, 0)}, wall, 0.01);
    ASSERT_EQ(block.size(), 2u);
    EXPECT_NEAR(block[0].gap, 0, 1e-16);
  }
  EXPECT_TRUE(contacts({disc(0.5), {}}, {halfSpace(), {}}, 1).empty()); // parallel
}

TEST(PlaneShapes, DiscInAHollowDisc) {
  Shape ring = disc(2);
  ring.hollow = true;
  const auto points = contacts({disc(0.5), placed(0, 1.2, 0.3)}, {ring, {}}, 1);
  ASSERT_EQ(points.size(), 1u);
  EXPECT_NEAR(points[0].gap, 0.3, 1e-15);
  EXPECT_NEAR((points[0].normal + Vector3::UnitY()).norm(), 0, 1e-15);
  EXPECT_EQ(points[0].planeNormal, Vector3::UnitZ());
  EXPECT_EQ(contacts({rectangle(1, 1), {}}, {ring, {}}, 5).size(), 4u);
}

TEST(PlaneShapes, CoincidentCentres) {
  for (const Shape& first : {disc(0.4), rectangle(1, 0.5), triangle()}) {
    for (const Shape& second : {disc(0.4), rectangle(1, 0.5), triangle()}) {
      const auto points = contacts({first, {}}, {second, {}}, 0);
      ASSERT_FALSE(points.empty());
      for (const ContactPoint& p : points) EXPECT_NEAR(p.normal.norm(), 1, 1e-15);
    }
  }
}

}

}
