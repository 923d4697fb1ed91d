#pragma once
#include "tendril/documents/scratch_folder.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tendril {

/// A Chromium without a window, told what to do through its debugging pipe: JSON messages, each ended by a zero byte, on its file
/// descriptors 3 and 4; no port is opened. Its profile is a temporary folder. The browser and its children end with the object, and by
/// themselves if this process is killed, because the pipe is then closed.
///
/// Functions throw MachineFailure if the browser ends, the page crashes or throws, or the time given is over, and Interrupted if `stop`,
/// asked ten times a second, says so. After that the object is of no further use.
class Chromium {
 public:
  using Seconds = std::chrono::duration<double>;

  /// Throws MachineFailure if there is none: TENDRIL_CHROMIUM, or else chromium, chromium-browser, google-chrome in PATH.
  explicit Chromium(std::function<bool()> stop = {});
  Chromium(const Chromium&) = delete;
  Chromium& operator=(const Chromium&) = delete;
  ~Chromium();

  /// Loads a file in a new page and closes the one before. `fragment` follows the # of the address.
  void open(const std::filesystem::path& file, const std::string& fragment, Seconds limit);
  /// Value of an expression; of a promise what it resolves to.
  nlohmann::json evaluate(const std::string& expression, Seconds limit);
  /// The same for a text of any length, which is fetched in pieces.
  std::string evaluateText(const std::string& expression, Seconds limit);
  /// Errors of the page since it was opened: what it wrote to the console as errors, and exceptions that nothing caught.
  const std::vector<std::string>& problems() const { return problems_; }
  pid_t process() const { return process_; }

 private:
  using Clock = std::chrono::steady_clock;

  void start(const std::string& program);
  void end();
  nlohmann::json command(const std::string& method, const nlohmann::json& parameters, Seconds limit);
  nlohmann::json pageCommand(const std::string& method, const nlohmann::json& parameters, Seconds limit);
  nlohmann::json exchange(nlohmann::json message, Clock::time_point deadline, Seconds limit);
  nlohmann::json receive(Clock::time_point deadline, Seconds limit);
  void send(const std::string& text, Clock::time_point deadline, Seconds limit);
  void waitFor(int descriptor, short what, Clock::time_point deadline, Seconds limit);
  void note(const nlohmann::json& event);
  [[noreturn]] void fail(const std::string& what) const;
  std::string lastWords() const;

  std::function<bool()> stop_;
  ScratchFolder folder_;
  pid_t process_ = 0;
  int commands_ = -1, answers_ = -1;
  std::string received_;
  std::size_t searched_ = 0;
  std::string target_, session_;
  bool isLoaded_ = false;
  long long count_ = 0;
  std::vector<std::string> problems_;
};

}
