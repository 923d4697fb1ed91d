#include "studies/journal.h"

#include "tendril/documents/fingerprint.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <optional>
#include <unistd.h>

namespace tendril {

namespace {

/// "CHECKSUM RUN TEXT", the checksum of what follows it as 16 hexadecimal digits.
struct Line {
  std::size_t run = 0;
  std::string_view text;

  static std::string write(std::size_t run, std::string_view text) {
    const std::string content = fmt::format("{} {}", run, text);
    return fmt::format("{:016x} {}\n", fingerprint(content), content);
  }

  /// None if the line is not whole.
  static std::optional<Line> read(std::string_view line) {
    std::uint64_t checksum = 0;
    if (line.size() < 18 || std::from_chars(line.data(), line.data() + 16, checksum, 16).ptr != line.data() + 16) return {};
    const std::string_view content = line.substr(17);
    if (fingerprint(content) != checksum) return {};
    Line result;
    const char* const end = std::from_chars(content.data(), content.data() + content.size(), result.run).ptr;
    result.text = content.substr(std::size_t(end - content.data()) + 1);
    return result;
  }
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

}

Journal::Journal(std::filesystem::path file, std::size_t runs) : file_(std::move(file)), places_(runs, nowhere) {
  std::ifstream stream(file_, std::ios::binary);
  std::string text;
  while (std::getline(stream, text) && !stream.eof()) { // a line without its end is not whole
    const std::optional<Line> line = Line::read(text);
    if (line && line->run < runs) note(line->run, end_);
    end_ += text.size() + 1;
  }
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string Journal::read(std::size_t run) const {
  std::string text;
  if (!reader_.is_open()) reader_.open(file_, std::ios::binary);
  reader_.clear();
  reader_.seekg(std::streamoff(places_[run]));
  std::getline(reader_, text);
  const std::optional<Line> line = Line::read(text);
  if (!line || line->run != run) throw MachineFailure(fmt::format("cannot read run {} in {}", run + 1, file_.string()));
  return std::string(line->text);
}

void Journal::open() {
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, off_t(end_)) != 0 || ::lseek(descriptor_, off_t(end_), SEEK_SET) < 0) fail("open");
}

void Journal::append(std::size_t run, std::string_view text) {
  const std::string line = Line::write(run, text);
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write");
    rest.remove_prefix(std::size_t(written));
  }
  note(run, end_);
  end_ += line.size();
  if (now() - flushed_ > 1) flush();
}

void Journal::flush() {
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail("write"); // those: files that cannot be flushed
  flushed_ = now();
}

void Journal::note(std::size_t run, std::uint64_t place) {
  if (!has(run)) ++count_;
  places_[run] = place;
}

void Journal::fail(const char* what) const {
  throw MachineFailure(
      fmt::format("cannot {} {}: {}; {} finished runs are kept: free space or check the permissions, and start again to go on", what,
                  file_.string(), std::strerror(errno), count_));
}

}
