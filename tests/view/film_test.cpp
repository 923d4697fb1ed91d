#include "support/run_scenes.h"
#include "tendril/io/results.h"
#include "tendril/model/state.h"
#include "tendril/view/film.h"
#include "view/film_reader.h"

#include <Eigen/Geometry>

#include <cmath>
#include <numbers>
#include <set>

namespace tendril {
namespace {

using namespace testing;
using Json = nlohmann::json;

/// A block that slides down a floor that is at rest, beside a block that rests on a floor that moves up and down.
const std::string blocks = R"(tendril: 1
bodies:
  - {name: slider, mass: 2, shapes: [{kind: box, size: [0.4, 0.4, 0.2]}], position: [0, 0, 0.1], velocity: [3, 0, 0]}
  - {name: rider, mass: 1, shapes: [{kind: sphere, radius: 0.1}], position: [5, 5, 0.2]}
obstacles:
  - {name: floor, shapes: [{kind: half-space}]}
  - {name: lift, shapes: [{kind: box, size: [1, 1, 0.2]}], position: [5, 5, 0], motion: {translation: [0, 0, 0.05*t]}}
contacts:
  - {name: friction, between: [slider, floor], friction: 0.25}
  - {name: ride, between: [rider, lift], friction: 0.5}
gravity: {acceleration: [0, 0, -10]}
analysis: {type: dynamic, duration: 0.3, step: 0.0005, output_every: 2}
outputs:
  - {name: way, measure: position, on: slider}
)";

Eigen::Quaterniond quaternion(const ReadChannel& channel, std::size_t i) {
  const std::int16_t* q = channel.rotations.data() + 4 * i;
  return {q[0] / 32767., q[1] / 32767., q[2] / 32767., q[3] / 32767.};
}

/// Poses of a channel against those of blocks in the rows of the results.
void expectPoses(const ReadChannel& channel, const ResultReader& results, const Json& rows, const std::vector<int>& firstNumbers) {
  ASSERT_EQ(channel.positions.size(), 3 * rows.size() * firstNumbers.size());
  std::size_t i = 0;
  for (const Json& row : rows) {
    const Eigen::VectorXd q = results.stateRow("q", row);
    for (const int first : firstNumbers) {
      const Pose pose = loadPose(q.data() + first);
      for (int k = 0; k < 3; ++k) EXPECT_EQ(channel.positions[3 * i + std::size_t(k)], float(pose.x[k]));
      const Eigen::Quaterniond read = quaternion(channel, i++);
      EXPECT_GE(read.w(), 0);
      EXPECT_LT((read.toRotationMatrix() - pose.R).cwiseAbs().maxCoeff(), 1.6e-4); // 2 q dq, dq at most 4e-5
      EXPECT_NEAR(std::abs(read.normalized().dot(Eigen::Quaterniond(pose.R))), 1, 1e-8);
    }
  }
}

TEST(Film, HoldsThePosesOfBeamsBodiesMarkersAndJoints) {
  const TemporaryFolder folder;
  Film film(runScene(folder, showcase));
  const Json header = Json::parse(film.header());
  const ResultReader results(folder / "out" / "results.h5");
  EXPECT_EQ(header["times"].size(), results.rows());
  // Seven nodes come first in q, twelve numbers each, or the body does: the order of the scene's reader.
  const Eigen::VectorXd start = results.stateRow("q", 0);
  const int body = start[0] == 3 ? 0 : 84;
  std::vector<int> nodes;
  for (int i = 0; i < 7; ++i) nodes.push_back((body == 0 ? 12 : 0) + 12 * i);
  expectPoses(readChannel(film, header, "bodies"), results, header["rows"], {body});
  expectPoses(readChannel(film, header, "nodes"), results, header["rows"], nodes);
  expectPoses(readChannel(film, header, "markers"), results, header["rows"], {nodes.back()});
  expectPoses(readChannel(film, header, "joints"), results, header["rows"], {nodes.front()});
}

TEST(Film, ShowsShellsAsMeshes) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
shells:
  - {name: flat, length: 2, width: 1, thickness: 0.01, material: {E: 1e9, nu: 0.3, density: 1000}}
  - {name: roll, length: 1, width: 0.5, thickness: 0.01, material: {E: 1e9, nu: 0.3, density: 1000}, initial: [3.14159265358979, 0, 0],
     position: [0, 0, 1]}
analysis: {type: shell-shape}
outputs:
  - {name: corner, measure: corner}
)"));
  const Json header = Json::parse(film.header());
  ASSERT_EQ(header["shells"].size(), 2u);
  const std::size_t rows = header["shells"][1]["rows"], columns = header["shells"][1]["columns"],
                    first = header["shells"][1]["firstVertex"];
  EXPECT_EQ(header["shells"][1]["name"], "roll");
  const ReadChannel channel = readChannel(film, header, "shells");
  const std::size_t vertices = first + (rows + 1) * (columns + 1);
  ASSERT_EQ(channel.values.size() % (3 * vertices), 0u);
  const auto vertex = [&](std::size_t i) { return Vector3(channel.values[3 * i], channel.values[3 * i + 1], channel.values[3 * i + 2]); };
  EXPECT_LT((vertex(first - 1) - Vector3(2, 1, 0)).norm(), 1e-6);
  // Half a turn of a roll of length 1: its end is above its begin, by the diameter.
  EXPECT_LT((vertex(vertices - 1) - Vector3(0, 0.5, 1 + 2 / std::numbers::pi)).norm(), 1e-6);
  EXPECT_GT(header["bounds"][1][2], 1.6);
}

