#include "tendril/studies/design.h"

#include "support/files.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tendril::testing {
namespace {

using Point = std::vector<std::string>;

std::vector<Point> pointsOf(const Design& design) {
  std::vector<Point> points;
  for (std::size_t i = 0; i < design.size(); ++i) points.push_back(design.point(i));
  return points;
}

std::vector<StudyAxis> unitAxes(int count) {
  std::vector<StudyAxis> axes;
  for (int j = 0; j < count; ++j) axes.emplace_back("x" + std::to_string(j), 0., 1.);
  return axes;
}

double number(const std::string& text) { return std::stod(text); }

TEST(Design, GridRunsTheLastNameFastest) {
  const Design grid = Design::grid({StudyAxis::parse("a=1,2"), StudyAxis::parse("shape=disc,sphere"), StudyAxis::parse("b=0:1:3")});
  EXPECT_EQ(grid.names(), (Point{"a", "shape", "b"}));
  ASSERT_EQ(grid.size(), 12u);
  EXPECT_EQ(grid.point(0), (Point{"1", "disc", "0"}));
  EXPECT_EQ(grid.point(1), (Point{"1", "disc", "0.5"}));
  EXPECT_EQ(grid.point(3), (Point{"1", "sphere", "0"}));
  EXPECT_EQ(grid.point(11), (Point{"2", "sphere", "1"}));
}

TEST(Design, RangesMeetBothEnds) {
  const StudyAxis axis = StudyAxis::parse("x=0.1:0.7:7");
  ASSERT_EQ(axis.values().size(), 7u);
  EXPECT_EQ(axis.values().front(), "0.1");
  EXPECT_EQ(axis.values().back(), "0.7");
  EXPECT_EQ(StudyAxis::parse("x=3:9:1").values(), Point{"3"});
  EXPECT_EQ(StudyAxis::parse("x=-1e-3:1e3").at(0.5), "499.9995");
}

// Values are those of --set: sequences, calls of functions and texts have commas and colons of their own.
TEST(Design, CommasWithinBracketsAndQuotesBelongToTheValue) {
  EXPECT_EQ(StudyAxis::parse("x=[0, 1],[2, 3]").values(), (Point{"[0, 1]", "[2, 3]"}));
  EXPECT_EQ(StudyAxis::parse("x=max(a, b),{k: [1, 2]},\"a,b:c\"").values(), (Point{"max(a, b)", "{k: [1, 2]}", "\"a,b:c\""}));
  EXPECT_EQ(StudyAxis::parse("x=1,2").values(), (Point{"1", "2"}));
}

TEST(Design, ListGoesSideBySide) {
  const Design list = Design::list({StudyAxis::parse("a=1,2,3"), StudyAxis::parse("b=x,y,z")});
  EXPECT_EQ(pointsOf(list), (std::vector<Point>{{"1", "x"}, {"2", "y"}, {"3", "z"}}));
  expectError<InputError>([] { Design::list({StudyAxis::parse("a=1,2"), StudyAxis::parse("b=1,2,3")}); }, {"a has 2", "b has 3"});
}

TEST(Design, ReadsATableOfPoints) {
  const TemporaryFolder folder;
  writeAll(folder / "points.csv", "mu,\"bodies.a.position\"\r\n0.1,\"[0, 1, 2]\"\r\n\r\n10 mm,\"say \"\"a\"\"\"\r\n");
  const Design table = Design::table(folder / "points.csv");
  EXPECT_EQ(table.names(), (Point{"mu", "bodies.a.position"}));
  EXPECT_EQ(pointsOf(table), (std::vector<Point>{{"0.1", "[0, 1, 2]"}, {"10 mm", "say \"a\""}}));
  writeAll(folder / "short.csv", "a,b\n1,2\n3\n");
  expectError<InputError>([&] { Design::table(folder / "short.csv"); }, {"short.csv", "point 2 has 1 values for 2 names"});
  writeAll(folder / "empty.csv", "a,b\n");
  expectError<InputError>([&] { Design::table(folder / "empty.csv"); }, {"no points"});
  expectError<InputError>([&] { Design::table(folder / "none.csv"); }, {"none.csv", "cannot be read"});
  writeAll(folder / "twice.csv", "a,a\n1,2\n");
  expectError<InputError>([&] { Design::table(folder / "twice.csv"); }, {"a: the name is set twice"});
  writeAll(folder / "open.csv", "a,b\n1,\"2\n3,4\n");
  expectError<InputError>([&] { Design::table(folder / "open.csv"); }, {"open.csv", "quotation mark is not closed"});
  writeAll(folder / "nameless.csv", "a,\n1,2\n");
  expectError<InputError>([&] { Design::table(folder / "nameless.csv"); }, {"nameless.csv", "no name"});
  writeAll(folder / "marked.csv", "\xef\xbb\xbfmu\n1\n");
  EXPECT_EQ(Design::table(folder / "marked.csv").names(), Point{"mu"});
}

TEST(Design, LatinHypercubeHasOnePointInEachStratumOfEachAxis) {
  const Design design = Design::latinHypercube(unitAxes(3), 50, 7);
  for (std::size_t j = 0; j < 3; ++j) {
    std::set<int> strata;
    for (const Point& point : pointsOf(design)) strata.insert(int(50 * number(point[j])));
    EXPECT_EQ(strata.size(), 50u);
    EXPECT_EQ(*strata.rbegin(), 49);
    // Where in its stratum a point lies is another matter in each of them.
    std::set<int> tenths;
    for (const Point& point : pointsOf(design)) tenths.insert(int(500 * number(point[j])) % 10);
    EXPECT_GE(tenths.size(), 8u);
  }
  EXPECT_EQ(pointsOf(design), pointsOf(Design::latinHypercube(unitAxes(3), 50, 7)));
  EXPECT_NE(pointsOf(design), pointsOf(Design::latinHypercube(unitAxes(3), 50, 8)));
}

// Orders of the axes are independent: correlations of 2000 points lie within four standard deviations, 4/sqrt(2000).
TEST(Design, LatinHypercubeOrdersItsAxesIndependently) {
  const std::vector<Point> points = pointsOf(Design::latinHypercube(unitAxes(4), 2000, 1));
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      double sum = 0;
      for (const Point& point : points) sum += 12 * (number(point[i]) - 0.5) * (number(point[j]) - 0.5);
      EXPECT_LT(std::abs(sum / 2000), 4 / std::sqrt(2000.));
    }
  }
}

