#include "support/files.h"
#include "support/places.h"
#include "support/run_scenes.h"
#include "tendril/io/export.h"
#include "tendril/io/results.h"
#include "tendril/io/run.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdio>
#include <numbers>

namespace tendril {
namespace {

namespace fs = std::filesystem;
using namespace testing;
using Json = nlohmann::json;

constexpr double pi = std::numbers::pi;

/// One run of the scene with everything in it, for all tests.
class Export : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    writeAll(*folder / "scene.yaml", showcase);
    RunOptions options;
    options.scene = *folder / "scene.yaml";
    options.folder = *folder / "out";
    ASSERT_EQ(run(options).status, RunStatus::Success);
  }
  static void TearDownTestSuite() { delete folder; }

  ExportOptions options() const {
    ExportOptions made;
    made.results = *folder / "out";
    made.folder = own.path;
    return made;
  }
  /// What an independent reader finds in the exported files.
  Json read() const {
    const fs::path report = own / "report.json";
    const std::string command = "python3 " + test::sourceFolder() + "/tests/io/check_vtk.py " + own.path.string() + " > " + report.string();
    if (std::system(command.c_str()) != 0) throw std::runtime_error("the files are not valid");
    return Json::parse(readAll(report));
  }

  static TemporaryFolder* folder;
  TemporaryFolder own;
};
TemporaryFolder* Export::folder = nullptr;

/// Area of a regular polygon inscribed in a circle.
double polygonArea(int sides, double radius) { return sides / 2.0 * radius * radius * std::sin(2 * pi / sides); }

TEST_F(Export, WritesOneFileOfEachKindPerRow) {
  EXPECT_EQ(exportResults(options()).size(), 5u);
  const Json report = read();
  for (const char* kind : {"beams", "centrelines", "bodies", "markers", "joints"}) {
    ASSERT_EQ(report[kind].size(), 5u) << kind;
    EXPECT_NEAR(report[kind][4]["time"].get<double>(), 0.04, 1e-15);
  }
}

TEST_F(Export, SweepsTheTrueSectionOfABeam) {
  ExportOptions fine = options();
  fine.sides = 32;
  fine.subdivisions = 16;
  fine.steps = "0";
  exportResults(fine);
  const Json beam = read()["beams"][0];
  EXPECT_TRUE(beam["closed"]);
  // Pappus: area of the annulus times the way of its centre, a quarter of a circle of radius 1 cut into 96 chords; the rings stand along
  // the radii, so that the volume is that of prisms between planes of the pencil: sin of the angle instead of the angle.
  const double angle = pi / 2 / 96;
  const double area = polygonArea(32, 0.05) - polygonArea(32, 0.03);
  EXPECT_NEAR(beam["volume"].get<double>(), 96 * std::sin(angle) * area, 1e-6 * area);
  EXPECT_NEAR(beam["cell_fields"]["strain"][0].get<double>(), 0, 1e-12) << "the reference shape is free of strain";
}

TEST_F(Export, DrawsClosedBodiesOfTheRightVolume) {
  const auto volume = [this](int sides) {
    ExportOptions one = options();
    one.sides = sides;
    one.steps = "0";
    exportResults(one);
    const Json bodies = read()["bodies"][0];
    EXPECT_TRUE(bodies["closed"]);
    return bodies["volume"].get<double>();
  };
  const double exact = 4 * pi / 3 * 0.008 + 0.006 + pi * 0.04 * 0.5 + (pi * 0.04 * 0.5 + 4 * pi / 3 * 0.008) + pi * 0.03 * 0.5 +
                       pi * 0.04 * 0.5 / 3 + 4 * pi / 3 * 0.006;
  const double coarse = exact - volume(32), fine = exact - volume(64);
  EXPECT_GT(fine, 0);
  EXPECT_NEAR(coarse / fine, 4, 0.05) << "inscribed polyhedra converge with the square of the number of sides";
}

TEST_F(Export, GivesFramesForcesAndReactions) {
  ExportOptions last = options();
  last.steps = "last";
  exportResults(last);
  const Json report = read();
  const ResultReader results(*folder / "out" / "results.h5");
  const auto mouth = results.output("mouth_position");
  const Json marker = report["markers"][0];
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(marker["last_point"][std::size_t(i)].get<double>(), mouth(mouth.rows() - 1, i), 1e-6);
  }
  const Json line = report["centrelines"][0];
  EXPECT_EQ(line["cells"], 6);
  EXPECT_EQ(line["points"], 6 * 4 + 1);
  EXPECT_NEAR(line["point_fields"]["arclength"][0].get<double>(), pi / 2, 1e-12);
  double dot = 0;
  for (std::size_t i = 0; i < 3; ++i) dot += line["point_fields"]["d1"][i].get<double>() * line["point_fields"]["d2"][i].get<double>();
  EXPECT_NEAR(dot, 0, 1e-12);
  // The clamp carries the hose: its reaction and the force in the first element are of the size of the weight.
  const double weight = 1000 * pi * (0.0025 - 0.0009) * pi / 2 * 9.81;
  const double reaction = report["joints"][0]["point_fields"]["force"][2].get<double>();
  EXPECT_GT(reaction, 0.1 * weight);
  EXPECT_LT(reaction, 10 * weight);
}