/// A bob on a string swings about the ground, a weight hangs on a spring.
TEST(Film, ShowsSpringsAndDistancesFromEndToEnd) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
bodies:
  - {name: bob, mass: 1, inertia: [1, 1, 1], position: [3, 0, 0]}
  - {name: weight, mass: 1, inertia: [1, 1, 1], position: [1, 0, -1]}
joints:
  - {name: string, type: distance, on: bob, to: {on: ground, position: [3, 0, 2]}}
springs:
  - {name: coil, type: linear, on: weight, to: {on: ground, position: [1, 0, 1]}, stiffness: 10}
gravity: {acceleration: [0, 1, -10]}
analysis: {type: dynamic, duration: 0.5, step: 0.01}
)"));
  const Json header = Json::parse(film.header());
  EXPECT_EQ(header["links"], Json::parse(R"([{"name": "coil", "kind": "spring"}, {"name": "string", "kind": "distance"}])"));
  const ReadChannel links = readChannel(film, header, "links");
  const std::size_t frames = header["times"].size();
  ASSERT_EQ(links.positions.size(), 12 * frames);
  Vector3 shift;
  for (int k = 0; k < 3; ++k) shift[k] = header["origin"][std::size_t(k)];
  const auto end = [&](std::size_t frame, std::size_t i) {
    return Vector3(Eigen::Map<const Eigen::Vector3f>(links.positions.data() + 12 * frame + 3 * i).cast<double>() + shift);
  };
  for (std::size_t frame = 0; frame < frames; ++frame) {
    EXPECT_NEAR(std::min((end(frame, 0) - Vector3(1, 0, 1)).norm(), (end(frame, 1) - Vector3(1, 0, 1)).norm()), 0, 1e-6);
    EXPECT_NEAR((end(frame, 2) - end(frame, 3)).norm(), 2, 1e-6);
  }
  EXPECT_GT((end(frames - 1, 0) - end(0, 0)).norm() + (end(frames - 1, 1) - end(0, 1)).norm(), 0.5); // the weight falls into its spring
}

/// The line of a guide runs through its frame along the tangent, both ways as far as the model is large.
TEST(Film, ShowsGuidesAsLines) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
bodies: [{name: bead, mass: 1, inertia: [1, 1, 1], position: [3, 0, 4]}]
joints: [{name: plane, type: planar, on: bead, axis: [0, 1, 0]}]
analysis:
  type: solvability
  guides: [{name: slot, on: bead, to: {on: ground, position: [0, 0, 4]}, normal: [0, 0, 1], tangent: [2, 0, 0], friction: 0.1, sliding: forward}]
)"));
  const Json header = Json::parse(film.header());
  EXPECT_EQ(header["links"], Json::parse(R"([{"name": "slot", "kind": "guide"}])"));
  const ReadChannel links = readChannel(film, header, "links");
  Vector3 shift;
  for (int k = 0; k < 3; ++k) shift[k] = header["origin"][std::size_t(k)];
  const auto end = [&](std::size_t i) -> Vector3 {
    return Eigen::Map<const Eigen::Vector3f>(links.positions.data() + 3 * i).cast<double>() + shift;
  };
  EXPECT_LT((end(0) + end(1) - Vector3(0, 0, 8)).norm(), 1e-5);
  EXPECT_GT(end(1).x(), 3);
  EXPECT_LT((end(1) - Vector3(end(1).x(), 0, 4)).norm(), 1e-5);
}

