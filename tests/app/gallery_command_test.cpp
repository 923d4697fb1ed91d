#include "app/program.h"
#include "support/places.h"
#include "tendril/view/render.h"
#include "tendril/view/view.h"

#include <cstdlib>

namespace tendril {
namespace {

using namespace testing;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class GalleryCommand : public Program {};
class FullGalleryCommand : public Program {
 protected:
  void SetUp() override {
    if (!hasViewer()) GTEST_SKIP() << "this build has no viewer";
    try {
      const Renderer renderer;
    } catch (const MachineFailure& failure) {
      if (std::string(failure.what()).find("not found") == std::string::npos) throw;
      GTEST_SKIP() << failure.what();
    }
  }
};

TEST_F(GalleryCommand, ListsEachSceneWithItsReference) {
  const Answer list = tendril({"gallery"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_NE(list.out.find("beams/roll-up "), std::string::npos) << list.out;
  EXPECT_NE(list.out.find("Reference: closed form, a full circle."), std::string::npos) << list.out;
  EXPECT_EQ(list.out.find("Reference: none"), std::string::npos) << list.out;
}

TEST_F(GalleryCommand, RefusesWhatDoesNotGoTogether) {
  EXPECT_EQ(tendril({"gallery", "--only", "beams/roll-up"}).code, 2);
  EXPECT_EQ(tendril({"gallery", "beams/roll-up", "--build", "out"}).code, 2);
  expectOneError(tendril({"gallery", "--build", "out", "--only", "beams/roll-down"}), 2, {"roll-down", "tendril gallery"});
  EXPECT_FALSE(fs::exists(folder / "out"));
}

TEST_F(GalleryCommand, HoldsEveryShippedSceneWithItsPicture) {
  const fs::path source = test::sourceFolder(), gallery = source / "docs" / "gallery";
  const Json entries = Json::parse(readAll(gallery / "gallery.json"));
  for (const auto& file : fs::recursive_directory_iterator(source / "scenes")) {
    if (file.path().extension() != ".yaml") continue;
    const std::string name = fs::relative(file.path(), source / "scenes").replace_extension().generic_string();
    ASSERT_TRUE(entries.contains(name)) << name << " is missing: make gallery";
    EXPECT_TRUE(entries[name].at("failures").empty()) << name;
    EXPECT_TRUE(fs::exists(gallery / (name + ".png"))) << name;
  }
}

TEST_F(FullGalleryCommand, WritesAPageThatKeepsWhatWasMadeBefore) {
  const Answer first = tendril({"gallery", "--build", "out", "--only", "contact/piston"});
  EXPECT_EQ(first.code, 0) << first.out << first.err;
  EXPECT_EQ(tendril({"gallery", "--build", "out", "--only", "beams/roll-up"}).code, 0);
  const std::string page = readAll(folder / "out" / "README.md");
  EXPECT_LT(page.find("## Beams"), page.find("## Contact")) << page;
  for (const char* part : {"![Roll-up of a cantilever](beams/roll-up.png)", "| velocity | 0.2 | 0.2 | 1e-12 | m/s |",
                           "Reference: closed form, a full circle.", "    tendril run scenes/contact/piston.yaml"})
    EXPECT_NE(page.find(part), std::string::npos) << part << '\n' << page;
  EXPECT_EQ(page.find("Failed"), std::string::npos) << page;
  EXPECT_TRUE(readAll(folder / "out" / "beams" / "roll-up.png").starts_with("\x89PNG"));
  EXPECT_TRUE(Json::parse(readAll(folder / "out" / "gallery.json")).contains("contact/piston"));
}

// A copy of the program finds the scenes of its own installation.
TEST_F(FullGalleryCommand, TellsWhatFailedAndMakesTheOthers) {
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "share" / "tendril" / "scenes" / "mine");
  fs::copy_file(test::programFile(), folder / "bin" / "tendril");
  const std::string scene = R"(# A ball flies
# freely. Two numbers decide:
#
#   a = 1
tendril: 1
title: TITLE
bodies: [{name: ball, mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0], shapes: [{kind: sphere, radius: 1}]}]
analysis: {type: dynamic, duration: 1, step: 0.1}
outputs: [{name: place, measure: position, on: ball}]
reference: {source: uniform motion, expected: {place: {value: [WAY, 0, 0], tolerance: 1e-9}}}
)";
  const fs::path scenes = folder / "share" / "tendril" / "scenes" / "mine";
  writeAll(scenes / "good.yaml", std::string(scene).replace(scene.find("WAY"), 3, "1").replace(scene.find("TITLE"), 5, "Right"));
  writeAll(scenes / "bad.yaml", std::string(scene).replace(scene.find("WAY"), 3, "2").replace(scene.find("TITLE"), 5, "Wrong"));
  const std::string command = (folder / "bin" / "tendril").string() + " gallery --build " + (folder / "out").string() + " > /dev/null";
  const int status = std::system(command.c_str()); // NOLINT(cert-env33-c): the paths are the test's own
  EXPECT_EQ(WEXITSTATUS(status), 3);
  const std::string page = readAll(folder / "out" / "README.md");
  EXPECT_NE(page.find("**Failed:** place is (1, 0, 0) instead of (2, 0, 0)"), std::string::npos) << page;
  EXPECT_NE(page.find("A ball flies freely.\n\n"), std::string::npos) << page;
  EXPECT_NE(page.find("### Right"), std::string::npos) << page;
  EXPECT_TRUE(fs::exists(folder / "out" / "mine" / "good.png"));
}

// y = a x: a curve for each slope, and a map of its sign with the line y = x.
TEST_F(FullGalleryCommand, DrawsStudies) {
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "share" / "tendril" / "scenes" / "mine");
  fs::copy_file(test::programFile(), folder / "bin" / "tendril");
  writeAll(folder / "share" / "tendril" / "scenes" / "mine" / "studied.yaml", R"yaml(tendril: 1
title: Studied
parameters: {a: 1, x: 1}
bodies: [{name: ball, mass: 1, inertia: [1, 1, 1], velocity: [a*x, 0, 0], shapes: [{kind: sphere, radius: 1}]}]
analysis: {type: dynamic, duration: 1, step: 0.5}
outputs:
  - {name: way, measure: position, on: ball, component: x}
  - {name: sign, measure: expression, expression: "if(way > 0, 1, if(way < 0, -1, 0))"}
  - {name: self, measure: expression, expression: x}
picture:
  studies:
    - {title: Ways, x: {parameter: x, from: 0, to: 2, count: 3}, each: {parameter: a, values: [1, 2]}, outputs: [way], highest: 3}
    - title: Signs & lines
      x: {parameter: x, from: -1, to: 1, count: 5}
      y: {parameter: a, from: -1, to: 1, count: 5}
      outputs: [sign]
      line: self
)yaml");
  const std::string command = (folder / "bin" / "tendril").string() + " gallery --build " + (folder / "out").string() + " > /dev/null";
  ASSERT_EQ(WEXITSTATUS(std::system(command.c_str())), 0); // NOLINT(cert-env33-c): the paths are the test's own
  const std::string curves = readAll(folder / "out" / "mine" / "studied-study-1.svg"),
                    map = readAll(folder / "out" / "mine" / "studied-study-2.svg"), page = readAll(folder / "out" / "README.md");
  // Axes from 48 to 408 and from 260 up to 14; the curve of slope 2 leaves them after its second point.
  EXPECT_NE(curves.find("M48.0 260.0L228.0 178.0L408.0 96.0"), std::string::npos) << curves;
  EXPECT_NE(curves.find("M48.0 260.0L228.0 96.0\""), std::string::npos) << curves;
  EXPECT_NE(curves.find("way, a = 2"), std::string::npos) << curves;
  EXPECT_NE(map.find("M48.0 260.0L138.0 198.5L228.0 137.0L318.0 75.5L408.0 14.0"), std::string::npos) << map;
  for (const char* part : {"sign = 1", "sign = -1", "sign = 0", "<title>Signs &amp; lines</title>"})
    EXPECT_NE(map.find(part), std::string::npos) << map;
  EXPECT_NE(page.find("![Ways](mine/studied-study-1.svg)"), std::string::npos) << page;
}

}
}