TEST(ExportOfContacts, DrawsObstaclesPlaneShapesAndPoints) {
  const TemporaryFolder folder;
  writeAll(folder / "scene.yaml", bouncing);
  RunOptions options;
  options.scene = folder / "scene.yaml";
  options.folder = folder / "out";
  ASSERT_EQ(run(options).status, RunStatus::Success);
  ExportOptions last;
  last.results = options.folder;
  last.folder = folder / "vtk";
  last.steps = "last";
  last.sides = 32;
  exportResults(last);
  const fs::path report = folder / "report.json";
  const std::string command =
      "python3 " + test::sourceFolder() + "/tests/io/check_vtk.py " + last.folder.string() + " > " + report.string();
  ASSERT_EQ(std::system(command.c_str()), 0);
  const Json files = Json::parse(readAll(report));
  // Sphere, box, disc and triangle; the plate of the floor and the box that was lifted by 0.9 m.
  EXPECT_EQ(files["bodies"][0]["cells"].get<int>(), 32 * 16 + 6 + 1 + 1);
  EXPECT_EQ(files["obstacles"][0]["cells"].get<int>(), 1 + 6);
  EXPECT_NEAR(files["obstacles"][0]["last_point"][2].get<double>(), 1 + 0.5 + 0.9, 1e-6);
  const Json points = files["contacts"][0];
  const ResultReader results(options.folder / "results.h5");
  EXPECT_EQ(points["points"].get<int>(), results.list("contacts", "gap", results.rows() - 1).rows());
  EXPECT_GE(points["points"].get<int>(), 4) << "the corners of the block";
  EXPECT_NEAR(points["point_fields"]["normal"][2].get<double>(), 1, 1e-12);
  EXPECT_GT(points["point_fields"]["impulse"][2].get<double>(), 0);
}

TEST_F(Export, SelectsRows) {
  const auto times = [this](const std::string& steps) {
    ExportOptions chosen = options();
    chosen.steps = steps;
    exportResults(chosen);
    std::vector<long> found;
    const Json report = read();
    for (const Json& set : report["markers"]) found.push_back(std::lround(100 * set["time"].get<double>()));
    return found;
  };
  EXPECT_EQ(times("1:3"), (std::vector<long>{1, 2, 3}));
  EXPECT_EQ(times("0:4:3"), (std::vector<long>{0, 3}));
  EXPECT_EQ(times("0,4"), (std::vector<long>{0, 4}));
  ExportOptions wrong = options();
  for (const char* steps : {"5", "3:1", "0:4:0", "first", "1,", "-1"}) {
    wrong.steps = steps;
    expectError<InputError>([&] { exportResults(wrong); }, {"--steps", steps});
  }
}

TEST_F(Export, WritesTablesWithUnits) {
  ExportOptions csv = options();
  csv.format = ExportFormat::Csv;
  EXPECT_EQ(exportResults(csv).size(), 3u);
  std::istringstream energy(readAll(own / "energy.csv"));
  std::string header;
  std::getline(energy, header);
  EXPECT_EQ(header, "time [s],energy [J]");
  const ResultReader results(*folder / "out" / "results.h5");
  const auto values = results.output("energy");
  for (Eigen::Index row = 0; row < values.rows(); ++row) {
    double t = 0, value = 0;
    char comma = 0;
    energy >> t >> comma >> value;
    EXPECT_EQ(t, results.time()[row]);
    EXPECT_EQ(value, values(row, 0)) << "digits were lost";
  }
  const std::string line = readAll(own / "centreline_hose.csv");
  EXPECT_TRUE(line.starts_with("time [s],node,arclength [m],x [m],y [m],z [m]\n0,0,0,0,0,0\n")) << line.substr(0, 100);
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1 + 5 * 7);
}

TEST_F(Export, RefusesAFolderWithoutResults) {
  ExportOptions none = options();
  none.results = own.path;
  expectError<InputError>([&] { exportResults(none); }, {"results.h5"});
  none.results = *folder / "out";
  writeAll(own / "file", "");
  none.folder = own / "file/sub";
  expectError<MachineFailure>([&] { exportResults(none); }, {"file/sub"});
}

}
}