/// A block on a slide that a cable pulls and a muscle holds back.
const std::string pulledBlock = R"(tendril: 1
bodies: [{name: block, mass: 1, inertia: [1, 1, 1], position: [0.2, 0, 0]}]
markers:
  - {name: ring, on: block}
  - {name: post, on: ground, position: [2, 0, 0]}
  - {name: wall, on: ground, position: [-0.8, 0, 0]}
joints: [{name: slide, type: prismatic, on: block, axis: [1, 0, 0]}]
actuators:
  - {name: rope, on: ring, cable: post, limit: [0, 100]}
  - {name: arm, on: ring, muscle: {to: wall, strength: 5, length: 1}}
analysis: {type: optimal-control, intervals: 8, duration: 1, end: {joints: {slide: 0.5}}}
)";

TEST(Film, ShowsCablesAndMusclesThatAreControlled) {
  const TemporaryFolder folder;
  Film film(runScene(folder, pulledBlock));
  const Json header = Json::parse(film.header());
  EXPECT_EQ(header["links"], Json::parse(R"([{"name": "rope", "kind": "cable"}, {"name": "arm", "kind": "muscle"}])"));
  const ReadChannel links = readChannel(film, header, "links");
  ASSERT_EQ(links.positions.size(), 9u * 4 * 3);
  const float* last = links.positions.data() + links.positions.size() - 12;
  const double expected[4] = {0.7, 2, 0.7, -0.8};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(last[3 * i], expected[i], 1e-6) << i;
}

/// The controls do the work that brings the block to its end: nothing is missing in the balance by which a reader judges the run.
TEST(Film, BalancesTheEnergyOfAManoeuvre) {
  const TemporaryFolder folder;
  std::string moving = pulledBlock;
  moving.replace(moving.find("{joints: {slide"), 1, "{at_rest: false, ");
  moving.replace(moving.find("intervals: 8"), 12, "intervals: 40");
  Film film(runScene(folder, moving));
  const Json energy = Json::parse(film.header())["summary"]["energy"];
  EXPECT_GT(energy["work"], 0.05);
  EXPECT_LT(std::abs(energy["balance"].get<double>()), 0.01 * energy["work"].get<double>());
}

TEST(Film, ShowsTheDiscThatARingIsPackedInto) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
rods: [{name: ring, length: 2, stiffness: [1, 1, 1], elements: 12, radius: 0.003, begin: {position: [1, 0, 0]}}]
analysis: {type: packed-ring, radius: 0.25, index: 0}
)"));
  const Json header = Json::parse(film.header());
  ASSERT_EQ(header["obstacles"].size(), 1u);
  const Json shape = header["obstacles"][0]["shapes"][0];
  EXPECT_EQ(shape["kind"], "disc");
  EXPECT_EQ(shape["hollow"], true);
  EXPECT_EQ(shape["size"], (Json{0.5}));
  const ReadChannel nodes = readChannel(film, header, "nodes"), disc = readChannel(film, header, "obstacles");
  const auto at = [](const ReadChannel& poses, std::size_t i) {
    return Vector3(poses.positions[i], poses.positions[i + 1], poses.positions[i + 2]);
  };
  for (std::size_t i = nodes.positions.size() - 39; i < nodes.positions.size(); i += 3)
    EXPECT_LT((at(nodes, i) - at(disc, 3)).norm(), 0.5 + 1e-5);
}

