#include "view/study_page.h"

#include "support/files.h"
#include "support/run_scenes.h"
#include "tendril/studies/ranks.h"
#include "tendril/studies/study.h"
#include "view/page_writer.h"

#include <nlohmann/json.hpp>

#include <httplib.h>

#include <atomic>
#include <thread>

namespace tendril {
namespace {

using namespace testing;
using Json = nlohmann::json;

constexpr std::string_view viewer = "<!doctype html><body><!--film--><script>show()</script></body>";

class StudyPage : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    writeAll(*folder / "scene.yaml", rollUp + "  - {name: root, measure: expression, expression: sqrt(0.45 - turns)}\n");
    Ranks ranks;
    runStudy(ranks, {.scene = *folder / "scene.yaml",
                     .design = Design::grid({StudyAxis::parse("turns=0.1:0.5:20"), StudyAxis::parse("beams.strip.elements=4,2 + 2,0")}),
                     .folder = *folder / "study",
                     .workers = 2});
  }
  static void TearDownTestSuite() { delete folder; }
  /// The study in a page.
  static Json studyIn(const std::string& page) {
    const std::string begin = "<script type=\"application/json\" id=\"study\">";
    const std::size_t at = page.find(begin) + begin.size();
    return Json::parse(page.substr(at, page.find("</script>", at) - at));
  }
  static TemporaryFolder* folder;
};
TemporaryFolder* StudyPage::folder = nullptr;

TEST_F(StudyPage, HoldsAllRunsAndColumns) {
  const ViewPage page = writeViewPage({*folder / "study", {}, 1 << 20}, viewer);
  EXPECT_TRUE(page.isStudy);
  EXPECT_EQ(page.frames, 60u);
  EXPECT_EQ(page.totalFrames, 60u);
  const std::string text = readAll(*folder / "study" / "view.html");
  EXPECT_TRUE(text.starts_with("<!doctype html><body><script"));
  EXPECT_TRUE(text.ends_with("</script><script>show()</script></body>"));
  const Json study = studyIn(text);
  EXPECT_EQ(study["points"], 60);
  EXPECT_EQ(study["runs"][59], "0060");
  EXPECT_EQ(study["states"][2], "wrong input");
  EXPECT_TRUE(study["messages"].contains("0003"));
  ASSERT_EQ(study["columns"].size(), 9u);
  EXPECT_EQ(study["columns"][0]["name"], "turns");
  EXPECT_EQ(study["columns"][0]["values"][0], 0.1);
  EXPECT_FALSE(study["columns"][0].contains("texts"));
  EXPECT_EQ(study["columns"][1]["texts"][1], "2 + 2"); // not always a number
  EXPECT_EQ(study["columns"][6]["name"], "tip_1");
  EXPECT_EQ(study["columns"][6]["unit"], "m");
  EXPECT_TRUE(study["columns"][6]["values"][2].is_null()) << "of a run that did not succeed";
  EXPECT_TRUE(study["columns"][5]["values"][57].is_null()) << "not defined";
  EXPECT_EQ(study["undefined"]["root"], 6); // 0.4579, 0.4789 and 0.5 turns are above 0.45, each with two numbers of elements
  EXPECT_TRUE(study["certification"].is_null());
}

TEST_F(StudyPage, TakesRunsEvenlyWhereThePageWouldBeTooLarge) {
  const StudyElement whole = makeStudyElement(*folder / "study", 1 << 20);
  const StudyElement part = makeStudyElement(*folder / "study", whole.html.size() / 2);
  EXPECT_LE(part.html.size(), whole.html.size() / 2);
  EXPECT_GT(part.runs, 15u);
  EXPECT_LT(part.runs, 40u);
  EXPECT_EQ(part.finished, 60u);
  EXPECT_EQ(makeStudyElement(*folder / "study", 0).runs, 2u);
}

TEST_F(StudyPage, PassesACertificationOn) {
  const std::filesystem::path file = *folder / "study" / "study.json";
  const std::string text = readAll(file);
  Json description = Json::parse(text);
  description["certification"] = {{"output", "tip_1"}, {"mean", 0.5}, {"bound", 0.01}};
  writeAll(file, description.dump());
  EXPECT_EQ(studyIn(makeStudyElement(*folder / "study", 1 << 20).html)["certification"], description["certification"]);
  writeAll(file, text);
}

TEST_F(StudyPage, IsServed) {
  std::atomic<bool> isOver = false;
  std::atomic<int> port = 0;
  std::thread server([&] {
    serveView(
        *folder / "study", viewer, 0, [&](const std::string& address) { port = std::stoi(address.substr(address.rfind(':') + 1)); },
        [&] { return isOver.load(); });
  });
  while (port == 0) std::this_thread::yield();
  const auto answer = httplib::Client("127.0.0.1", port).Get("/");
  isOver = true;
  server.join();
  ASSERT_TRUE(answer);
  EXPECT_EQ(studyIn(answer->body)["runs"].size(), 60u);
}

TEST_F(StudyPage, RefusesWhatIsNoStudy) {
  writeAll(*folder / "study.json", "{}");
  expectError<InputError>([&] { makeStudyElement(folder->path, 1 << 20); }, {"no study"});
  std::filesystem::remove(*folder / "study.json");
}

}
}
