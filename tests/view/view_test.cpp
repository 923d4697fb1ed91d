#include "support/run_scenes.h"
#include "tendril/view/view.h"
#include "view/film_reader.h"
#include "view/page_writer.h"

#include <httplib.h>

#include <atomic>
#include <future>
#include <regex>
#include <sys/stat.h>

namespace tendril {
namespace {

using namespace testing;
using Json = nlohmann::json;

constexpr std::string_view viewer = "<!doctype html><body><!--film--><script>show()</script></body>";

std::string fromBase64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t group = 0;
  int bits = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    group = group << 6 | std::uint32_t(digits.find(letter));
    if ((bits += 6) >= 8) bytes += char(group >> (bits -= 8) & 255);
  }
  return bytes;
}

/// Elements of a page, as far as a film has them: text by id.
std::map<std::string, std::string> scriptsOf(const std::string& page) {
  std::map<std::string, std::string> scripts;
  for (std::size_t at = 0; (at = page.find("<script type=\"", at)) != std::string::npos;) {
    const std::size_t id = page.find("id=\"", at) + 4, idEnd = page.find('"', id), text = page.find('>', idEnd) + 1;
    const std::size_t end = page.find("</script>", text);
    scripts[page.substr(id, idEnd - id)] = page.substr(text, end - text);
    at = end;
  }
  return scripts;
}