TEST(Film, DescribesShapesAndSections) {
  const TemporaryFolder folder;
  Film film(runScene(folder, showcase));
  const Json header = Json::parse(film.header());
  const Json& shapes = header["bodies"][0]["shapes"];
  std::vector<std::string> kinds;
  for (const Json& shape : shapes) kinds.push_back(shape["kind"]);
  EXPECT_EQ(kinds, (std::vector<std::string>{"sphere", "box", "cylinder", "capsule", "tube", "cone", "ellipsoid"}));
  EXPECT_EQ(shapes[1]["size"], (Json{0.1, 0.2, 0.3}));
  EXPECT_EQ(shapes[4]["size"], (Json{0.2, 0.1, 0.5}));
  EXPECT_EQ(shapes[5]["position"], (Json{5., 0., 0.}));
  const Json& section = header["beams"][0]["section"];
  EXPECT_EQ(section["shape"], "tube");
  EXPECT_DOUBLE_EQ(section["width"], 0.1);
  EXPECT_DOUBLE_EQ(section["innerRadius"], 0.03);
  EXPECT_EQ(section["assumed"], false);
  // The ellipsoid lies at x = 3 + 6 and reaches 0.1 further; the hose begins at x = 0 and is 0.05 thick.
  EXPECT_NEAR(header["bounds"][1][0], 9.1, 1e-9);
  EXPECT_NEAR(header["bounds"][0][0], -0.05, 0.01);
  EXPECT_EQ(header["up"], (Json{0., 0., 1.}));
  EXPECT_EQ(header["planar"], false);
  EXPECT_EQ(header["joints"][0]["name"], "clamp");
  EXPECT_EQ(header["joints"][0]["first"], "the ground");
}

/// Under an end moment M = 2 pi EI turns p at load parameter p, every element has that moment and the curvature M/EI.
TEST(Film, ShowsTheMomentOfARolledUpBeamOverTheLoadParameter) {
  const TemporaryFolder folder;
  Film film(runScene(folder, rollUp));
  const Json header = Json::parse(film.header());
  EXPECT_EQ(header["axis"]["kind"], "load");
  ASSERT_EQ(header["times"].size(), 25u);
  EXPECT_EQ(header["beams"][0]["section"]["assumed"], true);
  EXPECT_DOUBLE_EQ(header["beams"][0]["section"]["width"], 1. / 50);
  const std::vector<std::string> columns = header["channels"]["elements"]["columns"];
  const auto column = [&](const char* name) { return std::size_t(std::find(columns.begin(), columns.end(), name) - columns.begin()); };
  const ReadChannel elements = readChannel(film, header, "elements");
  ASSERT_EQ(elements.values.size(), 25 * 6 * columns.size());
  for (std::size_t frame = 0; frame < 25; ++frame) {
    const double moment = std::numbers::pi * 10 * header["times"][frame].get<double>();
    for (std::size_t e = 0; e < 6; ++e) {
      const float* values = elements.values.data() + (6 * frame + e) * columns.size();
      EXPECT_NEAR(values[column("bending moment")], moment, 1e-4 * (1 + moment));
      EXPECT_NEAR(values[column("curvature")], moment / 10, 1e-4 * (1 + moment));
      EXPECT_NEAR(values[column("energy density")], moment * moment / 20, 1e-3 * (1 + moment));
      EXPECT_NEAR(values[column("axial force")], 0, 1e-2);
      EXPECT_NEAR(values[column("torsion moment")], 0, 1e-4);
    }
  }
  const Json again = Json::parse(film.header());
  for (const Json& field : again["fields"]) {
    if (field["name"] != "bending moment") continue;
    EXPECT_NEAR(field["range"][1], std::numbers::pi * 10, 1e-3);
    EXPECT_EQ(field["isSampled"], false);
  }
}

TEST(Film, HoldsTheOutputsOverTheFrames) {
  const TemporaryFolder folder;
  Film film(runScene(folder, fallingRod));
  const Json header = Json::parse(film.header());
  const ResultReader results(folder / "out" / "results.h5");
  const auto values = results.output("tip");
  const ReadChannel series = readChannel(film, header, "series/tip");
  ASSERT_EQ(series.values.size(), std::size_t(values.size()));
  for (std::size_t i = 0; i < series.values.size(); ++i) EXPECT_EQ(series.values[i], float(values.data()[i]));
  for (const Json& entry : header["series"]) {
    if (entry["name"] != "tip") continue;
    EXPECT_EQ(entry["columns"], (Json{"x", "y", "z"}));
    EXPECT_EQ(entry["unit"], "m");
  }
}

