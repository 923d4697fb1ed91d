#include "tendril/view/render.h"

#include "support/files.h"
#include "support/run_scenes.h"
#include "tendril/view/view.h"
#include "view/film_reader.h"

namespace tendril {
namespace {

using namespace testing;

/// Width and height from the header of a PNG (big-endian, behind the signature and the name IHDR).
std::pair<unsigned, unsigned> sizeOfPng(const std::string& bytes) {
  const auto number = [&](std::size_t at) {
    unsigned value = 0;
    for (std::size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<unsigned char>(bytes.at(at + k));
    return value;
  };
  return {number(16), number(20)};
}

class FullRender : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!hasViewer()) GTEST_SKIP() << "this build has no viewer";
    try {
      renderer = std::make_unique<Renderer>();
    } catch (const MachineFailure& failure) {
      if (std::string(failure.what()).find("not found") == std::string::npos) throw;
      GTEST_SKIP() << failure.what();
    }
    options.results = runScene(folder, showcase);
    options.picture = folder / "picture.png";
    options.width = 320;
    options.height = 200;
  }
  std::string picture() {
    renderer->render(options);
    return readAll(options.picture);
  }
  TemporaryFolder folder;
  std::unique_ptr<Renderer> renderer;
  RenderOptions options;
};

TEST_F(FullRender, TheSameOptionsGiveTheSameBytesInAnyBrowser) {
  const std::string first = picture();
  EXPECT_TRUE(first.starts_with("\x89PNG"));
  EXPECT_EQ(sizeOfPng(first), std::make_pair(320u, 200u));
  options.camera = "top";
  EXPECT_NE(picture(), first);
  options.camera = "home";
  options.time = 0;
  EXPECT_NE(picture(), first);
  options.time.reset();
  options.dark = true;
  EXPECT_NE(picture(), first);
  options.dark = false;
  EXPECT_EQ(picture(), first);
  renderer = std::make_unique<Renderer>();
  EXPECT_EQ(picture(), first);
}

TEST_F(FullRender, SaysWhatThereIsForWrongOptions) {
  const auto rendered = [&] { renderer->render(options); };
  const RenderOptions good = options;
  options.colour = "warmth";
  expectError<InputError>(rendered, {"\"warmth\"", "there are", "speed"});
  options = good;
  options.camera = "behind";
  expectError<InputError>(rendered, {"\"behind\"", "front", "px,py,pz"});
  options = good;
  options.show = "forces,-hair";
  expectError<InputError>(rendered, {"\"hair\"", "grid"});
  options = good;
  options.time = 1e6;
  expectError<InputError>(rendered, {"no time 1000000", "from 0 to"});
  options = good;
  options.width = 3;
  expectError<InputError>(rendered, {"3 x 200", "16 to 8192"});
  options = good;
  options.picture.clear();
  expectError<InputError>(rendered, {"nothing to render"});
  EXPECT_FALSE(std::filesystem::exists(good.picture));
  options = good;
  options.picture = folder / "nowhere" / "picture.png";
  expectError<MachineFailure>(rendered, {"cannot write", "nowhere"});
  options = good;
  EXPECT_TRUE(picture().starts_with("\x89PNG")) << "after failures the renderer still works";
}

TEST_F(FullRender, WritesFilms) {
  options.picture.clear();
  options.film = folder / "film.webm";
  options.seconds = 1;
  options.framesPerSecond = 5;
  const RenderReport report = renderer->render(options);
  EXPECT_EQ(report.frames, report.totalFrames);
  EXPECT_TRUE(readAll(options.film).starts_with("\x1a\x45\xdf\xa3")) << "the mark of Matroska and WebM";
}

}
}