int countOf(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(ViewPage, HoldsTheViewerTheHeaderAndAllChunks) {
  const TemporaryFolder folder;
  const ViewPage page = writeViewPage({runScene(folder, showcase), {}, 1 << 20}, viewer);
  EXPECT_EQ(page.path, folder / "out" / "view.html");
  EXPECT_EQ(page.bytes, std::filesystem::file_size(page.path));
  EXPECT_EQ(page.frames, 5u);
  EXPECT_EQ(page.totalFrames, 5u);
  const std::string text = readAll(page.path);
  EXPECT_TRUE(text.starts_with("<!doctype html><body>"));
  EXPECT_TRUE(text.ends_with("<script>show()</script></body>"));
  auto scripts = scriptsOf(text);
  const Json header = Json::parse(scripts["film"]);
  Film film(folder / "out");
  for (const auto& [name, info] : header["channels"].items()) {
    const std::string bytes = fromBase64(scripts["chunk/" + name + "/0"]);
    EXPECT_EQ(bytes, film.chunk(name, 0)) << name;
    EXPECT_EQ(info["bytes"], bytes.size()) << name;
  }
  for (const Json& field : header["fields"]) EXPECT_EQ(field["isSampled"], false);
  EXPECT_FALSE(std::filesystem::exists(page.path.string() + ".part"));
}

/// A title that would end the element of the header, if it were written as it is, and letters that end lines of scripts.
TEST(ViewPage, LetsNoNameBecomeAnElement) {
  const TemporaryFolder folder;
  const std::string odd = "</script><script>alert(1)</script><!-- & \u2028 \u2029 \"'";
  std::string scene = fallingRod;
  scene.replace(scene.find("title: A falling rod"), 20, "title: '</script><script>alert(1)</script><!-- & \u2028 \u2029 \"'''");
  const auto results = runScene(folder, scene);
  writeAll(results / "log.txt", "</script><script>alert(2)</script>\n\xff\xfe broken letters");
  const std::string text = readAll(writeViewPage({results, {}, 1 << 20}, viewer).path);
  EXPECT_EQ(text.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(countOf(text, "<script"), countOf(text, "</script>"));
  auto scripts = scriptsOf(text);
  EXPECT_EQ(scripts["film"].find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(scripts["film"].find("\u2028"), std::string::npos);
  const Json header = Json::parse(scripts["film"]);
  EXPECT_EQ(header["title"], odd);
  EXPECT_EQ(header["log"][0], "</script><script>alert(2)</script>");
}

TEST(ViewPage, LeavesFramesOutUntilItFits) {
  const TemporaryFolder folder;
  std::string scene = fallingRod;
  scene.replace(scene.find("output_every: 3"), 15, "output_every: 1");
  const auto results = runScene(folder, scene);
  const ViewPage all = writeViewPage({results, folder / "all.html", 1 << 20}, viewer);
  EXPECT_EQ(all.frames, 41u);
  const std::uint64_t limit = all.bytes * 2 / 3;
  const ViewPage page = writeViewPage({results, folder / "some.html", limit}, viewer);
  EXPECT_LE(page.bytes, limit);
  EXPECT_LT(page.frames, 41u);
  EXPECT_GT(page.frames, 10u);
  EXPECT_EQ(page.totalFrames, 41u);
  const Json header = Json::parse(scriptsOf(readAll(page.path))["film"]);
  EXPECT_EQ(header["rows"].size(), page.frames);
  EXPECT_EQ(header["rows"].back(), 40);
  EXPECT_EQ(header["notices"].size(), 1u);
  // The first and the last frame are always there.
  EXPECT_EQ(writeViewPage({results, folder / "two.html", 10}, viewer).frames, 2u);
}

TEST(ViewPage, ReplacesNothingButPages) {
  const TemporaryFolder folder;
  const auto results = runScene(folder, showcase);
  const auto filesOf = [](const std::filesystem::path& where) {
    return std::distance(std::filesystem::directory_iterator(where), std::filesystem::directory_iterator());
  };
  const auto before = filesOf(results);
  for (const char* name : {"results.h5", "scene.yaml", "summary.json", "log.txt"}) {
    const std::string kept = readAll(results / name);
    expectError<InputError>([&] { writeViewPage({results, results / name, 1 << 20}, viewer); }, {name, "left as it is"});
    EXPECT_EQ(readAll(results / name), kept);
  }
  expectError<InputError>([&] { writeViewPage({results, results, 1 << 20}, viewer); }, {"folder"});
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  expectError<InputError>([&] { writeViewPage({results, folder / "pipe", 1 << 20}, viewer); }, {"pipe", "name another"});
  EXPECT_EQ(filesOf(results), before);
  // A file of the name that a page had while it was written, and a link.
  writeAll(folder / "page.html.part", "precious");
  writeAll(folder / "page.html", "");
  std::filesystem::create_symlink(folder / "page.html", folder / "link.html");
  for (int time = 0; time < 2; ++time) writeViewPage({results, folder / "link.html", 1 << 20}, viewer);
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.html"));
  EXPECT_TRUE(readAll(folder / "page.html").starts_with("<!doctype html"));
  EXPECT_EQ(readAll(folder / "page.html.part"), "precious");
}

TEST(ViewPage, LeavesNothingWhenStopped) {
  const TemporaryFolder folder;
  const auto results = runScene(folder, showcase);
  std::filesystem::create_directory(folder / "pages");
  EXPECT_THROW(writeViewPage({results, folder / "pages" / "page.html", 1 << 20, [] { return true; }}, viewer), Interrupted);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "pages"));
}

TEST(ViewPage, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  const auto results = runScene(folder, showcase);
  expectError<MachineFailure>([&] { writeViewPage({results, {}, 1 << 20}, ""); }, {"no viewer", "Node.js", "TENDRIL_BUILD_VIEWER"});
  expectError<MachineFailure>([&] { writeViewPage({results, folder / "no" / "page.html", 1 << 20}, viewer); }, {"page.html", "-o"});
  expectError<InputError>([&] { writeViewPage({folder / "nothing", {}, 1 << 20}, viewer); }, {"results.h5"});
}

/// A server beside the test, on any port, to the end of its scope.
class RunningServer {
 public:
  explicit RunningServer(const std::filesystem::path& results)
      : thread_([this, results] {
          serveView(
              results, viewer, 0, [this](const std::string& at) { promise_.set_value(at); }, [this] { return stop_.load(); });
        }),
        address_(promise_.get_future().get()) {}
  ~RunningServer() {
    stop_ = true;
    thread_.join();
  }
  const std::string& address() const { return address_; }

 private:
  std::promise<std::string> promise_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
  std::string address_;
};

TEST(ServeView, EndsInOrderIfWhoeverIsToldOfItsAddressFails) {
  const TemporaryFolder folder;
  const auto results = runScene(folder, showcase);
  const auto fail = [](const std::string&) { throw std::runtime_error("no terminal"); };
  EXPECT_THROW(serveView(results, viewer, 0, fail, [] { return true; }), std::runtime_error);
}

TEST(ServeView, AnswersToThisMachineAlone) {
  const TemporaryFolder folder;
  const auto results = runScene(folder, showcase);
  RunningServer server(results);
  const std::string& at = server.address();
  EXPECT_TRUE(std::regex_match(at, std::regex(R"(http://127\.0\.0\.1:\d+/)"))) << at;
  httplib::Client client(at.substr(0, at.size() - 1));
  const auto get = [&](const char* path, const httplib::Headers& headers = {}) {
    const httplib::Result result = client.Get(path, headers);
    return result ? std::pair(result->status, result->body) : std::pair(-1, std::string());
  };
  EXPECT_EQ(get("/"), std::pair(200, std::string("<!doctype html><body><script>show()</script></body>")));
  Film film(results);
  const Json header = Json::parse(get("/film.json").second);
  EXPECT_EQ(header, Json::parse(film.header()));
  EXPECT_EQ(get("/chunk/bodies/0"), std::pair(200, film.chunk("bodies", 0, ChunkPacking::Quick)));
  EXPECT_EQ(get("/chunk/body%20motion/0"), std::pair(200, film.chunk("body motion", 0, ChunkPacking::Quick)));
  EXPECT_EQ(get("/chunk/series/mouth_position/0"), std::pair(200, film.chunk("series/mouth_position", 0, ChunkPacking::Quick)));
  EXPECT_EQ(inflated(film.chunk("bodies", 0, ChunkPacking::Quick)), inflated(film.chunk("bodies", 0)));
  EXPECT_EQ(get("/chunk/bodies/1").first, 404);
  EXPECT_EQ(get("/chunk/nothing/0").first, 404);
  EXPECT_EQ(get("/chunk/bodies/99999999999999999999").first, 404);
  EXPECT_EQ(get("/../../etc/passwd").first, 404);
  EXPECT_EQ(get("/film.json", {{"Host", "evil.example"}}).first, 403);
  expectError<MachineFailure>(
      [&] {
        serveView(
            results, viewer, std::stoi(at.substr(17)), [](const std::string&) {}, [] { return true; });
      },
      {"port", "--port"});
}

/// The bytes of a longer run come into the same file, as those of a run that goes on do.
TEST(ServeView, ShowsWhatWasWrittenSince) {
  const TemporaryFolder folder, longer;
  std::string scene = fallingRod;
  const auto later = runScene(longer, scene);
  scene.replace(scene.find("duration: 0.2"), 13, "duration: 0.1");
  const auto results = runScene(folder, scene);
  const std::string early = readAll(results / "results.h5");
  RunningServer server(results);
  const std::string& at = server.address();
  httplib::Client client(at.substr(0, at.size() - 1));
  const auto rows = [&] {
    const httplib::Result result = client.Get("/film.json");
    return result && result->status == 200 ? Json::parse(result->body)["totalRows"].get<int>() : -1;
  };
  const int first = rows();
  writeAll(results / "results.h5", readAll(later / "results.h5"));
  EXPECT_EQ(rows(), int(Film(later).totalRows()));
  EXPECT_GT(rows(), first);
  // Results that cannot be read are no end of the server.
  writeAll(results / "results.h5", "broken");
  EXPECT_EQ(rows(), -1);
  EXPECT_EQ(client.Get("/chunk/nodes/0")->status, 404);
  writeAll(results / "results.h5", early);
  EXPECT_EQ(rows(), first);
}

}
}