/// Kinetic energy of free fall is what gravity gave; a rod that falls has taken as many iterations as its summary counts.
TEST(Film, HoldsEnergiesAndWhatTheSolverNeeded) {
  const TemporaryFolder folder;
  std::string scene = fallingRod;
  scene.replace(scene.find("output_every: 3"), 15, "output_every: 1");
  Film film(runScene(folder, scene));
  const Json header = Json::parse(film.header());
  std::vector<std::string> columns;
  for (const Json& entry : header["series"]) {
    if (entry["name"] != "energies") continue;
    EXPECT_EQ(entry["group"], "energy");
    columns = entry["columns"];
  }
  ASSERT_EQ(columns, (std::vector<std::string>{"total", "kinetic", "elastic", "gravitational", "work"}));
  const ReadChannel energies = readChannel(film, header, "series/energies"), given = readChannel(film, header, "series/energy"),
                    iterations = readChannel(film, header, "series/Newton iterations"),
                    size = readChannel(film, header, "series/step size");
  double sum = 0;
  for (std::size_t frame = 0; frame < film.frames(); ++frame) {
    const float* row = energies.values.data() + 5 * frame;
    EXPECT_NEAR(row[0], row[1] + row[2] + row[3], 1e-5);
    EXPECT_EQ(row[0], given.values[frame]); // the scene asks for the total energy
    if (frame > 0) sum += iterations.values[frame];
    if (frame > 0) {
      EXPECT_FLOAT_EQ(size.values[frame], 0.005f);
    }
  }
  EXPECT_TRUE(std::isnan(iterations.values[0]));
  EXPECT_EQ(sum, header["summary"]["newton"]["iterations"]);
}

class BlocksFilm : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    runScene(*folder, blocks);
  }
  static void TearDownTestSuite() { delete folder; }
  static TemporaryFolder* folder;
};
TemporaryFolder* BlocksFilm::folder = nullptr;

TEST_F(BlocksFilm, IsCutIntoChunks) {
  Film film(*folder / "out");
  const Json header = Json::parse(film.header());
  const ResultReader results(*folder / "out" / "results.h5");
  ASSERT_EQ(film.frames(), 301u);
  EXPECT_EQ(film.chunks(), (301 + film.framesPerChunk() - 1) / film.framesPerChunk());
  EXPECT_GT(film.chunks(), 2u);
  expectPoses(readChannel(film, header, "bodies"), results, header["rows"], {0, 12});
  const ReadChannel obstacles = readChannel(film, header, "obstacles");
  for (std::size_t frame = 0; frame < 301; ++frame)
    EXPECT_NEAR(obstacles.positions[6 * frame + 5], 0.05 * header["times"][frame].get<double>(), 1e-7);
  expectError<InputError>([&] { film.chunk("bodies", film.chunks()); }, {"bodies"});
  expectError<InputError>([&] { film.chunk("nothing", 0); }, {"nothing"});
}

