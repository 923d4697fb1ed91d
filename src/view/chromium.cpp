#include "view/chromium.h"

#include "tendril/model/error.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <spawn.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tendril {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
constexpr Chromium::Seconds startLimit{60}, shortLimit{60};

bool isProgram(const fs::path& path) {
  std::error_code status;
  return fs::is_regular_file(path, status) && access(path.c_str(), X_OK) == 0;
}

std::string findProgram() {
  if (const char* chosen = std::getenv("TENDRIL_CHROMIUM"); chosen && *chosen) {
    if (isProgram(chosen)) return chosen;
    throw MachineFailure(fmt::format("TENDRIL_CHROMIUM names '{}', which is no program; set it to the path of Chromium", chosen));
  }
  const char* path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::istringstream folders(path ? path : "/usr/bin:/bin");
    for (std::string folder; std::getline(folders, folder, ':');) {
      if (isProgram(fs::path(folder) / name)) return (fs::path(folder) / name).string();
    }
  }
  throw MachineFailure("pictures are drawn by Chromium, which was not found; install it (Debian: apt-get install chromium), or set "
                       "TENDRIL_CHROMIUM to its path");
}

/// Graphics in software draw the same on every graphics card; nothing is asked of the net.
std::vector<std::string> argumentsOf(const std::string& program, const fs::path& profile) {
  std::vector<std::string> arguments{program, "--headless", "--remote-debugging-pipe", "--user-data-dir=" + profile.string()};
  for (const char* flag :
       {"--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars", "--force-device-scale-factor=1",
        "--force-color-profile=srgb", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--disable-sync", "--disable-breakpad", "--disable-dev-shm-usage", "--disable-background-timer-throttling"})
    arguments.push_back(flag);
  if (geteuid() == 0) arguments.push_back("--no-sandbox"); // Chromium does not start its sandbox as root
  arguments.push_back("about:blank");
  return arguments;
}

/// What is this process's, but temporary files go to the folder that is removed at the end.
std::vector<std::string> environmentWith(const fs::path& temporary) {
  std::vector<std::string> variables{"TMPDIR=" + temporary.string()};
  for (char** variable = environ; *variable; ++variable) {
    if (std::strncmp(*variable, "TMPDIR=", 7) != 0) variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<char*> pointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Both ends of a channel that no other child inherits, above the descriptors that the browser expects.
std::array<int, 2> makeChannel() {
  std::array<int, 2> low{}, high{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low.data()) != 0)
    throw MachineFailure(std::string("cannot make a pipe to the browser: ") + std::strerror(errno));
  for (std::size_t k = 0; k < 2; ++k) {
    high[k] = fcntl(low[k], F_DUPFD_CLOEXEC, 16);
    close(low[k]);
  }
  return high;
}

std::string fileAddress(const fs::path& file) {
  std::string address = "file://";
  for (const char letter : fs::absolute(file).string()) {
    const bool isPlain = std::isalnum(static_cast<unsigned char>(letter)) || std::strchr("/-_.~", letter);
    address += isPlain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return address;
}

std::string exceptionText(const Json& details) {
  const Json exception = details.value("exception", Json::object());
  return exception.value("description", exception.contains("value") ? exception["value"].dump() : details.value("text", "exception"));
}

}

Chromium::Chromium(std::function<bool()> stop) : stop_(std::move(stop)) {
  const std::string program = findProgram();
  try {
    start(program);
    command("Browser.getVersion", Json::object(), startLimit);
  } catch (...) {
    end();
    throw;
  }
}

Chromium::~Chromium() { end(); }

void Chromium::start(const std::string& program) {
  const std::array<int, 2> commands = makeChannel(), answers = makeChannel();
  commands_ = commands[0];
  answers_ = answers[0];
  std::vector<std::string> arguments = argumentsOf(program, folder_.path() / "profile");
  std::vector<std::string> variables = environmentWith(folder_.path());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = (folder_.path() / "log").string();
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, commands[1], 3);
  posix_spawn_file_actions_adddup2(&actions, answers[1], 4);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP); // a group of its own, ended as a whole
  posix_spawnattr_setpgroup(&attributes, 0);
  const int error =
      posix_spawn(&process_, program.c_str(), &actions, &attributes, pointersTo(arguments).data(), pointersTo(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(commands[1]);
  close(answers[1]);
  if (error != 0) {
    process_ = 0;
    throw MachineFailure("cannot start " + program + ": " + std::strerror(error));
  }
}

void Chromium::end() {
  if (process_ > 0) {
    kill(-process_, SIGKILL);
    while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    // Children that the browser left die a moment later; what they still write must not keep the folder alive.
    for (int tries = 0; tries < 200 && kill(-process_, 0) == 0; ++tries) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    process_ = 0;
  }
  for (int* descriptor : {&commands_, &answers_}) {
    if (*descriptor >= 0) close(*descriptor);
    *descriptor = -1;
  }
}

void Chromium::open(const fs::path& file, const std::string& fragment, Seconds limit) {
  if (!target_.empty()) command("Target.closeTarget", {{"targetId", target_}}, shortLimit);
  problems_.clear();
  target_ = command("Target.createTarget", {{"url", "about:blank"}}, shortLimit).at("targetId");
  session_ = command("Target.attachToTarget", {{"targetId", target_}, {"flatten", true}}, shortLimit).at("sessionId");
  for (const char* domain : {"Page.enable", "Runtime.enable", "Log.enable", "Inspector.enable"})
    pageCommand(domain, Json::object(), shortLimit);
  isLoaded_ = false;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  const Json answer = pageCommand("Page.navigate", {{"url", fileAddress(file) + (fragment.empty() ? "" : "#" + fragment)}}, limit);
  if (const std::string error = answer.value("errorText", ""); !error.empty()) fail("cannot open " + file.string() + " (" + error + ")");
  while (!isLoaded_) note(receive(deadline, limit));
}

Json Chromium::evaluate(const std::string& expression, Seconds limit) {
  const Json answer = pageCommand("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}}, limit);
  if (answer.contains("exceptionDetails")) fail("failed: " + exceptionText(answer["exceptionDetails"]));
  return answer.at("result").value("value", Json());
}

std::string Chromium::evaluateText(const std::string& expression, Seconds limit) {
  constexpr std::size_t piece = 8u << 20;
  const std::string keep = "(async () => { globalThis.keptText = String(await (" + expression + ")); return keptText.length; })()";
  const auto length = evaluate(keep, limit).get<std::size_t>();
  std::string text;
  text.reserve(length);
  for (std::size_t at = 0; at < length; at += piece)
    text += evaluate(fmt::format("keptText.slice({}, {})", at, at + piece), shortLimit).get<std::string>();
  evaluate("void delete globalThis.keptText", shortLimit);
  return text;
}

Json Chromium::command(const std::string& method, const Json& parameters, Seconds limit) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  return exchange({{"method", method}, {"params", parameters}}, deadline, limit);
}

Json Chromium::pageCommand(const std::string& method, const Json& parameters, Seconds limit) {
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  return exchange({{"method", method}, {"params", parameters}, {"sessionId", session_}}, deadline, limit);
}

Json Chromium::exchange(Json message, Clock::time_point deadline, Seconds limit) {
  const long long id = ++count_;
  message["id"] = id;
  send(message.dump(-1, ' ', false, Json::error_handler_t::replace) + '\0', deadline, limit);
  while (true) {
    Json answer = receive(deadline, limit);
    if (answer.value("id", -1LL) != id) {
      note(answer);
      continue;
    }
    if (answer.contains("error")) fail("did not accept " + message["method"].get<std::string>() + ": " + answer["error"].dump());
    return answer.value("result", Json::object());
  }
}

void Chromium::send(const std::string& text, Clock::time_point deadline, Seconds limit) {
  for (std::size_t at = 0; at < text.size();) {
    waitFor(commands_, POLLOUT, deadline, limit);
    const ssize_t sent = ::send(commands_, text.data() + at, text.size() - at, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) at += std::size_t(sent);
    if (sent < 0 && errno != EINTR && errno != EAGAIN) fail("ended unexpectedly");
  }
}

Json Chromium::receive(Clock::time_point deadline, Seconds limit) {
  std::array<char, 65536> bytes;
  while (true) {
    const std::size_t end = received_.find('\0', searched_);
    if (end != std::string::npos) {
      Json message = Json::parse(received_.begin(), received_.begin() + std::ptrdiff_t(end), nullptr, false);
      received_.erase(0, end + 1);
      searched_ = 0;
      if (!message.is_object()) fail("sent a message that cannot be read");
      return message;
    }
    searched_ = received_.size();
    waitFor(answers_, POLLIN, deadline, limit);
    const ssize_t count = recv(answers_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN)) fail("ended unexpectedly");
    if (count > 0) received_.append(bytes.data(), std::size_t(count));
  }
}

void Chromium::waitFor(int descriptor, short what, Clock::time_point deadline, Seconds limit) {
  while (true) {
    if (stop_ && stop_()) throw Interrupted("stopped while pictures were made");
    if (Clock::now() > deadline) fail(fmt::format("did not finish within the time limit of {:g} s", limit.count()));
    pollfd state{descriptor, what, 0};
    if (poll(&state, 1, 100) > 0) return;
  }
}

void Chromium::note(const Json& event) {
  const std::string method = event.value("method", "");
  if (event.value("sessionId", "") != session_) return;
  const Json parameters = event.value("params", Json::object());
  if (method == "Page.loadEventFired") isLoaded_ = true;
  if (method == "Inspector.targetCrashed") fail("lost the page: it crashed (out of memory?)");
  if (method == "Runtime.exceptionThrown") problems_.push_back(exceptionText(parameters.at("exceptionDetails")));
  if (method == "Log.entryAdded" && parameters.at("entry").value("level", "") == "error")
    problems_.push_back(parameters["entry"].value("text", ""));
  if (method == "Runtime.consoleAPICalled" && parameters.value("type", "") == "error") {
    std::string text;
    for (const Json& part : parameters.value("args", Json::array())) {
      if (!text.empty()) text += ' ';
      const Json value = part.contains("value") ? part["value"] : Json(part.value("description", ""));
      text += value.is_string() ? value.get<std::string>() : value.dump();
    }
    problems_.push_back(text);
  }
}

std::string Chromium::lastWords() const {
  std::ifstream log(folder_.path() / "log");
  std::string last;
  for (std::string line; std::getline(log, line);) {
    if (line.find("FATAL") != std::string::npos || line.find("andbox") != std::string::npos || last.empty()) last = line;
  }
  return last;
}

void Chromium::fail(const std::string& what) const {
  std::string text = "Chromium " + what;
  for (const std::string& problem : problems_) text += "\n  the page says: " + problem;
  if (session_.empty()) {
    if (const std::string words = lastWords(); !words.empty()) text += "\n  the browser says: " + words;
  }
  throw MachineFailure(text);
}

}
