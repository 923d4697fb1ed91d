#include "contact/line_search.h"

#include "contact/line_rig.h"

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

namespace tendril {
namespace {

using test::LineRig;
using Candidate = std::tuple<int, int, int, int>;

std::set<Candidate> find(const LineRig& rig, double reach, std::vector<LineCandidate>* list = nullptr) {
  LineGeometry geometry(*rig.model, rig.parts);
  geometry.set(rig.parts, rig.state);
  LineSearch search(rig.parts);
  std::set<Candidate> found;
  for (const LineCandidate& c : search.find(geometry, reach)) {
    EXPECT_TRUE(found.emplace(c.first, c.second, c.segment, c.other).second) << "twice";
    if (list) list->push_back(c);
  }
  return found;
}

/// Least distance of sampled points of two segments.
double distance(const CurveConfiguration& a, int i, const CurveConfiguration& b, int j) {
  double least = 1e300;
  for (int p = 0; p <= 20; ++p) {
    for (int q = 0; q <= 20; ++q) least = std::min(least, (a.frame({i, p / 20.0}).x - b.frame({j, q / 20.0}).x).norm());
  }
  return least;
}

TEST(LineSearch, FindsAllThatComesNear) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> uniform(-1, 1);
  LineRig rig;
  for (int k = 0; k < 12; ++k) {
    const Pose start{so3::exp(Vector3(3 * uniform(random), 3 * uniform(random), 3 * uniform(random))),
                     {uniform(random), uniform(random), uniform(random)}};
    Vector6 f;
    f << 1, 0, 0, uniform(random), 4 * uniform(random), 4 * uniform(random);
    rig.curve("curve " + std::to_string(k), 4 + k % 5, 2, 0.02 + 0.01 * (k % 3), [=](double s) { return start * se3::exp(s * f); });
  }
  rig.build();
  constexpr double reach = 0.03;
  const std::set<Candidate> found = find(rig, reach);
  std::vector<CurveConfiguration> curves;
  for (const ContactModel::Part& part : rig.parts.parts()) {
    curves.emplace_back(*rig.model, *part.curve);
    curves.back().set(rig.state);
  }
  int near = 0;
  for (int p = 0; p < 12; ++p) {
    for (int q = p; q < 12; ++q) {
      const ContactCurve &a = *rig.parts.parts()[std::size_t(p)].curve, &b = *rig.parts.parts()[std::size_t(q)].curve;
      const bool isSwapped = b.segments[0].length < a.segments[0].length;
      for (int i = 0; i < int(a.segments.size()); ++i) {
        for (int j = p == q ? i + 2 : 0; j < int(b.segments.size()); ++j) {
          if (distance(curves[std::size_t(p)], i, curves[std::size_t(q)], j) > a.radius + b.radius + 2 * reach) continue;
          ++near;
          EXPECT_TRUE(found.contains(isSwapped ? Candidate{q, p, j, i} : Candidate{p, q, i, j})) << p << ' ' << q << ' ' << i << ' ' << j;
        }
      }
    }
  }
  EXPECT_GT(near, 20);
  for (const auto& [first, second, segment, other] : found) {
    EXPECT_TRUE(first != second || other > segment + 1);
  }
}

TEST(LineSearch, KeepsToTheLaws) {
  LineRig rig;
  for (const std::string name : {"a", "b", "c"}) rig.line(name, 3, {0, 0, 0}, {1, 0, 0}, 0.1);
  rig.solid("floor", Shape::Kind::HalfSpace, Vector3::Zero(), Pose{});
  rig.solid("wall", Shape::Kind::HalfSpace, Vector3::Zero(), Pose{});
  ContactLaw law;
  rig.parts.addLaw({"a", "b", law});
  rig.parts.addLaw({"c", "c", law});
  rig.parts.addLaw({"b", "floor", law});
  rig.model = rig.builder.build();
  rig.state = rig.model->initialState();
  std::vector<LineCandidate> list;
  find(rig, 0.1, &list);
  std::set<std::pair<int, int>> pairs;
  for (const LineCandidate& c : list) pairs.insert({c.first, c.second});
  EXPECT_EQ(pairs, (std::set<std::pair<int, int>>{{0, 1}, {1, 3}, {2, 2}}));
  const auto order = [](const LineCandidate& c) { return std::tuple(c.first, c.second, c.segment, c.other); };
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [&](const auto& x, const auto& y) { return order(x) < order(y); }));
}

TEST(LineSearch, LeavesOutWhatACurveCannotTouchOfItself) {
  ContactCurve curve;
  curve.radius = 0.1;
  for (int i = 0; i < 10; ++i) curve.segments.push_back({{i, i + 1}, 0.1});
  EXPECT_FALSE(isClosed(curve));
  EXPECT_FALSE(facesItself(curve, 0.2, 0.5));
  EXPECT_TRUE(facesItself(curve, 0.2, 0.52));
  EXPECT_FALSE(facesItself(curve, 0.52, 0.2)) << "each pair counts once";
  EXPECT_TRUE(facesItself(curve, 0.05, 0.95));
  EXPECT_EQ(segmentAfter(curve, 9), -1);
  EXPECT_EQ(segmentBefore(curve, 0), -1);
  curve.segments.back().blocks[1] = 0;
  EXPECT_TRUE(isClosed(curve));
  EXPECT_FALSE(facesItself(curve, 0.05, 0.95)) << "the way round is short";
  EXPECT_TRUE(facesItself(curve, 0.05, 0.55));
  EXPECT_EQ(segmentAfter(curve, 9), 0);
  EXPECT_EQ(segmentBefore(curve, 0), 9);
}

}
}