/// The floor bears the weight of the slider, 20 N, and slows it by mu m g = 5 N; the lift bears the rider, 10 N, which does not slide.
TEST_F(BlocksFilm, HoldsContactsWithTheirForces) {
  Film film(*folder / "out");
  const Json header = Json::parse(film.header());
  const std::size_t columns = header["channels"]["contacts"]["columns"].size();
  const ReadChannel contacts = readChannel(film, header, "contacts"), motion = readChannel(film, header, "body motion"),
                    pressed = readChannel(film, header, "body contact");
  EXPECT_EQ(contacts.counts[0], 0u);
  const float* line = contacts.values.data();
  for (std::size_t frame = 1; frame < 301; ++frame) {
    double slider = 0, rider = 0, drag = 0;
    for (std::uint32_t i = 0; i < contacts.counts[frame]; ++i, line += columns) {
      const Json& first = header["parts"][std::size_t(line[12])];
      const bool isSlider = first["name"] == "slider" || header["parts"][std::size_t(line[13])]["name"] == "slider";
      const double sign = first["body"] >= 0 ? 1 : -1; // force on the body
      (isSlider ? slider : rider) += sign * line[8];
      if (isSlider) drag += sign * line[6];
      EXPECT_NEAR(std::abs(line[8]), line[14], 1e-4);
      EXPECT_NEAR(std::abs(line[6]), line[15], 1e-4);
      if (line[14] > 1) {
        EXPECT_EQ(line[11], isSlider ? 2 : 1);
      }
      if (isSlider && line[11] == 2) {
        EXPECT_NEAR(line[10], 3 - 2.5 * header["times"][frame].get<double>(), 1e-3);
      }
    }
    if (frame < 50) continue; // the lift starts with a jump of its velocity
    EXPECT_NEAR(slider, 20, 1e-3);
    EXPECT_NEAR(drag, -5, 1e-3);
    EXPECT_NEAR(rider, 10, 1e-3);
    EXPECT_NEAR(motion.values[6 * frame], 3 - 2.5 * header["times"][frame].get<double>(), 1e-4);
    EXPECT_NEAR(motion.values[6 * frame + 2], std::pow(motion.values[6 * frame], 2), 1e-4); // m = 2
    EXPECT_NEAR(pressed.values[2 * frame + 1], 10, 1e-3);
    EXPECT_GE(pressed.values[2 * frame], std::hypot(20, 5) - 1e-3);
  }
  for (const Json& field : header["fields"]) {
    if (field["name"] == "status") {
      EXPECT_EQ(field["categories"], (Json{"open", "sticking", "sliding"}));
    }
  }
}

TEST_F(BlocksFilm, LeavesFramesOutEvenly) {
  Film film(*folder / "out", 7);
  const Json header = Json::parse(film.header());
  EXPECT_EQ(header["rows"], (Json{0, 50, 100, 150, 200, 250, 300}));
  EXPECT_EQ(header["totalRows"], 301);
  EXPECT_NE(header["notices"][0].get<std::string>().find("7 of 301 frames"), std::string::npos);
  const ResultReader results(*folder / "out" / "results.h5");
  expectPoses(readChannel(film, header, "bodies"), results, header["rows"], {0, 12});
}

TEST_F(BlocksFilm, SamplesRangesBeforeChunksAreMade) {
  Film film(*folder / "out");
  const Json header = Json::parse(film.header());
  for (const Json& field : header["fields"]) {
    if (field["name"] != "speed") continue;
    EXPECT_NEAR(field["range"][1], 3, 0.01);
    EXPECT_EQ(field["isSampled"], true);
  }
}

/// A rod lies across another one and moves along it without friction: the contact slides with its speed.
TEST(Film, HoldsContactsOfBeamsWithTheirSlip) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
materials: [{name: steel, E: 2e11, nu: 0.3, density: 7800}]
beams:
  - {name: lower, curve: {type: straight, from: [0, 0, 0], to: [1, 0, 0]}, section: {shape: circle, radius: 0.02}, material: steel, elements: 3}
  - {name: upper, curve: {type: straight, from: [0.5, -0.5, 0.04], to: [0.5, 0.5, 0.04]}, section: {shape: circle, radius: 0.02}, material: steel, elements: 3, velocity: [2, 0, 0]}
joints:
  - {name: left, type: clamp, on: lower.start}
  - {name: right, type: clamp, on: lower.end}
contacts: [{name: touch, between: [upper, lower], friction: 0}]
gravity: {acceleration: [0, 0, -10]}
analysis: {type: dynamic, duration: 2e-3, step: 2e-4}
)"));
  const Json header = Json::parse(film.header());
  const ReadChannel contacts = readChannel(film, header, "contacts");
  const std::size_t columns = header["channels"]["contacts"]["columns"].size();
  const float* line = contacts.values.data();
  int closed = 0;
  for (const std::uint32_t count : contacts.counts) {
    for (std::uint32_t i = 0; i < count; ++i, line += columns) {
      const Json &first = header["parts"][std::size_t(line[12])], &second = header["parts"][std::size_t(line[13])];
      EXPECT_EQ((std::set<std::string>{first["name"], second["name"]}), (std::set<std::string>{"lower", "upper"}));
      if (line[11] == 0) continue;
      ++closed;
      EXPECT_NEAR(line[10], 2, 1e-3);
    }
  }
  EXPECT_GT(closed, 0);
}

