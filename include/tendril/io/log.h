#pragma once
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tendril {

enum class LogLevel { Debug, Info, Warning, Error };

/// The log of a run: every message goes to the log file, those of at least `terminalLevel` to the terminal stream (stderr) as well.
///
/// A line of the file is `[seconds since the start] level: text`. Warnings are kept for the summary, repeated ones once with their count.
/// Thread-safe. A log that cannot be written never stops a run: it says so once on the terminal.
class Log {
 public:
  /// Without a file until open(); messages before that are kept and written then.
  explicit Log(LogLevel terminalLevel = LogLevel::Warning);
  Log(LogLevel terminalLevel, std::ostream& terminal);

  /// Throws MachineFailure if the file cannot be created.
  void open(const std::filesystem::path& file);
  void write(LogLevel level, std::string_view text);
  void debug(std::string_view text) { write(LogLevel::Debug, text); }
  void info(std::string_view text) { write(LogLevel::Info, text); }
  void warning(std::string_view text) { write(LogLevel::Warning, text); }
  void error(std::string_view text) { write(LogLevel::Error, text); }

  /// Distinct warnings and errors in order of first appearance, "text (3 times)" where repeated; after the first `maxKept` a line counts
  /// the rest.
  std::vector<std::string> messages() const;
  static constexpr std::size_t maxKept = 100;

 private:
  struct Message {
    std::string text;
    long count;
  };
  void toFile(const std::string& line);

  mutable std::mutex mutex;
  std::ostream* terminal;
  LogLevel threshold;
  std::chrono::steady_clock::time_point start;
  std::ofstream file;
  std::vector<std::string> pending;
  std::vector<Message> kept;
  long dropped = 0;
  bool failed = false;
};

}