TEST(Design, SamplesTakeValuesOneByOneInEqualShares) {
  const std::vector<Point> points = pointsOf(Design::latinHypercube({StudyAxis::parse("shape=disc,sphere,box"), {"x", 0., 1.}}, 300, 3));
  for (const char* shape : {"disc", "sphere", "box"})
    EXPECT_EQ(std::count_if(points.begin(), points.end(), [&](const Point& point) { return point[0] == shape; }), 100);
}

// The first 2^k points of a digital net: on every axis one in each interval of length 2^-k, whatever the digital shift.
TEST(Design, SobolHasOnePointInEachDyadicInterval) {
  const auto axes = int(Design::mostAxesOfSobol);
  const std::vector<Point> points = pointsOf(Design::sobol(unitAxes(axes), 256, 5));
  for (std::size_t j = 0; j < points[0].size(); ++j) {
    std::set<int> cells;
    for (const Point& point : points) cells.insert(int(256 * number(point[j])));
    EXPECT_EQ(cells.size(), 256u) << "axis " << j;
  }
}

// Axes 1 and 2 are a (0,2)-sequence (Sobol 1967): each box of 2^-a times 2^-(8-a) has one of 256 points.
TEST(Design, SobolFillsBoxesOfTheFirstTwoAxes) {
  const std::vector<Point> points = pointsOf(Design::sobol(unitAxes(2), 256, 11));
  for (int a = 0; a <= 8; ++a) {
    std::set<std::pair<int, int>> boxes;
    for (const Point& point : points) boxes.insert({int(std::ldexp(number(point[0]), a)), int(std::ldexp(number(point[1]), 8 - a))});
    EXPECT_EQ(boxes.size(), 256u) << a;
  }
}

