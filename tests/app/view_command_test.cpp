#include "app/program.h"
#include "support/run_scenes.h"
#include "tendril/view/view.h"

#include <csignal>

namespace tendril {
namespace {

using namespace testing;

class ViewCommand : public Program {
 protected:
  void SetUp() override {
    scene(fallingRod);
    ASSERT_EQ(tendril({"run", "scene.yaml", "-o", "out", "--quiet"}).code, 0);
  }
};

TEST_F(ViewCommand, WritesAPageAndSaysWhereAndHowLarge) {
  const Answer answer = tendril({"view", "out", "--no-open"});
  if (!hasViewer()) return expectOneError(answer, 4, {"no viewer", "Node.js"});
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  EXPECT_TRUE(answer.out.starts_with("out/view.html\n")) << answer.out;
  EXPECT_NE(answer.out.find("15 of 15 frames"), std::string::npos) << answer.out;
  const std::string page = readAll(folder / "out" / "view.html");
  EXPECT_NE(page.find("A falling rod"), std::string::npos);
  EXPECT_EQ(page.find("<!--film--><script"), std::string::npos);
  EXPECT_EQ(tendril({"view", "out", "--no-open", "-o", "mine.html"}).out.find("mine.html"), 0u);
}

TEST_F(ViewCommand, RefusesWhatItCannotShow) {
  expectOneError(tendril({"view", "nothing", "--no-open"}), 2, {"results.h5", "no such file"});
  expectOneError(tendril({"view", "out", "--no-open", "--port", "8000"}), 2, {"--port", "--serve"});
  expectOneError(tendril({"view", "out", "--no-open", "--max-size", "0"}), 2, {"--max-size"});
  if (hasViewer()) expectOneError(tendril({"view", "out", "--no-open", "-o", "no/page.html"}), 4, {"no/page.html"});
}

TEST_F(ViewCommand, ServesUntilItIsInterrupted) {
  if (!hasViewer()) GTEST_SKIP() << "this build has no viewer";
  const pid_t server = start({"view", "out", "--serve", "--no-open"});
  for (int i = 0; i < 200 && readAll(folder / "stdout.txt").find("Ctrl-C") == std::string::npos; ++i) usleep(50000);
  kill(server, SIGINT);
  const Answer answer = wait(server);
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(answer.out.starts_with("http://127.0.0.1:")) << answer.out;
  EXPECT_FALSE(std::filesystem::exists(folder / "out" / "view.html"));
}

}
}
