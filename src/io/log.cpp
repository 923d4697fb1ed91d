#include "tendril/io/log.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>

namespace tendril {

namespace {

std::string_view levelName(LogLevel level) {
  switch (level) {
  case LogLevel::Debug:
    return "debug";
  case LogLevel::Info:
    return "info";
  case LogLevel::Warning:
    return "warning";
  default:
    return "error";
  }
}

/// Lines kept while there is no file; a program without one does not grow without bound.
constexpr std::size_t maxPending = 1000;

}

Log::Log(LogLevel terminalLevel) : Log(terminalLevel, std::cerr) {}

Log::Log(LogLevel terminalLevel, std::ostream& stream)
    : terminal(&stream), threshold(terminalLevel), start(std::chrono::steady_clock::now()) {}

void Log::open(const std::filesystem::path& path) {
  const std::lock_guard lock(mutex);
  file.open(path, std::ios::out | std::ios::app);
  if (!file)
    throw MachineFailure("cannot write " + path.string() + ": " + std::strerror(errno) +
                         "; check the folder's permissions or choose another folder");
  for (const std::string& line : pending) toFile(line);
  pending.clear();
}

void Log::write(LogLevel level, std::string_view text) {
  const std::lock_guard lock(mutex);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::string line = fmt::format("[{:10.3f}] {}: {}\n", seconds, levelName(level), text);
  if (level >= threshold) *terminal << levelName(level) << ": " << text << std::endl;
  if (file.is_open())
    toFile(line);
  else if (pending.size() < maxPending)
    pending.push_back(line);
  if (level < LogLevel::Warning) return;
  const auto same = std::find_if(kept.begin(), kept.end(), [&](const Message& m) { return m.text == text; });
  if (same != kept.end())
    ++same->count;
  else if (kept.size() < maxKept)
    kept.push_back({std::string(text), 1});
  else
    ++dropped;
}

void Log::toFile(const std::string& line) {
  file << line << std::flush;
  if (file || failed) return;
  failed = true;
  *terminal << "warning: the log cannot be written any more (disk full?); the run goes on" << std::endl;
}

std::vector<std::string> Log::messages() const {
  const std::lock_guard lock(mutex);
  std::vector<std::string> list;
  for (const Message& message : kept)
    list.push_back(message.count > 1 ? fmt::format("{} ({} times)", message.text, message.count) : message.text);
  if (dropped > 0) list.push_back(fmt::format("{} more messages, see the log", dropped));
  return list;
}

}
