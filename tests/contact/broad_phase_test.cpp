#include "tendril/contact/broad_phase.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace tendril {

namespace {

using Pairs = std::vector<std::pair<int, int>>;

std::vector<Bounds> randomBounds(std::mt19937& random, int count, bool isMixed) {
  std::uniform_real_distribution<double> place(-10, 10), size(0, 1);
  std::vector<Bounds> bounds;
  for (int i = 0; i < count; ++i) {
    const Vector3 centre(place(random), place(random), place(random));
    const double extent = isMixed ? std::pow(10, -3 + 4 * size(random)) : 0.4;
    const Vector3 half = extent * Vector3(0.1 + size(random), 0.1 + size(random), 0.1 + size(random));
    bounds.push_back({centre - half, centre + half});
  }
  return bounds;
}

Pairs allPairs(const std::vector<Bounds>& bounds) {
  Pairs pairs;
  for (int i = 0; i < int(bounds.size()); ++i) {
    for (int j = i + 1; j < int(bounds.size()); ++j) {
      if (bounds[std::size_t(i)].meets(bounds[std::size_t(j)])) pairs.emplace_back(i, j);
    }
  }
  return pairs;
}

TEST(BroadPhase, FindsWhatComparingAllFinds) {
  std::mt19937 random(1);
  BroadPhase phase;
  for (const int count : {0, 1, 2, 7, 50, 400, 1500}) {
    for (const bool isMixed : {false, true}) {
      const auto bounds = randomBounds(random, count, isMixed);
      EXPECT_EQ(phase.find(bounds), allPairs(bounds)) << count << isMixed;
    }
  }
}

TEST(BroadPhase, UnboundedOnesMeetAllThatReachThem) {
  std::mt19937 random(2);
  const double infinity = std::numeric_limits<double>::infinity();
  auto bounds = randomBounds(random, 100, true);
  bounds.insert(bounds.begin() + 30, {Vector3::Constant(-infinity), {infinity, infinity, 0}});
  bounds.insert(bounds.begin() + 70, {{1, -infinity, -infinity}, Vector3::Constant(infinity)});
  EXPECT_EQ(BroadPhase().find(bounds), allPairs(bounds));
}

TEST(BroadPhase, TouchingAndEqualBoxesMeet) {
  const Bounds unit{Vector3::Zero(), Vector3::Ones()}, next{{1, 0, 0}, {2, 1, 1}};
  const std::vector<Bounds> same(40, unit);
  EXPECT_EQ(BroadPhase().find(same).size(), 780u);
  EXPECT_EQ(BroadPhase().find(std::vector<Bounds>{unit, next}), (Pairs{{0, 1}}));
}

TEST(BroadPhase, OrderOfTheBoxesDoesNotMatter) {
  std::mt19937 random(3);
  const auto bounds = randomBounds(random, 500, true);
  std::vector<int> order(bounds.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Bounds> shuffled;
  for (const int i : order) shuffled.push_back(bounds[std::size_t(i)]);
  Pairs back;
  BroadPhase phase;
  for (const auto& [i, j] : phase.find(shuffled)) back.push_back(std::minmax(order[std::size_t(i)], order[std::size_t(j)]));
  std::sort(back.begin(), back.end());
  EXPECT_EQ(back, BroadPhase().find(bounds));
}

}

}