// The error of a mean falls almost as 1/n, that of random points as 1/sqrt(n): for the product of 1 + (x - 1/2)/2 over 6 axes, whose mean
// is 1 and whose variance is (1 + 1/48)^6 - 1 = 0.13, 4096 random points err by 0.0057.
TEST(Design, SobolIntegratesBetterThanRandomPoints) {
  double sum = 0;
  for (const Point& point : pointsOf(Design::sobol(unitAxes(6), 4096, 2))) {
    double product = 1;
    for (const std::string& x : point) product *= 1 + (number(x) - 0.5) / 2;
    sum += product;
  }
  EXPECT_LT(std::abs(sum / 4096 - 1), 0.0057 / 10);
}

TEST(Design, RefusesWhatIsNoStudy) {
  const auto refuses = [](const char* axis, std::initializer_list<const char*> parts) {
    expectError<InputError>([&] { Design::grid({StudyAxis::parse(axis)}); }, parts);
  };
  for (const char* axis : {"", "x", "=1", "x="}) refuses(axis, {"--over", "NAME"});
  refuses("x=1:2", {"x", "FROM:TO:COUNT"});
  refuses("x=1:2:3:4", {"FROM:TO:COUNT"});
  refuses("x=1,,2", {"between all commas"});
  refuses("x=a:2:3", {"'a' is not a finite number"});
  refuses("x=0:nan:3", {"'nan' is not a finite number"});
  refuses("x=0:1e999:3", {"'1e999'"});
  refuses("x=0:1:1e12", {"1e12", "10000000"});
  refuses("x=0:1:2.5", {"2.5", "whole number"});
  refuses("x=0:1:0", {"COUNT"});
  refuses("x=0:1:-3", {"COUNT"});
  expectError<InputError>([] { StudyAxis::parse("x=-1e308:1e308"); }, {"range"});
  expectError<InputError>([] { Design::grid({}); }, {"varies nothing"});
  expectError<InputError>([] { Design::grid({StudyAxis::parse("x=1"), StudyAxis::parse("x=2")}); }, {"x: the name is set twice"});
  const StudyAxis tenThousand = StudyAxis::parse("x=0:1:10000");
  expectError<InputError>([&] { Design::grid({tenThousand, {"y", tenThousand.values()}, {"z", tenThousand.values()}}); }, {"1e+12 points"});
  expectError<InputError>([] { Design::sobol({{"x", 0., 1.}}, 1'000'000'000'000, 1); }, {"1000000000000 points"});
  expectError<InputError>([] { Design::latinHypercube({{"x", 0., 1.}}, 0, 1); }, {"no points", "--samples"});
  expectError<InputError>([] { Design::sobol(unitAxes(22), 8, 1); }, {"at most 21", "lhs"});
}

TEST(Design, IsKnownByItsDescription) {
  const std::vector<StudyAxis> axes{{"x", 0., 1.}};
  const std::set<std::string> different{Design::sobol(axes, 8, 1).description(),
                                        Design::sobol(axes, 8, 2).description(),
                                        Design::sobol(axes, 9, 1).description(),
                                        Design::latinHypercube(axes, 8, 1).description(),
                                        Design::sobol({{"x", 0., 1.5}}, 8, 1).description(),
                                        Design::sobol({{"y", 0., 1.}}, 8, 1).description(),
                                        Design::grid({StudyAxis("x", Point{"1,2"})}).description(),
                                        Design::grid({StudyAxis("x", Point{"1", "2"})}).description(),
                                        Design::list({StudyAxis("x", Point{"1", "2"})}).description()};
  EXPECT_EQ(different.size(), 9u);
}

}
}
