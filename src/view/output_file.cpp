#include "view/output_file.h"
#include "tendril/model/error.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tendril {

namespace {

namespace fs = std::filesystem;

/// The file that a write to `path` would reach.
fs::path behindLinks(const fs::path& path) {
  std::error_code status;
  const fs::path target = fs::canonical(path, status);
  return status ? path : target;
}

}

void checkOutput(const fs::path& path, const FileKind& kind) {
  std::error_code status;
  if (path.has_parent_path() && !fs::is_directory(path.parent_path(), status))
    throw MachineFailure(fmt::format("cannot write {}: there is no folder {}; make it, or choose another file with -o", path.string(),
                                     path.parent_path().string()));
  const fs::file_status found = fs::status(path, status);
  if (!fs::exists(found)) return;
  if (fs::is_directory(found)) throw InputError(fmt::format("{} is a folder; name a file in it", path.string()));
  if (!fs::is_regular_file(found)) throw InputError(fmt::format("{} is no file that can be replaced; name another", path.string()));
  if (fs::file_size(path, status) == 0) return;
  std::string start(kind.beginning.size(), '\0');
  std::ifstream(path, std::ios::binary).read(start.data(), std::streamsize(start.size()));
  if (start == kind.beginning) return;
  throw InputError(
      fmt::format("{} exists and is no {}; it is left as it is: name another file, or move it away", path.string(), kind.name));
}

OutputFile::OutputFile(const fs::path& path, const FileKind& kind) : path_(behindLinks(path)) {
  checkOutput(path, kind);
  for (int number = 0;; ++number) {
    part_ = fmt::format("{}.{}-{}.part", path_.string(), getpid(), number);
    const int descriptor = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) {
      ::close(descriptor);
      break;
    }
    if (errno != EEXIST) fail(errno);
  }
  stream_.open(part_, std::ios::binary | std::ios::trunc);
}

OutputFile::~OutputFile() {
  if (isKept_) return;
  stream_.close();
  std::error_code status;
  fs::remove(part_, status);
}

void OutputFile::write(std::string_view text) {
  stream_.write(text.data(), std::streamsize(text.size()));
  if (!stream_) fail(errno);
  bytes_ += text.size();
}

void OutputFile::keep() {
  stream_.close();
  if (!stream_) fail(errno);
  std::error_code status;
  fs::rename(part_, path_, status);
  if (status) fail(status.value());
  isKept_ = true;
}

void OutputFile::fail(int cause) const {
  const char* remedy = cause == ENOSPC || cause == EDQUOT || cause == EFBIG ? "free space, or choose" : "choose";
  throw MachineFailure(fmt::format("cannot write {}: {}; {} another file with -o", path_.string(), std::strerror(cause), remedy));
}

}
