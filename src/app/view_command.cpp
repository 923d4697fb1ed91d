#include "app/commands.h"
#include "app/stop_request.h"
#include "tendril/model/error.h"
#include "tendril/view/view.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tendril::app {

namespace {

struct Settings {
  ViewOptions options;
  double megabytes = 64;
  bool isServed = false, staysClosed = false;
  int port = 0;
};

bool hasDisplay() {
  const auto isSet = [](const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
  };
  return isSet("DISPLAY") || isSet("WAYLAND_DISPLAY");
}

/// Asks the desktop to show something in the browser; returns whether it could be asked.
bool openInBrowser(const std::string& address) {
  if (!hasDisplay()) return false;
  std::string program = "xdg-open", target = address;
  std::array<char*, 3> arguments{program.data(), target.data(), nullptr};
  pid_t process = 0;
  if (posix_spawnp(&process, program.c_str(), nullptr, nullptr, arguments.data(), environ) != 0) return false;
  int status = 0;
  return waitpid(process, &status, 0) == process && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int writePage(Settings& settings) {
  // The range of the option lets NaN pass.
  if (!(settings.megabytes >= 1)) throw InputError("--max-size: expected a number of megabytes from 1 to 4000");
  settings.options.maxBytes = std::uint64_t(settings.megabytes * 1e6);
  catchStopSignals();
  settings.options.stop = stopRequested;
  const ViewPage page = writeViewPage(settings.options);
  const char* const what = page.isStudy ? "runs" : "frames";
  fmt::print("{}\n{:.1f} MB, {} of {} {}\n", page.path.string(), double(page.bytes) / 1e6, page.frames, page.totalFrames, what);
  if (page.frames < page.totalFrames) fmt::print("For all {}: --max-size MB with a larger number, or --serve.\n", what);
  if (double(page.bytes) > double(settings.options.maxBytes))
    fmt::print("The page is larger than {} MB: two frames and what does not change are more than that.\n", settings.megabytes);
  if (!settings.staysClosed && !openInBrowser("file://" + std::filesystem::absolute(page.path).string()))
    fmt::print("No browser could be opened here: open the file in one.\n");
  return Success;
}

int serve(const Settings& settings) {
  catchStopSignals();
  const auto ready = [&](const std::string& address) {
    fmt::print("{}\nStop with Ctrl-C.\n", address);
    std::fflush(stdout);
    if (!settings.staysClosed && !openInBrowser(address)) fmt::print("No browser could be opened here: open the address in one.\n");
  };
  serveView(settings.options.results, settings.port, ready, stopRequested);
  return Success;
}

}

void addView(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("view", "Show a run or a study in the browser: one page that needs nothing else");
  const auto settings = std::make_shared<Settings>();
  command->add_option("results", settings->options.results, "Result folder of a run, or folder of a study")->required();
  command->add_option("-o,--output", settings->options.page, "Page to write (default: view.html in the result folder)");
  command->add_option("--max-size", settings->megabytes, "Most megabytes of the page; frames are left out evenly until it fits")
      ->capture_default_str()
      ->check(CLI::Range(1., 4000.));
  command->add_flag("--no-open", settings->staysClosed, "Do not open the browser");
  CLI::Option* served = command->add_flag("--serve", settings->isServed, "Serve all frames on this machine until Ctrl-C; write no page");
  command->add_option("--port", settings->port, "Port of the server (default: any that is free)")
      ->needs(served)
      ->check(CLI::Range(1, 65535));
  command->callback([settings, &action] { action = [settings] { return settings->isServed ? serve(*settings) : writePage(*settings); }; });
}

}
