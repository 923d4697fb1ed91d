#include "tendril/documents/atomic_file.h"
#include "tendril/model/error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace tendril {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& file, int cause) {
  std::error_code status;
  const std::string kept = fs::exists(file, status) ? "; the old file is kept" : "";
  throw MachineFailure("cannot write " + file.string() + ": " + std::strerror(cause) + kept +
                       "; free space or check the permissions of its folder, or choose another folder");
}

/// Closes and removes the partial file unless it was renamed.
class PartialFile {
 public:
  explicit PartialFile(fs::path target)
      : path(std::move(target)), descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile() {
    if (descriptor >= 0) ::close(descriptor);
    if (!path.empty()) ::unlink(path.c_str());
  }

  bool isOpen() const { return descriptor >= 0; }
  bool write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      content.remove_prefix(written);
    }
    return ::fsync(descriptor) == 0;
  }
  bool moveTo(const fs::path& target) {
    if (::rename(path.c_str(), target.c_str()) != 0) return false;
    path.clear();
    return true;
  }

 private:
  fs::path path;
  int descriptor;
};

fs::path beside(const fs::path& file, const char* suffix) { return fs::path(file.string() + suffix); }

/// Gives the old content a second name, so that at every moment a complete file exists under the first.
void keepOld(const fs::path& file, const fs::path& keep) {
  std::error_code status;
  if (!fs::exists(file, status)) return;
  const fs::path second = beside(keep, ".partial");
  fs::remove(second, status);
  fs::create_hard_link(file, second, status);
  if (status) fs::copy_file(file, second, fs::copy_options::overwrite_existing, status);
  if (!status) fs::rename(second, keep, status);
  if (status) fail(keep, status.value());
}

void syncFolder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

}

void replaceFile(const fs::path& file, std::string_view content, const fs::path& keep) {
  PartialFile partial(beside(file, ".partial"));
  if (!partial.isOpen() || !partial.write(content)) fail(file, errno);
  if (!keep.empty()) keepOld(file, keep);
  if (!partial.moveTo(file)) fail(file, errno);
  syncFolder(file);
}

}