/// A ball that falls from 0.05 m + its radius strikes after 0.1 s and, with restitution 1/2, again after as long.
TEST(Film, MarksTheEventsThatTheSceneAsksFor) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
bodies: [{name: ball, mass: 1, shapes: [{kind: sphere, radius: 0.1}], position: [0, 0, 0.15]}]
obstacles: [{name: floor, shapes: [{kind: half-space}]}]
contacts: [{name: bounce, between: [ball, floor], restitution: 0.5}]
gravity: {acceleration: [0, 0, -10]}
analysis: {type: dynamic, method: event-driven, duration: 0.25, step: 0.01}
outputs: [{name: impacts, measure: event times, event: impact, between: [floor, all]}]
)"));
  const Json marks = Json::parse(film.header())["marks"];
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_NEAR(marks[0]["at"], 0.1, 1e-8);
  EXPECT_NEAR(marks[1]["at"], 0.2, 1e-8);
  EXPECT_EQ(marks[0]["label"], "impacts");
  EXPECT_EQ(marks[0]["frame"], 10);
}

/// The straight rod is followed first, then the branches of its first mode to both sides; a branch is no continuation of the one before.
TEST(Film, MarksBranches) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
rods:
  - name: rod
    length: 1
    stiffness: [1, 100, 100]
    elements: 10
    radius: 0.005
    begin: {orientation: {directors: [[0, 0, -1], [0, 1, 0], [1, 0, 0]]}}
    end: {position: [1, 0, 0], orientation: {directors: [[0, 0, -1], [0, 1, 0], [1, 0, 0]]}}
analysis: {type: rod-path, parameter: distance, from: 1, to: 0.9, branch_points: 1}
outputs: [{name: number, measure: branch}]
)"));
  const Json header = Json::parse(film.header());
  const std::vector<float> numbers = readChannel(film, header, "series/number").values;
  ASSERT_EQ(header["breaks"].size(), 2u);
  ASSERT_EQ(header["marks"].size(), 3u); // the straight rod becomes unstable where they begin
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t frame = header["breaks"][i];
    EXPECT_EQ(numbers[frame], float(i + 1));
    EXPECT_EQ(numbers[frame - 1], float(i));
    EXPECT_EQ(header["marks"][i]["frame"], frame);
    EXPECT_EQ(header["marks"][i]["label"], "branch " + std::to_string(i + 1));
  }
}

/// Half a second on one foot, half on the other: the marks of a manoeuvre are where its contacts land and leave, not where it begins and
/// ends.
TEST(Film, MarksThePhasesOfAManoeuvre) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
bodies: [{name: slider, mass: 1, inertia: [1, 1, 1]}, {name: foot, mass: 1, inertia: [1, 1, 1]}]
markers: [{name: sole, on: foot}]
joints:
  - {name: rail, type: prismatic, on: slider, axis: [1, 0, 0]}
  - {name: leg, type: prismatic, on: foot, to: slider, axis: [1, 0, 0]}
actuators: [{joint: leg}, {joint: rail}]
analysis:
  type: optimal-control
  intervals: 8
  duration: 2
  contacts: [{name: stand, on: sole, from: 0, to: 3, holds: [[1, 0, 0]], normal: [0, 0, 1], pushes: false}]
  end: {joints: {rail: 0.3, leg: 0.2}}
)"));
  const Json marks = Json::parse(film.header())["marks"];
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_NEAR(marks[0]["at"], 0.75, 1e-9);
  EXPECT_EQ(marks[0]["label"], "stand leaves");
  EXPECT_EQ(marks[0]["frame"], 3);
}

// ---- folders that are not as they should be
// ----------------------------------------------------------------------------------------------

bool hasNotice(const Json& header, const std::string& part) {
  for (const Json& notice : header["notices"]) {
    if (notice.get<std::string>().find(part) != std::string::npos) return true;
  }
  return false;
}

