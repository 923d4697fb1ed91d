#include "support/allocation_counter.h"

#include "contact/pair_oracle.h"

#include "tendril/contact/broad_phase.h"

#include <gtest/gtest.h>

namespace tendril {

namespace {

using namespace oracle;

/// What has worked once on some shapes takes no memory any more.
TEST(ProximityAllocation, NoneOnceItHasWorked) {
  if (!TENDRIL_COUNTS_ALLOCATIONS) GTEST_SKIP() << "allocations are not counted here";
  std::mt19937 random(6);
  std::vector<CollisionShape> shapes;
  for (const Shape& shape : {sphere(0.5), capsule(0.3, 0.9), box(1, 0.7, 0.5), randomConvexMesh(random, 30, 0.6), cylinder(0.4, 0.9),
                             cone(0.5, 1), ellipsoid(0.6, 0.4, 0.25), halfSpace()}) {
    shapes.emplace_back(shape, "shape");
  }
  std::vector<Pose> poses;
  for (int k = 0; k < 40; ++k) poses.push_back(randomPose(random, 0.5));
  std::vector<ContactPoint> points;
  points.reserve(100000);
  std::vector<Bounds> bounds;
  BroadPhase phase;
  const auto work = [&] {
    points.clear();
    bounds.clear();
    for (std::size_t k = 0; k + 1 < poses.size(); ++k) {
      for (const CollisionShape& a : shapes) {
        bounds.push_back(a.bounds(poses[k]));
        for (const CollisionShape& b : shapes) findContacts(a, poses[k], b, poses[k + 1], 0.01, points);
      }
    }
    return phase.find(bounds).size();
  };
  const std::size_t pairs = work(), found = points.size();
  const long before = test::allocationCount;
  const std::size_t pairsAgain = work();
  EXPECT_EQ(test::allocationCount, before);
  EXPECT_EQ(pairsAgain, pairs);
  EXPECT_EQ(points.size(), found);
}

}

}
