#include "view/chromium.h"

#include "support/files.h"

#include <csignal>
#include <cstdlib>

namespace tendril {
namespace {

using namespace testing;
using Seconds = Chromium::Seconds;
constexpr Seconds limit{60};

/// Sets a variable of the environment as long as it lives.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }

 private:
  const char* name_;
  std::string before_;
};

bool hasBrowser() {
  for (const char* path : {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (std::filesystem::exists(path)) return true;
  }
  return std::getenv("TENDRIL_CHROMIUM") != nullptr;
}

class ChromiumPage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!hasBrowser()) GTEST_SKIP() << "no Chromium on this machine";
  }
  std::filesystem::path page(const std::string& body) {
    writeAll(folder / "a page #1.html", "<!doctype html><meta charset=utf-8><body>" + body);
    return folder / "a page #1.html";
  }
  TemporaryFolder folder;
};

TEST_F(ChromiumPage, GivesValuesPromisesAndLongTexts) {
  Chromium browser;
  browser.open(page("<p id=word>M\u00fche</p>"), "here", limit);
  EXPECT_EQ(browser.evaluate("document.getElementById('word').textContent", limit), "M\u00fche");
  EXPECT_EQ(browser.evaluate("location.hash", limit), "#here");
  EXPECT_EQ(browser.evaluate("new Promise((done) => setTimeout(() => done({a: [1, 2.5]}), 20))", limit),
            nlohmann::json::parse(R"({"a":[1,2.5]})"));
  const std::string text = browser.evaluateText("Promise.resolve('0123456789'.repeat(2e6))", limit);
  EXPECT_EQ(text.size(), 20'000'000u);
  EXPECT_EQ(text.substr(8'388'600, 20), "01234567890123456789");
  EXPECT_TRUE(browser.problems().empty());
}

TEST_F(ChromiumPage, TellsOfErrorsAndForgetsThemWithThePage) {
  Chromium browser;
  browser.open(page("<script>console.error('colour', 7); throw new Error('late frame')</script>"), "", limit);
  ASSERT_EQ(browser.problems().size(), 2u);
  EXPECT_EQ(browser.problems()[0], "colour 7");
  EXPECT_NE(browser.problems()[1].find("late frame"), std::string::npos);
  expectError<MachineFailure>([&] { browser.evaluate("Promise.reject(new Error('no picture'))", limit); }, {"no picture", "late frame"});
  browser.open(page("fine"), "", limit);
  EXPECT_TRUE(browser.problems().empty());
  expectError<MachineFailure>([&] { browser.open(folder / "none.html", "", limit); }, {"cannot open", "none.html"});
}

TEST_F(ChromiumPage, KeepsTheTimeLimitAndLeavesNothingBehind) {
  const TemporaryFolder temporary;
  const Variable place("TMPDIR", temporary.path.string());
  pid_t process = 0;
  const auto hang = [&] {
    Chromium browser;
    process = browser.process();
    browser.open(page("hang"), "", limit);
    EXPECT_EQ(kill(-process, 0), 0);
    EXPECT_FALSE(std::filesystem::is_empty(temporary.path));
    browser.evaluate("while (true) {}", Seconds(0.5));
  };
  expectError<MachineFailure>(hang, {"time limit of 0.5 s"});
  EXPECT_NE(kill(-process, 0), 0) << "processes of the browser are left";
  EXPECT_TRUE(std::filesystem::is_empty(temporary.path));
}

TEST_F(ChromiumPage, StopsWhenAsked) {
  bool isStopped = false;
  Chromium browser([&] { return isStopped; });
  browser.open(page(""), "", limit);
  isStopped = true;
  EXPECT_THROW(browser.evaluate("new Promise(() => {})", limit), Interrupted);
}

TEST_F(ChromiumPage, TellsThatTheBrowserEnded) {
  Chromium browser;
  browser.open(page(""), "", limit);
  kill(-browser.process(), SIGKILL);
  expectError<MachineFailure>([&] { browser.evaluate("new Promise(() => {})", limit); }, {"ended unexpectedly"});
}

TEST(ChromiumProgram, SaysWhatIsMissing) {
  {
    const Variable chosen("TENDRIL_CHROMIUM", "/nowhere/chromium");
    expectError<MachineFailure>([] { Chromium browser; }, {"TENDRIL_CHROMIUM", "/nowhere/chromium"});
  }
  const Variable chosen("TENDRIL_CHROMIUM", ""), path("PATH", "/nowhere");
  expectError<MachineFailure>([] { Chromium browser; }, {"not found", "install", "TENDRIL_CHROMIUM"});
}

TEST(ChromiumProgram, TellsOfAProgramThatIsNoBrowser) {
  const Variable chosen("TENDRIL_CHROMIUM", "/bin/false");
  expectError<MachineFailure>([] { Chromium browser; }, {"ended unexpectedly"});
}

}
}