TEST(Film, ShowsWhatThereIsOfABrokenRun) {
  const TemporaryFolder folder;
  const auto results = runScene(folder, fallingRod);
  for (const char* file : {"summary.json", "scene.yaml", "log.txt"}) std::filesystem::remove(results / file);
  Film film(results);
  const Json header = Json::parse(film.header());
  EXPECT_TRUE(header["summary"].is_null());
  EXPECT_EQ(header["log"], Json::array());
  EXPECT_TRUE(hasNotice(header, "no summary"));
  EXPECT_EQ(header["title"], "A falling rod");
  writeAll(results / "summary.json", "{\"status\": \"interr");
  EXPECT_TRUE(hasNotice(Json::parse(Film(results).header()), "no summary"));
  writeAll(results / "summary.json", R"({"status": "failed", "messages": ["step 7: no convergence"]})");
  EXPECT_TRUE(hasNotice(Json::parse(Film(results).header()), "step 7: no convergence"));
  std::filesystem::remove(results / "summary.json");
  std::filesystem::create_directory(results / "summary.json");
  EXPECT_TRUE(hasNotice(Json::parse(Film(results).header()), "no summary"));
}

TEST(Film, TellsWhoNamesAFileThatAFolderIsMeant) {
  const TemporaryFolder folder;
  expectError<InputError>([results = runScene(folder, fallingRod) / "results.h5"] { Film film(results); },
                          {"this is a file", "name the folder"});
}

TEST(Film, ShowsTheInitialStateOfResultsWithoutRows) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "out");
  ResultWriter writer(folder / "out" / "results.h5", {"9.9", fallingRod, {}});
  writer.addState("q", 60);
  writer.addState("v", 30);
  writer.addState("lambda", 3);
  writer.addOutput("tip", 3, {"m", "position", "inertial"});
  writer.close();
  Film film(folder / "out");
  const Json header = Json::parse(film.header());
  EXPECT_EQ(header["times"], (Json{0}));
  EXPECT_EQ(header["totalRows"], 0);
  EXPECT_TRUE(hasNotice(header, "no rows"));
  EXPECT_TRUE(hasNotice(header, "9.9"));
  EXPECT_EQ(readChannel(film, header, "nodes").positions[12], 1);
  EXPECT_TRUE(std::isnan(readChannel(film, header, "series/tip").values[0]));
}

TEST(Film, RefusesWhatItCannotRead) {
  const TemporaryFolder folder;
  expectError<InputError>([&] { Film film(folder / "nowhere"); }, {"results.h5", "no such file"});
  writeAll(folder / "results.h5", "not HDF5");
  expectError<InputError>([&] { Film film(folder.path); }, {"results.h5", "not an HDF5 file"});
  ResultWriter writer(folder / "results.h5", {"0.0", fallingRod, {}});
  const auto q = writer.addState("q", 24), v = writer.addState("v", 12), lambda = writer.addState("lambda", 3);
  writer.set(q, std::vector<double>(24)), writer.set(v, std::vector<double>(12)), writer.set(lambda, std::vector<double>(3));
  writer.endStep(0);
  writer.close();
  expectError<InputError>([&] { Film film(folder.path); }, {"states/q", "24", "version 0.0", "60"});
}

/// 10^6 m from the origin single precision knows millimetres only to a tenth: positions are given from a point near by.
TEST(Film, KeepsItsPrecisionFarFromTheOrigin) {
  const TemporaryFolder folder;
  Film film(runScene(folder, R"(tendril: 1
bodies: [{name: ball, mass: 1, shapes: [{kind: sphere, radius: 0.1}], position: [1e6, 0, 0], velocity: [0, 1, 0]}]
analysis: {type: dynamic, duration: 0.1, step: 0.01}
outputs: [{name: y, measure: position, on: ball, component: y}]
)"));
  const Json header = Json::parse(film.header());
  EXPECT_NEAR(header["origin"][0], 1e6, 1);
  const ReadChannel poses = readChannel(film, header, "bodies");
  EXPECT_NEAR(header["origin"][0].get<double>() + double(poses.positions[0]), 1e6, 1e-6);
  EXPECT_NEAR(header["bounds"][1][1].get<double>(), 0.2, 1e-6);
  EXPECT_NEAR(header["extent"], 0.2 * std::sqrt(3), 1e-9);
  EXPECT_EQ(header["planar"], true); // it moves in the plane, without gravity
}

}
}
